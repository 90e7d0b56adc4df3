//! What a reader of a study's report needs to know of a run: machine, settings, programs, quality.

use std::collections::BTreeMap;

use syscost_results::machine::Cache;
use syscost_results::precision::{self, Precision};
use syscost_results::study::{Cycles, means};
use syscost_results::{ClaimId, Fact, Measurement, Run, Unit};

use super::repeated::{QuantityBy, Repeated};
use crate::flags::{self, Words};
use crate::sentence;
use crate::units::quantity;

/// The facts of a run, and how the programs of these studies were made.
pub(crate) fn facts(studies: &[Repeated], run: &Run) -> Vec<(&'static str, String)> {
    let machine = &run.machine;
    let warnings = run.warnings.iter().map(|one| one.message.as_str());
    let warnings: Vec<&str> = warnings.collect();
    let memory = machine.memory_bytes.map(size);
    let all = [
        ("processor", Some(processor(run))),
        ("caches", Some(caches(run))),
        ("memory", memory),
        ("system", Some(system(run))),
        ("C library", Some(machine.libc.clone())),
        ("clock", Some(clock(run))),
        ("settings", Some(sentence::settings(run))),
        ("frequency", sentence::frequency(run)),
        ("core ours", core_ours(run)),
        ("rows", Some(sentence::summary(run))),
        ("precision", precision(run)),
        ("programs", Some(programs(studies, run))),
        (
            "measured",
            Some(format!(
                "{}, for {:.0} s",
                sentence::time(&run.started),
                run.duration_s
            )),
        ),
        (
            "by",
            Some(format!(
                "syscost {}, profile {}, seed {}, run {}",
                run.tool.version, run.config.profile, run.config.seed, run.id
            )),
        ),
        ("warnings", Some(warnings.join("; "))),
    ];
    let known = all
        .into_iter()
        .filter_map(|(name, fact)| Some((name, fact?)));
    known.filter(|(_, fact)| !fact.is_empty()).collect()
}

fn joined(parts: impl IntoIterator<Item = Option<String>>) -> String {
    let parts = parts.into_iter().flatten();
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    parts.join(", ")
}

fn processor(run: &Run) -> String {
    let machine = &run.machine;
    let mut cpus = run.config.cpus.clone();
    cpus.sort_unstable();
    let cpus: Vec<String> = cpus.iter().map(|cpu| format!("CPU {cpu}")).collect();
    joined([
        Some(machine.cpu_model.clone()),
        machine.cpu_signature.clone(),
        Some(sentence::count(machine.cpus_online as usize, "CPU")),
        machine
            .cores
            .map(|cores| sentence::count(cores as usize, "core")),
        (!cpus.is_empty()).then(|| format!("measured on {}", cpus.join(" and "))),
    ])
}

fn system(run: &Run) -> String {
    let machine = &run.machine;
    joined([
        machine.distribution.clone(),
        Some(machine.kernel.clone()),
        machine.hypervisor.name().map(str::to_owned),
        machine.container.name().map(str::to_owned),
    ])
}

/// The caches as the system tells them: `L1 48 KiB data, 32 KiB instruction; L2 2 MiB`.
fn caches(run: &Run) -> String {
    let of_level = |caches: &[Cache]| {
        let one = |cache: &Cache| {
            let kind = match cache.kind.as_str() {
                "unified" => String::new(),
                kind => format!(" {kind}"),
            };
            let shared = cache.shared_by.filter(|cpus| *cpus > 1);
            let shared = shared.map(|cpus| format!(" shared by {cpus} CPUs"));
            let size = cache
                .size_bytes
                .map_or_else(|| "size not reported".to_owned(), size);
            format!("{size}{kind}{}", shared.unwrap_or_default())
        };
        let all: Vec<String> = caches.iter().map(one).collect();
        format!("L{} {}", caches[0].level, all.join(", "))
    };
    let levels = run
        .machine
        .caches
        .chunk_by(|one, other| one.level == other.level);
    let levels: Vec<String> = levels.map(of_level).collect();
    levels.join("; ")
}

