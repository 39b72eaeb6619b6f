//! A price list as a stream of entries: products, then the prices of each. Only one entry at a time is in memory.

use std::io::{self, BufRead};

use fault::{Fault, Kind, Result};

use crate::http::Address;
use crate::refresh::unexpected;

/// No entry is larger: a product has some kilobytes, its terms some tens.
const MAX_ENTRY: usize = 8 << 20;

/// A part of the file, whose entries have a key each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// The fields before the products.
    Start,
    /// `products`.
    Products,
    /// A kind of `terms`: `OnDemand`, `Reserved`.
    Terms(String),
}

impl Part {
    /// As it is kept in a journal.
    pub fn name(&self) -> String {
        match self {
            Self::Start => "start".to_owned(),
            Self::Products => "products".to_owned(),
            Self::Terms(kind) => format!("terms/{kind}"),
        }
    }

    /// The part of this name.
    pub fn named(name: &str) -> Self {
        match name.strip_prefix("terms/") {
            Some(kind) => Self::Terms(kind.to_owned()),
            None if name == "products" => Self::Products,
            None => Self::Start,
        }
    }
}

/// Takes the entries.
pub trait Entries {
    /// A field of the whole list.
    fn field(&mut self, name: &str, text: &[u8]) -> Result<()>;
    /// Whether an entry is to be read or passed over.
    fn wants(&self, part: &Part, key: &str) -> bool;
    /// An entry, as JSON.
    fn entry(&mut self, part: &Part, key: &str, text: &[u8]) -> Result<()>;
    /// Whether to stop after the entry that ended at this byte.
    fn enough(&self, at: u64) -> bool;
}

/// Why reading ended.
#[derive(Debug)]
pub enum Wrong {
    Input(io::Error),
    Shape { at: u64, why: String },
    Entry(Fault),
}

impl From<io::Error> for Wrong {
    fn from(error: io::Error) -> Self {
        Self::Input(error)
    }
}

impl From<Fault> for Wrong {
    fn from(fault: Fault) -> Self {
        Self::Entry(fault)
    }
}

impl Wrong {
    pub fn into_fault(self, url: &Address) -> Fault {
        match self {
            Self::Entry(fault) => fault,
            Self::Shape { at, why } => unexpected(url, "a price list", &format!("at byte {at}, {why}")),
            Self::Input(error) => match error.downcast::<Fault>() {
                Ok(fault) => fault,
                Err(error) => {
                    Fault::new(Kind::Io, format!("cannot read {}", url.authority())).caused_by(error)
                }
            },
        }
    }
}

/// Reads a price list from any place between two entries.
pub struct Reader<R> {
    input: R,
    at: u64,
}

type Done<T> = std::result::Result<T, Wrong>;

impl<R: BufRead> Reader<R> {
    /// A reader whose first byte is byte `at` of the file.
    pub fn new(input: R, at: u64) -> Self {
        Self { input, at }
    }

    /// The next byte's place in the file.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// What it reads from.
    pub fn input(&self) -> &R {
        &self.input
    }

    /// Hands over entries from behind an entry of `part` (or the file's start) until it is enough: the part to go on in, or
    /// `None` at the end of the file.
    pub fn run(&mut self, part: Part, to: &mut dyn Entries) -> Done<Option<Part>> {
        if part == Part::Start {
            self.expect(b'{')?;
            return self.top(true, to);
        }
        if self.entries(&part, false, to)? {
            return Ok(Some(part));
        }
        if matches!(part, Part::Terms(_))
            && let Some(part) = self.terms(false, to)?
        {
            return Ok(Some(part));
        }
        self.top(false, to)
    }

    fn top(&mut self, mut first: bool, to: &mut dyn Entries) -> Done<Option<Part>> {
        let mut products = !first;
        while let Some(key) = self.member(first)? {
            first = false;
            match key.as_str() {
                "products" => {
                    products = true;
                    self.expect(b'{')?;
                    if self.entries(&Part::Products, true, to)? {
                        return Ok(Some(Part::Products));
                    }
                }
                "terms" if !products => return Err(self.wrong("`terms` come before `products`")),
                "terms" => {
                    self.expect(b'{')?;
                    if let Some(part) = self.terms(true, to)? {
                        return Ok(Some(part));
                    }
                }
                _ => {
                    let mut text = Vec::new();
                    let wanted = to.wants(&Part::Start, &key);
                    self.value(wanted.then_some(&mut text))?;
                    if wanted {
                        to.field(&key, &text)?;
                    }
                }
            }
        }
        if !products {
            return Err(self.wrong("the file ends without field `products`"));
        }
        Ok(None)
    }

