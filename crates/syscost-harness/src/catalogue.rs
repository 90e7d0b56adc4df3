//! The catalogue: every benchmark of every group, and how rows of it are named.

use std::collections::BTreeSet;

use syscost_results::{Role, Run};

use crate::benchmark::{Entry, Group};
use crate::case::Case;
use crate::profile::Profile;
use crate::profile::Setup;
use crate::testbed::Testbed;

/// Every group of benchmarks this program has.
#[derive(Clone, Copy)]
pub struct Catalogue {
    groups: &'static [Group],
}

/// One row of a run: a benchmark and one of its cases.
#[derive(Clone)]
pub struct Row {
    /// The benchmark.
    pub benchmark: &'static Entry,
    /// The case.
    pub case: Case,
}

impl Row {
    /// `id{case}`, unique in the catalogue.
    pub fn name(&self) -> String {
        format!("{}{}", self.benchmark.id, self.case.suffix())
    }

    /// The shortest profile that measures it when nothing is selected by name; longer ones do, too.
    pub fn profile(&self) -> Profile {
        Profile::first_with(self.benchmark, &self.case)
    }

    /// Whether it stands for this in reports.
    pub fn stands_for(&self, role: Role) -> bool {
        self.benchmark.roles_of(&self.case.to_map()).contains(&role)
    }

    /// How expensive its set-up is: the case's own, or its benchmark's.
    pub fn setup(&self) -> Setup {
        self.case.setup().unwrap_or(self.benchmark.setup)
    }
}

impl Profile {
    /// The shortest profile that measures this case when nothing is selected by name; the longer
    /// ones do, too.
    pub fn first_with(benchmark: &Entry, case: &Case) -> Self {
        case.facts.profile.unwrap_or(benchmark.profile)
    }

    /// Whether this profile measures a row when nothing is selected by name.
    pub fn measures(self, row: &Row) -> bool {
        row.profile() <= self
    }
}

impl Catalogue {
    /// A catalogue of these groups.
    pub const fn new(groups: &'static [Group]) -> Self {
        Self { groups }
    }

    /// The groups, hidden ones included, in the report's order.
    pub fn groups(&self) -> &'static [Group] {
        self.groups
    }

    /// The groups that are not hidden.
    pub fn visible_groups(&self) -> impl Iterator<Item = &'static Group> {
        self.groups.iter().filter(|group| !group.hidden)
    }

    /// The visible benchmarks, in the report's order.
    pub fn benchmarks(&self) -> impl Iterator<Item = &'static Entry> {
        self.visible_groups().flat_map(|group| group.benchmarks)
    }

    /// A benchmark by its id, hidden ones included.
    pub fn find(&self, id: &str) -> Option<&'static Entry> {
        self.groups
            .iter()
            .flat_map(|group| group.benchmarks)
            .find(|benchmark| benchmark.id == id)
    }

    /// Says of each row of a document what it stands for in reports.
    pub fn assign_roles(&self, run: &mut Run) {
        for row in &mut run.measurements {
            let benchmark = self.find(&row.id);
            row.roles = benchmark.map_or_else(Vec::new, |benchmark| benchmark.roles_of(&row.case));
        }
    }

    /// The visible benchmarks that have this tag.
    pub fn tagged(&self, tag: &str) -> impl Iterator<Item = &'static Entry> {
        self.benchmarks()
            .filter(move |benchmark| benchmark.tags().any(|one| one == tag))
    }

    /// These rows and those from which computed ones among them are computed, in the catalogue's order.
    pub fn with_sources(&self, rows: Vec<Row>, here: &Testbed) -> Vec<Row> {
        let names: BTreeSet<String> = rows.iter().map(Row::name).collect();
        let computed: Vec<&Row> = rows
            .iter()
            .filter(|row| row.benchmark.computation.is_some())
            .collect();
        if computed.is_empty() {
            return rows;
        }
        let mut all = Self::rows(self.groups.iter().flat_map(|group| group.benchmarks), here);
        all.retain(|row| {
            names.contains(&row.name()) || computed.iter().any(|one| one.is_computed_from(row))
        });
        all
    }

    /// All rows that these benchmarks have here, in order.
    pub fn rows(benchmarks: impl IntoIterator<Item = &'static Entry>, here: &Testbed) -> Vec<Row> {
        benchmarks
            .into_iter()
            .flat_map(|benchmark| {
                let cases = (benchmark.cases)(here).into_iter();
                cases.map(move |case| Row { benchmark, case })
            })
            .collect()
    }
}
