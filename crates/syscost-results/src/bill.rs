//! What a program asks of the kernel, and what that costs: `syscost bill`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Add;

use serde::{Deserialize, Serialize};

use crate::{Run, Status};
use syscost_params::{Bytes, Value};
use syscost_stats::order::median;

/// What a program asks of the kernel.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bill {
    /// The program with its arguments, as a row's name would have it
    /// ([`row_value`](crate::commands::row_value)).
    pub command: String,
    /// Time on CPUs of each run in which nothing was counted, in ns, of all that it started, too.
    pub cpu_ns: Vec<f64>,
    /// Elapsed time of the same runs, in ns.
    pub wall_ns: Vec<f64>,
    /// What it asked for, by name.
    pub uses: Vec<Use>,
    /// Claims of the counts that are refuted, in sentences: then nothing is priced or compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refuted: Vec<String>,
    /// What is not known, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// System calls of one more run, as the kernel counts them where no tracer is; null where it does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untraced_calls: Option<u64>,
    /// Where its CPU time went, by samples; null where these are not allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Sampled>,
}

/// One kind of what a program asks for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Use {
    /// The system call by its name; `page fault`, `context switch`.
    pub name: String,
    /// What its flags make of it: `create` of openat, `thread` of clone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// What kind of object it acts on: `file`, `pipe`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// The error that it ended with, `ENOENT`, or `never returned`; null if it succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// Bytes of each that it moves or maps, at most: the upper end of a class; null for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// How often in each counted run.
    pub counts: Vec<u64>,
    /// Bytes that all of them moved or mapped, in each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bytes: Vec<u64>,
    /// The rows that price one, each how often; none where nothing does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub priced_by: Vec<PricedBy>,
    /// Whether one costs more than these rows: they are of another, cheaper operation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_lower_bound: bool,
}

/// A row in a price.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PricedBy {
    /// The row's id, and what it is of: `bill.call` and `stat`.
    pub row: String,
    /// See `row`.
    pub of: String,
    /// How many of it cost as much as one.
    pub times: f64,
    /// Whether it is an operation on files, whose price is that of a file system and its state.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_of_files: bool,
}

/// Where a program's CPU time went, by samples of what it executed in runs of their own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sampled {
    /// Number of samples.
    pub samples: u64,
    /// CPU time of each sampled run, in ns.
    pub cpu_ns: Vec<f64>,
    /// Share of the samples in the program itself, 0 to 1.
    pub user: f64,
    /// Share by what entered the kernel: the name of a call, `page fault`, `interrupt`, `entry`.
    pub kernel: BTreeMap<String, SampledKind>,
}

/// What samples show of one kind of entry into the kernel.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampledKind {
    /// Share of all samples, 0 to 1.
    pub share: f64,
    /// The kernel's functions in which most of them were, with their shares of all samples.
    pub functions: Vec<(String, f64)>,
}

/// How often something happened in each counted run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// In the run with fewest.
    pub low: u64,
    /// In the run with most.
    pub high: u64,
}

impl Range {
    /// Of counts of each run; none where there are none.
    fn of(counts: &[u64]) -> Self {
        let [low, high] = [counts.iter().min(), counts.iter().max()];
        let [low, high] = [low, high].map(|end| end.copied().unwrap_or(0));
        Range { low, high }
    }

    /// Of what several have together in each run.
    fn of_sums<'c>(all: impl Iterator<Item = &'c [u64]>) -> Self {
        let mut sums = Vec::new();
        for counts in all {
            add(&mut sums, counts);
        }
        Range::of(&sums)
    }

    /// Whether each run had as many.
    pub fn is_exact(self) -> bool {
        self.low == self.high
    }
}

/// Writes `1,007 to 1,009`.
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&grouped(self.low))?;
        match self.is_exact() {
            true => Ok(()),
            false => write!(f, " to {}", grouped(self.high)),
        }
    }
}

/// A number as `34,303`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|group| str::from_utf8(group).ok())
        .collect();
    groups.join(",")
}

/// Adds the counts of each run.
fn add(sums: &mut Vec<u64>, counts: &[u64]) {
    sums.resize(sums.len().max(counts.len()), 0);
    for (sum, count) in sums.iter_mut().zip(counts) {
        *sum += count;
    }
}

impl Use {
    /// How often in a run, on average.
    pub fn mean(&self) -> f64 {
        self.counts.iter().sum::<u64>() as f64 / self.counts.len().max(1) as f64
    }

