//! The words of statuses, flags and summaries, the same in every renderer.

mod directory;
mod settings;
mod shared;
mod summary;
mod words;

use serde::{Deserialize, Serialize};
use syscost_results::{Evidence, Measurement, Run, Verdict};

use crate::tone::Tone;
use crate::units::quantity;
pub use directory::directory;
pub(crate) use settings::hypervisor;
pub use settings::{frequency, hardware, precision, settings};
pub use shared::{
    core_ours, hour, own_limit, samples, share, slower_while_shared, states, undisturbed,
};
pub(crate) use shared::{ends_of_ours, times_own, without_column};
pub use summary::{summary, summary_of_part};
pub use words::{agreeing, count, fact, listed, time};
pub(crate) use words::{capital, host};

/// The overall evidence of a measurement, or that of one claim; exports have it as a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// Every claim was counted and confirmed.
    Confirmed,
    /// Some claim could not be confirmed, or there were no claims.
    Unverified,
    /// Some claim was refuted.
    Refuted,
}

impl Mark {
    /// The mark of a measurement: its worst verdict.
    pub fn of(evidence: &[Evidence]) -> Self {
        match evidence.iter().map(|evidence| evidence.verdict).max() {
            Some(Verdict::Confirmed) => Mark::Confirmed,
            Some(Verdict::Unverified) | None => Mark::Unverified,
            Some(Verdict::Refuted) => Mark::Refuted,
        }
    }

    /// The sign in the table.
    pub fn sign(self) -> &'static str {
        match self {
            Mark::Confirmed => "✓",
            Mark::Unverified => "?",
            Mark::Refuted => "✗",
        }
    }

    pub(crate) fn tone(self) -> Tone {
        match self {
            Mark::Confirmed => Tone::Good,
            Mark::Unverified => Tone::Care,
            Mark::Refuted => Tone::Bad,
        }
    }

    /// Its meaning, for the legend.
    pub fn meaning(self) -> &'static str {
        match self {
            Mark::Confirmed => "every claim was counted and confirmed",
            Mark::Unverified => {
                "a claim could not be confirmed: not countable here, too noisy, or the system reports something else"
            }
            Mark::Refuted => "a claim was refuted, so the number is withheld",
        }
    }
}

/// Why a row has no number: `withheld: called nothing`.
pub fn no_number(measurement: &Measurement) -> String {
    let status = measurement.status.words();
    match reason(measurement) {
        Some(reason) => format!("{status}: {reason}"),
        None => status.to_owned(),
    }
}

/// The reason for a row's status; for refuted claims without a reason, the first such claim in
/// words.
pub fn reason(measurement: &Measurement) -> Option<String> {
    measurement.reason.clone().or_else(|| {
        measurement
            .evidence
            .iter()
            .find(|evidence| evidence.verdict == Verdict::Refuted)
            .map(Evidence::to_string)
    })
}

