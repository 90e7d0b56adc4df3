//! Use in a terminal: completions, colours, silence, formats of `show`, the pager, and which run a
//! name refers to.

use std::process::Command;

use crate::common::{Ended, Ending, Json, Program, or_skip, stamped};
use serde_json::{Value, json};

/// Stores a run of that day.
fn keep(program: &Program, (id, run): (String, Value)) -> String {
    program.keep(&run);
    id
}

/// The completions of this line, which bash begins with what it takes for its last word.
fn completed(program: &Program, line: &str) -> Vec<String> {
    let quoted = line.rsplit_once('\'').map(|(_, word)| word);
    let word = || line.rsplit([' ', '=', ':']).next();
    let word = quoted.or_else(word).unwrap_or_default();
    let output = program
        .command("--")
        .args([line, word])
        .env("SYSCOST_COMPLETE", "bash")
        .ended()
        .succeeded();
    output.out.lines().map(str::to_owned).collect()
}

#[test]
fn what_a_command_takes_completes() {
    let program = Program::new();
    let id = keep(&program, stamped(1, 5.0));
    let tag = format!("history tag {id} before-upgrade");
    program.run(&tag).succeeded();
    for (words, wanted) in [
        ("syscost comp", "compare"),
        ("syscost run sysc", "syscall"),
        ("syscost run syscall.nu", "syscall.null"),
        ("syscost explain memory.lat", "memory.latency"),
        ("syscost show ", "latest"),
        ("syscost compare latest 2026", &id),
        ("syscost report bef", "before-upgrade"),
        ("syscost history tag latest bef", "before-upgrade"),
        ("syscost run --tag ", "before-upgrade"),
        ("syscost check --baseline bef", "before-upgrade"),
        ("syscost show --beside ", "epyc-guest"),
        ("syscost run --beside ", "epyc-guest"),
        ("syscost explain mem", "memory"),
        ("syscost study run ", "three-costs"),
        ("syscost study report all ", "latest"),
        ("syscost run --profile=ca", "careful"),
        ("syscost run syscall.poll{fds=5", "500}"),
        ("syscost run syscall.poll{of=", "pipe}"),
        (
            "syscost run 'syscall.poll{of=pipe,r",
            "syscall.poll{of=pipe,ready=",
        ),
        // Without quotes bash would make several words of it.
        ("syscost run syscall.poll{of=pipe,r", "pipe\\,ready="),
        ("syscost run syscall.poll{of=pipe\\,r", "pipe\\,ready="),
        ("syscost show --color ne", "never"),
    ] {
        let completed = completed(&program, words);
        assert!(
            completed.iter().any(|one| one == wanted),
            "{words}: {completed:?}"
        );
    }
}