    /// Bytes that one moves or maps, on average; `None` of those that do neither.
    pub fn mean_bytes(&self) -> Option<u64> {
        let number: u64 = self.counts.iter().sum();
        self.size
            .map(|_| self.bytes.iter().sum::<u64>() / number.max(1))
    }

    /// What it is, in words: `openat create of a file: ENOENT`.
    pub fn words(&self) -> String {
        let mut words = self.name.clone();
        for part in [&self.variant, &self.on].into_iter().flatten() {
            // A `private file` is one on which it acts, too.
            if !words.ends_with(part) {
                words = format!("{words} {part}");
            }
        }
        match &self.failed {
            Some(failed) => format!("{words}: {failed}"),
            None => words,
        }
    }
}

/// How much of the user's own data is displaced from caches between two operations of a row, as its name has
/// it: the columns of a price list.
pub const DISPLACED: &str = "displaced";

/// A price list: what one operation costs, by row, what it is of, and the column.
#[derive(Debug, Clone, Default)]
pub struct PriceList(BTreeMap<(String, String), BTreeMap<u64, f64>>);

impl PriceList {
    /// The prices that a run has measured.
    pub fn of(run: &Run) -> Self {
        let mut all = Self::default();
        for row in run
            .measurements
            .iter()
            .filter(|row| row.status == Status::Ok)
        {
            let displaced = row.case.get(DISPLACED).and_then(|text| Bytes::read(text));
            let of = row.case.iter().find(|(name, _)| *name != DISPLACED);
            if let Some(((Bytes(displaced), (_, of)), ns)) =
                displaced.zip(of).zip(row.estimate.median)
            {
                let key = (row.id.clone(), of.clone());
                all.0.entry(key).or_default().insert(displaced, ns);
            }
        }
        all
    }

    /// The columns that it has: bytes that are displaced.
    pub fn columns(&self) -> BTreeSet<u64> {
        self.0.values().flat_map(BTreeMap::keys).copied().collect()
    }

    /// What one costs in this column, in ns; of a row that lacks it, in the nearest that is smaller.
    pub fn price(&self, one: &Use, displaced: u64) -> Option<f64> {
        let rows = one.priced_by.iter().map(|by| {
            let row = self.0.get(&(by.row.clone(), by.of.clone()))?;
            let (_, ns) = row.range(..=displaced).next_back()?;
            Some(ns * by.times)
        });
        let prices: Option<Vec<f64>> = rows.collect();
        prices
            .filter(|all| !all.is_empty())
            .map(|all| all.iter().sum())
    }

    /// What all costs in this column, in ns, as far as it is priced.
    pub fn total(&self, bill: &Bill, displaced: u64) -> f64 {
        let uses = bill.uses.iter();
        uses.filter_map(|one| Some(self.price(one, displaced)? * one.mean()))
            .sum()
    }
}

/// Of how much user time between two entries into the kernel on which bytes are displaced, from the shortest:
/// the ns from which on a column applies, and the column. A program that works for 6 us (gcc) or 12 us
/// (Python) pays some 1.5 to 1.9 times the price of a warm loop, as rows with 256 KiB to 1 MiB displaced do;
/// one that works for 0.6 us (git, find) pays what a loop does (docs/bill.md, "Which column").
const COLUMNS: [(f64, u64); 4] = [
    (0.0, 0),
    (1.5e3, 64 << 10),
    (4e3, 256 << 10),
    (1e4, 1 << 20),
];

/// The column that applies where a program works for so long between two entries.
fn column_of(between_ns: f64) -> u64 {
    let reached = COLUMNS.iter().rev().find(|(ns, _)| between_ns >= *ns);
    reached.map_or(0, |(_, column)| *column)
}

/// All that a program does of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Account<'b> {
    /// The call by its name; `page fault`.
    pub name: &'b str,
    /// Its uses, which cost most first.
    pub uses: Vec<(&'b Use, Option<f64>)>,
    /// How often, from run to run.
    pub range: Range,
    /// What all cost together, in ns, as far as they are priced.
    pub priced_ns: Option<f64>,
    /// Whether a price is of another, cheaper operation, or missing.
    pub is_lower_bound: bool,
    /// What samples say they cost, in ns.
    pub sampled_ns: Option<f64>,
}

impl Account<'_> {
    /// What it costs, in ns: the larger of what is known of that.
    pub fn weight_ns(&self) -> f64 {
        let known = self.sampled_ns.into_iter().chain(self.priced_ns);
        known.fold(0.0, f64::max)
    }
}

