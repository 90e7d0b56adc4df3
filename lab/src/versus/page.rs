//! docs/versus.md: one line per comparison, dated, with the machine named.

use std::fmt::Write;

use syscost_report::units;
use syscost_results::{Machine, Unit};

use super::compare::Comparison;
use super::peers::{Cpus, Peer};

const INTRODUCTION: &str = "\
# Against other tools

<!-- The table is written by `cargo lab versus --write`; the notes come from lab/src/versus/peers.toml. -->

Each line compares a row with another tool that measures the same work, on the same CPUs of one machine. Blocks are measured in the
order syscost, peer, peer, syscost, so that a slow drift of the machine cancels. The ratio is syscost's figure over the peer's, the median
over the blocks, with its 95 % interval by bootstrap over blocks. It need not be 1: the notes say what differs. Below 1, syscost's figure is
the smaller: a lower cost, but a lower rate where the unit is bytes per second.

Syscost's figure comes with the half-width of its 95 % interval as each run reports it (the median over the runs) and the range of the
medians of all runs; the peer's, which comes without an interval, with the range of all its figures.

Both may use one CPU, two (among which the kernel is free to place the tasks), or all.
";

const HEADINGS: [&str; 13] = [
    "Row",
    "Peer",
    "CPUs",
    "Ours",
    "± 95 %",
    "Its runs",
    "Peer's",
    "Its runs",
    "Ratio",
    "95 % interval",
    "Blocks",
    "Date (UTC)",
    "Machine",
];

/// The cells of one line, in the order of the headings.
pub(super) type Line = [String; HEADINGS.len()];

/// Where there is no figure.
const UNKNOWN: &str = "-";

/// The line of a comparison.
pub(super) fn line(
    peer: &Peer,
    version: &str,
    unit: Unit,
    comparison: &Comparison,
    date: &str,
    machine: &Machine,
) -> Line {
    let figure = |value| units::quantity(unit, value);
    let range = |[min, max]: [f64; 2]| format!("{} to {}", figure(min), figure(max));
    let percent = |share: f64| format!("{:.2} %", 100.0 * share);
    let half_width = comparison.half_width;
    let cpus = match peer.set.cpus {
        Cpus::One => "one",
        Cpus::Two => "two",
        Cpus::All => "all",
    };
    let ratio = comparison.ratio;
    // Readers must know whether other programs were running at the same time.
    let load = machine
        .load1
        .map_or_else(String::new, |load| format!(", load average {load:.1}"));
    let name = match version {
        "" => peer.name.to_owned(),
        version => format!("{} ({} {version})", peer.name, peer.package()),
    };
    [
        format!("`{}`", peer.row),
        name,
        cpus.to_owned(),
        figure(comparison.ours),
        half_width.map_or_else(|| UNKNOWN.to_owned(), percent),
        range(comparison.ours_range),
        figure(comparison.peer),
        range(comparison.peer_range),
        format!("{:.3}", ratio.median),
        format!("{:.3} to {:.3}", ratio.low, ratio.high),
        comparison.blocks.to_string(),
        date.to_owned(),
        format!("{}, {}{load}", machine.cpu_model, machine.kernel),
    ]
}

/// The page with these lines in place of older ones of the same row and peer; of the others the latest
/// remain, in the order of `peers`.
pub(super) fn updated(old: &str, new: &[Line], peers: &[Peer]) -> String {
    let old: Vec<Line> = old.lines().filter_map(cells).collect();
    let about = |line: &Line, peer: &Peer| {
        line[0] == format!("`{}`", peer.row)
            && (line[1] == peer.name || line[1].starts_with(&format!("{} (", peer.name)))
    };
    let mut page = INTRODUCTION.to_owned();
    let _ = write!(
        page,
        "\n| {} |\n|{}\n",
        HEADINGS.join(" | "),
        "---|".repeat(HEADINGS.len())
    );
    // What differs, and of which comparisons.
    let mut notes: Vec<(&str, Vec<String>)> = Vec::new();
    for peer in peers {
        let latest = |lines: &'_ [Line]| {
            let lines = lines.iter().filter(|line| about(line, peer));
            lines.max_by(|a, b| a[DATE].cmp(&b[DATE])).cloned()
        };
        let Some(line) = latest(new).or_else(|| latest(&old)) else {
            continue;
        };
        let _ = writeln!(page, "| {} |", line.join(" | "));
        let subject = format!("`{}` against {}", peer.row, peer.name);
        match notes.iter_mut().find(|(text, _)| *text == peer.set.differs) {
            Some((_, subjects)) => subjects.push(subject),
            None => notes.push((&peer.set.differs, vec![subject])),
        }
    }
    page.push_str("\n## What differs\n\n");
    for (text, subjects) in notes {
        let _ = writeln!(page, "- {}: {text}", subjects.join(", "));
    }
    page
}

