//! `fleet run` with stand-ins for Slurm's programs that are odd in every way that sites and moments
//! are: one odd thing costs one node.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::common::{Json, Program};

/// Node `n1` measures, and its job stays listed; in the place where `n2`'s document should arrive
/// lies a directory.
const STAND_INS: &[(&str, &str)] = &[
    (
        "sinfo",
        r#"case "$*" in
*%P*) echo 'all*' ;;
*) # At one look a node seems not to answer.
  state=idle
  [ -e "$0.seen" ] && ! [ -e "$0.odd" ] && touch "$0.odd" && state='idle*'
  touch "$0.seen"
  for node in n1 n2; do echo "$node|$(uname -n)|$node|$state|none"; done ;;
esac"#,
    ),
    (
        "sbatch",
        r#"for word; do case $word in --nodelist=*) node=${word#*=} ;; esac; done
cat >"$0.$node.sh"
kept=$(pwd)/kept
if [ "$node" = n2 ]; then mkdir "$kept/arriving/n2.json.gz"; else sh "$0.$node.sh" >&2 || exit; fi
echo "Welcome, $node"
echo "4${node#n}""#,
    ),
    (
        "squeue",
        r#"touch "$0.asked"
# The controller is away for a moment.
if [ -e "$0.asked_before" ] && ! [ -e "$0.failed" ]; then touch "$0.failed"; exit 1; fi
touch "$0.asked_before"
[ -e "$(dirname "$0")/sbatch.n1.sh" ] && echo '41|COMPLETING|n1|None'
true"#,
    ),
    (
        "scancel",
        "echo 'Unable to contact slurm controller' >&2; exit 1",
    ),
    (
        "scontrol",
        "echo 'JobState=COMPLETED Reason=None ExitCode=0:0'",
    ),
];

#[test]
fn one_odd_thing_of_a_scheduler_costs_one_node() {
    let program = Program::new();
    let bin = program.folder().join("bin");
    fs::create_dir(&bin).expect("made");
    for (name, text) in STAND_INS {
        let path = program.put(&format!("bin/{name}"), format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("ours");
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let arguments = "fleet run --profile quick --budget 30 -o kept syscall.null{call=getppid}";
    let ended = program
        .command(arguments)
        .current_dir(program.folder())
        .env("PATH", format!("{}:{path}", bin.display()))
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    let kept = fs::read(program.folder().join("kept/fleet.json")).expect("written");
    let kept: serde_json::Value = serde_json::from_slice(&kept).expect("JSON");
    let node = |name: &str| {
        (
            kept["nodes"][name]["state"].text(),
            kept["nodes"][name]["reason"].clone(),
        )
    };
    assert_eq!(node("n1").0, "done", "{said} {kept:#}");
    assert_eq!(node("n2").0, "failed", "{said} {kept:#}");
    assert!(
        node("n2").1.to_string().contains("not a regular file"),
        "{kept:#}"
    );
}
