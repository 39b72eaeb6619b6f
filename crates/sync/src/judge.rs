//! What must be done with one file: a pure function of what both sides and the last sync say.

use store::{Kind, Meta, Stamp};

use crate::index::Known;
use crate::options::Conflict;

/// What was decided about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing to do.
    Same,
    /// The destination has it already, though no sync of ours knows: attributes are compared one by one.
    Adopt,
    /// Only attributes may differ.
    Attributes,
    /// Nothing seems to have changed, but the destination's content is read and compared all the same.
    Check,
    /// The content may have changed though size and time say no: its hash decides.
    Recheck,
    /// The content goes over.
    Copy,
    /// The content goes over, and what is at the destination is kept under another name.
    CopyBeside,
    /// The destination's is newer and stays.
    Keep,
    /// Both sides changed, and neither is touched.
    Conflict,
}

/// The rules that decide where both sides have something to say.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Leave what is newer at the destination.
    pub update: bool,
    /// Where both sides changed.
    pub conflict: Conflict,
    /// Whether an equal size and time at the destination can be believed where no sync of ours knows the file.
    pub believe_times: bool,
    /// Whether owners are kept.
    pub with_owner: bool,
    /// The destination may keep whole seconds only.
    pub coarse_times: bool,
    /// How far apart two times must be to say which was first, ns.
    pub margin_nanos: i128,
}

impl Rules {
    /// Decides about a regular file. `destination` is what has its name there.
    pub fn judge(&self, source: &Meta, known: Option<&Known>, destination: Option<&Meta>) -> Verdict {
        let Some(there) = destination else { return Verdict::Copy };
        if there.kind != Kind::File {
            return Verdict::Copy;
        }
        if there.links > 1 && source.links == 1 {
            // It shares a file there with names that are others here: it gets one of its own.
            return self.newer(source, there).unwrap_or(Verdict::Copy);
        }
        let alike = there.size == source.size && self.same_time(source, there);
        match known {
            Some(known) if known.is_still(source) && alike => self.attributes(source, there),
            Some(known) if alike && !known.is_still(source) => {
                if known.size == source.size && known.id.is_some() { Verdict::Recheck } else { Verdict::Copy }
            }
            Some(known) => {
                let untouched = there.size == known.size && (there.mtime == known.mtime || self.coarse_times);
                if untouched {
                    self.newer(source, there).unwrap_or(Verdict::Copy)
                } else {
                    self.clash(source, there)
                }
            }
            None if alike && self.believe_times && self.is_older(source, there) => Verdict::Adopt,
            None if alike => Verdict::Recheck,
            None => self.clash(source, there),
        }
    }

    fn attributes(&self, source: &Meta, there: &Meta) -> Verdict {
        let owner = !self.with_owner || (source.uid, source.gid) == (there.uid, there.gid);
        if owner && source.mode == there.mode { Verdict::Same } else { Verdict::Attributes }
    }

    fn newer(&self, source: &Meta, there: &Meta) -> Option<Verdict> {
        (self.update && there.mtime > source.mtime).then_some(Verdict::Keep)
    }

    fn clash(&self, source: &Meta, there: &Meta) -> Verdict {
        if let Some(keep) = self.newer(source, there) {
            return keep;
        }
        match self.conflict {
            Conflict::Newer if there.mtime > source.mtime => Verdict::Keep,
            Conflict::Source | Conflict::Newer => Verdict::Copy,
            Conflict::KeepBoth => Verdict::CopyBeside,
            Conflict::Fail => Verdict::Conflict,
        }
    }

    /// Whether the source was last touched before the destination was written: what changed since, perhaps with size and
    /// time put back, is not believed to be the same.
    fn is_older(&self, source: &Meta, there: &Meta) -> bool {
        source.ctime.as_nanos() + self.margin_nanos < there.ctime.as_nanos()
    }

    /// Whether a file that is to be adopted was made after the source was last touched, if that is known. Its ctime may be
    /// younger than its content: it also moves when another name of the file goes.
    pub fn is_born_later(&self, source: &Meta, birth: Option<Stamp>) -> bool {
        birth.is_none_or(|birth| source.ctime.as_nanos() + self.margin_nanos < birth.as_nanos())
    }