#[test]
fn every_shell_gets_a_script_and_bash_can_run_it() {
    let program = Program::new();
    let of = |shell: &str| program.command("").env("SYSCOST_COMPLETE", shell).ended();
    for shell in ["bash", "zsh", "fish"] {
        let output = of(shell);
        assert!(output.code == Some(0), "{shell}: {output:?}");
        assert!(output.out.contains("SYSCOST_COMPLETE"), "{shell}");
    }
    let tried = |shell: &[&str], script| {
        let output = program.script(shell, script);
        output.inspect_err(|why| println!("skipped: {why}"))
    };
    let script = "source <(SYSCOST_COMPLETE=bash \"$syscost\") && complete -p syscost
        COMP_LINE='syscost run syscall.poll{fds=5' COMP_POINT=30
        _complete_syscost syscost 5 =; echo \"${COMPREPLY[*]}\"";
    if let Ok(output) = tried(&["bash"], script) {
        assert_eq!(output.code, Some(0), "{output:?}");
        assert!(output.out.ends_with(" syscost\n500}\n"), "{output:?}");
    }
    let script = "source (SYSCOST_COMPLETE=fish \"$syscost\" | psub)
        complete -C 'syscost show --beside epyc-'";
    if let Ok(output) = tried(&["fish"], script) {
        assert_eq!(output.out.trim(), "epyc-guest", "{output:?}");
    }
    let script = "autoload -U compinit && compinit -D
        source <(SYSCOST_COMPLETE=zsh \"$syscost\") && print $_comps[syscost]";
    if let Ok(output) = tried(&["zsh", "-f"], script) {
        output.prints("syscost");
    }
    assert_eq!(of("tcsh").code, Some(2));
}

#[test]
fn colours_are_where_they_are_asked_for() {
    let program = Program::new();
    keep(&program, stamped(1, 5.0));
    let is_coloured = |words: &str, variables: &[(&str, &str)]| {
        let mut command = program.command(words);
        command.env_remove("CLICOLOR_FORCE").env_remove("CLICOLOR");
        command.envs(variables.iter().copied());
        let output = command.ended();
        output.out.contains('\x1b') || output.err.contains('\x1b')
    };
    let forced = [("CLICOLOR_FORCE", "1")];
    assert!(!is_coloured("show latest", &[]), "a pipe");
    assert!(is_coloured("show latest", &forced));
    assert!(is_coloured("show --color always", &[]));
    assert!(is_coloured("show --color always", &[("NO_COLOR", "1")]));
    assert!(!is_coloured("--color=never show", &forced));
    // Errors too, including those of the command line.
    assert!(is_coloured("show nothing --color always", &[]));
    assert!(is_coloured("--color=always nonsense", &[]));
    assert!(!is_coloured("--color=never nonsense", &forced));
}

#[test]
fn quiet_leaves_the_table_and_the_errors() {
    let program = Program::new();
    let row = "syscall.null{call=getppid}";
    let output = program.run(&format!("run --profile quick --quiet {row}"));
    // On a busy machine nothing may be measured, and the reason for the other exit code is printed
    // all the same.
    let said = match output.code {
        Some(4) => "nothing was measured in that time; give it more with --budget\n",
        _ => "",
    };
    assert_eq!(output.err, said, "{output:?}");
    let table = output.out;
    for more in ["Next:", "Saved to", "Warnings"] {
        assert!(
            table.contains("getppid") && !table.contains(more),
            "{table}"
        );
    }
    let again = program.run("-q show");
    assert_eq!(again.out, table);
    let unkept = program.run(&format!("run --profile quick --no-save {row}"));
    let unkept = unkept.out;
    assert!(
        unkept.contains("getppid") && !unkept.contains("Next:"),
        "{unkept}"
    );
    let output = program.run("-q show nothing");
    assert!(output.err.contains("no kept run called `nothing`"));
}

#[test]
fn show_has_a_form_for_programs() {
    let program = Program::new();
    let (id, mut run) = stamped(1, 5.0);
    let mut other = run["measurements"][0].clone();
    other["name"] = json!("a.c");
    other["id"] = json!("a.c");
    other["case"] = json!({});
    run["measurements"].list_mut().push(other);
    keep(&program, (id.clone(), run));
    let shown = program.json("show latest a.b --format json");
    assert_eq!(shown["id"], id);
    assert_eq!(shown["measurements"].as_array().map(Vec::len), Some(1));
}

/// What a program prints on a terminal of its own; an error if none can be made.
fn on_a_terminal(program: &Program, pager: &str) -> Result<String, String> {
    let line = format!("{} show", env!("CARGO_BIN_EXE_syscost"));
    let output = program
        .confine(&mut Command::new("script"))
        .args(["-qec", &line, "/dev/null"])
        .env("PAGER", pager)
        .env_remove("NO_COLOR")
        .output();
    let output = output.map_err(|error| format!("script: {error}"))?;
    Ok(Ended::from(output).succeeded().out)
}

#[test]
fn a_terminal_gets_the_pager_and_never_nothing() {
    let program = Program::new();
    keep(&program, stamped(1, 5.0));
    let paged = or_skip!(on_a_terminal(&program, "sed s/^/paged:/"));
    assert!(paged.contains("paged:") && paged.contains("c=d"), "{paged}");
    for pager in ["", "cat", "no-such-pager -x", "env no-such-pager"] {
        let printed = on_a_terminal(&program, pager).expect("as before");
        assert!(
            printed.contains("c=d") && !printed.contains("paged:"),
            "{pager}: {printed}"
        );
    }
    // A pager that ends with an error has shown the text all the same.
    let failing = format!("sh {}", program.put("pager", "cat\nexit 3\n"));
    let failed = on_a_terminal(&program, &failing).expect("as before");
    assert_eq!(failed.matches("c=d").count(), 1, "{failed}");
    assert!(failed.contains("PAGER=cat"), "{failed}");
    let piped = program
        .command("show")
        .env("PAGER", "sed s/^/paged:/")
        .ended();
    assert!(!piped.out.contains("paged:"));
}

#[test]
fn an_unknown_run_and_an_unknown_row_are_bad_usage_alike() {
    let program = Program::new();
    program.run("show").says(2, "no run is kept");
    keep(&program, stamped(1, 5.0));
    keep(&program, stamped(2, 5.0));
    for words in [
        "show nothing",
        "show latest~7",
        "show nothing.json",
        "show 2026",
        "show latest a.nothing",
        "compare nothing latest",
        "explain nothing",
        "run nothing",
    ] {
        assert_eq!(program.run(words).code, Some(2), "{words}");
    }
}

/// What `show latest a.b` prints on standard error, and which run it shows.
fn shown(program: &Program) -> (String, Option<String>) {
    let output = program.run("show latest a.b");
    let run = program.json("-q show latest a.b --format json");
    (output.err, run["id"].as_str().map(str::to_owned))
}

#[test]
fn latest_says_what_it_passed_over_and_why() {
    let program = Program::new();
    let old = keep(&program, stamped(1, 5.0));
    assert_eq!(shown(&program), (String::new(), Some(old.clone())));

    let (id, mut run) = stamped(2, 5.0);
    run["measurements"][0]["status"] = json!("unsupported");
    run["measurements"][0]["reason"] = json!("no such thing here");
    keep(&program, (id.clone(), run));
    let (said, shown_run) = shown(&program);
    assert_eq!(shown_run, Some(old.clone()));
    for part in [
        &*old,
        "an older one",
        &*id,
        "could not measure a.b{c=d} (no such thing here)",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }

    let (id, mut run) = stamped(3, 5.0);
    run["measurements"][0]["status"] = json!("skipped");
    run["measurements"][0]["reason"] = json!("the time budget was spent");
    keep(&program, (id, run));
    let (said, shown_run) = shown(&program);
    assert_eq!(shown_run, Some(old.clone()));
    assert!(
        said.contains("skipped a.b{c=d}") && said.contains("1 more was passed over"),
        "{said}"
    );

    // An interrupted run is not `latest`, even if it has the row.
    let (id, mut run) = stamped(4, 5.0);
    run["complete"] = json!(false);
    let mut rest = run["measurements"][0].clone();
    rest["name"] = json!("a.c");
    rest["id"] = json!("a.c");
    rest["case"] = json!({});
    rest["status"] = json!("skipped");
    rest["reason"] = json!("interrupted");
    run["measurements"].list_mut().push(rest);
    keep(&program, (id, run));
    let (said, shown_run) = shown(&program);
    assert_eq!(shown_run, Some(old));
    assert!(said.contains("was interrupted"), "{said}");

    let new = keep(&program, stamped(5, 6.0));
    assert_eq!(shown(&program), (String::new(), Some(new)));
}
