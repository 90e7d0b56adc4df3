//! What is said of a fleet: the same for the terminal, for programs and for the page.

mod layout;
mod page;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use syscost_report::TableOptions;
use syscost_report::document::{self, Block};
use syscost_results::row_name;
use syscost_results::{Better, Unit};

pub use page::page;

use crate::baseline::{Baseline, CohortBaseline, ExpectedRow, VERSION};
use crate::cohort::{Drifted, drifted};
use crate::collection::{LeftOut, Silent};
use crate::drift::{self, Drift};
use crate::fleet::{Fleet, date};
use crate::judge::{self, Judgement, Outlier, Untold, judge};
use crate::reasons::{Reason, Reasons};

/// The report in lines of at most `width` columns; with every line if `all`.
pub fn text(report: &Report, width: usize, all: bool) -> String {
    let most = |few| if all { usize::MAX } else { few };
    let shown = layout::Shown {
        machines: most(20),
        open: usize::MAX,
        rows: most(3),
        lines: most(5),
        all: "-v shows all",
        plot: None,
    };
    let mut blocks = vec![Block::paragraph(words::verdict(report))];
    blocks.extend(layout::outliers(report, &shown));
    blocks.extend(layout::others(report, &shown));
    if report.collections.len() > 1 {
        let dates = report.collections.iter();
        let dates = dates.map(|one| match one.from == one.to {
            true => format!("{} ({})", one.from, one.machines),
            false => format!("{} to {} ({})", one.from, one.to, one.machines),
        });
        let dates: Vec<String> = dates.collect();
        blocks.push(Block::note(format!(
            "Measured on {}; of each machine the latest counts.",
            dates.join(", ")
        )));
    }
    let options = TableOptions {
        color: true,
        ..TableOptions::of_width(width)
    };
    document::terminal(&blocks, &options)
}

/// Facts of one machine that changed are told up to this many.
const MAX_CHANGED: usize = 5;

/// Which machines are not like the others, in what, since when, and what about them is different.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Version of its shape as a JSON document.
    pub syscost_fleet_report: u32,
    /// How many machines gave a document that counts.
    pub machines: usize,
    /// How many of them were judged.
    pub judged: usize,
    /// By how many figures.
    pub figures: usize,
    /// Of how many that all machines were to measure and could.
    pub measured: usize,
    /// Of how many rows.
    pub rows: usize,
    /// The machines that are not like the others, the worst first.
    pub outliers: Vec<Unlike>,
    /// In what machines are configured otherwise than most of those like them, whatever they cost.
    pub configuration: Vec<Drifted>,
    /// Machines of which nothing can be said.
    pub untold: Vec<UntoldMachine>,
    /// What machines were held against each other.
    pub cohorts: Vec<CohortLine>,
    /// When they were measured, the oldest first.
    pub collections: Vec<CollectionLine>,
    /// Machines that changed as the others did not; empty with one collection.
    pub changed: Vec<Unlike>,
    /// Rows in which whole cohorts changed, the largest change first.
    pub changed_together: Vec<TogetherLine>,
    /// Nodes that gave no document.
    pub silent: Vec<Silent>,
    /// Documents that do not count.
    pub left_out: Vec<LeftOut>,
    /// Groups of rows, and how far these machines are from their cohort's median in each; above zero is worse.
    #[serde(skip)]
    pub heat: Heat,
}

impl Report {
    /// Whether so few machines were judged that nobody can tell if all is well.
    pub fn cannot_tell(&self) -> bool {
        2 * self.judged < self.machines || self.judged == 0
    }

    /// How many machines are not like the others in what programs get there: costs, or CPUs.
    pub fn unlike(&self) -> usize {
        let others = self.configuration.iter().flat_map(|one| &one.others);
        let with_fewer_cpus = others.filter(|others| others.fewer_cpus);
        let machines = with_fewer_cpus.flat_map(|others| &others.machines);
        let costly = self.outliers.iter().map(|one| &one.machine);
        costly.chain(machines).collect::<BTreeSet<_>>().len()
    }
}

