//! Statements with a kind and a name, their keywords resolved and their defaults filled in.

use super::keys::{self, Kind, NoKey, Support};
use super::lexer::{Parameter, Statement, Word};
use super::trouble::Troubles;
use spec::quoted;

/// One definition: `sd=sd1,lun=...`, with what `sd=default` before it said.
#[derive(Debug, Clone)]
pub struct Definition {
    /// What it defines.
    pub kind: Kind,
    /// Its name.
    pub name: Word,
    /// Its settings in order of appearance, under their full names; defaults in front.
    pub settings: Vec<(&'static str, Parameter)>,
}

impl Definition {
    /// What is set under a full name; the last one wins.
    pub fn get(&self, name: &str) -> Option<&Parameter> {
        self.settings.iter().rfind(|(own, _)| *own == name).map(|(_, parameter)| parameter)
    }
}

/// All that a file defines.
#[derive(Debug, Default)]
pub struct Definitions {
    /// What holds for everything.
    pub general: Vec<(&'static str, Parameter)>,
    /// All others, in order.
    pub all: Vec<Definition>,
    /// What changes nothing here, and why.
    pub notes: Vec<String>,
}

impl Definitions {
    /// Those of one kind.
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = &Definition> {
        self.all.iter().filter(move |definition| definition.kind == kind)
    }

    /// A general parameter.
    pub fn general(&self, name: &str) -> Option<&Parameter> {
        self.general.iter().rfind(|(own, _)| *own == name).map(|(_, parameter)| parameter)
    }
}

/// Resolves `statements`.
pub fn resolve(statements: Vec<Statement>, troubles: &mut Troubles) -> Definitions {
    let mut resolver =
        Resolver { troubles, found: Definitions::default(), defaults: Vec::new(), furthest: Kind::General };
    for statement in statements {
        resolver.statement(statement);
    }
    resolver.found
}

struct Resolver<'a> {
    troubles: &'a mut Troubles,
    found: Definitions,
    /// What `xd=default` set, newest last.
    defaults: Vec<(Kind, &'static str, Parameter)>,
    furthest: Kind,
}

impl Resolver<'_> {
    fn statement(&mut self, statement: Statement) {
        let Some(first) = statement.parameters.first() else { return };
        let kind = Kind::of(&first.key.text.to_ascii_lowercase());
        self.check_order(kind, &first.key);
        if kind == Kind::General {
            for parameter in statement.parameters {
                if let Some(name) = self.keyword(kind, &parameter) {
                    self.found.general.push((name, parameter));
                }
            }
            return;
        }
        let name = first.values[0].clone();
        let mut own = Vec::new();
        for parameter in statement.parameters.into_iter().skip(1) {
            if let Some(full) = self.keyword(kind, &parameter) {
                own.push((full, parameter));
            }
        }
        if name.text == "default" {
            self.defaults.extend(own.into_iter().map(|(name, parameter)| (kind, name, parameter)));
            return;
        }
        if self.found.of(kind).any(|other| other.name.text == name.text) {
            self.troubles
                .at(&name.place, format!("{} `{}` is defined twice", kind.word(), name.text), "again")
                .hint("give it another name");
        }
        let defaults = self.defaults.iter().filter(|(of, ..)| *of == kind);
        let mut settings: Vec<(&'static str, Parameter)> = defaults
            .filter(|(_, name, _)| own.iter().all(|(other, _)| !replaces(other, name)))
            .map(|(_, name, parameter)| (*name, parameter.clone()))
            .collect();
        settings.extend(own);
        self.found.all.push(Definition { kind, name, settings });
    }

    /// general, hd, sd, wd, rd; or hd, fsd, fwd, rd.
    fn check_order(&mut self, kind: Kind, word: &Word) {
        if kind < self.furthest {
            let message = format!(
                "{} comes after {}",
                if kind == Kind::General { format!("`{}`", word.text) } else { kind.word().to_owned() },
                self.furthest.word()
            );
            // A word that is no general parameter either is more likely a slip.
            if kind != Kind::General || keys::find(kind, &word.text).is_ok() {
                self.troubles
                    .at(&word.place, message, "too late")
                    .hint("the order is: general parameters, hd, sd, wd, rd; or hd, fsd, fwd, rd");
            }
        }
        self.furthest = self.furthest.max(kind);
    }

    /// The full name of a parameter that is read.
    fn keyword(&mut self, kind: Kind, parameter: &Parameter) -> Option<&'static str> {
        let word = &parameter.key;
        match keys::find(kind, &word.text) {
            Ok(key) => match key.support {
                Support::Read => Some(keys::canonical(kind, key.name)),
                Support::Noted(why) => {
                    let note = format!("`{}` changes nothing: {why}", key.name);
                    if !self.found.notes.contains(&note) {
                        self.found.notes.push(note);
                    }
                    None
                }
                Support::Refused(why) => {
                    let message = format!("`{}` can't be done: {why}", key.name);
                    self.troubles.at(&word.place, message, "refused").hint("leave it out");
                    None
                }
            },
            Err(NoKey::Ambiguous(names)) => {
                let message = format!("`{}` may be {}", word.text, quoted(names));
                self.troubles.at(&word.place, message, "ambiguous").hint("write more of it");
                None
            }
            Err(NoKey::Unknown(near)) => {
                let of = if kind == Kind::General {
                    "statement or general parameter".to_owned()
                } else {
                    format!("keyword of {}", kind.word())
                };
                let hint = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if kind == Kind::General => {
                        "statements begin with hd=, sd=, wd=, fsd=, fwd= or rd=".to_owned()
                    }
                    None => "docs/WORKLOADS.md lists them all".to_owned(),
                };
                self.troubles
                    .at(&word.place, format!("`{}` is no {of}", word.text), "unknown keyword")
                    .hint(hint);
                None
            }
        }
    }
}

/// Whether a setting takes the place of a default: a loop over a key does, too.
fn replaces(own: &str, default: &str) -> bool {
    let plain =
        |name: &str| name.strip_prefix("for").filter(|rest| *rest != "mat").unwrap_or(name).to_owned();
    plain(own) == plain(default)
}
