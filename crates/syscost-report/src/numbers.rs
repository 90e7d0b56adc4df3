//! The latency numbers every programmer should know, as a list with a human scale and a bar on a log scale.

use syscost_results::numbers::{Number, Numbers};
use syscost_results::{Estimate, Run, Unit};
use textwrap::wrap;

use crate::paint::{self, Paint, cut_end, width};
use crate::units::Figures;
use crate::{TableOptions, footer, sentence};

/// Columns of the widest bar.
const BAR: usize = 28;
/// Narrower bars tell nothing.
const LEAST_BAR: usize = 10;
/// Columns between two columns.
const GAP: usize = 2;

/// The list of a run, ending in a newline. Of the options, width and colour count.
pub fn numbers(run: &Run, numbers: &Numbers, options: &TableOptions) -> String {
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
    let rows: Vec<Row<'_>> = numbers.numbers.iter().map(Row::new).collect();
    let widths = Widths::new(&rows, columns);
    line(&paint.text(paint::DIM, &widths.heading(&numbers.second)));
    let axis = Axis::new(&numbers.numbers);
    for row in &rows {
        line(&widths.line(row, &axis, paint));
    }
    line("");
    let flags = numbers
        .numbers
        .iter()
        .filter(|number| number.median_ns.is_some());
    let flags = footer::meanings(flags.flat_map(|number| &number.flags));
    for sentence in [legend(numbers, &axis)].into_iter().chain(flags) {
        for text in wrap(&sentence, columns) {
            line(&paint.text(paint::DIM, &text));
        }
    }
    out
}

fn legend(numbers: &Numbers, axis: &Axis) -> String {
    let scale = match &numbers.second {
        Some(second) => format!(
            "\"feels like\" is the time on a scale where one {} takes a second. ",
            in_sentence(second)
        ),
        None => String::new(),
    };
    let steps = if axis.factor() > 1.0 {
        format!(
            "A bar grows by one step for each factor of {:.1}. ",
            axis.factor()
        )
    } else {
        String::new()
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
            flags: footer::signs(&estimate, &number.flags).join(", "),
        }
    }
}

struct Widths {
    title: usize,
    time: usize,
    half_width: usize,
    human: usize,
    /// Columns left for the bar; zero if too few.
    bar: usize,
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
            bar: 0,
            columns,
        };
        let flags = widest(|row| width(&row.flags), "");
        let gaps = if flags > 0 { 5 * GAP } else { 4 * GAP };
        let used = widths.title + widths.time + widths.half_width + widths.human + flags + gaps;
        let left = columns.saturating_sub(used).min(BAR);
        if left >= LEAST_BAR {
            widths.bar = left;
        }
        widths
    }

    fn heading(&self, second: &Option<String>) -> String {
        let human = if second.is_some() { "feels like" } else { "" };
        format!(
            "{:<title$}  {:>time$}  {:>half$}  {:>human_width$}",
            "",
            "time",
            "± 95 %",
            human,
            title = self.title,
            time = self.time,
            half = self.half_width,
            human_width = self.human,
        )
    }

    fn line(&self, row: &Row<'_>, axis: &Axis, paint: Paint) -> String {
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
        let bar = axis.bar(median, self.bar);
        let flags = match row.flags.is_empty() {
            true => String::new(),
            false => {
                let gap = " ".repeat(self.bar.saturating_sub(width(&bar)) + GAP);
                gap + &paint.text(paint::CARE, &row.flags)
            }
        };
        format!(
            "{title}  {:>time$}  {}  {:>human$}  {}{flags}",
            row.time,
            paint.text(paint::DIM, &half),
            row.human,
            paint.text(paint::GOOD, &bar),
            time = self.time,
            human = self.human,
        )
    }
}

/// A log axis from the shortest time to the longest.
struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    fn new(numbers: &[Number]) -> Self {
        let times = numbers.iter().filter_map(|number| number.median_ns);
        let (low, high) = times
            .filter(|time| *time > 0.0)
            .fold((f64::INFINITY, 0.0_f64), |(low, high), time| {
                (low.min(time), high.max(time))
            });
        Axis { low, high }
    }

    /// By which factor a time grows with each column of the widest bar.
    fn factor(&self) -> f64 {
        if self.high > self.low {
            (self.high / self.low).powf(1.0 / (BAR - 1) as f64)
        } else {
            1.0
        }
    }

    fn bar(&self, time: f64, columns: usize) -> String {
        if columns == 0 {
            return String::new();
        }
        let share = if self.high > self.low && time > 0.0 {
            (time / self.low).ln() / (self.high / self.low).ln()
        } else {
            0.0
        };
        "▇".repeat(1 + (share * (columns - 1) as f64).round() as usize)
    }
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
mod tests {
    use super::*;
    use crate::fixture;
    use syscost_results::Flag;
    use syscost_results::numbers::numbers as list;

    #[test]
    fn a_person_would_say_it_so() {
        for (seconds, words) in [
            (0.25, "0.2 s"),
            (1.0, "1 s"),
            (59.99, "1 min"),
            (300.0, "5 min"),
            (5_400.0, "1.5 h"),
            (86_400.0, "1 day"),
            (7.0e6, "2.7 months"),
            (3.2e8, "10 years"),
        ] {
            assert_eq!(human(seconds), words, "{seconds}");
        }
    }

    fn run_of_numbers() -> Run {
        let mut run = fixture::run();
        let row = |name: &str, median: f64| {
            let numbers = [0.99 * median, median, 1.02 * median, 0.9 * median];
            fixture::measured(name, numbers, None, Vec::new())
        };
        run.measurements.extend([
            row("op.integer{op=add,type=i64,shape=latency}", 0.271),
            row("op.branch_miss{branch=conditional}", 4.9),
            row("signal.catch{via=tgkill}", 1034.0),
            row("task.fork", 151_000.0),
        ]);
        run
    }

    #[test]
    fn the_list_of_a_hand_made_run() {
        let run = run_of_numbers();
        let known = |id: &str| !id.starts_with("memory.") && !id.starts_with("net.");
        let text = numbers(&run, &list(&run, known), &TableOptions::default());
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_number_of_a_shared_core_says_so() {
        let mut run = run_of_numbers();
        let text_of = |run: &Run| numbers(run, &list(run, |_| true), &TableOptions::default());
        assert!(!text_of(&run).contains("shared"));
        let rows = run.measurements.iter_mut();
        rows.filter(|row| row.id == "signal.catch")
            .for_each(|row| row.flags = vec![Flag::TwoModes, Flag::Disturbed]);
        let text = text_of(&run);
        let line = |what: &str| text.lines().find(|line| line.contains(what));
        let caught = line("1.034 µs").or(line("1034 ns")).expect("is listed");
        assert!(caught.ends_with("shared, modes"), "{caught}");
        let columns = TableOptions::default().width;
        assert!(caught.chars().count() <= columns, "{caught}");
        assert!(line("shared: too few").is_some(), "{text}");
    }

    #[test]
    fn a_run_without_any_of_them_says_so_in_every_line() {
        let mut run = fixture::run();
        run.measurements.clear();
        let found = list(&run, |_| true);
        assert_eq!(found.second, None);
        let text = numbers(&run, &found, &TableOptions::default());
        assert_eq!(
            text.matches("not part of this run").count(),
            found.numbers.len()
        );
        assert!(!text.contains("feels like"), "{text}");
    }
}