/// A machine that is not like the others.
#[derive(Debug, Serialize)]
pub struct Unlike {
    /// Its host name.
    pub machine: String,
    /// Its cohort, by place in the report's list.
    pub cohort: usize,
    /// The first day, UTC, from which on it has been like this; `None` if it was measured only once.
    pub since: Option<String>,
    /// How likely one of such a cohort is as far off by chance.
    pub p_value: f64,
    /// The groups of rows in which it differs, that with the most rows first.
    pub groups: Vec<GroupCount>,
    /// The rows in which it differs, the worst first.
    pub rows: Vec<UnlikeRow>,
    /// What is recorded of it and of hardly any other.
    pub reasons: Vec<Reason>,
    /// Facts that are others than in its document before.
    pub changed_facts: Vec<ChangedFact>,
    /// How many of its figures were judged.
    pub figures: usize,
}

/// In how many rows of a group a machine differs.
#[derive(Debug, Serialize)]
pub struct GroupCount {
    /// The group: `syscall`.
    pub group: String,
    /// The number of rows in which it differs.
    pub rows: usize,
    /// The number of rows judged.
    pub of: usize,
}

/// A row in which a machine differs.
#[derive(Debug, Serialize)]
pub struct UnlikeRow {
    /// The row's name.
    pub row: String,
    /// The unit of both medians.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// Whether it is worse than the others.
    pub worse: bool,
    /// The machine's median; of a change, the present one.
    pub median: f64,
    /// What the others have; of a change, what the machine itself would have had it changed as they did.
    pub expected: f64,
    /// The median over the expected one, less one: 0.3 is 30 % more.
    pub change: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
    /// How likely such a deviation is by chance.
    pub p_value: f64,
}

/// A fact that changed.
#[derive(Debug, Serialize)]
pub struct ChangedFact {
    /// Its name.
    pub fact: String,
    /// Its value before, if recorded.
    pub before: Option<String>,
    /// Its value now, if recorded.
    pub now: Option<String>,
}

/// A machine of which nothing can be said.
#[derive(Debug, Serialize)]
pub struct UntoldMachine {
    /// Its host name.
    pub machine: String,
    /// The kind of reason.
    pub kind: UntoldKind,
    /// Why not, as the rest of a sentence that begins with `cannot tell: `.
    pub why: String,
}

/// Why nothing can be said of a machine, without figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UntoldKind {
    /// There are too few machines like it.
    FewLikeIt,
    /// Its cores were its own much less of the time than others'.
    CoreNotOurs,
    /// None of its rows has a number beyond doubt that others have, too.
    NothingKnown,
}

/// A cohort.
#[derive(Debug, Serialize)]
pub struct CohortLine {
    /// What its machines have in common; null where it is not recorded.
    pub facts: BTreeMap<String, Option<String>>,
    /// How many machines.
    pub machines: usize,
    /// How many rows were judged; none if there are too few machines.
    pub rows: usize,
    /// How many of its machines are not like the others.
    pub outliers: usize,
}

/// A collection.
#[derive(Debug, Serialize)]
pub struct CollectionLine {
    /// Its first day, UTC.
    pub from: String,
    /// Its last day.
    pub to: String,
    /// How many machines were measured.
    pub machines: usize,
}

/// A row in which a whole cohort changed.
#[derive(Debug, Serialize)]
pub struct TogetherLine {
    /// The row's name.
    pub row: String,
    /// The cohort, by place in the report's list.
    pub cohort: usize,
    /// How many machines were measured in it both times.
    pub machines: usize,
    /// Whether it became worse.
    pub worse: bool,
    /// The median machine's change: 0.1 is 10 % more.
    pub change: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
}

/// Deviations of some machines by group of rows.
#[derive(Debug, Default)]
pub struct Heat {
    /// The groups, by name.
    pub groups: Vec<String>,
    /// The machines, each with the median deviation of each group's rows, if it has any; above zero is worse.
    pub machines: Vec<HeatLine>,
}

