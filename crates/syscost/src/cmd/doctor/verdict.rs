//! The conclusion from all that the doctor found.

use serde::Serialize;
use syscost_harness::doctor::Level;
use syscost_report::sentence;

use super::Found;

/// The doctor's last line, and what it is based on.
#[derive(Debug, Serialize)]
pub(super) struct Verdict {
    /// The worst level of the findings.
    pub(super) level: Level,
    /// Number of bad findings.
    pub(super) bad: usize,
    /// Number of warnings.
    pub(super) warnings: usize,
    /// The verdict as a sentence.
    pub(super) text: String,
}

impl Verdict {
    pub(super) fn of(findings: &[Found]) -> Self {
        let levels = || findings.iter().map(|one| one.finding.level);
        let count = |wanted| levels().filter(|level| *level == wanted).count();
        let (bad, warnings) = (count(Level::Bad), count(Level::Warning));
        Self {
            level: levels().max().unwrap_or(Level::Good),
            bad,
            warnings,
            text: in_words(bad, warnings),
        }
    }
}

/// The last line, from the numbers of bad findings and of warnings.
fn in_words(bad: usize, warnings: usize) -> String {
    let warned = sentence::count(warnings, "warning");
    match (bad, warnings) {
        (0, 0) => "fit to be measured".to_owned(),
        (0, _) => {
            let reasons = sentence::agreeing(warnings, "[this reason|these reasons]");
            format!(
                "{warned}: numbers may scatter, or differ from those of a quiet machine, for {reasons}"
            )
        }
        (_, _) => {
            let others = if warnings == 0 {
                String::new()
            } else {
                format!(" and {warned}")
            };
            format!(
                "{}{others}: what is marked bad makes numbers wrong for most purposes; fix that first",
                sentence::count(bad, "bad finding")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn the_last_line_follows_from_the_findings() {
        assert_eq!(in_words(0, 0), "fit to be measured");
        assert!(in_words(0, 1).starts_with("1 warning: numbers may scatter"));
        assert!(in_words(0, 5).starts_with("5 warnings: numbers may scatter"));
        assert!(in_words(1, 0).starts_with("1 bad finding: what is marked bad"));
        assert!(in_words(2, 5).starts_with("2 bad findings and 5 warnings: "));
    }
}
