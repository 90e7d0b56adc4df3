//! What people search for: words of a benchmark's id, title and tags.

use syscost_benches::{CATALOGUE, PROCEDURES};
use syscost_harness::Benchmark;

/// The benchmarks in whose id, title or tags every one of these words occurs, in the catalogue's order: syscost's own, and behind them the procedures of
/// published experiments. Words are parted by blanks and hyphens;
/// capitals and underscores make no difference, nor whether a term is written as one word: `page fault`, `page-fault`, `pagefault`.
pub(crate) fn search(text: &str) -> Vec<&'static Benchmark> {
    let words = text.split([' ', '-']).map(Word::new);
    let words: Vec<Word> = words.filter(|word| !word.text.is_empty()).collect();
    if words.is_empty() || !may_be_words(text) {
        return Vec::new();
    }
    let is_found = |benchmark: &&'static Benchmark| words.iter().all(|word| has(benchmark, word));
    let all = CATALOGUE.benchmarks().chain(PROCEDURES);
    all.filter(is_found).collect()
}

/// Those of the found benchmarks that are no procedures of published experiments, which repeat the faults of others; all of them if
/// these are all. `id` is what identifies one.
pub(crate) fn own_or_all<T>(found: Vec<T>, id: impl Fn(&T) -> &str) -> Vec<T> {
    let (procedures, own): (Vec<T>, Vec<T>) =
        found.into_iter().partition(|one| is_procedure(id(one)));
    match own.is_empty() {
        true => procedures,
        false => own,
    }
}

/// Whether the benchmark of this id is the procedure of a published experiment, with what is wrong about it.
pub(crate) fn is_procedure(id: &str) -> bool {
    PROCEDURES.iter().any(|procedure| procedure.id == id)
}

/// Whether it can be searched for: not what only an id, a pattern or the name of a row has.
pub(super) fn may_be_words(text: &str) -> bool {
    !text.contains(['.', '{', '}', '*', '?', '[', ']', '=', ','])
}

/// Terms to suggest where somebody writes one nearly right: tags, and the words of titles.
pub(super) fn terms() -> impl Iterator<Item = String> {
    CATALOGUE.benchmarks().flat_map(|benchmark| {
        let tags = benchmark.tags.iter().map(|tag| (*tag).to_owned());
        let title = benchmark.title.split(|c: char| !c.is_alphanumeric());
        let title = title.filter(|word| word.len() > 3).map(str::to_lowercase);
        tags.chain(title)
    })
}

/// One word that is searched for.
struct Word {
    /// Its letters and digits.
    text: String,
    /// What it may be the plural of.
    singular: Option<String>,
}

impl Word {
    fn new(word: &str) -> Self {
        let text = squeezed(word);
        // `lat_fs` is no plural.
        let singular = text
            .strip_suffix('s')
            .filter(|rest| rest.len() > 2 && !word.contains('_'));
        let singular = singular.map(str::to_owned);
        Self { text, singular }
    }

    fn is_in(&self, text: &str) -> bool {
        let mut forms = self.singular.iter().chain([&self.text]);
        forms.any(|form| begins_within(text, form))
    }
}

fn has(benchmark: &Benchmark, word: &Word) -> bool {
    let texts = [benchmark.id, benchmark.title].into_iter();
    let mut texts = texts.chain(benchmark.tags.iter().copied());
    texts.any(|text| word.is_in(text))
}

/// Whether a word of the text begins so, or several in a row do that are written as one.
fn begins_within(text: &str, word: &str) -> bool {
    let parts: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .map(squeezed)
        .collect();
    (0..parts.len())
        .any(|first| !parts[first].is_empty() && parts[first..].concat().starts_with(word))
}

/// Letters and digits alone, small.
fn squeezed(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Vec<&'static str> {
        search(text).iter().map(|benchmark| benchmark.id).collect()
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
    fn procedures_of_studies_are_found_behind_the_benchmarks() {
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
        for tag in PROCEDURES.iter().flat_map(|procedure| procedure.tags) {
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
    fn the_name_of_a_program_finds_what_has_it_and_no_more() {
        assert_eq!(ids("lat_ctx"), ["switch.pipe", "switch.ring"]);
        assert_eq!(ids("lat_fs"), ["fs.metadata", "fs.small_file"]);
        assert_eq!(ids("bw_mem"), ["memory.bandwidth", "memory.peak_bandwidth"]);
        assert_eq!(ids("hackbench"), ["switch.messaging"]);
    }

    #[test]
    fn nothing_is_found_by_nothing_nor_by_what_is_an_id() {
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
}
