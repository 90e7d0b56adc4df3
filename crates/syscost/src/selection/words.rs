//! Search for benchmarks by words of their ids, titles and tags, of their labels in the summary and
//! in `numbers`, by values of their rows, and by names of lmbench's programs.

use syscost_benches::{CATALOGUE, LMBENCH, PROCEDURES, Program};
use syscost_harness::Testbed;
use syscost_harness::{Catalogue, Entry};
use syscost_results::{Unit, numbers, row_name, summary};

/// Minimum Jaro-Winkler similarity to a group's name of a word that is taken for a misspelt group.
const MIN_SIMILARITY_OF_GROUPS: f64 = 0.9;

/// Minimum length of a misspelt word; shorter ones are abbreviations.
const MIN_LETTERS: usize = 4;

/// Maximum number of benchmarks that a value of rows may find; more common ones say too little.
const MAX_BY_VALUE: usize = 8;

/// A benchmark that was found by words.
pub(crate) struct Found {
    /// The benchmark.
    pub(crate) benchmark: &'static Entry,
    /// The words that match only values of its rows: only rows with these values are meant.
    values: Vec<Word>,
}

impl Found {
    /// Whether the row with this name is meant.
    pub(super) fn selects(&self, name: &str) -> bool {
        let is_value = |word: &Word| row_name::parameters(name).any(|one| word.is_value(one.1));
        row_name::id(name) == self.benchmark.id && self.values.iter().all(is_value)
    }

    /// Its id, with the values that its rows must have.
    pub(super) fn label(&self) -> String {
        let id = self.benchmark.id;
        let values: Vec<&str> = self.values.iter().map(|word| word.typed.as_str()).collect();
        match values.is_empty() {
            true => id.to_owned(),
            false => format!("{id} ({})", values.join(", ")),
        }
    }
}

/// Returns the benchmarks that these words find, in the catalogue's order: syscost's own, then the
/// procedures of published experiments.
///
/// Every word must occur in the id, the title, a tag, or a line of the summary or of the numbers every programmer should know. If
/// that finds no benchmark, a word may also be a value of its rows, or name the quantity of its unit
/// (`fork latency`). Words are separated by spaces, hyphens and punctuation; case and underscores
/// make no difference, nor whether a term is written as one word: `page fault`, `page-fault`,
/// `pagefault`.
pub(crate) fn search(text: &str, here: &Testbed) -> Vec<Found> {
    let words = words_of(text);
    if words.is_empty() || !may_be_words(text) || is_misspelt(&words) {
        return Vec::new();
    }
    let found = by_texts(&words);
    match found.is_empty() {
        true => by_rows(words, here),
        false => found,
    }
}

fn by_texts(words: &[Word]) -> Vec<Found> {
    let is_found = |benchmark: &&'static Entry| words.iter().all(|word| has(benchmark, word));
    let found = all().filter(is_found).map(|benchmark| Found {
        benchmark,
        values: Vec::new(),
    });
    found.collect()
}

fn by_rows(words: Vec<Word>, here: &Testbed) -> Vec<Found> {
    let (quantities, words): (Vec<Word>, Vec<Word>) =
        words.into_iter().partition(|word| !word.units().is_empty());
    if words.is_empty() {
        return Vec::new();
    }
    let is_in_unit = |benchmark: &&'static Entry| {
        let mut units = quantities.iter().map(Word::units);
        units.all(|units| units.contains(&benchmark.unit))
    };
    let found = all().filter(is_in_unit).filter_map(|benchmark| {
        let others = words.iter().filter(|word| !has(benchmark, word));
        let values: Vec<Word> = others.cloned().collect();
        let found = Found { benchmark, values };
        let mut rows = Catalogue::rows(std::iter::once(benchmark), here).into_iter();
        rows.any(|row| found.selects(&row.name())).then_some(found)
    });
    let (by_value, by_unit): (Vec<Found>, Vec<Found>) =
        found.partition(|one| !one.values.is_empty());
    match by_unit.is_empty() {
        true if by_value.len() > MAX_BY_VALUE => Vec::new(),
        true => by_value,
        false => by_unit,
    }
}

fn all() -> impl Iterator<Item = &'static Entry> {
    CATALOGUE.benchmarks().chain(PROCEDURES)
}

