//! The numbers every programmer should know.

use maud::{Markup, html};
use syscost_results::numbers::{Number, Numbers, side_by_side};
use syscost_results::{Run, Unit};

use crate::chart::{Begin, Scale, Value, formatted};
use crate::markup::place;

use super::interval::percent;
use super::runs::whose;
use super::{MAX_COLUMNS, key};

/// Number of ticks of the bars' axis, about.
const AXIS: usize = 6;

/// The list with bars; of more runs than fit side by side, the last one's.
pub(super) fn section(headline: &[Numbers], runs: &[&Run]) -> Markup {
    let skipped = if headline.len() > MAX_COLUMNS {
        headline.len() - 1
    } else {
        0
    };
    let lists = &headline[skipped..];
    let several = lists.len() > 1;
    let lines = side_by_side(lists);
    let is_known = |line: &&Vec<Option<&Number>>| {
        line.iter()
            .flatten()
            .any(|number| number.median_ns.is_some())
    };
    let known_lines: Vec<&Vec<Option<&Number>>> = lines.iter().filter(is_known).collect();
    if known_lines.is_empty() {
        return html! {};
    }
    let missing: Vec<&Number> = lines
        .iter()
        .filter(|line| !is_known(line))
        .filter_map(|line| line.iter().flatten().next().copied())
        .collect();
    let all = known_lines.iter().flat_map(|line| line.iter().flatten());
    let ends = all.flat_map(|number| [number.median_ns, number.ci95_low_ns, number.ci95_high_ns]);
    let scale = Scale::fit(ends.flatten(), Begin::Zero, (0.0, 100.0));
    let second = lists.last().and_then(|list| list.second.as_deref());
    html! {
        section id="numbers" class="numbers" aria-labelledby="title-numbers" {
            h2 id="title-numbers" { "Numbers every programmer should know" }
            @if skipped > 0 {
                p class="note" { "Of " (whose(runs.len() - 1, runs)) "; one of " (runs.len()) " runs." }
            }
            div class="box" tabindex="0" role="region" aria-labelledby="title-numbers" {
                table class="headline" {
                    caption class="spoken" { "Costs of common operations" }
                    thead { tr {
                        th scope="col" { "operation" }
                        th scope="col" class="wide" {
                            @if scale.is_logarithmic() { "time, logarithmic axis" } @else { "time" }
                            span class="ticks" aria-hidden="true" {
                                @for (value, label) in scale.ticks(Unit::Nanoseconds, AXIS) { span style={ "left:" (percent(scale.share(value))) } { (label) } }
                            }
                        }
                        @for index in 0..lists.len() {
                            th scope="col" class="num" { @if several { (key(index)) " " } "time" }
                        }
                        @if second.is_some() { th scope="col" class="num" { @if several { (key(lists.len() - 1)) " " } "feels like" } }
                    } }
                    tbody {
                        @for line in &known_lines { (row(line, &scale, second.is_some())) }
                    }
                }
            }
            @if let Some(second) = second {
                p class="note" {
                    "“Feels like” is the time on a scale where one " (in_sentence(second)) " takes a second."
                }
            }
            @if !missing.is_empty() {
                details class="missing" {
                    summary { (missing.len()) " more of the classic list " @if missing.len() == 1 { "has" } @else { "have" } " no number here" }
                    ul {
                        @for number in missing {
                            li { (number.title) ": " (number.reason.as_deref().unwrap_or("no reason was given")) }
                        }
                    }
                }
            }
        }
    }
}

fn row(line: &[Option<&Number>], scale: &Scale, second: bool) -> Markup {
    let title = line
        .iter()
        .flatten()
        .next()
        .map_or("", |number| &number.title);
    let name = line
        .iter()
        .flatten()
        .find_map(|number| number.row.as_deref());
    let human_s = line.last().and_then(|number| (*number)?.human_s);
    html! {
        tr {
            th scope="row" {
                @if let Some(name) = name { a href={ "#" (place(name)) } title=(name) { (title) } } @else { (title) }
            }
            td class="wide" {
                @for (index, number) in line.iter().enumerate() {
                    @if let Some(median) = number.and_then(|number| number.median_ns) {
                        span class={ "track s" (index) } {
                            span style={ "width:" (percent(scale.share(median).max(0.004))) } {}
                            @if let Some((low, high)) = number.and_then(|number| number.ci95_low_ns.zip(number.ci95_high_ns)) {
                                i style={ "left:" (percent(scale.share(low))) ";width:" (percent(scale.share(high) - scale.share(low))) } {}
                            }
                        }
                    }
                }
            }
            @for (index, number) in line.iter().enumerate() {
                td class="num" {
                    @if line.len() > 1 && number.is_some() { span class="narrow" { (key(index)) " " } }
                    @match number {
                        Some(number) if number.median_ns.is_some() => (time(number)),
                        Some(number) => span class="quiet" title=[number.reason.as_deref()] { "none" },
                        None => {},
                    }
                }
            }
            @if second { td class="num quiet feels" { (human_s.map(human).unwrap_or_default()) } }
        }
    }
}

fn time(number: &Number) -> String {
    number.median_ns.map_or_else(String::new, |median| {
        let value = Value {
            median,
            low: number.ci95_low_ns,
            high: number.ci95_high_ns,
        };
        formatted(Unit::Nanoseconds, &value)
    })
}

/// A title in the middle of a sentence: `L1 cache hit` keeps its capital.
fn in_sentence(title: &str) -> String {
    let mut letters = title.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => title.to_owned(),
    }
}

/// A time on the human scale, in the unit a person would use: `3 s`, `5 min`, `2 days`, `4 months`.
fn human(seconds: f64) -> String {
    /// Units, from which number of seconds on they are used.
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
mod tests {
    use super::*;

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
}
