//! The table `measurements` of a fleet: one line per row of a run, with what a judgement needs.
//!
//! The rest of a row is in its document, which the table `documents` keeps.

use std::iter::repeat_n;

use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
use parquet::errors::ParquetError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use syscost_report::export::{ExportError, started_us, word};
use syscost_results::document::{Digest, DigestRow};
use syscost_results::{Estimate, Flag, Status, Verdict, row_name};

use super::column::{Group, Table, Values};
use super::fitting;

/// The lines of a run. As everywhere, a row has only the numbers that its status allows.
pub(super) fn table(digest: &Digest) -> Result<Table, ExportError> {
    let rows = &digest.rows;
    let shared = |text: &str| {
        let text = Some(ByteArray::from(text.as_bytes().to_vec()));
        Values::Text(repeat_n(text, rows.len()).collect())
    };
    let number = |of: fn(&DigestRow) -> Option<f64>| Values::Double(rows.iter().map(of).collect());
    let count = |name, of: fn(&DigestRow) -> u32| {
        let fit = |row| fitting(&digest.id, name, of(row).into()).map(Some);
        let values = rows.iter().map(fit).collect::<Result<_, ExportError>>();
        values.map(|values| (name, Values::Int(values)))
    };
    let started = started_us(&digest.id, &digest.started)?;
    Ok(vec![
        ("run", shared(&digest.id)),
        ("started", Values::Time(vec![Some(started); rows.len()])),
        ("hostname", shared(&digest.machine.hostname)),
        (
            "name",
            Values::text(rows.iter().map(|row| Some(row.name.clone()))),
        ),
        ("id", {
            let id = |row: &DigestRow| Some(row_name::id(&row.name).to_owned());
            Values::text(rows.iter().map(id))
        }),
        count("revision", |row| row.revision)?,
        ("unit", words(rows, |row| row.unit, |unit| word(&unit))),
        (
            "better",
            words(rows, |row| row.better, |better| word(&better)),
        ),
        (
            "status",
            words(rows, |row| row.status, |status| word(&status)),
        ),
        (
            "reason",
            Values::text(rows.iter().map(|row| row.reason.clone())),
        ),
        (
            "median",
            number(|row| of_status(row, &[Status::Ok], row.estimate.median)),
        ),
        (
            "ci95_low",
            number(|row| {
                of_status(
                    row,
                    &[Status::Ok, Status::AboveRange],
                    row.estimate.ci95_low,
                )
            }),
        ),
        (
            "ci95_high",
            number(|row| {
                let bounded = [Status::Ok, Status::BelowResolution];
                of_status(row, &bounded, row.estimate.ci95_high)
            }),
        ),
        (
            "core_cycles",
            number(|row| of_status(row, &[Status::Ok], row.core_cycles)),
        ),
        count("rounds", |row| row.estimate.rounds)?,
        (
            "undisturbed_percent",
            number(|row| {
                row.estimate
                    .undisturbed_percent
                    .filter(|_| row.status.has_figures())
            }),
        ),
        ("flags", words(rows, |row| &row.flags[..], flags_word)),
        ("evidence", words(rows, |row| row.verdict, verdict_word)),
    ])
}

fn of_status(row: &DigestRow, allowing: &[Status], number: Option<f64>) -> Option<f64> {
    number.filter(|_| allowing.contains(&row.status))
}

/// A column of words of which there are few: each is made once.
fn words<'r, T: PartialEq + Copy>(
    rows: &'r [DigestRow],
    of: fn(&'r DigestRow) -> T,
    word: fn(T) -> String,
) -> Values {
    let mut known: Vec<(T, ByteArray)> = Vec::new();
    let words = rows.iter().map(|row| {
        let value = of(row);
        if let Some((_, word)) = known.iter().find(|(one, _)| *one == value) {
            return Some(word.clone());
        }
        let word = ByteArray::from(word(value).into_bytes());
        known.push((value, word.clone()));
        Some(word)
    });
    Values::Text(words.collect())
}

fn flags_word(flags: &[Flag]) -> String {
    let flags: Vec<String> = flags.iter().map(word).collect();
    flags.join(" ")
}

/// The verdict in the words of every export.
fn verdict_word(verdict: Verdict) -> String {
    word(&verdict).to_lowercase()
}

