//! The figures and facts of many machines, in as little memory as judging them needs.

use std::collections::{BTreeMap, HashMap, HashSet, hash_map};

use jiff::{Timestamp, tz::TimeZone};
use syscost_results::document::{Digest, DigestRow};
use syscost_results::run::core_ours;
use syscost_results::{Better, Status, Unit};

use crate::collection::{Document, LeftOut, Silent};
use crate::deviation::Figure;
use crate::facts;
use crate::harmless::harmless;

/// No run has more rows: what does is not a run.
const MAX_ROWS: usize = 20_000;
/// Names of more bytes are none: of a host (RFC 1035), and of a row.
const MAX_NAME: usize = 255;
/// How far ahead of this machine's clock another's may be, in seconds.
const AHEAD_S: i64 = 24 * 3600;
/// How far a document may be dated from the others, in seconds; more, and that machine's clock is wrong.
const APART_S: i64 = 366 * 24 * 3600;

/// A row as machines are compared in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Only rows of equal revisions measure the same.
    pub revision: u32,
    /// The unit of its figures.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
}

/// The figure of a row in a document.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    /// The logarithm of the median.
    pub log: f64,
    /// Its standard error.
    pub error: f32,
    /// The number of its row.
    pub row: u32,
}

/// What is kept of a document.
#[derive(Debug)]
pub struct Entry {
    /// Where it is, for people.
    pub place: String,
    /// The machine's host name.
    pub host: String,
    /// When the run began, in seconds since 1970.
    pub started: i64,
    /// Share of the time in which its cores were not shared, in percent, if known.
    pub core_ours: Option<f64>,
    /// The figures beyond doubt, ascending by row.
    pub cells: Vec<Cell>,
    /// How many rows the machine was to measure and can: those of which there should be a figure.
    pub rows: usize,
    /// What is recorded of the machine: numbers of name and value, ascending.
    facts: Vec<(u32, u32)>,
    run: String,
    /// What stays the same for one machine.
    identity: u32,
    source: usize,
}

#[cfg(test)]
impl Entry {
    /// The document of a simulated machine.
    pub(crate) fn simulated(number: usize, cells: Vec<Cell>) -> Self {
        Entry {
            place: String::new(),
            host: format!("node{number}"),
            started: 0,
            core_ours: None,
            rows: cells.len(),
            cells,
            facts: Vec::new(),
            run: String::new(),
            identity: 0,
            source: 0,
        }
    }
}

/// Documents that were made together, at most one of each machine.
#[derive(Debug)]
pub struct Collection {
    /// When its first document was begun, in seconds since 1970.
    pub first: i64,
    /// When its last one was.
    pub last: i64,
    /// Its documents, by number.
    pub entries: Vec<usize>,
}

/// The figures and facts of many machines.
#[derive(Debug, Default)]
pub struct Fleet {
    /// The rows, by number.
    pub rows: Vec<Row>,
    /// The documents, by number.
    pub entries: Vec<Entry>,
    /// When they were made, the oldest first.
    pub collections: Vec<Collection>,
    /// What is not judged.
    pub left_out: Vec<LeftOut>,
    /// Nodes that gave nothing.
    pub silent: Vec<Silent>,
    row_numbers: HashMap<RowKey, u32>,
    texts: Texts,
}

