//! The agent's end: serves one tree to whoever started it, and ends with the connection.

mod desk;
mod listing;
mod sums;
mod tree;
mod uploads;

use std::fs::File;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use fault::{Fault, Kind};
use fleet::ssh;

use self::desk::Desk;
use self::tree::Tree;
use super::frame::{Ear, Frame, read_frame};
use super::words::{Ask, Opened, Opening, foreign};
use crate::job::lock;
pub use tree::{inode_of, opened};

/// Threads that answer: enough for the storage, few enough for their memory.
const WORKERS: usize = 8;
/// Questions that wait.
const WAITING: usize = 8;
/// Whoever leads us says something every few seconds; one that says nothing for so long is gone.
const PATIENCE: Duration = Duration::from_mins(1);

/// Serves the tree that whoever started us asks for, until the connection ends.
pub fn serve(line: ssh::Line) -> fault::Result<()> {
    let ssh::Line { reader, writer, ahead, .. } = line;
    let mut ear = Ear::new(File::from(reader), ahead, Some(PATIENCE));
    let desk = Arc::new(Desk::new(writer.into()));
    let tree = Arc::new(OnceLock::new());
    let (give, take) = sync_channel::<Frame>(WAITING);
    let take = Arc::new(Mutex::new(take));
    for _ in 0..WORKERS {
        let (desk, tree, take) = (desk.clone(), tree.clone(), take.clone());
        // Not waited for at the end: an answer that nobody takes must not keep us.
        std::thread::spawn(move || work(&desk, &tree, &take));
    }
    read(&mut ear, &give)
}

fn read(ear: &mut dyn std::io::Read, give: &SyncSender<Frame>) -> fault::Result<()> {
    loop {
        match read_frame(ear) {
            Ok(Some(frame)) if frame.body == b"." => {}
            Ok(Some(frame)) => give.send(frame).map_err(|_| foreign())?,
            Ok(None) => return Ok(()),
            Err(error) => {
                let text = format!("the sync that led this agent is gone: {}", fault::plain(&error));
                return Err(Fault::new(Kind::Interrupted, text).caused_by(error));
            }
        }
    }
}

fn work(desk: &Arc<Desk>, tree: &OnceLock<Tree>, questions: &Mutex<Receiver<Frame>>) {
    loop {
        let next = lock(questions).recv();
        let Ok(Frame { number, body }) = next else { return };
        let asked = Ask::read(&body);
        drop(body);
        match asked {
            Ok(Ask::Open(opening)) => {
                desk.press_by(opening.compress);
                desk.end(number, open(tree, &opening));
            }
            Ok(ask) => match tree.get() {
                Some(tree) => tree.answer(desk, number, ask),
                None => desk.end(number, Err(foreign())),
            },
            Err(fault) => desk.end(number, Err(fault)),
        }
    }
}

fn open(tree: &OnceLock<Tree>, opening: &Opening) -> fault::Result<desk::Answer> {
    let opened = Tree::open(opening)?;
    let facts: Opened = opened.facts()?;
    tree.set(opened).map_err(|_| foreign())?;
    let mut out = Vec::new();
    facts.put(&mut out);
    Ok(out.into())
}