impl PricedBy {
    /// By the call that does nothing.
    pub fn of_null_call() -> Self {
        PricedBy {
            row: "bill.call".to_owned(),
            of: "null".to_owned(),
            times: 1.0,
            is_of_files: false,
        }
    }
}

impl Bill {
    /// How many system calls it makes in a run.
    pub fn calls(&self) -> f64 {
        let calls = self.uses.iter().filter(|one| is_call(&one.name));
        calls.map(Use::mean).sum()
    }

    /// The CPU time of a run that nothing counted, in ns.
    pub fn cpu(&self) -> Option<f64> {
        median(&self.cpu_ns)
    }

    /// How often it enters the kernel in a run.
    pub fn entries(&self) -> f64 {
        let entries = self.uses.iter().filter(|one| one.name != SWITCH);
        entries.map(Use::mean).sum()
    }

    /// The time that it spends in the kernel by samples, in ns.
    pub fn sampled_kernel_ns(&self) -> Option<f64> {
        Some((1.0 - self.sampled.as_ref()?.user) * self.cpu()?)
    }

    /// How long it works for itself between two entries into the kernel, in ns: in the rest of its time, by
    /// samples or else by what is priced.
    pub fn between_entries_ns(&self, prices: &PriceList) -> Option<f64> {
        let kernel = self.sampled_kernel_ns();
        let kernel = kernel.unwrap_or_else(|| prices.total(self, 0));
        Some((self.cpu()? - kernel).max(0.0) / self.entries().max(1.0))
    }

    /// The column of a price list that applies to it.
    pub fn column(&self, prices: &PriceList) -> u64 {
        let between = self.between_entries_ns(prices).unwrap_or(0.0);
        let there = prices.columns();
        there
            .range(..=column_of(between))
            .next_back()
            .copied()
            .unwrap_or(0)
    }

    /// The columns that may apply to it, before a price is known: up to that of a program that works for all
    /// of its CPU time.
    pub fn possible_columns(&self) -> impl Iterator<Item = u64> {
        let most = column_of(self.cpu().unwrap_or(0.0) / self.entries().max(1.0));
        let all = COLUMNS.iter().map(|(_, column)| *column);
        all.filter(move |column| *column <= most)
    }

    /// What it does by kind at the prices of this column, what costs most first.
    pub fn accounts(&self, prices: &PriceList, displaced: u64) -> Vec<Account<'_>> {
        let mut by_name: BTreeMap<&str, Vec<(&Use, Option<f64>)>> = BTreeMap::new();
        for one in &self.uses {
            let price = prices.price(one, displaced);
            let costs = price.map(|price| price * one.mean());
            by_name.entry(&one.name).or_default().push((one, costs));
        }
        let cpu = self.cpu();
        // By the number of calls what serves several: the way in and out, which is the same for each, too.
        let sampled = |name: &str, number: f64| {
            let kernel = &self.sampled.as_ref()?.kernel;
            let serving = || kernel.iter().filter(|(kind, _)| serves(kind, name));
            // Of the way alone too little would follow.
            serving().find(|(kind, _)| *kind != ENTRY)?;
            let parts = serving().map(|(kind, found)| {
                let served = self.uses.iter().filter(|one| serves(kind, &one.name));
                found.share * number / served.map(Use::mean).sum::<f64>()
            });
            Some(parts.reduce(Add::add)? * cpu?)
        };
        let accounts = by_name.into_iter().map(|(name, mut uses)| {
            let value = |costs: Option<f64>| costs.unwrap_or(0.0);
            uses.sort_by(|one, other| {
                value(other.1)
                    .total_cmp(&value(one.1))
                    .then_with(|| other.0.mean().total_cmp(&one.0.mean()))
            });
            let priced: Vec<f64> = uses.iter().filter_map(|(_, costs)| *costs).collect();
            Account {
                range: Range::of_sums(uses.iter().map(|(one, _)| &one.counts[..])),
                priced_ns: (!priced.is_empty()).then(|| priced.iter().sum()),
                is_lower_bound: uses
                    .iter()
                    .any(|(one, costs)| one.is_lower_bound || costs.is_none()),
                sampled_ns: sampled(name, uses.iter().map(|(one, _)| one.mean()).sum()),
                name,
                uses,
            }
        });
        let mut accounts: Vec<Account<'_>> = accounts.collect();
        accounts.sort_by(|one, other| {
            let by_cost = other.weight_ns().total_cmp(&one.weight_ns());
            by_cost.then_with(|| other.range.high.cmp(&one.range.high))
        });
        accounts
    }
}

