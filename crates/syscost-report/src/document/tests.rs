use insta::assert_snapshot;

use super::*;
use crate::TableOptions;
use crate::expect::{fits, has};

fn document() -> Vec<Block> {
    let figures = |lines: [&str; 2], note: &str| {
        vec![Cell {
            lines: lines.map(Text::from).to_vec(),
            notes: vec![Text::from(note).tone(Tone::Quiet)],
        }]
    };
    let verdict = Text::of(Look::Tag, "differs").tone(Tone::Care);
    let with_notes = Row {
        id: "row-a".to_owned(),
        name: "a | b".into(),
        cells: vec![
            figures(
                ["25 ns", "40 cycles"],
                "a note of some length on the first of these figures",
            ),
            figures(["3 ns", ""], "`main` says <so>"),
        ],
        notes: vec![
            verdict.with(Look::Plain, "by 2 %."),
            Text::from("Likewise."),
        ],
        ..Row::default()
    };
    let table = |rows| Table {
        class: "stack",
        caption: "Costs".to_owned(),
        names: "operation".into(),
        columns: vec![Column::left("here"), Column::right("there")],
        rows,
    };
    let row = Text::of(Look::Code, "syscall.null{call=getppid}");
    vec![
        Block::heading(1, "A document"),
        Block::paragraph("Of all parts; `code` in it."),
        Block::List(vec!["One.".into(), "Another.".into()]),
        Block::Facts(vec![
            ("name".into(), "a fact".into()),
            (row, "another".into()),
        ]),
        Block::linked(2, "costs", "Costs"),
        Block::Table(table(vec![with_notes])),
        Block::Table(table(vec![Row::new(
            Text::of(Look::Link("#row-a".to_owned()), "a"),
            ["1", "22"],
        )])),
        Block::Details("more".into(), vec![Block::note("Few read this.")]),
        Block::Questions(vec!["Why?".into()]),
    ]
}

#[test]
fn a_document_in_a_terminal() {
    let options = TableOptions::of_width(80);
    let text = terminal(&document(), &options);
    assert_snapshot!(text);
    assert!(!text.contains("Few read this"));
    has(
        &terminal(&document(), &options.verbose(true)),
        &["Few read this"],
    );
    fits(&terminal(&document(), &TableOptions::of_width(60)), 60);
}

#[test]
fn a_document_as_markdown() {
    assert_snapshot!(markdown(&document(), None));
}

#[test]
fn a_document_as_a_page() {
    let page = html(&document()).into_string().replace("><", ">\n<");
    assert_snapshot!(page);
}

#[test]
fn a_table_has_parts_signs_and_reasons_in_place_of_cells() {
    let row = |name, place| Row {
        place,
        signs: vec!["few".to_owned(), "modes".to_owned()],
        ..Row::new(Text::of(Look::Case, name), ["1", "2"])
    };
    let block = Block::Table(Table {
        class: "stack",
        caption: "Costs".to_owned(),
        names: Text::of(Look::Strong, "fs"),
        columns: vec![Column::right("here"), Column::right("there")],
        rows: vec![
            row("read", Place::Row),
            row("size=4K", Place::Below),
            Row::heading(Text::of(Look::Strong, "net"), Place::Part),
            Row::new("sync", ["failed: a reason"]),
        ],
    });
    let page = html(std::slice::from_ref(&block)).into_string();
    let text = terminal(std::slice::from_ref(&block), &TableOptions::of_width(60));
    let all = [text, markdown(&[block], None), page.replace("><", ">\n<")];
    assert_snapshot!(all.join("\n"));
}

#[test]
fn no_name_brings_markup_into_markdown() {
    let text = |text: &str| markdown(&[Block::paragraph(text)], None);
    assert_eq!(text("a`<b>*c*|"), "a\\`&lt;b&gt;\\*c\\*\\|\n");
    assert_eq!(text("`<b>` and <b>"), "`<b>` and &lt;b&gt;\n");
}
