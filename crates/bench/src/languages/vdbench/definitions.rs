//! What sd, wd, fsd and fwd say, with the guide's defaults.

use std::path::PathBuf;

use units::{Bytes, Ratio};

use super::lexer::Word;
use super::statements::Definition;
use super::values::{Flags, Part, Read, Reader, Seek};
use crate::workload::{EntryOperation, Selection, TransferSize, WeightedSize};

/// I/Os in flight of a storage definition.
const STORAGE_THREADS: u32 = 8;
/// The hit area of a storage definition.
const HIT_AREA: Bytes = Bytes::mib(1);
/// Bytes per call.
const TRANSFER_SIZE: Bytes = Bytes::kib(4);

/// A file: sd.
#[derive(Debug, Clone)]
pub struct Storage {
    /// Its name, and where it is defined.
    pub name: Word,
    /// The file.
    pub lun: PathBuf,
    /// Where the file is named.
    pub lun_word: Word,
    /// Its size; that of the file that is there when absent.
    pub size: Option<Bytes>,
    /// I/Os in flight.
    pub threads: u32,
    /// How it is opened.
    pub flags: Flags,
    /// The part that is used.
    pub range: Option<Part>,
    /// Size of the hit area.
    pub hit_area: Bytes,
    /// What offsets are multiples of.
    pub align: Option<Bytes>,
    /// How far transfers lie off the multiples of their size.
    pub offset: Option<Bytes>,
    /// The hosts that use it, as they were named; all when empty.
    pub hosts: Vec<Word>,
}

/// Storage definitions; `count=(start,n)` makes several.
pub fn storages(definition: &Definition, reader: &mut Reader<'_>) -> Read<Vec<Storage>> {
    let Some(lun) = definition.get("lun") else {
        reader
            .troubles
            .at(&definition.name.place, format!("sd `{}` has no `lun`", definition.name.text), "no file")
            .hint("write lun=/path/of/a/file");
        return None;
    };
    let lun = reader.one(lun)?;
    one_lun(definition, reader)?;
    let get = |name| definition.get(name);
    let threads = match get("threads") {
        Some(parameter) => reader.one(parameter).and_then(|word| reader.count(word))?,
        None => STORAGE_THREADS,
    };
    let bytes = |name, reader: &mut Reader<'_>| match get(name) {
        Some(parameter) => reader.one(parameter).and_then(|word| reader.bytes(word)).map(Some),
        None => Some(None),
    };
    let one = Storage {
        name: definition.name.clone(),
        lun: PathBuf::from(&lun.text),
        lun_word: lun.clone(),
        size: bytes("size", reader)?,
        threads,
        flags: flags(definition, reader)?,
        range: part(definition, reader)?,
        hit_area: bytes("hitarea", reader)?.unwrap_or(HIT_AREA),
        align: bytes("align", reader)?,
        offset: offset(definition, reader)?,
        hosts: host_words(definition),
    };
    let Some(count) = get("count") else { return Some(vec![one]) };
    let [start, number] = count.values.as_slice() else {
        reader.troubles.at(&count.place(), "`count` is two values", "not two").hint("such as (1,8)");
        return None;
    };
    let (start, number) = (reader.count(start)?, reader.count(number)?);
    let numbered = |text: &str, at: u32| {
        if text.contains('*') { text.replacen('*', &at.to_string(), 1) } else { format!("{text}{at}") }
    };
    Some(
        (start..start.saturating_add(number))
            .map(|at| Storage {
                name: Word { text: numbered(&one.name.text, at), ..one.name.clone() },
                lun: PathBuf::from(numbered(&lun.text, at)),
                ..one.clone()
            })
            .collect(),
    )
}

/// A load on files: wd.
#[derive(Debug, Clone)]
pub struct Load {
    /// Its name, and where it is defined.
    pub name: Word,
    /// The files it goes to, as they were named.
    pub storages: Vec<Word>,
    /// Reads, in percent.
    pub read: f64,
    /// Where transfers go.
    pub seek: Seek,
    /// Bytes per call.
    pub sizes: TransferSize,
    /// Reads in the hit area, in percent.
    pub read_hits: f64,
    /// Writes in the hit area, in percent.
    pub write_hits: f64,
    /// Size of the hit area, if it says.
    pub hit_area: Option<Bytes>,
    /// Its part of all operations, in percent.
    pub skew: Option<f64>,
    /// A rate of its own.
    pub rate: Option<f64>,
    /// I/Os in flight per file, if it says.
    pub threads: Option<u32>,
    /// The part of the files that is used.
    pub range: Option<Part>,
    /// Pieces.
    pub streams: Option<u32>,
    /// How much is skipped.
    pub stride: Option<(Bytes, Bytes)>,
    /// How files are opened.
    pub flags: Flags,
    /// The hosts it runs on, as they were named; all when empty.
    pub hosts: Vec<Word>,
}

