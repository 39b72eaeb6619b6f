//! Runs on files (sd, wd, rd) as workloads: a rank for each file of each load, as many I/Os in flight as it has threads.

use std::collections::HashMap;

use units::{Bytes, Ratio};

use super::compile::{Compiler, Shown, Test, World, gcd, lcm};
use super::definitions::{Load, Storage};
use super::expansion::{Pace, Point};
use super::lexer::Word;
use super::run::{Rates, Run, Setting};
use super::values::{Flags, Part, Rate, Seek, means};
use crate::data::Data;
use crate::workload::{
    Activity, FileSet, Fsync, Job, Order, Pacing, Phase, RankShift, Stop, Transfer, TransferSize,
};

/// Name of the phase that writes the files first.
pub const FORMAT: &str = "SD_format";
/// Files are written first with calls of at most this size.
const FORMAT_SIZE: u64 = 1 << 20;

/// A load of a run: what it does, and to which of the run's files (their numbers).
#[derive(Debug, Clone)]
pub struct Placed {
    load: Load,
    files: Vec<usize>,
}

impl Compiler<'_> {
    /// Adds the points of a run on files.
    pub(super) fn run_on_files(&mut self, run: &Run, points: &[Point]) -> Option<()> {
        let (used, placed) = self.placed(run)?;
        let sizes = self.sizes_of(&used)?;
        for point in points {
            let placed = self.with_settings(&placed, point)?;
            let data = self.data_of(point);
            let luns = used.iter().map(|file| file.lun.clone()).collect();
            let world = World::Files { luns, sizes: sizes.clone(), data };
            let phase = self.phase_of(run, point, &placed, &used, &sizes)?;
            let unit = placed.iter().map(|one| one.load.sizes.unit().get().max(1));
            let unit = unit.fold(1, lcm);
            self.add(world, phase, shown(run, point), unit);
        }
        Some(())
    }

    /// The files of a run, in the order of their definition, and its loads on them.
    fn placed(&mut self, run: &Run) -> Option<(Vec<Storage>, Vec<Placed>)> {
        let mut loads = Vec::new();
        for word in &run.loads {
            let meant: Vec<Load> =
                self.loads.iter().filter(|load| means(&word.text, &load.name.text)).cloned().collect();
            if meant.is_empty() {
                return self.nothing(word, "wd", &self.names_of_loads());
            }
            loads.extend(meant);
        }
        let mut files_of: Vec<Vec<usize>> = Vec::new();
        for load in &loads {
            let words = run.storages.as_ref().unwrap_or(&load.storages);
            if words.is_empty() {
                let message = format!("wd `{}` says no `sd`", load.name.text);
                self.troubles
                    .at(&load.name.place, message, "on which file?")
                    .hint("write sd=sd1, or sd=sd* for all");
                return None;
            }
            let mut numbers = Vec::new();
            for word in words {
                let before = numbers.len();
                numbers.extend(
                    (0..self.storages.len())
                        .filter(|number| means(&word.text, &self.storages[*number].name.text)),
                );
                if numbers.len() == before {
                    return self.nothing(word, "sd", &self.names_of_storages());
                }
            }
            numbers.sort_unstable();
            numbers.dedup();
            files_of.push(numbers);
        }
        let mut used: Vec<usize> = files_of.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let at = |number: &usize| used.binary_search(number).unwrap_or(0);
        let placed = loads
            .into_iter()
            .zip(&files_of)
            .map(|(load, files)| Placed { load, files: files.iter().map(at).collect() })
            .collect();
        Some((used.iter().map(|number| self.storages[*number].clone()).collect(), placed))
    }

    fn names_of_loads(&self) -> Vec<String> {
        self.loads.iter().map(|load| load.name.text.clone()).collect()
    }

    fn names_of_storages(&self) -> Vec<String> {
        self.storages.iter().map(|storage| storage.name.text.clone()).collect()
    }

    /// The sizes of a run's files.
    fn sizes_of(&mut self, used: &[Storage]) -> Option<Vec<Bytes>> {
        let mut sizes = Vec::new();
        for file in used {
            let there = std::fs::metadata(&file.lun).ok().filter(std::fs::Metadata::is_file);
            match file.size.or(there.map(|there| Bytes::new(there.len()))) {
                Some(size) if size.get() > 0 => sizes.push(size),
                _ => {
                    let message = format!(
                        "sd `{}` says no `size`, and `{}` is no file with one",
                        file.name.text,
                        file.lun.display()
                    );
                    self.troubles
                        .at(&file.lun_word.place, message, "how large?")
                        .hint("write size=64g, or so");
                    return None;
                }
            }
        }
        Some(sizes)
    }

    /// Loads with what the point's loops set.
    fn with_settings(&mut self, placed: &[Placed], point: &Point) -> Option<Vec<Placed>> {
        let mut placed = placed.to_vec();
        for (name, _, setting) in &point.settings {
            for Placed { load, .. } in &mut placed {
                match setting {
                    Setting::Size(size) => load.sizes = size.clone(),
                    Setting::Read(percent) => load.read = *percent,
                    Setting::Seek(seek) => load.seek = *seek,
                    Setting::Threads(threads) => load.threads = Some(*threads),
                    Setting::ReadHits(percent) => load.read_hits = *percent,
                    Setting::WriteHits(percent) => load.write_hits = *percent,
                    Setting::HitArea(size) => load.hit_area = Some(*size),
                    Setting::Compression(_) => {}
                    _ => {
                        self.troubles.whole(
                            format!("`{name}` belongs to runs on trees (fwd), and this one is on files (wd)"),
                            "leave it out",
                        );
                        return None;
                    }
                }
            }
        }
        Some(placed)
    }

    /// What is written.
    fn data_of(&self, point: &Point) -> Data {
        let looped = point.settings.iter().find_map(|(_, _, setting)| match setting {
            Setting::Compression(ratio) => Some(*ratio),
            _ => None,
        });
        Data { compressible: looped.unwrap_or(self.data.compressible), ..self.data }
    }

    fn phase_of(
        &mut self,
        run: &Run,
        point: &Point,
        placed: &[Placed],
        used: &[Storage],
        sizes: &[Bytes],
    ) -> Option<Phase> {
        let ranks: usize = placed.iter().map(|one| one.files.len()).sum();
        let skews = self.skews(run, point, placed)?;
        let mut jobs = Vec::new();
        let mut first_rank = 0usize;
        for (number, one) in placed.iter().enumerate() {
            let mut rest = one.files.as_slice();
            let groups = self.groups_of_files(run, one, used)?;
            while let Some(first) = rest.first() {
                let depth = |file: usize| depth_of(one, &used[file], placed, file);
                let alike = |file: usize| {
                    let own = &used[file];
                    (
                        depth(file),
                        own.flags,
                        own.hit_area,
                        own.offset,
                        groups.get(&file),
                        range(one.load.range.or(own.range), sizes[file]),
                    )
                };
                let count = rest
                    .iter()
                    .enumerate()
                    .take_while(|(at, file)| **file == first + at && alike(**file) == alike(*first))
                    .count();
                let transfer = self.transfer(run, one, &used[*first], depth(*first), sizes[*first])?;
                let shift = (*first + ranks - first_rank) % ranks;
                let part = count as f64 / one.files.len() as f64;
                let rate = one
                    .load
                    .rate
                    .map(|rate| Pacing::Open { operations_per_second: rate * part, arrival: run.arrival });
                jobs.push(Job {
                    ranks: Some(count as u32),
                    only_groups: groups.get(first).cloned().unwrap_or_default(),
                    skew: skews.get(number).map(|skew| Ratio::percent(skew * part)),
                    activity: Activity::Transfer(Transfer {
                        rank_shift: if shift == 0 { RankShift::None } else { RankShift::By(shift as u32) },
                        pacing: rate.unwrap_or_default(),
                        ..transfer
                    }),
                });
                first_rank += count;
                rest = &rest[count..];
            }
        }
        let to_the_end = placed.iter().all(|one| one.load.seek == Seek::ToTheEnd);
        let mut phase = Phase::transfer("", Transfer::default());
        phase.jobs = jobs;
        phase.ranks = Some(ranks as u32);
        phase.pause_before = run.pause;
        phase.stop = Stop {
            time: Some(run.elapsed + run.warm_up.unwrap_or_default()),
            repeat: !to_the_end,
            operations: run.most.map(|most| most_operations(most, placed, ranks as u64)),
            ..Stop::default()
        };
        Some(phase)
    }

    /// The groups of ranks that a load on each of its files is done by; all where nothing is said.
    fn groups_of_files(
        &mut self,
        run: &Run,
        one: &Placed,
        used: &[Storage],
    ) -> Option<HashMap<usize, Vec<u32>>> {
        let mut found = HashMap::new();
        for file in &one.files {
            let mut groups = self.groups_of(&[&run.hosts, &one.load.hosts, &used[*file].hosts])?;
            let in_order = match one.load.seek {
                Seek::Percent(percent) => percent <= 0.0 && one.load.stride.is_none(),
                Seek::ToTheEnd | Seek::Backwards => true,
                Seek::RandomStart => false,
            };
            if in_order && self.groups > 1 && groups.len() != 1 {
                groups = vec![groups.first().copied().unwrap_or(0)];
                self.note(format!(
                    "wd `{}` is sequential: it runs on one host, as vdbench has it, so that no two read the same blocks after each other",
                    one.load.name.text
                ));
            }
            if !groups.is_empty() {
                found.insert(*file, groups);
            }
        }
        if self.groups > 1 && found.len() < one.files.len() {
            self.note(format!("`threads` I/Os are in flight on every sd from each of {} hosts", self.groups));
        }
        Some(found)
    }

    /// The part of each load, in percent; empty where there is none to say.
    fn skews(&mut self, run: &Run, point: &Point, placed: &[Placed]) -> Option<Vec<f64>> {
        if placed.len() < 2 {
            return Some(Vec::new());
        }
        let given: f64 = placed.iter().filter_map(|one| one.load.skew).sum();
        let others = placed.iter().filter(|one| one.load.skew.is_none()).count();
        if given > 100.0 + 1e-6 || (others == 0 && (given - 100.0).abs() > 1e-6) {
            let message = format!("the `skew` of the loads of rd `{}` adds up to {given}", run.name.text);
            self.troubles.at(&run.name.place, message, "not 100").hint("together they must be 100");
            return None;
        }
        let rated = point.pace != Pace::At(Rate::Max) || matches!(run.rates, Rates::Curve(_));
        if others == placed.len() && !rated {
            return Some(Vec::new());
        }
        let each = (100.0 - given).max(0.0) / others.max(1) as f64;
        Some(placed.iter().map(|one| one.load.skew.unwrap_or(each)).collect())
    }

    /// What a load does to a file.
    fn transfer(
        &mut self,
        run: &Run,
        one: &Placed,
        file: &Storage,
        depth: u32,
        size: Bytes,
    ) -> Option<Transfer> {
        let load = &one.load;
        let flags = file.flags.and(load.flags).and(run.flags);
        let (range_start, range_end) = range(load.range.or(file.range), size);
        if file.align.is_some_and(|align| !load.sizes.unit().get().is_multiple_of(align.get().max(1))) {
            let message = format!(
                "sd `{}` wants offsets to be multiples of more than the transfer size",
                file.name.text
            );
            self.troubles
                .at(&file.name.place, message, "align")
                .hint("offsets are multiples of `xfersize`: leave out `align`, or raise `xfersize`");
            return None;
        }
        Some(Transfer {
            read: Ratio::percent(load.read),
            transfer_size: load.sizes.clone(),
            order: order(load),
            queue_depth: depth,
            direct: flags.direct,
            synchronous: flags.synchronous,
            fsync: fsync(flags),
            verify: self.verify && load.read > 0.0,
            range_start,
            range_end,
            read_hits: Ratio::percent(load.read_hits),
            write_hits: Ratio::percent(load.write_hits),
            hit_area: load.hit_area.unwrap_or(file.hit_area),
            offset: file.offset,
            ..Transfer::default()
        })
    }

    /// `word` means nothing that is defined.
    pub(super) fn nothing<T>(&mut self, word: &Word, kind: &str, names: &[String]) -> Option<T> {
        let near = spec::nearest(&word.text, names.iter().map(String::as_str));
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("defined are: {}", spec::quoted(names.iter().map(String::as_str))),
        };
        self.troubles
            .at(&word.place, format!("there is no {kind} `{}`", word.text), "not defined")
            .hint(hint);
        None
    }
}

