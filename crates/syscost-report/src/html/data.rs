//! The details of the rows: numbers and texts that the page's script renders when a row is opened.
//!
//! As markup they would be three quarters of a page. Each text is stored once, and rows refer to it
//! by number.

use std::collections::HashMap;

use maud::{Markup, PreEscaped, html};
use serde_json::{Map, Value, json};
use syscost_results::{Fact, Measurement, Run};

use crate::flags::{self, Words};
use crate::sentence::{self, Mark};
use crate::units::Figures;
use crate::view::{Column, RowView};

use super::comparison::Changes;
use super::rows::{Row, Rows};
use super::{MAX_COLUMNS, PageOptions, details, letter, quantities, runs, words};

/// The id of the data element in the page.
const ID: &str = "data";

/// Texts, each stored once.
#[derive(Default)]
struct Texts {
    known: HashMap<String, usize>,
    all: Vec<Value>,
}

impl Texts {
    /// The number of a value, which is stored if it is new.
    fn number(&mut self, value: Value) -> usize {
        let next = self.all.len();
        let number = *self.known.entry(value.to_string()).or_insert(next);
        if number == next {
            self.all.push(value);
        }
        number
    }
}

/// The data of these rows, in their order.
pub(super) fn script(
    rows: &Rows<'_>,
    runs: &[&Run],
    changes: Option<&Changes<'_>>,
    options: &PageOptions<'_>,
) -> Markup {
    let (mut texts, mut claims) = (Texts::default(), Texts::default());
    let drawn: Vec<Value> = rows
        .groups()
        .flat_map(|(_, rows)| rows)
        .map(|row| {
            let mut fields = of(row, runs, options, &mut texts, &mut claims);
            let reasons = changes.map(|changes| changes.reasons(row.name));
            if let Some(reasons) = reasons.filter(|reasons| !reasons.is_empty()) {
                let numbers = reasons.into_iter().map(|line| texts.number(json!(line)));
                fields.insert("c".to_owned(), numbers.collect());
            }
            Value::Object(fields)
        })
        .collect();
    let names: Vec<Value> = runs
        .iter()
        .enumerate()
        .map(|(index, run)| {
            let key = (runs.len() <= MAX_COLUMNS).then(|| letter(index));
            json!([key, runs::place(run, runs)])
        })
        .collect();
    let data = json!({
        // What the filter finds a benchmark by besides its id: titles, and any other words that
        // readers may use.
        "words": found_by(rows),
        "flags": flags(rows),
        "texts": texts.all,
        "claims": claims.all,
        "runs": names,
        // What a chart that is saved says of its origin.
        "source": source(runs),
        "samples": options.samples,
        "rows": drawn,
    });
    html! { script type="application/json" id=(ID) { (PreEscaped(escaped(&data))) } }
}

/// The machine, day and program of each run that has a column.
fn source(runs: &[&Run]) -> String {
    let shown = runs.iter().filter(|_| runs.len() <= MAX_COLUMNS);
    let of = |run: &&Run| {
        let day = run.started.get(..10).unwrap_or(&run.started);
        let machine = [run.machine.cpu_model.trim(), &run.machine.kernel, day];
        let [model, kernel, day] = machine.map(sentence::fact);
        let version = sentence::fact(&run.tool.version);
        format!("{model}, {kernel}, {day}, syscost {version}")
    };
    let mut sources: Vec<String> = shown.map(of).collect();
    sources.dedup();
    sources.join("; ")
}

/// JSON that no text of a document can break out of: characters special to markup are written as
/// JSON escapes.
fn escaped(data: &Value) -> String {
    let mut out = String::new();
    for char in data.to_string().chars() {
        match char {
            '<' | '>' | '&' | '\'' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(char)));
            }
            other => out.push(other),
        }
    }
    out
}

/// The words by which the rows of each benchmark are found, by its id.
fn found_by(rows: &Rows<'_>) -> Map<String, Value> {
    let all = rows.groups().flat_map(|(_, rows)| rows);
    all.map(|row| (row.id().to_owned(), Value::from(row.latest.title.clone())))
        .collect()
}

/// What the flags mean, by their short names.
fn flags(rows: &Rows<'_>) -> Map<String, Value> {
    let all = rows.groups().flat_map(|(_, rows)| rows);
    let measured = all.flat_map(|row| row.of_runs.iter().flatten().copied());
    measured
        .filter(|row| Figures::of(row).is_some())
        .flat_map(|row| &row.flags)
        .map(|flag| {
            let Words { name, meaning, .. } = flags::words(*flag);
            (name.to_owned(), Value::from(meaning))
        })
        .collect()
}