/// A workload definition.
pub fn load(definition: &Definition, reader: &mut Reader<'_>) -> Read<Load> {
    let mut load = Load {
        name: definition.name.clone(),
        storages: definition.get("sd").map_or_else(Vec::new, |parameter| parameter.values.clone()),
        read: 100.0,
        seek: Seek::Percent(100.0),
        sizes: TransferSize::Fixed(TRANSFER_SIZE),
        read_hits: 0.0,
        write_hits: 0.0,
        hit_area: None,
        skew: None,
        rate: None,
        threads: None,
        range: part(definition, reader)?,
        streams: None,
        stride: None,
        flags: flags(definition, reader)?,
        hosts: host_words(definition),
    };
    for (name, parameter) in &definition.settings {
        let first = &parameter.values[0];
        match *name {
            "rdpct" => load.read = reader.one(parameter).and_then(|word| reader.percent(word))?,
            "seekpct" => load.seek = reader.one(parameter).and_then(|word| reader.seek(word))?,
            "xfersize" => load.sizes = reader.sizes(parameter)?,
            "rhpct" => load.read_hits = reader.one(parameter).and_then(|word| reader.percent(word))?,
            "whpct" => load.write_hits = reader.one(parameter).and_then(|word| reader.percent(word))?,
            "hitarea" => load.hit_area = Some(reader.bytes(first)?),
            "skew" => load.skew = Some(reader.one(parameter).and_then(|word| reader.percent(word))?),
            "iorate" => load.rate = Some(reader.one(parameter).and_then(|word| reader.number(word))?),
            "threads" => load.threads = Some(reader.one(parameter).and_then(|word| reader.count(word))?),
            "streams" => load.streams = Some(reader.count(first)?),
            "stride" => {
                let [smallest, largest] = parameter.values.as_slice() else {
                    let message = "`stride` is two sizes";
                    reader.troubles.at(&parameter.place(), message, "not two").hint("such as (4k,64k)");
                    return None;
                };
                load.stride = Some((reader.bytes(smallest)?, reader.bytes(largest)?));
            }
            _ => {}
        }
    }
    Some(load)
}

/// A tree: fsd.
#[derive(Debug, Clone)]
pub struct Anchor {
    /// Its name, and where it is defined.
    pub name: Word,
    /// The directory.
    pub anchor: PathBuf,
    /// Levels of directories.
    pub depth: u32,
    /// Directories per directory.
    pub width: u32,
    /// Files per directory that holds any.
    pub files: u64,
    /// Sizes of files.
    pub sizes: Vec<WeightedSize>,
    /// Files are used up to this sum of their sizes.
    pub total: Option<Bytes>,
    /// Only so much of all is used.
    pub working_set: Option<Bytes>,
    /// All directories hold files, and not only the deepest.
    pub everywhere: bool,
    /// How files are opened.
    pub flags: Flags,
}

impl Anchor {
    /// Whether both have the same directories and files in them.
    pub fn is_shaped_like(&self, other: &Self) -> bool {
        let shape =
            |own: &Self| (own.depth, own.width, own.files, own.everywhere, own.total, own.working_set);
        shape(self) == shape(other) && self.sizes == other.sizes && self.flags == other.flags
    }
}

/// A file system definition.
pub fn anchor(definition: &Definition, reader: &mut Reader<'_>) -> Read<Anchor> {
    let Some(anchor) = definition.get("anchor") else {
        reader
            .troubles
            .at(
                &definition.name.place,
                format!("fsd `{}` has no `anchor`", definition.name.text),
                "no directory",
            )
            .hint("write anchor=/path/of/a/directory");
        return None;
    };
    let mut tree = Anchor {
        name: definition.name.clone(),
        anchor: PathBuf::from(&reader.one(anchor)?.text),
        depth: 1,
        width: 1,
        files: 1,
        sizes: Vec::new(),
        total: None,
        working_set: None,
        everywhere: false,
        flags: flags(definition, reader)?,
    };
    for (name, parameter) in &definition.settings {
        let first = &parameter.values[0];
        match *name {
            "depth" => tree.depth = reader.count(first)?,
            "width" => tree.width = reader.count(first)?,
            "files" => tree.files = u64::from(reader.count(first)?),
            "sizes" => tree.sizes = file_sizes(parameter, reader)?,
            "totalsize" => tree.total = Some(reader.bytes(first)?),
            "workingsetsize" => tree.working_set = Some(reader.bytes(first)?),
            "distribution" => tree.everywhere = first.text.eq_ignore_ascii_case("all"),
            _ => {}
        }
    }
    Some(tree)
}

