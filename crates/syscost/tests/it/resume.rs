//! A journal is untrusted input: what others wrote into it runs no code, names no file and ends no
//! run with a panic. A run is resumed by the command that began it, and ends like that.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::common::{Ended, Json, Program};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use syscost_harness::session::journal::{HEADERS, line};

/// The journal of a run that was ended by its budget.
fn broken_off(program: &Program) -> PathBuf {
    program.run("run --profile quick --budget 1 syscall --no-save");
    let mut journals = program.journals();
    assert_eq!(journals.len(), 1, "the budget ends it");
    journals.remove(0)
}

/// Changes the first line.
fn with_header(journal: &Path, text: &str, change: impl FnOnce(&mut Value)) {
    let (first, rest) = text.split_once('\n').expect("a header");
    let json = line::unsealed(first.as_bytes()).expect("as it was written");
    let mut header: Value = serde_json::from_slice(json).expect("JSON");
    change(&mut header);
    let first = line::sealed(header.to_string().as_bytes());
    fs::write(journal, [&first, rest.as_bytes()].concat()).expect("written");
}

/// A change to a header.
type Damage = fn(&mut Value);

#[test]
fn what_this_program_would_not_have_written_is_refused() {
    let program = Program::new();
    let journal = broken_off(&program);
    let text = fs::read_to_string(&journal).expect("is text");
    let resume = || program.run(&format!("run --resume {} --no-save", journal.display()));
    let damages: [(&str, Damage); 8] = [
        ("LD_PRELOAD", |header| {
            header["config"]["environment"] = json!({"LD_PRELOAD": "/tmp/evil.so"});
        }),
        ("is no name", |header| header["id"] = json!("../../escaped")),
        ("CPUs", |header| header["config"]["cpus"] = json!([])),
        ("budget", |header| header["config"]["budget_s"] = json!(-1)),
        ("budget", |header| {
            header["config"]["budget_s"] = json!(1e300)
        }),
        ("time limit", |header| header["time_limit_s"] = json!(-1)),
        ("program", |header| {
            header["config"]["program"] = json!("/bin/sh")
        }),
        ("its mitigations, meltdown was", |header| {
            header["machine"]["mitigations"]["meltdown"] = json!("Mitigation: another")
        }),
    ];
    for (words, damage) in damages {
        with_header(&journal, &text, damage);
        let refused = resume().says(1, words);
        assert!(!refused.err.contains("panicked"), "{refused:?}");
    }
    let output = program.run("run --resume /dev/zero");
    assert_eq!(output.code, Some(1));

    // Unmodified, it is resumed for another second.
    fs::write(&journal, text).expect("written");
    resume().ran();
}

#[test]
fn a_resumed_run_has_the_tag_that_it_was_to_have() {
    let program = Program::new();
    let journal = broken_off(&program);
    let text = fs::read_to_string(&journal).expect("is text");
    with_header(&journal, &text, |header| {
        header["tag"] = json!("before");
        // Enough for some row: a run that measured nothing is not kept.
        header["config"]["budget_s"] = json!(4);
    });
    program
        .run(&format!("run --resume {}", journal.display()))
        .ran();
    let history = program.json("history --format json");
    let runs = history["runs"].list();
    let tags: Vec<&Value> = runs.iter().map(|run| &run["tags"]).collect();
    assert_eq!(tags, [&json!(["before"])]);
}

/// A study of our own: two scripts, a C file if it can be compiled, and a row of the catalogue.
fn with_study(program: &Program) -> String {
    let write = |name: &str, text: &str| {
        fs::write(program.folder().join(name), text).expect("a file");
    };
    let script = |name: &str, says: &str| write(name, &format!("echo {says}\n"));
    script("kept.sh", "250");
    script("changed.sh", "350");
    write(
        "loop.c",
        "#include <stdio.h>\nint main(void) { puts(\"450\"); return 0; }\n",
    );
    let mut study = "id = \"mine\"\ntitle = \"Mine\"\nsource = \"A note\"\nabout = \"Loops.\"\n\n\
                     [[machine]]\nid = \"old\"\nname = \"An old machine\"\n"
        .to_owned();
    let folder = program.folder().display();
    let command = |name: &str| format!("command = [\"sh\", \"{folder}/{name}.sh\"]");
    let compiler = Command::new("cc").arg("--version").output();
    let mut quantities = vec![("kept", command("kept")), ("changed", command("changed"))];
    match compiler {
        Ok(_) => quantities.push(("compiled", "program = \"loop.c\"".to_owned())),
        Err(_) => println!("skipped: there is no C compiler"),
    }
    quantities.push(("row", "ours = \"syscall.null{call=getppid}\"".to_owned()));
    for (id, procedure) in quantities {
        study += &format!(
            "\n[[quantity]]\nid = \"{id}\"\ntitle = \"{id}\"\ntable = \"Calls\"\nunit = \"ns\"\n\
             procedure = \"A loop.\"\n{procedure}\n\
             published = [{{ machine = \"old\", value = 250, place = \"page 3\" }}]\n"
        );
    }
    write("mine.toml", &study);
    program.folder().join("mine.toml").display().to_string()
}

