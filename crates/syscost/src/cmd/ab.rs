//! `syscost ab`: compares two programs or environments, measured in turn.

use std::path::Path;
use std::sync::atomic::Ordering;

use anyhow::{Context, Result};
use syscost_harness::Testbed;
use syscost_harness::session::{Options, Session};
use syscost_harness::worker::Program;
use syscost_store::Store;
use syscost_sys::process;

use crate::cli::AbArguments;
use crate::error::exit;
use crate::progress::Progress;
use crate::terminal::{note, say};
use crate::{Failed, interrupt, selection};

/// A compared with itself takes as long as with another, and finds chance.
const WITHOUT_B: &str = "there is no B to compare with: give another build (--b PROGRAM), another way to start this one \
    (--b-wrapper 'setarch -R', 'env NAME=VALUE'), or two commands (syscost ab -- CMD -- CMD); to see what chance alone \
    shows, give this program itself as --b";

/// Runs the command.
pub(crate) fn run(arguments: &AbArguments) -> Result<u8> {
    let interrupted = interrupt::catch()?;
    super::run::admit(arguments.cpus.as_ref());
    let here = Testbed::plain();
    let rows = selection::planned(&arguments.selectors, arguments.profile.into(), &here)?;
    if arguments.b.is_none() && arguments.b_wrapper.is_empty() {
        return Err(Failed::Usage(WITHOUT_B.to_owned()).into());
    }
    let store = Store::of_user();
    let tags = arguments
        .tag
        .as_ref()
        .map(|tag| ["a", "b"].map(|side| format!("{tag}-{side}")));
    for tag in tags.iter().flatten() {
        Store::check_tag(tag)?;
    }
    process::limit_work(arguments.row.time_limit);
    let a = program(None, "")?;
    let options = Options {
        profile: arguments.profile.into(),
        budget: arguments.budget,
        cpus: arguments.cpus.as_ref().map(|list| list.0.clone()),
        selectors: arguments.selectors.clone(),
        known_cores: Some(store.known_cores()),
        kept_runs: Some(store.kept_runs()),
        ..Options::quick(a, arguments.row.time_limit, crate::VERSION)
    };
    let b = program(arguments.b.as_deref(), &arguments.b_wrapper)?;
    let mut progress = Progress::new("ab");
    let mut pair = Session::pair(rows, &options, b, &mut progress, &interrupted)?;
    pair.measure(&mut progress);
    progress.done();
    let [a, b] = pair.finish(true).map(|finished| finished.run);
    let was_interrupted = interrupted.load(Ordering::Relaxed);
    // Of an interrupted one nothing is kept: by the tag its few rows would be taken for all.
    let tags = tags.filter(|_| !was_interrupted);
    for (tag, run) in tags.iter().flatten().zip([&a, &b]) {
        let kept = store.keep(run, &serde_json::to_vec_pretty(run)?);
        let kept = kept.map_err(|error| error.to_string());
        let kept = kept.and_then(|_| store.tag(&run.id, tag).map_err(|error| error.to_string()));
        if let Err(why) = kept {
            say!("run {} is not kept as {tag}: {why}", run.id);
        }
    }
    let code = super::compare::pair(&a, &b, &arguments.output, !was_interrupted)?;
    if tags.is_none() {
        note!("neither run is kept; --tag NAME keeps both");
    }
    if was_interrupted {
        say!(
            "interrupted before everything was measured; only what was measured until then is compared"
        );
    } else if !(a.complete && b.complete) {
        note!("not everything was measured in the time given; raise --budget, or name fewer rows");
    }
    Ok(if was_interrupted {
        exit::INTERRUPTED
    } else {
        code
    })
}

fn program(binary: Option<&Path>, wrapper: &str) -> Result<Program> {
    let own = "finding this program's own file";
    let program = match binary {
        Some(binary) => Program::other(binary),
        None => Program::this().context(own)?,
    };
    Ok(program.wrapped(wrapper).context(own)?.introduced()?)
}
