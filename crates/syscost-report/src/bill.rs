//! What a program asks of the kernel and what that costs, and how two such counts differ.

use maud::{Markup, html};
use syscost_results::bill::{
    Account, Bill, Difference, DifferentPart, ENTRY, PriceList, Range, Sum, differences, grouped,
    serves,
};
use syscost_results::run::Warning;
use syscost_results::{Flag, Measurement, Run, Status, Unit};
use syscost_stats::order::median;

use crate::TableOptions;
use crate::commands::readable;
use crate::document::{
    Block, Column, Look, Row, Table, Text, html as written, markdown as marked, terminal,
};
use crate::html::frame;
use crate::sentence;
use crate::tone::Tone;
use crate::units::{interval, quantity};

/// Number of accounts that are shown where not all are wanted: those below the twentieth are hardly ever a
/// percent.
const MAX_ACCOUNTS: usize = 20;

/// Number of kinds of one account that are named below it.
const MAX_KINDS: usize = 4;

/// The smallest share of the whole cost that is named as a cause.
const MIN_CAUSE: f64 = 0.01;

/// How many times more than it took is said to be too high: prices are off by less.
const MUCH_TOO_HIGH: f64 = 1.25;

/// What is said then.
const TOO_HIGH: &str = "that is too high: a row takes another file or name each time, and what is asked for again costs less";

/// Number of differences that are named of each sum.
const MAX_DIFFERENCES: usize = 12;

/// A run's bill, and what it is to be seen beside.
#[derive(Debug, Clone, Copy)]
pub struct Billed<'r> {
    /// The run.
    pub run: &'r Run,
    /// An earlier run, with whose counts its own are compared.
    pub earlier: Option<&'r Run>,
    /// A run of another machine, by which it is priced, too.
    pub other: Option<&'r Run>,
    /// Whether every kind is shown.
    pub is_verbose: bool,
}

impl<'r> Billed<'r> {
    /// Beside nothing.
    pub fn of(run: &'r Run) -> Self {
        Billed {
            run,
            earlier: None,
            other: None,
            is_verbose: false,
        }
    }

    /// For a terminal.
    pub fn text(&self, options: &TableOptions) -> String {
        terminal(&self.blocks(), options)
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        marked(&self.whole(), None)
    }

    /// As a page, with a bar for each kind.
    pub fn page(&self) -> String {
        let command = self.run.bill.as_ref().map_or("", |bill| &bill.command);
        let title = format!("What {} asks of the kernel", readable(command));
        let below = html! { p { (sentence::machine(self.run)) } };
        let sections = html! { section id="bill" { (written(&self.whole())) } };
        frame(
            &title,
            &below,
            &[("bill", "bill")],
            &sections,
            &self.run.tool.version,
        )
    }

    fn whole(&self) -> Vec<Block> {
        let verbose = Billed {
            is_verbose: true,
            ..*self
        };
        verbose.blocks()
    }

    /// For any medium: how the counts differ, what each kind costs, and what it would there.
    pub fn blocks(&self) -> Vec<Block> {
        let Some(bill) = self.run.bill.as_deref() else {
            return vec![Block::paragraph(
                "this run has no bill: syscost bill COMMAND",
            )];
        };
        let mut blocks = vec![Block::Paragraph(heading(bill))];
        for refuted in &bill.refuted {
            let words = Text::of(Look::Tag, "refuted").with(Look::Plain, refuted);
            blocks.push(Block::Paragraph(words.tone(Tone::Bad)));
        }
        let sides = [("earlier run", self.earlier), ("other run", self.other)];
        for (which, other) in sides {
            let Some(other) = other else { continue };
            let one_sided = |of: &'r Run, than: &'r Run| {
                let known =
                    |one: &&Warning| than.warnings.iter().any(|other| other.code == one.code);
                lasting(of).filter(move |one| !known(one))
            };
            let there =
                one_sided(other, self.run).map(|one| warned(&format!("{which} only, "), one));
            let here = one_sided(self.run, other).map(|one| warned("this run only, ", one));
            blocks.extend(there.chain(here));
        }
        if let Some(before) = self.earlier.and_then(|run| run.bill.as_deref()) {
            blocks.extend(times(before, bill).map(Block::paragraph));
            let sums = differences(before, bill);
            blocks.extend(sums.iter().map(|one| Block::Paragraph(sum(one))));
        }
        let prices = PriceList::of(self.run);
        let column = bill.column(&prices);
        let accounts = bill.accounts(&prices, column);
        let shown = if self.is_verbose {
            accounts.len()
        } else {
            MAX_ACCOUNTS
        };
        let listed = &accounts[..shown.min(accounts.len())];
        blocks.push(Block::Table(table(bill, listed)));
        blocks.extend(notes(bill, &accounts, shown, &prices, column));
        blocks.extend(unmeasured(self.run));
        blocks.extend(
            lasting(self.run).map(|one| Block::note(format!("{}: {}", one.code, one.message))),
        );
        blocks.extend(
            self.other
                .into_iter()
                .flat_map(|other| beside(bill, &prices, other, column)),
        );
        blocks
    }
}

