//! The limit of a row, simulated.

use syscost_stats::interval;

use super::*;
use crate::estimate::selection::select;
use crate::fixture::normal;

/// Of an own core.
pub(in crate::estimate) const CORE: OwnCore = OwnCore {
    ratio: 1.25,
    limit: 1.4,
    basis: LimitBasis::Gap,
};

fn cores() -> OwnCores {
    [(0, CORE)].into()
}

/// A row in an hour: how much of the time its core is shared, how much a neighbour that halves the
/// core's throughput slows it, and how far its samples vary.
#[derive(Debug, Clone, Copy)]
pub(in crate::estimate) struct Hour {
    pub(in crate::estimate) shared: f64,
    pub(in crate::estimate) slower: f64,
    pub(in crate::estimate) spread: f64,
    /// How many samples a neighbour stays.
    pub(in crate::estimate) stays: f64,
    pub(in crate::estimate) rounds: usize,
}

impl Hour {
    /// Its samples, around 100 on an own core.
    pub(in crate::estimate) fn rounds(self, rng: &mut fastrand::Rng) -> Vec<RoundSamples> {
        let mut is_there = rng.f64() < self.shared;
        let mut round = |number| {
            let process = 0.5 * self.spread * normal(rng);
            let mut round = RoundSamples {
                round: number as u32,
                alone_percent: Some(50.0),
                ..RoundSamples::default()
            };
            for _ in 0..9 {
                if rng.f64() * self.stays < 1.0 {
                    is_there = rng.f64() < self.shared;
                }
                let ratio = match is_there {
                    true => 1.2 + 0.8 * rng.f64(),
                    false => 1.0 + 0.01 * normal(rng).abs(),
                };
                let slowed = 1.0
                    + if is_there {
                        self.slower * (ratio - 1.0)
                    } else {
                        0.0
                    };
                let noise = process + self.spread * normal(rng);
                round.values.push(100.0 * slowed * noise.exp());
                round.ratios.push((1250.0 * ratio) as u16);
            }
            round
        };
        (0..self.rounds).map(&mut round).collect()
    }
}

#[test]
fn the_own_price_is_right_whatever_the_share_of_sharing() {
    let mut rng = fastrand::Rng::with_seed(17);
    let unit = Unit::Nanoseconds;
    for shared in [0.0, 0.2, 0.5, 0.8, 0.95] {
        for slower in [0.0, 0.002, 0.01, 0.1, 0.6] {
            for spread in [0.0005, 0.003, 0.01, 0.05] {
                let hour = Hour {
                    shared,
                    slower,
                    spread,
                    stays: 5.0,
                    rounds: 12,
                };
                let errors = (0..100).filter_map(|_| {
                    let mut rounds = hour.rounds(&mut rng);
                    judge(&mut rounds, unit, &cores());
                    let selected = select(&rounds, Conversion::new(unit, None));
                    let is_own = selected.choice == ChosenSamples::Own;
                    is_own.then(|| (selected.level().expect("some") / 100.0).ln())
                });
                let errors: Vec<f64> = errors.collect();
                let off = median(&errors).expect("some are own");
                let chance = 1.25 * student::deviation(&errors) / (errors.len() as f64).sqrt();
                assert!(
                    off.abs() < MARGIN + 3.0 * chance,
                    "{hour:?}: {off}, {chance}"
                );
            }
        }
    }
}

/// In what share of rows shared samples are taken in.
fn taken(hour: Hour, rng: &mut fastrand::Rng) -> f64 {
    let is_taken = |rng: &mut fastrand::Rng| {
        let mut rounds = hour.rounds(rng);
        let sharing = judge(&mut rounds, Unit::Nanoseconds, &cores());
        sharing.expect("it is probed").limit > 1.2
    };
    (0..1000).filter(|_| is_taken(rng)).count() as f64 / 1000.0
}

#[test]
fn samples_that_a_neighbour_slows_are_hardly_ever_taken_in() {
    let mut rng = fastrand::Rng::with_seed(18);
    for spread in [0.0005, 0.003, 0.01] {
        for stays in [2.0, 5.0, 60.0] {
            // By 0.1 % at the lowest ratio of a shared core.
            let hour = Hour {
                shared: 0.5,
                slower: 0.005,
                spread,
                stays,
                rounds: 12,
            };
            let share = taken(hour, &mut rng);
            assert!(share <= 0.01, "{hour:?}: {share}");
        }
    }
}

