use super::*;

fn heard(cpu: u32, ratio: f64, shared: usize) -> Heard {
    let reading = |ratio: f64| ProbeReading {
        throughput: (1000.0 * ratio) as u32,
        chain: 1000,
    };
    let readings = (0..1000).map(|n| reading(if n % 10 < shared { 1.5 } else { ratio }));
    Heard {
        noise: Noise {
            cpu,
            ..Noise::default()
        },
        readings: readings.collect(),
        probe: UNKNOWN.probe(Clock::system()),
        long_chains: Vec::new(),
    }
}

/// A mode that an earlier run kept.
fn mode(ratio: f64) -> Alone {
    Alone {
        ratio,
        limit: ratio + 0.02,
        is_assumed: false,
    }
}

#[test]
fn how_often_a_core_was_ours_is_recorded() {
    let mut all = [heard(0, 0.84, 3), heard(1, 0.84, 0)];
    let cores = Cores::find(&mut all, false, None);
    assert_eq!(all[0].noise.alone_percent, Some(70.0));
    assert_eq!(all[1].noise.alone_percent, Some(100.0));
    let slowdown = all[0]
        .noise
        .shared_slowdown_percent
        .expect("some were shared");
    assert!((slowdown - 78.6).abs() < 0.5, "{slowdown}");
    assert_eq!(all[1].noise.shared_slowdown_percent, None);
    assert!(cores.alone(0).is_some() && cores.alone(7).is_none());
    assert_eq!(UNKNOWN.alone_or_alike(0), None);
}

#[test]
fn what_reading_the_clock_takes_is_that_on_a_core_that_is_ours() {
    let around = |ratio: f64, clock: u32| LongChain {
        around: [ProbeReading {
            throughput: (1000.0 * ratio) as u32,
            chain: 1000,
        }; 2],
        ticks: 4 * (1000 - clock) + clock,
    };
    let (shared, own) = (around(1.5, 75), around(0.84, 60));
    let share = |chains: Vec<LongChain>| {
        let mut one = heard(0, 0.84, 3);
        one.long_chains = chains;
        Cores::find(&mut [one], true, None).clock_share
    };
    let mostly_shared = [vec![shared; 900], vec![own; 20]].concat();
    assert!((share(mostly_shared) - 0.06).abs() < 1e-9);
    assert!(
        (share(vec![shared; 900]) - 0.075).abs() < 1e-9,
        "all there is"
    );
}

#[test]
fn a_core_that_was_never_ours_is_recognised_by_another_of_its_kind() {
    let mut all = [heard(0, 0.84, 3), heard(1, 1.2, 0)];
    let cores = Cores::find(&mut all, false, None);
    assert_eq!(all[1].noise.alone_percent, Some(0.0));
    assert_eq!(
        cores.alone(0).map(|a| a.ratio),
        cores.alone(1).map(|a| a.ratio)
    );
}

#[test]
fn what_is_seen_later_refutes_what_a_shared_core_showed() {
    let mut all = [heard(0, 1.2, 0), heard(1, 1.2, 0)];
    let mut cores = Cores::find(&mut all, false, None);
    assert_eq!(
        all[0].noise.alone_percent,
        Some(100.0),
        "as far as it knows"
    );
    assert!(!cores.learn(&mut [heard(0, 1.2, 1)]));
    let mut rare = heard(0, 1.2, 0);
    rare.readings.truncate(960);
    rare.readings
        .extend(heard(0, 0.84, 0).readings.into_iter().take(40));
    assert!(!cores.learn(&mut [rare]), "too few to believe");
    assert!(cores.learn(&mut [heard(1, 0.84, 5)]));
    for cpu in [0, 1] {
        let alone = cores.alone(cpu).expect("known");
        assert!((alone.ratio - 0.84).abs() < 0.01, "{alone:?}");
    }
    assert!(!cores.learn(&mut [heard(1, 0.84, 5)]), "nothing new");
}

#[test]
fn a_rare_state_that_an_earlier_run_kept_is_overruled_by_the_usual_one() {
    let known = mode(0.79);
    let mut all = [heard(0, 0.84, 3), heard(1, 1.2, 0)];
    let cores = Cores::find(&mut all, false, Some(known));
    assert_eq!(all[0].noise.alone_percent, Some(70.0));
    assert_eq!(cores.alone(1).map(|alone| alone.ratio), Some(0.84));
    // A much lower one is believed: both cores were shared.
    let much_lower = mode(0.7);
    let cores = Cores::find(&mut all, false, Some(much_lower));
    assert_eq!(cores.alone(0), Some(much_lower));
}

#[test]
fn cores_that_were_never_ours_are_known_by_an_earlier_run() {
    let known = mode(0.84);
    let mut all = [heard(0, 1.2, 0), heard(1, 1.21, 0)];
    let cores = Cores::find(&mut all, false, Some(known));
    assert_eq!(all[0].noise.alone_percent, Some(0.0));
    assert_eq!(cores.alone(1), Some(known));
    let mut all = [heard(0, 0.84, 3)];
    let cores = Cores::find(
        &mut all,
        false,
        Some(Alone {
            ratio: 1.1,
            limit: 1.13,
            is_assumed: false,
        }),
    );
    assert!(
        cores.alone(0).is_some_and(|alone| alone.ratio < 0.85),
        "seen anew, and less"
    );
}

/// Rounds on CPU 0 of which this share of the samples has the ratio of a core of our own, the others that of a shared one.
fn rounds(own: f64, ratio: u16) -> Vec<RoundSamples> {
    let count = (400.0 * own) as usize;
    let ratios = (0..400).map(|n| {
        if n < count {
            ratio + n as u16 % 5
        } else {
            1700 + 3 * n as u16
        }
    });
    vec![RoundSamples {
        ratios: ratios.collect(),
        ..RoundSamples::default()
    }]
}

#[test]
fn samples_that_contradict_the_listening_show_what_work_before_a_probe_does() {
    let cores = || Cores::find(&mut [heard(0, 1.39, 0)], false, None);
    // As on a Cascade Lake, with a burst that did not fit beside anything else: 1.39 back to back, more after
    // system calls.
    let mut shifted = cores();
    let found = shifted
        .learn_from_samples(rounds(0.7, 1550).iter(), |_| Some(0.75))
        .expect("a contradiction");
    assert!(
        (found.by - 1.116).abs() < 0.005 && found.believed == 0.0,
        "{found:?}"
    );
    let mut round = rounds(0.7, 1550).remove(0);
    round.own_limit = shifted.alone(0).map(|alone| alone.limit);
    let own = (0..400).filter(|sample| !round.is_shared(*sample)).count();
    assert_eq!(own, 280);
    // An hour in which the core was shared both times, and one in which both agree.
    for (own, ratio, listened) in [(0.02, 1550, 0.03), (0.7, 1390, 0.75), (0.0, 1550, 0.75)] {
        let mut cores = cores();
        let before = cores.clone();
        assert_eq!(
            cores.learn_from_samples(rounds(own, ratio).iter(), |_| Some(listened)),
            None,
            "{own}, {ratio}"
        );
        assert_eq!(cores, before);
    }
}

#[test]
fn what_another_program_took_is_not_ours() {
    let mut all = [heard(0, 0.84, 0)];
    all[0].noise.lost_percent = 90.0;
    Cores::find(&mut all, false, None);
    let noise = &all[0].noise;
    assert!(noise.alone_percent > Some(99.0), "{noise:?}");
    assert!(noise.ours_percent() < Some(10.0), "{noise:?}");
}