/// The machine in one line: CPU, in how many probes its core was ours, kernel, clock and core
/// frequency, as far as known.
pub fn machine(run: &Run) -> String {
    let machine = &run.machine;
    let mut parts = vec![fact(&machine.cpu_model)];
    parts.push(count(machine.cpus_online as usize, "CPU"));
    match &run.config.cpus[..] {
        [] => {}
        [cpu] => parts.push(format!("measured on CPU {cpu}")),
        cpus => {
            let mut cpus = cpus.to_vec();
            cpus.sort_unstable();
            let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
            parts.push(format!("measured on CPUs {}", cpus.join(" and ")));
        }
    }
    parts.extend(core_ours(run.noise.iter().filter(|noise| noise.used)));
    parts.extend(hypervisor(machine));
    parts.push(fact(&machine.kernel));
    parts.push(format!("clock {}", run.clock.source));
    parts.extend(
        run.core_ghz
            .map(|ghz| format!("core {}", quantity(syscost_results::Unit::Gigahertz, ghz))),
    );
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// The far end of the network measurements in a line, if there was one.
pub fn peer(run: &Run) -> Option<String> {
    let peer = run.peer.as_deref()?;
    let machine = &peer.machine;
    let name = match peer.name == peer.address {
        true => peer.name.clone(),
        false => format!("{} ({})", peer.name, peer.address),
    };
    let hardware = hardware(machine);
    let version = &peer.version;
    Some(format!("far end {name}: {hardware}, syscost {version}"))
}

/// The NFS server that was measured without a mount, in a line, if there was one.
pub fn nfs(run: &Run) -> Option<String> {
    let server = run.nfs.as_deref()?;
    let name = match server.name == server.export {
        true => server.name.clone(),
        false => format!("{} ({})", server.name, server.export),
    };
    Some(format!("NFS server {name}, version 3 without a mount"))
}

#[cfg(test)]
mod tests {
    use syscost_results::Known;
    use syscost_results::machine::EMULATORS;

    use syscost_results::Flag;

    use super::*;
    use crate::expect::has;
    use crate::fixture;

    #[test]
    fn the_far_end_is_named_in_a_line() {
        let mut run = fixture::run();
        assert_eq!(peer(&run), None);
        run.peer = Some(Box::new(syscost_results::run::Peer {
            name: "db1:7717".to_owned(),
            address: "10.0.0.1:7717".to_owned(),
            version: "0.1.0".to_owned(),
            machine: syscost_results::Machine {
                cpus_online: 8,
                kernel: "Linux 6.1.0".to_owned(),
                ..run.machine.clone()
            },
        }));
        assert_eq!(
            peer(&run).expect("there is one"),
            format!(
                "far end db1:7717 (10.0.0.1:7717): {}, 8 CPUs, KVM, Linux 6.1.0, syscost 0.1.0",
                run.machine.cpu_model
            )
        );
    }

    #[test]
    fn the_nfs_server_is_named_in_a_line() {
        let mut run = fixture::run();
        assert_eq!(nfs(&run), None);
        run.nfs = Some(Box::new(syscost_results::run::NfsServer {
            name: "nfs://db1/srv".to_owned(),
            export: "nfs://10.0.0.1:2049:635/srv".to_owned(),
            read_bytes: 1 << 20,
            write_bytes: 1 << 20,
        }));
        let line =
            "NFS server nfs://db1/srv (nfs://10.0.0.1:2049:635/srv), version 3 without a mount";
        assert_eq!(nfs(&run).as_deref(), Some(line));
    }

    #[test]
    fn without_a_claim_nothing_is_confirmed() {
        assert_eq!(Mark::of(&[]), Mark::Unverified);
    }

    #[test]
    fn a_row_tells_its_price_in_company() {
        let mut run = fixture::run();
        let row = |run: &Run| undisturbed(fixture::row(run, "syscall.null{call=getppid}"));
        assert_eq!(
            row(&run).as_deref(),
            Some("undisturbed 34 % of samples; in company 93.4 ns, 1.18x")
        );
        let measured = &mut run.measurements[4];
        let estimate = &mut measured.estimate;
        (estimate.shared_ci95_low, estimate.shared_ci95_high) = (Some(92.0), Some(95.5));
        assert_eq!(
            row(&run).as_deref(),
            Some("undisturbed 34 % of samples; in company 93.4 ns (92.0 to 95.5 ns), 1.18x")
        );
        let measured = &mut run.measurements[4];
        measured.flags = vec![Flag::Disturbed];
        measured.estimate.undisturbed_percent = Some(1.25);
        assert_eq!(
            row(&run).as_deref(),
            Some(
                "undisturbed 1.2 % of samples; the price is that in company: an own core was not seen meanwhile"
            )
        );
        run.measurements[4].flags.clear();
        run.measurements[4].estimate.shared_median = None;
        assert_eq!(row(&run).as_deref(), Some("undisturbed 1.2 % of samples"));
        assert_eq!(undisturbed(fixture::row(&run, "signal.catch")), None);
    }

    #[test]
    fn the_hour_is_told_in_words() {
        let mut run = fixture::run();
        assert_eq!(
            hour(&run).as_deref(),
            Some(
                "good hour: every row on a core of our own; beside neighbours operations cost 1.18x"
            )
        );
        // An own core is no good hour for numbers that tell little.
        let precise = run.measurements[4].estimate.ci95_high.replace(1e3);
        let text = hour(&run).expect("probed");
        let expected = "poor hour: every row on a core of our own, 0 of them within 10 %";
        has(&text, &[expected]);
        run.measurements[4].estimate.ci95_high = precise;
        // A rate that falls to a quarter is a cost of four times as much.
        let rate = &mut run.measurements[1];
        rate.estimate.undisturbed_percent = Some(50.0);
        rate.estimate.shared_median = Some(0.25 * 3.693);
        let in_company = &mut run.measurements[2];
        in_company.flags = vec![Flag::Disturbed];
        in_company.estimate.undisturbed_percent = Some(0.0);
        let text = hour(&run).expect("probed");
        let expected = "fair hour: 2 of 3 rows on a core of our own; beside neighbours operations cost 1.46x to 3.72x";
        assert_eq!(text, expected);
        let used = &mut run.noise[1];
        used.limit_basis = Some(syscost_results::LimitBasis::Assumed);
        (used.alone_percent, used.measured_alone_percent) = (Some(75.0), Some(1.0));
        has(
            &hour(&run).expect("probed"),
            &[
                "CPU 1 showed probes of one kind only: that they are of an own core is assumed",
                "CPU 1 seemed its own in 75 % of probes before the run and in 1.0 % while measuring: one of them is wrong, or the hour changed",
            ],
        );
        run.noise.clear();
        for row in &mut run.measurements {
            row.estimate.undisturbed_percent = None;
        }
        assert_eq!(hour(&run), None);
    }

    #[test]
    fn a_row_tells_by_what_its_samples_were_judged() {
        use syscost_results::{LimitBasis, Sharing};
        let mut row = fixture::run().measurements.remove(4);
        assert_eq!(own_limit(&row), None);
        for (basis, why) in [
            (
                LimitBasis::Gap,
                "between own and shared cores, both of which were seen",
            ),
            (
                LimitBasis::Assumed,
                "as assumed: probes of one kind only were seen",
            ),
            (
                LimitBasis::Effect,
                "up to which the row's values do not change",
            ),
        ] {
            row.sharing = Some(Sharing { limit: 1.05, basis });
            let text = format!("samples count as own up to 1.05x the ratio of an own core, {why}");
            assert_eq!(own_limit(&row), Some(text));
        }
    }

    #[test]
    fn a_row_tells_the_two_states_of_its_operations() {
        let run = fixture::run();
        let mut row = fixture::row(&run, "syscall.null{call=getppid}").clone();
        assert_eq!(states(&row), None);
        row.details.extend([
            ("fast_state_ns".to_owned(), 45_200.0),
            ("slow_state_ns".to_owned(), 85_100.0),
            ("slow_state_percent".to_owned(), 39.4),
        ]);
        let text = "two states: 45.2 µs, and 85.1 µs in 39 % of single operations";
        assert_eq!(states(&row).as_deref(), Some(text));
    }

    #[test]
    fn each_core_is_named_with_its_cpu() {
        let mut run = fixture::run();
        assert_eq!(
            core_ours(&run.noise).as_deref(),
            Some("core ours in 12 % of probes (CPU 0), 62 % (CPU 1)")
        );
        assert_eq!(
            slower_while_shared(&run.noise).as_deref(),
            Some("independent instructions take 43 % longer while shared (CPU 1)")
        );
        for noise in &mut run.noise {
            (noise.alone_percent, noise.shared_slowdown_percent) = (None, None);
        }
        assert_eq!(core_ours(&run.noise), None);
        assert_eq!(slower_while_shared(&run.noise), None);
    }

    #[test]
    fn a_share_has_no_more_digits_than_it_needs() {
        assert_eq!(
            [0.0, 0.06, 3.24, 9.97, 62.4, 100.0].map(share),
            ["0 %", "0.1 %", "3.2 %", "10 %", "62 %", "100 %"]
        );
    }

    #[test]
    fn the_machine_leaves_out_what_is_not_known() {
        let mut run = fixture::run();
        assert_eq!(
            machine(&run),
            "Imaginary CPU 9000, 2 CPUs, measured on CPU 1, core ours in 62 % of probes (CPU 1), KVM, Linux 6.18.0, clock tsc, core 3.69 GHz"
        );
        run.machine.hypervisor = Known::Yes(EMULATORS[0].to_owned());
        assert!(machine(&run).contains(", emulated by QEMU TCG, Linux"));
        run.machine.hypervisor = Known::No;
        run.machine.cpus_online = 1;
        run.core_ghz = None;
        run.noise.clear();
        assert_eq!(
            machine(&run),
            "Imaginary CPU 9000, 1 CPU, measured on CPU 1, Linux 6.18.0, clock tsc"
        );
    }
}
