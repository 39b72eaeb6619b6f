//! Neighbours at the other ends of pipes and sockets.

use std::io::ErrorKind;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use fault::{Fault, Result};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;

use crate::carrier::{Carrier, Delivery, Wake};
use crate::frame::{Decoder, Frame};

/// Bytes that wait to be written to one neighbour; beyond, frames wait where a stop can overtake them.
const WRITE_AHEAD: usize = 64 << 10;
const READ_AT_ONCE: usize = 64 << 10;

/// One neighbour.
pub(crate) struct Stream {
    pub reader: OwnedFd,
    pub writer: OwnedFd,
    /// What was read beyond the greeting.
    pub decoder: Decoder,
    /// Looks into why the connection ended.
    pub autopsy: Autopsy,
}

/// What is known of why a connection ended.
pub(crate) type Autopsy = Box<dyn FnMut() -> String + Send>;

pub(crate) struct Streams {
    lines: Vec<Option<Line>>,
    waker: Arc<OwnedFd>,
    buffer: Vec<u8>,
}

struct Line {
    stream: Stream,
    out: Vec<u8>,
    written: usize,
}

impl Streams {
    /// A carrier over `streams`, in the neighbours' order, and what wakes it.
    pub fn new(streams: Vec<Stream>) -> Result<(Self, Wake)> {
        let failed = |error: Errno| Fault::os("prepare", std::path::Path::new("connections"), error);
        for stream in &streams {
            for end in [&stream.reader, &stream.writer] {
                rustix::io::ioctl_fionbio(end, true).map_err(failed)?;
            }
        }
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let waker = Arc::new(eventfd(0, flags).map_err(failed)?);
        let bell = Arc::clone(&waker);
        let wake: Wake = Box::new(move || {
            let _ = rustix::io::write(&*bell, &1u64.to_ne_bytes());
        });
        let line = |stream| Some(Line { stream, out: Vec::new(), written: 0 });
        let lines = streams.into_iter().map(line).collect();
        Ok((Self { lines, waker, buffer: vec![0; READ_AT_ONCE] }, wake))
    }

    /// Waits until something can be done: which lines can be read, which written.
    fn wait(&self, wait: Duration) -> Vec<(usize, bool, bool)> {
        let mut fds = vec![PollFd::new(&*self.waker, PollFlags::IN)];
        let mut numbers = Vec::new();
        for (number, line) in self.lines.iter().enumerate() {
            let Some(line) = line else { continue };
            fds.push(PollFd::from_borrowed_fd(line.stream.reader.as_fd(), PollFlags::IN));
            let writable = if line.is_unsent() { PollFlags::OUT } else { PollFlags::empty() };
            fds.push(PollFd::from_borrowed_fd(line.stream.writer.as_fd(), writable));
            numbers.push(number);
        }
        let wait = Timespec { tv_sec: wait.as_secs().cast_signed(), tv_nsec: i64::from(wait.subsec_nanos()) };
        if poll(&mut fds, Some(&wait)).is_err() {
            return Vec::new();
        }
        if !fds[0].revents().is_empty() {
            let _ = rustix::io::read(&*self.waker, &mut [0u8; 8]);
        }
        let pairs = fds[1..].chunks_exact(2).zip(numbers);
        // A writer whose reader has gone is reported whether asked for or not; reading shows the end then.
        pairs
            .map(|(pair, number)| (number, !pair[0].revents().is_empty(), !pair[1].revents().is_empty()))
            .filter(|(_, readable, writable)| *readable || *writable)
            .collect()
    }

    fn read(&mut self, number: usize, deliver: &mut dyn FnMut(usize, Delivery)) {
        let Self { lines, buffer, .. } = self;
        let Some(line) = &mut lines[number] else { return };
        let why = match line.read(buffer, &mut |frame| deliver(number, Delivery::Frame(frame))) {
            Ok(true) => return,
            Ok(false) => (line.stream.autopsy)(),
            Err(why) => why,
        };
        lines[number] = None;
        deliver(number, Delivery::Gone(why));
    }
}

impl Carrier for Streams {
    fn has_room(&self, neighbour: usize) -> bool {
        self.lines[neighbour].as_ref().is_none_or(|line| line.out.len() - line.written < WRITE_AHEAD)
    }

    fn send(&mut self, neighbour: usize, frame: &Frame) {
        if let Some(line) = &mut self.lines[neighbour] {
            frame.write(&mut line.out);
            line.write();
        }
    }

    fn turn(&mut self, wait: Duration, _: bool, deliver: &mut dyn FnMut(usize, Delivery)) {
        for (number, readable, writable) in self.wait(wait) {
            if writable && let Some(line) = &mut self.lines[number] {
                line.write();
            }
            if readable {
                self.read(number, deliver);
            }
        }
    }

    fn close(&mut self, neighbour: usize) {
        self.lines[neighbour] = None;
    }

    fn is_unsent(&self) -> bool {
        self.lines.iter().flatten().any(Line::is_unsent)
    }
}

