//! What a row's operation took, against what probes of the core showed around each sample.

use std::collections::BTreeSet;

use syscost_results::{Measurement, Unit};
use syscost_stats::order::{median, quantile_of_sorted, sorted};

use super::canvas::{Anchor, Canvas};
use super::frame::{ABOVE, BENEATH};
use super::look::Look;
use super::{Begin, Frame, Scale};
use crate::units::quantity;

/// Height of the plot, and of a line of the legend.
const HEIGHT: f64 = 150.0;
const NAME: f64 = 18.0;
/// Quantiles of the ratios and of the values that the axes cover: few lie far beyond, and would
/// squeeze all others together.
const RATIOS: (f64, f64) = (0.0, 0.98);
const VALUES: (f64, f64) = (0.005, 0.97);
/// What the horizontal axis shows.
pub(super) const AXIS: &str = "ratio of the probes";

/// A row's samples by what probes of the core showed around them, all rounds together.
pub(crate) struct Sharing {
    /// Ratio and value of each sample on an own core, and of each on a shared one.
    pub(super) samples: [Vec<(f64, f64)>; 2],
    /// Up to which ratios a sample counts as one on an own core; CPUs may differ.
    pub(super) limits: Vec<f64>,
}

impl Sharing {
    /// Those of a row; `None` where the ratios were not kept.
    pub(crate) fn of(row: &Measurement) -> Option<Self> {
        let mut samples = [Vec::new(), Vec::new()];
        let mut limits = BTreeSet::new();
        for round in row.shown().rounds {
            let taken = round.ratios.iter().zip(&round.values).enumerate();
            for (index, (ratio, value)) in taken.filter(|(_, (_, value))| value.is_finite()) {
                let at = (f64::from(*ratio) / 1e3, *value);
                samples[usize::from(round.is_shared(index))].push(at);
            }
            // Those that differ by less than a ratio's own resolution are one.
            limits.extend(round.own_limit.map(|limit| (1e3 * limit).round() as u64));
        }
        let limits = limits.into_iter().map(|limit| limit as f64 / 1e3).collect();
        let any = samples.iter().any(|samples| !samples.is_empty());
        any.then_some(Sharing { samples, limits })
    }

    /// The axes for these samples: of ratios between two coordinates, and of values.
    pub(super) fn axes(&self, across: (f64, f64), up: (f64, f64)) -> [Scale; 2] {
        let all = |of: fn(&(f64, f64)) -> f64| -> Vec<f64> {
            sorted(&self.samples.concat().iter().map(of).collect::<Vec<f64>>())
        };
        let within = |all: &[f64], ends: (f64, f64)| {
            [ends.0, ends.1].map(|q| quantile_of_sorted(all, q).unwrap_or(f64::NAN))
        };
        let ratios = within(&all(|one| one.0), RATIOS).into_iter();
        let medians = self.samples.iter().filter_map(|samples| middle(samples));
        let values = within(&all(|one| one.1), VALUES).into_iter().chain(medians);
        [
            Scale::fit(
                ratios.chain(self.limits.iter().copied()),
                Begin::Near,
                across,
            ),
            Scale::fit(values, Begin::Near, up),
        ]
    }

    /// What is said of the samples on own cores, and of those on shared ones; nothing where there
    /// are none: `own core: 96 samples, median 81.9 ns`.
    pub(super) fn names(&self, unit: Unit) -> [Option<String>; 2] {
        let mut whose = ["own", "shared"].into_iter();
        self.samples.each_ref().map(|samples| {
            let (whose, median) = (whose.next()?, quantity(unit, middle(samples)?));
            let count = crate::sentence::count(samples.len(), "sample");
            Some(format!("{whose} core: {count}, median {median}"))
        })
    }
}

/// The median of the values.
fn middle(samples: &[(f64, f64)]) -> Option<f64> {
    median(
        &samples
            .iter()
            .map(|(_, value)| *value)
            .collect::<Vec<f64>>(),
    )
}