/// What makes figures those of one row: name, revision, unit, and whether less is better, as a
/// document that says otherwise must not turn the others' around.
type RowKey = (String, u32, &'static str, bool);

/// Texts by number, each kept once.
#[derive(Debug, Default)]
struct Texts {
    list: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Texts {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.list.len() as u32;
        self.list.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }
}

impl Fleet {
    /// The fleet of these documents, as of now by this machine's clock.
    pub fn of(documents: impl Iterator<Item = Result<Document, LeftOut>>, now: Timestamp) -> Self {
        let mut fleet = Fleet::default();
        for document in documents {
            let added = document.and_then(|document| fleet.add(document, now));
            fleet.left_out.extend(added.err());
        }
        fleet.arrange();
        fleet
    }

    /// The value of a fact of a document, if it is recorded.
    pub fn fact(&self, entry: usize, name: &str) -> Option<&str> {
        let name = self.texts.numbers.get(name)?;
        let facts = &self.entries[entry].facts;
        let found = facts.binary_search_by_key(name, |(known, _)| *known).ok()?;
        Some(&self.texts.list[facts[found].1 as usize])
    }

    /// Simulated machines of which only these facts are known.
    #[cfg(test)]
    pub(crate) fn with_facts<'f>(machines: impl Iterator<Item = Vec<(&'f str, String)>>) -> Self {
        let mut fleet = Fleet::default();
        for (number, facts) in machines.enumerate() {
            let texts = &mut fleet.texts;
            let mut facts: Vec<(u32, u32)> = facts
                .iter()
                .map(|(name, value)| (texts.number(name), texts.number(value)))
                .collect();
            facts.sort_unstable();
            fleet.entries.push(Entry {
                facts,
                ..Entry::simulated(number, Vec::new())
            });
        }
        fleet
    }

    /// Whether any document has this fact.
    pub fn knows(&self, name: &str) -> bool {
        (0..self.entries.len()).any(|entry| self.fact(entry, name).is_some())
    }

    /// All facts of a document, in no particular order.
    pub fn facts(&self, entry: usize) -> impl Iterator<Item = (&str, &str)> {
        let text = |number: u32| &*self.texts.list[number as usize];
        let facts = self.entries[entry].facts.iter();
        facts.map(move |(name, value)| (text(*name), text(*value)))
    }

    /// Each machine's latest document as of a collection, by its number; in the order of host names.
    pub fn as_of(&self, collection: usize) -> Vec<usize> {
        self.latest(&self.collections[..=collection])
            .into_values()
            .collect()
    }

    /// Each machine's latest document of some collections, by host name.
    pub fn latest(&self, collections: &[Collection]) -> BTreeMap<&str, usize> {
        let entries = collections.iter().flat_map(|one| &one.entries);
        let mut entries: Vec<usize> = entries.copied().collect();
        // One collection may have begun before another and ended after it.
        entries.sort_by_key(|entry| self.entries[*entry].started);
        let named = |entry: usize| (&*self.entries[entry].host, entry);
        entries.into_iter().map(named).collect()
    }

    fn add(&mut self, document: Document, now: Timestamp) -> Result<(), LeftOut> {
        let Document {
            digest,
            source,
            place,
        } = document;
        let refuse = |why: String| LeftOut::new(&place, why);
        let host = &digest.machine.hostname;
        if host.is_empty() || host.len() > MAX_NAME {
            return Err(refuse(match host.len() {
                0 => "its machine has no host name".to_owned(),
                long => format!("its machine's host name has {long} bytes"),
            }));
        }
        if digest.rows.len() > MAX_ROWS {
            return Err(refuse(format!(
                "it has {} rows, more than any run",
                digest.rows.len()
            )));
        }
        if let Some(row) = digest.rows.iter().find(|row| row.name.len() > MAX_NAME) {
            return Err(refuse(format!(
                "the name of a row has {} bytes",
                row.name.len()
            )));
        }
        let started: Timestamp = digest.started.parse().map_err(|_| {
            refuse(format!(
                "it began at `{}`, which is no time",
                digest.started
            ))
        })?;
        let ahead = started.as_second().saturating_sub(now.as_second());
        if ahead > AHEAD_S {
            let date = date(started.as_second());
            return Err(refuse(format!(
                "it is dated {date}, which is yet to come: the clock there or here is wrong"
            )));
        }
        let entry = self.entry(digest, started.as_second(), source, place);
        self.entries.push(entry);
        Ok(())
    }

    fn entry(&mut self, digest: Digest, started: i64, source: usize, place: String) -> Entry {
        let facts = facts::of(&digest).into_iter();
        let mut facts: Vec<(u32, u32)> = facts
            .map(|(name, value)| (self.texts.number(&name), self.texts.number(&value)))
            .collect();
        facts.sort_unstable();
        let identity = self
            .texts
            .number(&harmless(&digest.machine.identity()[1..].join(", ")));
        let rows = digest.rows.iter().filter(|row| was_due(row)).count();
        let mut cells = Vec::with_capacity(rows);
        for row in digest.rows {
            let Some(figure) = Figure::of(&row) else {
                continue;
            };
            let (revision, unit, better) = (row.revision, row.unit, row.better);
            let next = self.rows.len() as u32;
            let key = (
                harmless(&row.name),
                revision,
                unit.symbol(),
                better == Better::Lower,
            );
            let number = match self.row_numbers.get(&key) {
                Some(number) => *number,
                None => {
                    let name = key.0.clone();
                    self.rows.push(Row {
                        name,
                        revision,
                        unit,
                        better,
                    });
                    self.row_numbers.insert(key, next);
                    next
                }
            };
            cells.push(Cell {
                log: figure.log,
                error: figure.error as f32,
                row: number,
            });
        }
        cells.sort_unstable_by_key(|cell| cell.row);
        cells.shrink_to_fit();
        Entry {
            place,
            host: harmless(&digest.machine.hostname),
            started,
            core_ours: core_ours(&digest.noise),
            cells,
            rows,
            facts,
            run: digest.id,
            identity,
            source,
        }
    }

    /// Sorts documents into collections: a day's (UTC) of a source are one, and so are those of two sources or of two days in a row
    /// that have no machine in common, as where it was measured across midnight, or a rack at a time.
    fn arrange(&mut self) {
        self.row_numbers = HashMap::new();
        // Files are read in any order; what follows must not depend on it.
        let key = |entry: &Entry| (entry.started, entry.host.clone(), entry.place.clone());
        self.entries.sort_by_cached_key(key);
        self.leave_out_twice();
        self.leave_out_far();
        let mut days: BTreeMap<(i64, usize), Vec<usize>> = BTreeMap::new();
        for (number, entry) in self.entries.iter().enumerate() {
            let day = entry.started.div_euclid(24 * 3600);
            days.entry((day, entry.source)).or_default().push(number);
        }
        // Of the sources of a day, that which began first comes first, in whatever order they were named.
        let mut days: Vec<(i64, Vec<usize>)> = days
            .into_iter()
            .map(|((day, _), numbers)| (day, numbers))
            .collect();
        days.sort_by_key(|(day, numbers)| (*day, numbers.first().copied()));
        let mut hosts: HashSet<&str> = HashSet::new();
        let mut last_day = i64::MIN;
        let mut dropped = vec![false; self.entries.len()];
        for (day, numbers) in days {
            let mut latest: BTreeMap<&str, usize> = BTreeMap::new();
            for number in numbers {
                let entry = &self.entries[number];
                if let Some(earlier) = latest.insert(&entry.host, number) {
                    dropped[earlier] = true;
                    let why = twice(&self.entries[earlier], entry, &self.texts);
                    self.left_out
                        .push(LeftOut::new(&self.entries[earlier].place, why));
                }
            }
            let is_apart = day - 1 > last_day || latest.keys().any(|host| hosts.contains(host));
            if is_apart || self.collections.is_empty() {
                hosts.clear();
                self.collections.push(Collection {
                    first: i64::MAX,
                    last: i64::MIN,
                    entries: Vec::new(),
                });
            }
            last_day = day;
            hosts.extend(latest.keys());
            let Some(collection) = self.collections.last_mut() else {
                continue;
            };
            for number in latest.into_values() {
                let started = self.entries[number].started;
                collection.first = collection.first.min(started);
                collection.last = collection.last.max(started);
                collection.entries.push(number);
            }
        }
        // What does not count is not kept either.
        for (entry, _) in self
            .entries
            .iter_mut()
            .zip(dropped)
            .filter(|(_, dropped)| *dropped)
        {
            entry.cells = Vec::new();
        }
        self.left_out
            .sort_by(|one, other| (&one.what, &one.why).cmp(&(&other.what, &other.why)));
    }

    /// Leaves out all but one document of a run of a machine; another machine's may have the same id.
    fn leave_out_twice(&mut self) {
        let mut places: HashMap<(String, String), String> = HashMap::new();
        let left_out = &mut self.left_out;
        self.entries.retain(
            |entry| match places.entry((entry.run.clone(), entry.host.clone())) {
                hash_map::Entry::Vacant(free) => {
                    free.insert(entry.place.clone());
                    true
                }
                hash_map::Entry::Occupied(first) => {
                    let why = format!("it is the same run as {}", first.get());
                    left_out.push(LeftOut::new(&entry.place, why));
                    false
                }
            },
        );
    }

    /// Leaves out documents that are dated far from half of the others.
    fn leave_out_far(&mut self) {
        let mut times: Vec<i64> = self.entries.iter().map(|entry| entry.started).collect();
        times.sort_unstable();
        let Some(middle) = times.get(times.len() / 2).copied() else {
            return;
        };
        let is_far = |entry: &Entry| entry.started.abs_diff(middle) > APART_S.unsigned_abs();
        for entry in self.entries.iter().filter(|entry| is_far(entry)) {
            let why = format!(
                "it is dated {}, and half of the others are of {} or later: its clock is wrong, or it is old",
                date(entry.started),
                date(middle)
            );
            self.left_out.push(LeftOut::new(&entry.place, why));
        }
        self.entries.retain(|entry| !is_far(entry));
    }
}

/// Why the earlier of two documents with one host name does not count.
fn twice(earlier: &Entry, later: &Entry, texts: &Texts) -> String {
    let host = &later.host;
    if earlier.identity == later.identity {
        return format!("{host} has a later document of the same day");
    }
    let [one, other] = [earlier, later].map(|entry| &texts.list[entry.identity as usize]);
    format!(
        "two machines are called {host} ({one}; {other}), of which the one measured last counts"
    )
}

/// The day of a time in seconds since 1970, UTC: `2026-11-27`.
pub fn date(seconds: i64) -> String {
    let time = Timestamp::from_second(seconds).unwrap_or(Timestamp::MIN);
    time.to_zoned(TimeZone::UTC).date().to_string()
}

/// Whether there should be a figure of this row: it can be measured there, and is no share of the time.
fn was_due(row: &DigestRow) -> bool {
    let is_due = match row.status {
        Status::Ok | Status::Failed | Status::Withheld | Status::Skipped => true,
        Status::BelowResolution | Status::AboveRange | Status::Unsupported => false,
    };
    is_due && row.unit != Unit::Percent
}