/// Index of the date's cell.
const DATE: usize = HEADINGS.len() - 2;

/// The cells of a line of the table, if it is a comparison.
fn cells(line: &str) -> Option<Line> {
    let line = line.strip_prefix("| ")?.strip_suffix(" |")?;
    let cells: Vec<String> = line.split(" | ").map(str::to_owned).collect();
    Line::try_from(cells)
        .ok()
        .filter(|cells| cells[0].starts_with('`'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::versus::compare::Bootstrapped;
    use crate::versus::peers::tests::peer;
    use std::sync::LazyLock;

    static PEERS: LazyLock<[Peer; 2]> = LazyLock::new(|| {
        [
            peer("a.b{c=d}", "tool one", Cpus::One, "true"),
            peer("e.f", "tool", Cpus::Two, "true"),
        ]
    });

    fn made(peer: &Peer, date: &str) -> Line {
        made_in(Unit::Nanoseconds, peer, date)
    }

    fn made_in(unit: Unit, peer: &Peer, date: &str) -> Line {
        let comparison = Comparison {
            ours: 98.76,
            half_width: Some(0.00345),
            ours_range: [98.7, 98.9],
            peer: 104.2,
            peer_range: [99.1, 131.0],
            ratio: Bootstrapped {
                median: 0.94782,
                low: 0.9409,
                high: 0.955,
            },
            blocks: 8,
        };
        let machine = Machine {
            cpu_model: "Some CPU".into(),
            kernel: "Linux 6.1".into(),
            load1: Some(0.25),
            ..Machine::default()
        };
        line(peer, "6.1-2", unit, &comparison, date, &machine)
    }

    #[test]
    fn a_comparison_is_one_line_with_date_and_machine() {
        let page = updated("", &[made(&PEERS[0], "2025-01-02")], &*PEERS);
        let expected = "| `a.b{c=d}` | tool one (tool 6.1-2) | one | 98.8 ns | 0.34 % | 98.7 ns to 98.9 ns | 104 ns | 99.1 ns to 131 ns | 0.948 | 0.941 to 0.955 | 8 | 2025-01-02 | \
                        Some CPU, Linux 6.1, load average 0.2 |\n\n## What differs\n\n- `a.b{c=d}` against tool one: Nothing.\n";
        assert!(page.ends_with(expected), "{page}");
        assert!(page.starts_with("# Against other tools\n"));
    }

    #[test]
    fn a_new_line_replaces_the_old_one_and_leaves_the_others() {
        let first = updated(
            "",
            &[made(&PEERS[0], "2025-01-02"), made(&PEERS[1], "2025-01-02")],
            &*PEERS,
        );
        let second = updated(&first, &[made(&PEERS[1], "2025-03-04")], &*PEERS);
        let dates: Vec<&str> = second
            .lines()
            .filter_map(|line| line.split(" | ").nth(DATE))
            .collect();
        assert_eq!(dates, ["Date (UTC)", "2025-01-02", "2025-03-04"]);
        assert_eq!(updated(&second, &[], &*PEERS), second);
    }

    #[test]
    fn the_latest_of_several_lines_stays() {
        let [early, late] = ["2025-01-02", "2025-03-04"].map(|date| made(&PEERS[0], date));
        let page = updated("", &[late.clone(), early], &*PEERS);
        assert_eq!(page, updated("", &[late], &*PEERS));
    }

    #[test]
    fn what_several_comparisons_have_in_common_is_said_once() {
        let page = updated(
            "",
            &PEERS.each_ref().map(|peer| made(peer, "2025-01-02")),
            &*PEERS,
        );
        let note = "\n\n- `a.b{c=d}` against tool one, `e.f` against tool: Nothing.\n";
        assert!(page.ends_with(note), "{page}");
    }

    #[test]
    fn rates_are_shown_as_rates_and_two_cpus_as_two() {
        let line = made_in(Unit::BytesPerSecond, &PEERS[1], "2025-01-02");
        assert_eq!(line[2..4], ["two", "98.8 B/s"]);
        assert_eq!(line[6..8], ["104 B/s", "99.1 B/s to 131 B/s"]);
    }
}
