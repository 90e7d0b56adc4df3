//! The rows that price what a program asks for, and their measurement.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result};
use syscost_benches::CATALOGUE;
use syscost_benches::bill::basket::{Ended, PriceBound, Use as Used, price_of};
use syscost_harness::session::{Options, Profile, Session};
use syscost_harness::worker::Program;
use syscost_harness::{Catalogue, Row, Testbed};
use syscost_params::{Bytes, Value};
use syscost_results::Run;
use syscost_results::bill::{Bill, DISPLACED, PAGE_FAULT, PricedBy, Use};
use syscost_store::Store;

use crate::cli::BillArguments;
use crate::progress::Progress;

/// How long one price may take, in all that precedes it.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// A use with the rows that price it.
pub(super) fn with_rows(one: Use) -> Use {
    let is_fault = one.name == PAGE_FAULT;
    let number: u64 = one.counts.iter().sum();
    let of = Used {
        call: if is_fault { "page_fault" } else { &one.name },
        variant: one.variant.as_deref().map(|name| known(VARIANTS, name)),
        on: one.on.as_deref().map(|name| known(OBJECTS, name)),
        ended: match one.failed.as_deref() {
            None => Ended::Ok,
            Some("never returned") => Ended::Never,
            Some(error) => Ended::Error(error),
        },
        bytes: one
            .size
            .map(|_| one.bytes.iter().sum::<u64>() / number.max(1)),
    };
    let Some(priced) = price_of(&of) else {
        return one;
    };
    let by = priced.parts.iter().map(|part| PricedBy {
        row: part.benchmark().to_owned(),
        of: part.value.to_owned(),
        times: part.weight,
        is_of_files: part.is_of_files(),
    });
    Use {
        priced_by: by.collect(),
        is_lower_bound: priced.bound == PriceBound::LowerBound,
        ..one
    }
}

/// What the counts call something, and what the basket does.
type Names = &'static [(&'static str, &'static str)];

const VARIANTS: Names = &[
    ("private file", "file"),
    ("duplicate", "dup"),
    ("writable file", "file_write"),
    ("vDSO", "file"),
    ("heap", "anonymous"),
];

const OBJECTS: Names = &[
    ("TCP socket", "tcp"),
    ("UNIX socket", "unix"),
    ("other socket", "socket"),
    ("character device", "device"),
];

fn known(names: Names, name: &str) -> &str {
    let found = names.iter().find(|(counted, _)| *counted == name);
    found.map_or(name, |(_, basket)| basket)
}

/// The least share of all entries into the kernel of which the price is measured; tasks are always.
const LEAST: f64 = 0.001;

/// The rows that price a program, each in the columns that may apply.
pub(super) fn rows(bill: &Bill) -> Vec<Row> {
    let least = LEAST * bill.entries();
    let matters =
        |one: &&Use| one.mean() >= least || one.priced_by.iter().any(|by| by.row == "bill.task");
    let rows = bill
        .uses
        .iter()
        .filter(matters)
        .flat_map(|one| &one.priced_by);
    let null = PricedBy::of_null_call();
    let rows = rows.chain([&null]);
    let wanted: BTreeSet<(&str, &str)> = rows.map(|by| (&*by.row, &*by.of)).collect();
    let columns: Vec<String> = bill
        .possible_columns()
        .map(|column| format!("{DISPLACED}={}}}", Bytes(column).text()))
        .collect();
    let all = CATALOGUE.all();
    let of_bill = all.filter(|one| one.group() == "bill");
    let rows = Catalogue::rows(of_bill, &Testbed::plain());
    let is_wanted = |row: &Row| {
        let name = row.name();
        let is_priced = |(id, of): &(&str, &str)| {
            name.starts_with(&format!("{id}{{")) && name.contains(&format!("={of},"))
        };
        columns.iter().any(|column| name.ends_with(column)) && wanted.iter().any(is_priced)
    };
    rows.into_iter().filter(is_wanted).collect()
}

/// Measures these rows.
///
/// # Errors
/// The session cannot begin.
pub(super) fn measured(
    rows: Vec<Row>,
    arguments: &BillArguments,
    store: &Store,
    interrupted: &AtomicBool,
) -> Result<Run> {
    let program = Program::this().context("finding this program's own file")?;
    let options = Options {
        budget: Some(arguments.budget),
        known_cores: Some(store.known_cores()),
        tag: arguments.tag.clone(),
        selectors: vec!["bill".to_owned()],
        profile: Profile::Quick,
        ..Options::quick(program, TIME_LIMIT, crate::VERSION)
    };
    let mut progress = Progress::new("bill");
    let mut session = Session::new(rows, &options, &mut progress, interrupted)?;
    session.measure(&mut progress);
    progress.done();
    let [finished] = session.finish(true);
    if let Some(journal) = finished.journal {
        journal.remove();
    }
    Ok(finished.run)
}