/// What was seen of how a run was set up, not of its hour.
fn lasting(run: &Run) -> impl Iterator<Item = &Warning> {
    let warnings = run.warnings.iter();
    warnings.filter(|one| !one.is_of_the_hour())
}

fn warned(which: &str, warning: &Warning) -> Block {
    let words = Text::of(Look::Tag, format!("{which}{}", warning.code));
    Block::Paragraph(words.with(Look::Plain, &warning.message).tone(Tone::Care))
}

/// The CPU time of an earlier bill and of this one, and whether they are of one program.
fn times(before: &Bill, after: &Bill) -> Option<String> {
    let ends = |bill: &Bill| {
        let all = bill.cpu_ns.iter().copied();
        let low = all.clone().reduce(f64::min)?;
        Some(interval(Unit::Nanoseconds, low, all.reduce(f64::max)?))
    };
    let of = match before.command == after.command {
        true => String::new(),
        false => format!(" of another program, {}", readable(&before.command)),
    };
    let (earlier, now) = ends(before).zip(ends(after))?;
    Some(format!("CPU time: {now}, before {earlier}{of}"))
}

/// How many prices are missing, and why the first is; how many are of too few processes to be sure of.
fn unmeasured(run: &Run) -> Vec<Block> {
    let all = &run.measurements;
    let missing: Vec<&Measurement> = all.iter().filter(|row| row.status != Status::Ok).collect();
    let few = all
        .iter()
        .filter(|row| row.status == Status::Ok && row.flags.contains(&Flag::TooFewRounds))
        .count();
    let of_missing = missing.first().map(|first| {
        format!(
            "{} of {} prices were not measured: {}",
            missing.len(),
            all.len(),
            sentence::no_number(first)
        )
    });
    let of_few = (few > 0).then(|| {
        format!(
            "{few} of {} prices are of too few processes for an interval (--budget)",
            all.len()
        )
    });
    of_missing
        .into_iter()
        .chain(of_few)
        .map(Block::note)
        .collect()
}

/// The program, its time, and its counts in a sentence.
fn heading(bill: &Bill) -> Text {
    let name = readable(&bill.command);
    let times = bill.cpu().map_or_else(String::new, |ns| {
        format!(" {} of CPU time,", quantity(Unit::Nanoseconds, ns))
    });
    let during = match (bill.cpu(), bill.wall_ns.first()) {
        (None, Some(ns)) => format!("in {}", quantity(Unit::Nanoseconds, *ns)),
        _ => "in a run".to_owned(),
    };
    let [calls, faults] = [Sum::Calls, Sum::Faults].map(|sum| sum.range(bill));
    Text::of(Look::Tag, name).with(
        Look::Plain,
        format!("{times} {calls} system calls, {faults} page faults {during}"),
    )
}

