//! `syscost time`: measures commands of the user's own, in turn.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use syscost_benches::CATALOGUE;
use syscost_benches::command::execute;
use syscost_harness::commands::{Command, Output};
use syscost_harness::session::{Options, Profile};
use syscost_harness::worker::Program;
use syscost_harness::{Catalogue, Row, Testbed};
use syscost_report::commands as render;
use syscost_results::commands::{PRINTED, commands, compared, row_value};
use syscost_results::compare::Gated;
use syscost_results::{ClaimId, Run, Status, Verdict};
use syscost_store::Store;
use syscost_sys::{cpu, process};

use super::program;
use crate::cli::{CommandOutput, Format, TimeArguments};
use crate::error::exit;
use crate::progress::Progress;
use crate::terminal::{self, say, warn};
use crate::{Failed, files, interrupt};

/// Default budget: the time of 51 rounds, within these limits, in seconds.
const ROUNDS: f64 = 51.0;
const MIN_S: f64 = 5.0;
const MAX_S: f64 = 60.0;

/// Rounds that fit into the default budget however long a command takes: six for an exact interval, and runs
/// that are only counted.
const MIN_ROUNDS: f64 = 6.0 + 3.0;

/// Runs the command.
pub(crate) fn run(arguments: &TimeArguments) -> Result<u8> {
    if let Some(path) = &arguments.export_json {
        files::check_writable(path)?;
    }
    let store = Store::of_user();
    if let Some(tag) = &arguments.tag {
        Store::check_tag(tag)?;
    }
    let mut commands = given(arguments)?;
    super::run::admit(arguments.cpus.as_ref());
    let interrupted = interrupt::catch()?;
    if let Some(step) = &arguments.setup {
        execute::shell(step).map_err(|why| Failed::Usage(format!("--setup {step}: {why}")))?;
    }
    let tried = tried(&mut commands, arguments, &interrupted);
    let tried = match interrupted.load(Ordering::Relaxed) {
        true => Err(Failed::Interrupted.into()),
        false => tried,
    };
    let measured =
        tried.and_then(|took_s| measured(commands, took_s, arguments, &store, &interrupted));
    if let Some(step) = &arguments.cleanup
        && let Err(why) = execute::shell(step)
    {
        warn(&format!("--cleanup {step}: {why}"));
    }
    let run = measured?;
    let was_interrupted = interrupted.load(Ordering::Relaxed);
    if !arguments.no_save {
        super::run::keep_and_say(&store, &run, arguments.tag.as_deref())?;
    }
    if let Some(path) = &arguments.export_json {
        files::write(path, &serde_json::to_vec_pretty(&render::hyperfine(&run))?)?;
    }
    match arguments.format {
        Format::Json => super::print_json(&run)?,
        Format::Table => {
            if arguments.show_output {
                // Behind what the commands have printed into a file.
                let _ = rustix::fs::seek(std::io::stdout(), rustix::fs::SeekFrom::End(0));
            }
            super::print(&render::text(&run, &terminal::table_options(false)))?;
        }
    }
    if has_varied(&run) {
        say!(
            "a command that prints something else each time may do something else each time, so its number is withheld; \
             --output null leaves its output uncompared"
        );
    }
    if was_interrupted {
        say!("interrupted");
        return Ok(exit::INTERRUPTED);
    }
    Ok(code(&run, arguments))
}

/// Whether a command's output differed from run to run.
fn has_varied(run: &Run) -> bool {
    let claim = ClaimId::of(PRINTED);
    let rows = run.measurements.iter();
    let mut evidence = rows.flat_map(|row| &row.evidence);
    evidence.any(|one| one.claim.id == claim && one.verdict == Verdict::Refuted)
}

