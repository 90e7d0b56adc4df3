//! What is found, and how much it matters.

use syscost_results::run::Health;

use super::*;

fn codes(machine: &Machine, state: &ProcessState) -> Vec<(&'static str, Level)> {
    examine(machine, state)
        .into_iter()
        .filter(|finding| finding.level > Level::Good)
        .map(|finding| (finding.code, finding.level))
        .collect()
}

/// A machine that reports its state.
fn reporting() -> Machine {
    Machine {
        turbo: Some(false),
        idle_driver: Some("intel_idle".into()),
        smt: Some(false),
        transparent_hugepages: Some("madvise".into()),
        cpu_pressure_avg10: Some(0.0),
        perf_event_paranoid: Some(-1),
        aslr: Some(2),
        hypervisor: Known::No,
        cgroup_cpu_quota: Known::No,
        clocksource: Some("tsc".into()),
        kernel_version: Some("Linux version 6.1.0 (a@b) (gcc)".into()),
        ..Machine::default()
    }
}

#[test]
fn each_trouble_is_found_once_and_advised() {
    let machine = Machine {
        governor: Some("powersave".into()),
        hypervisor: Known::Yes("KVM".into()),
        clocksource: Some("hpet".into()),
        cpus_online: 2,
        load1: Some(7.0),
        cgroup_cpu_quota: Known::Yes(0.5),
        ..reporting()
    };
    let state = ProcessState {
        traced: Some(true),
        settings: Some(vec![
            "speculative store bypass is disabled for this process",
        ]),
        counted_by: Known::Yes("perf".into()),
        landlock_layers: Some(3),
        reports_waits: Some(false),
        has_vdso: Some(false),
        ..usual()
    };
    assert_eq!(
        codes(&machine, &state),
        [
            ("tracer", Level::Bad),
            ("perf_events", Level::Bad),
            ("landlock", Level::Warning),
            ("schedstat", Level::Warning),
            ("process_settings", Level::Warning),
            ("vdso", Level::Warning),
            ("clocksource", Level::Warning),
            ("governor", Level::Warning),
            ("idle", Level::Note),
            ("hypervisor", Level::Warning),
            ("cgroup_quota", Level::Warning),
            ("load", Level::Warning),
        ]
    );
    let all = examine(&machine, &state);
    assert!(
        all.iter()
            .all(|f| f.advice.is_empty() == (f.level == Level::Good))
    );
}

#[test]
fn a_counter_that_is_not_used_fails_no_clock() {
    let warned = |source: Source, check: &str| {
        let clock = Clock {
            source: source.name().to_owned(),
            health: vec![Health {
                check: check.to_owned(),
                ok: Some(false),
                detail: String::new(),
            }],
            ..Clock::default()
        };
        !warnings_after(&clock, None).is_empty()
    };
    for (source, check, expected) in [
        (Source::Tsc, "invariant", true),
        (Source::ClockGettime, "invariant", false),
        (Source::ClockGettime, DRIFT, true),
    ] {
        assert_eq!(warned(source, check), expected, "{source:?} {check}");
    }
}

#[test]
fn a_tracer_that_came_later_is_warned_of_once() {
    assert_eq!(late_tracer(false, &[]), None);
    let late = late_tracer(true, &[]).expect("a warning");
    assert_eq!(late.code, "tracer");
    assert_eq!(late_tracer(true, &[late]), None);
}

#[test]
fn times_that_were_converted_far_are_warned_of() {
    let row = |percent: f64| Measurement {
        details: [(CONVERTED.to_owned(), percent)].into(),
        ..Measurement::default()
    };
    assert_eq!(
        converted(&[row(9.9), row(-9.9), Measurement::default()]),
        None
    );
    let warning = converted(&[row(3.0), row(-12.4), row(11.0)]).expect("a warning");
    let message = "2 of 3 rows were measured at another frequency than the usual one, by up to 12 %: \
                   their times are converted";
    assert_eq!((&*warning.code, &*warning.message), ("converted", message));
}