/// `sizes=1m` or `sizes=(4k,50,1m,50)`.
pub fn file_sizes(parameter: &super::lexer::Parameter, reader: &mut Reader<'_>) -> Read<Vec<WeightedSize>> {
    match parameter.values.as_slice() {
        [one] => Some(vec![WeightedSize { size: reader.bytes(one)?, weight: 1 }]),
        _ => reader.weighted(parameter),
    }
}

/// What is done to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Something done to one file after the other.
    Files(EntryOperation),
    /// The directories of the tree are made.
    MakeDirectories,
    /// They are removed.
    RemoveDirectories,
}

/// `operation=`.
pub fn operation(word: &Word, reader: &mut Reader<'_>) -> Read<Operation> {
    Some(match word.text.to_ascii_lowercase().as_str() {
        "read" => Operation::Files(EntryOperation::Read),
        "write" => Operation::Files(EntryOperation::Write),
        "create" => Operation::Files(EntryOperation::Create),
        "delete" => Operation::Files(EntryOperation::Remove),
        "open" | "close" => Operation::Files(EntryOperation::Open),
        "getattr" | "access" => Operation::Files(EntryOperation::Stat),
        "setattr" => Operation::Files(EntryOperation::SetAttributes),
        "mkdir" => Operation::MakeDirectories,
        "rmdir" => Operation::RemoveDirectories,
        text => {
            let hint = match text {
                "copy" | "move" => "files are not copied or moved to another fsd: use `read` and `write`",
                _ => "read, write, create, delete, open, close, getattr, setattr, access, mkdir or rmdir",
            };
            reader
                .troubles
                .at(&word.place, format!("`{}` is no operation on files here", word.text), "this operation")
                .hint(hint);
            return None;
        }
    })
}

/// A load on a tree: fwd.
#[derive(Debug, Clone)]
pub struct FileLoad {
    /// Its name, and where it is defined.
    pub name: Word,
    /// The tree, as it was named.
    pub anchors: Vec<Word>,
    /// What is done.
    pub operation: Operation,
    /// The part of operations that read, in percent, whatever the operation is.
    pub read: Option<f64>,
    /// Which files.
    pub select: Selection,
    /// Parts of a file in random order.
    pub scattered: bool,
    /// Files that are written are removed first.
    pub anew: bool,
    /// Bytes per call.
    pub transfer_size: Bytes,
    /// Threads.
    pub threads: u32,
    /// Its part of all operations, in percent.
    pub skew: Option<f64>,
    /// Calls per file.
    pub calls: Option<u64>,
    /// How files are opened.
    pub flags: Flags,
    /// The hosts it runs on, as they were named; all when empty.
    pub hosts: Vec<Word>,
}

/// A file system workload definition.
pub fn file_load(definition: &Definition, reader: &mut Reader<'_>) -> Read<FileLoad> {
    let mut load = FileLoad {
        name: definition.name.clone(),
        anchors: definition.get("fsd").map_or_else(Vec::new, |parameter| parameter.values.clone()),
        operation: Operation::Files(EntryOperation::Read),
        read: None,
        select: Selection::Next,
        scattered: false,
        anew: false,
        transfer_size: TRANSFER_SIZE,
        threads: 1,
        skew: None,
        calls: None,
        flags: flags(definition, reader)?,
        hosts: host_words(definition),
    };
    for (name, parameter) in &definition.settings {
        let first = &parameter.values[0];
        match *name {
            "operation" => load.operation = operation(reader.one(parameter)?, reader)?,
            "rdpct" => load.read = Some(reader.percent(first)?),
            "fileselect" => load.select = selection(parameter, reader)?,
            "fileio" => (load.scattered, load.anew) = file_io(parameter, reader)?,
            "xfersize" => load.transfer_size = one_size(parameter, reader)?,
            "threads" => load.threads = reader.count(first)?,
            "skew" => load.skew = Some(reader.percent(first)?),
            "stopafter" => load.calls = Some(u64::from(reader.count(first)?)),
            _ => {}
        }
    }
    Some(load)
}

