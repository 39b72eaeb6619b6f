//! Trees as chunks in object stores: `--layout chunks`.

mod harm;
mod sizes;
mod trees;

use std::path::Path;

use store::objects::{Depth, Location, Object, ObjectStore, Settings, connect_as};
use sync::Layout;
use testkit::servers::Server;

use crate::job::{Order, Place};

/// From a tree to chunks.
fn up(place: &Place, source: &Path, prefix: &str) -> Order {
    Order { layout: Some(Layout::Chunks), ..place.order(source, &place.location(prefix)) }
}

fn open(server: &Server, prefix: &str) -> Box<dyn ObjectStore> {
    let location: Location = format!("{}{prefix}", server.url).parse().unwrap();
    connect_as(&location, Settings::default(), &|name| server.look_up(name)).unwrap()
}

fn listed(server: &Server, prefix: &str, below: &str) -> Vec<Object> {
    let mut all = Vec::new();
    let each = &mut |object| {
        all.push(object);
        Ok(())
    };
    open(server, prefix).list(below, Depth::All, each).unwrap();
    all.sort_by(|a, b| a.key.cmp(&b.key));
    all
}

/// Bytes that nothing makes smaller.
fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; length];
    fastrand::Rng::with_seed(seed).fill(&mut bytes);
    bytes
}