/// What a program asks for, at the prices of two machines: only what both price, and no work on files, whose
/// price is that of a file system and of what is in it. Each pair is here and there, in ns.
#[derive(Debug, Clone, PartialEq)]
pub struct Elsewhere<'b> {
    /// What all of it costs in the column that applies.
    pub total_ns: [f64; 2],
    /// How many times as much it costs there, in the column where this is least and most.
    pub ratios: Option<(f64, f64)>,
    /// What the call costs that does nothing.
    pub way_ns: Option<[f64; 2]>,
    /// What each kind costs, the largest difference first.
    pub parts: Vec<(&'b str, [f64; 2])>,
    /// The kinds that are left out, or a part of them, as work on files.
    pub left_out: BTreeSet<&'b str>,
}

impl Bill {
    /// The same counts by two price lists, its own first.
    pub fn elsewhere(&self, lists: [&PriceList; 2], column: u64) -> Elsewhere<'_> {
        let (on_files, others): (Vec<&Use>, Vec<&Use>) = self
            .uses
            .iter()
            .partition(|one| one.priced_by.iter().any(|by| by.is_of_files));
        let both = |one: &Use, column: u64| {
            let [here, there] = lists.map(|list| list.price(one, column));
            Some([here? * one.mean(), there? * one.mean()])
        };
        let added = |sum: [f64; 2], pair: [f64; 2]| [sum[0] + pair[0], sum[1] + pair[1]];
        let all_in = |column: u64| {
            let pairs = others.iter().filter_map(|one| both(one, column));
            pairs.fold([0.0; 2], added)
        };
        let mut by_name: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
        for (one, pair) in others
            .iter()
            .filter_map(|one| Some((one, both(one, column)?)))
        {
            let sum = by_name.entry(&one.name).or_default();
            *sum = added(*sum, pair);
        }
        let mut parts = Vec::from_iter(by_name);
        let difference = |[here, there]: [f64; 2]| (there - here).abs();
        parts.sort_by(|one, other| difference(other.1).total_cmp(&difference(one.1)));
        let ratios = lists[0].columns().into_iter().map(all_in);
        let ratios = ratios
            .map(|[here, there]| there / here)
            .filter(|ratio| ratio.is_finite());
        let null = Use {
            counts: vec![1],
            priced_by: vec![PricedBy::of_null_call()],
            ..Use::default()
        };
        Elsewhere {
            total_ns: all_in(column),
            ratios: ratios.fold(None, |ends, ratio| {
                let (low, high) = ends.unwrap_or((ratio, ratio));
                Some((low.min(ratio), high.max(ratio)))
            }),
            way_ns: both(&null, 0),
            parts,
            left_out: on_files.into_iter().map(|one| &*one.name).collect(),
        }
    }
}

/// What the counts of two bills are compared by.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sum {
    /// System calls.
    Calls,
    /// Page faults.
    Faults,
    /// Bytes that calls moved.
    Bytes,
}

impl Sum {
    /// All that it adds up, from run to run.
    pub fn range(self, bill: &Bill) -> Range {
        total(&self.parts(bill))
    }

    /// What it adds up, by name, in each run.
    fn parts(self, bill: &Bill) -> BTreeMap<&str, Vec<u64>> {
        let mut counts: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for one in &bill.uses {
            let (is_part, values) = match self {
                Sum::Calls => (is_call(&one.name), &one.counts),
                Sum::Faults => (one.name == PAGE_FAULT, &one.counts),
                Sum::Bytes => (moves(&one.name), &one.bytes),
            };
            if is_part {
                add(counts.entry(&one.name).or_default(), values);
            }
        }
        counts.retain(|_, counts| !counts.is_empty());
        counts
    }
}

/// The name of page faults among the uses.
pub const PAGE_FAULT: &str = "page fault";

/// The name of the way into the kernel and back among what was sampled.
pub const ENTRY: &str = "entry";

/// What is said in the place of an error of a call in which its task has ended.
pub const NEVER_RETURNED: &str = "never returned";

/// The name of switches among them.
pub const SWITCH: &str = "context switch";

/// Whether samples of this kind are of this use: of it alone, or of several, as its function tells no more.
pub fn serves(kind: &str, name: &str) -> bool {
    // `path_getxattrat` serves getxattr and lgetxattr.
    let on_paths = kind
        .strip_prefix("path_")
        .and_then(|kind| kind.strip_suffix("at"));
    kind == name
        || kind == ENTRY && is_call(name)
        || on_paths.is_some_and(|call| name == call || name.strip_prefix('l') == Some(call))
}

