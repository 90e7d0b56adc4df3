//! Whether one machine is as it should be: what is said of it after it was measured once, and
//! again where that looked worse.
//!
//! Three things keep a sound machine from being accused. A row is worse only if its whole interval
//! lies beyond the margin, with false alarms controlled over all rows. It has to be so both times.
//! And what something else on the core may have caused is not held against the machine: if that is
//! most of what was measured, the answer is that nobody can tell.

mod reference;
mod text;

use std::cmp::Ordering;

use serde::Serialize;
use syscost_results::{Better, Unit};

use reference::FREQUENCY;
pub use reference::Reference;

/// At least this share of the rows must be conclusive, or the machine cannot be called as it should
/// be.
const ENOUGH: f64 = 0.5;

/// What is said of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Nothing is worse than it should be, and enough was seen to say so.
    AsItShouldBe,
    /// Something is worse, both times.
    NotAsItShouldBe,
    /// It was measured, but that does not tell.
    CannotTell,
    /// It could not be measured.
    CouldNotMeasure,
}

/// A quantity that was held against what it should be.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    /// Name of the row, or `core frequency`.
    pub name: String,
    /// Unit of `expected` and `found`.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// What it should be.
    pub expected: f64,
    /// What it is.
    pub found: f64,
    /// Found by expected.
    pub ratio: f64,
    /// Ends of the ratio's 95 % interval.
    pub ci95: [f64; 2],
}

/// What was found of one quantity.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// It is worse, by more than the margin even at the nearer end of its interval.
    Worse(Judged),
    /// It is better by as much.
    Better(Judged),
    /// It is not worse by more than the margin, even at the worse end of its interval.
    Within,
    /// It may be either.
    Unsure(Doubt),
}

/// Why nothing can be said of a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Doubt {
    /// Something else ran on its core.
    Shared,
    /// There was no time for enough rounds.
    FewRounds,
    /// It has no number, or is another thing under the same name.
    NoNumber,
    /// Its interval is too wide.
    Wide,
    /// It looked worse once, and could not be judged the other time.
    Once,
}

/// A quota that leaves fewer CPUs than there should be. It slows no single operation, and stops
/// programs in between: what was measured does not show it, and needs not, since it is a fact.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quota {
    /// CPUs that the control group's quota allows.
    pub cpus: f64,
    /// CPUs that there should be.
    pub expected: f64,
}

/// The answer and what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// The answer.
    pub answer: Answer,
    /// Why there is no better one; of an answer that is none.
    pub why: Option<String>,
    /// By what share a quantity may be worse: 0.1 is 10 %.
    pub margin: f64,
    /// How many quantities were to be judged.
    pub rows: usize,
    /// Of how many something can be said.
    pub conclusive: usize,
    /// Those that were worse both times, as the better of the two times had them; the worst first.
    pub worse: Vec<Judged>,
    /// Those that are better, the best first.
    pub better: Vec<Judged>,
    /// The quota of its control group, if that leaves too few CPUs by more than the margin.
    pub quota: Option<Quota>,
}

impl Judged {
    /// How many times the expected cost it is; of a rate, how many times less it is.
    fn harm(&self) -> f64 {
        match self.better {
            Better::Lower => self.ratio,
            Better::Higher => 1.0 / self.ratio,
        }
    }

    /// The least and the most that it may be.
    fn harm_interval(&self) -> [f64; 2] {
        let [low, high] = self.ci95;
        match self.better {
            Better::Lower => [low, high],
            Better::Higher => [1.0 / high, 1.0 / low],
        }
    }

    /// What it means, where `is_shown` says whether its deviation is more than chance among all
    /// that were judged.
    fn finding(self, margin: f64, is_shown: bool) -> Finding {
        let [least, most] = self.harm_interval();
        if is_shown && least > 1.0 + margin {
            Finding::Worse(self)
        } else if is_shown && most < 1.0 / (1.0 + margin) {
            Finding::Better(self)
        } else if most <= 1.0 + margin {
            Finding::Within
        } else {
            Finding::Unsure(Doubt::Wide)
        }
    }
}

/// The worst first.
fn by_harm(one: &Judged, other: &Judged) -> Ordering {
    other.harm().total_cmp(&one.harm())
}

/// What both times say of a quantity together.
fn both(first: Finding, again: Option<Finding>) -> Finding {
    use Finding::{Better, Unsure, Within, Worse};
    match (first, again) {
        // No worse than it was at its better time.
        (Worse(one), Some(Worse(other))) => {
            let is_nearer = one.harm_interval()[0] <= other.harm_interval()[0];
            Worse(if is_nearer { one } else { other })
        }
        (Worse(_), Some(Within | Better(_))) => Within,
        (Worse(_), Some(Unsure(_)) | None) => Unsure(Doubt::Once),
        (Unsure(_), Some(Within | Better(_))) => Within,
        (Unsure(_), Some(Worse(_))) => Unsure(Doubt::Once),
        (Unsure(_), Some(Unsure(doubt))) => Unsure(doubt),
        (first, _) => first,
    }
}

