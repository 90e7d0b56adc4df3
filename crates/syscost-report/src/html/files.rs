//! Curves of file systems: how fast cached and uncached files are re-read, and the rates of
//! concurrent readers.

use maud::Markup;
use syscost_results::details::{fitted_processes, reread_size};
use syscost_results::row_name::number;
use syscost_results::{Measurement, Role, Run, Status, Unit};

use crate::chart::{self, Beside, Labels, Line, Value};
use crate::view::value;

/// The picture of this row and those that stand for the same, if it is a special one, and its
/// caption. It has several colours.
pub(super) fn picture(row: &Measurement, run: &Run) -> Option<(Markup, String)> {
    let (parameter, unit, (lines, beside), caption) = if row.is(Role::PageCache) {
        ("size", Unit::BytesPerSecond, cache(run), cache_caption(run))
    } else if row.is(Role::Readers) {
        let (drawn, caption) = (contention(run), contention_caption(run));
        ("processes", Unit::OperationsPerSecond, drawn, caption)
    } else {
        return None;
    };
    if lines.iter().all(|line| line.points.len() < 2) {
        return None;
    }
    let labels = Labels {
        title: row.id.clone(),
        description: caption.clone(),
        ..Labels::default()
    };
    let picture = chart::curve_with(parameter, &lines, &beside, unit, &labels);
    Some((picture, caption))
}

fn rows(run: &Run, role: Role) -> impl Iterator<Item = &Measurement> {
    run.measurements.iter().filter(move |row| row.is(role))
}

fn parameter<'m>(row: &'m Measurement, key: &str) -> &'m str {
    row.case.get(key).map_or("", String::as_str)
}

/// A line for each directory: the rate of re-reading by file size, with the sizes between which the
/// cache gave way.
fn cache(run: &Run) -> (Vec<Line>, Vec<Beside>) {
    let shown = rows(run, Role::PageCache).filter(|row| row.status.has_figures());
    shown
        .map(|row| {
            let line = Line::new(parameter(row, "dir").to_owned(), 0, sizes(row));
            let estimate = row.shown().estimate;
            let beside = Beside {
                step: estimate.ci95_low.zip(estimate.ci95_high),
                ..Beside::default()
            };
            (line, beside)
        })
        .unzip()
}

/// The details `read_64M_bytes_per_s` of a row, by size.
fn sizes(row: &Measurement) -> Vec<(f64, Value)> {
    let of =
        |(name, rate): (&String, &f64)| Some((number(reread_size(name)?)?, Value::exactly(*rate)));
    let mut points: Vec<(f64, Value)> = row.shown().details.iter().filter_map(of).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

fn cache_caption(run: &Run) -> String {
    let is_found = rows(run, Role::PageCache).any(|row| row.status == Status::Ok);
    let found = match is_found {
        true => "; coloured: the sizes between which the page cache gives way",
        false => "; the page cache kept all of them",
    };
    format!("How fast a file of this many bytes is re-read{found}")
}

/// A line for each directory and kind of file, with the law fitted to it.
fn contention(run: &Run) -> (Vec<Line>, Vec<Beside>) {
    let mut lines: Vec<Line> = Vec::new();
    let mut beside = Vec::new();
    for row in rows(run, Role::Readers) {
        let label = label(row);
        let at = number(parameter(row, "processes"));
        let Some(point) = at.zip(value(row)) else {
            continue;
        };
        match lines.iter_mut().find(|line| line.label == label) {
            Some(line) => line.points.push(point),
            None => {
                beside.push(Beside {
                    fitted: law(run, row).map(fitted).unwrap_or_default(),
                    ..Beside::default()
                });
                lines.push(Line::new(label, 0, vec![point]));
            }
        }
    }
    for line in &mut lines {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    (lines, beside)
}

fn label(row: &Measurement) -> String {
    format!("{} {}", parameter(row, "dir"), parameter(row, "file"))
}

/// The law for a row's directory and kind of file, if one fits.
fn law<'r>(run: &'r Run, row: &Measurement) -> Option<&'r Measurement> {
    rows(run, Role::ReadersLaw).find(|law| law.status == Status::Ok && label(law) == label(row))
}

