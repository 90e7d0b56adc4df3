//! The latency numbers every programmer should know, as a list with a human scale and a bar on a log scale.

use syscost_results::beside::Beside;
use syscost_results::numbers::{Number, Numbers};
use syscost_results::{Estimate, Measurement, Run, Status};

use crate::grid::{Behind, Cell, Drawn, GAP, Grid, Name, left, right};
use crate::paint::{self, Paint};
use crate::view::{Column, RowView, ratio_legend};
use crate::wrap::wrap;
use crate::{TableOptions, footer, sentence};

/// Time at which the bars' axis begins, in ns. The axis is the same for every run and machine.
const AXIS_BEGIN: f64 = 0.1;
/// Powers of ten that the axis spans, up to a tenth of a second.
const DECADES: usize = 9;
/// The heading of the human scale.
const HUMAN: &str = "feels like";
/// Maximum width of a bar for each power of ten, in columns.
const MAX_STEPS: usize = 3;

/// The list of a run, ending in a newline. Only the width and colour options are used. `reference`
/// describes in a line what the figures beside it belong to.
pub fn numbers(
    run: &Run,
    numbers: &Numbers,
    reference: Option<&str>,
    options: &TableOptions,
) -> String {
    let paint = Paint {
        color: options.color,
    };
    let columns = options.width.max(60);
    let mut out = String::new();
    let mut line = |text: &str| {
        out.push_str(text.trim_end());
        out.push('\n');
    };
    line(&paint.text(
        paint::HEADING,
        "The latency numbers every programmer should know",
    ));
    for text in wrap(&sentence::machine(run), columns) {
        line(&paint.text(paint::DIM, &text));
    }
    line("");
    if let Some(reference) = reference {
        for text in wrap(reference, columns) {
            line(&paint.text(paint::DIM, &text));
        }
        line("");
    }
    let lines: Vec<(&Number, Measurement)> = numbers
        .by_time()
        .into_iter()
        .map(|number| (number, row(number)))
        .collect();
    let views: Vec<(&Number, RowView<'_>)> = lines
        .iter()
        .map(|(number, row)| {
            (
                *number,
                RowView::of(row).beside(beside(number, numbers.clock)),
            )
        })
        .collect();
    // A bar is at least one column wide.
    let spare = grid(&views, 0).spare(columns).unwrap_or(0);
    let steps = (spare.saturating_sub(GAP + 1) / DECADES).min(MAX_STEPS);
    let grid = grid(&views, steps);
    let drawn = grid.draw(columns, paint);
    drawn.lines.iter().for_each(|text| line(text));
    line("");
    let rows = || {
        views
            .iter()
            .map(|(_, view)| view)
            .filter(|view| view.figures.is_some())
    };
    let flags = footer::meanings(rows().flat_map(|view| &view.row.flags));
    let grades = footer::grades(rows().map(|view| &view.estimate));
    let grades =
        grades.map(|grades| format!("{grades}: how far the 95 % interval reaches from the median"));
    let is_drawn = |column: Column| {
        let is_there = rows().any(|view| !view.cell(column).text.is_empty());
        is_there && !drawn.left_out.contains(&column.heading())
    };
    let ratio = is_drawn(Column::Ratio);
    let ratio = ratio.then(|| ratio_legend(rows().filter_map(|view| view.beside)));
    let half_width = match is_drawn(Column::HalfWidth) {
        true => "Times are medians, ± the larger side of their 95 % confidence interval.",
        false => "Times are medians.",
    };
    let more = drawn.are_signs_left_out;
    let more = more.then(|| "+1 after a flag: one more, which a wider terminal shows".to_owned());
    let legend = legend(numbers, steps, half_width, &drawn, columns);
    for sentence in std::iter::once(legend)
        .chain(ratio)
        .chain(grades)
        .chain(flags)
        .chain(more)
    {
        for text in wrap(&sentence, columns) {
            line(&paint.text(paint::DIM, &text));
        }
    }
    out
}

/// The list in columns, with bars of this many columns for each power of ten.
fn grid<'t>(views: &[(&'t Number, RowView<'_>)], steps: usize) -> Grid<'t> {
    const COLUMNS: [Column; 3] = [Column::Median, Column::Unit, Column::HalfWidth];
    let mut grid = Grid::new(vec![
        right("time"),
        left("").after(1),
        Column::HalfWidth.in_grid(6),
        right(HUMAN).rank(5),
        // It follows from the time and the ratio.
        Column::Reference.in_grid(7),
        Column::Ratio.in_grid(4),
        left(""),
    ]);
    grid.heading("", paint::DIM);
    for (number, view) in views {
        let Some(median) = number.median_ns else {
            let reason = number.reason.as_deref().unwrap_or("no number");
            let name = Name {
                style: paint::DIM,
                ..Name::whole(&*number.title, 0)
            };
            grid.instead(name, Cell::new(reason, paint::DIM));
            continue;
        };
        let mut cells: Vec<Cell> = COLUMNS.map(|column| view.cell(column).into()).to_vec();
        cells.push(number.human_s.map(human).unwrap_or_default().into());
        cells.extend([Column::Reference, Column::Ratio].map(|column| view.cell(column).into()));
        cells.push(Cell::new(bar(median, steps), paint::GOOD));
        let name = Name::whole(&*number.title, 0);
        grid.line(name, cells, Behind::Signs(view.signs()));
    }
    grid
}

/// The row that a line would be, in its scale.
fn row(number: &Number) -> Measurement {
    Measurement {
        status: match number.median_ns {
            Some(_) => Status::Ok,
            None => Status::Skipped,
        },
        estimate: Estimate {
            median: number.median_ns,
            ci95_low: number.ci95_low_ns,
            ci95_high: number.ci95_high_ns,
            ..Estimate::default()
        },
        flags: number.flags.clone(),
        ..Measurement::default()
    }
}

/// The reference's figure in a line's scale.
fn beside(number: &Number, clock: Option<f64>) -> Option<Beside> {
    Some(Beside {
        median: number.reference_ns?,
        low: number.reference_ci95_low_ns,
        high: number.reference_ci95_high_ns,
        clock,
        is_of_one_kind: number.is_of_one_kind,
    })
}

fn legend(
    numbers: &Numbers,
    steps: usize,
    half_width: &str,
    drawn: &Drawn,
    columns: usize,
) -> String {
    let scale = match &numbers.second {
        _ if drawn.left_out.contains(&HUMAN) => String::new(),
        Some(second) => format!(
            "\"{HUMAN}\" is the time on a scale where one {} takes a second. ",
            in_sentence(second)
        ),
        None => "No L1 cache hit was measured, so there is no scale on which one takes a second. "
            .to_owned(),
    };
    let steps = match steps {
        0 => String::new(),
        1 => format!("Bars are logarithmic: 1 block per decade from {AXIS_BEGIN} ns. "),
        steps => format!("Bars are logarithmic: {steps} blocks per decade from {AXIS_BEGIN} ns. "),
    };
    let left_out = match &drawn.left_out[..] {
        [] => String::new(),
        left_out => format!(
            " {} left out: {columns} columns are too few.",
            left_out.join(", ")
        ),
    };
    format!("{scale}{steps}{half_width}{left_out} `syscost explain ID` tells what a row measures.")
}

/// A title in the middle of a sentence: `L1 cache hit` keeps its capital.
pub(crate) fn in_sentence(title: &str) -> String {
    let mut letters = title.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => title.to_owned(),
    }
}