/// Bytes in the largest unit of which there is one, with a decimal only where they have a part of it.
fn size(bytes: u64) -> String {
    let (power, unit) = match bytes {
        0..0x10_0000 => (10, "KiB"),
        0x10_0000..0x4000_0000 => (20, "MiB"),
        _ => (30, "GiB"),
    };
    let value = bytes as f64 / f64::from(1 << power);
    match value.fract() {
        0.0 => format!("{value:.0} {unit}"),
        _ => format!("{value:.1} {unit}"),
    }
}

fn clock(run: &Run) -> String {
    let clock = format!("{}, {:.3} GHz", run.clock.source, run.clock.ghz);
    let core = run.core_ghz.map(|ghz| quantity(Unit::Gigahertz, ghz));
    match core {
        Some(core) if run.clock.source == "tsc" => format!(
            "{clock}: the time-stamp counter ticks at this rate, whatever that of the core, {core}"
        ),
        Some(core) => format!("{clock}; core {core}"),
        None => clock,
    }
}

fn core_ours(run: &Run) -> Option<String> {
    let shares = sentence::core_ours(run.noise.iter().filter(|noise| noise.used))?;
    let shares = shares.trim_start_matches("core ours ");
    Some(format!(
        "{shares}: the share in which nobody else, such as another virtual machine, used the same \
         physical core; ten or more such results are compared alone, fewer together with all others"
    ))
}

fn precision(run: &Run) -> Option<String> {
    let Precision {
        half,
        nine_of_ten,
        rows,
    } = precision::of(run)?;
    Some(format!(
        "half of the intervals of {rows} rows are within ±{}, nine of ten within ±{}",
        sentence::share(half),
        sentence::share(nine_of_ten)
    ))
}

/// How the programs were made; with the studies' names if there are several ways.
fn programs(studies: &[Repeated], run: &Run) -> String {
    let mut ways: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for repeated in studies {
        let study = &repeated.study;
        let own = run.measurements.iter();
        for row in own.filter(|row| study.is_judged_by(&row.name)) {
            let Some(way) = made(row) else { continue };
            let ids = ways.entry(way).or_default();
            if !ids.contains(&study.id.as_str()) {
                ids.push(&study.id);
            }
        }
    }
    let is_one = ways.len() == 1;
    let ways = ways.into_iter().map(|(way, ids)| match is_one {
        true => way.to_owned(),
        false => format!("{way} ({})", ids.join(", ")),
    });
    ways.collect::<Vec<String>>().join("; ")
}

/// How a row's program was made, if it is one.
fn made(row: &Measurement) -> Option<&str> {
    let by = ["program compiled by", "program"].map(ClaimId::of);
    let mut evidence = row.evidence.iter();
    match &evidence.find(|one| by.contains(&one.claim.id))?.observed {
        Some(Fact::Text(text)) => Some(text),
        Some(Fact::Number(_)) | None => None,
    }
}

/// What cycles are in the figures of this machine; `None` if a study has none.
pub(crate) fn what_cycles_are(repeated: &Repeated, run: &Run) -> Option<String> {
    let quantities = &repeated.study.quantities;
    let mut published = quantities.iter().flat_map(|one| &one.published);
    published.find(|figure| figure.cycles.is_some())?;
    match repeated.study.cycles {
        Cycles::Tsc if run.clock.source != "tsc" => None,
        Cycles::Tsc => Some(format!(
            "Cycles of the text are ticks of a time-stamp counter, which does not follow the core's \
             frequency; the ticks here are of {:.3} GHz.",
            run.clock.ghz
        )),
        Cycles::Core => run.core_ghz.map(|ghz| {
            let core = quantity(Unit::Gigahertz, ghz);
            format!("Cycles here are those of the core, at about {core}.")
        }),
    }
}

/// The row of syscost's method in a run.
fn method_row<'r>(one: &QuantityBy<'_>, run: &'r Run) -> Option<&'r Measurement> {
    let name = one.quantity.ours.as_deref()?;
    run.measurements.iter().find(|row| means(name, &row.name))
}