/// The details `fitted_8_per_s` of a law, by number of processes.
fn fitted(law: &Measurement) -> Vec<(f64, f64)> {
    let of = |(name, rate): (&String, &f64)| Some((number(fitted_processes(name)?)?, *rate));
    let mut points: Vec<(f64, f64)> = law.shown().details.iter().filter_map(of).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

fn contention_caption(run: &Run) -> String {
    let mut laws = rows(run, Role::ReadersLaw);
    let fitted = match laws.any(|law| law.status == Status::Ok) {
        true => "; dashed: the law fitted",
        false => "; no law fits",
    };
    format!("Reads per second of all processes together{fitted}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::fixture;

    fn row(role: Role, case: &[(&str, &str)], median: Option<f64>) -> Measurement {
        let mut row = fixture::run().measurements[0].clone();
        row.roles = vec![role];
        row.case = case
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        row.status = if median.is_some() {
            Status::Ok
        } else {
            Status::AboveRange
        };
        row.estimate.median = median;
        row.estimate.ci95_low = Some(200.0 * 1048576.0);
        row.estimate.ci95_high = median.map(|_| 256.0 * 1048576.0);
        row.details = BTreeMap::new();
        row.evidence = Vec::new();
        row
    }

    fn cache_size(median: Option<f64>) -> Measurement {
        let mut row = row(Role::PageCache, &[("dir", "default")], median);
        row.details = [
            ("read_64M_bytes_per_s", 9e9),
            ("read_256M_bytes_per_s", 1e9),
            ("read_16M_bytes_per_s", 1e10),
            ("memory_limit_bytes", 1.0),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        row
    }

    #[test]
    fn the_curve_of_the_page_cache_has_its_sizes_in_order_and_the_step() {
        let mut run = fixture::run();
        run.measurements = vec![cache_size(Some(2.4e8))];
        let (lines, beside) = cache(&run);
        let sizes: Vec<f64> = lines[0]
            .points
            .iter()
            .map(|(size, _)| size / 1048576.0)
            .collect();
        assert_eq!(sizes, [16.0, 64.0, 256.0]);
        assert_eq!(beside[0].step, Some((200.0 * 1048576.0, 256.0 * 1048576.0)));
        let (picture, caption) = picture_of(&run);
        assert!(picture.contains("band s0") && caption.contains("gives way"));
        run.measurements = vec![cache_size(None)];
        assert_eq!(cache(&run).1[0].step, None);
        assert!(picture_of(&run).1.ends_with("kept all of them"));
    }

    fn picture_of(run: &Run) -> (String, String) {
        let (picture, caption) = picture(&run.measurements[0], run).expect("a picture");
        (picture.into_string(), caption)
    }

    #[test]
    fn rates_of_processes_stand_beside_their_law() {
        let mut run = fixture::run();
        let of = |count: &str, rate| {
            row(
                Role::Readers,
                &[("dir", "a"), ("file", "own"), ("processes", count)],
                Some(rate),
            )
        };
        let mut fit = row(
            Role::ReadersLaw,
            &[("dir", "a"), ("file", "own")],
            Some(2e6),
        );
        fit.details = [
            ("fitted_1_per_s", 310.0),
            ("fitted_16_per_s", 500.0),
            ("relative_error_percent", 3.0),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        run.measurements = vec![of("16", 490.0), of("1", 300.0), fit];
        let (lines, beside) = contention(&run);
        assert_eq!(
            lines[0]
                .points
                .iter()
                .map(|point| point.0)
                .collect::<Vec<_>>(),
            [1.0, 16.0]
        );
        assert_eq!(beside[0].fitted, [(1.0, 310.0), (16.0, 500.0)]);
        let (picture, caption) = picture_of(&run);
        assert!(picture.contains("curve d1 s0"));
        assert!(caption.ends_with("the law fitted"), "{caption}");
        run.measurements.pop();
        assert!(picture_of(&run).1.ends_with("no law fits"));
    }

    #[test]
    fn other_benchmarks_have_no_picture_of_their_own() {
        let run = fixture::run();
        assert!(picture(&run.measurements[0], &run).is_none());
        let alone = row(Role::Readers, &[("processes", "8")], Some(1.0));
        assert!(picture(&alone, &run).is_none(), "no such rows");
    }
}
