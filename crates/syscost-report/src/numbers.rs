//! The latency numbers every programmer should know, as a list with a human scale and a bar on a log scale.

use anstyle::Style;
use syscost_results::numbers::{Number, Numbers};
use syscost_results::{Estimate, Run, Unit};

use crate::layout::{fit, min_width};
use crate::paint::{self, Paint, cut_end, width};
use crate::units::{Figures, quantity};
use crate::wrap::wrap;
use crate::{TableOptions, footer, sentence};

/// Time at which the bars' axis begins, in ns. The axis is the same for every run and machine.
const AXIS_BEGIN: f64 = 0.1;
/// Powers of ten that the axis spans, up to a tenth of a second.
const DECADES: usize = 9;
/// Maximum width of a bar for each power of ten, in columns.
const MAX_STEPS: usize = 3;
/// Columns between two columns.
const GAP: usize = 2;
/// The headings.
const TIME: &str = "time";
const HALF_WIDTH: &str = "± 95 %";
const HUMAN: &str = "feels like";
const REFERENCE: &str = "reference";

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
    let rows: Vec<Row<'_>> = numbers.by_time().into_iter().map(Row::new).collect();
    let widths = Widths::new(&rows, columns);
    line(&paint.text(paint::DIM, &widths.heading()));
    for row in &rows {
        line(&widths.line(row, paint));
    }
    line("");
    let flags = numbers
        .numbers
        .iter()
        .filter(|number| number.median_ns.is_some());
    let flags = footer::meanings(flags.flat_map(|number| &number.flags));
    let grades = footer::grades(rows.iter().map(|row| &row.estimate));
    let grades =
        grades.map(|grades| format!("{grades}: how far the 95 % interval reaches from the median"));
    let more = rows.iter().any(|row| widths.leaves_flags_out(row));
    let more = more.then(|| "+1 after a flag: one more, which a wider terminal shows".to_owned());
    let legend = legend(numbers, &widths);
    for sentence in std::iter::once(legend)
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

fn legend(numbers: &Numbers, widths: &Widths) -> String {
    let scale = match &numbers.second {
        Some(second) => format!(
            "\"feels like\" is the time on a scale where one {} takes a second. ",
            in_sentence(second)
        ),
        None => "No L1 cache hit was measured, so there is no scale on which one takes a second. "
            .to_owned(),
    };
    let steps = match widths.steps {
        0 => String::new(),
        1 => format!("Bars are logarithmic: 1 block per decade from {AXIS_BEGIN} ns. "),
        steps => format!("Bars are logarithmic: {steps} blocks per decade from {AXIS_BEGIN} ns. "),
    };
    let interval = match widths.is_half_width_left_out {
        true => format!(
            ". {HALF_WIDTH} left out: {} columns are too few",
            widths.columns
        ),
        false => ", ± the larger side of their 95 % confidence interval".to_owned(),
    };
    format!(
        "{scale}{steps}Times are medians{interval}. `syscost explain ID` tells what a row measures."
    )
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

/// A line before it is laid out.
struct Row<'a> {
    number: &'a Number,
    time: String,
    half_width: String,
    human: String,
    /// The reference's figure, if there is a reference with one.
    reference: String,
    flags: Vec<&'static str>,
    /// What the grade, the first of the flags, is computed from.
    estimate: Estimate,
}

impl<'a> Row<'a> {
    fn new(number: &'a Number) -> Self {
        let estimate = Estimate {
            median: number.median_ns,
            ci95_low: number.ci95_low_ns,
            ci95_high: number.ci95_high_ns,
            ..Estimate::default()
        };
        let figures = Figures::new(Unit::Nanoseconds, &estimate);
        Row {
            number,
            time: figures.as_ref().map_or_else(String::new, |figures| {
                format!("{} {}", figures.median, figures.unit)
            }),
            half_width: figures.map_or_else(String::new, |figures| figures.half_width),
            human: number.human_s.map_or_else(String::new, human),
            reference: number
                .reference_ns
                .map_or_else(String::new, |time| quantity(Unit::Nanoseconds, time)),
            flags: match number.median_ns {
                Some(_) => footer::signs(&estimate, &number.flags),
                None => Vec::new(),
            },
            estimate,
        }
    }
}

/// Width of each column; zero for one that is absent.
struct Widths {
    title: usize,
    time: usize,
    half_width: usize,
    human: usize,
    reference: usize,
    /// Columns of the bar for each power of ten; zero if there is no room for a bar.
    steps: usize,
    columns: usize,
    /// Whether the interval's half width did not fit.
    is_half_width_left_out: bool,
}

