//! The figures of a text, and where they contradict themselves.

use super::scale::{decimals, last_digit, with_unit};
use serde::Serialize;

use syscost_results::Unit;
use syscost_results::study::{Figure, Printed, Quantity, Ratio, Study, StudyMachine};

/// A mean is of several runs.
const MIN_RUNS: usize = 2;

/// What was computed rather than printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Converted {
    /// The time, from cycles.
    Value,
    /// The cycles, from time.
    Cycles,
}

/// One published figure, in both units if they can be known.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct JudgedFigure {
    /// Id of the machine.
    pub machine: String,
    /// In the quantity's unit.
    pub value: Option<f64>,
    /// The same as printed, with its unit; null if it was computed.
    pub value_printed: Option<String>,
    /// In cycles.
    pub cycles: Option<f64>,
    /// The same as printed; null if they were computed.
    pub cycles_printed: Option<String>,
    /// Which of the two was computed from the machine's stated clock; null if neither.
    pub converted: Option<Converted>,
    /// The figure in words, if it is not a number.
    pub words: Option<String>,
    /// Single results that the text prints; see [`Figure::runs`].
    pub runs: Vec<Printed>,
    /// Where in the text.
    pub place: String,
    /// What is doubtful: according to the study, and where its own numbers disagree.
    pub doubts: Vec<String>,
    /// One of its last printed digit, in the unit in which it is printed.
    #[serde(skip)]
    pub(crate) last_digit: f64,
}

/// The figures published for a quantity, with what follows from them alone.
pub fn figures(study: &Study, quantity: &Quantity) -> Vec<JudgedFigure> {
    let published = quantity.published.iter();
    published
        .map(|one| figure(one, quantity.unit, study.machine(&one.machine)))
        .collect()
}

/// What the text's own figures give for a ratio: machine and ratio.
pub fn published_ratios(study: &Study, ratio: &Ratio) -> Vec<(String, f64)> {
    let of = |id: &str| {
        let quantity = study.quantity(id);
        quantity.map_or_else(Vec::new, |quantity| figures(study, quantity))
    };
    let below = of(&ratio.to);
    let pairs = of(&ratio.of).into_iter().filter_map(|above| {
        let other = below.iter().find(|one| one.machine == above.machine)?;
        let in_unit = above.value.zip(other.value);
        let (one, other) = in_unit.or_else(|| above.cycles.zip(other.cycles))?;
        Some((above.machine, one / other))
    });
    let mut all: Vec<(String, f64)> = pairs.collect();
    // The first, where a machine has several.
    all.dedup_by(|later, first| later.0 == first.0);
    all
}

fn figure(figure: &Figure, unit: Unit, machine: Option<&StudyMachine>) -> JudgedFigure {
    let clock = machine
        .and_then(|machine| machine.clock_ghz)
        .filter(|_| unit == Unit::Nanoseconds);
    let value = figure.value.as_ref().map(Printed::value);
    let cycles = figure.cycles.as_ref().map(Printed::value);
    let mut doubts: Vec<String> = figure.doubt.iter().cloned().collect();
    doubts.extend(contradictions(figure, unit, machine));
    let (value, cycles, converted) = match (value, cycles, clock) {
        (Some(value), None, Some(ghz)) => (Some(value), Some(value * ghz), Some(Converted::Cycles)),
        (None, Some(cycles), Some(ghz)) => {
            (Some(cycles / ghz), Some(cycles), Some(Converted::Value))
        }
        (value, cycles, _) => (value, cycles, None),
    };
    let printed =
        |one: &Option<Printed>, symbol| one.as_ref().map(|one: &Printed| with_unit(one, symbol));
    JudgedFigure {
        machine: figure.machine.clone(),
        value,
        value_printed: printed(&figure.value, unit.symbol()),
        cycles,
        cycles_printed: printed(&figure.cycles, "cycles"),
        converted,
        words: figure.words.clone(),
        runs: figure.runs.clone(),
        place: figure.place.clone(),
        doubts,
        last_digit: figure
            .value
            .as_ref()
            .or(figure.cycles.as_ref())
            .map_or(0.0, last_digit),
    }
}

