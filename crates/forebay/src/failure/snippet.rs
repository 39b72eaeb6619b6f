//! A problem with the lines of the spec it is about.

use std::fmt;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode, ThemeStyles,
};
use spec::{LoadError, Problem};

/// Lines of the file shown above and below the one that is wrong.
const CONTEXT_LINES: usize = 1;
/// Wide enough that no message of ours is broken into lines; terminals do that better.
const WIDTH: usize = 1000;

/// `error: message`, and below it the source with a label at the place, if the problem has one.
pub fn render(error: &LoadError, problem: &Problem) -> String {
    let snippet = Snippet {
        message: &problem.message,
        source: NamedSource::new(error.path.to_string_lossy(), error.text.clone()),
        label: problem
            .span
            .as_ref()
            .map(|span| LabeledSpan::new_with_span(Some(problem.label.clone()), (span.start, span.len()))),
    };
    let mut theme = GraphicalTheme { styles: ThemeStyles::ansi(), ..GraphicalTheme::unicode_nocolor() };
    "error:".clone_into(&mut theme.characters.error);
    let mut text = String::new();
    let drawn = GraphicalReportHandler::new_themed(theme)
        .with_links(false)
        .with_width(WIDTH)
        .with_context_lines(CONTEXT_LINES)
        .render_report(&mut text, &snippet);
    match drawn {
        Ok(()) => text.trim().to_owned(),
        Err(fmt::Error) => format!("error: {}", problem.message),
    }
}

#[derive(Debug)]
struct Snippet<'a> {
    message: &'a str,
    source: NamedSource<String>,
    label: Option<LabeledSpan>,
}

impl fmt::Display for Snippet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message)
    }
}

impl std::error::Error for Snippet<'_> {}

impl Diagnostic for Snippet<'_> {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.label.as_ref().map(|_| &self.source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = self.label.clone()?;
        Some(Box::new(std::iter::once(label)))
    }
}