/// The rows of a row group, each with the id of its run, in the order of the file.
pub(super) fn rows(group: &Group<'_>) -> Result<Vec<([ByteArray; 2], DigestRow)>, ParquetError> {
    let mut names = group.column::<ByteArrayType>("name")?.into_iter();
    let mut revisions = group.column::<Int32Type>("revision")?.into_iter();
    let mut units = Words::new(group, "unit", parsed)?;
    let mut better = Words::new(group, "better", parsed)?;
    let mut statuses = Words::new(group, "status", parsed)?;
    let mut reasons = group.column::<ByteArrayType>("reason")?.into_iter();
    let mut medians = group.column::<DoubleType>("median")?.into_iter();
    let mut lows = group.column::<DoubleType>("ci95_low")?.into_iter();
    let mut highs = group.column::<DoubleType>("ci95_high")?.into_iter();
    let mut cycles = group.column::<DoubleType>("core_cycles")?.into_iter();
    let mut rounds = group.column::<Int32Type>("rounds")?.into_iter();
    let mut undisturbed = group
        .column::<DoubleType>("undisturbed_percent")?
        .into_iter();
    let mut flags = Words::new(group, "flags", |words| {
        words.split_whitespace().map(parsed).collect()
    })?;
    let mut verdicts = Words::new(group, "evidence", |word| match word {
        "confirmed" => Some(Verdict::Confirmed),
        "unverified" => Some(Verdict::Unverified),
        "refuted" => Some(Verdict::Refuted),
        _ => None,
    })?;
    let mut hosts = group.column::<ByteArrayType>("hostname")?.into_iter();
    let runs = group.column::<ByteArrayType>("run")?;
    let mut rows = Vec::with_capacity(runs.len());
    for run in runs {
        let lacks = |what: &str| ParquetError::General(format!("a row has no {what}"));
        let name = names.next().flatten().ok_or_else(|| lacks("name"))?;
        let reason = match reasons.next().flatten() {
            Some(reason) => Some(reason.as_utf8()?.to_owned()),
            None => None,
        };
        let count = |counts: &mut dyn Iterator<Item = Option<i32>>| {
            counts.next().flatten().and_then(|n| u32::try_from(n).ok())
        };
        let row = DigestRow {
            name: name.as_utf8()?.to_owned(),
            revision: count(&mut revisions).ok_or_else(|| lacks("revision"))?,
            unit: units.next()?,
            better: better.next()?,
            status: statuses.next()?,
            reason,
            estimate: Estimate {
                median: medians.next().flatten(),
                ci95_low: lows.next().flatten(),
                ci95_high: highs.next().flatten(),
                undisturbed_percent: undisturbed.next().flatten(),
                rounds: count(&mut rounds).ok_or_else(|| lacks("rounds"))?,
                ..Estimate::default()
            },
            core_cycles: cycles.next().flatten(),
            flags: flags.next()?,
            verdict: verdicts.next()?,
        };
        let host = hosts.next().flatten().unwrap_or_default();
        rows.push(([run.ok_or_else(|| lacks("run"))?, host], row));
    }
    Ok(rows)
}

/// The value that the run document writes as this word.
fn parsed<T: DeserializeOwned + Serialize>(word: &str) -> Option<T> {
    serde_json::from_value(word.into()).ok()
}

/// A column of words, each understood once.
struct Words<T> {
    column: &'static str,
    words: std::vec::IntoIter<Option<ByteArray>>,
    known: Vec<(ByteArray, T)>,
    value: fn(&str) -> Option<T>,
}

impl<T: Clone> Words<T> {
    fn new(
        group: &Group<'_>,
        column: &'static str,
        value: fn(&str) -> Option<T>,
    ) -> Result<Self, ParquetError> {
        Ok(Self {
            column,
            words: group.column::<ByteArrayType>(column)?.into_iter(),
            known: Vec::new(),
            value,
        })
    }

    fn next(&mut self) -> Result<T, ParquetError> {
        let word = self.words.next().flatten().unwrap_or_default();
        if let Some((_, value)) = self.known.iter().find(|(one, _)| *one == word) {
            return Ok(value.clone());
        }
        let text = word.as_utf8()?;
        let value = (self.value)(text).ok_or_else(|| {
            let (column, text) = (self.column, text.escape_debug());
            ParquetError::General(format!(
                "{column} is `{text:.40}`, which means nothing here"
            ))
        })?;
        self.known.push((word, value.clone()));
        Ok(value)
    }
}