#[test]
fn a_process_that_pays_other_costs_is_told_from_the_one_that_began() {
    let machine = reporting();
    let niced = |nice| ProcessState {
        scheduling: Some(Scheduling {
            class: Class::Normal,
            nice,
        }),
        ..usual()
    };
    let filtered = ProcessState {
        seccomp: Some(true),
        ..usual()
    };
    let begun_by = |state: &ProcessState| -> Vec<Warning> {
        let bad = examine(&machine, state).into_iter();
        bad.filter(|finding| finding.level >= Level::Warning)
            .map(|finding| warning(finding.code, finding.seen, finding.advice))
            .collect()
    };
    for (then, now, expected) in [
        (usual(), usual(), None),
        (filtered.clone(), filtered.clone(), None),
        (niced(5), niced(5), None),
        (
            usual(),
            filtered.clone(),
            Some("did not begin with this: this process runs"),
        ),
        (filtered, usual(), Some("which is gone")),
        (
            niced(5),
            niced(10),
            Some("nice 5; now it is: SCHED_OTHER, nice 10"),
        ),
    ] {
        let seen = difference(&machine, &now, &begun_by(&then));
        match expected {
            None => assert_eq!(seen, None),
            Some(part) => assert!(
                seen.as_ref().is_some_and(|all| all.contains(part)),
                "{seen:?}"
            ),
        }
    }
}

/// A process that the scheduler treats like any other.
fn usual() -> ProcessState {
    ProcessState {
        scheduling: Some(Scheduling {
            class: Class::Normal,
            nice: 0,
        }),
        seccomp: Some(false),
        traced: Some(false),
        aslr_disabled: Some(false),
        proc: ProcShows::Us,
        settings: Some(Vec::new()),
        has_vdso: Some(true),
        counted_by: Known::No,
        landlock_layers: Some(0),
        reports_waits: Some(true),
        environment: Vec::new(),
    }
}

#[test]
fn another_class_or_nice_value_is_found() {
    for (class, nice, level, seen) in [
        (Class::Normal, 5, Level::Warning, "SCHED_OTHER, nice 5"),
        (Class::Normal, -5, Level::Note, "SCHED_OTHER, nice -5"),
        (Class::Other(5), 0, Level::Warning, "SCHED_IDLE, nice 0"),
        (Class::Fifo(1), 0, Level::Warning, "SCHED_FIFO 1, nice 0"),
    ] {
        let found = scheduling(Some(Scheduling { class, nice }));
        assert_eq!((found.level, found.seen.as_str()), (level, seen));
    }
    assert_eq!(scheduling(None).level, Level::Note);
}

#[test]
fn a_hypervisors_clock_that_programs_read_themselves_is_not_distrusted() {
    for (clocksource, level) in [
        ("kvm-clock", Level::Good),
        ("hyperv_clocksource_tsc_page", Level::Good),
        ("hyperv_clocksource_msr", Level::Warning),
        ("hpet", Level::Warning),
    ] {
        let machine = Machine {
            clocksource: Some(clocksource.into()),
            ..reporting()
        };
        let all = examine(&machine, &usual());
        let found = all
            .iter()
            .find(|one| one.code == "clocksource")
            .expect("one");
        assert_eq!(found.level, level, "{found:?}");
    }
}

#[test]
fn a_sound_machine_has_no_findings() {
    let machine = Machine {
        governor: Some("performance".into()),
        clocksource: Some("tsc".into()),
        cpus_online: 2,
        load1: Some(0.1),
        ..reporting()
    };
    assert_eq!(codes(&machine, &usual()), []);
}

#[test]
fn what_the_system_does_not_report_is_not_called_good() {
    let machine = Machine::default();
    let all = examine(&machine, &ProcessState::default());
    let of = |code: &str| all.iter().find(|one| one.code == code).expect(code);
    for code in [
        "governor",
        "turbo",
        "idle",
        "smt",
        "load",
        "cpu_pressure",
        "clocksource",
        "kernel",
        "hypervisor",
        "transparent_hugepages",
        "perf",
        "scheduling",
        "seccomp",
        "tracer",
        "perf_events",
        "landlock",
        "schedstat",
        "aslr",
        "process_settings",
        "vdso",
        "cgroup_quota",
    ] {
        assert_eq!(of(code).level, Level::Note, "{:?}", of(code));
        assert!(of(code).seen.contains("unknown"), "{:?}", of(code));
    }
    assert_eq!(of("proc").level, Level::Bad, "no run can start");
    let good = all.iter().filter(|one| one.level == Level::Good);
    let good: Vec<&str> = good.map(|one| one.code).collect();
    assert_eq!(good, ["build", "environment"]);
}

