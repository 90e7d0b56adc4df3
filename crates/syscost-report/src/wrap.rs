//! Wraps text for a terminal, in the same way for all commands. Lines end only between words, never
//! within a hyphenated name.

use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter};

/// A space at which no line is broken.
const NO_BREAK: char = '\u{a0}';

/// The text, kept on one line when wrapped, such as a value after its name.
pub fn together(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// The lines of a text, each at most `width` columns wide.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    hanging(text, width, "", "")
}

/// As [`wrap()`], with `first` before the first line and `others` before the others, which count
/// towards the width.
pub fn hanging(text: &str, width: usize, first: &str, others: &str) -> Vec<String> {
    let options = Options::new(width)
        .initial_indent(first)
        .subsequent_indent(others)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    let lines = textwrap::wrap(text, options).into_iter();
    lines.map(|line| line.replace(NO_BREAK, " ")).collect()
}

/// `text` after `head` on one line if both fit, else below it after `indent`.
pub fn beside(head: &str, text: &str, width: usize, indent: &str) -> Vec<String> {
    let line = format!("{head}{text}");
    let line = line.trim_end();
    if display_width(line) <= width {
        return vec![line.replace(NO_BREAK, " ")];
    }
    let mut lines = hanging(head.trim_end(), width, "", indent);
    if !text.is_empty() {
        lines.extend(hanging(text, width, indent, indent));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_between_words_only() {
        let kernel = "measured on Linux 6.18.44-fc-v782, clock tsc";
        assert_eq!(
            wrap(kernel, 30),
            ["measured on Linux", "6.18.44-fc-v782, clock tsc"]
        );
    }

    #[test]
    fn what_finds_no_room_stands_beneath() {
        let lines = |width| {
            beside(
                "pass  \u{1b}[1mname\u{1b}[0m  ",
                "as it was said",
                width,
                "    ",
            )
        };
        assert_eq!(beside("  name  ", "", 6, "    "), ["  name"]);
        assert_eq!(lines(26), ["pass  \u{1b}[1mname\u{1b}[0m  as it was said"]);
        assert_eq!(
            lines(14),
            ["pass  \u{1b}[1mname\u{1b}[0m", "    as it was", "    said"]
        );
    }

    #[test]
    fn a_value_stays_beside_its_name() {
        let details = ["singles_count 202", "switch_ns 4456.7978"].map(together);
        assert_eq!(
            hanging(&details.join(", "), 32, "  ", "    "),
            ["  singles_count 202,", "    switch_ns 4456.7978"]
        );
    }
}