fn is_call(name: &str) -> bool {
    name != PAGE_FAULT && name != SWITCH
}

/// Whether the bytes of a call are moved, not mapped.
fn moves(name: &str) -> bool {
    const OF_MEMORY: [&str; 13] = [
        "mmap",
        "munmap",
        "mremap",
        "mprotect",
        "madvise",
        "msync",
        "brk",
        "clone",
        "clone3",
        "fork",
        "vfork",
        "execve",
        "exit_group",
    ];
    is_call(name) && !OF_MEMORY.contains(&name)
}

/// How a sum of two bills differs.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The sum.
    pub of: Sum,
    /// Of all parts, before and after.
    pub totals: [Range; 2],
    /// The parts that differ for certain: in no run of the one side as many as in any of the other; the
    /// largest difference first.
    pub parts: Vec<DifferentPart>,
}

/// A part of a sum that differs.
#[derive(Debug, Clone, PartialEq)]
pub struct DifferentPart {
    /// Its name.
    pub name: String,
    /// How often before and after; `None` where there was none.
    pub ranges: [Option<Range>; 2],
}

impl DifferentPart {
    /// By how much it grew at least, less than zero if it shrank, and zero where that is not certain.
    pub fn grew(&self) -> i64 {
        let of = |range: Option<Range>| range.unwrap_or(Range { low: 0, high: 0 });
        let [before, after] = self.ranges.map(of);
        let certain = |high: u64, low: u64| low.saturating_sub(high) as i64;
        certain(before.high, after.low) - certain(after.high, before.low)
    }
}

impl Difference {
    /// By which share of the sum its parts grew for certain, all together; infinite from none. What varies
    /// from run to run is no growth.
    pub fn certain_growth(&self) -> f64 {
        let grew: i64 = self.parts.iter().map(DifferentPart::grew).sum();
        match grew {
            0 => 0.0,
            grew => grew as f64 / self.totals[0].low as f64,
        }
    }

    /// By which share it grew from the middle of the one range to that of the other.
    pub fn likely_growth(&self) -> f64 {
        let [before, after] = self.totals.map(|range| (range.low + range.high) as f64);
        match before == after {
            true => 0.0,
            false => after / before - 1.0,
        }
    }
}

/// How the sums of a bill differ from those of an earlier one.
pub fn differences(before: &Bill, after: &Bill) -> Vec<Difference> {
    let of_sum = |of: Sum| {
        let sides = [before, after].map(|bill| of.parts(bill));
        let names: BTreeSet<&str> = sides.iter().flat_map(BTreeMap::keys).copied().collect();
        let part = |name: &&str| DifferentPart {
            name: (*name).to_owned(),
            ranges: sides
                .each_ref()
                .map(|parts| parts.get(*name).map(|counts| Range::of(counts))),
        };
        let mut parts: Vec<DifferentPart> = names.iter().map(part).collect();
        parts.retain(|part| part.grew() != 0);
        parts.sort_by_key(|part| std::cmp::Reverse(part.grew().unsigned_abs()));
        Difference {
            of,
            totals: sides.each_ref().map(total),
            parts,
        }
    };
    Sum::ALL.map(of_sum).into()
}