/// Whether this is a single word that is similar to the name of a group but not a whole word of any
/// text: it would find that group and whatever mentions it.
fn is_misspelt(words: &[Word]) -> bool {
    let [word] = words else {
        return false;
    };
    let is_near = |name: &str| strsim::jaro_winkler(&word.text, name) > MIN_SIMILARITY_OF_GROUPS;
    word.text.len() >= MIN_LETTERS
        && CATALOGUE.visible_groups().any(|group| is_near(group.name))
        && !all().any(|benchmark| texts(benchmark).any(|text| word.is_whole_in(text)))
}

/// Leaves out the procedures of published experiments, which repeat the faults of others, unless
/// nothing else was found. `id` returns the id of a benchmark.
pub(crate) fn own_or_all<T>(found: Vec<T>, id: impl Fn(&T) -> &str) -> Vec<T> {
    let (procedures, own): (Vec<T>, Vec<T>) =
        found.into_iter().partition(|one| is_procedure(id(one)));
    match own.is_empty() {
        true => procedures,
        false => own,
    }
}

/// Whether the benchmark with this id is the procedure of a published experiment, faults included.
pub(crate) fn is_procedure(id: &str) -> bool {
    PROCEDURES.iter().any(|procedure| procedure.id == id)
}

/// Whether the text can be searched for: it has no characters that only ids, patterns and names of
/// rows have.
pub(super) fn may_be_words(text: &str) -> bool {
    let text = text.trim_end_matches(['.', '!', '?']);
    !text.contains(['.', '{', '}', '*', '?', '[', ']', '='])
}

/// Terms to suggest for a misspelt one: tags, and words of titles.
pub(super) fn terms() -> impl Iterator<Item = String> {
    CATALOGUE.benchmarks().flat_map(|benchmark| {
        let tags = benchmark.tags().map(str::to_owned);
        let titles = std::iter::once(benchmark.title).chain(labels(benchmark));
        let words = titles.flat_map(|title| title.split(|c: char| !c.is_alphanumeric()));
        tags.chain(words.filter(|word| word.len() > 3).map(str::to_lowercase))
    })
}

/// Returns the parameters with this value in any row, as `key=value`.
pub(super) fn parameters_of(value: &str) -> Vec<String> {
    let word = Word::new(value);
    let mut found = Vec::new();
    for row in Catalogue::rows(CATALOGUE.benchmarks(), &Testbed::plain()) {
        let name = row.name();
        for (key, value) in row_name::parameters(&name).filter(|one| word.is_value(one.1)) {
            let parameter = format!("{key}={value}");
            if !found.contains(&parameter) {
                found.push(parameter);
            }
        }
    }
    found
}

/// Splits a text into words. A slash is part of a word: `GFLOP/s`.
fn words_of(text: &str) -> Vec<Word> {
    let words = text.split(|c: char| !c.is_alphanumeric() && !"_/".contains(c));
    let words = words.map(Word::new);
    words.filter(|word| !word.text.is_empty()).collect()
}

fn has(benchmark: &'static Entry, word: &Word) -> bool {
    texts(benchmark).any(|text| word.is_in(text))
}

/// The texts that describe a benchmark.
fn texts(benchmark: &'static Entry) -> impl Iterator<Item = &'static str> {
    let own = [benchmark.id, benchmark.title].into_iter();
    let own = own.chain(benchmark.tags());
    own.chain(labels(benchmark))
}

/// The labels of its rows in the summary and in the numbers every programmer should know.
fn labels(benchmark: &'static Entry) -> impl Iterator<Item = &'static str> {
    let all = summary::titles().chain(numbers::titles());
    all.filter(|(role, _)| benchmark.stands_for(*role))
        .map(|(_, title)| title)
}

/// One word that is searched for.
#[derive(Clone)]
struct Word {
    /// As it was written.
    typed: String,
    /// Its letters and digits.
    text: String,
    /// Its singular, if it may be a plural.
    singular: Option<String>,
}

impl Word {
    fn new(word: &str) -> Self {
        let text = squeezed(word);
        // `lat_fs` is not a plural.
        let singular = text
            .strip_suffix('s')
            .filter(|rest| rest.len() > 2 && !word.contains('_'));
        let singular = singular.map(str::to_owned);
        let typed = word.to_owned();
        Self {
            typed,
            text,
            singular,
        }
    }

    /// Whether a word of the text, or several in a row joined into one, begins with this word.
    fn is_in(&self, text: &str) -> bool {
        let parts = parts(text);
        (0..parts.len()).any(|first| {
            let rest = parts[first..].concat();
            self.forms().any(|form| rest.starts_with(form))
        })
    }

    /// Whether a word of the text, or several in a row joined into one, equals this word.
    fn is_whole_in(&self, text: &str) -> bool {
        let parts = parts(text);
        (0..parts.len()).any(|first| {
            (first..parts.len()).any(|last| {
                let joined = parts[first..=last].concat();
                self.forms().any(|form| joined == form)
            })
        })
    }

    /// Whether it equals this value of a parameter.
    fn is_value(&self, value: &str) -> bool {
        squeezed(value) == self.text
    }

    fn forms(&self) -> impl Iterator<Item = &str> {
        self.singular.iter().chain([&self.text]).map(String::as_str)
    }

    /// The units of the quantity that it names; empty for other words.
    fn units(&self) -> &'static [Unit] {
        let is_one_of = |names: &[&str]| self.forms().any(|form| names.contains(&form));
        if is_one_of(&["latency", "latencies", "time", "cost", "overhead"]) {
            &[Unit::Nanoseconds]
        } else if is_one_of(&["bandwidth", "throughput"]) {
            &[
                Unit::BytesPerSecond,
                Unit::OperationsPerSecond,
                Unit::FlopsPerSecond,
            ]
        } else {
            &[]
        }
    }
}

fn parts(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric()).map(squeezed);
    parts.filter(|part| !part.is_empty()).collect()
}

