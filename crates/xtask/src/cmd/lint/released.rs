//! Each row of the last release is still there, or is listed as renamed or gone: kept runs are compared by the
//! names of their rows.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use syscost_benches::CATALOGUE;
use syscost_results::renamed::{GONE, RENAMED};
use syscost_results::row_name::{id, parameters};

use super::Finding;
use xtask::workspace;

/// The benchmarks of the last release with their parameters in order, a line each.
const RELEASED: &str = include_str!("released.txt");
/// Where renamed rows are listed.
pub(super) const TABLE: &str = "crates/syscost-results/src/renamed.rs";

/// Writes today's benchmarks as those of the last release: a step of making one.
pub(crate) fn write() -> Result<()> {
    let path = workspace::root().join("crates/xtask/src/cmd/lint/released.txt");
    let lines = today().into_iter().map(|(id, keys)| line(id, &keys));
    let text: String = lines.map(|line| line + "\n").collect();
    std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))
}

/// The benchmarks of today, by id, with the parameters of their rows' names.
fn today() -> BTreeMap<&'static str, Vec<&'static str>> {
    let all = CATALOGUE.benchmarks();
    all.map(|one| (one.id, one.parameters.iter().map(|(key, _)| *key).collect()))
        .collect()
}

fn line(id: &str, keys: &[&str]) -> String {
    [&[id], keys].concat().join(" ")
}

pub(super) fn findings() -> Vec<Finding> {
    let renamed = RENAMED
        .iter()
        .map(|one| (pattern(one.was), pattern(one.now)));
    let renamed: Vec<(String, String)> = renamed.collect();
    let gone: Vec<&str> = GONE.iter().map(|(id, _)| *id).collect();
    let today: Vec<String> = today()
        .into_iter()
        .map(|(id, keys)| line(id, &keys))
        .collect();
    let lost = RELEASED
        .lines()
        .filter(|one| !is_kept(one, &renamed, &gone, &today));
    let of_line = |one: &str| {
        let message = format!(
            "rows of `{one}` (id and parameters of the last release) have other names today: list the new ones in RENAMED, or \
             what to use instead in GONE"
        );
        Finding::new(Path::new(TABLE), 1, message)
    };
    lost.map(of_line).collect()
}

/// A row's name as a line of the list.
fn pattern(name: &str) -> String {
    let keys: Vec<&str> = parameters(name).map(|(key, _)| key).collect();
    line(id(name), &keys)
}

/// Whether rows of this line are measured under the same names, or it is said what became of them.
fn is_kept(released: &str, renamed: &[(String, String)], gone: &[&str], today: &[String]) -> bool {
    let now = renamed
        .iter()
        .fold(released.to_owned(), |line, (was, now)| match *was == line {
            true => now.clone(),
            false => line,
        });
    let id = now.split(' ').next().unwrap_or_default();
    today.contains(&now) || gone.contains(&id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_more_or_a_benchmark_less_is_noticed_unless_it_is_listed() {
        let today = ["fs.read size cache".to_owned(), "call.near".to_owned()];
        let renamed = [("fs.read size".to_owned(), "fs.read size cache".to_owned())];
        let is_kept =
            |released, renamed: &[_]| is_kept(released, renamed, &["task.clone3"], &today);
        assert!(!is_kept("fs.read size", &[]));
        assert!(is_kept("fs.read size", &renamed));
        assert!(is_kept("call.near", &[]) && is_kept("task.clone3 until", &[]));
        assert!(!is_kept("call.far", &renamed));
        assert_eq!(pattern("fs.read{size=$size,cache=warm}"), today[0]);
    }
}
