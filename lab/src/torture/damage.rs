//! Damaged documents and journals, such as no run writes.

use std::fs;

use anyhow::{Context, Result, ensure};
use fastrand::Rng;

use syscost_harness::session::journal::line;

use super::Tally;
use super::kills::resume;
use super::sandbox::Sandbox;

/// Replacements for a number.
const NUMBERS: [&str; 12] = [
    "1e308",
    "-1",
    "0",
    "1e-320",
    "-1e300",
    "18446744073709551616",
    "4294967296",
    "null",
    "\"x\"",
    "[]",
    "{}",
    "1e999",
];

/// Maximum number of damages to a document before it is read.
const MAX_DAMAGES: usize = 4;

/// Damaged documents, read by every command that reads one.
pub(super) fn of_documents(sandbox: &Sandbox, rng: &mut Rng, tally: &mut Tally) -> Result<()> {
    let whole = sandbox.file("whole.json");
    let whole = whole.to_string_lossy();
    if tally.tried == 0 {
        let run = format!(
            "run --profile quick --no-save -o {whole} syscall.null switch.pipe memory.latency op.integer"
        );
        let ending = sandbox.run(sandbox.command(&run))?;
        ensure!(ending.code() == Some(0), "no document: {}", ending.err);
    }
    let text = fs::read(&*whole).with_context(|| format!("reading {whole}"))?;
    let damaged = sandbox.file("damaged.json");
    fs::write(&damaged, self::damaged(&text, rng)).context("writing a document")?;
    let damaged = damaged.to_string_lossy();
    let page = sandbox.file("page.html");
    let (page, tables) = (page.to_string_lossy(), sandbox.file("tables"));
    let tables = tables.to_string_lossy();
    for command in [
        format!("show {damaged}"),
        format!("show -v {damaged}"),
        format!("numbers {damaged}"),
        format!("compare {whole} {damaged}"),
        format!("compare {damaged} {whole} -v --fail-on worse"),
        format!("report {damaged} -o {page}"),
        format!("plot {damaged} memory.latency -o {page}"),
        format!("export --format csv {damaged}"),
        format!("export --format parquet -o {tables} {damaged}"),
        format!("export --format openmetrics {damaged}"),
        format!("export --format bencher {damaged}"),
        format!("export --format ktap {damaged}"),
    ] {
        let ending = sandbox.run(sandbox.command(&command))?;
        tally.note(&command, ending.complaints());
    }
    Ok(())
}

/// Damaged journals, read by `--resume`.
pub(super) fn of_journals(sandbox: &Sandbox, rng: &mut Rng, tally: &mut Tally) -> Result<()> {
    let kept = sandbox.file("kept.journal");
    if tally.tried == 0 {
        // In a busy second it may come to too few records before its end.
        ensure!(
            (0..10).any(|_| is_killed(sandbox).unwrap_or(false)),
            "no journal could be had"
        );
        let journals = sandbox.journals();
        let journal = journals.first().context("the run has no journal")?;
        fs::rename(journal, &kept).context("keeping the journal")?;
    }
    let text = fs::read(&kept).context("reading the journal")?;
    let damaged = sandbox.file("syscost/journals/damaged.journal");
    let mut bytes = self::damaged(&text, rng);
    if rng.bool() {
        // Damage that no checksum detects.
        bytes = resealed(&bytes);
    }
    fs::write(&damaged, bytes).context("writing a journal")?;
    let ending = sandbox.run(resume(sandbox, &damaged.to_string_lossy()))?;
    let mut complaints = match ending.out.is_empty() {
        true => ending.complaints(),
        false => ending.complaints_of_run(),
    };
    complaints.extend(sandbox.leftovers());
    tally.note("run --resume", complaints);
    let _ = fs::remove_file(&damaged);
    Ok(())
}

/// Starts a run and kills it once it has some records: whether it had so many before its end. The
/// resumed run has a second.
fn is_killed(sandbox: &Sandbox) -> Result<bool> {
    sandbox
        .journals()
        .iter()
        .for_each(|path| drop(fs::remove_file(path)));
    let run = sandbox.command("run --profile quick --budget 2 --no-save syscall task.fork");
    let mut run = sandbox.start(run)?;
    while sandbox.journals().iter().all(|path| lines(path) < 9) {
        if run.child.try_wait()?.is_some() {
            return Ok(false);
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    run.kill()?;
    Ok(true)
}

fn lines(path: &std::path::Path) -> usize {
    let bytes = fs::read(path).unwrap_or_default();
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

/// The lines with checksums that match their contents.
fn resealed(journal: &[u8]) -> Vec<u8> {
    let lines = journal.split(|byte| *byte == b'\n');
    let json = lines.filter_map(|line| line.split(|byte| *byte == b'\t').next());
    json.flat_map(line::sealed).collect()
}

/// The text with some damages.
fn damaged(text: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut text = text.to_vec();
    for _ in 0..rng.usize(1..=MAX_DAMAGES) {
        if text.is_empty() {
            break;
        }
        let at = rng.usize(..text.len());
        let end = (at + rng.usize(1..200)).min(text.len());
        match rng.usize(..8) {
            0 => text[at] = rng.u8(..),
            1 => text.truncate(at),
            2 => drop(text.drain(at..end)),
            3 => {
                let again = text[at..end].to_vec();
                text.splice(at..at, again);
            }
            // Most of a document is numbers.
            _ => replace_number(&mut text, at, NUMBERS[rng.usize(..NUMBERS.len())]),
        }
    }
    text
}

/// Replaces the first number after `from`, if there is one.
fn replace_number(text: &mut Vec<u8>, from: usize, with: &str) {
    let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    // A value, not part of a word: it follows a character that a value follows.
    let begin = (from.max(1)..text.len()).find(|&at| {
        matches!(text[at], b'0'..=b'9' | b'-') && matches!(text[at - 1], b' ' | b':' | b',' | b'[')
    });
    if let Some(begin) = begin {
        let length = text[begin..]
            .iter()
            .take_while(|byte| is_part(byte))
            .count();
        text.splice(begin..begin + length, with.bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_replaced_as_a_whole() {
        let mut text = br#"{"a1": -1.5e3, "b": [7]}"#.to_vec();
        replace_number(&mut text, 0, "null");
        assert_eq!(text, br#"{"a1": null, "b": [7]}"#);
        replace_number(&mut text, 8, "{}");
        assert_eq!(text, br#"{"a1": null, "b": [{}]}"#);
        replace_number(&mut text, 20, "0");
        assert_eq!(text, br#"{"a1": null, "b": [{}]}"#);
    }

    #[test]
    fn damage_differs_and_is_the_same_of_the_same_seed() {
        let text = br#"{"schema_version": 3, "values": [1.5, 2.5, 3.5]}"#;
        let of = |seed| damaged(text, &mut Rng::with_seed(seed));
        assert_eq!(of(1), of(1));
        let different = (0..50).filter(|seed| of(*seed) != text).count();
        assert!(different > 40, "{different}");
    }
}