    /// Whether the times of the content are the same, as far as the destination keeps them.
    pub fn same_time(&self, source: &Meta, there: &Meta) -> bool {
        source.mtime == there.mtime
            || (self.coarse_times && there.mtime.nanos == 0 && there.mtime.seconds == source.mtime.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules {
        update: false,
        conflict: Conflict::Source,
        believe_times: true,
        with_owner: true,
        coarse_times: false,
        margin_nanos: 1,
    };

    fn meta(size: u64, mtime: i64, ctime: i64) -> Meta {
        let stamp = |seconds| Stamp { seconds, nanos: 5 };
        Meta {
            kind: Kind::File,
            mode: 0o644,
            uid: 1,
            gid: 1,
            size,
            blocks: 8,
            inode: 7,
            device: 1,
            node: 0,
            links: 1,
            mtime: stamp(mtime),
            ctime: stamp(ctime),
            atime: stamp(0),
        }
    }

    fn known(meta: &Meta) -> Known {
        Known { id: Some([1; 16]), ..Known::of(meta) }
    }

    #[test]
    fn what_is_adopted_was_made_after_its_source() {
        let source = meta(10, 100, 500);
        let stamp = |seconds| Some(Stamp { seconds, nanos: 5 });
        assert!(RULES.is_born_later(&source, stamp(501)) && RULES.is_born_later(&source, None));
        assert!(!RULES.is_born_later(&source, stamp(500)) && !RULES.is_born_later(&source, stamp(499)));
    }

    #[test]
    fn without_a_last_sync_both_sides_are_compared() {
        let source = meta(10, 100, 100);
        assert_eq!(RULES.judge(&source, None, None), Verdict::Copy);
        assert_eq!(RULES.judge(&source, None, Some(&meta(10, 100, 900))), Verdict::Adopt);
        assert_eq!(RULES.judge(&source, None, Some(&meta(10, 100, 99))), Verdict::Recheck);
        assert_eq!(RULES.judge(&source, None, Some(&meta(11, 100, 900))), Verdict::Copy);
        assert_eq!(RULES.judge(&source, None, Some(&meta(10, 101, 900))), Verdict::Copy);
        let doubting = Rules { believe_times: false, ..RULES };
        assert_eq!(doubting.judge(&source, None, Some(&meta(10, 100, 900))), Verdict::Recheck);
        let coarse = Rules { coarse_times: true, ..RULES };
        let mut whole = meta(10, 100, 900);
        whole.mtime.nanos = 0;
        assert_eq!(coarse.judge(&source, None, Some(&whole)), Verdict::Adopt);
        assert_eq!(RULES.judge(&source, None, Some(&whole)), Verdict::Copy);
    }

    #[test]
    fn equal_size_and_time_with_another_ctime_is_not_believed() {
        let before = meta(10, 100, 100);
        let after = meta(10, 100, 200);
        assert_eq!(RULES.judge(&after, Some(&known(&before)), Some(&meta(10, 100, 900))), Verdict::Recheck);
        let no_hash = Known::of(&before);
        assert_eq!(RULES.judge(&after, Some(&no_hash), Some(&meta(10, 100, 900))), Verdict::Copy);
        let racy = Known { racy: true, ..known(&before) };
        assert_eq!(RULES.judge(&before, Some(&racy), Some(&meta(10, 100, 900))), Verdict::Recheck);
    }

    #[test]
    fn both_sides_changed() {
        let (before, source, there) = (meta(10, 100, 100), meta(20, 200, 200), meta(30, 300, 300));
        let known = known(&before);
        let judge =
            |conflict, update| Rules { update, conflict, ..RULES }.judge(&source, Some(&known), Some(&there));
        assert_eq!(judge(Conflict::Source, false), Verdict::Copy);
        assert_eq!(judge(Conflict::Source, true), Verdict::Keep);
        assert_eq!(judge(Conflict::Newer, false), Verdict::Keep);
        assert_eq!(judge(Conflict::KeepBoth, false), Verdict::CopyBeside);
        assert_eq!(judge(Conflict::Fail, false), Verdict::Conflict);
        // Only the source changed: no conflict, whatever the policy.
        let alone = Rules { conflict: Conflict::Fail, ..RULES };
        assert_eq!(alone.judge(&source, Some(&known), Some(&meta(10, 100, 900))), Verdict::Copy);
    }

    #[test]
    fn a_file_that_is_shared_only_at_the_destination_gets_one_of_its_own() {
        let source = meta(10, 100, 100);
        let shared = Meta { links: 2, ..meta(10, 100, 900) };
        assert_eq!(RULES.judge(&source, Some(&known(&source)), Some(&shared)), Verdict::Copy);
        let both = Meta { links: 2, ..source };
        assert_eq!(RULES.judge(&both, Some(&known(&source)), Some(&shared)), Verdict::Same);
    }

    #[test]
    fn attributes_are_compared_where_the_content_is_the_same() {
        let source = meta(10, 100, 100);
        let mut there = meta(10, 100, 900);
        assert_eq!(RULES.judge(&source, Some(&known(&source)), Some(&there)), Verdict::Same);
        there.uid = 9;
        assert_eq!(RULES.judge(&source, Some(&known(&source)), Some(&there)), Verdict::Attributes);
        let owners_left = Rules { with_owner: false, ..RULES };
        assert_eq!(owners_left.judge(&source, Some(&known(&source)), Some(&there)), Verdict::Same);
        there.mode = 0o600;
        assert_eq!(owners_left.judge(&source, Some(&known(&source)), Some(&there)), Verdict::Attributes);
    }
}
