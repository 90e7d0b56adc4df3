//! Runs whose samples differ only by steps of the clock.

use super::*;
use crate::fixture::{row, run};

#[test]
fn a_step_of_the_clock_is_no_change() {
    // Every process shows the same step: 15 of 10 ns, then 16.
    let side = |id, ns: f64, grain| {
        let mut row = row("x.y", vec![vec![ns; 5]; 6]);
        row.estimate.clock_grain = grain;
        run(id, vec![row])
    };
    let compared = |grain| {
        let (base, new) = (side("a", 150.0, grain), side("b", 160.0, grain));
        [compare(&[&base], &[&new], &[]), compare_pair(&base, &new)].map(|both| only(&both).clone())
    };
    for row in compared(Some(10.0)) {
        assert_eq!(row.verdict, Change::Inconclusive, "{row:?}");
        assert!(row.ci95_low < Some(1.0) && row.margin > 0.09, "{row:?}");
    }
    for row in compared(None) {
        assert_eq!(row.verdict, Change::Worse, "{row:?}");
    }
}
