//! The table in a terminal.
//!
//! A section for each group, one line per row (below its benchmark's line, if that has several
//! rows): its name, median, the half width of the 95 % interval, whatever else there is room for,
//! what the evidence says, and flags. Columns align within a section, whose heading names them, so
//! the long names of one group do not narrow another. A row without a number says why in its place.
//! Only some rows of a long curve are shown, unless all are asked for. The legend says which columns
//! did not fit.

use syscost_results::directory::label_of;
use syscost_results::{Measurement, Run, Status};

use crate::{
    TableOptions,
    chart::{self, Sharing, TextOptions},
    curves,
    document::{Block, Look, Text},
    footer::{self, Shown},
    grid::{Grid, INDENT, Name},
    page::Page,
    paint, sentence,
    side_by_side::SideBySide,
    view::{Column, RowView},
};

/// The whole table with what follows it, ending in a newline.
pub fn table(run: &Run, options: &TableOptions) -> String {
    let mut rows = Row::of(&run.measurements, options.verbose);
    if let Some(beside) = &options.beside {
        for row in &mut rows {
            row.view.beside = beside.figures.get(&row.view.row.name).copied();
        }
    }
    let mut table = Table {
        page: Page::new(options),
        options,
        shown: Shown::default(),
        draws: run.measurements.len() <= DRAWN,
    };
    if let Some(hour) = sentence::hour(run) {
        let hour = sentence::capital(&hour);
        table.page.paragraph(0, paint::HEADING, &hour);
    }
    let heading = std::iter::once(sentence::machine(run))
        .chain(sentence::peer(run))
        .chain(sentence::nfs(run))
        .chain(run.directories.iter().map(sentence::directory))
        .chain(options.beside.iter().map(|beside| beside.sentence.clone()));
    heading.for_each(|text| table.page.dim(&text));
    table.page.line("");
    for section in rows.chunk_by(|a, b| a.view.group() == b.view.group()) {
        let is_of_group = |row: &&Measurement| {
            row.status != Status::Skipped && row.group() == section[0].view.group()
        };
        let of_group = run.measurements.iter().filter(is_of_group);
        let Some(beside) = SideBySide::of(of_group, &run.directories) else {
            table.plain(section);
            continue;
        };
        let labels = beside.labels.clone();
        table.several_directories(beside, section);
        let has_column = |row: &&Row<'_>| {
            label_of(&row.view.row.name).is_some_and(|label| labels.contains(&label))
        };
        let rest = section.iter().filter(|row| !has_column(row)).cloned();
        let rest: Vec<Row<'_>> = rest.collect();
        if !rest.is_empty() {
            table.plain(&rest);
        }
    }
    let Table {
        mut page, shown, ..
    } = table;
    footer::footer(&mut page, run, options, &shown);
    page.out
}

/// The columns, and in which order they are left out where there is no room: what was asked for,
/// the reference, last.
const COLUMNS: [(Column, u8); 12] = [
    (Column::Median, 0),
    (Column::Unit, 0),
    (Column::HalfWidth, 3),
    (Column::Reference, 1),
    (Column::Ratio, 2),
    (Column::Best, 6),
    (Column::P99, 8),
    (Column::Company, 4),
    (Column::Cycles, 5),
    (Column::Interval, 10),
    (Column::Undisturbed, 9),
    (Column::Mark, 0),
];

/// Maximum number of rows that are drawn one by one: about two screens.
const DRAWN: usize = 4;

/// A table under construction.
struct Table<'o, 'r> {
    page: Page,
    options: &'o TableOptions,
    shown: Shown<'r>,
    /// Whether a row's samples are drawn below its evidence: where these are few.
    draws: bool,
}

