/// How results are written to standard output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// Tables and sentences.
    #[default]
    Text,
    /// One JSON document in an [`Envelope`](crate::Envelope).
    Json,
    /// One JSON object a line: events as they happen, the items of a list bare, a single document in its envelope.
    Jsonl,
}

impl Format {
    /// Whether a program reads the output.
    pub const fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::Jsonl)
    }
}