#[test]
fn an_emulated_processor_is_bad_and_a_hypervisor_only_worth_a_warning() {
    let level = |hypervisor| {
        let machine = Machine {
            hypervisor,
            ..reporting()
        };
        let all = examine(&machine, &usual());
        let found = all
            .into_iter()
            .find(|one| one.code == "hypervisor" || one.code == EMULATOR);
        let found = found.expect("one");
        (found.code, found.level)
    };
    let named = |name: &str| Known::Yes(name.to_owned());
    for name in syscost_sys::platform::EMULATORS {
        assert_eq!(level(named(name)), (EMULATOR, Level::Bad));
    }
    for (hypervisor, expected) in [
        (named("KVM"), Level::Warning),
        (Known::No, Level::Good),
        (Known::Unknown, Level::Note),
    ] {
        assert_eq!(level(hypervisor), ("hypervisor", expected));
    }
}

#[test]
fn a_kernel_that_imitates_linux_is_bad_and_a_guest_of_windows_is_named() {
    let seen = |code, version: Option<&str>| {
        let machine = Machine {
            hypervisor: Known::Yes("Hyper-V".into()),
            kernel: "Linux 4.4.0".into(),
            kernel_version: version.map(str::to_owned),
            ..reporting()
        };
        let mut all = examine(&machine, &usual()).into_iter();
        let found = all.find(|one| one.code == code).expect("one");
        (found.level, found.seen)
    };
    let imitated = |name| (Level::Bad, format!("{name}, which imitates Linux"));
    for (version, expected) in [
        (
            "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016",
            imitated("gVisor"),
        ),
        ("Linux version 4.19.0-gvisor #1 SMP", imitated("gVisor")),
        (
            "Linux version 4.4.0-18985-Microsoft (Microsoft@Microsoft.com) (gcc)",
            imitated("WSL 1"),
        ),
        (
            "Linux version 4.4.0 (a@b) (gcc) #1 SMP",
            (Level::Good, "Linux 4.4.0".into()),
        ),
    ] {
        assert_eq!(seen("kernel", Some(version)), expected);
    }
    assert_eq!(seen("kernel", None).0, Level::Note);
    let wsl = "Linux version 5.15.90.1-microsoft-standard-WSL2 (oe-user@oe-host)";
    let expected = "virtual machine of Windows (Hyper-V, WSL 2)";
    assert_eq!(
        seen("hypervisor", Some(wsl)),
        (Level::Warning, expected.into())
    );
}

#[test]
fn a_long_gap_is_given_in_milliseconds() {
    assert_eq!(
        [85.0, 999.0, 12_350.4].map(gap),
        ["85 µs", "999 µs", "12.4 ms"]
    );
}

#[test]
fn a_cpu_that_comes_to_measure_later_has_its_warning_too() {
    let probe = |cpu, used| Noise {
        cpu,
        used,
        lost_percent: 40.0 + f64::from(cpu),
        ..Noise::default()
    };
    let mut warnings = Vec::new();
    add_noise(&mut warnings, &[probe(0, false), probe(1, true)]);
    add_noise(
        &mut warnings,
        &[probe(0, true), probe(1, true), probe(2, false)],
    );
    let messages: Vec<&str> = warnings.iter().map(|one| &*one.message).collect();
    let both = "CPUs 0-1 lost 40.0 to 41.0 % of their time to others, longest gap 0 µs";
    assert_eq!(messages, [both]);
}

#[test]
fn what_makes_numbers_wrong_comes_first_and_what_is_known_last() {
    let codes = ["hypervisor", "far_end", "load", "noise", EMULATOR, "clock"];
    let mut warnings = codes.map(|code| warning(code, String::new(), ""));
    worst_first(&mut warnings);
    let sorted = warnings.map(|warning| warning.code);
    assert_eq!(
        sorted,
        [EMULATOR, "clock", "load", "noise", "far_end", "hypervisor"]
    );
}
