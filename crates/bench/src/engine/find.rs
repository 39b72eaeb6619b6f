//! Looking at every entry of the tree, and the mark that tells old ones from new ones.

use std::time::Duration;

use record::StopCause;
use rustix::fs::{
    AtFlags, Dir, Mode, OFlags, Stat, Timespec, Timestamps, UTIME_NOW, fstat, futimens, openat, statat,
};
use rustix::io::Errno;
use units::Bytes;

use super::clock::now;
use super::entries::Walker;
use crate::ground::MARKER;
use crate::workload::LookingFor;

/// The longest that the clock of a file system's times may stand still: some count in steps of 2 s.
const STANDS_STILL_NS: u64 = 10_000_000_000;

/// Seconds and nanoseconds of a file's last change.
type Time = (i64, i64);

impl Walker<'_> {
    /// Lists directories, dealt to ranks in turn, and looks at every entry in them.
    pub(super) fn find(&mut self) -> rustix::io::Result<StopCause> {
        let mark = self.time_of_mark()?;
        let targets = self.context.grounds.all().len();
        let owners = if self.tree.per_rank { u64::from(self.place.size) } else { targets as u64 };
        let all = owners * self.trees * self.directories;
        // With fewer directories than ranks, every rank lists all of them and looks at its own part of the entries.
        let split = all < u64::from(self.place.job_size);
        while self.position < all && self.meter.operations < self.limit {
            let directory = self.position;
            self.position += 1;
            if !split && (self.position - 1) % u64::from(self.place.job_size) != u64::from(self.place.in_job)
            {
                continue;
            }
            self.path.clear();
            self.owner = (directory / (self.trees * self.directories)) as u32;
            self.ground = self.context.grounds.of(self.owner);
            self.push_directory(directory % (self.trees * self.directories));
            let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let opened = openat(self.base(), self.path.as_str(), flags, Mode::empty())?;
            let mut started = now();
            for entry in Dir::read_from(&opened)? {
                let entry = entry?;
                if matches!(entry.file_name().to_bytes(), b"." | b"..") {
                    continue;
                }
                if split && turn(entry.file_name().to_bytes()) % self.place.job_size != self.place.in_job {
                    continue;
                }
                let stat = statat(&opened, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
                if let (Some(sought), Some(matched)) = (&self.entries.looking_for, &mut self.matched) {
                    *matched += u64::from(is_sought(sought, mark, entry.file_name().to_bytes(), &stat));
                }
                let ended = now();
                self.meter.record(0, ended - started, 0);
                started = ended;
                if self.meter.operations >= self.limit {
                    return Ok(StopCause::Bytes);
                }
                if ended >= self.meter.interval_end().min(self.deadline)
                    && let Some(cause) = self.look_up(ended)
                {
                    return Ok(cause);
                }
            }
            if let Some(cause) = self.look_up(started) {
                return Ok(cause);
            }
        }
        Ok(StopCause::Bytes)
    }

    /// The time that newer entries are newer than, where they are looked for.
    fn time_of_mark(&self) -> rustix::io::Result<Option<Time>> {
        let Some(sought) = &self.entries.looking_for else { return Ok(None) };
        if !sought.newer {
            return Ok(sought.newer_than.map(|instant| (instant.seconds, instant.nanoseconds)));
        }
        let stat = statat(self.context.grounds.of(0).own(), MARKER, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(Some(time_of(&stat)))
    }

    /// Makes the marker, and waits until what is changed gets a later time than it. One rank is enough.
    pub(super) fn mark(&mut self) -> rustix::io::Result<StopCause> {
        if self.place.in_job > 0 {
            return Ok(StopCause::Bytes);
        }
        let begun = now();
        self.path.clear();
        self.path.push_str(MARKER);
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let marker = openat(self.context.grounds.of(0).own(), MARKER, flags, Mode::RUSR | Mode::WUSR)?;
        let touch = |time: Timespec| {
            futimens(&marker, &Timestamps { last_access: time, last_modification: time })?;
            rustix::io::Result::Ok(time_of(&fstat(&marker)?))
        };
        let at_once = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let marked = touch(at_once)?;
        while touch(at_once)? <= marked {
            if now() > begun + STANDS_STILL_NS {
                return Err(Errno::TIMEDOUT);
            }
            if let Some(cause) = self.look_up(now()) {
                return Ok(cause);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        touch(Timespec { tv_sec: marked.0, tv_nsec: marked.1 })?;
        self.meter.record(0, now() - begun, 0);
        Ok(StopCause::Bytes)
    }
}

fn is_sought(sought: &LookingFor, mark: Option<Time>, name: &[u8], stat: &Stat) -> bool {
    sought.fits(name)
        && sought.size.is_none_or(|size| size == Bytes::new(stat.st_size.cast_unsigned()))
        && mark.is_none_or(|mark| time_of(stat) > mark)
}

fn time_of(stat: &Stat) -> Time {
    (stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or(0))
}

/// Which rank looks at an entry, by its name (FNV-1a): the same for all ranks that list a directory.
fn turn(name: &[u8]) -> u32 {
    name.iter().fold(0x811C_9DC5, |hash: u32, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)) >> 8
}