impl Line {
    fn is_unsent(&self) -> bool {
        self.written < self.out.len()
    }

    /// Writes what goes without waiting. A failure shows as the end of what can be read.
    fn write(&mut self) {
        while self.is_unsent() {
            match rustix::io::write(&self.stream.writer, &self.out[self.written..]) {
                Ok(count) => self.written += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => break,
            }
        }
        self.out.clear();
        self.written = 0;
    }

    /// Reads what is there; false at the end.
    fn read(&mut self, buffer: &mut [u8], take: &mut dyn FnMut(Frame)) -> std::result::Result<bool, String> {
        let goes_on = match rustix::io::read(&self.stream.reader, &mut *buffer) {
            Ok(0) => false,
            Ok(count) => {
                self.stream.decoder.push(&buffer[..count]);
                true
            }
            Err(Errno::INTR | Errno::AGAIN) => true,
            Err(error) if std::io::Error::from(error).kind() == ErrorKind::ConnectionReset => false,
            Err(error) => return Err(fault::plain(&error.into())),
        };
        while let Some(frame) = self.stream.decoder.next().map_err(|fault| fault.message().to_owned())? {
            take(frame);
        }
        Ok(goes_on)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::node::{Branch, Node, Place};
    use crate::{Aborted, GONE, Link};

    fn stream(end: UnixStream) -> Stream {
        let reader = end.try_clone().unwrap().into();
        let autopsy = Box::new(|| "its connection ended".to_owned());
        Stream { reader, writer: end.into(), decoder: Decoder::default(), autopsy }
    }

    fn below(process: u32, processes: u32, fan_out: u32) -> Vec<u32> {
        let children = (process * fan_out + 1..=(process + 1) * fan_out).filter(|child| *child < processes);
        std::iter::once(process).chain(children.flat_map(|child| below(child, processes, fan_out))).collect()
    }

    /// A tree of so many processes, each with at most `fan_out` children, in one process.
    fn tree(processes: u32, fan_out: u32, allowed: u32) -> Vec<Node> {
        let mut ends: Vec<Vec<Stream>> = (0..processes).map(|_| Vec::new()).collect();
        let mut ups: Vec<Option<Stream>> = (0..processes).map(|_| None).collect();
        let parent = |process: u32| (process - 1) / fan_out;
        for process in 1..processes {
            let (above, below) = UnixStream::pair().unwrap();
            ends[parent(process) as usize].push(stream(above));
            ups[process as usize] = Some(stream(below));
        }
        let join = |(number, (mut ends, up)): (usize, (Vec<Stream>, Option<Stream>))| {
            let number = number as u32;
            let children = (number * fan_out + 1..=(number + 1) * fan_out).filter(|child| *child < processes);
            let branches =
                children.map(|child| Branch { processes: below(child, processes, fan_out) }).collect();
            ends.extend(up);
            let (carrier, wake) = Streams::new(ends).unwrap();
            let patience = Duration::from_mins(1);
            let place = Place { number, processes, branches, allowed, patience };
            Node::start(place, wake, || Ok(Box::new(carrier))).unwrap()
        };
        ends.into_iter().zip(ups).enumerate().map(join).collect()
    }

    fn run<T: Send>(nodes: Vec<Node>, work: impl Fn(Node) -> T + Sync) -> Vec<T> {
        std::thread::scope(|scope| {
            let work = &work;
            let handles: Vec<_> = nodes.into_iter().map(|node| scope.spawn(move || work(node))).collect();
            handles.into_iter().map(|handle| handle.join().unwrap()).collect()
        })
    }

    #[test]
    fn a_tree_agrees_round_after_round() {
        for (processes, fan_out) in [(1, 1), (5, 64), (13, 3), (6, 1)] {
            let codes = run(tree(processes, fan_out, 0), |node| {
                let number = node.process();
                for round in 0..50u64 {
                    let most = u64::from(processes - 1) * round;
                    assert_eq!(node.all_max(Some(u64::from(number) * round)).unwrap(), Ok(most));
                    assert_eq!(node.broadcast(vec![number as u8, 7]).unwrap(), [0, 7]);
                    let gathered = node.gather(vec![number as u8; 1000]).unwrap();
                    let all = (0..processes).map(|process| Some(vec![process as u8; 1000]));
                    assert_eq!(gathered, if number == 0 { all.collect() } else { Vec::new() });
                }
                let off = node.all_max((number != processes - 1).then_some(1)).unwrap();
                assert_eq!(off, Err(Aborted));
                let clock = node.clock().unwrap();
                // One machine, one clock.
                assert!(clock.offset_ns.unsigned_abs() <= clock.uncertainty_ns, "{clock:?}");
                node.end(if number == 0 { 4 } else { 9 })
            });
            assert_eq!(codes, vec![4; processes as usize]);
        }
    }

    #[test]
    fn a_stop_reaches_all_while_they_wait_and_is_forgotten_by_resume() {
        run(tree(7, 2, 0), |node| {
            for round in 0..20 {
                std::thread::scope(|scope| {
                    if node.process() == round % 7 {
                        node.stop(round as u8);
                    } else if node.process() == 6 - round % 7 {
                        scope.spawn(|| {
                            while node.stopped().is_none() {
                                std::thread::sleep(Duration::from_millis(1));
                            }
                        });
                    }
                });
                while node.stopped().is_none() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                node.gather(Vec::new()).unwrap();
                assert_eq!(node.stopped(), Some(round as u8));
                node.resume();
                node.broadcast(Vec::new()).unwrap();
                assert_eq!(node.stopped(), None, "a stop of an earlier phase stopped the next");
                node.all_max(Some(0)).unwrap().unwrap();
            }
            node.end(0)
        });
    }

    #[test]
    fn posts_reach_the_root_from_any_depth() {
        run(tree(6, 1, 0), |node| {
            node.post(vec![node.process() as u8]);
            node.gather(Vec::new()).unwrap();
            let mut posts = node.posts();
            posts.sort();
            let all: Vec<_> = (0..6).map(|process| (process, vec![process as u8])).collect();
            assert_eq!(posts, if node.process() == 0 { all } else { Vec::new() });
            node.end(0)
        });
    }

    #[test]
    fn what_is_asked_is_answered_from_any_depth() {
        run(tree(6, 2, 0), |node| {
            if node.process() > 0 {
                std::thread::scope(|scope| {
                    for thread in 0..3u8 {
                        let node = &node;
                        scope.spawn(move || {
                            for length in [0, 1, 3 << 20] {
                                let mut question = vec![thread; length];
                                question.push(node.process() as u8);
                                let answer = node.ask(&question).unwrap();
                                assert!(answer.iter().eq(question.iter().rev()));
                            }
                        });
                    }
                });
                node.gather(Vec::new()).unwrap();
                return node.end(0);
            }
            assert!(node.ask(b"myself").is_err());
            for _ in 0..5 * 3 * 3 {
                let question = node.question(Duration::from_mins(1)).unwrap();
                assert_eq!(question.bytes.last().map(|last| u32::from(*last)), Some(question.process));
                let answer: Vec<u8> = question.bytes.iter().rev().copied().collect();
                node.answer(&question, &answer).unwrap();
            }
            assert!(node.question(Duration::ZERO).is_none());
            node.gather(Vec::new()).unwrap();
            node.end(0)
        });
    }

    #[test]
    fn who_waits_for_an_answer_hears_of_the_end() {
        run(tree(3, 1, 0), |node| {
            if node.process() > 0 {
                assert!(node.ask(b"anybody?").is_err());
            } else {
                assert!(node.question(Duration::from_mins(1)).is_some());
            }
            node.end(0)
        });
    }

    #[test]
    fn a_process_that_dies_takes_what_is_below_it_and_frees_the_others() {
        run(tree(7, 2, 0), |node| {
            if node.process() == 1 {
                return;
            }
            // 3 and 4 are below 1.
            let below = [3, 4].contains(&node.process());
            let agreed = node.all_max(Some(1));
            assert!(if below { agreed.is_err() } else { agreed.unwrap() == Err(Aborted) });
            while node.stopped().is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            assert_eq!(node.stopped(), Some(GONE));
            if !below {
                let gathered = node.gather(vec![1]).unwrap();
                if node.process() == 0 {
                    let there: Vec<bool> = gathered.iter().map(Option::is_some).collect();
                    assert_eq!(there, [true, false, true, false, false, true, true]);
                    let mut lost: Vec<u32> = node.lost().iter().map(|lost| lost.process).collect();
                    lost.sort_unstable();
                    assert_eq!(lost, [1, 3, 4]);
                }
                node.end(1);
            }
        });
    }

    #[test]
    fn losses_that_are_allowed_end_nothing() {
        run(tree(7, 2, 3), |node| {
            if node.process() == 1 {
                return;
            }
            let below = [3, 4].contains(&node.process());
            for _ in 0..50 {
                let agreed = node.all_max(Some(u64::from(node.process())));
                assert!(below || agreed.unwrap() == Ok(6));
            }
            if !below {
                assert!(node.process() > 0 || node.stopped().is_none());
                node.end(0);
            }
        });
    }

    #[test]
    fn the_root_s_death_is_told_to_everyone() {
        run(tree(7, 2, 6), |node| {
            if node.process() == 0 {
                return;
            }
            let error = node.all_max(Some(1)).unwrap_err();
            assert!(error.message().contains("leads this run is gone"), "{error}");
            assert_eq!(node.stopped(), Some(GONE));
            assert_eq!(node.end(0), 1);
        });
    }

    #[test]
    fn an_end_without_a_word_in_the_middle_is_told_as_the_end() {
        let codes = run(tree(3, 1, 0), |node| {
            if node.process() == 0 {
                return node.end(2);
            }
            let error = node.broadcast(Vec::new()).unwrap_err();
            assert!(error.message().contains("has ended it"), "{error}");
            node.end(0)
        });
        assert_eq!(codes, [2; 3]);
    }
}