/// The exit code: 4 where nothing has a number, else that of the gate.
fn code(run: &Run, arguments: &TimeArguments) -> u8 {
    let all = commands(run);
    if !all.iter().any(|one| one.cpu.status == Status::Ok) {
        return exit::NOTHING;
    }
    let Some((fail_on, (first, others))) = arguments.fail_on.zip(all.split_first()) else {
        return exit::DONE;
    };
    let judged = others.iter().map(|other| {
        let row = compared(run, first, other).row;
        row.map_or(Gated::Undecided, |row| row.gated(fail_on.worse_by))
    });
    let judged: Vec<Gated> = judged.collect();
    match judged {
        _ if judged.contains(&Gated::Failed) => exit::GATE,
        _ if judged.contains(&Gated::Undecided) => {
            say!("the gate cannot tell: too little is known of a command's difference");
            exit::FAILURE
        }
        _ => exit::DONE,
    }
}

/// Measures these commands; `took_s` is the time of one run of each, in seconds.
fn measured(
    commands: Vec<Command>,
    took_s: f64,
    arguments: &TimeArguments,
    store: &Store,
    interrupted: &AtomicBool,
) -> Result<Run> {
    let rounds = match (arguments.runs, arguments.min_runs) {
        (Some(runs), _) => Some((runs, runs)),
        (None, Some(least)) => Some((least, least.max(ROUNDS as u32) + 1)),
        (None, None) => None,
    };
    let wanted = rounds.map_or(ROUNDS, |(least, _)| f64::from(least) + 2.0);
    // A worker for each round, and probes of the cores before.
    let beside_s = 2.0 + 0.02 * wanted;
    // Runs that were asked for are made, however long they take.
    let run_s = match rounds {
        Some(_) => commands.len() as f64 * arguments.time_limit.as_secs_f64() + took_s,
        None => 1.3 * took_s,
    };
    let usual_s = match rounds {
        Some(_) => wanted * run_s,
        None => (wanted * run_s).clamp(MIN_S, MAX_S),
    };
    let budget_s = usual_s.max(MIN_ROUNDS * run_s) + beside_s;
    // With the steps before each run.
    let once = arguments.time_limit + Duration::from_secs_f64(took_s);
    let in_a_case = once * (4 + arguments.warmup);
    let here = Testbed {
        commands,
        ..Testbed::plain()
    };
    let all = CATALOGUE.all();
    let of_commands = all.filter(|one| one.group() == "command");
    let rows: Vec<Row> = Catalogue::rows(of_commands, &here);
    let program = Program::this().context("finding this program's own file")?;
    let options = Options {
        budget: Some(
            arguments
                .budget
                .unwrap_or(Duration::from_secs_f64(budget_s)),
        ),
        rounds,
        cpus: arguments.cpus.as_ref().map(|list| list.0.clone()),
        known_cores: Some(store.known_cores()),
        here,
        tag: arguments.tag.clone(),
        selectors: vec!["command".to_owned()],
        profile: Profile::Standard,
        ..Options::quick(program, in_a_case, crate::VERSION)
    };
    super::measured(rows, &options, Progress::new("time"), interrupted)
}

/// Runs each command once, and learns what it ends with and prints, whether it has one task, and how long all take.
fn tried(
    commands: &mut [Command],
    arguments: &TimeArguments,
    interrupted: &AtomicBool,
) -> Result<f64> {
    process::leave_no_core();
    let cpus = cpu::allowed().context("finding the CPUs that may be used")?;
    let mut took_s = 0.0;
    let mut have_one_task = true;
    for command in &mut *commands {
        let begun = Instant::now();
        let ran = program::first_run(command, arguments.ignore_failure, &cpus, interrupted)?;
        took_s += begun.elapsed().as_secs_f64();
        have_one_task &= !ran.execution.has_several_tasks;
    }
    // They are compared, so none has more CPUs than the others.
    for command in commands {
        command.is_pinned = have_one_task;
    }
    Ok(took_s)
}