    fn terms(&mut self, mut first: bool, to: &mut dyn Entries) -> Done<Option<Part>> {
        while let Some(kind) = self.member(first)? {
            first = false;
            self.expect(b'{')?;
            let part = Part::Terms(kind);
            if self.entries(&part, true, to)? {
                return Ok(Some(part));
            }
        }
        Ok(None)
    }

    /// The rest of a part's entries; `true` when it was enough before its end.
    fn entries(&mut self, part: &Part, mut first: bool, to: &mut dyn Entries) -> Done<bool> {
        let mut text = Vec::new();
        while let Some(key) = self.member(first)? {
            first = false;
            text.clear();
            if to.wants(part, &key) {
                self.value(Some(&mut text))?;
                to.entry(part, &key, &text)?;
            } else {
                self.value(None)?;
            }
            if to.enough(self.at) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The key of the next member of an object, up to its value; `None` behind the end of the object.
    fn member(&mut self, first: bool) -> Done<Option<String>> {
        let mut byte = self.next()?;
        if byte == b'}' {
            return Ok(None);
        }
        if !first {
            if byte != b',' {
                return Err(self.wrong("a comma or the end of an object is missing"));
            }
            byte = self.next()?;
        }
        if byte != b'"' {
            return Err(self.wrong("the name of a field is missing"));
        }
        let mut text = vec![b'"'];
        let mut state = Value { in_string: true, ..Value::default() };
        self.feed(&mut state, Some(&mut text))?;
        let key = serde_json::from_slice(&text).map_err(|_| self.wrong("the name of a field is no text"))?;
        self.expect(b':')?;
        Ok(Some(key))
    }

    /// One value, kept or passed over.
    fn value(&mut self, keep: Option<&mut Vec<u8>>) -> Done<()> {
        self.space()?;
        self.feed(&mut Value::default(), keep)
    }

    fn feed(&mut self, state: &mut Value, mut keep: Option<&mut Vec<u8>>) -> Done<()> {
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Err(self.wrong("the file ends in the middle"));
            }
            let (used, done) = state.feed(buffer);
            if let Some(keep) = keep.as_deref_mut() {
                keep.extend_from_slice(&buffer[..used]);
            }
            self.consume(used);
            if keep.as_ref().is_some_and(|keep| keep.len() > MAX_ENTRY) {
                return Err(self.wrong("an entry has more than 8 MiB"));
            }
            if done {
                return Ok(());
            }
        }
    }

    fn expect(&mut self, wanted: u8) -> Done<()> {
        let byte = self.next()?;
        if byte == wanted {
            return Ok(());
        }
        Err(self.wrong(&format!(
            "`{}` was expected, not `{}`",
            char::from(wanted),
            char::from(byte).escape_default()
        )))
    }

    /// The next byte that is no space.
    fn next(&mut self) -> Done<u8> {
        self.space()?;
        let byte = self.input.fill_buf()?.first().copied();
        let Some(byte) = byte else { return Err(self.wrong("the file ends in the middle")) };
        self.consume(1);
        Ok(byte)
    }

    fn space(&mut self) -> Done<()> {
        loop {
            let buffer = self.input.fill_buf()?;
            let spaces = buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let more = spaces == buffer.len() && spaces > 0;
            self.consume(spaces);
            if !more {
                return Ok(());
            }
        }
    }

    fn consume(&mut self, count: usize) {
        self.input.consume(count);
        self.at += count as u64;
    }

    fn wrong(&self, why: &str) -> Wrong {
        Wrong::Shape { at: self.at, why: why.to_owned() }
    }
}

/// Where in a JSON value we are: enough to find its end.
#[derive(Debug, Default)]
struct Value {
    depth: u32,
    in_string: bool,
    escaped: bool,
    begun: bool,
}

