//! A document as GitHub's Markdown.

use maud::html;

use super::{Block, Cell, Kind, Look, Part, Table, Text};
use crate::export::escaped as plain;
use crate::tone::Tone;

/// A document as Markdown that ends in a newline. Its figures are shown from this folder; without
/// one they are left out.
pub fn markdown(blocks: &[Block], figures: Option<&str>) -> String {
    let written = blocks.iter().filter_map(|block| one(block, figures));
    written.collect::<Vec<String>>().join("\n")
}

fn one(block: &Block, figures: Option<&str>) -> Option<String> {
    Some(match block {
        Block::Heading { level, text, .. } => {
            format!("{} {}\n", "#".repeat((*level).into()), escaped(text))
        }
        Block::Paragraph(text) => inline(text) + "\n",
        Block::List(items) => items
            .iter()
            .map(|item| format!("- {}\n", inline(item)))
            .collect(),
        Block::Questions(questions) => {
            let answered = questions.iter().enumerate().map(|(index, question)| {
                format!("{}. {}\n\n   Answer:\n", index + 1, inline(question))
            });
            answered.collect::<Vec<String>>().join("\n")
        }
        Block::Facts(facts) => {
            let fact = |(name, fact): &(Text, Text)| match name.parts[..] {
                [
                    Part {
                        look: Look::Plain, ..
                    },
                ] => format!("- **{}**: {}\n", inline(name), inline(fact)),
                _ => format!("- {}: {}\n", inline(name), inline(fact)),
            };
            facts.iter().map(fact).collect()
        }
        Block::Table(table) => self::table(table),
        Block::Figure(picture) => {
            format!(
                "![{}]({}/{}.svg)\n",
                plain(&picture.title),
                figures?,
                picture.name
            )
        }
        // Markup, in which Markdown is none.
        Block::Details(summary, blocks) => format!(
            "<details><summary>{}</summary>\n\n{}\n</details>\n",
            html! { (summary.words()) }.into_string(),
            markdown(blocks, figures)
        ),
    })
}

/// A table, and below it what is to be said of its rows.
fn table(table: &Table) -> String {
    let columns = || table.columns.iter().filter(|one| one.kind != Kind::Plots);
    let headings = columns().map(|column| inline(&column.heading));
    let signs = |signs: String| table.has_signs().then_some(signs);
    let headings = headings.chain(signs(String::new()));
    let mut out = line([inline(&table.names)].into_iter().chain(headings));
    out += "|---|";
    out.extend(columns().map(|one| {
        if one.kind == Kind::Numbers {
            "--:|"
        } else {
            "---|"
        }
    }));
    out += if table.has_signs() { "---|\n" } else { "\n" };
    for row in &table.rows {
        let cells = table.worded(row).map(|(_, cells)| {
            let texts = cells.iter().flat_map(Cell::texts);
            texts.map(inline).collect::<Vec<_>>().join("<br>")
        });
        let cells = cells
            .chain(std::iter::repeat(String::new()))
            .take(columns().count());
        let cells = cells.chain(signs(escaped(&row.signs.join(", "))));
        out += &line([inline(&row.name)].into_iter().chain(cells));
    }
    let mut notes = String::new();
    for row in table.rows.iter().filter(|row| !row.notes.is_empty()) {
        let name = inline(&row.name);
        notes += &match &row.notes[..] {
            [note] => format!("- **{name}**: {}\n", inline(note)),
            all => {
                let all = all.iter().map(|note| format!("  - {}\n", inline(note)));
                format!("- **{name}**\n{}", all.collect::<String>())
            }
        };
    }
    match notes.is_empty() {
        true => out,
        false => format!("{out}\n{notes}"),
    }
}

/// A line of cells, which nothing in them ends.
fn line(cells: impl Iterator<Item = String>) -> String {
    let cells: Vec<String> = cells
        .map(|text| text.replace("\\|", "|").replace('|', "\\|"))
        .collect();
    format!("| {} |\n", cells.join(" | "))
}

fn inline(text: &Text) -> String {
    text.written(|Part { text: words, look }| match look {
        Look::Plain => escaped(words),
        Look::Strong => format!("**{}**", escaped(words)),
        Look::Code | Look::Row | Look::Case => format!("`{}`", words.replace('`', "'")),
        Look::Flag => format!("*{}*", escaped(words)),
        Look::Drawn(_) => escaped(words),
        Look::Tag => {
            let bold = if text.tone == Tone::Plain { "" } else { "**" };
            format!("{bold}{}{bold}", escaped(words))
        }
        Look::Link(to) if to.starts_with('#') => escaped(words),
        Look::Link(to) => format!("[{}]({to})", escaped(words)),
    })
}

/// Text that nothing in it changes the look of, except what stands between two backquotes.
fn escaped(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let mut out = String::new();
    for (index, part) in parts.iter().enumerate() {
        out += &match (index % 2 == 1, index + 1 < parts.len()) {
            (true, true) => format!("`{part}`"),
            // Nothing closes it.
            (true, false) => format!("\\`{}", plain(part)),
            (false, _) => plain(part),
        };
    }
    out
}
