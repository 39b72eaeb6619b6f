//! Chunks out of packs: what lies close together is read at once, and nothing is believed but its hash.

use std::collections::{HashMap, HashSet};

use chunk::Id;
use fault::{Fault, Kind};
use store::objects::{Depth, is_changed};

use super::format::{PackRows, Piece, TAIL, footer_length, read_footer, read_listing, unpack};
use super::locations::{Locations, Spot};
use super::{Chunked, interrupted, key_of_pack, unhex};
use crate::job::lock;

/// Bytes of a pack that are read at once.
const TOGETHER: u64 = 8 << 20;
/// Bytes that nobody needs and that are read all the same, to save a call.
const GAP: u64 = 128 << 10;
/// Bytes of a listing.
const MOST_LISTING: u64 = 32 << 20;
/// Bytes at the end of a pack that most footers are in.
const END: u64 = 64 << 10;

/// Takes a piece that was read, with its number.
type Each<'a, E> = dyn FnMut(usize, &[u8]) -> Result<(), E> + 'a;

impl Chunked {
    /// Asks of what is where. It is read when this is called first.
    pub fn with_locations<T>(&self, ask: impl FnOnce(&mut Locations) -> T) -> fault::Result<T> {
        let mut locations = lock(&self.locations);
        if locations.is_none() {
            *locations = Some(self.load()?);
        }
        Ok(ask(locations.get_or_insert_with(Locations::default)))
    }

    fn load(&self) -> fault::Result<Locations> {
        let mut packs: HashMap<[u8; 16], u64> = HashMap::new();
        self.store.list("packs/", Depth::All, &mut |object| {
            if let Some(name) = object.key.strip_prefix("packs/").and_then(unhex) {
                packs.insert(name, object.size);
            }
            if self.stopped() { Err(interrupted()) } else { Ok(()) }
        })?;
        let mut listings = Vec::new();
        self.store.list("index/", Depth::All, &mut |object| {
            listings.push(object.key);
            Ok(())
        })?;
        let leaving: HashSet<[u8; 16]> = self.base().leaving.iter().copied().collect();
        let mut locations = Locations::default();
        let mut kept = HashSet::new();
        for key in &listings {
            let Some(read) = self.listing(key, &mut kept)? else { continue };
            for pack in read.iter().filter(|pack| packs.get(&pack.name) == Some(&pack.size)) {
                locations.found(pack, leaving.contains(&pack.name));
            }
        }
        self.cache.retain("index-", &kept);
        for (name, size) in packs {
            // What a sync left that was stopped or killed.
            if !locations.has_pack(&name)
                && let Some(pack) = self.footer(name, size)?
            {
                locations.found(&pack, leaving.contains(&name));
                if !leaving.contains(&name) {
                    self.packer.unlisted(pack);
                }
            }
        }
        locations.settle();
        Ok(locations)
    }

    /// A listing, from here or from the store. One that is damaged is left out: the packs say themselves what is in them.
    fn listing(&self, key: &str, kept: &mut HashSet<String>) -> fault::Result<Option<Vec<PackRows>>> {
        let Some(id) = key.strip_prefix("index/").filter(|text| text.len() == 64).and_then(id_of) else {
            return Ok(None);
        };
        let name = format!("index-{id}");
        let bytes = match self.cache.get(&name, &id) {
            Some(bytes) => bytes,
            None => match self.store.read_whole(key, MOST_LISTING) {
                Ok((_, bytes)) => bytes.to_vec(),
                Err(fault) if fault.kind() == Kind::NotFound || is_changed(&fault) => return Ok(None),
                Err(fault) => return Err(fault),
            },
        };
        let Ok(packs) = read_listing(&bytes) else {
            self.note(format!("`{}{key}` is damaged: packs are asked instead", self.store.shown()));
            return Ok(None);
        };
        self.cache.put(&name, &bytes);
        kept.insert(name);
        lock(&self.listings).insert(key.to_owned());
        Ok(Some(packs))
    }

    /// What a pack says itself of what is in it.
    fn footer(&self, name: [u8; 16], size: u64) -> fault::Result<Option<PackRows>> {
        let key = key_of_pack(&name);
        let read = || -> fault::Result<PackRows> {
            let short = || super::format::damaged("a pack");
            let mut bytes = self.store.read(&key, size.saturating_sub(END)..size, None)?;
            let tail = bytes.len().checked_sub(TAIL).ok_or_else(short)?;
            let length = (footer_length(&bytes[tail..])? + TAIL) as u64;
            if length > bytes.len() as u64 {
                bytes = self.store.read(&key, size.checked_sub(length).ok_or_else(short)?..size, None)?;
            }
            let rows = read_footer(&bytes[bytes.len() - length as usize..], size)?;
            Ok(PackRows { name, size, rows })
        };
        match read() {
            Ok(pack) => Ok(Some(pack)),
            Err(fault) if fault.kind() == Kind::NotFound => Ok(None),
            Err(fault) if fault.kind() == Kind::Corrupt || is_changed(&fault) => {
                self.note(format!("`{}{key}` is damaged: it counts as empty", self.store.shown()));
                Ok(None)
            }
            Err(fault) => Err(fault),
        }
    }

