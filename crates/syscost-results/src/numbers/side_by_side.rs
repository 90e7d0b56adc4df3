//! The lists of several runs as one.

use super::{Number, Numbers};

/// The lines of all lists from the cheapest to the dearest, followed by those without a number in
/// the list's order; each with the number of every run that has it. A stand-in, or another
/// directory, is a separate line.
pub fn side_by_side(lists: &[Numbers]) -> Vec<Vec<Option<&Number>>> {
    let mut lines: Vec<Vec<Option<&Number>>> = Vec::new();
    for (run, list) in lists.iter().enumerate() {
        for number in &list.numbers {
            let has_place = |line: &&mut Vec<Option<&Number>>| {
                line[run].is_none() && line.iter().flatten().any(|other| is_same(other, number))
            };
            match lines.iter_mut().find(has_place) {
                Some(line) => line[run] = Some(number),
                None => {
                    let mut line = vec![None; lists.len()];
                    line[run] = Some(number);
                    lines.push(line);
                }
            }
        }
    }
    lines.sort_by_key(|line| line.iter().flatten().next().map(|number| number.line));
    let time = |line: &[Option<&Number>]| {
        let known = line.iter().flatten().find_map(|number| number.median_ns);
        known.unwrap_or(f64::INFINITY)
    };
    lines.sort_by(|one, other| time(one).total_cmp(&time(other)));
    lines
}

/// Whether two runs' numbers are of the same row. If a run lacks the row, the titles decide: they
/// name a directory only if there are several.
fn is_same(one: &Number, other: &Number) -> bool {
    let is_one_row = match (&one.row, &other.row) {
        (Some(one), Some(other)) => one == other,
        (None, _) | (_, None) => one.title == other.title,
    };
    one.line == other.line && is_one_row
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(numbers: &[(usize, &str)]) -> Numbers {
        let number = |&(line, title): &(usize, &str)| Number {
            title: title.to_owned(),
            line,
            ..Number::default()
        };
        Numbers {
            second: None,
            numbers: numbers.iter().map(number).collect(),
        }
    }

    #[test]
    fn a_row_is_the_same_whatever_its_title_says_of_its_directory() {
        let of = |numbers: &[(&str, Option<&str>)]| {
            let titles: Vec<(usize, &str)> = numbers.iter().map(|(title, _)| (3, *title)).collect();
            let mut list = list(&titles);
            for (number, (_, row)) in list.numbers.iter_mut().zip(numbers) {
                number.row = row.map(str::to_owned);
            }
            list
        };
        let default = Some("fs.read{dir=default}");
        let lists = [
            of(&[("read", default)]),
            of(&[
                ("read, dir=default", default),
                ("read, dir=ssd", Some("fs.read{dir=ssd}")),
            ]),
            of(&[("read", None)]),
        ];
        let lines: Vec<Vec<bool>> = side_by_side(&lists)
            .iter()
            .map(|line| line.iter().map(Option::is_some).collect())
            .collect();
        assert_eq!(lines, [[true, true, true], [false, true, false]]);
    }

    #[test]
    fn only_the_same_number_of_runs_stands_side_by_side() {
        let lists = [
            list(&[(0, "L1 cache hit"), (2, "fork"), (3, "read, ssd")]),
            list(&[
                (0, "L1 cache hit"),
                (1, "mutex"),
                (2, "vfork"),
                (3, "read, ssd"),
            ]),
        ];
        let lines: Vec<[Option<&str>; 2]> = side_by_side(&lists)
            .iter()
            .map(|line| [0, 1].map(|run| line[run].map(|number| &*number.title)))
            .collect();
        assert_eq!(
            lines,
            [
                [Some("L1 cache hit"), Some("L1 cache hit")],
                [None, Some("mutex")],
                [Some("fork"), None],
                [None, Some("vfork")],
                [Some("read, ssd"), Some("read, ssd")],
            ]
        );
    }

    #[test]
    fn what_costs_less_stands_before_what_costs_more() {
        let mut lists = [list(&[(0, "read"), (1, "call"), (2, "fork")])];
        for (number, median) in lists[0]
            .numbers
            .iter_mut()
            .zip([Some(90.0), Some(1.0), None])
        {
            number.median_ns = median;
        }
        let titles = side_by_side(&lists)
            .into_iter()
            .map(|line| line[0].map_or("", |number| &*number.title))
            .collect::<Vec<&str>>();
        assert_eq!(titles, ["call", "read", "fork"]);
    }
}
