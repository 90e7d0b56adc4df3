//! Lines of text for a terminal of some width.

use anstyle::Style;

use crate::TableOptions;
use crate::grid::{Grid, INDENT};
use crate::paint::{self, Paint, cut_end, width};
use crate::wrap::{hanging, wrap};

/// Minimum width, in columns: narrower pages are illegible.
const MIN_COLUMNS: usize = 60;

/// Lines of a page under construction.
pub(crate) struct Page {
    /// The lines so far.
    pub(crate) out: String,
    pub(crate) columns: usize,
    pub(crate) paint: Paint,
}

impl Page {
    /// An empty page with this width and these colours.
    pub(crate) fn new(options: &TableOptions) -> Self {
        Page {
            out: String::new(),
            columns: options.width.max(MIN_COLUMNS),
            paint: Paint {
                color: options.color,
            },
        }
    }

    /// Adds a line, without trailing spaces.
    pub(crate) fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    /// Adds a secondary paragraph.
    pub(crate) fn dim(&mut self, text: &str) {
        self.paragraph(0, paint::DIM, text);
    }

    /// Adds a secondary paragraph whose further lines are indented.
    pub(crate) fn note(&mut self, text: &str) {
        self.item(0, 2, paint::DIM, text);
    }

    /// Adds a heading, after a line of space.
    pub(crate) fn heading(&mut self, text: &str) {
        self.line("");
        self.paragraph(0, paint::HEADING, text);
    }

    /// Adds a table; which columns had no room.
    pub(crate) fn grid(&mut self, grid: &Grid<'_>) -> Vec<usize> {
        let drawn = grid.draw(self.columns, self.paint);
        drawn.lines.iter().for_each(|line| self.line(line));
        drawn.left_out
    }

    /// Adds a paragraph after a painted beginning of this many columns, with its further lines
    /// indented to match.
    pub(crate) fn hanging(&mut self, begin: &str, columns: usize, style: Style, text: &str) {
        for (index, line) in wrap(text, self.columns.saturating_sub(columns))
            .iter()
            .enumerate()
        {
            let line = self.paint.text(style, line);
            self.line(&match index {
                0 => format!("{begin}{line}"),
                _ => format!("{:columns$}{line}", ""),
            });
        }
    }

    /// Adds a paragraph, its further lines indented like its first.
    pub(crate) fn paragraph(&mut self, indent: usize, style: Style, text: &str) {
        self.item(indent, 0, style, text);
    }

    /// Adds a paragraph, its further lines indented by `more` columns more than its first.
    pub(crate) fn item(&mut self, indent: usize, more: usize, style: Style, text: &str) {
        let [first, others] = [indent, indent + more].map(|indent| " ".repeat(indent));
        for line in hanging(text, self.columns, &first, &others) {
            let words = line.trim_start();
            let indent = &line[..line.len() - words.len()];
            let line = format!("{indent}{}", self.paint.text(style, words.trim_end()));
            self.line(&line);
        }
    }

    /// The line above the rows of a benchmark that has several.
    pub(crate) fn benchmark(&self, operation: &str, title: &str) -> String {
        let room = self.columns.saturating_sub(2 * INDENT + width(operation));
        let title = self.paint.text(paint::DIM, &cut_end(title, room));
        format!("{:INDENT$}{operation}  {title}", "")
    }

    /// The lines of a secondary paragraph of this indent.
    pub(crate) fn dim_lines(&self, indent: usize, text: &str) -> Vec<String> {
        let mut page = Page {
            out: String::new(),
            ..*self
        };
        page.paragraph(indent, paint::DIM, text);
        page.out.lines().map(str::to_owned).collect()
    }
}
