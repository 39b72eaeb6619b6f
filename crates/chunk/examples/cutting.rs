//! How fast content is cut, beside the `fastcdc` crate with the same sizes: `cargo run --release -p chunk --example cutting`.
//! CPU seconds of this thread, so that what else runs on the machine matters little.

#![allow(clippy::print_stdout, reason = "an example prints what it measured")]

use std::time::Duration;

use chunk::{Cutter, Id};

const SIZE: usize = 256 << 20;
const ROUNDS: usize = 7;

fn main() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut bytes = vec![0; SIZE];
    random.fill(&mut bytes);
    let cutter = Cutter::new(65_536);
    let crates = || fastcdc::v2020::FastCDC::new(&bytes, 16_384, 65_536, 262_144);
    let ours = rate("forebay", || cutter.all(&bytes).count());
    let theirs = rate("fastcdc 2020", || crates().count());
    rate("forebay, with BLAKE3", || cutter.all(&bytes).map(|c| Id::of(&bytes[c]).short()[0] as usize).sum());
    rate("fastcdc, with BLAKE3", || {
        crates().map(|c| Id::of(&bytes[c.offset..c.offset + c.length]).short()[0] as usize).sum()
    });
    println!("forebay to fastcdc: {:.2}", ours / theirs);
}

/// The best of some rounds, GB/s: whatever else disturbs a round makes it slower, never faster.
fn rate(name: &str, mut work: impl FnMut() -> usize) -> f64 {
    let mut best = Duration::MAX;
    let mut result = 0;
    for _ in 0..ROUNDS {
        let start = thread_time();
        result = std::hint::black_box(work());
        best = best.min(thread_time().saturating_sub(start));
    }
    let rate = SIZE as f64 / best.as_secs_f64() / 1e9;
    println!("{name:22} {rate:6.2} GB/s  ({result})");
    rate
}

fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}
