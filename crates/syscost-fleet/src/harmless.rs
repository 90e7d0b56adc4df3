//! Texts that others wrote, made fit to be told.

use syscost_results::document::is_hidden;

/// Longer texts are cut.
const MAX_LENGTH: usize = 300;

/// A text of unknown origin on one line, which moves no cursor, hides nothing and has a readable length.
pub(crate) fn harmless(text: &str) -> String {
    let mut told = String::new();
    let words = text.split_whitespace().flat_map(|word| [" ", word]).skip(1);
    for (index, sign) in words.flat_map(str::chars).enumerate() {
        match (index >= MAX_LENGTH, is_hidden(sign)) {
            (true, _) => {
                told.push('…');
                break;
            }
            (_, true) => told.extend(sign.escape_unicode()),
            (_, false) => told.push(sign),
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_the_cursor_or_hides_is_shown_as_what_it_is() {
        assert_eq!(harmless(" no route\n  to host "), "no route to host");
        assert_eq!(
            harmless("\u{1b}[2J\u{202e}n\u{200b}1"),
            "\\u{1b}[2J\\u{202e}n\\u{200b}1"
        );
        assert_eq!(harmless(&"é".repeat(301)), format!("{}…", "é".repeat(300)));
    }
}