/// The command to resume a run of these arguments, which Ctrl-C ends once some of its workers have.
fn interrupted(program: &Program, arguments: &str) -> String {
    /// Each row has been counted, and some were timed.
    const WORKERS: usize = 7;
    let child = program
        .command(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let lines = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap_or_default();
        text.lines().count()
    };
    while program.journals().first().map_or(0, lines) < HEADERS + WORKERS {
        sleep(Duration::from_millis(5));
    }
    kill_process(Pid::from_child(&child), Signal::INT).expect("it can be interrupted");
    let output = Ended::from(child.wait_with_output().expect("it ends"));
    let said = output.err;
    assert_eq!(output.code, Some(130), "{said}");
    let command = |words| {
        let (_, command) = said
            .split_once(words)
            .unwrap_or_else(|| panic!("no command: {said}"));
        command.lines().next().expect("a command").to_owned()
    };
    let command_at_begin = command("resume with: syscost ");
    assert_eq!(command("to continue: syscost "), command_at_begin);
    command_at_begin
}

#[test]
#[ignore = "machine suite"]
fn an_interrupted_study_is_resumed_with_its_programs_and_ends_with_verdicts() {
    let program = Program::new();
    let study = with_study(&program);
    let report = program.folder().join("lab/").display().to_string();
    let command = interrupted(
        &program,
        &format!("study run {study} --profile quick -o {report}"),
    );
    let resume = |command: &str| program.run(command);
    let journal = program.journals().remove(0);
    let text = fs::read(&journal).expect("a journal");
    let path = journal.display();
    for other in ["run", "study run three-costs"] {
        let right = format!("syscost study run mine --resume {path}");
        resume(&format!("{other} --resume {path}")).says(2, &right);
    }
    let judged = || {
        let judged = program.json("study report --format json");
        let judged = judged[0]["judged"].list().clone();
        let by_id = |one: &Value| (one["id"].text().to_owned(), one.clone());
        judged.iter().map(by_id).collect::<Vec<_>>()
    };
    let figure = |one: &Value| {
        let seen = if one["as_published"].is_null() {
            &one["ours"]
        } else {
            &one["as_published"]
        };
        seen["value"].as_f64()
    };

    // A program that is another one now, or gone, costs its row.
    let script = program.folder().join("changed.sh");
    for change in ["echo 950", ""] {
        match change {
            "" => fs::remove_file(&script).expect("it was there"),
            change => fs::write(&script, change).expect("written"),
        }
        fs::write(&journal, &text).expect("written");
        let resumed = resume(&command);
        for (id, one) in judged() {
            assert_eq!(
                figure(&one).is_some(),
                id != "changed",
                "{id}: {one}; {}",
                resumed.err
            );
        }
        let row = program.json("show latest study.own --format json");
        assert!(row.to_string().contains("no longer the one"), "{row}");
    }

    fs::write(&script, "echo 350\n").expect("written");
    fs::write(&journal, &text).expect("written");
    resume(&command).succeeded();
    for (id, one) in judged() {
        assert!(figure(&one).is_some(), "{id}: {one}");
        let verdict = one["verdict"]["text"].text();
        assert!(!verdict.is_empty(), "{id}");
    }
    assert!(program.journals().is_empty(), "it is complete");
    assert!(program.folder().join("lab/report.md").is_file());
    let run = program.json("show --format json");
    assert_eq!(run["config"]["resumed"], 1);
    assert_eq!(run["studies"][0]["id"], "mine");
}