/// Quantities by name, and what was found of each.
pub type Findings = Vec<(String, Finding)>;

/// The rows that must be measured again: all that look worse; or, where too little can be said,
/// all of which nothing can. The frequency is that of whatever rows are measured.
pub fn to_repeat(first: &Findings) -> Vec<String> {
    let rows = || first.iter().filter(|(name, _)| name != FREQUENCY);
    let named = |wanted: fn(&Finding) -> bool| -> Vec<String> {
        let found = rows().filter(|(_, finding)| wanted(finding));
        found.map(|(name, _)| name.clone()).collect()
    };
    let is_worse = |finding: &Finding| matches!(finding, Finding::Worse(_));
    if first
        .iter()
        .any(|(name, finding)| name == FREQUENCY && is_worse(finding))
    {
        return named(|_| true);
    }
    let worse = named(is_worse);
    let unsure = named(|finding| matches!(finding, Finding::Unsure(_)));
    match worse.is_empty() && !is_enough(first.len() - unsure.len(), first.len()) {
        true => unsure,
        false => worse,
    }
}

fn is_enough(conclusive: usize, all: usize) -> bool {
    all > 0 && conclusive as f64 >= ENOUGH * all as f64
}

impl Check {
    /// The answer that follows from what was found the first time and again, where that was needed.
    pub fn of(first: Findings, mut again: Findings, quota: Option<Quota>, margin: f64) -> Self {
        let rows = first.len();
        let (mut worse, mut better, mut doubts) = (Vec::new(), Vec::new(), Vec::new());
        // Whoever has seen one cannot say that all is well.
        let mut suspect = None;
        for (name, finding) in first {
            let place = again.iter().position(|(other, _)| *other == name);
            match both(finding, place.map(|place| again.swap_remove(place).1)) {
                Finding::Worse(judged) => worse.push(judged),
                Finding::Better(judged) => better.push(judged),
                Finding::Within => {}
                Finding::Unsure(doubt) => {
                    if doubt == Doubt::Once {
                        suspect = suspect.or(Some(name));
                    }
                    doubts.push(doubt);
                }
            }
        }
        worse.sort_by(by_harm);
        better.sort_by(|one, other| by_harm(other, one));
        let quota = quota.filter(|quota| quota.expected > (1.0 + margin) * quota.cpus);
        let conclusive = rows - doubts.len();
        let answer = match (worse.is_empty() && quota.is_none(), conclusive) {
            (false, _) => Answer::NotAsItShouldBe,
            (true, conclusive) if suspect.is_none() && is_enough(conclusive, rows) => {
                Answer::AsItShouldBe
            }
            (true, _) => Answer::CannotTell,
        };
        Self {
            answer,
            why: (answer == Answer::CannotTell).then(|| match suspect {
                Some(name) => format!("{name} looked worse once, and could not be judged again"),
                None => text::doubts(&doubts, rows),
            }),
            margin,
            rows,
            conclusive,
            worse,
            better,
            quota,
        }
    }

