//! Content as it travels: as it is, pressed, or as nothing where it is zeros.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use store::objects::Bytes;

use super::words::foreign;
use crate::index::wire::{put, take, take_slice};

/// No piece of content is longer, bytes.
pub const MOST: u64 = 9 << 20;
/// Shorter content is not looked at.
const LEAST: usize = 64;
/// Shorter content is not pressed.
const LEAST_PRESSED: usize = 512;
/// Bytes of a probe.
const PROBE: usize = 16 << 10;
/// Below this speed of the link, pressing hard is worth it, bytes per second: zstd's first level does about twice as much on
/// a core.
const SLOW: u64 = 120_000_000;
/// Above this, not even pressing lightly is.
const FAST: u64 = 700_000_000;
/// Shorter writes say nothing of the link.
const TELLING: usize = 64 << 10;
const PLAIN: u8 = 0;
const ZEROS: u8 = 1;
const ZSTD: u8 = 2;
const LZ4: u8 = 3;

/// How content is pressed for its way to another host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Compress {
    /// By what the link does and the content lets.
    #[default]
    Auto,
    /// With zstd.
    Zstd,
    /// With LZ4.
    Lz4,
    /// Not at all.
    Off,
}

impl Compress {
    /// As one number.
    pub const fn number(self) -> u64 {
        match self {
            Self::Auto => 0,
            Self::Zstd => 1,
            Self::Lz4 => 2,
            Self::Off => 3,
        }
    }

    /// From one number.
    pub const fn of(number: u64) -> Self {
        match number {
            1 => Self::Zstd,
            2 => Self::Lz4,
            3 => Self::Off,
            _ => Self::Auto,
        }
    }
}

/// Presses content, and knows how fast the link takes it.
#[derive(Debug, Default)]
pub struct Press {
    how: Compress,
    /// Bytes per second; 0 is not known.
    speed: AtomicU64,
}

impl Press {
    /// One that presses like this.
    pub fn new(how: Compress) -> Self {
        Self { how, speed: AtomicU64::new(0) }
    }

    /// The link took so many bytes in this time.
    pub fn passed(&self, bytes: usize, time: Duration) {
        if bytes >= TELLING {
            let now = (bytes as f64 / time.as_secs_f64().max(1e-6)) as u64;
            let before = self.speed.load(Ordering::Relaxed);
            let speed = if before == 0 { now } else { before - before / 8 + now / 8 };
            self.speed.store(speed.max(1), Ordering::Relaxed);
        }
    }

    /// The form that content is to have.
    fn form(&self, content: &[u8]) -> u8 {
        if content.len() < LEAST_PRESSED {
            return PLAIN;
        }
        match self.how {
            Compress::Off => PLAIN,
            Compress::Zstd => ZSTD,
            Compress::Lz4 => LZ4,
            Compress::Auto => match self.speed.load(Ordering::Relaxed) {
                speed if speed > FAST || !is_worth_it(content) => PLAIN,
                speed if speed > 0 && speed < SLOW => ZSTD,
                _ => LZ4,
            },
        }
    }
}

/// Whether a piece from the middle gets a tenth shorter.
fn is_worth_it(content: &[u8]) -> bool {
    let start = content.len().saturating_sub(PROBE) / 2;
    let probe = &content[start..content.len().min(start + PROBE)];
    lz4_flex::block::compress(probe).len() * 10 < probe.len() * 9
}

/// Appends how the content travels, and returns what follows.
pub fn put_content(out: &mut Vec<u8>, content: &Bytes, press: &Press) -> Bytes {
    if content.len() >= LEAST && is_zeros(content) {
        out.push(ZEROS);
        put(out, content.len() as u64);
        return Bytes::new();
    }
    let form = press.form(content);
    let pressed = match form {
        ZSTD => zstd::bulk::compress(content, 1).ok(),
        LZ4 => Some(lz4_flex::block::compress(content)),
        _ => None,
    };
    if let Some(pressed) = pressed.filter(|pressed| pressed.len() < content.len()) {
        out.push(form);
        put(out, content.len() as u64);
        return pressed.into();
    }
    out.push(PLAIN);
    content.clone()
}

