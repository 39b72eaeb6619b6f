//! How fast one vCPU generates data: GB per second of CPU time, by instruction set and buffer size, as tab-separated lines.

use std::error::Error;
use std::hint::black_box;
use std::io::{Write as _, stdout};

use bench::data::{Instructions, fill_words};
use rustix::time::{ClockId, clock_gettime};

/// Long enough for the clock to be exact, short enough that other work on the machine hits few of the measurements.
const LENGTH_NS: u64 = 100_000_000;
const REPETITIONS: usize = 9;

fn main() -> Result<(), Box<dyn Error>> {
    for (name, instructions) in sets() {
        for kib in [4, 64, 1024] {
            let mut words = vec![0u64; kib * 128];
            let mut rates: Vec<f64> = (0..REPETITIONS).map(|_| rate(instructions, &mut words)).collect();
            rates.sort_by(f64::total_cmp);
            writeln!(
                stdout(),
                "{name}\t{kib} KiB\t{:.1}\t{:.1}\t{:.1}",
                rates[REPETITIONS / 2],
                rates[0],
                rates[REPETITIONS - 1]
            )?;
        }
    }
    Ok(())
}

/// Bytes per nanosecond of this thread's CPU time: what runs beside it does not count.
fn rate(instructions: Instructions, words: &mut [u64]) -> f64 {
    let started = thread_cpu();
    let mut position = 0;
    loop {
        for _ in 0..64 {
            fill_words(instructions, black_box(&mut *words), 1, position);
            position += words.len() as u64;
        }
        let taken = thread_cpu() - started;
        if taken >= LENGTH_NS {
            return position as f64 * 8.0 / taken as f64;
        }
    }
}

fn thread_cpu() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// What this CPU can do, the narrowest first.
fn sets() -> Vec<(&'static str, Instructions)> {
    let mut sets = vec![("baseline", Instructions::Baseline)];
    #[cfg(target_arch = "x86_64")]
    {
        let widest = Instructions::detect();
        if widest != Instructions::Baseline {
            sets.push(("AVX2", Instructions::Avx2));
        }
        if widest == Instructions::Avx512 {
            sets.push(("AVX-512", Instructions::Avx512));
        }
    }
    sets
}
