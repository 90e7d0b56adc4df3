//! How a comparison is laid out, for every medium: the verdict, what changed, what could not be
//! decided, what else differs, the groups, and what to know before acting on it.

use maud::Markup;
use syscost_results::compare::{Change, Comparison, Difference, Row};
use syscost_results::facts;

use super::words::percent;
use super::{
    IN_TURN, are_few_settled, are_rows_left_out, causes, group_interval, group_ratio, groups_note,
    is_noticed, margin, medians, notices, own_notes, parts, power, side, sides, single_runs,
    spread, summary, tail, together, too_few, value, verdict, why_missing,
};
use crate::document::{self, Block, Column, Look, Table, Text};
use crate::paint::{cut_end, width};
use crate::sentence;
use crate::tone::Tone;

/// Draws the interval of a row.
type Draw<'s> = &'s dyn Fn(&Row) -> Markup;

/// What is shown of a comparison.
pub(crate) struct Shown<'s> {
    /// What the sides are called, the base first.
    pub(crate) sides: [&'s str; 2],
    /// Whether to show all rows, not only those that changed, and facts in full.
    pub(crate) verbose: bool,
    /// Whether to leave out all but results.
    pub(crate) quiet: bool,
    /// In a page, the axis of the rows' intervals, and what draws them.
    pub(crate) plot: Option<(Markup, Draw<'s>)>,
}

/// A comparison with what precedes it where it stands alone: the verdict and the sides.
pub(super) fn alone(comparison: &Comparison, verbose: bool, quiet: bool) -> Vec<Block> {
    let names = sides(comparison);
    let both = names.into_iter().zip([&comparison.base, &comparison.new]);
    let both = both.map(|(name, one)| (name.into(), Text::from(side(one)).tone(Tone::Quiet)));
    let in_turn = comparison.paired.then(|| IN_TURN.to_owned());
    let mut all = vec![strong(summary(comparison))];
    all.extend(reasons(comparison));
    all.push(Block::Facts(both.collect()));
    all.extend(
        in_turn
            .into_iter()
            .chain(spread(comparison))
            .map(Block::note),
    );
    // Whoever acts on a change has to know this first.
    all.extend(caveat(comparison).filter(|_| !quiet));
    let shown = Shown {
        sides: names,
        verbose,
        quiet,
        plot: None,
    };
    all.extend(changes(comparison, &shown));
    if verbose {
        all.extend(smallest(comparison));
    }
    all
}

/// Why sides differ, and what groups show together.
pub(crate) fn reasons(comparison: &Comparison) -> impl Iterator<Item = Block> {
    let all = causes(comparison).into_iter().chain(together(comparison));
    all.map(strong)
}

/// The limits of single runs, if these are some.
pub(crate) fn caveat(comparison: &Comparison) -> Option<Block> {
    let caveat = single_runs(comparison)?;
    Some(Block::Paragraph(Text::from(caveat).tone(Tone::Care)))
}

fn strong(text: String) -> Block {
    Block::Paragraph(Text::of(Look::Strong, text))
}

/// What changed, what did not, and what to know of it.
pub(crate) fn changes(comparison: &Comparison, shown: &Shown<'_>) -> Vec<Block> {
    let mut all = Vec::new();
    let changed = [Change::Worse, Change::Better].map(|change| comparison.count(change));
    if changed == [0, 0] && !comparison.rows.is_empty() {
        all.push(Block::paragraph("No row is known to have changed."));
    }
    for change in Change::ALL {
        let rows = comparison.rows.iter();
        let rows: Vec<&Row> = rows.filter(|row| row.verdict == change).collect();
        let is_open = change == Change::Inconclusive && !shown.quiet;
        let meaning = match change {
            Change::Worse | Change::Better => "",
            Change::Inconclusive => "the samples cannot tell whether they changed",
            Change::Same => "any change is smaller than the margin beside it",
        };
        if !rows.is_empty() && (shown.verbose || meaning.is_empty()) {
            all.push(Block::Table(judged(comparison, shown, change, &rows)));
            all.extend(
                Some(meaning)
                    .filter(|text| !text.is_empty())
                    .map(Block::note),
            );
        } else if !rows.is_empty() && is_open {
            all.push(Block::heading(3, "Inconclusive"));
            let count = sentence::count(rows.len(), "row");
            let without = match rows.iter().filter(|row| row.ci95_low.is_none()).count() {
                0 => String::new(),
                some => format!(", {some} without an interval"),
            };
            // The rows of a verdict begin with the one that is furthest from the same.
            let (change, _) = parts(rows[0]);
            let furthest = format!("furthest apart is {}, {change}", rows[0].name);
            all.push(Block::note(format!(
                "{count}{without}: {meaning}; {furthest}"
            )));
        }
        if is_open {
            let few = are_few_settled(comparison).then(|| too_few(comparison).to_owned());
            all.extend(power(comparison).into_iter().chain(few).map(Block::note));
        }
    }
    all.extend(differences(comparison, shown.verbose));
    if !shown.quiet {
        if !comparison.groups.is_empty() {
            all.push(Block::Table(groups(comparison)));
            all.push(Block::note(groups_note(comparison, shown.sides)));
        }
        let notices = notices(comparison);
        if !notices.is_empty() {
            all.push(Block::heading(3, "Notes"));
            all.push(Block::List(notices.into_iter().map(Text::from).collect()));
        }
    }
    all.extend(uncompared(comparison, shown.verbose));
    all
}

/// What a verdict is to its reader.
fn tone(change: Change) -> Tone {
    match change {
        Change::Worse => Tone::Bad,
        Change::Better => Tone::Good,
        Change::Inconclusive => Tone::Care,
        Change::Same => Tone::Quiet,
    }
}

/// The rows of a verdict, with their notes.
fn judged<'c>(
    comparison: &'c Comparison,
    shown: &Shown<'_>,
    change: Change,
    rows: &[&'c Row],
) -> Table {
    let own_notes = own_notes(comparison);
    let [base, new] = shown.sides;
    let mut columns = vec![
        Column::right(base),
        Column::right(new),
        Column::left("change"),
        Column::left("95 % interval"),
        Column::right("margin").rank(5),
    ];
    columns.extend(
        shown
            .plot
            .iter()
            .map(|(axis, _)| Column::plot(axis.clone())),
    );
    let row = |row: &&'c Row| {
        let row: &'c Row = row;
        let [base, new] = medians(row);
        let (change, interval) = parts(row);
        let interval = interval.unwrap_or_else(|| "none".to_owned());
        let mut cells = [base, new, change, interval, margin(row)]
            .map(Text::from)
            .to_vec();
        cells.extend(
            shown
                .plot
                .iter()
                .map(|(_, draw)| Text::drawn("", draw(row))),
        );
        let notes: Vec<&str> = match shown.verbose {
            true => row.notes.iter().map(String::as_str).collect(),
            false => own_notes(row),
        };
        let tail = tail(row).filter(|_| shown.verbose);
        let notes = notes.into_iter().chain(tail.as_deref());
        document::Row {
            notes: notes
                .map(|note| Text::from(note).tone(Tone::Quiet))
                .collect(),
            ..document::Row::new(Text::of(Look::Row, &row.name), cells)
        }
    };
    Table {
        class: "changes stack",
        caption: format!("Rows that are {}", verdict(change)),
        names: Text::of(Look::Strong, verdict(change)).tone(tone(change)),
        columns,
        rows: rows.iter().map(row).collect(),
    }
}