/// Takes content, which is all that is left.
pub fn take_content(from: &mut &[u8]) -> fault::Result<Bytes> {
    let form = take_slice(from, 1)?[0];
    if form == PLAIN {
        return Ok(Bytes::copy_from_slice(std::mem::take(from)));
    }
    let length = take(from)?;
    if length > MOST {
        return Err(foreign());
    }
    let (length, pressed) = (length as usize, std::mem::take(from));
    let content = match form {
        ZEROS => vec![0; length],
        ZSTD => zstd::bulk::decompress(pressed, length).map_err(|_| foreign())?,
        LZ4 => lz4_flex::block::decompress(pressed, length).map_err(|_| foreign())?,
        _ => return Err(foreign()),
    };
    if content.len() == length { Ok(content.into()) } else { Err(foreign()) }
}

/// Whether all of it is zeros. The first byte that is not ends it, so that data costs next to nothing.
fn is_zeros(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks::<16>();
    words.iter().all(|word| *word == [0; 16]) && rest.iter().all(|byte| *byte == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length_of(content: &Bytes, press: &Press) -> usize {
        let mut out = Vec::new();
        let tail = put_content(&mut out, content, press);
        out.extend_from_slice(&tail);
        assert_eq!(take_content(&mut &out[..]).unwrap(), *content);
        out.len()
    }

    fn noise() -> Bytes {
        let mut random = fastrand::Rng::with_seed(1);
        std::iter::repeat_with(|| random.u8(..)).take(100_000).collect::<Vec<_>>().into()
    }

    #[test]
    fn content_arrives_as_it_was_and_zeros_take_no_room() {
        for (content, length) in [
            (Vec::new(), 1),
            (vec![0; 63], 64),
            (vec![0; 1 << 20], 4),
            ([vec![0; 100], vec![1]].concat(), 102),
            (vec![7; 5], 6),
        ] {
            assert_eq!(length_of(&content.into(), &Press::default()), length);
        }
        let mut out = vec![ZEROS];
        put(&mut out, 1 << 60);
        assert!(take_content(&mut &out[..]).is_err(), "a length alone took memory");
    }

    #[test]
    fn what_can_be_pressed_is_and_what_cannot_travels_as_it_is() {
        let text = Bytes::from(b"all work and no play ".repeat(5000));
        for how in [Compress::Auto, Compress::Zstd, Compress::Lz4] {
            assert!(length_of(&text, &Press::new(how)) < text.len() / 10, "{how:?}");
            assert_eq!(length_of(&noise(), &Press::new(how)), noise().len() + 1, "{how:?}");
        }
        assert_eq!(length_of(&text, &Press::new(Compress::Off)), text.len() + 1);
    }

    #[test]
    fn the_speed_of_the_link_decides() {
        let text = Bytes::from(b"all work and no play ".repeat(5000));
        let form = |bytes_per_second: u64| {
            let press = Press::default();
            press.passed(bytes_per_second as usize, Duration::from_secs(1));
            press.form(&text)
        };
        assert_eq!((form(10_000_000), form(400_000_000), form(2_000_000_000)), (ZSTD, LZ4, PLAIN));
        let press = Press::default();
        press.passed(100, Duration::from_secs(9));
        assert_eq!((press.form(&text), press.form(&noise())), (LZ4, PLAIN));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic_as_content(bytes: Vec<u8>) {
            let _ = take_content(&mut &bytes[..]);
            for form in [ZEROS, ZSTD, LZ4] {
                let mut with_form = vec![form, 200, 1];
                with_form.extend_from_slice(&bytes);
                let _ = take_content(&mut &with_form[..]);
            }
        }
    }
}