/// I/Os in flight of one load on one file: the file's threads are shared by the loads on it.
fn depth_of(one: &Placed, file: &Storage, placed: &[Placed], number: usize) -> u32 {
    let sharing = placed.iter().filter(|other| other.files.contains(&number)).count() as u32;
    (one.load.threads.unwrap_or(file.threads) / sharing.max(1)).max(1)
}

fn most_operations(most: Bytes, placed: &[Placed], ranks: u64) -> u64 {
    let largest = placed.iter().map(|one| one.load.sizes.largest().get()).max().unwrap_or(1);
    (most.get() / largest.max(1)).div_ceil(ranks.max(1)).max(1)
}

fn order(load: &Load) -> Order {
    match (load.seek, load.streams, load.stride) {
        (Seek::Percent(_), Some(streams), _) => Order::Streams(streams),
        (Seek::Percent(percent), None, Some((smallest, largest))) => {
            Order::Skip { percent, smallest, largest }
        }
        (Seek::Percent(percent), ..) if percent >= 100.0 => Order::Random,
        (Seek::Percent(percent), ..) if percent <= 0.0 => Order::Sequential,
        (Seek::Percent(percent), ..) => Order::SeekPercent(percent),
        (Seek::RandomStart, ..) => Order::RandomStart,
        (Seek::ToTheEnd, ..) => Order::Sequential,
        (Seek::Backwards, ..) => Order::Reverse,
    }
}