pub(super) fn draw(sharing: &Sharing, frame: &Frame<'_>) -> Canvas {
    let names = sharing.names(frame.unit);
    let legend = NAME * names.iter().flatten().count() as f64;
    let height = frame.plot_height(HEIGHT);
    let (mut canvas, top) = frame.canvas(ABOVE + height + BENEATH + legend, None);
    let top = top + ABOVE;
    let bottom = top + height;
    let [_, up] = sharing.axes((0.0, 1.0), (bottom, top + 6.0));
    let ticks = up.ticks(frame.unit, 5);
    let (left, right) = frame.edges(ticks.iter().map(|(_, label)| label.as_str()));
    frame.vertical_axis(&mut canvas, &up, 5, (left, right, top));
    let [across, _] = sharing.axes((left, right - 14.0), (0.0, 1.0));
    let plot = (left, right);
    frame.axis_beneath(
        &mut canvas,
        (&across, Unit::Ratio, AXIS),
        plot,
        (top, bottom),
    );
    for limit in &sharing.limits {
        let x = across.place(*limit);
        canvas.line((x, top), (x, bottom), "axis change");
    }
    let mut y = bottom + BENEATH + NAME / 2.0;
    for (mode, (samples, name)) in sharing.samples.iter().zip(names).enumerate() {
        let look = Look::of_series(mode);
        // Samples that fall on one point of the picture are drawn once.
        let place = |(ratio, value): &(f64, f64)| {
            (
                across.place(*ratio).round() as i32,
                up.place(*value).round() as i32,
            )
        };
        let points: BTreeSet<(i32, i32)> = samples.iter().map(place).collect();
        let points = points.into_iter().map(|(x, y)| (x.into(), y.into()));
        let points: Vec<(f64, f64)> = points.collect();
        canvas.marks(&points, look.shape, 2.0, false, &look.color());
        if let Some(name) = name {
            let x = frame.margin();
            look.legend_mark(&mut canvas, (x, y));
            canvas.text((x + 26.0, y), "name", Anchor::Start, &name);
            y += NAME;
        }
    }
    canvas
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Labels, TextOptions, Theme, against_ratio, text_sharing};
    use crate::expect::{has, lacks};
    use crate::fixture;

    fn probed() -> Measurement {
        let run = fixture::run();
        let row = fixture::row(&run, "syscall.null{call=getppid}");
        fixture::probed(row.clone(), 1.34)
    }

    fn svg(row: &Measurement, theme: Theme) -> String {
        let sharing = Sharing::of(row).expect("probed");
        let labels = Labels::titled(row.name.clone());
        against_ratio(&sharing, row.unit, &labels, theme).into_string()
    }

    #[test]
    fn own_and_shared_samples_stand_on_both_sides_of_the_limit_with_two_marks() {
        let row = probed();
        let sharing = Sharing::of(&row).expect("probed");
        assert_eq!(sharing.samples.each_ref().map(Vec::len), [90, 90]);
        assert_eq!(sharing.limits, [1.34]);
        let picture = svg(&row, Theme::Light);
        has(
            &picture,
            &[
                "own core: 90 samples, median 79.1",
                "shared core: 90 samples, median 96",
            ],
        );
        let [own, shared] = ["dot s0", "dot s1"].map(|class| picture.matches(class).count());
        assert_eq!((own, shared), (2, 2), "the samples, and the legend's");
        assert_eq!(picture.matches("axis change").count(), 1);
    }

    #[test]
    fn a_terminal_shows_the_same() {
        let sharing = Sharing::of(&probed()).expect("probed");
        insta::assert_snapshot!(text_sharing(
            &sharing,
            Unit::Nanoseconds,
            TextOptions::plain(80)
        ));
    }

    #[test]
    fn samples_of_cpus_with_other_limits_are_judged_by_their_own() {
        let mut row = probed();
        let rounds = row.samples.as_mut().expect("samples");
        rounds[0].own_limit = Some(65.0);
        let sharing = Sharing::of(&row).expect("probed");
        assert_eq!(sharing.samples.each_ref().map(Vec::len), [110, 70]);
        assert_eq!(sharing.limits, [1.34, 65.0]);
    }

    #[test]
    fn without_ratios_or_without_a_number_there_is_no_picture() {
        let mut row = probed();
        row.status = syscost_results::Status::Withheld;
        assert!(Sharing::of(&row).is_none());
        let run = fixture::run();
        assert!(Sharing::of(fixture::row(&run, "signal.catch")).is_none());
    }

    #[test]
    fn degenerate_samples_still_make_a_picture() {
        let mut row = probed();
        for round in row.samples.iter_mut().flatten() {
            round.values = vec![f64::NAN, 0.0, 1e200];
            round.ratios = vec![u16::MAX, 0, 1];
            round.own_limit = Some(f64::NAN);
        }
        lacks(&svg(&row, Theme::Page), &["NaN", "inf"]);
    }
}