/// A line for each kind.
fn table(bill: &Bill, accounts: &[Account<'_>]) -> Table {
    let is_sampled = bill.sampled.is_some();
    let most = accounts
        .iter()
        .map(|one| one.weight_ns())
        .fold(0.0, f64::max);
    let mut columns = vec![
        Column::right("times"),
        Column::right("each"),
        Column::right("priced"),
    ];
    if is_sampled {
        columns.push(Column::right("measured"));
    }
    columns.push(Column::right("of CPU time").rank(1));
    columns.push(Column::plot(html! {}));
    let cpu = bill.cpu().unwrap_or(0.0);
    let row = |one: &Account<'_>| {
        let time =
            |ns: Option<f64>| ns.map_or_else(String::new, |ns| quantity(Unit::Nanoseconds, ns));
        let least = if one.is_lower_bound && one.priced_ns.is_some() {
            "≥ "
        } else {
            ""
        };
        let mean = one.uses.iter().map(|(one, _)| one.mean()).sum::<f64>();
        let each = one.priced_ns.filter(|_| mean > 0.0).map(|ns| ns / mean);
        let weight = one.sampled_ns.or(one.priced_ns).unwrap_or(0.0);
        let mut cells: Vec<Text> = vec![
            one.range.to_string().into(),
            format!("{least}{}", time(each)).into(),
            format!("{least}{}", time(one.priced_ns)).into(),
        ];
        if is_sampled {
            cells.push(time(one.sampled_ns).into());
        }
        let (share, length) = (weight / cpu, weight / most);
        let is_known = share.is_finite() && weight > 0.0;
        cells.push(match is_known {
            true => format!("{:.1} %", 100.0 * share).into(),
            false => Text::default(),
        });
        cells.push(match weight > 0.0 {
            true => Text::drawn("", bar(length)),
            false => Text::default(),
        });
        let mut row = Row::new(Text::of(Look::Code, one.name), cells);
        row.notes
            .extend(kinds(one).map(|words| Text::from(words).tone(Tone::Quiet)));
        row
    };
    Table {
        class: "bill",
        caption: "What the program asks of the kernel".to_owned(),
        names: "asked for".into(),
        columns,
        rows: accounts.iter().map(row).collect(),
    }
}

/// A bar of this length, 0 to 1.
fn bar(length: f64) -> Markup {
    let width = format!("{:.1}", 160.0 * length.clamp(0.0, 1.0));
    html! {
        svg class="sparkline" viewBox="0 0 160 24" aria-hidden="true" {
            rect x="0" y="7" width=(width) height="12" class="bar s0" {}
        }
    }
}

/// The kinds of an account that has several.
fn kinds(account: &Account<'_>) -> Option<String> {
    let mut by_words: Vec<(String, f64, Option<f64>)> = Vec::new();
    for (one, costs) in &account.uses {
        let words = match one.words().strip_prefix(&one.name).map(str::trim) {
            Some("") | None => "others".to_owned(),
            Some(words) => words.trim_start_matches(": ").to_owned(),
        };
        match by_words.iter_mut().find(|(known, ..)| *known == words) {
            Some((_, number, sum)) => {
                *number += one.mean();
                *sum = sum.zip(*costs).map(|(sum, costs)| sum + costs);
            }
            None => by_words.push((words, one.mean(), *costs)),
        }
    }
    let times = |number: f64| match number < 1.0 {
        true => format!("{number:.1}"),
        false => format!("{number:.0}"),
    };
    let named: Vec<String> = by_words
        .iter()
        .map(
            |(words, number, costs)| match costs.filter(|_| *number > 0.0) {
                Some(costs) => format!(
                    "{words} {} at {}",
                    times(*number),
                    quantity(Unit::Nanoseconds, costs / number)
                ),
                None => format!("{words} {}", times(*number)),
            },
        )
        .collect();
    (by_words.len() > 1).then(|| sentence::listed(&named, MAX_KINDS))
}

