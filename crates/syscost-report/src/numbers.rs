//! The latency numbers every programmer should know, as a list with a human scale and a bar on a log scale.

use syscost_results::numbers::{Number, Numbers};
use syscost_results::{Estimate, Run, Unit};
use textwrap::wrap;

use crate::paint::{self, Paint, cut_end, width};
use crate::units::{Figures, quantity};
use crate::{TableOptions, footer, sentence};

/// The scale of the bars is the same for every run and machine: from this time on, in ns,
const AXIS_BEGIN: f64 = 0.1;
/// over this many powers of ten, to a tenth of a second.
const DECADES: usize = 9;
/// Columns of the widest bar for each of them.
const MAX_STEPS: usize = 3;
/// Columns between two columns.
const GAP: usize = 2;

/// The list of a run, ending in a newline. Of the options, width and colour count. `reference` says in a line what the figures
/// beside it are of.
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
        "The latency numbers every programmer should know, of this machine",
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
    let mut rows: Vec<Row<'_>> = numbers.numbers.iter().map(Row::new).collect();
    // From the cheapest to the dearest; those without a number last, in the list's order.
    rows.sort_by(|a, b| {
        let time = |row: &Row<'_>| row.number.median_ns.unwrap_or(f64::INFINITY);
        time(a).total_cmp(&time(b))
    });
    let widths = Widths::new(&rows, columns);
    line(&paint.text(paint::DIM, &widths.heading(&numbers.second)));
    for row in &rows {
        line(&widths.line(row, paint));
    }
    line("");
    let flags = numbers
        .numbers
        .iter()
        .filter(|number| number.median_ns.is_some());
    let flags = footer::meanings(flags.flat_map(|number| &number.flags));
    for sentence in [legend(numbers, widths.steps)].into_iter().chain(flags) {
        for text in wrap(&sentence, columns) {
            line(&paint.text(paint::DIM, &text));
        }
    }
    out
}

fn legend(numbers: &Numbers, steps: usize) -> String {
    let scale = match &numbers.second {
        Some(second) => format!(
            "\"feels like\" is the time on a scale where one {} takes a second. ",
            in_sentence(second)
        ),
        None => "No L1 cache hit was measured, so there is no scale on which one takes a second. "
            .to_owned(),
    };
    let steps = match steps {
        0 => String::new(),
        1 => {
            format!("A bar begins at {AXIS_BEGIN} ns and grows by a step for each factor of ten. ")
        }
        steps => {
            format!(
                "A bar begins at {AXIS_BEGIN} ns and grows by {steps} steps for each factor of ten. "
            )
        }
    };
    format!(
        "{scale}{steps}Times are medians, ± the larger side of their 95 % confidence interval. \
         `syscost explain ID` tells what a row measures."
    )
}

/// A title within a sentence: `L1 cache hit` keeps its capital.
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
    flags: String,
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
            flags: footer::signs(&estimate, &number.flags).join(", "),
        }
    }
}

struct Widths {
    title: usize,
    time: usize,
    half_width: usize,
    human: usize,
    /// Columns of the reference's figure; zero without one.
    reference: usize,
    /// Columns of the bar for each power of ten; zero if there is no room for a bar.
    steps: usize,
    columns: usize,
}

impl Widths {
    fn new(rows: &[Row<'_>], columns: usize) -> Self {
        let widest = |measure: fn(&Row<'_>) -> usize, heading: &str| {
            rows.iter()
                .map(measure)
                .max()
                .unwrap_or(0)
                .max(width(heading))
        };
        let mut widths = Widths {
            title: widest(|row| width(&row.number.title), ""),
            time: widest(|row| width(&row.time), "time"),
            half_width: widest(|row| width(&row.half_width), "± 95 %"),
            human: widest(|row| width(&row.human), "feels like"),
            reference: match widest(|row| width(&row.reference), "") {
                0 => 0,
                wide => wide.max(width("reference")),
            },
            steps: 0,
            columns,
        };
        let flags = widest(|row| width(&row.flags), "");
        let gaps = if flags > 0 { 5 * GAP } else { 4 * GAP };
        let used = widths.title + widths.time + widths.half_width + widths.human + flags + gaps;
        let used = used + widths.behind_human().0 + widths.reference;
        let left = columns.saturating_sub(used);
        widths.steps = (left.saturating_sub(1) / DECADES).min(MAX_STEPS);
        widths
    }

    /// Columns between the human scale and the reference, and the reference's heading.
    fn behind_human(&self) -> (usize, &'static str) {
        match self.reference {
            0 => (0, ""),
            _ => (GAP, "reference"),
        }
    }

    fn heading(&self, second: &Option<String>) -> String {
        let human = if second.is_some() { "feels like" } else { "" };
        format!(
            "{:<title$}  {:>time$}  {:>half$}  {:>human_width$}{:gap$}{:>reference$}",
            "",
            "time",
            "± 95 %",
            human,
            "",
            self.behind_human().1,
            gap = self.behind_human().0,
            reference = self.reference,
            title = self.title,
            time = self.time,
            half = self.half_width,
            human_width = self.human,
        )
    }

    fn line(&self, row: &Row<'_>, paint: Paint) -> String {
        let title = format!("{:<width$}", row.number.title, width = self.title);
        let Some(median) = row.number.median_ns else {
            let reason = row.number.reason.as_deref().unwrap_or("no number");
            let room = self.columns.saturating_sub(self.title + GAP);
            return format!(
                "{}  {}",
                paint.text(paint::DIM, &title),
                paint.text(paint::DIM, &cut_end(reason, room))
            );
        };
        let half = format!("{:>width$}", row.half_width, width = self.half_width);
        let reference = format!(
            "{:gap$}{:>width$}",
            "",
            row.reference,
            gap = self.behind_human().0,
            width = self.reference
        );
        let bar = bar(median, self.steps);
        let flags = match row.flags.is_empty() {
            true => String::new(),
            false => {
                let gap = " ".repeat((self.steps * DECADES + 1).saturating_sub(width(&bar)) + GAP);
                gap + &paint.text(paint::CARE, &row.flags)
            }
        };
        format!(
            "{title}  {:>time$}  {}  {:>human$}{}  {}{flags}",
            row.time,
            paint.text(paint::DIM, &half),
            row.human,
            paint.text(paint::DIM, &reference),
            paint.text(paint::GOOD, &bar),
            time = self.time,
            human = self.human,
        )
    }
}

/// The bar of a time in ns with this many columns for each power of ten; none where there is no room.
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
    // What would be printed as 60 s is 1 min.
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