impl Value {
    /// Goes through `bytes`: how many are of the value, and whether it ends there.
    fn feed(&mut self, bytes: &[u8]) -> (usize, bool) {
        for (at, byte) in bytes.iter().enumerate() {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => {
                        self.in_string = false;
                        if self.depth == 0 {
                            return (at + 1, true);
                        }
                    }
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' | b',' if self.depth == 0 => return (at, true),
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return (at + 1, true);
                    }
                }
                byte if self.depth == 0 && self.begun && byte.is_ascii_whitespace() => return (at, true),
                _ => {}
            }
            self.begun = true;
        }
        (bytes.len(), false)
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    /// Takes `most` entries at a time.
    struct Log {
        seen: Vec<String>,
        left: usize,
    }

    impl Entries for Log {
        fn field(&mut self, name: &str, text: &[u8]) -> Result<()> {
            self.seen.push(format!("{name}={}", String::from_utf8_lossy(text)));
            Ok(())
        }
        fn wants(&self, _: &Part, key: &str) -> bool {
            key != "skipped"
        }
        fn entry(&mut self, part: &Part, key: &str, text: &[u8]) -> Result<()> {
            serde_json::from_slice::<serde_json::Value>(text).unwrap();
            self.seen.push(format!("{}:{key}={}", part.name(), String::from_utf8_lossy(text)));
            self.left -= 1;
            Ok(())
        }
        fn enough(&self, _: u64) -> bool {
            self.left == 0
        }
    }

    const LIST: &str = r#" { "version" : "1", "n": 12 , "products" : { "A\"1" : {"x":"}\\\"{,"} , "skipped": [1,{"a":2}], "B":{}},
        "terms":{"OnDemand":{"A\"1":{"p":[1,2]},"skipped":"x"},"Reserved":{ },"Other":{"B":null}},"more":[] }"#;

    /// All entries, read `most` at a time from a reader with a buffer of `buffer` bytes, beginning anew after each.
    fn read(text: &str, most: usize, buffer: usize) -> Vec<String> {
        let (mut at, mut part, mut seen) = (0, Part::Start, Vec::new());
        loop {
            let input = BufReader::with_capacity(buffer, &text.as_bytes()[at..]);
            let mut reader = Reader::new(input, at as u64);
            let mut log = Log { seen: Vec::new(), left: most };
            let next = reader.run(part, &mut log).unwrap();
            seen.extend(log.seen);
            at = reader.at() as usize;
            let Some(next) = next else { return seen };
            assert_eq!(Part::named(&next.name()), next);
            part = next;
        }
    }

    #[test]
    fn entries_come_one_by_one_wherever_reading_is_taken_up() {
        let all = read(LIST, usize::MAX, 1 << 16);
        assert_eq!(all.len(), 7, "{all:?}");
        assert_eq!(all[2], r#"products:A"1={"x":"}\\\"{,"}"#);
        for most in 1..5 {
            for buffer in [1, 2, 3, 7, 64] {
                assert_eq!(read(LIST, most, buffer), all, "{most} at a time, {buffer} bytes");
            }
        }
    }

    #[test]
    fn a_list_that_ends_early_is_wrong_at_every_byte() {
        for cut in 0..LIST.trim_end().len() {
            let mut reader = Reader::new(&LIST.as_bytes()[..cut], 0);
            let result = reader.run(Part::Start, &mut Log { seen: Vec::new(), left: usize::MAX });
            assert!(matches!(result, Err(Wrong::Shape { .. })), "{cut}");
        }
    }

    #[test]
    fn what_is_no_price_list_is_named() {
        let wrong = |text: &str| {
            let mut log = Log { seen: Vec::new(), left: usize::MAX };
            match Reader::new(text.as_bytes(), 0).run(Part::Start, &mut log).unwrap_err() {
                Wrong::Shape { at, why } => format!("{at}: {why}"),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(wrong("<html>"), "1: `{` was expected, not `<`");
        assert_eq!(wrong("{}"), "2: the file ends without field `products`");
        assert_eq!(wrong(r#"{"terms":{}}"#), "9: `terms` come before `products`");
        assert_eq!(wrong(r#"{"products":[]}"#), "13: `{` was expected, not `[`");
    }

    proptest! {
        #[test]
        fn any_value_is_found_whole(value in any::<Vec<(String, Vec<f64>)>>(), buffer in 1_usize..20) {
            let value = serde_json::json!(value);
            let text = format!("{{\"products\":{{\"k\":{value}}}}}");
            let seen = read(&text, usize::MAX, buffer);
            prop_assert_eq!(seen, vec![format!("products:k={value}")]);
        }
    }
}
