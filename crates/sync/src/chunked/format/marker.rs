use chunk::Cutter;
use fault::{Fault, Kind};
use serde::{Deserialize, Serialize};

/// The key of the object that says what a prefix holds.
pub const MARKER: &str = "forebay-chunks.json";
const FORMAT: &str = "forebay chunk store";
const VERSION: u32 = 1;
/// Chunks of about this many bytes, unless told otherwise: an index of 48 MiB in memory per TiB.
const AVERAGE: u32 = 1 << 20;

/// What a chunk store says of itself, as text: it never changes once it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marker {
    /// Average size of a chunk, bytes.
    pub average: u32,
}

#[derive(Serialize, Deserialize)]
struct Words {
    format: String,
    version: u32,
    chunk_average_bytes: u32,
}

impl Default for Marker {
    fn default() -> Self {
        Self { average: AVERAGE }
    }
}

impl Marker {
    /// What cuts files there.
    pub const fn cutter(self) -> Cutter {
        Cutter::new(self.average)
    }

    /// As text.
    pub fn encode(self) -> Vec<u8> {
        let words = Words { format: FORMAT.to_owned(), version: VERSION, chunk_average_bytes: self.average };
        // Three plain fields can't fail to be written.
        let mut text = serde_json::to_vec_pretty(&words).unwrap_or_default();
        text.push(b'\n');
        text
    }

    /// From text; `shown` is where it lies.
    pub fn read(text: &[u8], shown: &str) -> fault::Result<Self> {
        let refused = |why: String, hint: &str| {
            Err(Fault::new(Kind::Corrupt, format!("`{shown}{MARKER}` {why}")).hint(hint))
        };
        let Ok(words) = serde_json::from_slice::<Words>(text) else {
            return refused(
                "is no description of a chunk store".to_owned(),
                "it is a small JSON object: write it again as docs/CHUNKS.md says, or choose another prefix",
            );
        };
        let average = words.chunk_average_bytes;
        if words.format != FORMAT || words.version != VERSION {
            return refused(
                format!("says `{}` {}, this program reads `{FORMAT}` {VERSION}", words.format, words.version),
                "use the program that wrote it, or another prefix",
            );
        }
        if !average.is_power_of_two() || !(4096..=4 << 20).contains(&average) {
            return refused(
                format!("says chunks of {average} bytes"),
                "a power of two from 4096 to 4194304 can be read",
            );
        }
        Ok(Self { average })
    }
}
