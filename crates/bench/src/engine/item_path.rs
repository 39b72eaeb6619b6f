//! The path of an item as system calls take it. From one item to the next only digits change, and they are counted up in
//! place: no formatting and no copy stands between two operations.

use std::ffi::CStr;

/// Digits of the largest number.
const MOST_DIGITS: usize = 20;

/// A path that ends in a number and, at most, a suffix.
#[derive(Debug)]
pub(super) struct ItemPath {
    /// With the byte of zero that ends it.
    bytes: Vec<u8>,
    /// Where the number begins, and where it ends.
    digits: usize,
    end: usize,
    number: u64,
    suffix: &'static str,
}

impl ItemPath {
    pub(super) fn new() -> Self {
        let mut bytes = Vec::with_capacity(512);
        bytes.push(0);
        Self { bytes, digits: 0, end: 0, number: 0, suffix: "" }
    }

    /// Starts over with everything in front of the number.
    pub(super) fn restart(&mut self, stem: &str, number: u64, suffix: &'static str) {
        self.bytes.clear();
        self.bytes.extend_from_slice(stem.as_bytes());
        self.digits = stem.len();
        self.suffix = suffix;
        self.write(number);
    }

    /// The same with another number.
    #[inline]
    pub(super) fn go_to(&mut self, number: u64) {
        if number == self.number.wrapping_add(1) {
            self.count_up();
        } else if number != self.number {
            self.write(number);
        }
    }

    #[inline]
    fn count_up(&mut self) {
        for digit in self.bytes[self.digits..self.end].iter_mut().rev() {
            if *digit != b'9' {
                *digit += 1;
                self.number += 1;
                return;
            }
            *digit = b'0';
        }
        // All were nines: one digit more.
        self.write(self.number + 1);
    }

    fn write(&mut self, number: u64) {
        let mut digits = [0; MOST_DIGITS];
        let mut first = MOST_DIGITS;
        let mut rest = number;
        loop {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.number = number;
        self.bytes.truncate(self.digits);
        self.bytes.extend_from_slice(&digits[first..]);
        self.end = self.bytes.len();
        self.bytes.extend_from_slice(self.suffix.as_bytes());
        self.bytes.push(0);
    }

    /// For system calls.
    #[inline]
    pub(super) fn as_c_str(&self) -> &CStr {
        // Names hold no zero byte: what people choose is checked, and the rest is ours.
        CStr::from_bytes_with_nul(&self.bytes).unwrap_or(c"")
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes[..self.bytes.len().saturating_sub(1)]).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_written_as_people_write_them(start in any::<u64>(), steps in prop::collection::vec(prop_oneof![Just(None), any::<u64>().prop_map(Some), Just(Some(u64::MAX - 1))], 0..30)) {
            let mut path = ItemPath::new();
            path.restart("a/file.0.", start, "-XX");
            let mut number = start;
            for step in steps {
                number = step.unwrap_or(number.saturating_add(1));
                path.go_to(number);
                prop_assert_eq!(path.text(), format!("a/file.0.{number}-XX"));
                let text = path.text();
                prop_assert_eq!(path.as_c_str().to_bytes(), text.as_bytes());
            }
        }
    }

    #[test]
    fn nines_become_one_digit_more() {
        let mut path = ItemPath::new();
        path.restart("f.", 8, "");
        for number in 9..=101 {
            path.go_to(number);
            assert_eq!(path.text(), format!("f.{number}"));
        }
    }
}
