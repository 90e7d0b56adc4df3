//! The few colours of the terminal output, and how text is cut to a width.

use anstyle::{AnsiColor, Style};
use textwrap::core::display_width;

use crate::tone::Tone;

/// Headings.
pub(crate) const HEADING: Style = Style::new().bold();
/// Secondary information.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Good news.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Deserves attention.
pub(crate) const CARE: Style = AnsiColor::Yellow.on_default();
/// Bad news.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();

pub(crate) fn style(tone: Tone) -> Style {
    match tone {
        Tone::Plain => Style::new(),
        Tone::Quiet => DIM,
        Tone::Good => GOOD,
        Tone::Care => CARE,
        Tone::Bad => BAD,
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    /// Whether to write colours.
    pub(crate) color: bool,
}

impl Paint {
    /// The text in a style, if colours are wanted.
    pub(crate) fn text(self, style: Style, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}

pub(crate) fn width(text: &str) -> usize {
    display_width(text)
}

/// The text, with its end replaced by an ellipsis if it is wider than `max_width`.
pub(crate) fn cut_end(text: &str, max_width: usize) -> String {
    if width(text) <= max_width {
        return text.to_owned();
    }
    let mut room = max_width.saturating_sub(1);
    let fits = |letter: &char| {
        let left = room.checked_sub(width(letter.encode_utf8(&mut [0; 4])));
        room = left.unwrap_or(0);
        left.is_some()
    };
    let kept: String = text.chars().take_while(fits).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_keep_to_the_width() {
        assert_eq!(cut_end("abcdef", 6), "abcdef");
        assert_eq!(cut_end("abc def", 5), "abc…");
        assert_eq!(cut_end("µµµµµµ", 3), "µµ…");
        // These are two columns wide.
        assert_eq!(width("文字"), 4);
        assert_eq!(cut_end("文字文字", 6), "文字…");
    }

    #[test]
    fn paints_only_when_asked() {
        assert_eq!(Paint { color: false }.text(BAD, "x"), "x");
        assert_eq!(Paint { color: true }.text(BAD, "x"), "\u{1b}[31mx\u{1b}[0m");
    }
}