/// The bar for a time in ns, with this many columns for each power of ten; empty if there is no
/// room.
fn bar(time: f64, steps: usize) -> String {
    if steps == 0 {
        return String::new();
    }
    let decades = (time.max(AXIS_BEGIN) / AXIS_BEGIN).log10();
    let columns = (decades * steps as f64).round() as usize;
    "▇".repeat(1 + columns.min(DECADES * steps))
}

/// A time on the human scale, in the unit a person would use: `3 s`, `5 min`, `2 days`, `4 months`.
pub fn human(seconds: f64) -> String {
    const SCALES: [(f64, &str, &str); 6] = [
        (31_557_600.0, "year", "years"),
        (2_629_800.0, "month", "months"),
        (86_400.0, "day", "days"),
        (3_600.0, "h", "h"),
        (60.0, "min", "min"),
        (1.0, "s", "s"),
    ];
    // 60 s is shown as 1 min.
    let (factor, one, many) = *SCALES
        .iter()
        .find(|(factor, ..)| (seconds / factor) >= 0.9995)
        .unwrap_or(&SCALES[SCALES.len() - 1]);
    let value = seconds / factor;
    let text = if value < 9.95 {
        let text = format!("{value:.1}");
        text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
    } else {
        format!("{value:.0}")
    };
    let unit = if text == "1" { one } else { many };
    format!("{text} {unit}")
}

#[cfg(test)]
mod tests;
