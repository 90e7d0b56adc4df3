//! A hand-made run with a row of each kind, for the tests of every renderer.

mod directories;

use std::collections::BTreeMap;

use syscost_results::run::{Clock, Config, Noise, Warning};
use syscost_results::{
    Better, Estimate, Evidence, Fact, Flag, Known, Machine, Measurement, Role, RoundSamples, Run,
    Status, Unit, Verdict, fixture, row_name,
};

pub(crate) use directories::of_directories;

pub(crate) fn run() -> Run {
    let whole = fixture::run("20261121T080000Z-1", measurements());
    Run {
        duration_s: 54.2,
        machine: Machine {
            cpu_model: "Imaginary CPU 9000".to_owned(),
            cpus_online: 2,
            hypervisor: Known::Yes("KVM".to_owned()),
            kernel: "Linux 6.18.0".to_owned(),
            ..Machine::default()
        },
        clock: Clock {
            ghz: 2.596,
            step_ns: 0.77,
            read_ns: 12.3,
            drift_ppm: Some(0.2),
            ..whole.clock
        },
        core_ghz: Some(3.693),
        noise: vec![core(0, 12.0, None), core(1, 62.0, Some(43.0))],
        config: Config {
            profile: "standard".to_owned(),
            budget_s: 60.0,
            min_rounds: 9,
            max_rounds: 17,
            samples_per_round: 30,
            worker_start_ms: Some(2.1),
            ..whole.config
        },
        warnings: vec![Warning {
            code: "steal".to_owned(),
            message: "the hypervisor took 0.4 % of the time".to_owned(),
            advice: "Measure on a machine of its own, or when the host is quiet.".to_owned(),
        }],
        ..whole
    }
}

/// A CPU whose core was ours in `alone_percent` of the probes, and whose independent instructions
/// took `shared_slowdown_percent` longer when it was not.
fn core(cpu: u32, alone_percent: f64, shared_slowdown_percent: Option<f64>) -> Noise {
    Noise {
        cpu,
        probe_s: 1.0,
        lost_percent: 0.2,
        longest_gap_us: 31.0,
        gaps_over_5us: 90,
        used: cpu == 1,
        measured_alone_percent: None,
        alone_percent: Some(alone_percent),
        shared_slowdown_percent,
        alone_ratio: Some(0.84),
        alone_limit: Some(0.88),
        limit_basis: Some(syscost_results::LimitBasis::Gap),
        core_ghz: Some(3.7),
    }
}

pub(crate) fn row<'a>(run: &'a Run, name: &str) -> &'a Measurement {
    run.measurements
        .iter()
        .find(|row| row.name == name)
        .expect("a row of the fixture")
}

fn measurements() -> Vec<Measurement> {
    let confirmed = || {
        vec![claim(
            "getppid system calls per operation",
            Some(1.0),
            Verdict::Confirmed,
        )]
    };
    vec![
        measured(
            "timing.clock_read{source=tsc}",
            [9.861, 9.874, 9.89, 9.81],
            Some(36.46),
            confirmed(),
        ),
        rate(
            measured(
                "timing.core_frequency",
                [3.69, 3.693, 3.695, 3.68],
                None,
                confirmed(),
            ),
            Unit::Gigahertz,
            3.697,
        ),
        measured(
            "call.integer{arguments=0}",
            [0.812, 0.8132, 0.8139, 0.8121],
            Some(3.003),
            confirmed(),
        ),
        Measurement {
            status: Status::BelowResolution,
            reason: Some("the interval of the cost touches zero".to_owned()),
            flags: vec![Flag::LowTrust],
            estimate: Estimate {
                ci95_high: Some(0.0431),
                raw_median: Some(0.82),
                rounds: 9,
                samples: 270,
                ..Estimate::default()
            },
            ..measured("call.struct_return{size=16}", [0.0; 4], None, confirmed())
        },
        on_a_shared_core(
            measured(
                "syscall.null{call=getppid}",
                [78.2, 79.13, 79.8, 77.1],
                Some(292.2),
                confirmed(),
            ),
            34.2,
            93.4,
        ),
        Measurement {
            status: Status::Withheld,
            evidence: vec![Evidence {
                reason: Some("the C library answered from its own memory".to_owned()),
                ..claim(
                    "getpid system calls per operation",
                    Some(0.0),
                    Verdict::Refuted,
                )
            }],
            ..without("syscall.null{call=getpid,via=libc}", Status::Withheld, None)
        },
        Measurement {
            flags: vec![Flag::NotConverged, Flag::Noisy],
            details: BTreeMap::from([
                ("disturbed_percent".to_owned(), 12.5),
                ("median_undisturbed_ns".to_owned(), 12100.123456),
            ]),
            ..measured(
                "syscall.poll{descriptors=500,of=tcp,ready=last}",
                [11_900.0, 12_345.0, 13_100.0, 11_801.0],
                Some(45_590.0),
                confirmed(),
            )
        },
        without(
            "syscall.io_uring_nop{batch=8}",
            Status::Unsupported,
            Some("io_uring_setup: operation not permitted"),
        ),
        without(
            "syscall.cold",
            Status::Skipped,
            Some("the budget of 60 s was spent"),
        ),
        Measurement {
            flags: vec![Flag::NotSteady, Flag::TwoModes, Flag::PartlyUnverified],
            evidence: vec![
                claim("handlers run per operation", Some(1.0), Verdict::Confirmed),
                Evidence {
                    source: "rusage".to_owned(),
                    reason: Some("the kernel does not count them".to_owned()),
                    ..claim("signals per operation", None, Verdict::Unverified)
                },
            ],
            ..measured(
                "signal.catch",
                [1020.0, 1034.0, 1050.0, 990.0],
                Some(3818.0),
                Vec::new(),
            )
        },
        without(
            "signal.protection_fault",
            Status::Failed,
            Some(
                "the worker was ended by its time limit of 2 s in round 3: the handler never returned, so look for a \
             tracer or a sandbox that swallows SIGSEGV",
            ),
        ),
        without(
            "signal.mask",
            Status::Unsupported,
            Some("io_uring_setup: operation not permitted"),
        ),
    ]
}