/// The commands that the command line gives.
fn given(arguments: &TimeArguments) -> Result<Vec<Command>> {
    let values = parameters(arguments)?;
    let steps = &arguments.prepare;
    let number = arguments.commands.len();
    if steps.len() > 1 && steps.len() != number {
        let what = format!(
            "--prepare is given {} times for {number} commands: once, or for each",
            steps.len()
        );
        return Err(Failed::Usage(what).into());
    }
    // They are compared, so each has a shell if one needs it.
    let has_shell = arguments.commands.iter().any(|text| needs_shell(text));
    let mut commands = Vec::new();
    let mut names = BTreeSet::new();
    for (index, text) in arguments.commands.iter().enumerate() {
        let step = steps.get(index).or(steps.first());
        for (number, filled) in values.iter().enumerate() {
            let fill = |text: &str| {
                filled.iter().fold(text.to_owned(), |text, (name, value)| {
                    text.replace(&format!("{{{name}}}"), value)
                })
            };
            let text = fill(text);
            let given = arguments.command_name.get(index * values.len() + number);
            let name = row_value(&given.cloned().unwrap_or_else(|| program::shortened(&text)));
            // The same command twice is a comparison with itself.
            let again = (2..).map(|count| format!("{name} #{count}"));
            let mut free = std::iter::once(name.clone()).chain(again);
            let name = free.find(|name| names.insert(name.clone())).unwrap_or(name);
            let words = words(&text, arguments, has_shell)?;
            commands.push(Command {
                prepare: step.map(|step| fill(step)),
                input: arguments.input.clone(),
                warm: arguments.warm.clone(),
                cold: arguments.cold.clone(),
                output: match (arguments.show_output, arguments.output) {
                    (true, _) => Output::Shown {
                        by: std::process::id(),
                    },
                    (false, CommandOutput::Compare) => Output::Compared,
                    (false, CommandOutput::Null) => Output::Discarded,
                },
                warm_up: arguments.warmup,
                ..program::started(name, words, arguments.time_limit)?
            });
        }
    }
    Ok(commands)
}

/// Whether a command has what only a shell understands: other characters than words have, or an assignment before it.
fn needs_shell(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_alphanumeric() || " /._-+:@,=^".contains(letter);
    let is_assignment = |word: &str| word.contains('=') && !Path::new(word).exists();
    !text.chars().all(is_plain) || text.split_whitespace().next().is_some_and(is_assignment)
}

/// The executable and the arguments of a command.
fn words(text: &str, arguments: &TimeArguments, has_shell: bool) -> Result<Vec<String>> {
    if text.contains('\0') {
        return Err(Failed::Usage("a command cannot contain a zero byte".to_owned()).into());
    }
    if text.trim().is_empty() {
        return Err(Failed::Usage("a command is empty".to_owned()).into());
    }
    let shell = match &*arguments.shell {
        "auto" if arguments.no_shell || !has_shell => None,
        "auto" => Some("/bin/sh"),
        "none" => None,
        shell => Some(shell),
    };
    let open = || Failed::Usage(format!("`{text}`: a quotation mark is not closed"));
    match shell {
        Some(shell) => Ok(vec![shell.to_owned(), "-c".to_owned(), text.to_owned()]),
        None => Ok(shlex::split(text).ok_or_else(open)?),
    }
}