/// A row: title, reason, evidence, flags, facts, runs, pictures, by their first letters (its change
/// is `c`); empty fields are left out.
fn of(
    row: &Row<'_>,
    runs: &[&Run],
    options: &PageOptions<'_>,
    texts: &mut Texts,
    claims: &mut Texts,
) -> Map<String, Value> {
    let latest = row.latest;
    let mut fields = Map::new();
    fields.insert("t".to_owned(), json!(texts.number(json!(latest.title))));
    match Figures::of(latest) {
        None => {
            let reason = json!(texts.number(json!(sentence::no_number(latest))));
            fields.insert("r".to_owned(), reason);
        }
        Some(_) => {
            let shorts = latest.flags.iter().map(|flag| flags::words(*flag).name);
            fields.insert("g".to_owned(), shorts.collect());
            let mut facts: Vec<Value> = vec![json!(sentence::samples(latest))];
            for (name, value) in notes(latest) {
                facts.extend([json!(texts.number(json!(name))), json!(value)]);
            }
            fields.insert("f".to_owned(), json!(facts));
        }
    }
    fields.insert("e".to_owned(), evidence(latest, claims));
    if runs.len() > 1 {
        let columns = runs.len() <= MAX_COLUMNS;
        let each = row.of_runs.iter().map(|row| by_run(*row, columns));
        fields.insert("b".to_owned(), each.collect());
    }
    let pictures = details::pictures(row, runs, options.samples).into_string();
    fields.insert("p".to_owned(), json!(pictures));
    fields
        .retain(|_, value| !matches!(value, Value::Array(list) if list.is_empty()) && value != "");
    fields
}

/// Each claim by its number, followed by what was observed.
fn evidence(row: &Measurement, claims: &mut Texts) -> Value {
    let pairs = row.evidence.iter().flat_map(|one| {
        let mark = Mark::of(std::slice::from_ref(one));
        let claim = json!([
            words::class(mark),
            one.claim.sentence,
            one.expected.as_ref().map(Fact::to_string),
            one.source,
            one.reason.as_deref().unwrap_or_default()
        ]);
        let observed = one.observed.as_ref().map(quantities::observed);
        [json!(claims.number(claim)), json!(observed)]
    });
    pairs.collect()
}

/// A row's figures in a run: null if the run lacks the row, the reason if there are no figures.
fn by_run(row: Option<&Measurement>, all: bool) -> Value {
    let Some(row) = row else {
        return Value::Null;
    };
    let Some(figures) = Figures::of(row) else {
        return json!(sentence::no_number(row));
    };
    let median = format!("{} {}", figures.with_half_width(), figures.unit);
    let sign = Mark::of(&row.evidence).sign();
    match all {
        false => json!([median.trim_end(), sign]),
        true => {
            let flags: Vec<&str> = words::shown_flags(row)
                .map(|flag| flags::words(flag).name)
                .collect();
            let cycles = RowView::of(row).cell(Column::Cycles).text;
            json!([
                median.trim_end(),
                sign,
                figures.best,
                cycles,
                flags.join(", ")
            ])
        }
    }
}

/// The interval of a row, and its numbers that have no column.
fn notes(row: &Measurement) -> Vec<(String, String)> {
    let mut facts: Vec<(String, String)> = Vec::new();
    let shown = row.shown();
    let view = RowView::of(row);
    // Below resolution, nothing but the bound may be shown.
    if view.value.is_some() {
        let interval = view.cell(Column::Interval).text;
        facts.push((
            "95 % interval".to_owned(),
            match interval.is_empty() {
                true => "none".to_owned(),
                false => interval,
            },
        ));
    }
    let more = sentence::without_column(row.unit, &shown.estimate).into_iter();
    facts.extend(more.map(|(name, value)| (name.to_owned(), value)));
    facts.extend(sentence::undisturbed(row).and_then(|text| {
        let (name, value) = text.split_once(' ')?;
        Some((name.to_owned(), value.to_owned()))
    }));
    facts.extend(sentence::own_limit(row).and_then(|text| {
        let (name, value) = text.split_once(": ")?;
        Some((name.to_owned(), value.to_owned()))
    }));
    facts.extend(sentence::states(row).and_then(|text| {
        let (name, value) = text.split_once(": ")?;
        Some((name.to_owned(), value.to_owned()))
    }));
    let details = shown.details.iter();
    facts.extend(details.map(|(name, value)| quantities::detail(name, *value)));
    facts
}