    /// An answer that is none, with the reason.
    pub fn without(answer: Answer, why: String, margin: f64) -> Self {
        Self {
            answer,
            why: Some(why),
            margin,
            rows: 0,
            conclusive: 0,
            worse: Vec::new(),
            better: Vec::new(),
            quota: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(name: &str, ci95: [f64; 2]) -> Judged {
        let ratio = f64::midpoint(ci95[0], ci95[1]);
        Judged {
            name: name.to_owned(),
            unit: Unit::Nanoseconds,
            better: Better::Lower,
            expected: 100.0,
            found: 100.0 * ratio,
            ratio,
            ci95,
        }
    }

    fn found(ci95: [f64; 2]) -> Finding {
        judged("x", ci95).finding(0.1, true)
    }

    #[test]
    fn what_lies_beyond_the_margin_as_a_whole_is_worse() {
        assert!(matches!(found([1.11, 1.5]), Finding::Worse(_)));
        assert_eq!(found([1.09, 1.5]), Finding::Unsure(Doubt::Wide));
        assert_eq!(found([0.5, 1.1]), Finding::Within);
        assert!(matches!(found([0.5, 0.9]), Finding::Better(_)));
        let by_chance = judged("x", [1.11, 1.5]).finding(0.1, false);
        assert_eq!(by_chance, Finding::Unsure(Doubt::Wide));
        let rate = |ci95| {
            let rate = Judged {
                better: Better::Higher,
                ..judged("x", ci95)
            };
            rate.finding(0.1, true)
        };
        assert!(matches!(rate([0.5, 0.9]), Finding::Worse(_)));
        assert!(matches!(rate([1.11, 1.5]), Finding::Better(_)));
        assert_eq!(rate([0.92, 1.5]), Finding::Within);
    }

    #[test]
    fn only_what_both_times_show_is_said() {
        let twice = both(found([1.2, 1.3]), Some(found([1.4, 1.5])));
        assert_eq!(twice, Finding::Worse(judged("x", [1.2, 1.3])));
        let once = both(found([1.2, 1.3]), Some(found([0.9, 1.05])));
        assert_eq!(once, Finding::Within);
        let never_again = both(found([1.2, 1.3]), None);
        assert_eq!(never_again, Finding::Unsure(Doubt::Once));
        let late = both(Finding::Unsure(Doubt::Shared), Some(found([1.2, 1.3])));
        assert_eq!(late, Finding::Unsure(Doubt::Once));
    }

    #[test]
    fn a_slow_clock_is_looked_at_again_by_all_rows() {
        let of = |row: &str| {
            let clock = Finding::Worse(judged(FREQUENCY, [1.4, 1.6]));
            vec![
                (row.to_owned(), Finding::Within),
                (FREQUENCY.to_owned(), clock),
            ]
        };
        assert_eq!(to_repeat(&of("row")), ["row"]);
        let check = Check::of(of("row"), of("row"), None, 0.1);
        assert_eq!(check.answer, Answer::NotAsItShouldBe);
        assert_eq!(check.worse[0].name, FREQUENCY);
    }

    fn named(findings: Vec<Finding>) -> Findings {
        let named = findings.into_iter().enumerate();
        named
            .map(|(place, finding)| (format!("row{place}"), finding))
            .collect()
    }

    #[test]
    fn what_looks_worse_is_repeated_and_else_what_is_not_known() {
        let worse = || found([1.2, 1.3]);
        let unsure = || Finding::Unsure(Doubt::Shared);
        let to_repeat = |findings| to_repeat(&named(findings));
        assert_eq!(to_repeat(vec![Finding::Within, worse()]), ["row1"]);
        assert_eq!(to_repeat(vec![unsure(), unsure(), worse()]), ["row2"]);
        let few = vec![unsure(), unsure(), Finding::Within];
        assert_eq!(to_repeat(few), ["row0", "row1"]);
        assert_eq!(to_repeat(vec![unsure(), Finding::Within]), [""; 0]);
    }

    #[test]
    fn the_answer_follows_from_what_is_worse_and_from_how_much_is_known() {
        let answer = |first, again, quota| {
            let check = Check::of(named(first), named(again), quota, 0.1);
            (check.answer, check.conclusive)
        };
        let (worse, within) = (|| found([1.2, 1.3]), || Finding::Within);
        let shared = || Finding::Unsure(Doubt::Shared);
        assert_eq!(
            answer(vec![within(), shared()], vec![], None),
            (Answer::AsItShouldBe, 1)
        );
        assert_eq!(
            answer(vec![worse(), within()], vec![worse()], None),
            (Answer::NotAsItShouldBe, 2)
        );
        assert_eq!(
            answer(vec![worse(), within()], vec![within()], None),
            (Answer::AsItShouldBe, 2)
        );
        assert_eq!(
            answer(vec![worse(), within()], vec![shared()], None),
            (Answer::CannotTell, 1),
            "a suspect is left"
        );
        assert_eq!(
            answer(vec![shared(), shared(), within()], vec![shared()], None),
            (Answer::CannotTell, 1)
        );
        assert_eq!(answer(vec![], vec![], None), (Answer::CannotTell, 0));
        let of_two = |cpus| {
            let expected = 2.0;
            Some(Quota { cpus, expected })
        };
        assert_eq!(
            answer(vec![shared()], vec![], of_two(0.5)).0,
            Answer::NotAsItShouldBe
        );
        assert_eq!(
            answer(vec![within()], vec![], of_two(1.9)).0,
            Answer::AsItShouldBe
        );
    }

    #[test]
    fn the_worst_stands_first() {
        let findings = || {
            named(vec![
                found([1.2, 1.3]),
                found([3.0, 3.1]),
                found([0.2, 0.3]),
            ])
        };
        let check = Check::of(findings(), findings(), None, 0.1);
        let ratios: Vec<f64> = check.worse.iter().map(|one| one.ratio).collect();
        assert_eq!(ratios, [3.05, 1.25]);
        assert_eq!(check.better.len(), 1);
    }
}
