//! Which chunk lies where: 48 bytes of memory for each.

use std::collections::{HashMap, HashSet};

use chunk::Id;

use super::format::{PackRows, Row};

/// New chunks that are held apart before they are sorted in.
const RECENT: usize = 64 << 10;
/// The length's top bit: the chunk is compressed.
const COMPRESSED: u32 = 1 << 31;

/// Where a chunk lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    pub id: Id,
    /// The number of its pack.
    pub pack: u32,
    offset: u32,
    stored: u32,
    length: u32,
}

/// A pack that is there.
#[derive(Debug, Clone)]
pub struct PackAt {
    /// Its name.
    pub name: [u8; 16],
    /// Its size, bytes.
    pub size: u64,
    /// It is being removed: nothing new may need it.
    pub leaving: bool,
}

/// All chunks of a store.
#[derive(Debug, Default)]
pub struct Locations {
    packs: Vec<PackAt>,
    numbers: HashMap<[u8; 16], u32>,
    sorted: Vec<Spot>,
    recent: HashMap<Id, Spot>,
    /// On their way, in packs that are not there yet.
    coming: HashSet<Id>,
}

impl Spot {
    /// As a row of its pack.
    pub const fn row(&self) -> Row {
        Row {
            id: self.id,
            offset: self.offset,
            stored: self.stored,
            length: self.length & !COMPRESSED,
            compressed: self.length & COMPRESSED != 0,
        }
    }
}

fn spot(pack: u32, row: &Row) -> Spot {
    let length = row.length | if row.compressed { COMPRESSED } else { 0 };
    Spot { id: row.id, pack, offset: row.offset, stored: row.stored, length }
}

impl Locations {
    /// The packs that are there, by their numbers.
    pub fn packs(&self) -> &[PackAt] {
        &self.packs
    }

    /// A pack by its number.
    pub fn pack(&self, number: u32) -> Option<&PackAt> {
        self.packs.get(number as usize)
    }

    /// Whether a pack is known.
    pub fn has_pack(&self, name: &[u8; 16]) -> bool {
        self.numbers.contains_key(name)
    }

    fn number(&mut self, pack: &PackRows, leaving: bool) -> u32 {
        let number = self.packs.len() as u32;
        self.packs.push(PackAt { name: pack.name, size: pack.size, leaving });
        self.numbers.insert(pack.name, number);
        number
    }

    /// Takes up a pack that was there before; [`Locations::settle`] comes behind the last.
    pub fn found(&mut self, pack: &PackRows, leaving: bool) {
        if !self.has_pack(&pack.name) {
            let number = self.number(pack, leaving);
            self.sorted.extend(pack.rows.iter().map(|row| spot(number, row)));
        }
    }

    /// Takes up a pack that has just come.
    pub fn came(&mut self, pack: &PackRows) {
        let number = self.number(pack, false);
        for row in &pack.rows {
            self.coming.remove(&row.id);
            self.recent.insert(row.id, spot(number, row));
        }
        if self.recent.len() >= RECENT {
            self.settle();
        }
    }

    /// Brings everything in order.
    pub fn settle(&mut self) {
        // No more than is needed: twice as much would be the largest thing in memory.
        self.sorted.reserve_exact(self.recent.len());
        self.sorted.extend(self.recent.drain().map(|(_, spot)| spot));
        self.sorted.sort_unstable();
    }

    /// All places of a chunk, those that stay first.
    pub fn find(&self, id: &Id) -> Vec<Spot> {
        let start = self.sorted.partition_point(|spot| spot.id < *id);
        let mut spots: Vec<Spot> =
            self.sorted[start..].iter().take_while(|spot| spot.id == *id).copied().collect();
        spots.extend(self.recent.get(id));
        spots.sort_by_key(|spot| self.is_leaving(spot));
        spots
    }

    fn is_leaving(&self, spot: &Spot) -> bool {
        self.pack(spot.pack).is_none_or(|pack| pack.leaving)
    }

    /// Whether it is there to stay.
    pub fn has(&self, id: &Id) -> bool {
        self.coming.contains(id) || self.find(id).iter().any(|spot| !self.is_leaving(spot))
    }

    /// Says that a chunk comes, unless it is there or comes already.
    pub fn claim(&mut self, id: Id) -> bool {
        !self.has(&id) && self.coming.insert(id)
    }

    /// What is in all packs but those of these names. A pack of which something could not be read is left out.
    pub fn rows_without(&self, names: &HashSet<[u8; 16]>) -> Vec<PackRows> {
        let mut spots: Vec<Spot> = self.sorted.iter().chain(self.recent.values()).copied().collect();
        spots.sort_unstable_by_key(|spot| (spot.pack, spot.offset));
        let packs = spots.chunk_by(|a, b| a.pack == b.pack);
        let rows = packs.filter_map(|spots| {
            let pack = self.pack(spots.first()?.pack).filter(|pack| !names.contains(&pack.name))?;
            let rows = spots.iter().map(Spot::row).collect();
            Some(PackRows { name: pack.name, size: pack.size, rows })
        });
        rows.filter(PackRows::is_whole).collect()
    }

    /// A chunk that could not be read there is not there.
    pub fn forget(&mut self, spot: &Spot) {
        self.sorted.retain(|other| other != spot);
        if self.recent.get(&spot.id) == Some(spot) {
            self.recent.remove(&spot.id);
        }
    }
}