/// The facts that differ and may explain a change, apart from those that the notices name.
fn differences(comparison: &Comparison, verbose: bool) -> Vec<Block> {
    let fact = |fact: &Difference| {
        let sides = [&fact.base, &fact.new].map(|side| value(side).to_owned());
        let [base, new] = if verbose { sides } else { shortened(sides) };
        let meaning = fact.meaning.iter().map(|meaning| format!(" ({meaning})"));
        let change = format!("{base} -> {new}{}", meaning.collect::<String>());
        (facts::words(&fact.fact).into(), change.into())
    };
    let facts = comparison.facts.iter().filter(|fact| !is_noticed(fact));
    let facts: Vec<(Text, Text)> = facts.map(fact).collect();
    match facts.is_empty() {
        true => Vec::new(),
        false => vec![Block::heading(3, "Differs"), Block::Facts(facts)],
    }
}

/// A line for each group: the mean of its ratios, and how many rows got each verdict.
fn groups(comparison: &Comparison) -> Table {
    let has_left_out = are_rows_left_out(&comparison.groups);
    // How many are the same follows from the others.
    let columns = ["cost", "95 %", "worse", "better", "inconclusive"].map(Column::right);
    let columns = columns.into_iter().chain([Column::right("same").rank(1)]);
    let columns = columns.chain(has_left_out.then(|| Column::right("left out").rank(2)));
    let rows = comparison.groups.iter().map(|group| {
        let name = if group.name.is_empty() {
            "all"
        } else {
            &group.name
        };
        let interval = group_interval(group).unwrap_or_else(|| "none".to_owned());
        let counts = [group.worse, group.better, group.inconclusive, group.same];
        let counts = counts.into_iter().zip(Change::ALL).map(|(count, change)| {
            let tone = if count > 0 { tone(change) } else { Tone::Quiet };
            Text::from(count.to_string()).tone(tone)
        });
        let left_out = has_left_out.then(|| group.left_out.to_string().into());
        let cost = [group_ratio(group), interval].map(Text::from);
        document::Row::new(name, cost.into_iter().chain(counts).chain(left_out))
    });
    Table {
        class: "groups stack",
        caption: "What became of each group".to_owned(),
        names: Text::of(Look::Strong, "groups"),
        columns: columns.collect(),
        rows: rows.collect(),
    }
}

