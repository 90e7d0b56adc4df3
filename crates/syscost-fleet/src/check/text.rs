//! A check in a line, for people and for the programs that call it.

use syscost_report::sentence::count;
use syscost_report::units::quantity;

use super::{Answer, Check, Doubt, Judged};

/// Characters of the plain line, and of the one for node-problem-detector, which cuts what is longer.
const MAX_LINE: usize = 200;
const MAX_NPD: usize = 80;
/// What stands for the rest of a text; ASCII, since some count bytes.
const CUT: &str = "..";

impl Check {
    /// The line for people: at most 200 characters.
    pub fn line(&self) -> String {
        let words = self.answer.words();
        cut(
            match &self.why {
                Some(why) => format!("{words}: {why}"),
                None if self.answer == Answer::AsItShouldBe => format!("{words}: {}", self.good()),
                None => format!("{words}: {}", self.bad()),
            },
            MAX_LINE,
        )
    }

    /// The line for Nagios and its like: status, text, and figures that can be drawn.
    pub fn nagios(&self) -> String {
        let status = match self.answer {
            Answer::AsItShouldBe => "OK",
            Answer::NotAsItShouldBe => "WARNING",
            Answer::CannotTell | Answer::CouldNotMeasure => "UNKNOWN",
        };
        // The bar begins the figures.
        let line = self.line().replace('|', "/");
        let mut text = format!("SYSCOST {status} - {line}");
        if self.rows > 0 {
            let worst = self.worse.first().map_or(1.0, Judged::harm);
            text += &format!(
                " | worse={};0;;0;{rows} conclusive={};;;0;{rows} better={};;;0;{rows} worst={worst:.3};{:.3};;0",
                self.worse.len(),
                self.conclusive,
                self.better.len(),
                1.0 + self.margin,
                rows = self.rows,
            );
        }
        text
    }

    /// The line for node-problem-detector: at most 80 characters.
    pub fn npd(&self) -> String {
        let text = match (self.answer, &self.why, self.worse.first()) {
            (Answer::NotAsItShouldBe, _, Some(worst)) => {
                let figure = format!(" {:.2}x{}", worst.ratio, self.others());
                // The name gives way: what it is about can be looked up.
                let room = MAX_NPD.saturating_sub(figure.chars().count());
                format!("{}{figure}", cut(worst.name.clone(), room))
            }
            (Answer::NotAsItShouldBe, ..) => self.held_back(),
            (Answer::AsItShouldBe, ..) => {
                format!("{}: {}", self.answer.words(), count(self.rows, "row"))
            }
            (answer, why, _) => format!("{}: {}", answer.words(), why.as_deref().unwrap_or("")),
        };
        cut(text, MAX_NPD)
    }

    /// What is to say of a machine that is as it should be.
    fn good(&self) -> String {
        let percent = 100.0 * self.margin;
        let rows = match self.conclusive == self.rows {
            true => format!("{} within", count(self.rows, "row")),
            false => format!("{} of {} within", self.conclusive, count(self.rows, "row")),
        };
        let better = match &self.better[..] {
            [] => String::new(),
            [best, ..] => format!(", {} better ({})", self.better.len(), short(best)),
        };
        format!("{rows} {percent} % of the baseline{better}")
    }

    /// What is to say of one that is not.
    fn bad(&self) -> String {
        let Some(worst) = self.worse.first() else {
            return self.held_back();
        };
        let [low, high] = worst.ci95;
        let mut text = format!(
            "{} is {:.2} times the baseline's ({low:.2} to {high:.2}): {}, not {}{}",
            worst.name,
            worst.ratio,
            quantity(worst.unit, worst.found),
            quantity(worst.unit, worst.expected),
            self.others()
        );
        if self.throttled.is_some() {
            text = format!("{}; {text}", self.held_back());
        }
        text
    }

    fn others(&self) -> String {
        match self.worse.len() {
            0 | 1 => String::new(),
            more => format!(", and {} more", more - 1),
        }
    }

    fn held_back(&self) -> String {
        self.throttled.map_or_else(String::new, |one| {
            format!(
                "its control group's quota of {:.2} CPUs held it back in {:.0} % of the periods",
                one.quota, one.periods_percent
            )
        })
    }
}

impl Answer {
    /// In words, as the line begins.
    pub fn words(self) -> &'static str {
        match self {
            Answer::AsItShouldBe => "as it should be",
            Answer::NotAsItShouldBe => "not as it should be",
            Answer::CannotTell => "cannot tell",
            Answer::CouldNotMeasure => "could not measure",
        }
    }
}

fn short(one: &Judged) -> String {
    format!("{} {:.2}x", one.name, one.ratio)
}

/// Why too little can be said: the commonest doubt.
pub(super) fn doubts(doubts: &[Doubt], rows: usize) -> String {
    let kinds = [
        (
            Doubt::Shared,
            "something else ran on the core in the other cases",
        ),
        (
            Doubt::FewRounds,
            "there was no time for enough rounds of the others",
        ),
        (Doubt::NoNumber, "most others have no number"),
        (Doubt::Wide, "the others' intervals are too wide"),
    ];
    let times = |kind: Doubt| doubts.iter().filter(|doubt| **doubt == kind).count();
    let commonest = kinds.into_iter().max_by_key(|(kind, _)| times(*kind));
    match (rows, commonest) {
        (0, _) | (_, None) => "the baseline has none of the rows".to_owned(),
        (_, Some((_, why))) => format!(
            "only {} of {} can be judged; {why}",
            rows - doubts.len(),
            count(rows, "row")
        ),
    }
}

/// The text on one line, without what would do more than print, and with no more characters than
/// this.
fn cut(text: String, most: usize) -> String {
    let mut text: String = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    if let Some((end, _)) = text.char_indices().nth(most) {
        let keep = text.char_indices().nth(most.saturating_sub(CUT.len()));
        text.truncate(keep.map_or(end, |(place, _)| place));
        text.push_str(CUT);
    }
    text
}