/// A machine's deviations by group of rows.
#[derive(Debug)]
pub struct HeatLine {
    /// Its host name.
    pub machine: String,
    /// Whether it is not like the others.
    pub is_outlier: bool,
    /// For each group the median deviation, as a logarithm.
    pub deviations: Vec<Option<f64>>,
}

/// Maximum number of machines shown with their groups: outliers, and some others to compare them with.
const MAX_HEAT: usize = 60;
/// Minimum number of others among them.
const HEAT_OTHERS: usize = 8;

/// The latest state of a fleet, judged, and what changed.
pub struct Judged<'a> {
    fleet: &'a Fleet,
    alike: &'a [String],
    judgement: Judgement,
}

impl<'a> Judged<'a> {
    /// Judges each machine's latest document against those of machines with the same values of these facts.
    pub fn of(fleet: &'a Fleet, alike: &'a [String]) -> Self {
        let entries = match fleet.collections.len().checked_sub(1) {
            Some(last) => fleet.as_of(last),
            None => Vec::new(),
        };
        let judgement = judge(fleet, &drift::subjects(fleet, &entries), alike);
        Judged {
            fleet,
            alike,
            judgement,
        }
    }

    /// What its cohorts say of each row.
    pub fn baseline(&self) -> Baseline {
        let cohorts = self
            .judgement
            .cohorts
            .iter()
            .filter(|judged| !judged.expected.is_empty());
        Baseline {
            syscost_baseline: VERSION,
            cohorts: cohorts
                .map(|judged| CohortBaseline {
                    facts: judged.cohort.facts.iter().cloned().collect(),
                    machines: judged.cohort.entries.len(),
                    rows: judged
                        .expected
                        .iter()
                        .map(|(number, expected)| {
                            let row = &self.fleet.rows[*number as usize];
                            ExpectedRow {
                                name: row.name.clone(),
                                revision: row.revision,
                                unit: row.unit,
                                better: row.better,
                                median: expected.log.exp(),
                                scale: expected.scale,
                                machines: expected.machines,
                                freedom: expected.freedom,
                            }
                        })
                        .collect(),
                })
                .collect(),
        }
    }

    /// All that is said of it.
    pub fn report(&self) -> Report {
        let (fleet, judgement) = (self.fleet, &self.judgement);
        let since = drift::since(fleet, judgement, self.alike);
        let drift = drift::drift(fleet, self.alike);
        let reasons = Reasons::new(fleet, judgement);
        let mut outliers = Vec::new();
        for outlier in &judgement.outliers {
            let first = since.get(&fleet.entries[outlier.entry].host);
            let mut unlike = self.unlike(judgement, outlier);
            unlike.reasons = reasons.of(outlier);
            unlike.since = first
                .filter(|_| fleet.collections.len() > 1)
                .map(|first| date(fleet.collections[*first].first));
            outliers.push(unlike);
        }
        let mut rows: Vec<u32> = judgement
            .cohorts
            .iter()
            .flat_map(|judged| judged.expected.iter().map(|(row, _)| *row))
            .collect();
        rows.sort_unstable();
        rows.dedup();
        Report {
            syscost_fleet_report: 1,
            machines: judgement.machines + judgement.untold.len(),
            judged: judgement.machines,
            figures: judgement.figures,
            measured: judgement.measured,
            rows: rows.len(),
            outliers,
            configuration: judgement
                .cohorts
                .iter()
                .flat_map(|judged| drifted(fleet, &judged.cohort))
                .collect(),
            untold: self.untold(),
            cohorts: self.cohorts(),
            collections: fleet
                .collections
                .iter()
                .map(|one| CollectionLine {
                    from: date(one.first),
                    to: date(one.last),
                    machines: one.entries.len(),
                })
                .collect(),
            changed: drift.iter().flat_map(|drift| self.changed(drift)).collect(),
            changed_together: drift
                .iter()
                .flat_map(|drift| self.together(drift))
                .collect(),
            silent: fleet.silent.clone(),
            left_out: fleet.left_out.clone(),
            heat: self.heat(),
        }
    }

