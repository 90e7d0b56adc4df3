//! Lines of text for a terminal of some width.

use anstyle::Style;

use crate::TableOptions;
use crate::paint::Paint;
use crate::wrap::wrap;

/// Narrower pages are not legible.
const MIN_COLUMNS: usize = 60;

/// Lines of a page.
pub(crate) struct Page {
    /// The lines so far.
    pub(crate) out: String,
    pub(crate) columns: usize,
    pub(crate) paint: Paint,
}

impl Page {
    /// An empty page of this width and these colours.
    pub(crate) fn new(options: &TableOptions) -> Self {
        Page {
            out: String::new(),
            columns: options.width.max(MIN_COLUMNS),
            paint: Paint {
                color: options.color,
            },
        }
    }

    /// A line without trailing blanks.
    pub(crate) fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    /// A paragraph behind a painted beginning of this many columns, its further lines as far in.
    pub(crate) fn hanging(&mut self, begin: &str, columns: usize, text: &str) {
        for (index, line) in wrap(text, self.columns.saturating_sub(columns))
            .iter()
            .enumerate()
        {
            self.line(&match index {
                0 => format!("{begin}{line}"),
                _ => format!("{:columns$}{line}", ""),
            });
        }
    }

    /// A paragraph, its further lines as far in as its first.
    pub(crate) fn paragraph(&mut self, indent: usize, style: Style, text: &str) {
        for line in wrap(text, self.columns.saturating_sub(indent)) {
            let line = format!("{:indent$}{}", "", self.paint.text(style, &line));
            self.line(&line);
        }
    }
}
