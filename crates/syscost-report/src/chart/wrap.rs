//! Wraps names into several lines.

/// The text in lines of at most `max_chars` characters, and of one at least: broken after a comma or
/// space, else after what ends a word within a parameter; a word only if it is longer than a line.
/// Nothing is lost.
pub(crate) fn wrapped(label: &str, max_chars: usize) -> Vec<String> {
    let max_chars = max_chars.max(1);
    let mut lines = vec![String::new()];
    let mut used = 0;
    let words = label.split_inclusive([',', ' ']).flat_map(|part| {
        let is_long = part.chars().count() > max_chars;
        let ends: &[char] = if is_long { &['=', '_', '.', '{'] } else { &[] };
        part.split_inclusive(ends)
    });
    for word in words {
        let long = word.chars().count();
        let mut chars = word.chars().peekable();
        while chars.peek().is_some() {
            if used == max_chars || (used > 0 && used + long > max_chars) {
                lines.push(String::new());
                used = 0;
            }
            let part: String = chars.by_ref().take(max_chars - used).collect();
            used += part.chars().count();
            if let Some(line) = lines.last_mut() {
                line.push_str(&part);
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_after_parameters_then_after_words() {
        for (label, max_chars, lines) in [
            ("a=1,b=2", 7, &["a=1,b=2"][..]),
            ("a=1,b=2", 5, &["a=1,", "b=2"]),
            (
                "op=compare_exchange_failure",
                24,
                &["op=compare_exchange_", "failure"],
            ),
            ("via=read_write,of=a", 12, &["via=read_", "write,of=a"]),
            ("abcdef", 4, &["abcd", "ef"]),
            ("ab", 0, &["a", "b"]),
            ("", 0, &[""]),
        ] {
            assert_eq!(wrapped(label, max_chars), lines, "{label} {max_chars}");
        }
    }
}