    fn unlike(&self, judgement: &Judgement, outlier: &Outlier) -> Unlike {
        let fleet = self.fleet;
        let entry = &fleet.entries[outlier.entry];
        let mut of_group: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        let mut figures = 0;
        for (row, _) in judge::deviations(&judgement.cohorts[outlier.cohort], &entry.cells) {
            of_group
                .entry(row_name::group(&fleet.rows[row as usize].name))
                .or_default()
                .1 += 1;
            figures += 1;
        }
        let rows = outlier.findings.iter().map(|finding| {
            let row = &fleet.rows[finding.row as usize];
            of_group.entry(row_name::group(&row.name)).or_default().0 += 1;
            let cells = &entry.cells;
            let found = cells.binary_search_by_key(&finding.row, |cell| cell.row);
            let log = found.map_or(f64::NAN, |found| cells[found].log);
            let [change, low, high] = finding.deviation.shares();
            UnlikeRow {
                row: row.name.clone(),
                unit: row.unit,
                better: row.better,
                worse: finding.is_worse,
                median: log.exp(),
                expected: (log - finding.deviation.log).exp(),
                change,
                low,
                high,
                p_value: finding.deviation.p_value,
            }
        });
        let rows = rows.collect();
        let groups = of_group.into_iter().filter(|(_, (rows, _))| *rows > 0);
        let mut groups: Vec<GroupCount> = groups
            .map(|(group, (rows, of))| GroupCount {
                group: group.to_owned(),
                rows,
                of,
            })
            .collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.rows));
        Unlike {
            machine: entry.host.clone(),
            cohort: outlier.cohort,
            since: None,
            p_value: outlier.p_value,
            groups,
            rows,
            reasons: Vec::new(),
            changed_facts: Vec::new(),
            figures,
        }
    }

    fn untold(&self) -> Vec<UntoldMachine> {
        let untold = self.judgement.untold.iter();
        let mut told: Vec<UntoldMachine> = untold
            .map(|(entry, why)| UntoldMachine {
                machine: self.fleet.entries[*entry].host.clone(),
                kind: match why {
                    Untold::FewLikeIt(_) => UntoldKind::FewLikeIt,
                    Untold::CoreNotOurs { .. } => UntoldKind::CoreNotOurs,
                    Untold::NothingKnown(_) | Untold::LittleKnown(..) => UntoldKind::NothingKnown,
                },
                why: match why {
                    Untold::FewLikeIt(1) => "no other machine is like it".to_owned(),
                    Untold::FewLikeIt(machines) => {
                        format!("only {machines} machines are like it, itself included")
                    }
                    Untold::CoreNotOurs { own, others } => format!(
                        "its cores were its own {own:.0} % of the time, and those of half of the others {others:.0} % or more"
                    ),
                    Untold::LittleKnown(figures, usual) => format!(
                        "only {figures} figures could be judged, of {usual} that it or the median machine has"
                    ),
                    Untold::NothingKnown(rows) => {
                        format!("none of its {rows} rows has a number beyond doubt that others have")
                    }
                },
            })
            .collect();
        told.sort_by(|one, other| (&one.why, &one.machine).cmp(&(&other.why, &other.machine)));
        told
    }

    fn cohorts(&self) -> Vec<CohortLine> {
        let cohorts = self.judgement.cohorts.iter().enumerate();
        cohorts
            .map(|(number, judged)| {
                let outliers = self.judgement.outliers.iter();
                CohortLine {
                    facts: judged.cohort.facts.iter().cloned().collect(),
                    machines: judged.cohort.entries.len(),
                    rows: judged.expected.len(),
                    outliers: outliers.filter(|one| one.cohort == number).count(),
                }
            })
            .collect()
    }

    fn changed(&self, drift: &Drift) -> Vec<Unlike> {
        let outliers = drift.judgement.outliers.iter();
        outliers
            .map(|outlier| {
                let mut unlike = self.unlike(&drift.judgement, outlier);
                unlike.cohort = self.cohort_of(outlier.entry);
                unlike.changed_facts = drift
                    .before
                    .get(&outlier.entry)
                    .map(|before| self.changed_facts(*before, outlier.entry))
                    .unwrap_or_default();
                unlike
            })
            .collect()
    }

    fn together(&self, drift: &Drift) -> Vec<TogetherLine> {
        let together = drift.together.iter();
        together
            .map(|one| {
                let [change, low, high] = one.change.shares();
                let entries = &drift.judgement.cohorts[one.cohort].cohort.entries;
                TogetherLine {
                    row: self.fleet.rows[one.row as usize].name.clone(),
                    cohort: entries.first().map_or(0, |entry| self.cohort_of(*entry)),
                    machines: one.machines,
                    worse: judge::worse(self.fleet, one.row, one.change.log) > 0.0,
                    change,
                    low,
                    high,
                }
            })
            .collect()
    }

    /// The cohort of a document, by number.
    fn cohort_of(&self, entry: usize) -> usize {
        let mut cohorts = self.judgement.cohorts.iter();
        cohorts
            .position(|judged| judged.cohort.entries.contains(&entry))
            .unwrap_or(0)
    }

    /// The facts in which two documents of a machine differ.
    fn changed_facts(&self, before: usize, now: usize) -> Vec<ChangedFact> {
        let facts = |entry| self.fleet.facts(entry).collect::<BTreeMap<_, _>>();
        let (before, now) = (facts(before), facts(now));
        let names = before.keys().chain(now.keys()).copied();
        let mut names: Vec<&str> = names
            .filter(|name| before.get(name) != now.get(name))
            .collect();
        names.sort_unstable();
        names.dedup();
        let value =
            |facts: &BTreeMap<&str, &str>, name| facts.get(name).map(|value| (*value).to_owned());
        let changed = names.into_iter().take(MAX_CHANGED);
        changed
            .map(|name| ChangedFact {
                fact: name.to_owned(),
                before: value(&before, name),
                now: value(&now, name),
            })
            .collect()
    }

    fn heat(&self) -> Heat {
        let (fleet, judgement) = (self.fleet, &self.judgement);
        let outliers = judgement.outliers.iter().map(|one| (one.entry, one.cohort));
        let mut shown: Vec<(usize, usize)> = outliers.take(MAX_HEAT - HEAT_OTHERS).collect();
        let outliers = shown.len();
        // Neighbours by name are of one rack more often than not.
        let is_outlier = |entry: usize| judgement.outliers.iter().any(|one| one.entry == entry);
        for (entry, cohort) in shown.clone() {
            let members = &judgement.cohorts[cohort].cohort.entries;
            let place = members
                .iter()
                .position(|member| *member == entry)
                .unwrap_or(0);
            let around = members.iter().skip(place.saturating_sub(1)).take(3);
            for member in around.filter(|member| !is_outlier(**member)) {
                if shown.len() < (2 * outliers).clamp(HEAT_OTHERS, MAX_HEAT)
                    && !shown.contains(&(*member, cohort))
                {
                    shown.push((*member, cohort));
                }
            }
        }
        let lines: Vec<(usize, BTreeMap<&str, Vec<f64>>)> = shown
            .iter()
            .map(|(entry, cohort)| {
                let cells = &fleet.entries[*entry].cells;
                let mut of_group: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
                for (row, deviation) in judge::deviations(&judgement.cohorts[*cohort], cells) {
                    let name = row_name::group(&fleet.rows[row as usize].name);
                    of_group
                        .entry(name)
                        .or_default()
                        .push(judge::worse(fleet, row, deviation.log));
                }
                (*entry, of_group)
            })
            .collect();
        let mut groups: Vec<&str> = lines
            .iter()
            .flat_map(|(_, of_group)| of_group.keys().copied())
            .collect();
        groups.sort_unstable();
        groups.dedup();
        Heat {
            machines: lines
                .iter()
                .map(|(entry, of_group)| HeatLine {
                    machine: fleet.entries[*entry].host.clone(),
                    is_outlier: is_outlier(*entry),
                    deviations: groups
                        .iter()
                        .map(|group| syscost_stats::order::median(of_group.get(group)?))
                        .collect(),
                })
                .collect(),
            groups: groups.into_iter().map(str::to_owned).collect(),
        }
    }
}
