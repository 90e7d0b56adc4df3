//! The rows that price what a program asks for, and their measurement.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result};
use syscost_benches::CATALOGUE;
use syscost_harness::session::{Options, Profile};
use syscost_harness::worker::Program;
use syscost_harness::{Catalogue, Row, Testbed};
use syscost_params::{Bytes, Value};
use syscost_results::Run;
use syscost_results::bill::{Bill, DISPLACED, PricedBy, Use};
use syscost_store::Store;

use crate::cli::BillArguments;
use crate::progress::Progress;

/// How long one price may take, in all that precedes it.
const TIME_LIMIT: Duration = Duration::from_secs(10);

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
    let mut options = Options {
        budget: Some(arguments.budget),
        known_cores: Some(store.known_cores()),
        tag: arguments.tag.clone(),
        selectors: vec!["bill".to_owned()],
        profile: Profile::Quick,
        ..Options::quick(program, TIME_LIMIT, crate::VERSION)
    };
    if let Some(directory) = &arguments.dir {
        options.here.targets.directories = vec![directory.clone()];
    }
    crate::cmd::measured(rows, &options, Progress::new("bill"), interrupted)
}