fn fsync(flags: Flags) -> Fsync {
    if flags.fsync { Fsync::AtEnd } else { Fsync::Never }
}

fn range(part: Option<Part>, size: Bytes) -> (Ratio, Ratio) {
    let share = |bytes: Bytes| Ratio::new((bytes.get() as f64 / size.get().max(1) as f64).min(1.0));
    match part {
        None => (Ratio::ZERO, Ratio::ONE),
        Some(Part::Percent(from, to)) => (Ratio::percent(from), Ratio::percent(to)),
        Some(Part::Bytes(from, to)) => (share(from), share(to)),
    }
}

/// The files of a test, made before its first phase.
pub(super) fn prepare(test: &mut Test, files: usize, sizes: &[Bytes]) {
    let group = test.workload.phases.iter().filter_map(|phase| phase.ranks).max().unwrap_or(1);
    let ranks = group.saturating_mul(test.groups);
    let unit = Bytes::new(test.unit);
    let block =
        |size: &Bytes| Some(size.round_down(unit)).filter(|block| *block > Bytes::ZERO).unwrap_or(*size);
    let blocks: Vec<Bytes> = sizes.iter().map(block).collect();
    let largest = blocks.iter().copied().max().unwrap_or(unit);
    let differ = blocks.iter().any(|block| *block != largest);
    test.workload.ranks = ranks;
    test.workload.files = FileSet {
        block_size: largest,
        block_sizes: if differ { blocks.clone() } else { Vec::new() },
        ..FileSet::default()
    };
    let count = files as u32;
    // Bytes that all blocks are multiples of, in units.
    let units = blocks.iter().fold(0, |all, block| gcd(all, block.get())) / test.unit.max(1);
    let most = (FORMAT_SIZE / test.unit.max(1)).clamp(1, units.max(1));
    let fit = (1..=most).rev().find(|count| units.is_multiple_of(*count)).unwrap_or(1);
    let mut write = Transfer::write(Bytes::new(test.unit * fit));
    let smallest = test.workload.files.smallest_block();
    write.transfer_size = TransferSize::Fixed(Bytes::new(test.unit * fit).min(smallest));
    let mut format = Phase::transfer(FORMAT, write);
    format.ranks = (count < ranks).then_some(count);
    for phase in &mut test.workload.phases {
        if test.groups > 1 {
            spread(phase, group, test.groups);
        } else {
            phase.ranks = phase.ranks.filter(|own| *own < ranks);
        }
    }
    test.workload.phases.insert(0, format);
}