/// Files are read and written with calls of one size.
fn one_size(parameter: &super::lexer::Parameter, reader: &mut Reader<'_>) -> Read<Bytes> {
    if let TransferSize::Fixed(size) = reader.sizes(parameter)? {
        return Some(size);
    }
    reader
        .troubles
        .at(&parameter.place(), "files are read and written with calls of one size", "several")
        .hint("one fwd for each size, with `skew`");
    None
}

fn selection(parameter: &super::lexer::Parameter, reader: &mut Reader<'_>) -> Read<Selection> {
    let words: Vec<String> = parameter.values.iter().map(|word| word.text.to_ascii_lowercase()).collect();
    if words.iter().any(|word| word == "once") {
        return Some(Selection::Once);
    }
    let begins = |name: &str| words[0].len() >= 2 && name.starts_with(&words[0]);
    if begins("random") {
        return Some(Selection::Random);
    }
    if begins("sequentialnz") {
        return Some(Selection::Next);
    }
    if words[0] == "poisson" || words[0] == "skewed" {
        let number =
            words.get(1).and_then(|word| word.rsplit('=').next().and_then(|text| text.parse::<f64>().ok()));
        let mean = number.unwrap_or(10.0).clamp(0.1, 100.0);
        return Some(Selection::Skewed(Ratio::percent(mean)));
    }
    reader
        .troubles
        .at(&parameter.place(), format!("`{}` selects no files", parameter.text()), "this selection")
        .hint("sequential, random, (sequential,once), (random,once) or (poisson,10)");
    None
}

/// Whether the parts of a file come in random order, and whether it is removed before it is written.
fn file_io(parameter: &super::lexer::Parameter, reader: &mut Reader<'_>) -> Read<(bool, bool)> {
    let words: Vec<String> = parameter.values.iter().map(|word| word.text.to_ascii_lowercase()).collect();
    let begins = |name: &str| words[0].len() >= 2 && name.starts_with(words[0].as_str());
    let delete = words[1..].iter().any(|word| word == "delete");
    match () {
        () if begins("random") && !delete => Some((true, false)),
        () if begins("sequential") => Some((false, delete)),
        () => {
            let (message, hint) = if delete {
                ("only files that are written in order are removed first", "write fileio=(seq,delete)")
            } else {
                ("this is no `fileio`", "sequential, (seq,delete), random or (random,shared)")
            };
            reader.troubles.at(&parameter.place(), message, "refused").hint(hint);
            None
        }
    }
}

fn flags(definition: &Definition, reader: &mut Reader<'_>) -> Read<Flags> {
    match definition.get("openflags") {
        Some(parameter) => reader.flags(parameter),
        None => Some(Flags::default()),
    }
}

fn part(definition: &Definition, reader: &mut Reader<'_>) -> Read<Option<Part>> {
    match definition.get("range") {
        Some(parameter) => reader.part(parameter).map(Some),
        None => Some(None),
    }
}

/// The hosts that `host=` and `hd=` name.
pub fn host_words(definition: &Definition) -> Vec<Word> {
    let named = definition.settings.iter().filter(|(name, _)| ["host", "hd"].contains(name));
    named.flat_map(|(_, parameter)| parameter.values.iter().cloned()).collect()
}

/// `offset=` in bytes, a multiple of 512.
fn offset(definition: &Definition, reader: &mut Reader<'_>) -> Read<Option<Bytes>> {
    let Some(parameter) = definition.get("offset") else { return Some(None) };
    let offset = reader.one(parameter).and_then(|word| reader.bytes(word))?;
    if offset.get().is_multiple_of(512) {
        return Some(Some(offset).filter(|offset| *offset > Bytes::ZERO));
    }
    let message = format!("an offset of {offset:#} is no multiple of 512");
    reader.troubles.at(&parameter.place(), message, "between sectors").hint("such as 512 or 1k");
    None
}

/// `lun=a,host=x,lun=b,host=y` names a file of its own for each host.
fn one_lun(definition: &Definition, reader: &mut Reader<'_>) -> Read<()> {
    let mut luns = definition.settings.iter().filter(|(name, _)| *name == "lun").map(|(_, lun)| lun);
    let first = luns.next()?;
    let Some(other) = luns.find(|lun| lun.text() != first.text()) else { return Some(()) };
    let message = format!("sd `{}` is another file on another host", definition.name.text);
    reader
        .troubles
        .at(&other.place(), message, "another lun")
        .hint("write an sd for each file, with the host it belongs to: sd=sd1,lun=...,host=hd1");
    None
}