fn claim(claim: &str, observed: Option<f64>, verdict: Verdict) -> Evidence {
    Evidence {
        observed: observed.map(Fact::Number),
        verdict,
        ..Evidence::unobserved(claim, 1.0, "seccomp audit")
    }
}

/// A row with low end, median, high end and minimum.
pub(crate) fn measured(
    name: &str,
    numbers: [f64; 4],
    core_cycles: Option<f64>,
    evidence: Vec<Evidence>,
) -> Measurement {
    let [low, median, high, min] = numbers;
    Measurement {
        status: Status::Ok,
        estimate: Estimate {
            median: Some(median),
            ci95_low: Some(low),
            ci95_high: Some(high),
            min: Some(min),
            best: Some(min),
            mad: Some((high - low) / 4.0),
            raw_median: Some(median),
            coverage: Some(0.9609375),
            rounds: 9,
            samples: 270,
            ..Estimate::default()
        },
        core_cycles,
        evidence,
        ..without(name, Status::Ok, None)
    }
}

fn rate(mut row: Measurement, unit: Unit, best: f64) -> Measurement {
    (row.unit, row.better) = (unit, Better::Higher);
    row.estimate.best = Some(best);
    row
}

/// The row with this percentage of its samples undisturbed, and its cost on a shared core.
fn on_a_shared_core(mut row: Measurement, undisturbed_percent: f64, shared: f64) -> Measurement {
    row.estimate.undisturbed_percent = Some(undisturbed_percent);
    row.estimate.shared_median = Some(shared);
    row
}

/// The row with samples of six processes on a core that others used at times, and with what probes
/// showed around them.
pub(crate) fn probed(row: Measurement, own_limit: f64) -> Measurement {
    let median = row.estimate.median.unwrap_or(1.0);
    let shared = row.estimate.shared_median.unwrap_or(median);
    let of_round = |round: u32| {
        // Spread evenly, by irrational steps: no two samples are the same.
        let spread = |sample: u32, step: f64| (f64::from(30 * round + sample) * step).fract() - 0.5;
        let along = |sample| spread(sample, 2.0_f64.sqrt());
        let up = |sample| spread(sample, 3.0_f64.sqrt()) + spread(sample, 5.0_f64.sqrt());
        let is_own = |sample: u32| sample < 10 + 2 * round;
        let value = |sample| match is_own(sample) {
            true => median * (1.0 + 0.01 * up(sample)),
            false => shared * (1.0 + 0.15 * up(sample)),
        };
        let ratio = |sample| match is_own(sample) {
            true => 1262.0 + 12.0 * along(sample),
            false => 2050.0 + 700.0 * along(sample),
        };
        RoundSamples {
            round,
            cpu: 1,
            iterations: 1000,
            alone_percent: Some(50.0),
            values: (0..30).map(value).collect(),
            ratios: (0..30).map(|sample| ratio(sample) as u16).collect(),
            own_limit: Some(own_limit),
            ..RoundSamples::default()
        }
    };
    Measurement {
        samples: Some((0..6).map(of_round).collect()),
        ..row
    }
}

/// The parameters in a row's name.
pub(crate) fn case_of(name: &str) -> BTreeMap<String, String> {
    row_name::parameters(name)
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

/// What a row of the fixtures stands for.
fn roles_of(name: &str) -> Vec<Role> {
    let is_cold_read = name.starts_with("fs.read{") && name.ends_with("cache=cold,size=4K}");
    let role = match name {
        "syscall.null{call=getppid}" => Some(Role::SystemCall),
        "call.integer{arguments=0}" => Some(Role::FunctionCall),
        _ => is_cold_read.then_some(Role::ColdRead),
    };
    role.into_iter().collect()
}

/// A row without a number.
fn without(name: &str, status: Status, reason: Option<&str>) -> Measurement {
    Measurement {
        name: name.to_owned(),
        id: row_name::id(name).to_owned(),
        case: case_of(name),
        title: "What it measures".to_owned(),
        revision: 1,
        unit: Unit::Nanoseconds,
        better: Better::Lower,
        status,
        reason: reason.map(str::to_owned),
        estimate: Estimate::default(),
        roles: roles_of(name),
        ..Measurement::default()
    }
}
