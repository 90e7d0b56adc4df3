//! The cells of tables that a script sorts.

use maud::{Markup, html};

/// A column's heading; with script, clicking it sorts.
pub(super) fn column(text: &str, kind: &str, key: Option<Markup>) -> Markup {
    html! {
        th scope="col" class=(kind) aria-sort="none" {
            button type="button" class="sort" { @if let Some(key) = key { (key) " " } (text) }
        }
    }
}

/// The sort key of a cell: five digits are enough to order values that a reader can distinguish.
pub(super) fn sortable(value: f64) -> String {
    let text = format!("{value:.4e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    };
    match exponent {
        "0" => digits.to_owned(),
        exponent => format!("{digits}e{exponent}"),
    }
}

pub(super) fn cell(value: Option<f64>, content: &Markup) -> Markup {
    html! { td class="num" data-v=[value.map(sortable)] { (content) } }
}