/// The sum of all parts, from run to run.
fn total(parts: &BTreeMap<&str, Vec<u64>>) -> Range {
    Range::of_sums(parts.values().map(Vec::as_slice))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(name: &str, counts: &[u64]) -> Use {
        Use {
            name: name.to_owned(),
            counts: counts.to_vec(),
            ..Use::default()
        }
    }

    fn bill(uses: Vec<Use>) -> Bill {
        Bill {
            uses,
            ..Bill::default()
        }
    }

    #[test]
    fn a_use_says_once_what_it_is_of() {
        let of = |variant: &str| Use {
            variant: Some(variant.to_owned()),
            on: Some("file".to_owned()),
            ..used("mmap", &[17])
        };
        assert_eq!(of("private file").words(), "mmap private file");
        assert_eq!(of("shared").words(), "mmap shared file");
    }

    #[test]
    fn what_differs_for_certain_is_named_and_what_varies_moves_no_gate() {
        let before = bill(vec![
            used("openat", &[100, 100, 100]),
            used("futex", &[10, 500, 20]),
            used("read", &[7, 7, 7]),
        ]);
        let after = bill(vec![
            used("openat", &[112, 112]),
            used("futex", &[400, 15]),
            used("readlink", &[985, 985]),
        ]);
        let all = differences(&before, &after);
        let calls = &all[0];
        assert_eq!(calls.of, Sum::Calls);
        let named: Vec<(&str, i64)> = calls
            .parts
            .iter()
            .map(|part| (&*part.name, part.grew()))
            .collect();
        assert_eq!(named, [("readlink", 985), ("openat", 12), ("read", -7)]);
        // Of 117 in the run with fewest.
        assert!((calls.certain_growth() - 990.0 / 117.0).abs() < 1e-9);
        let same = differences(&before, &before);
        assert!(
            same.iter()
                .all(|one| one.parts.is_empty() && one.certain_growth() == 0.0)
        );
    }

    #[test]
    fn what_serves_several_calls_is_divided_by_their_number() {
        for call in ["getxattr", "listxattr", "setxattr", "removexattr"] {
            let kind = format!("path_{call}at");
            assert!(serves(&kind, call) && serves(&kind, &format!("l{call}")));
            assert!(!serves(&kind, &format!("f{call}")) && !serves(&kind, "stat"));
        }
        let share = |share: f64| SampledKind {
            share,
            ..SampledKind::default()
        };
        let kernel = [("path_getxattrat", 0.3), (ENTRY, 0.1), ("stat", 0.2)];
        let bill = Bill {
            cpu_ns: vec![1000.0],
            sampled: Some(Sampled {
                kernel: kernel
                    .map(|(kind, part)| (kind.to_owned(), share(part)))
                    .into(),
                ..Sampled::default()
            }),
            ..bill(vec![
                used("getxattr", &[2]),
                used("lgetxattr", &[1]),
                used("stat", &[6]),
                used("close", &[1]),
            ])
        };
        let accounts = bill.accounts(&PriceList::default(), 0);
        let measured: BTreeMap<&str, Option<f64>> = accounts
            .iter()
            .map(|one| (one.name, one.sampled_ns.map(f64::round)))
            .collect();
        let expected = [
            ("getxattr", Some(220.0)),
            ("lgetxattr", Some(110.0)),
            ("stat", Some(260.0)),
            ("close", None),
        ];
        assert_eq!(measured, expected.into());
    }

    #[test]
    fn kinds_of_one_call_add_up() {
        let failed = Use {
            failed: Some("ENOENT".to_owned()),
            ..used("openat", &[3, 4])
        };
        let before = bill(vec![used("openat", &[10, 10]), failed]);
        let after = bill(vec![used("openat", &[14])]);
        let [calls, ..] = &differences(&before, &after)[..] else {
            panic!("calls come first");
        };
        assert_eq!(
            calls.totals,
            [Range { low: 13, high: 14 }, Range { low: 14, high: 14 }]
        );
        assert_eq!((calls.parts.len(), calls.certain_growth()), (0, 0.0));
        assert!(calls.likely_growth() > 0.03);
    }

    #[test]
    fn a_price_is_that_of_its_rows_in_the_column_or_the_nearest_below() {
        let row = |of: &str, displaced: &str, ns: f64| {
            let mut row = crate::fixture::row(
                &format!("bill.call{{call={of},displaced={displaced}}}"),
                vec![vec![ns]],
            );
            row.id = "bill.call".to_owned();
            row.case = [("call", of), (DISPLACED, displaced)]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into();
            row.estimate.median = Some(ns);
            row
        };
        let run = crate::fixture::run(
            "r",
            vec![
                row("read_4K", "0", 500.0),
                row("read_4K", "256K", 900.0),
                row("read_64K", "0", 5000.0),
            ],
        );
        let prices = PriceList::of(&run);
        assert_eq!(prices.columns(), [0, 256 << 10].into());
        let by = |of: &str, times: f64| PricedBy {
            row: "bill.call".to_owned(),
            of: of.to_owned(),
            times,
            is_of_files: false,
        };
        let one = Use {
            priced_by: vec![by("read_4K", 0.5), by("read_64K", 0.5)],
            ..used("read", &[10])
        };
        assert_eq!(prices.price(&one, 0), Some(2750.0));
        assert_eq!(prices.price(&one, 1 << 20), Some(2950.0));
        assert_eq!(prices.price(&used("read", &[1]), 0), None);
        assert_eq!(prices.total(&bill(vec![one]), 0), 27_500.0);
    }
}
