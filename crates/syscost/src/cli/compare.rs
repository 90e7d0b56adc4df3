//! Arguments of `compare`.

use clap::{Args, ValueEnum};

use super::manual;

/// Arguments of `compare`.
#[derive(Debug, Args)]
#[command(override_usage = "syscost compare [OPTIONS] [BASE] [NEW]...")]
#[command(after_help = manual::with_exit_codes("compare", "\
A row is called worse or better when the whole 95 % interval of its ratio lies outside the margin and the change survives \
correction for the number of rows (5 % false discovery rate, to the extent the run's own processes reflect its noise). \
The margin is 2 %, or how far two such sides differ when nothing changed, if that is more. A row is the same when the whole \
interval lies within 2 %, or within 1.65 times that difference but not over 10 %; everything else is inconclusive. One run \
a side cannot show how far runs differ, and some costs differ from run to run: pool several, or give earlier ones as --spread.

  syscost compare                                     two runs of the same rows
  syscost compare before.json a.json b.json c.json    three new runs, pooled
  syscost compare before.json after.json --base before2.json --fail-on worse:5%
  syscost compare before after                        all runs with these tags

Two kernels, or mitigations on and off, are compared by runs of each: syscost run --repeat 3 --tag before; restart; syscost run --repeat 3 --tag after."))]
pub struct CompareArguments {
    /// The run to compare with, or a tag: all runs that have it are pooled; if none is given, the latest
    /// run is compared with the latest earlier one of the same rows
    #[arg(value_name = "BASE")]
    pub base: Option<String>,
    /// The run to compare, or a tag; several runs are pooled; the latest if none is given
    #[arg(value_name = "NEW")]
    pub new: Vec<String>,
    /// Another run of the base's side, pooled with BASE
    #[arg(long = "base", value_name = "RUN")]
    pub more_base: Vec<String>,
    /// Another run in the base's state, not compared itself: it only shows how far runs differ when
    /// nothing changed
    #[arg(long, value_name = "RUN")]
    pub spread: Vec<String>,
    /// How to print it
    #[command(flatten)]
    pub output: CompareOutput,
}

/// How a comparison is printed and judged.
#[derive(Debug, Args)]
pub struct CompareOutput {
    /// What to print
    #[arg(long, value_enum, default_value_t = CompareFormat::Table)]
    pub format: CompareFormat,
    /// Exit with 3 if a row became worse, or was lost: it failed, was withheld, is unsupported,
    /// became another thing (revision, unit), or is missing though the same was asked for; with
    /// `worse:5%`, if one became worse by 5 % or more even at the end of its interval nearer to 1,
    /// of a row on a shared core beyond what sharing explains. Exit with 1 where it cannot tell
    #[arg(long, value_name = "worse[:PERCENT]", value_parser = fail_on)]
    pub fail_on: Option<FailOn>,
    /// The gate passes only if this share of the rows that both sides were to measure is shown to be no worse; else it cannot tell: a
    /// noisy run passes no gate by being inconclusive
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "50%", requires = "fail_on")]
    pub min_conclusive: f64,
    /// Compare core cycles instead of times, and rates per core cycle, so that the core's frequency
    /// plays no part. Rows without a known frequency, or in other units, are left out
    #[arg(long)]
    pub cycles: bool,
    /// Show every row, not only those that changed, and how large a change could have been found in each: the
    /// smallest that is called one in four of five comparisons like this, if no other row changed
    #[arg(short, long)]
    pub verbose: bool,
}

/// How to print a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// Text for people.
    Table,
    /// A table for a pull request.
    Markdown,
    /// One JSON document.
    Json,
    /// A page.
    Html,
}

/// Makes a comparison fail if a row is worse by at least this share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FailOn {
    /// The share: 0.05 for 5 %.
    pub worse_by: f64,
}

pub(crate) fn fail_on(text: &str) -> Result<FailOn, String> {
    let wrong = || format!("give `worse`, or `worse:5%` for 5 % and more, not `{text}`");
    let rest = text.strip_prefix("worse").ok_or_else(wrong)?;
    if rest.is_empty() {
        return Ok(FailOn { worse_by: 0.0 });
    }
    let number = rest.strip_prefix(':').ok_or_else(wrong)?;
    let percent = number_of_percent(number).filter(|percent| (0.0..1e6).contains(percent));
    let percent = percent.ok_or_else(wrong)?;
    Ok(FailOn {
        worse_by: percent / 100.0,
    })
}

/// The number of a percentage, with or without its sign.
fn number_of_percent(text: &str) -> Option<f64> {
    text.strip_suffix('%').unwrap_or(text).trim().parse().ok()
}

/// A percentage from 0 to 100.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let percent = number_of_percent(text).filter(|percent| (0.0..=100.0).contains(percent));
    percent.ok_or_else(|| format!("give a percentage from 0 to 100, not `{text}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_percentages() {
        assert_eq!(fail_on("worse"), Ok(FailOn { worse_by: 0.0 }));
        assert_eq!(fail_on("worse:5%"), Ok(FailOn { worse_by: 0.05 }));
        assert_eq!(fail_on("worse:12.5"), Ok(FailOn { worse_by: 0.125 }));
        for wrong in [
            "",
            "better",
            "worse5",
            "worse:",
            "worse:-1%",
            "worse:NaN",
            "worse:x%",
        ] {
            let error = fail_on(wrong).expect_err(wrong);
            assert!(error.contains("worse:5%"), "{error}");
        }
        assert_eq!((percent("7%"), percent("99.5")), (Ok(7.0), Ok(99.5)));
        for wrong in ["", "%", "-1", "101%", "NaN"] {
            assert!(percent(wrong).is_err(), "{wrong}");
        }
    }
}
