//! Curves with known steps.

use proptest::prelude::*;

use super::*;

/// Sizes from 1 KiB to 1 GiB, four in each doubling.
fn sizes() -> impl Iterator<Item = f64> {
    (0..=80).map(|quarter| 1024.0 * 2_f64.powf(f64::from(quarter) / 4.0))
}

/// The cost of caches (size, cost) in front of memory with the cost `memory`. Beyond its size, each
/// cache loses all its contents over `soft` doublings.
fn curve(caches: &[(f64, f64)], memory: f64, soft: f64) -> Vec<(f64, f64)> {
    let costs: Vec<f64> = caches
        .iter()
        .map(|(_, cost)| *cost)
        .chain([memory])
        .collect();
    sizes()
        .map(|size| {
            let extra = caches
                .iter()
                .zip(costs.windows(2))
                .map(|((holds, _), pair)| {
                    let beyond: f64 = (size / holds).log2();
                    let missed = if beyond <= 1e-9 {
                        0.0
                    } else {
                        (beyond / soft).min(1.0)
                    };
                    missed * (pair[1] - pair[0])
                });
            (size, costs[0] + extra.sum::<f64>())
        })
        .collect()
}

/// Deterministic noise of up to this share, in both directions.
fn noisy(points: &[(f64, f64)], share: f64, seed: u64) -> Vec<(f64, f64)> {
    let mut random = fastrand::Rng::with_seed(seed);
    points
        .iter()
        .map(|(size, cost)| (*size, cost * (1.0 + share * (2.0 * random.f64() - 1.0))))
        .collect()
}

fn assert_finds(found: Option<Staircase>, caches: &[(f64, f64)], memory: f64, tolerance: f64) {
    let found = found.expect("a staircase");
    assert_eq!(found.plateaus.len(), caches.len() + 1, "{found:?}");
    for (plateau, (size, cost)) in found.plateaus.iter().zip(caches) {
        assert!((plateau.cost / cost - 1.0).abs() < tolerance, "{found:?}");
        let end = plateau.end.expect("it ends");
        assert!((0.8..1.6).contains(&(end / size)), "{size}: {found:?}");
    }
    let last = found.plateaus[caches.len()];
    assert!((last.cost / memory - 1.0).abs() < tolerance, "{found:?}");
    assert_eq!(last.end, None);
}

const TWO: [(f64, f64); 1] = [(32768.0, 2.0)];
const THREE: [(f64, f64); 2] = [(49152.0, 1.6), (2_097_152.0, 5.0)];
const FOUR: [(f64, f64); 3] = [(32768.0, 1.2), (524_288.0, 4.0), (33_554_432.0, 15.0)];

#[test]
fn sharp_steps_are_found_where_they_are() {
    for caches in [&TWO[..], &THREE, &FOUR] {
        assert_finds(staircase(&curve(caches, 90.0, 0.3)), caches, 90.0, 0.05);
    }
}

#[test]
fn a_soft_edge_is_no_level_of_its_own() {
    for soft in [0.5, 1.0, 2.0, 2.5] {
        assert_finds(staircase(&curve(&THREE, 100.0, soft)), &THREE, 100.0, 0.1);
    }
}

#[test]
fn a_level_line_is_one_plateau() {
    let level: Vec<(f64, f64)> = sizes().map(|size| (size, 7.0)).collect();
    let found = staircase(&level).unwrap();
    assert_eq!((found.plateaus.len(), found.plateaus[0].end), (1, None));
    assert!(found.relative_error < 1e-12);
}

#[test]
fn a_falling_curve_shows_in_its_error() {
    let falling: Vec<(f64, f64)> = sizes().map(|size| (size, 1e9 / size)).collect();
    assert!(staircase(&falling).unwrap().relative_error > 1.0);
}

#[test]
fn too_few_points_and_nonsense_are_refused() {
    let points = curve(&TWO, 80.0, 0.5);
    assert_eq!(staircase(&points[..5]), None);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut points = points.clone();
        points[3].1 = bad;
        assert_eq!(staircase(&points), None);
    }
}

#[test]
fn the_rising_curve_pools_what_falls() {
    let points = [(1.0, 1.0), (2.0, 4.0), (3.0, 1.0), (4.0, 9.0)];
    let curve = rising(&points);
    assert!(
        (curve[1] - 2.0).abs() < 1e-9 && (curve[2] - 2.0).abs() < 1e-9,
        "{curve:?}"
    );
    assert_eq!((curve[0], curve[3].round()), (1.0, 9.0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn noise_of_a_tenth_hides_no_level_and_makes_none(
        seed: u64,
        which in 0..3_usize,
        soft in 0.2..1.5_f64,
        shift in 0.7..1.4_f64,
        memory in 60.0..150.0_f64,
    ) {
        let caches = [&TWO[..], &THREE, &FOUR][which];
        let shifted: Vec<(f64, f64)> = caches.iter().map(|(size, cost)| (size * shift, *cost)).collect();
        let points = noisy(&curve(&shifted, memory, soft), 0.1, seed);
        assert_finds(staircase(&points), &shifted, memory, 0.12);
    }

    #[test]
    fn any_points_are_harmless(points in proptest::collection::vec((1.0..1e9_f64, 0.1..1e3_f64), 0..60)) {
        if let Some(found) = staircase(&points) {
            prop_assert!(found.plateaus.is_sorted_by(|a, b| a.to < b.from && a.cost < b.cost));
            prop_assert!(found.relative_error >= 0.0);
        }
    }
}
