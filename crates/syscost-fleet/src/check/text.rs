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
            (Answer::NotAsItShouldBe, ..) => self.too_few_cpus(),
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
        let untold = match self.rows - self.conclusive {
            0 => String::new(),
            rows => format!(", {rows} cannot tell"),
        };
        let better = match &self.better[..] {
            [] => String::new(),
            [best, ..] => format!(", {} better ({})", self.better.len(), short(best)),
        };
        format!("{rows} {percent} % of the baseline{better}{untold}")
    }

    /// What is to say of one that is not.
    fn bad(&self) -> String {
        let Some(worst) = self.worse.first() else {
            return self.too_few_cpus();
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
        if self.quota.is_some() {
            text = format!("{}; {text}", self.too_few_cpus());
        }
        if self.conclusive < self.rows {
            text += &format!(
                "; {} of {} judged",
                self.conclusive,
                count(self.rows, "row")
            );
        }
        text
    }

    fn others(&self) -> String {
        match self.worse.len() {
            0 | 1 => String::new(),
            more => format!(", and {} more", more - 1),
        }
    }

    fn too_few_cpus(&self) -> String {
        self.quota.map_or_else(String::new, |quota| {
            format!(
                "its control group's quota is {:.2} CPUs, not {}",
                quota.cpus, quota.expected
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

#[cfg(test)]
mod tests {
    use syscost_results::{Better, Unit};

    use super::super::{Findings, Quota};
    use super::*;
    use crate::check::Finding;

    fn judged(name: &str, ratio: f64) -> Judged {
        Judged {
            name: name.to_owned(),
            unit: Unit::Nanoseconds,
            better: Better::Lower,
            expected: 80.0,
            found: 80.0 * ratio,
            ratio,
            ci95: [ratio - 0.04, ratio + 0.05],
        }
    }

    /// The check of rows of which these were so much worse, both times.
    fn check(worse: &[(&str, f64)], doubts: &[Doubt], quota: Option<Quota>) -> Check {
        let findings = || {
            let mut findings: Findings = vec![("a".to_owned(), Finding::Within)];
            findings.extend(
                worse.iter().map(|(name, ratio)| {
                    ((*name).to_owned(), Finding::Worse(judged(name, *ratio)))
                }),
            );
            let unsure = doubts.iter().enumerate();
            findings.extend(unsure.map(|(n, doubt)| (format!("d{n}"), Finding::Unsure(*doubt))));
            findings
        };
        Check::of(findings(), findings(), quota, 0.1)
    }

    #[test]
    fn a_machine_as_it_should_be_has_a_short_line() {
        let good = check(&[], &[], None);
        assert_eq!(
            good.line(),
            "as it should be: 1 row within 10 % of the baseline"
        );
        assert_eq!(good.npd(), "as it should be: 1 row");
        assert_eq!(
            good.nagios(),
            "SYSCOST OK - as it should be: 1 row within 10 % of the baseline | \
             worse=0;0;;0;1 conclusive=1;;;0;1 better=0;;;0;1 worst=1.000;1.100;;0"
        );
        let partly = check(&[], &[Doubt::Wide], None);
        assert_eq!(
            partly.line(),
            "as it should be: 1 of 2 rows within 10 % of the baseline, 1 cannot tell"
        );
    }

    #[test]
    fn the_worst_row_is_named_with_its_interval() {
        let bad = check(
            &[("syscall.null{call=getppid}", 1.5), ("x", 1.2)],
            &[],
            None,
        );
        assert_eq!(
            bad.line(),
            "not as it should be: syscall.null{call=getppid} is 1.50 times the baseline's \
             (1.46 to 1.55): 120 ns, not 80.0 ns, and 1 more"
        );
        assert_eq!(bad.npd(), "syscall.null{call=getppid} 1.50x, and 1 more");
        assert!(
            bad.nagios()
                .starts_with("SYSCOST WARNING - not as it should be: ")
        );
        assert!(bad.nagios().ends_with(" worst=1.500;1.100;;0"));
    }

    #[test]
    fn a_quota_is_named_first() {
        let (cpus, expected) = (0.5, 2.0);
        let quota = Some(Quota { cpus, expected });
        let few = check(&[], &[], quota);
        assert_eq!(
            few.line(),
            "not as it should be: its control group's quota is 0.50 CPUs, not 2"
        );
        assert_eq!(few.npd(), "its control group's quota is 0.50 CPUs, not 2");
        let both = check(&[("x", 1.5)], &[], quota).line();
        assert!(both.contains("0.50 CPUs, not 2; x is 1.50 times"), "{both}");
    }

    #[test]
    fn who_cannot_tell_says_why() {
        use Doubt::{FewRounds, NoNumber, Shared};
        let shared = check(&[], &[Shared, Shared, NoNumber], None);
        assert_eq!(
            shared.line(),
            "cannot tell: only 1 of 4 rows can be judged; something else ran on the core in the other cases"
        );
        assert!(
            shared
                .nagios()
                .starts_with("SYSCOST UNKNOWN - cannot tell: ")
        );
        let short = check(&[], &[FewRounds, FewRounds, Shared], None).line();
        assert!(short.contains("no time for enough rounds"), "{short}");
        let none = Check::of(Vec::new(), Vec::new(), None, 0.1);
        assert_eq!(
            none.line(),
            "cannot tell: the baseline has none of the rows"
        );
    }

    #[test]
    fn lines_are_never_too_long_and_do_nothing_but_print() {
        let name = format!("\x1b[31m|evil{}", "{long=name}".repeat(30));
        let bad = check(&[(&name, 1.5)], &[], None);
        assert_eq!(bad.line().chars().count(), MAX_LINE);
        assert_eq!(bad.npd().len(), MAX_NPD);
        assert!(bad.npd().ends_with(".. 1.50x"), "{}", bad.npd());
        for text in [bad.line(), bad.npd(), bad.nagios()] {
            assert!(!text.contains(char::is_control), "{text}");
        }
        assert_eq!(bad.nagios().matches('|').count(), 1);
        let why = "a\nb".to_owned();
        let without = Check::without(Answer::CouldNotMeasure, why, 0.1);
        assert_eq!(without.line(), "could not measure: a b");
        assert_eq!(without.nagios(), "SYSCOST UNKNOWN - could not measure: a b");
    }
}
