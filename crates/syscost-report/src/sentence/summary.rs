//! A run in one line: the outcomes of its rows, and how long it took.

use syscost_results::{Measurement, Run, Status};

use crate::units::duration;

/// How many rows had each outcome, and how long the run took.
pub fn summary(run: &Run) -> String {
    format!("{} in {}", came_out(run), duration(run.duration_s))
}

/// The summary of only some rows of a run; the time is that of the whole run.
pub fn summary_of_part(run: &Run) -> String {
    format!("{} in a run of {}", came_out(run), duration(run.duration_s))
}

fn came_out(run: &Run) -> String {
    let count = |wanted: Status| {
        run.measurements
            .iter()
            .filter(|row| row.status == wanted)
            .count()
    };
    let mut parts = vec![format!(
        "{} of {} measured",
        count(Status::Ok),
        run.measurements.len()
    )];
    let others = Status::ALL
        .into_iter()
        .filter(|status| *status != Status::Ok);
    for wanted in others {
        let count = count(wanted);
        if count > 0 {
            parts.push(format!("{count} {}", wanted.words()));
        }
    }
    // Rows that were not measured at all are counted above. A run that is not complete may have
    // enough rounds of these rows.
    let fewest = run.config.min_rounds;
    let is_short = |row: &Measurement| row.status.has_figures() && row.estimate.rounds < fewest;
    let rounds = match !run.complete && run.measurements.iter().any(is_short) {
        false => "",
        true => ", some with too few rounds,",
    };
    format!("{}{rounds}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn a_run_that_is_not_complete_says_so_of_rows_that_lack_rounds() {
        let mut run = fixture::run();
        run.complete = false;
        run.measurements.truncate(1);
        assert_eq!(summary(&run), "1 of 1 measured in 54 s", "of this row");
        run.measurements[0].estimate.rounds = 5;
        assert_eq!(
            summary(&run),
            "1 of 1 measured, some with too few rounds, in 54 s"
        );
    }

    #[test]
    fn the_time_is_that_of_the_whole_run() {
        let mut run = fixture::run();
        run.measurements.truncate(2);
        assert_eq!(summary_of_part(&run), "2 of 2 measured in a run of 54 s");
    }
}