/// The row of syscost's method: its factor, name, and flags.
pub(crate) struct Method<'r> {
    /// `half of `; empty if the row's figure is taken as it is.
    pub(crate) factor: String,
    pub(crate) name: &'r str,
    pub(crate) flags: Vec<&'static str>,
}

pub(crate) fn method<'r>(one: &QuantityBy<'_>, run: &'r Run) -> Option<Method<'r>> {
    let row = method_row(one, run)?;
    let factor = match one.quantity.ours_scale {
        None | Some(1.0) => String::new(),
        Some(0.5) => "half of ".to_owned(),
        Some(factor) => format!("{factor} times "),
    };
    let flags = row.flags.iter().map(|flag| flags::words(*flag).name);
    Some(Method {
        factor,
        name: &row.name,
        flags: flags.collect(),
    })
}

/// The meanings of the flags of syscost's rows in these studies, each once; none if there are several
/// runs, as a table that has a column for each has no flags.
pub(crate) fn flags(studies: &[Repeated], runs: &[&Run]) -> Vec<Words> {
    let [run] = runs else {
        return Vec::new();
    };
    let quantities: Vec<QuantityBy<'_>> = studies.iter().flat_map(Repeated::quantities).collect();
    let rows = quantities.iter().filter_map(|one| method_row(one, run));
    let mut found: Vec<_> = rows.flat_map(|row| row.flags.iter().copied()).collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(flags::words).collect()
}

#[cfg(test)]
mod tests {
    use syscost_results::{Evidence, Flag};

    use super::*;
    use crate::study::tests::{hand_made, run};

    fn note(how: &str) -> Evidence {
        Evidence::note("program compiled by", how, "build")
    }

    #[test]
    fn only_programs_of_the_studies_shown_are_named_each_way_once() {
        let mut run = run();
        for row in &mut run.measurements {
            let how = match row.name.starts_with("study.hand_made") {
                true => "cc 12, -O0",
                false => "cc 12, -O2",
            };
            row.evidence.push(note(how));
        }
        run.measurements
            .retain(|row| !row.name.starts_with("syscall.null"));
        let programs = |studies: &[Repeated]| {
            let facts = facts(studies, &run).into_iter();
            let mut facts = facts.filter(|(name, _)| *name == "programs");
            facts.next().map(|(_, programs)| programs)
        };
        let one = Repeated::new(&hand_made(), &[&run]);
        assert_eq!(
            programs(std::slice::from_ref(&one)).as_deref(),
            Some("cc 12, -O0")
        );
        assert_eq!(programs(&[]), None);
        let mut other = one.clone();
        other.study.id = "other".to_owned();
        other.study.quantities[0].as_published = Some("signal.catch".to_owned());
        other.study.quantities.truncate(1);
        assert_eq!(
            programs(&[one, other]).as_deref(),
            Some("cc 12, -O0 (hand-made); cc 12, -O2 (other)")
        );
    }

    #[test]
    fn sizes_are_in_the_unit_in_which_they_are_known() {
        assert_eq!(
            [48 << 10, 2 << 20, 300 << 20, 25_325_268_992].map(size),
            ["48 KiB", "2 MiB", "300 MiB", "23.6 GiB"]
        );
    }
    #[test]
    fn the_row_of_syscosts_method_is_named_with_all_of_its_flags() {
        let mut run = run();
        let mut study = hand_made();
        study.quantities[0].ours_scale = Some(0.5);
        let rows = run.measurements.iter_mut();
        for row in rows.filter(|row| row.name == "syscall.null{call=getppid}") {
            row.flags = vec![Flag::NotConverged, Flag::TwoModes];
        }
        let repeated = Repeated::new(&study, &[&run]);
        let one = method(&repeated.quantities()[0], &run).expect("its row");
        assert_eq!(
            (one.factor.as_str(), one.name),
            ("half of ", "syscall.null{call=getppid}")
        );
        assert_eq!(one.flags, ["wide", "modes"]);
        let explained = flags(&[repeated], &[&run]).into_iter();
        let explained: Vec<&str> = explained.map(|one| one.name).collect();
        assert_eq!(explained, ["wide", "modes"]);
    }
}
