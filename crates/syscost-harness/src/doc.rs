//! The explanations of benchmarks and groups, read from the doc comments of their own files.
//!
//! The comment begins with one sentence and has the headings of [`HEADINGS`], that of a group those of
//! [`GROUP_HEADINGS`]. `syscost explain`, the generated catalogue and the report's notes all come from
//! it.

/// The headings every benchmark's doc comment has, in this order.
pub const HEADINGS: [&str; 4] = ["Measures", "Does not measure", "Interpretation", "Source"];

/// The headings every group's doc comment has, in this order. The first has a list of rows, each with
/// what it says.
pub const GROUP_HEADINGS: [&str; 3] = ["First look", "Benchmarks", "Disturbances"];

/// The parts of a doc comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The text before the first heading.
    pub summary: String,
    /// Headings and their text, paragraphs kept.
    pub sections: Vec<(String, String)>,
}

/// The bytes of the lines that begin with `//!` at the top of a source file.
pub const fn length(source: &str) -> usize {
    let bytes = source.as_bytes();
    let mut end = 0;
    while end + 3 <= bytes.len()
        && matches!(
            (bytes[end], bytes[end + 1], bytes[end + 2]),
            (b'/', b'/', b'!')
        )
    {
        while end < bytes.len() && bytes[end] != b'\n' {
            end += 1;
        }
        if end < bytes.len() {
            end += 1;
        }
    }
    end
}

/// The first bytes of a source file: of its [`length`], its doc comment, without which the rest of the
/// file would be part of the program.
pub const fn head<const LENGTH: usize>(source: &str) -> [u8; LENGTH] {
    *source
        .as_bytes()
        .first_chunk()
        .expect("no longer than it is")
}

/// Reads the `//!` lines at the top of a source file.
pub fn explanation(source: &str) -> Explanation {
    let mut summary = Vec::new();
    let mut sections: Vec<(String, Vec<&str>)> = Vec::new();
    for line in source.lines().map_while(|line| line.strip_prefix("//!")) {
        let line = line.strip_prefix(' ').unwrap_or(line);
        match (line.strip_prefix("## "), sections.last_mut()) {
            (Some(heading), _) => sections.push((heading.trim().to_owned(), Vec::new())),
            (None, Some((_, text))) => text.push(line),
            (None, None) => summary.push(line),
        }
    }
    let join = |lines: Vec<&str>| lines.join("\n").trim().to_owned();
    Explanation {
        summary: join(summary),
        sections: sections
            .into_iter()
            .map(|(heading, text)| (heading, join(text)))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_split_the_comment() {
        let text = "//! One line.\n//!\n//! ## Measures\n//! This\n//! and that.\n//! ## Source\n//! None.\n\nuse x;\n//! no";
        let explained = explanation(text);
        assert_eq!(explanation(&text[..length(text)]), explained);
        assert_eq!(length("//! One."), 8);
        assert_eq!(length(" //! None."), 0);
        assert_eq!(explained.summary, "One line.");
        assert_eq!(
            explained.sections,
            [
                ("Measures".to_owned(), "This\nand that.".to_owned()),
                ("Source".to_owned(), "None.".to_owned())
            ]
        );
    }
}
