//! The machine, its settings, and the precision of the run, one line each.

use syscost_results::precision::{self, Precision};
use syscost_results::run::Frequency;
use syscost_results::{Machine, Run, Unit};

use super::shared::ends_of_ours;
use super::words::{count, fact};
use crate::units::quantity;

/// Who runs a virtual machine, or emulates its processor: `KVM`, `emulated by QEMU TCG`.
pub(crate) fn hypervisor(machine: &Machine) -> Option<String> {
    let name = fact(machine.hypervisor.name()?);
    Some(match machine.is_emulated() {
        Some(true) => format!("emulated by {name}"),
        Some(false) | None => name,
    })
}

/// The hardware and kernel in a few words: `AMD EPYC, 2 CPUs, KVM, Linux 6.18.44`.
pub fn hardware(machine: &Machine) -> String {
    let mut parts = vec![
        fact(&machine.cpu_model),
        count(machine.cpus_online as usize, "CPU"),
    ];
    parts.extend(hypervisor(machine));
    parts.push(fact(&machine.kernel));
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// The settings that affect costs: mitigations, frequency governor, huge pages, and the clock if it
/// is an unusual one.
pub fn settings(run: &Run) -> String {
    let machine = &run.machine;
    let mut parts = vec![mitigations(run)];
    let governor = machine.governor.as_deref();
    parts.push(format!("governor {}", governor.unwrap_or("unknown")));
    let huge_pages = machine.transparent_hugepages.iter();
    parts.extend(huge_pages.map(|setting| format!("THP {setting}")));
    if run.clock.source != "tsc" {
        parts.push(format!("clock {}", run.clock.source));
    }
    parts.join(", ")
}

/// The frequency at which costs are given, and those at which the cores ran: `costs at 4.09 GHz,
/// this machine's usual; its cores ran at 3.6 to 4.1`.
pub fn frequency(run: &Run) -> Option<String> {
    let at = |ghz| format!("costs at {}", quantity(Unit::Gigahertz, ghz));
    let Some(Frequency {
        usual_ghz,
        is_of_machine,
        low_ghz,
        high_ghz,
    }) = run.frequency
    else {
        return run.core_ghz.map(at);
    };
    let whose = match is_of_machine {
        true => "this machine's usual",
        false => "this run's own",
    };
    let ran = match (format!("{low_ghz:.1}"), format!("{high_ghz:.1}")) {
        (low, high) if low == high => low,
        (low, high) => format!("{low} to {high}"),
    };
    let at = at(usual_ghz);
    Some(format!("{at}, {whose}; its cores ran at {ran}"))
}

/// How many CPU vulnerabilities the kernel mitigates, and how many it does not.
fn mitigations(run: &Run) -> String {
    let all = &run.machine.mitigations;
    let count = |word: &str| all.values().filter(|what| what.starts_with(word)).count();
    match (all.is_empty(), count("Mitigation"), count("Vulnerable")) {
        (true, _, _) => "mitigations unknown".to_owned(),
        (false, 0, 0) => "no mitigations needed".to_owned(),
        (false, active, 0) => format!("mitigations: {active} active"),
        (false, active, open) => format!("mitigations: {active} active, {open} vulnerable"),
    }
}

/// The precision of the run's numbers, and what limits it: in how many probes the cores were
/// ours.
pub fn precision(run: &Run) -> Option<String> {
    let Precision {
        half,
        nine_of_ten,
        rows,
    } = precision::of(run)?;
    let [half, nine_of_ten] = [half, nine_of_ten].map(percent);
    let ours = match ends_of_ours(run) {
        None => String::new(),
        Some((low, high)) if low == high => format!("; cores ours {low} %"),
        Some((low, high)) => format!("; cores ours {low}-{high} %"),
    };
    Some(format!(
        "precision of {rows} rows: half ±{half}, nine of ten ±{nine_of_ten}{ours}"
    ))
}

/// A percentage with two significant digits.
fn percent(value: f64) -> String {
    match value {
        below if below < 9.95 => format!("{value:.1} %"),
        _ => format!("{value:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn a_run_says_nothing_of_the_frequency_of_later_ones() {
        let mut run = fixture::run();
        let mut said = |is_of_machine| {
            run.frequency = Some(Frequency {
                usual_ghz: 3.016,
                is_of_machine,
                low_ghz: 2.91,
                high_ghz: 3.12,
            });
            frequency(&run)
        };
        let own = "costs at 3.02 GHz, this run's own; its cores ran at 2.9 to 3.1";
        assert_eq!(said(false).as_deref(), Some(own));
        let kept = "costs at 3.02 GHz, this machine's usual; its cores ran at 2.9 to 3.1";
        assert_eq!(said(true).as_deref(), Some(kept));
    }

    #[test]
    fn what_is_open_is_counted() {
        let mut run = fixture::run();
        let mut set = |list: &[(&str, &str)]| {
            let pairs = list
                .iter()
                .map(|(name, what)| ((*name).to_owned(), (*what).to_owned()));
            run.machine.mitigations = pairs.collect();
            mitigations(&run)
        };
        assert_eq!(set(&[]), "mitigations unknown");
        assert_eq!(set(&[("l1tf", "Not affected")]), "no mitigations needed");
        let some = [
            ("l1tf", "Not affected"),
            ("spectre_v2", "Mitigation: Retpolines"),
        ];
        assert_eq!(set(&some), "mitigations: 1 active");
        let open = [
            ("mds", "Vulnerable: no microcode"),
            ("spectre_v1", "Mitigation: usercopy"),
        ];
        assert_eq!(set(&open), "mitigations: 1 active, 1 vulnerable");
    }
}
