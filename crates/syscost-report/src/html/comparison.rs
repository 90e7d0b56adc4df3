//! The page of a comparison.

use maud::{Markup, html};
use syscost_results::Better;
use syscost_results::compare::{Change, Comparison, Difference, Row};

use crate::chart::{Begin, Scale};
use crate::compare::{
    IN_TURN, is_noticed, medians, notices, own_notes, power, side, sides, spread, tail, verdict,
};

use super::change::{class, cost, groups};
use super::headline::percent;
use super::skeleton::Kinds;
use super::table::{place, sortable};
use super::{key, quantities, skeleton, words};

/// Ratios further from one than this are drawn at the edge: a single uncertain row would squeeze
/// all others into a dot.
const WIDEST: f64 = 2.0;

/// The page of a comparison: what differs between the sides, every row with its verdict, what could
/// not be compared.
pub fn comparison(comparison: &Comparison) -> String {
    let title = "What changed".to_owned();
    let links: Vec<(String, String)> = [
        ("groups", "groups"),
        ("facts", "facts"),
        ("rows", "rows"),
        ("not-compared", "not compared"),
    ]
    .map(|(target, text)| (target.to_owned(), text.to_owned()))
    .to_vec();
    let body = html! {
        (skeleton::header(&title, &subtitle(comparison)))
        (skeleton::toolbar(&links, Kinds::OfChanges))
        main id="content" {
            section id="groups" aria-labelledby="title-groups" {
                h2 id="title-groups" { "Groups" }
                @for line in notices(comparison) { p class="note" { (line) } }
                (groups(comparison, sides(comparison)))
            }
            (facts(comparison))
            section id="rows" aria-labelledby="title-rows" {
                h2 id="title-rows" { "Rows" }
                (rows(comparison))
            }
            (not_compared(comparison))
        }
        (skeleton::footer(&comparison.new.version))
    };
    skeleton::document(&title, &body).into_string()
}

fn subtitle(comparison: &Comparison) -> Markup {
    html! {
        p class="lead" {
            @for change in Change::ALL {
                span class={ "verdict " (class(change)) } { (comparison.count(change)) " " (verdict(change)) } " "
            }
        }
        p class="quiet" { (key(0)) " " (side(&comparison.base)) }
        p class="quiet" { (key(1)) " " (side(&comparison.new)) }
        @if let Some(power) = power(comparison) { p class="quiet" { "It " (power) "." } }
        @if comparison.paired { p class="quiet" { (IN_TURN) } }
        @if let Some(spread) = spread(comparison) { p class="quiet" { (spread) } }
    }
}

fn facts(comparison: &Comparison) -> Markup {
    html! {
        section id="facts" aria-labelledby="title-facts" {
            h2 id="title-facts" { "What else differs" }
            (differences(comparison, sides(comparison)))
        }
    }
}

/// The facts that differ and may explain a change, apart from those shown at the top. `sides` are
/// the page's names for base and new.
pub(super) fn differences(comparison: &Comparison, sides: [&str; 2]) -> Markup {
    let others = comparison.facts.iter();
    let others: Vec<&Difference> = others.filter(|fact| !is_noticed(fact)).collect();
    let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "not known".to_owned());
    html! {
        @if others.is_empty() {
            p { "No other fact of machine or program differs between the sides." }
        } @else {
            div class="box" tabindex="0" role="region" aria-label="Facts that differ" {
                table class="differences" {
                    caption { "Facts that differ, the likeliest explanations first" }
                    thead { tr {
                        th scope="col" { "fact" }
                        @for (index, side) in sides.iter().enumerate() { th scope="col" { (key(index)) @if side.len() > 1 { " " (side) } } }
                        th scope="col" { "what it does" }
                    } }
                    tbody {
                        @for fact in others {
                            tr { th scope="row" title=(fact.fact) { (quantities::named(&fact.fact)) } td { (shown(&fact.base)) } td { (shown(&fact.new)) } td { (fact.meaning.as_deref().unwrap_or_default()) } }
                        }
                    }
                }
            }
        }
    }
}

