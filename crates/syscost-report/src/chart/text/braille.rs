//! A grid of Braille characters, each with two columns of four dots.

use anstyle::AnsiColor;

/// The bit of each dot in a character, by column and row.
const DOTS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

/// The character without dots.
const EMPTY: u32 = 0x2800;

/// One character of the grid.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cell {
    dots: u8,
    /// A character shown instead of dots.
    mark: Option<char>,
    color: Option<AnsiColor>,
}

impl Cell {
    pub(super) fn is_marked(self) -> bool {
        self.mark.is_some()
    }

    /// The character it shows, and its colour; a space has none.
    pub(super) fn shown(self) -> (char, Option<AnsiColor>) {
        match (self.mark, self.dots) {
            (Some(mark), _) => (mark, self.color),
            (None, 0) => (' ', None),
            (None, dots) => {
                let letter = char::from_u32(EMPTY + u32::from(dots)).unwrap_or(' ');
                (letter, self.color)
            }
        }
    }
}

/// The grid. Positions are shares of its width and height, from 0 to 1, from the lower left corner.
#[derive(Debug)]
pub(super) struct Field {
    width: usize,
    height: usize,
    cells: Vec<Cell>,
}

impl Field {
    /// An empty grid of this many characters.
    pub(super) fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            cells: vec![Cell::default(); width * height],
        }
    }

    /// The cells of a row, counted from the top.
    pub(super) fn row(&self, row: usize) -> &[Cell] {
        &self.cells[row * self.width..][..self.width]
    }

    /// Puts a mark on a character.
    pub(super) fn mark(&mut self, column: usize, row: usize, mark: char, color: AnsiColor) {
        let cell = &mut self.cells[row * self.width + column];
        (cell.mark, cell.color) = (Some(mark), Some(color));
    }

    /// Puts a mark without a colour on a character that shows nothing.
    pub(super) fn mark_if_empty(&mut self, column: usize, row: usize, mark: char) {
        let cell = &mut self.cells[row * self.width + column];
        if cell.mark.is_none() && cell.dots == 0 {
            cell.mark = Some(mark);
        }
    }

    /// Draws a straight line, or a dot if both ends are the same.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), color: AnsiColor) {
        let ends = [from, to].map(|place| self.dot_of(place));
        let [[x1, y1], [x2, y2]] = ends;
        let steps = (x2 - x1).abs().max((y2 - y1).abs()).max(1.0);
        for step in 0..=steps as usize {
            let share = step as f64 / steps;
            let dot = [x1 + share * (x2 - x1), y1 + share * (y2 - y1)];
            self.set(dot.map(|coordinate| coordinate.round() as usize), color);
        }
    }

    /// The column and row of the dot at a position.
    fn dot_of(&self, (x, y): (f64, f64)) -> [f64; 2] {
        let last = |dots: usize| dots.saturating_sub(1) as f64;
        [
            (x * last(2 * self.width)).round(),
            ((1.0 - y) * last(4 * self.height)).round(),
        ]
    }

    fn set(&mut self, [x, y]: [usize; 2], color: AnsiColor) {
        let is_inside = x < 2 * self.width && y < 4 * self.height;
        if is_inside {
            let cell = &mut self.cells[y / 4 * self.width + x / 2];
            cell.dots |= DOTS[x % 2][y % 4];
            cell.color = Some(color);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(field: &Field) -> Vec<String> {
        let row = |row| field.row(row).iter().map(|cell| cell.shown().0).collect();
        (0..field.height).map(row).collect()
    }

    #[test]
    fn lines_go_from_corner_to_corner() {
        let mut field = Field::new(3, 2);
        field.line((0.0, 0.0), (1.0, 0.0), AnsiColor::Red);
        field.line((0.0, 1.0), (0.0, 0.0), AnsiColor::Blue);
        assert_eq!(drawn(&field), ["⡇  ", "⣇⣀⣀"]);
        assert_eq!(field.row(1)[0].shown().1, Some(AnsiColor::Blue));
        assert_eq!(field.row(0)[1].shown(), (' ', None));
    }

    #[test]
    fn a_dot_is_where_it_is_and_a_mark_over_it() {
        let mut field = Field::new(2, 1);
        field.line((1.0, 1.0), (1.0, 1.0), AnsiColor::Red);
        assert_eq!(drawn(&field), [" ⠈"]);
        field.mark(1, 0, '●', AnsiColor::Green);
        assert_eq!(drawn(&field), [" ●"]);
        assert!(field.row(0)[1].is_marked() && !field.row(0)[0].is_marked());
        // Positions that are NaN or outside the grid draw nothing.
        field.line((f64::NAN, 0.0), (7.0, -3.0), AnsiColor::Red);
    }
}
