//! Wraps text for a terminal, in the same way for all commands. Lines end only between words, never
//! within a hyphenated name; within the name of a row only after a parameter, and only if it is
//! wider than a line.

use textwrap::core::{Word, display_width};
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
        .word_separator(WordSeparator::Custom(parts))
        .word_splitter(WordSplitter::NoHyphenation);
    let text = breakable(text, width.saturating_sub(others.len()));
    let lines = textwrap::wrap(&text, options).into_iter();
    let lines = lines.map(|line| line.replace(NO_BREAK, " ").replace(MAY_BREAK, ""));
    lines.collect()
}

/// Where a line may end within a name.
const MAY_BREAK: char = '\u{200b}';

/// The text, with the names that are too wide for a line broken after parameters.
fn breakable(text: &str, width: usize) -> String {
    let words = text
        .split(' ')
        .map(|word| match display_width(word) > width {
            true => word.replace(',', &format!(",{MAY_BREAK}")),
            false => word.to_owned(),
        });
    words.collect::<Vec<_>>().join(" ")
}

/// What a line may end after.
fn parts(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    let words = WordSeparator::AsciiSpace.find_words(line);
    Box::new(words.flat_map(|word| {
        let parts = word.word.split_inclusive(MAY_BREAK).map(Word::from);
        let mut parts: Vec<Word<'_>> = parts.collect();
        match parts.last_mut() {
            Some(last) => last.whitespace = word.whitespace,
            // Space at the beginning of a line is a word of nothing else.
            None => parts.push(word),
        }
        parts
    }))
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
    fn a_long_name_is_broken_after_a_parameter() {
        let name = "ipc.round_trip{via=unix_stream,between=processes,cpus=same,size=64}: why";
        for width in 31..70 {
            for line in wrap(name, width) {
                assert!(
                    [",", ":", "why"].iter().any(|end| line.ends_with(end)),
                    "{line}"
                );
                assert!(display_width(&line) <= width, "{line}");
            }
        }
        assert_eq!(wrap("a name{one=1,b=2}", 16), ["a", "name{one=1,b=2}"]);
        assert_eq!(wrap("a name{one=1,b=2}", 14), ["a name{one=1,", "b=2}"]);
        assert_eq!(wrap("  name{one=1,b=2}", 14), ["  name{one=1,", "b=2}"]);
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
