//! Splitting `<number> <suffix>`, shared by every quantity.

/// Why a text is not a quantity. The message names the text and says what would be accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// No digits where the number should be.
    #[error("`{text}` is not a {quantity}: expected a number and a unit, such as `{example}`")]
    NoNumber {
        /// What the user wrote.
        text: String,
        /// The kind of quantity expected.
        quantity: &'static str,
        /// A value that would be accepted.
        example: &'static str,
    },
    /// A number without a unit where the unit can't be guessed.
    #[error("`{text}` has no unit: write for example `{example}`")]
    NoUnit {
        /// What the user wrote.
        text: String,
        /// A value that would be accepted.
        example: &'static str,
    },
    /// A suffix that is not one of the accepted units.
    #[error("`{suffix}` in `{text}` is not a unit of {quantity}: use one of {accepted}")]
    UnknownUnit {
        /// What the user wrote.
        text: String,
        /// The part that was not understood.
        suffix: String,
        /// The kind of quantity expected.
        quantity: &'static str,
        /// The accepted units, for people.
        accepted: &'static str,
    },
    /// The value is negative, not finite, or larger than the type holds.
    #[error("`{text}` is out of range for a {quantity}")]
    OutOfRange {
        /// What the user wrote.
        text: String,
        /// The kind of quantity expected.
        quantity: &'static str,
    },
}

/// What a number must look like, and what to say when it does not.
pub(crate) struct Grammar {
    pub quantity: &'static str,
    pub example: &'static str,
    pub accepted: &'static str,
}

impl Grammar {
    /// Splits `text` into its number and its trimmed suffix. `_` may group digits.
    pub fn split<'text>(&self, text: &'text str) -> Result<(f64, &'text str), ParseError> {
        let trimmed = text.trim();
        let end =
            trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(trimmed.len());
        let digits: String = trimmed[..end].chars().filter(|c| *c != '_').collect();
        let number: f64 = digits.parse().map_err(|_| self.no_number(text))?;
        Ok((number, trimmed[end..].trim()))
    }

    pub fn no_number(&self, text: &str) -> ParseError {
        ParseError::NoNumber { text: text.to_owned(), quantity: self.quantity, example: self.example }
    }

    pub fn no_unit(&self, text: &str) -> ParseError {
        ParseError::NoUnit { text: text.to_owned(), example: self.example }
    }

    pub fn unknown_unit(&self, text: &str, suffix: &str) -> ParseError {
        ParseError::UnknownUnit {
            text: text.to_owned(),
            suffix: suffix.to_owned(),
            quantity: self.quantity,
            accepted: self.accepted,
        }
    }

    pub fn out_of_range(&self, text: &str) -> ParseError {
        ParseError::OutOfRange { text: text.to_owned(), quantity: self.quantity }
    }
}