/// The same in every group of ranks, on the files of the first.
fn spread(phase: &mut Phase, group: u32, groups: u32) {
    let own = phase.ranks.take().unwrap_or(group).max(1);
    phase.group = Some(group);
    phase.stop.operations = phase.stop.operations.map(|most| most.div_ceil(u64::from(groups)));
    let mut first_rank = 0;
    for job in &mut phase.jobs {
        if let Activity::Transfer(transfer) = &mut job.activity {
            let shift = if let RankShift::By(shift) = transfer.rank_shift { shift } else { 0 };
            let first_file = (first_rank + shift) % own;
            transfer.rank_shift = RankShift::Within { group, by: (first_file + group - first_rank) % group };
        }
        first_rank += job.ranks.unwrap_or(0);
    }
}

/// The header's words for a rate.
fn rate_text(run: &Run, pace: Pace) -> String {
    match (pace, &run.rates) {
        (Pace::At(Rate::Max), Rates::Curve(_)) => "Uncontrolled curve".to_owned(),
        (Pace::At(Rate::Max), _) => "Uncontrolled MAX".to_owned(),
        (Pace::At(Rate::Fixed(rate)), _) => format!("{rate}"),
        (Pace::Share(percent), _) => format!("Controlled curve ({percent}%)"),
        (Pace::Series, _) => "Variable".to_owned(),
    }
}

/// How a point is shown.
pub(super) fn shown(run: &Run, point: &Point) -> Shown {
    Shown {
        phase: String::new(),
        run: run.name.text.clone(),
        rate: rate_text(run, point.pace),
        elapsed: Some(run.elapsed),
        warm_up: run.warm_up,
        interval: run.interval,
        loops: point.loops(),
    }
}
