//! The numbers every programmer should know.

use maud::{Markup, html};
use syscost_results::numbers::{Number, Numbers};
use syscost_results::{Run, Unit};

use crate::chart::{Begin, Scale, Value, formatted};
use crate::numbers::{human, in_sentence};

use super::whose::whose;
use super::{MAX_COLUMNS, key, table};

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

/// The lines of all lists from the cheapest to the dearest, followed by those without a number in
/// the list's order; each with the number of every run that has it. A stand-in, or another
/// directory, is a separate line.
fn side_by_side(lists: &[Numbers]) -> Vec<Vec<Option<&Number>>> {
    let mut lines: Vec<Vec<Option<&Number>>> = Vec::new();
    for (run, list) in lists.iter().enumerate() {
        for number in &list.numbers {
            let has_place = |line: &&mut Vec<Option<&Number>>| {
                line[run].is_none() && line.iter().flatten().any(|other| is_same(other, number))
            };
            match lines.iter_mut().find(has_place) {
                Some(line) => line[run] = Some(number),
                None => {
                    let mut line = vec![None; lists.len()];
                    line[run] = Some(number);
                    lines.push(line);
                }
            }
        }
    }
    lines.sort_by_key(|line| line.iter().flatten().next().map(|number| number.line));
    let time = |line: &[Option<&Number>]| {
        let known = line.iter().flatten().find_map(|number| number.median_ns);
        known.unwrap_or(f64::INFINITY)
    };
    lines.sort_by(|one, other| time(one).total_cmp(&time(other)));
    lines
}

/// Whether two runs' numbers are of the same row. If a run lacks the row, the titles decide: they
/// name a directory only if there are several.
fn is_same(one: &Number, other: &Number) -> bool {
    let is_one_row = match (&one.row, &other.row) {
        (Some(one), Some(other)) => one == other,
        (None, _) | (_, None) => one.title == other.title,
    };
    one.line == other.line && is_one_row
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
                @if let Some(name) = name { a href={ "#" (table::place(name)) } title=(name) { (title) } } @else { (title) }
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

/// A share as a CSS percentage.
pub(super) fn percent(share: f64) -> String {
    let text = format!("{:.1}", 100.0 * share);
    format!("{}%", text.strip_suffix(".0").unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(numbers: &[(usize, &str)]) -> Numbers {
        let number = |&(line, title): &(usize, &str)| Number {
            title: title.to_owned(),
            line,
            ..Number::default()
        };
        Numbers {
            run: String::new(),
            second: None,
            reference: None,
            clock: None,
            numbers: numbers.iter().map(number).collect(),
        }
    }

    #[test]
    fn a_row_is_the_same_whatever_its_title_says_of_its_directory() {
        let of = |numbers: &[(&str, Option<&str>)]| {
            let titles: Vec<(usize, &str)> = numbers.iter().map(|(title, _)| (3, *title)).collect();
            let mut list = list(&titles);
            for (number, (_, row)) in list.numbers.iter_mut().zip(numbers) {
                number.row = row.map(str::to_owned);
            }
            list
        };
        let default = Some("fs.read{dir=default}");
        let lists = [
            of(&[("read", default)]),
            of(&[
                ("read, dir=default", default),
                ("read, dir=ssd", Some("fs.read{dir=ssd}")),
            ]),
            of(&[("read", None)]),
        ];
        let lines: Vec<Vec<bool>> = side_by_side(&lists)
            .iter()
            .map(|line| line.iter().map(Option::is_some).collect())
            .collect();
        assert_eq!(lines, [[true, true, true], [false, true, false]]);
    }

    #[test]
    fn only_the_same_number_of_runs_stands_side_by_side() {
        let lists = [
            list(&[(0, "L1 cache hit"), (2, "fork"), (3, "read, ssd")]),
            list(&[
                (0, "L1 cache hit"),
                (1, "mutex"),
                (2, "vfork"),
                (3, "read, ssd"),
            ]),
        ];
        let lines: Vec<[Option<&str>; 2]> = side_by_side(&lists)
            .iter()
            .map(|line| [0, 1].map(|run| line[run].map(|number| &*number.title)))
            .collect();
        assert_eq!(
            lines,
            [
                [Some("L1 cache hit"), Some("L1 cache hit")],
                [None, Some("mutex")],
                [Some("fork"), None],
                [None, Some("vfork")],
                [Some("read, ssd"), Some("read, ssd")],
            ]
        );
    }

    #[test]
    fn what_costs_less_stands_before_what_costs_more() {
        let mut lists = [list(&[(0, "read"), (1, "call"), (2, "fork")])];
        for (number, median) in lists[0]
            .numbers
            .iter_mut()
            .zip([Some(90.0), Some(1.0), None])
        {
            number.median_ns = median;
        }
        let titles = side_by_side(&lists)
            .into_iter()
            .map(|line| line[0].map_or("", |number| &*number.title))
            .collect::<Vec<&str>>();
        assert_eq!(titles, ["call", "read", "fork"]);
    }
}
