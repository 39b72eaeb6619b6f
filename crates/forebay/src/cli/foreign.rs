//! Command lines of other tools: what is Forebay's own is taken out of them, and the rest is left to the language.
//!
//! Forebay's own are its long options (`--label NAME`, `--format=json`), wherever they stand, and `-h`. The definition of the
//! command says which there are.

use std::ffi::OsString;

use clap::{Arg, Command, CommandFactory as _};

use super::Cli;

/// Commands whose arguments are another tool's.
const LANGUAGES: [&str; 2] = ["ior", "mdtest"];

/// The same command line with Forebay's own options first, then `--`, then the other tool's. Other commands are left as they
/// are.
pub fn arranged(arguments: &[OsString]) -> Vec<OsString> {
    let cli = Cli::command();
    let Some((place, name)) = command_of(&cli, arguments) else { return arguments.to_vec() };
    let command = cli.find_subcommand(name);
    let own = |argument: &str| {
        let of = |command: &Command| find(command, argument).map(takes_value);
        of(&cli).or_else(|| command.and_then(of))
    };
    let mut all = arguments[..=place].to_vec();
    let mut theirs = Vec::new();
    let mut rest = arguments[place + 1..].iter();
    while let Some(argument) = rest.next() {
        match argument.to_str() {
            Some("--") => theirs.extend(rest.by_ref().cloned()),
            Some("-h" | "--help") => all.push("--help".into()),
            Some(text) => match own(text) {
                None => theirs.push(argument.clone()),
                Some(with_value) => {
                    all.push(argument.clone());
                    if with_value && !text.contains('=') {
                        all.extend(rest.next().cloned());
                    }
                }
            },
            None => theirs.push(argument.clone()),
        }
    }
    all.push("--".into());
    all.extend(theirs);
    all
}

/// Where a command of another language stands, and its name.
fn command_of(cli: &Command, arguments: &[OsString]) -> Option<(usize, &'static str)> {
    let mut place = 1;
    loop {
        let argument = arguments.get(place)?.to_str()?;
        if !argument.starts_with('-') {
            return LANGUAGES.into_iter().find(|name| *name == argument).map(|name| (place, name));
        }
        let with_value = find(cli, argument).is_some_and(takes_value) && !argument.contains('=');
        place += if with_value { 2 } else { 1 };
    }
}

/// The long option that an argument is.
fn find<'a>(command: &'a Command, argument: &str) -> Option<&'a Arg> {
    let name = argument.strip_prefix("--")?.split('=').next()?;
    command.get_arguments().find(|known| known.get_long() == Some(name))
}

fn takes_value(argument: &Arg) -> bool {
    argument.get_action().takes_values()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arranged_text(line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let words = arranged(&words).into_iter().map(|word| word.into_string().unwrap_or_default());
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn own_options_come_first_wherever_they_stand() {
        assert_eq!(
            arranged_text(
                "forebay --format json ior -z -w --label x -o /f/t --strict-ior -t 4k --runs-dir=/r -v"
            ),
            "forebay --format json ior --label x --strict-ior --runs-dir=/r -- -z -w -o /f/t -t 4k -v"
        );
        assert_eq!(
            arranged_text("forebay ior --posix.odirect --ranks 4 -F=1"),
            "forebay ior --ranks 4 -- --posix.odirect -F=1"
        );
    }

    #[test]
    fn help_is_forebays_and_what_follows_two_dashes_is_not() {
        assert_eq!(arranged_text("forebay ior -w -h"), "forebay ior --help -- -w");
        assert_eq!(arranged_text("forebay ior -- --label x"), "forebay ior -- --label x");
    }

    #[test]
    fn other_commands_are_left_as_they_are() {
        for line in ["forebay run ior -t /x", "forebay --format json runs list", "forebay", "forebay -q"] {
            assert_eq!(arranged_text(line), line);
        }
    }
}
