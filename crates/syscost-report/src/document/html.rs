//! A document as a part of a page.

use maud::{Markup, html};

use super::{Block, Cell, Column, Kind, Look, Part, Picture, Place, Row, Table, Text};
use crate::chart::{Labels, Theme};
use crate::markup::{broken, name, place, tone, with_code};
use crate::tone::Tone;

/// A document as HTML.
pub fn html(blocks: &[Block]) -> Markup {
    html! { @for block in blocks { (one(block)) } }
}

fn one(block: &Block) -> Markup {
    match block {
        Block::Heading { level, id, text } => {
            let id = Some(id).filter(|id| !id.is_empty());
            match level {
                1 => html! { h1 id=[id] { (text) } },
                2 => html! { h2 id=[id] { (text) } },
                3 => html! { h3 id=[id] { (text) } },
                _ => html! { h4 id=[id] { (text) } },
            }
        }
        Block::Paragraph(text) => html! { p class=[class(text)] { (inline(text)) } },
        Block::List(items) => html! {
            ul class=[items.first().and_then(class)] { @for item in items { li { (inline(item)) } } }
        },
        Block::Questions(questions) => html! {
            ol class="questions" { @for question in questions { li { (inline(question)) } } }
        },
        Block::Facts(facts) => html! {
            dl class="card facts" {
                @for (name, fact) in facts { div { dt { (inline(name)) } dd { (inline(fact)) } } }
            }
        },
        Block::Table(table) => self::table(table),
        Block::Figure(picture) => figure(picture),
        Block::Details(summary, blocks) => {
            html! { details { summary { (inline(summary)) } (html(blocks)) } }
        }
    }
}

/// A table in a box that it scrolls in if it must. Where there is no room for columns, each cell has
/// its heading beside it.
fn table(table: &Table) -> Markup {
    html! {
        div class="box" tabindex="0" role="region" aria-label=(table.caption) {
            table class=(table.class) {
                caption class="spoken" { (table.caption) }
                thead { tr {
                    th scope="col" { (inline(&table.names)) }
                    @for column in &table.columns {
                        th scope="col" class=[column_class(column)] { (inline(&column.heading)) }
                    }
                    @if table.has_signs() { th scope="col" { span class="spoken" { "signs" } } }
                } }
                tbody { @for row in &table.rows { (self::row(table, row)) } }
            }
        }
    }
}

fn row(table: &Table, row: &Row) -> Markup {
    if row.cells.is_empty() {
        let columns = 1 + table.columns.len() + usize::from(table.has_signs());
        return html! { tr { th scope="rowgroup" colspan=(columns) { (inline(&row.name)) } } };
    }
    html! {
        tr {
            th scope="row" class=[(row.place == Place::Below).then_some("below")] id=[Some(&row.id).filter(|id| !id.is_empty())] { (inline(&row.name)) }
            @if let Some(text) = table.instead(row) {
                td colspan=(table.columns.len()) class=[class(text)] { (inline(text)) }
            } @else { @for (column, cells) in table.columns.iter().zip(&row.cells) {
                td class=[column_class(column)] data-head=(column.heading.words()) { (self::cells(cells)) }
            } }
            @if table.has_signs() { td { @for sign in &row.signs { span class="flag" { (sign) } " " } } }
        }
        @if !row.notes.is_empty() {
            tr class="says" {
                td colspan=(1 + table.columns.len() + usize::from(table.has_signs())) {
                    @for note in &row.notes { p class=[class(note)] { (inline(note)) } }
                }
            }
        }
    }
}

fn column_class(column: &Column) -> Option<&'static str> {
    match column.kind {
        Kind::Words => None,
        Kind::Numbers => Some("num"),
        Kind::Plots => Some("plot"),
    }
}

fn cells(cells: &[Cell]) -> Markup {
    let lines = cells.iter().flat_map(|cell| {
        let lines = cell.lines.iter().map(|line| (line, "figure"));
        lines.chain(cell.notes.iter().map(|note| (note, "note")))
    });
    let lines = lines.filter(|(text, _)| !text.is_empty());
    let class = |text: &Text, of: &str| match class(text) {
        None | Some("note") => of.to_owned(),
        Some(tone) => format!("{of} {tone}"),
    };
    html! {
        @for (index, (text, of)) in lines.enumerate() {
            @if index > 0 { br; }
            span class=(class(text, of)) { (inline(text)) }
        }
    }
}

/// The class of a text, unless a part of it has its tone.
fn class(text: &Text) -> Option<&'static str> {
    let has_tag = text.parts.iter().any(|part| matches!(part.look, Look::Tag));
    match text.tone {
        _ if has_tag => None,
        Tone::Plain => None,
        Tone::Quiet => Some("note"),
        other => Some(tone(other)),
    }
}

fn inline(text: &Text) -> Markup {
    html! { @for part in &text.parts { (self::part(part, text.tone)) } }
}

fn part(Part { text, look }: &Part, tone: Tone) -> Markup {
    match look {
        Look::Plain => with_code(text, broken),
        Look::Strong => html! { b { (broken(text)) } },
        Look::Code => html! { code { (name(text)) } },
        Look::Row => html! { a href={ "#" (place(text)) } { (name(text)) } },
        Look::Drawn(picture) => html! { (picture) },
        Look::Case => html! { span class="case" { (name(text)) } },
        Look::Flag => html! { span class="flag" { (text) } },
        Look::Tag => {
            let tone = if tone == Tone::Plain {
                Tone::Quiet
            } else {
                tone
            };
            html! { span class={ "tag " (self::tone(tone)) } { (text) } " " }
        }
        Look::Link(to) => html! { a href=(to) { (broken(text)) } },
    }
}

/// A chart with its title, and a note on what it cannot show.
fn figure(picture: &Picture) -> Markup {
    let labels = Labels::titled(picture.title.clone());
    let below = picture.below();
    html! {
        figure {
            figcaption { (picture.title) }
            // One of the two is shown, as the screen is.
            div class="for-phones" { (picture.svg(&labels, Theme::Page)) }
            div class="for-screens" { (picture.svg(&labels, Theme::Wide)) }
            @if !below.is_empty() { p class="note" { (below) } }
        }
    }
}
