//! Arguments of `ab`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{CompareOutput, CpuList, ProfileName, RowArgument, cpu_list, seconds};

/// Arguments of `ab`.
#[derive(Debug, Args)]
#[command(override_usage = "syscost ab [OPTIONS] [SELECTOR|WORDS]...")]
#[command(after_help = "\
Two environments, two ways to start it, or two programs:
  syscost ab call --b-wrapper 'env GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2'
  ./syscost-old ab syscall --b ./syscost-new
  syscost ab memory.malloc --b-wrapper 'setarch -R' --tag aslr
  syscost ab -- grep -r x . -- rg x       two commands: `syscost time` of both
A is this program, in the environment that it was started in. With --b of the same program any difference found is due to chance.

Each round of a benchmark is measured for A and B right after each other, A B in one round and B A in the next, so that the \
machine's drift cancels. --tag NAME keeps both runs in the history, tagged NAME-a and NAME-b. The budget is for both.")]
pub struct AbArguments {
    /// What to measure: groups, ids, rows or patterns, or words that find benchmarks; the rows of the
    /// profile if none is given
    #[arg(value_name = "SELECTOR|WORDS")]
    pub selectors: Vec<String>,
    /// Another syscost binary that measures B
    #[arg(long, value_name = "PROGRAM")]
    pub b: Option<PathBuf>,
    /// Command that starts what measures B, by executing what follows it: `setarch -R`, `env NAME=VALUE`, a
    /// script that ends in `exec "$@"`
    #[arg(
        long,
        value_name = "COMMAND",
        value_parser = wrapper,
        default_value = "",
        hide_default_value = true
    )]
    pub b_wrapper: String,
    /// How thoroughly to measure; A and B together may take twice the profile's time
    #[arg(long, value_enum, default_value_t = ProfileName::Standard)]
    pub profile: ProfileName,
    /// Seconds that A and B may take together, instead of twice the profile's own
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub budget: Option<Duration>,
    /// How long a row may take.
    #[command(flatten)]
    pub row: RowArgument,
    /// CPU to measure on; by default, the CPUs with the least contention from sibling threads
    #[arg(long, value_name = "LIST", value_parser = cpu_list)]
    pub cpus: Option<CpuList>,
    /// Keep both runs in the history, tagged NAME-a and NAME-b
    #[arg(long, value_name = "NAME")]
    pub tag: Option<String>,
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
