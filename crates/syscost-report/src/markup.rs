//! Pieces of HTML that pages and documents share.

use maud::{Markup, html};

use crate::tone::Tone;

/// The id of a row in the page.
pub(crate) fn place(name: &str) -> String {
    format!("row-{name}")
}

/// The CSS class of a tone.
pub(crate) fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Quiet => "quiet",
        Tone::Good => "good",
        Tone::Care => "care",
        Tone::Bad => "bad",
    }
}

/// A row's name, which may be broken between its parts but not within one.
pub(crate) fn name(name: &str) -> Markup {
    let parts = name.split_inclusive(['.', '{', ',']);
    html! {
        @for (index, part) in parts.enumerate() { @if index > 0 { wbr; } (part) }
    }
}

/// A text whose long words, which may be names of rows, may be broken between their parts.
pub(crate) fn broken(text: &str) -> Markup {
    /// Words of no more characters are not broken.
    const LONG: usize = 20;
    html! {
        @for word in text.split_inclusive(' ') {
            @if word.len() > LONG { (name(word)) } @else { (word) }
        }
    }
}

/// Text with code between backquotes, and the words between code written like this.
pub(crate) fn with_code(text: &str, write: fn(&str) -> Markup) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (name(part)) } } @else { (write(part)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_broken_between_its_parts() {
        assert_eq!(
            name("ipc.pipe{cpus=same_cache,size=64}").into_string(),
            "ipc.<wbr>pipe{<wbr>cpus=same_cache,<wbr>size=64}"
        );
    }
}