/// Where a figure's cycles, time and runs disagree by more than their printed digits allow.
fn contradictions(figure: &Figure, unit: Unit, machine: Option<&StudyMachine>) -> Vec<String> {
    let mut found = Vec::new();
    let cycle = machine
        .and_then(cycle_ns)
        .filter(|_| unit == Unit::Nanoseconds);
    let printed = figure.cycles.as_ref().or(figure.value.as_ref());
    let mean = (figure.runs.len() >= MIN_RUNS)
        .then(|| figure.runs.iter().map(Printed::value).sum::<f64>() / figure.runs.len() as f64);
    if let (Some(meant), Some(printed)) = (&figure.meant, &figure.cycles) {
        let mut reasons = Vec::new();
        if let (Some(value), Some((cycle, _))) = (&figure.value, cycle) {
            let cycles = value.value() / cycle;
            if (cycles - meant.value()).abs() < (cycles - printed.value()).abs() {
                reasons.push(format!("its {value} ns are {cycles:.1} cycles"));
            }
        }
        reasons.extend(mean.map(|mean| format!("the mean of its runs is {mean:.2}")));
        found.push(format!(
            "{printed} is a misprint of {meant}: {}",
            reasons.join(", and ")
        ));
        return found;
    }
    if let (Some(value), Some(cycles), Some((cycle, slack))) =
        (&figure.value, &figure.cycles, cycle)
    {
        let ns = cycles.value() * cycle;
        let tolerance = last_digit(value) + last_digit(cycles) / 2.0 * cycle + ns * slack;
        if (ns - value.value()).abs() > tolerance {
            let clock = machine.map(clock).unwrap_or_default();
            found.push(format!(
                "{cycles} cycles {clock} are {ns:.*} ns, not {value}",
                decimals(value)
            ));
        }
    }
    if let (Some(mean), Some(printed)) = (mean, printed)
        && (mean - printed.value()).abs() > last_digit(printed)
    {
        let (count, decimals) = (figure.runs.len(), decimals(printed));
        found.push(format!(
            "the mean of its {count} printed runs is {mean:.decimals$}"
        ));
    }
    found
}

/// The time of a cycle by which the text converts, in ns, and the share of it that its printed
/// digits leave open.
fn cycle_ns(machine: &StudyMachine) -> Option<(f64, f64)> {
    let by_clock = || {
        let ghz = machine.clock_ghz?;
        let decimals = format!("{ghz:?}")
            .split_once('.')
            .map_or(0, |(_, end)| end.len());
        Some((1.0 / ghz, 10f64.powi(-(decimals as i32)) / 2.0 / ghz))
    };
    machine.cycle_ns.map(|ns| (ns, 0.0)).or_else(by_clock)
}

/// By what the text converts, in words.
fn clock(machine: &StudyMachine) -> String {
    match (machine.cycle_ns, machine.clock_ghz) {
        (Some(ns), _) => format!("of {ns} ns"),
        (None, Some(ghz)) => format!("at {ghz} GHz"),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn of(text: &str) -> JudgedFigure {
        let study = format!(
            "id = \"mine\"\ntitle = \"\"\nsource = \"\"\nabout = \"\"\n\
             [[machine]]\nid = \"old\"\nname = \"\"\nclock_ghz = 2.0\n\
             [[machine]]\nid = \"cut\"\nname = \"\"\nclock_ghz = 2.399998\ncycle_ns = 0.416\n\
             [[machine]]\nid = \"unclocked\"\nname = \"\"\n\
             [[quantity]]\nid = \"x\"\ntitle = \"\"\ntable = \"\"\nunit = \"ns\"\nprocedure = \"\"\n\
             published = [{{ {text}, place = \"\" }}]\n"
        );
        let study = parse(&study).expect("it is right");
        figures(&study, &study.quantities[0]).remove(0)
    }

    #[test]
    fn what_is_missing_is_converted_by_the_stated_clock() {
        let converted = of("machine = \"old\", cycles = 20.0");
        let is = (converted.value, converted.converted);
        assert_eq!(is, (Some(10.0), Some(Converted::Value)));
        assert_eq!(converted.cycles_printed.as_deref(), Some("20 cycles"));
        let unclocked = of("machine = \"unclocked\", cycles = 20.0");
        assert_eq!((unclocked.value, unclocked.converted), (None, None));
    }

    #[test]
    fn figures_that_disagree_by_more_than_their_digits_are_marked() {
        let none: [&str; 0] = [];
        let runs = "runs = [\"180.0\", \"190.0\", \"200.0\"]";
        assert_eq!(
            of(&format!(
                "machine = \"old\", cycles = \"200.0\", value = \"90.0\", {runs}"
            ))
            .doubts,
            [
                "200.0 cycles at 2 GHz are 100.0 ns, not 90.0",
                "the mean of its 3 printed runs is 190.0"
            ]
        );
        // A cycle time that was cut off after three decimals gives the printed digits, the clock
        // does not.
        assert_eq!(
            of("machine = \"cut\", cycles = \"43280.2655\", value = \"18004.59\"").doubts,
            none
        );
        // A mean of whole cycles says no more.
        assert_eq!(
            of("machine = \"old\", cycles = \"40\", runs = [39.6, 40.3]").doubts,
            none
        );
    }

    #[test]
    fn a_misprint_is_explained_in_one_sentence() {
        let text = "machine = \"cut\", cycles = \"1261.60\", meant = \"1216.60\", value = \"506.10\", \
                    runs = [\"1219.448012\", \"1218.983895\", \"1213.163701\"]";
        assert_eq!(
            of(text).doubts,
            [
                "1261.60 is a misprint of 1216.60: its 506.10 ns are 1216.6 cycles, and the mean of its runs is 1217.20"
            ]
        );
    }
}