/// Every combination of the values of parameters: of none, one that is empty.
fn parameters(arguments: &TimeArguments) -> Result<Vec<Vec<(String, String)>>> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for pair in arguments.parameter_list.chunks(2) {
        all.push((
            pair[0].clone(),
            pair[1].split(',').map(str::to_owned).collect(),
        ));
    }
    for scan in arguments.parameter_scan.chunks(3) {
        let number = |text: &String| {
            text.parse::<f64>()
                .ok()
                .filter(|number| number.is_finite())
                .ok_or_else(|| {
                    Failed::Usage(format!(
                        "--parameter-scan {}: `{text}` is no number",
                        scan[0]
                    ))
                })
        };
        let (low, high, step) = (
            number(&scan[1])?,
            number(&scan[2])?,
            arguments.parameter_step_size,
        );
        let steps = (high - low) / step;
        if !(step > 0.0 && (0.0..1000.0).contains(&steps)) {
            let what = format!(
                "--parameter-scan {} {low} {high} in steps of {step}: give 1 to 1000 steps",
                scan[0]
            );
            return Err(Failed::Usage(what).into());
        }
        // A thousandth of a step more: sums of tenths are not exact.
        let count = (steps + 1e-3).floor() as u32;
        let values = (0..=count).map(|index| {
            let value = low + f64::from(index) * step;
            format!("{}", (value * 1e9).round() / 1e9)
        });
        all.push((scan[0].clone(), values.collect()));
    }
    let combined = all
        .iter()
        .fold(vec![Vec::new()], |combined, (name, values)| {
            let with = |before: &Vec<_>| {
                let extended =
                    |value: &String| [&before[..], &[(name.clone(), value.clone())]].concat();
                values.iter().map(extended).collect::<Vec<_>>()
            };
            combined.iter().flat_map(with).collect()
        });
    Ok(combined)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{self, Cli};

    fn arguments(words: &[&str]) -> TimeArguments {
        let all = ["syscost", "time"].iter().chain(words);
        match Cli::try_parse_from(all).expect("they are right").command {
            cli::Command::Time(arguments) => arguments,
            _ => unreachable!("it is `time`"),
        }
    }

    #[test]
    fn a_shell_is_started_for_what_needs_one() {
        let of = |words: &[&str]| given(&arguments(words)).map(|all| all[0].words.clone());
        for (command, expected) in [
            ("ls -l /tmp", vec!["ls", "-l", "/tmp"]),
            ("ls *.rs", vec!["/bin/sh", "-c", "ls *.rs"]),
            ("ls 'a b'", vec!["/bin/sh", "-c", "ls 'a b'"]),
            ("A=1 env", vec!["/bin/sh", "-c", "A=1 env"]),
        ] {
            assert_eq!(of(&[command]).expect("a command"), expected);
        }
        let quoted = of(&["-N", "ls 'a b' *"]).expect("a command");
        assert_eq!(quoted, ["ls", "a b", "*"]);
        let by = of(&["-S", "/bin/sh", "ls"]).expect("a command");
        assert_eq!(by, ["/bin/sh", "-c", "ls"]);
        assert!(of(&["-N", "ls 'a"]).is_err() && of(&[" "]).is_err());
    }

    #[test]
    fn values_are_combined_and_names_differ() {
        let names = |words: &[&str]| -> Vec<String> {
            let all = given(&arguments(words)).expect("commands");
            all.into_iter().map(|one| one.name).collect()
        };
        let scanned = [
            "-L",
            "a",
            "x,y",
            "-P",
            "n",
            "1",
            "2",
            "-D",
            "0.5",
            "echo {a}{n}",
        ];
        let expected = ["x1", "x1.5", "x2", "y1", "y1.5", "y2"].map(|word| format!("echo {word}"));
        assert_eq!(names(&scanned), expected);
        assert_eq!(
            names(&["true", "true", "true"]),
            ["true", "true #2", "true #3"]
        );
        assert_eq!(names(&["-n", "a{b}", "true"]), ["a%7bb%7d"]);
        let long = format!("echo {} end", "x".repeat(200));
        let name = &names(&[&long])[0];
        assert!(
            name.len() == program::MAX_NAME && name.ends_with(" end"),
            "{name}"
        );
        let endless = ["-P", "n", "0", "1", "-D", "0", "true"];
        assert!(given(&arguments(&endless)).is_err());
        let steps = ["-p", "a", "-p", "b", "x", "y", "z"];
        assert!(
            given(&arguments(&steps)).is_err(),
            "two steps for three commands"
        );
    }
}
