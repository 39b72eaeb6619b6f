//! Asking a person for what no flag answers.

use std::fmt::Display;
use std::io::BufRead;
use std::str::FromStr;

use console::Printer;
use fault::{Fault, Kind};

/// Asks, if somebody is there to answer; takes defaults otherwise.
pub struct Questions<'a, R> {
    printer: &'a Printer,
    person: Option<R>,
}

impl<'a, R: BufRead> Questions<'a, R> {
    /// Questions to `person`, shown on standard error.
    pub const fn new(printer: &'a Printer, person: Option<R>) -> Self {
        Self { printer, person }
    }

    /// The flag's answer, or the person's, or the default.
    pub fn ask<T>(&mut self, question: &str, flag: Option<T>, default: T) -> fault::Result<T>
    where
        T: FromStr<Err: Display> + Display,
    {
        let prompt = format!("{question} [{default}]");
        Ok(self.answer(&prompt, question, flag)?.unwrap_or(default))
    }

    /// The flag's answer, or the person's, or nothing.
    pub fn ask_optional<T>(&mut self, question: &str, flag: Option<T>) -> fault::Result<Option<T>>
    where
        T: FromStr<Err: Display>,
    {
        self.answer(&format!("{question} [none]"), question, flag)
    }

    fn answer<T>(&mut self, prompt: &str, question: &str, flag: Option<T>) -> fault::Result<Option<T>>
    where
        T: FromStr<Err: Display>,
    {
        if flag.is_some() {
            return Ok(flag);
        }
        let Some(person) = self.person.as_mut() else { return Ok(None) };
        loop {
            self.printer.prompt(prompt);
            let mut line = String::new();
            match person.read_line(&mut line) {
                Ok(0) | Err(_) => return Err(no_answer(question)),
                Ok(_) if line.trim().is_empty() => return Ok(None),
                Ok(_) => match line.trim().parse() {
                    Ok(value) => return Ok(Some(value)),
                    Err(error) => self.printer.warn(error),
                },
            }
        }
    }
}

fn no_answer(question: &str) -> Fault {
    Fault::new(Kind::Usage, format!("no answer to `{question}`"))
        .hint("answer with flags instead; `forebay init --help` lists them")
}

#[cfg(test)]
mod tests {
    use super::*;
    use console::Format;
    use units::Bytes;

    fn printer() -> Printer {
        Printer::to(Format::Text, false, Box::new(std::io::sink()), Box::new(std::io::sink()))
    }

    #[test]
    fn a_flag_wins_a_person_is_next_a_default_last() {
        let printer = printer();
        let mut questions = Questions::new(&printer, Some("4g\n\n".as_bytes()));
        assert_eq!(questions.ask("size", Some(Bytes::gib(1)), Bytes::gib(8)).unwrap(), Bytes::gib(1));
        assert_eq!(questions.ask("size", None, Bytes::gib(8)).unwrap(), Bytes::gib(4));
        assert_eq!(questions.ask("size", None, Bytes::gib(8)).unwrap(), Bytes::gib(8));
        let mut nobody = Questions::new(&printer, None::<&[u8]>);
        assert_eq!(nobody.ask("size", None, Bytes::gib(8)).unwrap(), Bytes::gib(8));
        assert_eq!(nobody.ask_optional::<Bytes>("size", None).unwrap(), None);
    }

    #[test]
    fn a_wrong_answer_is_asked_again_and_silence_is_an_error() {
        let printer = printer();
        let mut questions = Questions::new(&printer, Some("plenty\n2t\n".as_bytes()));
        assert_eq!(questions.ask("size", None, Bytes::gib(8)).unwrap(), Bytes::tib(2));
        assert_eq!(questions.ask("size", None, Bytes::gib(8)).unwrap_err().kind(), Kind::Usage);
    }
}