/// What is explained, and by which prices.
fn notes(
    bill: &Bill,
    accounts: &[Account<'_>],
    shown: usize,
    prices: &PriceList,
    column: u64,
) -> Vec<Block> {
    let mut notes = Vec::new();
    let cpu = bill.cpu().unwrap_or(0.0);
    let columns = prices.columns();
    let percent = |part: f64, of: f64| format!("{:.0} %", 100.0 * part / of.max(1.0));
    let time = |ns: f64| quantity(Unit::Nanoseconds, ns);
    if accounts.len() > shown {
        let left = accounts.len() - shown;
        notes.push(Block::note(format!(
            "{} cost less (-v)",
            sentence::count(left, "other kind")
        )));
    }
    if !columns.is_empty() {
        let total = prices.total(bill, column);
        let kernel = bill.sampled_kernel_ns();
        let said = match kernel {
            Some(kernel) => format!(
                "priced: {} of {} in the kernel, {}; {} in the program itself",
                time(total),
                time(kernel),
                percent(total, kernel),
                time(cpu - kernel)
            ),
            None if cpu > 0.0 => format!(
                "priced: {} of {} of CPU time, {}",
                time(total),
                time(cpu),
                percent(total, cpu)
            ),
            None => format!("priced: {}", time(total)),
        };
        let between = bill
            .between_entries_ns(prices)
            .map_or_else(String::new, |ns| {
                format!(", since it works for {} between two entries", time(ns))
            });
        let others = columns.iter().filter(|other| **other != column);
        let others =
            others.map(|other| format!("; {} {}", time(prices.total(bill, *other)), state(*other)));
        notes.push(Block::paragraph(said));
        if cpu > 0.0 && total > MUCH_TOO_HIGH * kernel.unwrap_or(cpu) {
            notes.push(Block::paragraph(Text::from(TOO_HIGH).tone(Tone::Care)));
        }
        notes.push(Block::note(format!(
            "each operation at the price that it has here {}{between}{}",
            state(column),
            others.collect::<String>()
        )));
    }
    if let Some(sampled) = &bill.sampled {
        if !columns.is_empty() {
            notes.extend(unexplained(&rest(bill, accounts), cpu));
        }
        notes.push(Block::note(format!(
            "measured by {} samples in {}, which took {} of CPU time each",
            sampled.samples,
            sentence::count(sampled.cpu_ns.len(), "more run"),
            time(median(&sampled.cpu_ns).unwrap_or(0.0))
        )));
    }
    let is_bound = |one: &&Account<'_>| {
        let mut uses = one.uses.iter();
        uses.any(|(one, costs)| one.is_lower_bound && costs.is_some())
    };
    let bounds: Vec<&str> = accounts
        .iter()
        .filter(is_bound)
        .map(|one| one.name)
        .collect();
    if !bounds.is_empty() {
        notes.push(Block::note(format!(
            "no row is of all of {}: in part at the price of what does less, a lower bound (≥)",
            sentence::listed(&bounds, MAX_DIFFERENCES)
        )));
    }
    notes.extend(bill.unknown.iter().map(Block::note));
    notes
}

/// What samples find in the kernel that no price stands for.
struct Rest<'b> {
    name: &'b str,
    ns: f64,
    /// The kernel's functions in which it is spent.
    functions: Vec<&'b (String, f64)>,
}

