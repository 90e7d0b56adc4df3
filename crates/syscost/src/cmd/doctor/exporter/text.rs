//! The state of the cores as metrics.

use jiff::Timestamp;
use syscost_harness::cores::{CoreState, WINDOW};
use syscost_report::export::{Families, Labels};

/// A family of the cores: name, unit, help, and the number where there is one.
type OfCores = (
    &'static str,
    &'static str,
    &'static str,
    fn(&CoreState) -> Option<f64>,
);

/// All of the window.
const OF_CORES: [OfCores; 7] = [
    (
        "core_ours",
        "ratio",
        "Share of the time in which the core worked for nobody else while something ran on this CPU",
        |core| core.exclusive,
    ),
    (
        "core_ours_ci95_low",
        "ratio",
        "Lower end of that share's 95 % confidence interval",
        |core| Some(core.exclusive_ci95?.0),
    ),
    (
        "core_ours_ci95_high",
        "ratio",
        "Upper end of that share's 95 % confidence interval",
        |core| Some(core.exclusive_ci95?.1),
    ),
    (
        "core_slowdown",
        "ratio",
        "How much longer independent instructions took while it did, 0.5 for half as long again",
        |core| core.slowdown,
    ),
    (
        "core_frequency",
        "hertz",
        "Frequency of the core while it worked",
        |core| Some(core.ghz? * 1e9),
    ),
    (
        "core_steal",
        "ratio",
        "Share of the time in which the hypervisor gave the CPU to another machine",
        |core| core.steal,
    ),
    (
        "core_probes",
        "",
        "Number of moments at which the core was looked at",
        |core| Some(core.probes as f64),
    ),
];

/// The metrics of a host, of which this process has used so much CPU time, in seconds, at this time.
pub(super) fn of(host: &str, cores: &[CoreState], used: f64, now: Timestamp) -> String {
    let mut text = Families::default();
    let host = Labels::default().with("host", host);
    for (name, unit, help, number) in OF_CORES {
        text.family(name, unit, help, |add| {
            for core in cores {
                if let Some(number) = number(core) {
                    add(&host.clone().with("cpu", &core.cpu.to_string()), number);
                }
            }
        });
    }
    let mut single = |name, unit, help, number| {
        text.family(name, unit, help, |add| add(&host, number));
    };
    let help = "How far back the figures of the cores reach, at most";
    single("core_window", "seconds", help, WINDOW.as_secs_f64());
    let help = "CPU time that this exporter has used since it began to look at cores";
    single("exporter_cpu", "seconds", help, used);
    let help =
        "When these figures were read, since 1970: those of an exporter that was killed stay";
    single(
        "exporter_read_timestamp",
        "seconds",
        help,
        now.as_millisecond() as f64 / 1e3,
    );
    text.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_has_no_series() {
        let known = CoreState {
            cpu: 0,
            probes: 40,
            exclusive: Some(0.25),
            exclusive_ci95: Some((0.14, 0.4)),
            slowdown: Some(0.5),
            ghz: Some(3.5),
            steal: Some(0.0),
        };
        let unknown = CoreState {
            cpu: 7,
            probes: 2,
            ..CoreState::default()
        };
        let now = Timestamp::from_millisecond(1_500).expect("a time");
        let text = of("a \"b\"", &[known, unknown], 1.5, now);
        let samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            samples,
            [
                "syscost_core_ours_ratio{host=\"a \\\"b\\\"\",cpu=\"0\"} 0.25",
                "syscost_core_ours_ci95_low_ratio{host=\"a \\\"b\\\"\",cpu=\"0\"} 0.14",
                "syscost_core_ours_ci95_high_ratio{host=\"a \\\"b\\\"\",cpu=\"0\"} 0.4",
                "syscost_core_slowdown_ratio{host=\"a \\\"b\\\"\",cpu=\"0\"} 0.5",
                "syscost_core_frequency_hertz{host=\"a \\\"b\\\"\",cpu=\"0\"} 3500000000.0",
                "syscost_core_steal_ratio{host=\"a \\\"b\\\"\",cpu=\"0\"} 0.0",
                "syscost_core_probes{host=\"a \\\"b\\\"\",cpu=\"0\"} 40.0",
                "syscost_core_probes{host=\"a \\\"b\\\"\",cpu=\"7\"} 2.0",
                "syscost_core_window_seconds{host=\"a \\\"b\\\"\"} 300.0",
                "syscost_exporter_cpu_seconds{host=\"a \\\"b\\\"\"} 1.5",
                "syscost_exporter_read_timestamp_seconds{host=\"a \\\"b\\\"\"} 1.5",
            ]
        );
    }
}
