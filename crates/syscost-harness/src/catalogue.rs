//! The catalogue: every benchmark of every group, and how rows of it are named.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use syscost_results::{Measurement, Role, Run};

use crate::benchmark::{Entry, Group};
use crate::case::Case;
use crate::profile::Profile;
use crate::profile::Setup;
use crate::testbed::Testbed;

/// Every group of benchmarks this program has.
pub struct Catalogue {
    groups: &'static [Group],
    /// Groups of whoever has made a program of his own of this library.
    own: OnceLock<Vec<Group>>,
}

/// Why a program's own benchmarks are not added to the catalogue.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAdded {
    /// One has another name than benchmarks have.
    #[error(
        "`{0}` is no id of a benchmark, which is names with a dot between them, each a small letter with small letters, digits and `_` behind it: `text.sort`"
    )]
    NoId(&'static str),
    /// One is in a group of syscost's.
    #[error("`{0}`: the group `{1}` is syscost's; use another name before the dot")]
    Taken(&'static str, &'static str),
    /// Two have the same id.
    #[error("two benchmarks are `{0}`")]
    Twice(&'static str),
    /// Some have been added before.
    #[error("benchmarks are added once, all together")]
    Again,
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
        Self {
            groups,
            own: OnceLock::new(),
        }
    }

    /// Adds a program's own benchmarks, which are then measured where nothing is named, by every profile.
    /// Groups follow from their ids.
    pub fn add(&self, own: Vec<Entry>) -> Result<(), NotAdded> {
        let mut groups: Vec<(&'static str, Vec<Entry>)> = Vec::new();
        for mut entry in own {
            let name = entry.group();
            if !is_id(entry.id) {
                return Err(NotAdded::NoId(entry.id));
            }
            if self.groups.iter().any(|known| known.name == name) {
                return Err(NotAdded::Taken(entry.id, name));
            }
            entry.benchmark.profile = Profile::Quick;
            match groups.iter_mut().find(|(known, _)| *known == name) {
                Some((_, all)) if all.iter().any(|one| one.id == entry.id) => {
                    return Err(NotAdded::Twice(entry.id));
                }
                Some((_, all)) => all.push(entry),
                None => groups.push((name, vec![entry])),
            }
        }
        let group = |(name, entries): (_, Vec<Entry>)| Group {
            name,
            title: "functions of this program",
            source: "//! What this program adds to syscost's rows.",
            // They live as long as the program, as those of its own lists do.
            benchmarks: entries.leak(),
            hidden: false,
        };
        let groups = groups.into_iter().map(group).collect();
        self.own.set(groups).map_err(|_| NotAdded::Again)
    }

    fn own(&self) -> &[Group] {
        self.own.get().map_or(&[], Vec::as_slice)
    }

    /// Whether a program has added benchmarks of its own.
    pub fn has_own(&self) -> bool {
        !self.own().is_empty()
    }

    /// The groups, hidden ones included, in the report's order.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.own().iter().chain(self.groups)
    }

    /// The benchmarks of all groups, in the report's order.
    pub fn all(&self) -> impl Iterator<Item = &'static Entry> {
        self.groups().flat_map(|group| group.benchmarks)
    }

    /// What is measured and listed where nothing is named: the program's own benchmarks, or, where it has
    /// none, all that are not hidden.
    pub fn default_benchmarks(&self) -> impl Iterator<Item = &'static Entry> {
        let groups = if self.has_own() {
            self.own()
        } else {
            self.groups
        };
        let groups = groups.iter().filter(|group| !group.hidden);
        groups.flat_map(|group| group.benchmarks)
    }

    /// The groups that are not hidden.
    pub fn visible_groups(&self) -> impl Iterator<Item = &Group> {
        self.groups().filter(|group| !group.hidden)
    }

    /// The visible benchmarks, in the report's order.
    pub fn benchmarks(&self) -> impl Iterator<Item = &'static Entry> {
        self.visible_groups().flat_map(|group| group.benchmarks)
    }

    /// A benchmark by its id, hidden ones included.
    pub fn find(&self, id: &str) -> Option<&'static Entry> {
        self.all().find(|benchmark| benchmark.id == id)
    }

    /// Whether it is a row that every program of this version or an earlier one has. Of a benchmark whose variants
    /// depend on the machine the parameters are known, and their values but for numbers.
    pub fn ships(&self, row: &Measurement) -> bool {
        let is_variant = |one: &Entry| {
            let cases = (one.cases)(&Testbed::plain());
            let is_known = |key: &str, value: &str| {
                let mut known = cases.iter().flat_map(Case::parameters);
                known.any(|(own, is)| own == key && (is == value || is_number(value)))
            };
            match one.depends_on_machine {
                true => row.case.iter().all(|(key, value)| is_known(key, value)),
                false => cases
                    .iter()
                    .any(|case| row.name == format!("{}{}", one.id, case.suffix())),
            }
        };
        let mut shipped = self.groups.iter().flat_map(|group| group.benchmarks);
        shipped.any(|one| {
            (one.id, one.title, one.unit, one.better)
                == (&*row.id, &*row.title, row.unit, row.better)
                && row.revision <= one.revision
                && is_variant(one)
        })
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
        let mut all = Self::rows(self.all(), here);
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

/// Whether this is a number of something, or are several: `3`, `64K`, `0-3`.
fn is_number(value: &str) -> bool {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let unit = value.trim_start_matches(|letter| is_digit(letter) || ".,-".contains(letter));
    value.starts_with(is_digit) && unit.len() <= 2
}

/// Whether this is what ids of benchmarks look like.
fn is_id(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(is_plain)
    };
    id.split('.').count() > 1 && id.split('.').all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Benchmark;

    static KNOWN: Catalogue = Catalogue::new(&[Group {
        name: "known",
        title: "",
        source: "",
        benchmarks: &[Benchmark::DEFAULT.named("known.one", "")],
        hidden: false,
    }]);

    #[test]
    fn own_benchmarks_are_the_default_and_none_has_the_id_of_another() {
        let of = |ids: &[&'static str]| -> Vec<Entry> {
            let named = ids.iter().map(|id| Benchmark::DEFAULT.named(id, ""));
            named.collect()
        };
        for (ids, error) in [
            (&["sort"][..], NotAdded::NoId("sort")),
            (&["text.Sort"], NotAdded::NoId("text.Sort")),
            (&["text."], NotAdded::NoId("text.")),
            (&["known.two"], NotAdded::Taken("known.two", "known")),
            (&["a.b", "c.d", "a.b"], NotAdded::Twice("a.b")),
        ] {
            assert_eq!(KNOWN.add(of(ids)), Err(error));
        }
        let ids = |of: Vec<&'static Entry>| of.iter().map(|one| one.id).collect::<Vec<_>>();
        assert_eq!(ids(KNOWN.default_benchmarks().collect()), ["known.one"]);
        assert_eq!(KNOWN.add(of(&["a.b", "c.d", "a.e"])), Ok(()));
        assert_eq!(KNOWN.add(of(&["x.y"])), Err(NotAdded::Again));
        let own = ids(KNOWN.default_benchmarks().collect());
        assert_eq!(own, ["a.b", "a.e", "c.d"]);
        let all = ids(KNOWN.all().collect());
        assert_eq!(all, ["a.b", "a.e", "c.d", "known.one"]);
        assert!(
            KNOWN
                .find("a.e")
                .is_some_and(|one| one.profile == Profile::Quick)
        );
    }
}