    /// Reads pieces; gives each, with its number, to `each`, in the order that is best to read.
    pub fn read<E: From<Fault>>(&self, pieces: &[Piece], each: &mut Each<'_, E>) -> Result<(), E> {
        let mut wanted = Vec::with_capacity(pieces.len());
        for (number, piece) in pieces.iter().enumerate() {
            let spot = self.with_locations(|locations| locations.find(&piece.id).first().copied())?;
            let spot = spot.filter(|spot| spot.row().length == piece.length);
            wanted.push((spot.ok_or_else(|| self.missing(&piece.id))?, number));
        }
        wanted.sort_unstable_by_key(|(spot, number)| (spot.pack, spot.row().offset, *number));
        for group in groups(&wanted) {
            self.read_group(group, each)?;
        }
        Ok(())
    }

    fn read_group<E: From<Fault>>(&self, group: &[(Spot, usize)], each: &mut Each<'_, E>) -> Result<(), E> {
        let Some((first, _)) = group.first() else { return Ok(()) };
        let start = u64::from(first.row().offset);
        let end = group.iter().map(|(spot, _)| spot_end(spot)).max().unwrap_or(start);
        let bytes = match self.read_pack(first.pack, start..end) {
            // One that can't be read is told alone, or read elsewhere.
            Err(fault) if fault.kind() == Kind::Corrupt => None,
            bytes => Some(bytes?),
        };
        let mut last: Option<(Spot, Vec<u8>)> = None;
        for (spot, number) in group {
            if last.as_ref().is_none_or(|(other, _)| other != spot) {
                let row = spot.row();
                let at = (u64::from(row.offset) - start) as usize;
                let stored = bytes.as_ref().and_then(|bytes| bytes.get(at..at + row.stored as usize));
                let content = match stored.and_then(|stored| unpack(&row, stored)) {
                    Some(content) => content,
                    None => self.read_elsewhere(spot)?,
                };
                last = Some((*spot, content));
            }
            if let Some((_, content)) = &last {
                each(*number, content)?;
            }
        }
        Ok(())
    }

    /// A chunk that was not where it should be; perhaps there is another copy of it.
    fn read_elsewhere(&self, damaged: &Spot) -> fault::Result<Vec<u8>> {
        let others = self.with_locations(|locations| locations.find(&damaged.id))?;
        for spot in others {
            let row = spot.row();
            let range = u64::from(row.offset)..spot_end(&spot);
            match self.read_pack(spot.pack, range) {
                Ok(stored) => {
                    if let Some(content) = unpack(&row, &stored) {
                        return Ok(content);
                    }
                }
                Err(fault) if fault.kind() == Kind::Corrupt => {}
                Err(fault) => return Err(fault),
            }
            self.with_locations(|locations| locations.forget(&spot))?;
        }
        Err(self.missing(&damaged.id))
    }

    fn read_pack(&self, pack: u32, range: std::ops::Range<u64>) -> fault::Result<store::objects::Bytes> {
        let name = self.with_locations(|locations| locations.pack(pack).map(|pack| pack.name))?;
        let key = key_of_pack(&name.unwrap_or_default());
        self.store.read(&key, range, None).map_err(|fault| {
            if fault.kind() == Kind::NotFound || is_changed(&fault) {
                super::format::damaged(&format!("`{}{key}`", self.store.shown()))
            } else {
                fault
            }
        })
    }

    fn missing(&self, id: &Id) -> Fault {
        let text = format!(
            "chunk {} is damaged or missing in `{}packs/`",
            &id.to_string()[..16],
            self.store.shown()
        );
        Fault::new(Kind::Corrupt, text)
            .hint("sync its source there again with --verify all, or take an older state with --manifest")
    }
}

fn spot_end(spot: &Spot) -> u64 {
    u64::from(spot.row().offset) + u64::from(spot.row().stored)
}

/// The hash that 64 hexadecimal digits say.
fn id_of(text: &str) -> Option<Id> {
    let (one, two) = (unhex(text.get(..32)?)?, unhex(text.get(32..)?)?);
    let mut id = [0; 32];
    id[..16].copy_from_slice(&one);
    id[16..].copy_from_slice(&two);
    Some(Id(id))
}

/// What is read at once: of one pack, close together, not too much.
fn groups(wanted: &[(Spot, usize)]) -> Vec<&[(Spot, usize)]> {
    let mut groups = Vec::new();
    let mut start = 0;
    for at in 1..=wanted.len() {
        let ends = wanted.get(at).is_none_or(|(spot, _)| {
            let (first, before) = (&wanted[start].0, &wanted[at - 1].0);
            spot.pack != first.pack
                || u64::from(spot.row().offset) > spot_end(before) + GAP
                || spot_end(spot) - u64::from(first.row().offset) > TOGETHER
        });
        if ends {
            groups.push(&wanted[start..at]);
            start = at;
        }
    }
    groups
}