impl Widths {
    /// All columns that have something to show. If they do not fit, bars are dropped first, then
    /// the interval's half width, whose grade the flags show, then the ends of titles.
    fn new(rows: &[Row<'_>], columns: usize) -> Self {
        let widest = |measure: fn(&Row<'_>) -> usize| rows.iter().map(measure).max().unwrap_or(0);
        let column = |measure: fn(&Row<'_>) -> usize, heading: &str| match widest(measure) {
            0 => 0,
            wide => wide.max(width(heading)),
        };
        let mut widths = Widths {
            title: widest(|row| width(&row.number.title)),
            time: column(|row| width(&row.time), TIME),
            half_width: column(|row| width(&row.half_width), HALF_WIDTH),
            human: column(|row| width(&row.human), HUMAN),
            reference: column(|row| width(&row.reference), REFERENCE),
            steps: 0,
            columns,
            is_half_width_left_out: false,
        };
        let behind = |flags: usize| if flags > 0 { GAP + flags } else { 0 };
        let few = behind(widest(|row| min_width(&row.flags)));
        if widths.used() + few > columns {
            widths.is_half_width_left_out = widths.half_width > 0;
            widths.half_width = 0;
        }
        let excess = (widths.used() + few).saturating_sub(columns);
        widths.title = widths.title.saturating_sub(excess);
        let flags = behind(widest(|row| width(&row.flags.join(", "))));
        // A bar is at least one column wide.
        let left = columns.saturating_sub(widths.used() + flags + GAP + 1);
        widths.steps = (left / DECADES).min(MAX_STEPS);
        widths
    }

    /// Columns up to the bar.
    fn used(&self) -> usize {
        let columns = [self.time, self.half_width, self.human, self.reference];
        let is_there = columns.iter().filter(|columns| **columns > 0);
        self.title + is_there.map(|columns| GAP + columns).sum::<usize>()
    }

    /// Columns of the bars, with the gap before them.
    fn bars(&self) -> usize {
        match self.steps {
            0 => 0,
            steps => GAP + steps * DECADES + 1,
        }
    }

    /// As many flags as fit.
    fn flags(&self, row: &Row<'_>) -> String {
        let used = self.used() + self.bars() + GAP;
        fit(&row.flags, self.columns.saturating_sub(used))
    }

    /// Whether a row has more flags than its line shows.
    fn leaves_flags_out(&self, row: &Row<'_>) -> bool {
        let shown = self.flags(row);
        !shown.is_empty() && shown != row.flags.join(", ")
    }

    /// A title and the cells after it, without absent columns.
    fn laid_out(&self, title: &str, cells: [(&str, Style); 4], paint: Paint) -> String {
        let title = cut_end(title, self.title);
        let mut out = format!("{title:<columns$}", columns = self.title);
        let columns = [self.time, self.half_width, self.human, self.reference];
        for ((text, style), columns) in cells.into_iter().zip(columns) {
            if columns > 0 {
                let cell = format!("{text:>columns$}");
                out.push_str(&" ".repeat(GAP));
                out.push_str(&match text {
                    "" => cell,
                    _ => paint.text(style, &cell),
                });
            }
        }
        out
    }

    fn heading(&self) -> String {
        let cells = [TIME, HALF_WIDTH, HUMAN, REFERENCE].map(|heading| (heading, Style::new()));
        self.laid_out("", cells, Paint { color: false })
    }

    fn line(&self, row: &Row<'_>, paint: Paint) -> String {
        let Some(median) = row.number.median_ns else {
            let title = cut_end(&row.number.title, self.title);
            let title = format!("{title:<columns$}", columns = self.title);
            let reason = row.number.reason.as_deref().unwrap_or("no number");
            let room = self.columns.saturating_sub(self.title + GAP);
            return format!(
                "{}  {}",
                paint.text(paint::DIM, &title),
                paint.text(paint::DIM, &cut_end(reason, room))
            );
        };
        let plain = Style::new();
        let cells = [
            (row.time.as_str(), plain),
            (row.half_width.as_str(), paint::DIM),
            (row.human.as_str(), plain),
            (row.reference.as_str(), paint::DIM),
        ];
        let mut out = self.laid_out(&row.number.title, cells, paint);
        if self.steps > 0 {
            let bar = bar(median, self.steps);
            let behind = (self.bars() - GAP).saturating_sub(width(&bar));
            out.push_str(&" ".repeat(GAP));
            out.push_str(&paint.text(paint::GOOD, &bar));
            out.push_str(&" ".repeat(behind));
        }
        let flags = self.flags(row);
        if !flags.is_empty() {
            out.push_str(&" ".repeat(GAP));
            out.push_str(&paint.text(paint::CARE, &flags));
        }
        out
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
