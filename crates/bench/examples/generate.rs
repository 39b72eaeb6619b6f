//! How fast one vCPU generates data: GB/s by instruction set and buffer size, as tab-separated lines.

use std::error::Error;
use std::hint::black_box;
use std::io::{Write as _, stdout};
use std::time::{Duration, Instant};

use bench::data::{Instructions, fill_words};

/// Long enough for the clock to be exact, short enough that other work on the machine hits few of the measurements.
const LENGTH: Duration = Duration::from_millis(100);
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

/// GB/s.
fn rate(instructions: Instructions, words: &mut [u64]) -> f64 {
    let started = Instant::now();
    let mut position = 0;
    while started.elapsed() < LENGTH {
        for _ in 0..64 {
            fill_words(instructions, black_box(&mut *words), 1, position);
            position += words.len() as u64;
        }
    }
    position as f64 * 8.0 / started.elapsed().as_secs_f64() / 1e9
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