#[test]
fn samples_that_no_neighbour_slows_are_taken_in_where_they_are_sharp() {
    let mut rng = fastrand::Rng::with_seed(19);
    let hour = Hour {
        shared: 0.5,
        slower: 0.0,
        spread: 0.0003,
        stays: 5.0,
        rounds: 25,
    };
    let share = taken(hour, &mut rng);
    assert!(share > 0.95, "{share}");
    // Where neighbours stay for whole processes, hardly any has samples of both kinds.
    let share = taken(
        Hour {
            stays: 60.0,
            ..hour
        },
        &mut rng,
    );
    assert!(share > 0.6, "{share}");
}

#[test]
fn the_own_price_is_covered_where_few_samples_are_own() {
    let mut rng = fastrand::Rng::with_seed(21);
    for shared in [0.5, 0.8, 0.95] {
        for stays in [2.0, 5.0, 45.0] {
            for rounds in [6, 12, 25] {
                let hour = Hour {
                    shared,
                    slower: 0.6,
                    spread: 0.01,
                    stays,
                    rounds,
                };
                let (mut covered, mut all, mut far) = (0.0, 0.0, 0.0);
                for _ in 0..600 {
                    let mut rounds = hour.rounds(&mut rng);
                    for round in &mut rounds {
                        round.own_limit = Some(CORE.limit);
                    }
                    let selected = select(&rounds, Conversion::new(Unit::Nanoseconds, None));
                    let medians = selected.medians();
                    let found =
                        interval::of_median(&medians).or_else(|| interval::of_few(&medians));
                    let is_own = selected.choice == ChosenSamples::Own;
                    let Some(found) = found.filter(|_| is_own) else {
                        continue;
                    };
                    all += 1.0;
                    covered += f64::from(u8::from(found.low <= 100.0 && 100.0 <= found.high));
                    far += f64::from(u8::from(found.low < 90.0));
                }
                let (share, chance) = (covered / all, (0.05 * 0.95 / all).sqrt());
                // Seven and eight processes have 98 and 99 %.
                let is_right = 0.93 - 3.0 * chance < share && share < 0.98 + 3.0 * chance;
                assert!(is_right, "{hour:?}: {share} of {all}");
                // Two or three processes that differ by several percent may reach that far.
                assert!(far / all < 0.1, "{hour:?}: {far} of {all}");
            }
        }
    }
}

#[test]
fn what_is_slower_below_the_general_limit_is_left_out() {
    let mut rng = fastrand::Rng::with_seed(20);
    // An assumed limit that lies above what this neighbour shows.
    let wide = OwnCore {
        limit: 2.6,
        basis: LimitBasis::Assumed,
        ..CORE
    };
    let hour = Hour {
        shared: 0.5,
        slower: 0.1,
        spread: 0.003,
        stays: 5.0,
        rounds: 12,
    };
    let mut rounds = hour.rounds(&mut rng);
    let sharing = judge(&mut rounds, Unit::Nanoseconds, &[(0, wide)].into()).expect("probed");
    assert_eq!(sharing.basis, LimitBasis::Effect);
    assert!(sharing.limit < 1.6, "{sharing:?}");
    let calm = Hour {
        slower: 0.0,
        ..hour
    };
    let left_out = (0..200).filter(|_| {
        let mut rounds = calm.rounds(&mut rng);
        let sharing = judge(&mut rounds, Unit::Nanoseconds, &[(0, wide)].into());
        sharing.expect("probed").basis == LimitBasis::Effect
    });
    assert!(left_out.count() <= 10);
}

#[test]
fn a_limit_holds_for_each_cpu_by_its_own_ratio() {
    let round = |cpu| RoundSamples {
        cpu,
        values: vec![1.0; 2],
        ratios: vec![1300, 1500],
        alone_percent: Some(50.0),
        ..RoundSamples::default()
    };
    let mut rounds = vec![round(0), round(1), round(2)];
    let other = OwnCore {
        ratio: 1.5,
        limit: 1.6,
        basis: LimitBasis::Assumed,
    };
    let cores: OwnCores = [(0, CORE), (1, other)].into();
    let sharing = judge(&mut rounds, Unit::Nanoseconds, &cores).expect("probed");
    assert_eq!(
        sharing,
        Sharing {
            limit: 1.6 / 1.5,
            basis: LimitBasis::Assumed
        }
    );
    let shared = |round: &RoundSamples| [round.is_shared(0), round.is_shared(1)];
    assert_eq!(shared(&rounds[0]), [false, true]);
    assert_eq!(shared(&rounds[1]), [false, false]);
    assert_eq!(rounds[2].own_limit, None, "nothing is known of its core");
    assert_eq!(judge(&mut rounds[2..], Unit::Nanoseconds, &cores), None);
}
