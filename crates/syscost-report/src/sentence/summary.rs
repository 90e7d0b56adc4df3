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
    let rows = || run.measurements.iter();
    let counted = Status::ALL.into_iter().map(|status| {
        let count = rows().filter(|row| row.status == status).count();
        match status {
            Status::Ok => format!("{count} of {} measured", rows().len()),
            _ if count == 0 => String::new(),
            other => format!("{count} {}", other.words()),
        }
    });
    let counted: Vec<String> = counted.filter(|text| !text.is_empty()).collect();
    // Rows that were not measured at all are counted above. A run that is not complete may have
    // enough rounds of these rows.
    let fewest = run.config.min_rounds;
    let is_short = |row: &Measurement| row.status.has_figures() && row.estimate.rounds < fewest;
    match !run.complete && rows().any(is_short) {
        false => counted.join(", "),
        true => format!("{}, some with too few rounds,", counted.join(", ")),
    }
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