/// What no price explains, the largest first.
fn rest<'b>(bill: &'b Bill, accounts: &[Account<'b>]) -> Vec<Rest<'b>> {
    let cpu = bill.cpu().unwrap_or(0.0);
    let kinds = || {
        let all = bill.sampled.iter().flat_map(|sampled| &sampled.kernel);
        all.filter(|(name, _)| *name != ENTRY)
    };
    let of_accounts = accounts.iter().filter_map(|one| {
        let serving = kinds().filter(|(kind, _)| serves(kind, one.name));
        Some(Rest {
            name: one.name,
            ns: one.sampled_ns? - one.priced_ns.unwrap_or(0.0),
            functions: serving.flat_map(|(_, found)| &found.functions).collect(),
        })
    });
    let others = kinds().filter(|(kind, _)| accounts.iter().all(|one| !serves(kind, one.name)));
    let of_others = others.map(|(kind, found)| Rest {
        name: kind,
        ns: found.share * cpu,
        functions: found.functions.iter().collect(),
    });
    let mut rest: Vec<Rest<'_>> = of_accounts.chain(of_others).collect();
    rest.sort_by(|one, other| other.ns.total_cmp(&one.ns));
    rest
}

/// The largest of what no price explains, with functions of the kernel.
fn unexplained(rest: &[Rest<'_>], cpu: f64) -> Option<Block> {
    /// Number of kinds that are named, and of functions of each.
    const MOST: usize = 3;
    /// The least share of the CPU time that is worth a word.
    const LEAST: f64 = 0.01;
    let large = rest.iter().filter(|one| one.ns > LEAST * cpu).take(MOST);
    let named = large.map(|one| {
        let functions = one.functions.iter().take(MOST);
        let functions: Vec<&str> = functions.map(|(name, _)| &**name).collect();
        let time = quantity(Unit::Nanoseconds, one.ns);
        format!("{} {time} ({})", one.name, functions.join(", "))
    });
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| Block::note(format!("not explained: {}", named.join("; "))))
}

/// The state of the caches after this number of bytes was displaced, in words.
fn state(displaced: u64) -> String {
    match displaced {
        0 => "with warm caches".to_owned(),
        bytes => format!(
            "after {} of other data",
            quantity(Unit::Bytes, bytes as f64)
        ),
    }
}

/// The same counts at the prices of another run's machine: a range, and what matters most.
fn beside(bill: &Bill, prices: &PriceList, other: &Run, column: u64) -> Vec<Block> {
    let there = PriceList::of(other);
    if there.columns().is_empty() {
        let words = format!(
            "no prices of {}: run `syscost run bill` there",
            sentence::machine(other)
        );
        return vec![Block::Paragraph(Text::from(words).tone(Tone::Care))];
    }
    let both = bill.elsewhere([prices, &there], column);
    let [here_ns, there_ns] = both.total_ns;
    let time = |ns: f64| quantity(Unit::Nanoseconds, ns);
    let causes: Vec<String> = both
        .parts
        .iter()
        .filter(|(_, [here, there])| (there - here).abs() > MIN_CAUSE * here_ns)
        .map(|(name, [here, there])| format!("{name} {} instead of {}", time(*there), time(*here)))
        .collect();
    let between = both.ratios.map_or_else(String::new, |(low, high)| {
        format!(", {low:.2} to {high:.2} times by how much is displaced")
    });
    let mut blocks = vec![Block::paragraph(format!(
        "at the prices of {} ({}): {} instead of {} for what is priced on both sides and no work on files{between}",
        other.id,
        sentence::machine(other),
        time(there_ns),
        time(here_ns)
    ))];
    if let Some([here, there]) = both.way_ns {
        blocks.push(Block::paragraph(format!(
            "the way into the kernel and back, which each call pays: {} instead of {}, {} for all calls",
            time(there),
            time(here),
            time((there - here) * bill.calls()),
        )));
    }
    if !causes.is_empty() {
        blocks.push(Block::paragraph(format!(
            "most of that: {}",
            sentence::listed(&causes, MAX_DIFFERENCES)
        )));
    }
    if !both.left_out.is_empty() {
        let refused: Vec<&str> = both.left_out.into_iter().collect();
        blocks.push(Block::note(format!(
            "not said of {}: what work on files costs depends on the file system and what is in it",
            sentence::listed(&refused, MAX_DIFFERENCES)
        )));
    }
    blocks
}

/// `+12.1 % calls: readlink +985 (new)`.
fn sum(one: &Difference) -> Text {
    let name = one.of.name();
    let [before, after] = one.totals;
    if one.parts.is_empty() {
        let unsure = if before.is_exact() && after.is_exact() {
            ""
        } else {
            "; they vary from run to run"
        };
        return Text::from(format!(
            "{name}: as before, {} (before {}){unsure}",
            after, before
        ));
    }
    let growth = match before.low {
        0 => "all new".to_owned(),
        _ => format!("{:+.1} %", 100.0 * (mid(after) / mid(before) - 1.0)),
    };
    let parts: Vec<String> = one
        .parts
        .iter()
        .map(|part| different(part, one.of))
        .collect();
    Text::of(Look::Tag, format!("{growth} {name}"))
        .with(
            Look::Plain,
            format!(
                "{} (before {}, now {})",
                sentence::listed(&parts, MAX_DIFFERENCES),
                before,
                after
            ),
        )
        .tone(if mid(after) > mid(before) {
            Tone::Bad
        } else {
            Tone::Good
        })
}

fn mid(range: Range) -> f64 {
    (range.low + range.high) as f64 / 2.0
}

fn different(part: &DifferentPart, of: Sum) -> String {
    let grew = part.grew();
    let sign = if grew < 0 { '-' } else { '+' };
    let number = match of {
        Sum::Bytes => quantity(Unit::Bytes, grew.unsigned_abs() as f64),
        Sum::Calls | Sum::Faults => grouped(grew.unsigned_abs()),
    };
    let remark = match part.ranges {
        [None, Some(_)] => " (new)",
        [Some(_), None] => " (gone)",
        _ => "",
    };
    format!("{} {sign}{number}{remark}", part.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use syscost_results::bill::{PricedBy, Use};
    use syscost_results::fixture::{row, run};

    /// A program that makes these calls, each with its counts by run and its price here, in ns.
    fn billed(calls: &[(&str, &[u64], Option<f64>)]) -> Run {
        let priced = |(name, _, ns): &(&str, &[u64], Option<f64>)| {
            let ns = (*ns)?;
            let mut row = row(
                &format!("bill.call{{call={name},displaced=0}}"),
                vec![vec![ns]],
            );
            row.id = "bill.call".to_owned();
            let case = [("call", *name), ("displaced", "0")];
            row.case = case
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into();
            row.estimate.median = Some(ns);
            Some(row)
        };
        let used = |(name, counts, _): &(&str, &[u64], Option<f64>)| Use {
            name: (*name).to_owned(),
            counts: counts.to_vec(),
            priced_by: vec![PricedBy {
                of: (*name).to_owned(),
                ..PricedBy::of_null_call()
            }],
            ..Use::default()
        };
        let bill = Bill {
            command: "a b".to_owned(),
            cpu_ns: vec![2e6, 2e6],
            uses: calls.iter().map(used).collect(),
            ..Bill::default()
        };
        let mut run = run("r", calls.iter().filter_map(priced).collect());
        run.bill = Some(Box::new(bill));
        run
    }

    fn text(billed: &Billed<'_>) -> String {
        let options = TableOptions {
            width: 400,
            ..TableOptions::default()
        };
        billed.text(&options)
    }

    #[test]
    fn what_is_priced_is_told_with_its_share_of_the_time() {
        let run = billed(&[("null", &[1000, 1000], Some(100.0)), ("brk", &[7, 9], None)]);
        let said = text(&Billed::of(&run));
        assert!(said.contains("1,007 to 1,009 system calls"), "{said}");
        assert!(
            said.contains("priced: 100 µs of 2.00 ms of CPU time, 5 %"),
            "{said}"
        );
        assert!(!said.contains("not explained"), "{said}");
    }

    #[test]
    fn growth_and_differences_in_set_up_are_shown() {
        let before = billed(&[("null", &[532, 538], None), ("brk", &[5, 5], None)]);
        let mut after = billed(&[("null", &[1033, 1037], None), ("brk", &[5, 5], None)]);
        let warning = Warning {
            code: "seccomp".to_owned(),
            message: "each call pays for a filter".to_owned(),
            advice: String::new(),
        };
        after.warnings.push(warning);
        let said = text(&Billed {
            earlier: Some(&before),
            ..Billed::of(&after)
        });
        let grown = "calls: null +495 (before 537 to 543, now 1,038 to 1,042)";
        assert!(said.contains(grown), "{said}");
        assert!(said.contains("this run only, seccomp: each call"), "{said}");
    }

    #[test]
    fn beside_another_machine_both_sides_are_of_the_same_rows() {
        let here = billed(&[("null", &[1000], Some(100.0)), ("brk", &[10], Some(500.0))]);
        let there = billed(&[("null", &[1], Some(150.0))]);
        let said = text(&Billed {
            other: Some(&there),
            ..Billed::of(&here)
        });
        assert!(said.contains("150 µs instead of 100 µs"), "{said}");
        assert!(
            said.contains("150 ns instead of 100 ns, 50.5 µs for all calls"),
            "{said}"
        );
        let unpriced = billed(&[("null", &[1], None)]);
        let said = text(&Billed {
            other: Some(&unpriced),
            ..Billed::of(&here)
        });
        assert!(said.contains("no prices of"), "{said}");
    }
}
