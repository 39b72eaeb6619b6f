//! `node[01-24,30]`, expanded.

/// More is a slip of the finger.
const MOST: usize = 100_000;

/// Splits at commas outside of brackets.
pub fn split(text: &str) -> Result<Vec<&str>, String> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0u32, 0);
    for (place, letter) in text.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.checked_sub(1).ok_or("`]` without `[`")?,
            ',' if depth == 0 => {
                parts.push(&text[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    if depth > 0 {
        return Err("`[` without `]`".to_owned());
    }
    parts.push(&text[start..]);
    Ok(parts.into_iter().filter(|part| !part.trim().is_empty()).collect())
}

/// All names that a name with ranges stands for.
pub fn expand(name: &str) -> Result<Vec<String>, String> {
    let Some((before, rest)) = name.split_once('[') else { return Ok(vec![name.to_owned()]) };
    let (inside, after) = rest.split_once(']').ok_or("`[` without `]`")?;
    let after = expand(after)?;
    let mut names = Vec::new();
    for part in inside.split(',') {
        for number in numbers(part.trim())? {
            names.extend(after.iter().map(|after| format!("{before}{number}{after}")));
            if names.len() > MOST {
                return Err(format!("more than {MOST} hosts"));
            }
        }
    }
    Ok(names)
}

/// The numbers of `7` or `01-24`, with the zeros in front as written.
fn numbers(part: &str) -> Result<Vec<String>, String> {
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (Ok(from), Ok(to)) = (first.parse::<u64>(), last.parse::<u64>()) else {
        return Err(format!("range `{part}` is not of numbers"));
    };
    if !digits(first) || !digits(last) {
        return Err(format!("range `{part}` is not of numbers"));
    }
    if from > to {
        return Err(format!("range `{part}` runs backwards"));
    }
    if to - from >= MOST as u64 {
        return Err(format!("more than {MOST} hosts"));
    }
    let width = first.len();
    Ok((from..=to).map(|number| format!("{number:0width$}")).collect())
}