/// Rows that could not be compared: refused ones by name, missing ones counted unless verbose.
fn uncompared(comparison: &Comparison, verbose: bool) -> Vec<Block> {
    let line = |name: &str, reason: &str| {
        Text::of(Look::Code, name).with(Look::Plain, format!(": {reason}"))
    };
    let mut all = Vec::new();
    let refused = comparison.refused.iter();
    let refused: Vec<Text> = refused.map(|row| line(&row.name, &row.reason)).collect();
    if !refused.is_empty() {
        all.extend([Block::heading(3, "Not compared"), Block::List(refused)]);
    }
    let missing = &comparison.missing;
    let why = why_missing(comparison);
    match missing.first() {
        None => {}
        Some(_) if verbose => {
            all.push(Block::heading(3, sentence::capital(why)));
            let missing = missing.iter().map(|row| line(&row.name, &row.reason));
            all.push(Block::List(missing.collect()));
        }
        Some(first) => {
            let rows = sentence::count(missing.len(), "row");
            let which = sentence::agreeing(missing.len(), "[|the first is ]");
            let first = format!("{which}{}: {}", first.name, first.reason);
            all.push(Block::note(format!("{rows} {why} ({first})")));
        }
    }
    all
}

/// What the list of the smallest changes says.
const POWER: &str =
    "The smallest change that four of five comparisons like this find, had it been the only one.";

/// The rows, those in which the smallest change could have been found first.
fn smallest(comparison: &Comparison) -> Vec<Block> {
    if comparison.rows.is_empty() {
        return Vec::new();
    }
    let mut rows: Vec<&Row> = comparison.rows.iter().collect();
    let detectable = |row: &Row| row.detectable.unwrap_or(f64::INFINITY);
    rows.sort_by(|a, b| detectable(a).total_cmp(&detectable(b)));
    let row = |row: &&Row| {
        let [base, _] = medians(row);
        // A price in company is judged by no gate.
        let found = match row.detectable {
            Some(share) if row.is_own() => percent(share),
            Some(share) => format!("{}, in company", percent(share)),
            None => "none".to_owned(),
        };
        document::Row::new(Text::of(Look::Row, &row.name), [base, found])
    };
    let table = Table {
        class: "stack",
        caption: "The smallest change of each row".to_owned(),
        names: "row".into(),
        columns: vec![
            Column::right(sides(comparison)[0]),
            Column::left("could have found"),
        ],
        rows: rows.iter().map(row).collect(),
    };
    let heading = Block::heading(3, "Power");
    vec![heading, Block::note(POWER), Block::Table(table)]
}

/// Two long values that differ, from the word on in which they begin to, and as much of either as
/// there is room for in a line.
fn shortened([base, new]: [String; 2]) -> [String; 2] {
    /// In characters, for both.
    const ROOM: usize = 60;
    let [one, other] = [&base, &new].map(|side| width(side));
    if one + other <= ROOM {
        return [base, new];
    }
    // A short value leaves its room to the other.
    let most = (ROOM / 2).max(ROOM.saturating_sub(one.min(other)));
    let pairs = base.char_indices().zip(new.chars());
    let alike = pairs.take_while(|((_, one), other)| one == other);
    // They differ from the word on that begins here.
    let words = alike.filter(|((_, one), _)| matches!(one, ' ' | ','));
    let from = words
        .last()
        .map_or(0, |((at, space), _)| at + space.len_utf8());
    let from = if from < ROOM / 4 { 0 } else { from };
    let begun = if from > 0 { "…" } else { "" };
    [base, new].map(|side| cut_end(&format!("{begun}{}", &side[from..]), most))
}