impl<'r> Table<'_, 'r> {
    /// The rows of a group, one line each.
    fn plain(&mut self, section: &[Row<'r>]) {
        let paint = self.page.paint;
        let is_beside = section.iter().any(|row| row.view.beside.is_some());
        let columns = COLUMNS.map(|(column, rank)| match column {
            // The reference was asked for; how precise a number is, its grade says as well.
            Column::HalfWidth if is_beside => column.in_grid(rank + 1),
            _ => column.in_grid(rank),
        });
        let mut grid = Grid::new(columns.to_vec());
        grid.heading(section[0].view.group(), paint::HEADING);
        let mut above = "";
        for row in section {
            let operation = row.view.operation();
            if row.is_nested() && operation != above {
                grid.whole(self.page.benchmark(operation, &row.view.row.title));
            }
            above = operation;
            add(&mut grid, row);
            grid.whole_lines(self.left_out(row));
            if self.options.verbose {
                for note in footer::notes(&row.view) {
                    grid.whole_lines(self.page.dim_lines(INDENT + 2, &note));
                }
                if self.draws {
                    grid.whole_lines(self.against_ratio(row.view.row));
                }
            }
        }
        self.shown
            .rows
            .extend(section.iter().map(|row| row.view.clone()));
        let drawn = grid.draw(self.page.columns, paint);
        let ratios = Column::Ratio;
        let is_ratio = |row: &Row<'_>| !row.view.cell(ratios).text.is_empty();
        let left_out = drawn.left_out.iter().map(|at| COLUMNS[*at].0);
        self.shown.has_ratios |=
            section.iter().any(is_ratio) && left_out.clone().all(|column| column != ratios);
        let headings = left_out.map(Column::heading);
        self.shown.columns_left_out.extend(headings);
        self.shown.are_flags_left_out |= drawn.are_signs_left_out;
        drawn.lines.iter().for_each(|line| self.page.line(line));
        self.page.line("");
    }

    /// The rows of several directories side by side, if shown for any of them.
    fn several_directories(&mut self, mut beside: SideBySide<'r>, section: &[Row<'r>]) {
        let is_shown = |row: &Measurement| {
            let mut shown = section.iter();
            shown.any(|shown| shown.view.row.name == row.name)
        };
        let lines = &mut beside.lines;
        lines.retain(|line| line.cells.iter().flatten().any(|row| is_shown(row)));
        let cells = lines.iter().flat_map(|line| line.cells.iter().flatten());
        for view in cells.map(|row| RowView::of(row)) {
            self.shown.are_flags_left_out |= view.signs().len() > 1;
            self.shown.rows.push(view);
        }
        let group = section[0].view.group();
        let title = Text::of(Look::Strong, group);
        let blocks = [Block::Table(beside.table(title, self.options.verbose))];
        self.page.blocks(&blocks, self.options.verbose);
        if section.iter().any(|row| row.view.beside.is_some()) {
            let note = format!(
                "the reference has no room beside several directories: *{{dir={}}} shows it",
                beside.labels[0]
            );
            self.page.paragraph(INDENT, paint::DIM, &note);
        }
        let first = beside.labels[0];
        let of_first = |row: &&Row<'_>| label_of(&row.view.row.name) == Some(first);
        for row in section.iter().filter(of_first) {
            let left_out = self.left_out(row);
            left_out.iter().for_each(|line| self.page.line(line));
        }
        self.page.line("");
    }

    /// What a row took against the ratios of the probes around its samples, if these were kept.
    fn against_ratio(&self, row: &Measurement) -> Vec<String> {
        let Some(sharing) = Sharing::of(row) else {
            return Vec::new();
        };
        let indent = " ".repeat(INDENT + 2);
        let options = TextOptions {
            width: self.page.columns - indent.len(),
            color: self.options.color,
        };
        let drawn = chart::text_sharing(&sharing, row.unit, options);
        drawn
            .lines()
            .map(|line| format!("{indent}{line}"))
            .collect()
    }

    /// Says how many rows of a curve are not shown, below its last row.
    fn left_out(&self, row: &Row<'_>) -> Vec<String> {
        if row.left_out == 0 {
            return Vec::new();
        }
        let plot = self.options.name.iter();
        let plot: String = plot
            .map(|name| format!(", or `syscost plot {name} {}`", row.view.row.id))
            .collect();
        let note = format!("{} sizes between are not shown: -v{plot}", row.left_out);
        self.page.dim_lines(2 * INDENT, &note)
    }
}

/// Adds a row's line.
fn add<'r>(grid: &mut Grid<'r>, row: &Row<'r>) {
    let view = &row.view;
    let name = Name {
        // Its like have the same line above, if any.
        among: if row.is_nested() { &view.row.id } else { "" },
        ..Name::new(row.name, row.indent)
    };
    grid.row(name, view, &COLUMNS);
}

#[derive(Clone)]
struct Row<'a> {
    view: RowView<'a>,
    /// The name without its group, or only the case for a row below its benchmark's own line.
    name: &'a str,
    /// Columns before the name.
    indent: usize,
    /// Number of rows not shown of the curve that ends with this row.
    left_out: usize,
}

impl<'a> Row<'a> {
    /// The rows of a run, those of a benchmark with several rows below a line of its own; all of
    /// them, or only some of long curves.
    fn of(measurements: &'a [Measurement], all: bool) -> Vec<Self> {
        // Skipped rows are mentioned once, below the table.
        let skipped = |row: &Measurement| row.status == Status::Skipped;
        measurements
            .chunk_by(|a, b| a.id == b.id)
            .flat_map(|rows| {
                let nested = rows.len() > 1;
                let every = |index| curves::Shown { index, left_out: 0 };
                let shown = match all {
                    true => (0..rows.len()).map(every).collect(),
                    false => curves::brief(rows),
                };
                shown
                    .into_iter()
                    .filter(move |shown| !skipped(&rows[shown.index]))
                    .map(move |shown| Row::new(&rows[shown.index], nested, shown.left_out))
            })
            .collect()
    }

    fn new(measurement: &'a Measurement, nested: bool, left_out: usize) -> Self {
        let view = RowView::of(measurement);
        let (name, indent) = match view.case() {
            case if nested && !case.is_empty() => (case, 2 * INDENT),
            _ => (view.label(), INDENT),
        };
        Row {
            view,
            name,
            indent,
            left_out,
        }
    }

    /// Whether its benchmark has a line of its own above.
    fn is_nested(&self) -> bool {
        self.indent > INDENT
    }
}
