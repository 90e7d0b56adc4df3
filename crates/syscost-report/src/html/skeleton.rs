//! What every page has: head, style, script, header, toolbar, footer.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::chart::theme_variables;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// SHA-256 of the script, in base64; a test computes the expected value.
const SCRIPT_SHA256: &str = "zOjXqBWVADiWBOGefK+Unz8GPP+7bChRGJ+6AFYXAM8=";

/// The whole document. Its content security policy allows exactly this script and the style: no
/// network, no other script.
pub(super) fn document(title: &str, body: &Markup) -> Markup {
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{SCRIPT_SHA256}'; base-uri 'none'; form-action 'none'"
    );
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="syscost";
                title { (title) " · syscost" }
                style { (PreEscaped(theme_variables())) (PreEscaped(STYLE)) }
                noscript { style { ".needs-script{display:none!important}" } }
            }
            body {
                a class="skip" href="#content" { "Skip to content" }
                (body)
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

pub(super) fn header(title: &str, below: &Markup) -> Markup {
    html! {
        header class="top" {
            p class="brand" { "syscost" }
            h1 { (title) }
            (below)
        }
    }
}

/// The kinds of rows that the toolbar offers to filter by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kinds {
    /// By evidence and flags.
    OfRows,
    /// By both.
    OfBoth,
    /// No filter: there are no rows.
    None,
}

/// Links to the sections, the filter, and the choice of light or dark.
pub(super) fn toolbar(links: &[(String, String)], kinds: Kinds) -> Markup {
    html! {
        div class="toolbar" {
            nav aria-label="Sections" {
                @for (target, text) in links { a href={ "#" (target) } { (text) } }
            }
            div class="controls needs-script" role="search" {
                @if kinds != Kinds::None {
                    label for="filter" class="spoken" { "Show only rows that contain" }
                    input id="filter" type="search" placeholder="Filter rows" autocomplete="off" spellcheck="false";
                    label for="which" class="spoken" { "Show only rows that are" }
                    select id="which" {
                        option value="" { "all rows" }
                        @if kinds == Kinds::OfBoth {
                            @for word in ["worse", "better", "inconclusive"] { option value=(word) { (word) } }
                            option value="same" { "the same" }
                        }
                        option value="good" { "✓ confirmed" }
                        option value="care" { "? unverified" }
                        option value="flagged" { "flagged" }
                        option value="none" { "without a number" }
                        option value="withheld" { "withheld" }
                    }
                    output id="count" for="filter" aria-live="polite" {}
                }
                button id="theme" type="button" title="Change between light and dark" {
                    span aria-hidden="true" { "◐" } span class="spoken" { "Light or dark" }
                }
            }
        }
    }
}

pub(super) fn footer(version: &str) -> Markup {
    html! {
        footer class="bottom" {
            p {
                "Measured by syscost " (version) ". The number of a row is a median over fresh processes, of six and more with its 95 % confidence "
                "interval; a number whose evidence contradicts its name is withheld. This page stands alone: it loads nothing."
            }
        }
    }
}
