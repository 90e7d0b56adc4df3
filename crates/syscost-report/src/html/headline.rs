//! The numbers every programmer should know.

use maud::{Markup, html};
use syscost_results::numbers::{Number, Numbers};
use syscost_results::{Run, Unit};

use crate::chart::{Begin, Scale, Value, told};
use crate::numbers::{human, in_sentence};

use super::{MAX_COLUMNS, key, table};

/// The list with bars; of more runs than stand side by side, the last one's.
pub(super) fn section(headline: &[Numbers], runs: &[&Run]) -> Markup {
    let skipped = if headline.len() > MAX_COLUMNS {
        headline.len() - 1
    } else {
        0
    };
    let lists = &headline[skipped..];
    let several = lists.len() > 1;
    let lines = side_by_side(lists);
    let is_told = |line: &&Vec<Option<&Number>>| {
        line.iter()
            .flatten()
            .any(|number| number.median_ns.is_some())
    };
    let told_lines: Vec<&Vec<Option<&Number>>> = lines.iter().filter(is_told).collect();
    if told_lines.is_empty() {
        return html! {};
    }
    let missing: Vec<&Number> = lines
        .iter()
        .filter(|line| !is_told(line))
        .filter_map(|line| line.iter().flatten().next().copied())
        .collect();
    let all = told_lines.iter().flat_map(|line| line.iter().flatten());
    let ends = all.flat_map(|number| [number.median_ns, number.ci95_low_ns, number.ci95_high_ns]);
    let scale = Scale::fit(ends.flatten(), Begin::Zero, (0.0, 100.0));
    let second = lists.last().and_then(|list| list.second.as_deref());
    html! {
        section id="numbers" class="numbers" aria-labelledby="title-numbers" {
            h2 id="title-numbers" { "Numbers every programmer should know, of this machine" }
            @if skipped > 0 {
                p class="note" { "Of the last of " (runs.len()) " runs." }
            }
            div class="box" tabindex="0" role="region" aria-labelledby="title-numbers" {
                table class="headline" {
                    caption class="spoken" { "Costs of common operations" }
                    thead { tr {
                        th scope="col" { "operation" }
                        th scope="col" class="wide" { span class="spoken" { "bar on a logarithmic scale" } }
                        @for index in 0..lists.len() {
                            th scope="col" class="num" { @if several { (key(index)) " " } "time" }
                        }
                        @if second.is_some() { th scope="col" class="num" { "feels like" } }
                    } }
                    tbody {
                        @for line in &told_lines { (row(line, &scale, second.is_some())) }
                    }
                }
            }
            @if let Some(second) = second {
                p class="note" {
                    "“Feels like” is the time on a scale where one " (in_sentence(second)) " takes a second. "
                    "Bars are on a logarithmic scale: the same step is the same factor."
                }
            }
            @if !missing.is_empty() {
                details class="missing" {
                    summary { (missing.len()) " more of the classic list have no number here" }
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

/// The lines of all lists in the list's order, each with the number of every run that has it: a stand-in, or another directory, is another line.
fn side_by_side<'a>(lists: &'a [Numbers]) -> Vec<Vec<Option<&'a Number>>> {
    let mut keys: Vec<(usize, &str)> = Vec::new();
    for number in lists.iter().flat_map(|list| &list.numbers) {
        let key = (number.line, &*number.title);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.sort_by_key(|(line, _)| *line);
    keys.into_iter()
        .map(|key| {
            let of = |list: &'a Numbers| {
                let mut numbers = list.numbers.iter();
                numbers.find(|number| (number.line, &*number.title) == key)
            };
            lists.iter().map(of).collect()
        })
        .collect()
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
            @for number in line {
                td class="num" {
                    @match number {
                        Some(number) if number.median_ns.is_some() => (time(number)),
                        Some(number) => span class="quiet" title=[number.reason.as_deref()] { "none" },
                        None => {},
                    }
                }
            }
            @if second { td class="num quiet" { (human_s.map(human).unwrap_or_default()) } }
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
        told(Unit::Nanoseconds, &value)
    })
}

/// A share as CSS writes it.
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
            numbers: numbers.iter().map(number).collect(),
        }
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
}