fn rows(comparison: &Comparison) -> Markup {
    // The axis includes one, so that every interval can be compared with it.
    let ends = comparison
        .rows
        .iter()
        .flat_map(|row| [row.ci95_low, row.ci95_high, Some(row.ratio)]);
    let logarithms = ends
        .flatten()
        .chain([1.0])
        .filter(|ratio| *ratio > 0.0)
        .map(|ratio| ratio.clamp(1.0 / WIDEST, WIDEST).ln());
    let scale = Scale::fit(logarithms, Begin::Near, (0.0, 1.0));
    let own_notes = own_notes(comparison);
    let [base, new] = sides(comparison);
    let sorted = |text: &str, kind: &str| {
        html! { th scope="col" class=(kind) aria-sort="none" { button type="button" class="sort" { (text) } } }
    };
    html! {
        div class="box" tabindex="0" role="region" aria-label="Compared rows" {
            table class="rows" data-rows="comparison" {
                caption { (comparison.rows.len()) " rows compared" }
                thead { tr {
                    (sorted("operation", "name")) (sorted("verdict", "")) (sorted(base, "num")) (sorted(new, "num"))
                    (sorted(&format!("{new} / {base}"), "num")) (sorted("95 %", "num"))
                    th scope="col" class="plot" { span class="spoken" { "interval of the ratio; the line is no change" } }
                    (sorted("p", "num")) (sorted("margin", "num"))
                } }
                @for row in &comparison.rows { (line(row, own_notes(row), &scale)) }
            }
        }
    }
}

fn line(row: &Row, notes: Vec<&str>, scale: &Scale) -> Markup {
    let share = |ratio: f64| scale.share(ratio.clamp(1.0 / WIDEST, WIDEST).ln());
    let interval = row.ci95_low.zip(row.ci95_high);
    let number =
        |value: f64, text: String| html! { td class="num" data-v=(sortable(value)) { (text) } };
    let [base, new] = medians(row);
    let notes = notes.into_iter().map(str::to_owned);
    html! {
        tbody id=(place(&row.name)) data-change=(verdict(row.verdict)) {
            tr class="row" {
                th scope="row" class="name" {
                    (words::name(&row.name))
                    @for note in notes.chain(tail(row)) { br; small class="quiet" { (note) } }
                }
                td data-v=(row.verdict as u8) { span class={ "verdict " (class(row.verdict)) } { (verdict(row.verdict)) } }
                (number(row.base, base))
                (number(row.new, new))
                (number(cost(row), format!("{:.3}", row.ratio)))
                @match interval {
                    Some((low, high)) => (number(high - low, format!("{low:.3} to {high:.3}"))),
                    None => td class="num quiet" { "none" },
                }
                td class="plot" title=(match row.better { Better::Lower => "lower is better", Better::Higher => "higher is better" }) {
                    span class={ "ci " (class(row.verdict)) (if interval.is_none() { " open" } else { "" }) } {
                        b style={ "left:" (percent(share(1.0))) } {}
                        @if let Some((low, high)) = interval {
                            span style={ "left:" (percent(share(low))) ";width:" (percent(share(high) - share(low))) } {}
                        }
                        i style={ "left:" (percent(share(row.ratio))) } {}
                    }
                }
                @match row.p_value {
                    Some(p) if p < 0.001 => (number(p, "< 0.001".to_owned())),
                    Some(p) => (number(p, format!("{p:.3}"))),
                    None => td {},
                }
                (number(row.bound(), format!("{:.1} %", 100.0 * row.bound())))
            }
        }
    }
}

fn not_compared(comparison: &Comparison) -> Markup {
    let list: Vec<(&str, &str)> = comparison.uncompared().collect();
    html! {
        section id="not-compared" aria-labelledby="title-not-compared" {
            h2 id="title-not-compared" { "Not compared" }
            @if list.is_empty() {
                p { "Every row stands on both sides." }
            } @else {
                ul class="plain" { @for (name, reason) in list { li { code { (words::name(name)) } ": " (reason) } } }
            }
        }
    }
}
