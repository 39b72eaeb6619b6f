//! Scripts (`-f`): tests that carry their parameters over to the next.

use std::path::Path;

use fault::{Fault, Result};

use super::parameters::Parameters;
use super::parse::{Parsed, wrong};

/// The tests of a command line: one, or those of its script.
pub fn tests(arguments: &[String]) -> Result<(Vec<Parameters>, Vec<String>)> {
    let mut parsed = Parsed::from_arguments(arguments)?;
    let Some(path) = parsed.parameters.script.clone() else {
        return Ok((vec![parsed.parameters.settled()], parsed.notes));
    };
    let path = Path::new(&path);
    let text = std::fs::read_to_string(path).map_err(|error| Fault::os("read script", path, error))?;
    let tests = read(&mut parsed, &text).map_err(|fault| {
        let message = format!("script `{}`: {}", path.display(), fault.message());
        Fault::new(fault.kind(), message).hint(fault.hint_text().unwrap_or_default())
    })?;
    Ok((tests, parsed.notes))
}

/// Reads a script on top of what the command line says.
fn read(parsed: &mut Parsed, text: &str) -> Result<Vec<Parameters>> {
    let mut tests = Vec::new();
    let mut open = true;
    let mut lines = text.lines().enumerate().skip_while(|(_, line)| !is(line, "IOR START"));
    if lines.next().is_none() {
        return Err(wrong("there is no line `IOR START`", "begin with it, end with `IOR STOP`"));
    }
    for (number, line) in lines {
        if is(line, "IOR STOP") {
            break;
        }
        if is(line, "RUN") {
            tests.push(parsed.parameters.settled());
            open = false;
            continue;
        }
        let before = parsed.clone();
        line.split('#')
            .next()
            .unwrap_or_default()
            .split(',')
            .try_for_each(|directive| parsed.read_directive(directive))
            .map_err(|fault| {
                Fault::new(fault.kind(), format!("line {}: {}", number + 1, fault.message()))
                    .hint(fault.hint_text().unwrap_or_default())
            })?;
        open |= before.parameters != parsed.parameters;
    }
    // What follows the last RUN is a test, too.
    if open {
        tests.push(parsed.parameters.settled());
    }
    Ok(tests)
}

fn is(line: &str, word: &str) -> bool {
    line.split('#')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .eq_ignore_ascii_case(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Vec<Parameters>> {
        read(&mut Parsed::default(), text)
    }

    #[test]
    fn parameters_carry_over_from_test_to_test() {
        let tests = of("notes\nIOR START\n  api=POSIX\n testFile = /x/f # here\n blockSize=4m, transferSize=64k\n writeFile=1\nRUN\n\
                        readFile=1,writeFile=0\nfilePerProc=1\nRUN\nRUN\nsegmentCount=2\nIOR STOP\nblockSize=1k\n")
        .unwrap();
        let said: Vec<_> =
            tests.iter().map(|t| (t.write, t.read, t.file_per_process, t.segments, t.block_size)).collect();
        let four = 4 << 20;
        assert_eq!(said, [(1, 0, 0, 1, four), (0, 1, 1, 1, four), (0, 1, 1, 1, four), (0, 1, 1, 2, four)]);
        assert!(tests.iter().all(|test| test.test_file == "/x/f"));
    }

    #[test]
    fn mistakes_name_their_line() {
        assert!(of("writeFile=1").unwrap_err().message().contains("IOR START"));
        let fault = of("IOR START\n\nblocksize=4q\nIOR STOP").unwrap_err();
        assert!(fault.message().starts_with("line 3: `4q`"), "{}", fault.message());
    }
}
