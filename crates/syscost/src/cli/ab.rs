//! Arguments of `ab`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{CompareOutput, CpuList, ProfileName, cpu_list, parameter, seconds};

/// Arguments of `ab`.
#[derive(Debug, Args)]
#[command(override_usage = "syscost ab [OPTIONS] [SELECTOR|WORDS]...")]
#[command(after_help = "\
Two environments, two ways to start it, or two programs:
  syscost ab call --b-env GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2
  syscost ab syscall --a ./syscost-old --b ./syscost-new
  syscost ab memory.malloc --b-wrapper 'setarch -R' --tag aslr
Without any of these options A and B are the same, and any difference found is due to chance.

Each round of a benchmark is measured for A and B right after each other, A B in one round and B A in the next, so that the \
machine's drift cancels. --output-a and --output-b write the documents of both, --tag NAME keeps them in the history, tagged NAME-a and NAME-b. The budget is \
for both.")]
pub struct AbArguments {
    /// What to measure: groups, ids, rows or patterns, or words that find benchmarks; the rows of the
    /// profile if none is given
    #[arg(value_name = "SELECTOR|WORDS")]
    pub selectors: Vec<String>,
    /// Only rows that have this parameter, e.g. `size=64K`; may be repeated: several values of one
    /// key mean any of them
    #[arg(long = "case", value_name = "KEY=VALUE", value_parser = parameter)]
    pub cases: Vec<String>,
    /// Another syscost binary that measures A
    #[arg(long, value_name = "PROGRAM")]
    pub a: Option<PathBuf>,
    /// Another syscost binary that measures B
    #[arg(long, value_name = "PROGRAM")]
    pub b: Option<PathBuf>,
    /// Command that starts what measures A, by executing what follows it: `setarch -R`, `nice -n 5`, a script
    /// that ends in `exec "$@"`
    #[arg(
        long,
        value_name = "COMMAND",
        value_parser = wrapper,
        default_value = "",
        hide_default_value = true
    )]
    pub a_wrapper: String,
    /// Command that starts what measures B
    #[arg(
        long,
        value_name = "COMMAND",
        value_parser = wrapper,
        default_value = "",
        hide_default_value = true
    )]
    pub b_wrapper: String,
    /// Environment variable for measuring A; without `=VALUE` it is unset
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    pub a_env: Vec<(String, Option<String>)>,
    /// Environment variable for measuring B
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    pub b_env: Vec<(String, Option<String>)>,
    /// How thoroughly to measure; A and B together may take twice the profile's time
    #[arg(long, value_enum, default_value_t = ProfileName::Standard)]
    pub profile: ProfileName,
    /// Seconds that A and B may take together, instead of twice the profile's own
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub budget: Option<Duration>,
    /// CPU to measure on; by default, the CPUs with the least contention from sibling threads
    #[arg(long, value_name = "LIST", value_parser = cpu_list)]
    pub cpus: Option<CpuList>,
    /// Seed of every shuffle and padding
    #[arg(long)]
    pub seed: Option<u64>,
    /// Seconds one row may take in one process before it is ended
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "10")]
    pub time_limit: Duration,
    /// Keep both runs in the history, tagged NAME-a and NAME-b
    #[arg(long, value_name = "NAME")]
    pub tag: Option<String>,
    /// Write A's run document to this file
    #[arg(long, value_name = "FILE")]
    pub output_a: Option<PathBuf>,
    /// Write B's run document to this file
    #[arg(long, value_name = "FILE")]
    pub output_b: Option<PathBuf>,
    /// How the comparison is printed
    #[command(flatten)]
    pub output: CompareOutput,
}

/// Words, separated by spaces.
fn wrapper(text: &str) -> Result<String, String> {
    match text.contains(['"', '\'', '\\', '\0']) {
        true => Err("its words are separated by spaces, without quotes; put more into a script that ends in `exec \"$@\"`".to_owned()),
        false => Ok(text.to_owned()),
    }
}

/// `NAME=VALUE` or `NAME`.
fn variable(text: &str) -> Result<(String, Option<String>), String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (text, None),
    };
    if name.is_empty() || text.contains('\0') {
        return Err("give NAME=VALUE, or NAME to unset it".to_owned());
    }
    Ok((name.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_has_a_name() {
        let named = |value: Option<&str>| Ok(("A".to_owned(), value.map(str::to_owned)));
        assert_eq!(variable("A=b=c"), named(Some("b=c")));
        assert_eq!(variable("A="), named(Some("")));
        assert_eq!(variable("A"), named(None));
        assert!(variable("=b").is_err());
    }
}