/// Only the letters and digits, in lower case.
fn squeezed(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Returns the program with this name.
pub(crate) fn program(name: &str) -> Option<&'static Program> {
    LMBENCH.iter().find(|program| program.name == name)
}

/// Whether the name can only mean a program: `lat_ctx`, but not `cache`.
pub(super) fn is_plainly_program(name: &str) -> bool {
    name.contains('_') && program(name).is_some()
}

/// Describes the program with this name if no benchmark covers it.
pub(super) fn uncovered(name: &str) -> Option<String> {
    let program = program(name)?;
    let is_covered = CATALOGUE.tagged(program.name).next().is_some();
    (!is_covered).then(|| about(program))
}

/// Describes how what is measured here differs from a program.
pub(super) fn about(program: &Program) -> String {
    format!("`{}` of lmbench: {}", program.name, program.note)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Vec<&'static str> {
        search(text, &Testbed::plain())
            .iter()
            .map(|found| found.benchmark.id)
            .collect()
    }

    #[test]
    fn standard_terms_find_their_benchmarks() {
        for (words, id) in [
            ("context switch", "switch.pipe"),
            ("load-to-use latency", "memory.latency"),
            ("dependent load", "memory.latency"),
            ("memory-level parallelism", "memory.parallelism"),
            ("Branch Misprediction", "op.branch_miss"),
            ("peak bandwidth", "memory.peak_bandwidth"),
            ("false sharing", "memory.false_sharing"),
            ("TLB reach", "memory.tlb_reach"),
            ("reorder buffer size", "op.reorder_buffer_size"),
            ("store forwarding", "op.store_forwarding"),
            ("OS noise", "timing.noise"),
            ("timer slack", "timing.sleep"),
            ("minor fault", "memory.page_fault"),
            ("copy-on-write", "memory.page_fault"),
            ("GFLOP/s", "op.flops"),
            ("btb", "op.branch_targets"),
            ("vdso", "syscall.vdso"),
            ("readahead", "fs.read_ahead"),
            ("fsync latency", "fs.sync"),
            ("random read", "fs.read"),
            ("netperf TCP_RR", "net.tcp.round_trip"),
            ("goodput", "net.tcp.bandwidth"),
            ("wakeup latency", "switch.wakeup"),
            ("lock contention", "sync.mutex"),
            ("perf bench sched pipe", "switch.pipe"),
            ("ping-pong", "memory.core_to_core"),
            ("syscalls", "syscall.null"),
        ] {
            let found = ids(words);
            assert!(found.contains(&id), "{words}: {found:?}");
        }
    }

    #[test]
    fn procedures_of_studies_are_found_after_the_benchmarks() {
        for (words, procedure) in [
            ("context switch", "study.switch_costs.process_switch"),
            ("system call", "study.whole_system.system_call"),
            ("function call", "study.call_and_switch.function_call"),
            ("timer overhead", "study.three_costs.clock_read"),
            ("page fault", "study.whole_system.page_fault"),
            ("process creation", "study.three_costs.task_create"),
            ("load latency", "study.whole_system.memory_access"),
        ] {
            let found = ids(words);
            assert!(found.contains(&procedure), "{words}: {found:?}");
            let own = found.iter().take_while(|id| !is_procedure(id)).count();
            assert!(own > 0, "{words}: {found:?}");
            assert!(found[own..].iter().all(|id| is_procedure(id)), "{found:?}");
        }
        // Nor does a term mean procedures alone.
        for tag in PROCEDURES.iter().flat_map(|procedure| procedure.tags()) {
            let found = ids(tag);
            assert!(!is_procedure(found[0]), "{tag}: {found:?}");
        }
    }

    #[test]
    fn blanks_hyphens_and_underscores_are_alike() {
        let found = ids("page fault");
        assert!(found.contains(&"memory.page_fault") && found.contains(&"scale.fault"));
        for text in ["page-fault", "Page  Faults", "pagefault", "page_fault"] {
            assert!(ids(text).contains(&"memory.page_fault"), "{text}");
        }
        assert_eq!(ids("page-fault"), found);
    }

    #[test]
    fn the_name_of_a_program_finds_only_what_has_it() {
        assert_eq!(ids("lat_ctx"), ["switch.pipe", "switch.ring"]);
        assert_eq!(ids("lat_fs"), ["fs.metadata", "fs.small_file"]);
        assert_eq!(ids("bw_mem"), ["memory.bandwidth", "memory.peak_bandwidth"]);
        assert_eq!(ids("hackbench"), ["switch.messaging"]);
    }

    #[test]
    fn neither_an_empty_text_nor_an_id_finds_anything() {
        for text in [
            "",
            " - ",
            "context zebra",
            "syscall.nul",
            "zebra",
            "op=read",
        ] {
            assert_eq!(ids(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn what_lists_of_numbers_call_a_row_finds_its_benchmark() {
        for (role, label) in summary::titles().chain(numbers::titles()) {
            let mut found = by_texts(&words_of(label)).into_iter();
            let is_found = found.any(|one| one.benchmark.stands_for(role));
            assert!(is_found, "{label}: {:?}", ids(label));
        }
        assert!(ids("division").contains(&"op.integer"));
        assert_eq!(ids("page fault!"), ids("page, fault"));
    }

    #[test]
    fn values_are_words_where_nothing_else_is_found() {
        let found = search("getpid", &Testbed::plain());
        let labels: Vec<String> = found.iter().map(Found::label).collect();
        let procedure = "study.three_costs.system_call (getpid)";
        assert_eq!(labels, ["syscall.null (getpid)", procedure]);
        assert!(found[0].selects("syscall.null{call=getpid,via=libc}"));
        assert!(!found[0].selects("syscall.null{call=getppid}"));
        let fence = search("atomic fence_by_lock", &Testbed::plain());
        assert!(fence.iter().any(|one| one.benchmark.id == "op.atomic"));
        // Its own benchmark, not also what else does that.
        assert!(
            search("mprotect", &Testbed::plain())
                .iter()
                .all(|one| one.values.is_empty())
        );
        assert_eq!(ids("same_cache"), [""; 0], "too many have it");
        assert!(parameters_of("same_cache").contains(&"cpus=same_cache".to_owned()));
    }

    #[test]
    fn the_name_of_a_quantity_means_its_units() {
        let found = ids("fork latency");
        assert!(found.contains(&"task.fork"), "{found:?}");
        assert!(ids("mutex latency").contains(&"sync.mutex"));
        let calls = ids("syscall latency");
        assert!(calls.contains(&"syscall.null") && !calls.contains(&"scale.syscall"));
        assert!(ids("memory cost").contains(&"memory.latency"));
        assert!(ids("scale throughput").contains(&"scale.syscall"));
    }

    #[test]
    fn a_misspelt_group_finds_nothing() {
        for text in ["syscal", "memor", "switc", "signa"] {
            assert_eq!(ids(text), [""; 0], "{text}");
        }
        for text in ["syscalls", "signals", "mispredict", "hackb"] {
            assert!(!ids(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn programs_that_are_not_covered_say_why() {
        for program in LMBENCH {
            let said = uncovered(program.name);
            assert_eq!(
                said.is_some(),
                program.note.starts_with("Not covered: "),
                "{}",
                program.name
            );
        }
        assert!(is_plainly_program("lat_ctx") && !is_plainly_program("cache"));
        assert!(program("lat_ctxx").is_none());
    }
}
