//! Ansible: a playbook that brings the program to every host, runs it there, fetches its document and removes both.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;

use super::{Engine, EngineError, Tell, ask, could_not_start};
use crate::NodeName;
use crate::folder::{Folder, Node, Request, State, failed};
use crate::program::none_for;

/// What this machine needs.
const INSTALL: &str = "`fleet run -i` needs ansible-playbook and ssh on the machine where it is called (Debian: apt install ansible-core openssh-client)";

/// How many hosts Ansible talks to at the same time, at most: each costs this machine a process of some 50 MB.
const MAX_FORKS: usize = 50;

/// How long Ansible may take to end once it was told to, and to clean up on hosts.
const PATIENCE: Duration = Duration::from_secs(60);

/// How large a fetched file may be, in blocks of 512 bytes, as `ulimit -f` counts: as large as a document.
const MAX_BLOCKS: u64 = syscost_store::load::MAX_DIGEST_SIZE / 512;

/// The file that names the hosts that are meant.
const LIMIT: &str = "limit";

/// How often what became of hosts is written down.
const PAUSE: Duration = Duration::from_millis(500);

/// The name of the task after which a document has arrived as a whole.
const LAST_TASK: &str = "fetch the document";

/// The name of the task after which nothing is left on a host.
const REMOVAL: &str = "remove";

/// The hosts of an inventory, or those of a limit, in Ansible's notation, and a line for each whose name could be more than one.
///
/// # Errors
/// When Ansible cannot be asked, or no host is meant.
pub fn nodes(
    inventory: &Path,
    limit: Option<&str>,
) -> Result<(BTreeMap<NodeName, Node>, Vec<String>), EngineError> {
    let inventory = format!("--inventory={}", inventory.display());
    let limit = limit.map(|limit| format!("--limit={limit}"));
    let mut words = vec!["ansible", &inventory, "--list-hosts"];
    words.extend(limit.as_deref());
    words.push("all");
    let (mut nodes, mut left_out) = (BTreeMap::new(), Vec::new());
    // The first line says how many there are.
    for name in ask(&words, "", INSTALL)?.lines().skip(1) {
        let name = name.trim();
        match name.parse() {
            Ok(name) => drop(nodes.insert(name, Node::waiting(None))),
            Err(error) => left_out.push(format!("left out: the inventory: {error}")),
        }
    }
    match nodes.is_empty() {
        true => Err(EngineError::NoNodes(
            "the inventory has no such hosts; `ansible-inventory --graph -i INVENTORY` lists what there is".to_owned(),
        )),
        false => Ok((nodes, left_out)),
    }
}

/// The directory of one attempt on hosts, without the host's name at its end: hosts may share the
/// file system. It is new each time, so nobody there can have made it before.
fn scratch(request: &Request, id: &str) -> String {
    let attempt = fastrand::u32(..);
    format!("{}/syscost-{id}-{attempt:08x}-", request.scratch)
}

/// The playbook that measures, in this directory on each host.
///
/// # Errors
/// When an argument would be a template to Ansible.
fn playbook(request: &Request, scratch: &str, arriving: &Path) -> Result<String, EngineError> {
    let arriving = arriving.display().to_string();
    // Those for any processor have no name.
    let programs: BTreeMap<&str, String> = request
        .programs
        .iter()
        .map(|program| {
            (
                program.machine.as_deref().unwrap_or_default(),
                program.path.display().to_string(),
            )
        })
        .collect();
    let given = request.arguments.iter().chain(programs.values());
    let given = given.chain([&arriving, &request.scratch]);
    for word in given {
        if ["{{", "{%", "{#"]
            .iter()
            .any(|opening| word.contains(opening))
        {
            let text = format!(
                "{word:?} cannot be passed on: Ansible takes what follows {{{{, {{% or {{# as a template"
            );
            return Err(EngineError::Argument(text));
        }
    }
    let words: String = request
        .arguments
        .iter()
        .map(|word| format!("              - {}\n", yaml(word)))
        .collect();
    Ok(format!(
        r#"- hosts: all
  gather_facts: false
  strategy: free
  vars:
    folder: {folder}
    programs: {programs}
    program: "{{{{ programs[machine.stdout] | default(programs['']) | default('') }}}}"
    ansible_async_dir: "{{{{ folder }}}}"
  environment:
    XDG_DATA_HOME: "{{{{ folder }}}}/data"
    XDG_CACHE_HOME: "{{{{ folder }}}}/data"
  tasks:
    - name: ask for the processor
      ansible.builtin.command: {{argv: [uname, -m]}}
      register: machine
    - name: choose the program
      ansible.builtin.assert: {{that: program != '', fail_msg: {none}, quiet: true}}
    - name: make a directory
      ansible.builtin.command: {{argv: [mkdir, -m, "0700", "{{{{ folder }}}}", "{{{{ folder }}}}/data"]}}
    - block:
        - name: copy the program
          ansible.builtin.copy: {{src: "{{{{ program }}}}", dest: "{{{{ folder }}}}/syscost", mode: "0700"}}
        - name: measure
          ansible.builtin.command:
            argv:
              # Its number is needed if it is broken off.
              - sh
              - -c
              - 'echo $$ > "$0/pid" && exec "$0/syscost" "$@"'
              - "{{{{ folder }}}}"
{words}              - --output
              - "{{{{ folder }}}}/run.json.gz"
          async: {limit}
          poll: 2
        - name: {LAST_TASK}
          ansible.builtin.fetch: {{src: "{{{{ folder }}}}/run.json.gz", dest: {dest}, flat: true}}
      always:
        - name: {REMOVAL}
          # It may still run where Ansible has lost sight of it.
          ansible.builtin.command: {{argv: [sh, -c, '{END}', "{{{{ folder }}}}"]}}
"#,
        folder = yaml(&format!("{scratch}{{{{ inventory_hostname }}}}")),
        programs = serde_json::json!(programs),
        none = yaml(&none_for(&request.programs, "{{ machine.stdout }}")),
        limit = request.limit_s,
        dest = yaml(&format!("{arriving}/{{{{ inventory_hostname }}}}.json.gz")),
    ))
}

/// Ends the run in a directory, if there is one, and removes it.
const END: &str = r#"pid=$(cat "$0/pid") && grep -qF "$0/" "/proc/$pid/cmdline" && kill "$pid" && sleep 2; rm -rf "$0""#;

/// The playbook that ends the runs in these directories, by host, and removes them.
fn removal(folders: &BTreeMap<&NodeName, &str>) -> String {
    format!(
        r#"- hosts: all
  gather_facts: false
  strategy: free
  vars:
    folders: {}
  tasks:
    - name: clean up
      ansible.builtin.command:
        argv:
          - sh
          - -c
          - '{END}'
          - "{{{{ folders[inventory_hostname] }}}}"
"#,
        serde_json::json!(folders)
    )
}

/// A string of YAML, which those of JSON are.
fn yaml(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The playbook that would be run, for people to see.
pub fn shown(request: &Request, id: &str, arriving: &Path) -> Result<String, EngineError> {
    playbook(request, &scratch(request, id), arriving)
}

/// Measures all nodes that are waiting. `wait` is how long a connection may take. When `stop` is set, the playbook is ended and
/// another one cleans up, as it does at first what a collector that was killed has left.
///
/// # Errors
/// When Ansible cannot be started, or the directory not be written to.
pub fn collect(
    folder: &mut Folder,
    wait: Option<Duration>,
    stop: &AtomicBool,
    tell: Tell<'_>,
) -> Result<(), EngineError> {
    let Engine::Ansible { inventory } = folder.collection.engine.clone() else {
        return Ok(());
    };
    let nodes = folder.collection.nodes.iter();
    let names: Vec<NodeName> = nodes
        .filter(|(_, node)| node.state == State::Waiting)
        .map(|(name, _)| name.clone())
        .collect();
    if names.is_empty() {
        return Ok(());
    }
    for name in &names {
        let _ = fs::remove_file(folder.arriving(name));
    }
    let request = folder.collection.request.clone();
    clean_up(folder, &inventory, wait, &names)?;
    let scratch = scratch(&request, &folder.collection.id);
    let arriving = folder.path().join("arriving");
    let text = playbook(&request, &scratch, &arriving)?;
    for name in &names {
        let node = folder.collection.nodes.get_mut(name);
        node.expect("it is one of them").job = Some(format!("{scratch}{name}"));
    }
    folder.save()?;
    let mut command = play(folder, &inventory, wait, "playbook.yml", &text, &names)?;
    let mut playing = started(command.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
    let said = follow(&mut playing, folder, &names, stop, tell)?;
    let mut is_clean = false;
    if stop.load(Ordering::Relaxed) {
        end(&mut playing);
        let is_touched = |name: &&NodeName| folder.collection.nodes[*name].state != State::Waiting;
        let touched: Vec<NodeName> = names.iter().filter(is_touched).cloned().collect();
        is_clean = clean_up(folder, &inventory, wait, &touched)?;
    }
    let code = wait_for(&mut playing, PATIENCE);
    let _ = fs::remove_file(folder.path().join(LIMIT));
    for name in &names {
        // A document may have come as a whole just before the playbook was ended; half of one is refused.
        let is_open = matches!(
            folder.collection.nodes[name].state,
            State::Waiting | State::Running
        );
        if is_open {
            folder.accept(name)?;
        }
        let _ = fs::remove_file(folder.arriving(name));
        let is_stopped = stop.load(Ordering::Relaxed);
        let node = folder
            .collection
            .nodes
            .get_mut(name)
            .expect("it is one of them");
        match node.state {
            State::Waiting | State::Running | State::Failed if is_open && is_stopped => {
                node.end(State::Waiting, "interrupted");
                node.job = node.job.take().filter(|_| !is_clean);
            }
            State::Waiting | State::Running => {
                let code =
                    code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
                node.end(
                    State::Failed,
                    &format!("Ansible ended with {code} and said nothing of this host; {said}"),
                );
            }
            // The playbook has removed it.
            State::Done | State::Failed => node.job = None,
            State::Unreachable => {}
        }
    }
    folder.save()?;
    tell(&folder.collection);
    Ok(())
}

/// Ends what was left to run on these hosts and removes what was brought there, as far as they are
/// reached; whether all were.
fn clean_up(
    folder: &Folder,
    inventory: &Path,
    wait: Option<Duration>,
    names: &[NodeName],
) -> Result<bool, EngineError> {
    let left = names.iter().filter_map(|name| {
        let job = folder.collection.nodes[name].job.as_deref()?;
        Some((name, job))
    });
    let left: BTreeMap<&NodeName, &str> = left.collect();
    if left.is_empty() {
        return Ok(true);
    }
    let names: Vec<NodeName> = left.keys().copied().cloned().collect();
    const FILE: &str = "removal.yml";
    // Nobody reads what it prints.
    let mut command = play(folder, inventory, wait, FILE, &removal(&left), &names)?;
    let mut cleaning = started(command.stdout(Stdio::null()).stderr(Stdio::null()))?;
    let code = wait_for(&mut cleaning, PATIENCE);
    end(&mut cleaning);
    let _ = fs::remove_file(folder.path().join(FILE));
    Ok(code == Some(0))
}

/// The call for a playbook, which is written to the collection's directory.
fn play(
    folder: &Folder,
    inventory: &Path,
    wait: Option<Duration>,
    file: &str,
    text: &str,
    names: &[NodeName],
) -> Result<Command, EngineError> {
    let book = folder.path().join(file);
    fs::write(&book, text).map_err(failed("writing", &book))?;
    let limit = folder.path().join(LIMIT);
    let lines: String = names.iter().map(|name| format!("{name}\n")).collect();
    fs::write(&limit, lines).map_err(failed("writing", &limit))?;
    let mut command = Command::new("sh");
    // What a host sends as its document may be of any size, and is for this user only.
    command.args([
        "-c",
        &format!(r#"umask 077; ulimit -f {MAX_BLOCKS}; exec "$@""#),
        "sh",
    ]);
    command
        .arg("ansible-playbook")
        .arg(format!("--inventory={}", inventory.display()))
        .arg(format!("--limit=@{}", limit.display()))
        .arg(format!("--forks={}", names.len().min(MAX_FORKS)))
        .args(wait.map(|wait| format!("--timeout={}", wait.as_secs().max(1))))
        .arg(&book);
    // One line for each result, as `Line::parse` reads it, whatever the user's own settings are.
    command.envs([
        ("ANSIBLE_STDOUT_CALLBACK", "default"),
        ("ANSIBLE_CALLBACK_RESULT_FORMAT", "json"),
        ("ANSIBLE_CALLBACK_FORMAT_PRETTY", "false"),
        ("ANSIBLE_DISPLAY_FAILED_STDERR", "false"),
        ("ANSIBLE_DISPLAY_OK_HOSTS", "true"),
        ("ANSIBLE_NOCOLOR", "1"),
        ("ANSIBLE_FORCE_COLOR", "0"),
        ("ANSIBLE_RETRY_FILES_ENABLED", "false"),
    ]);
    // A group of its own: Ctrl-C would end it before it can clean up.
    command.process_group(0).stdin(Stdio::null());
    Ok(command)
}

fn started(command: &mut Command) -> Result<Child, EngineError> {
    let child = command.spawn();
    child.map_err(|cause| could_not_start("ansible-playbook", &cause, INSTALL))
}

/// Follows a playbook to its end, or until `stop`; returns the last line that it printed and that is of no host.
fn follow(
    playing: &mut Child,
    folder: &mut Folder,
    names: &[NodeName],
    stop: &AtomicBool,
    tell: Tell<'_>,
) -> Result<String, EngineError> {
    let (sender, lines) = mpsc::channel();
    let streams: [Option<Box<dyn BufRead + Send>>; 2] = [
        playing
            .stdout
            .take()
            .map(|out| Box::new(BufReader::new(out)) as _),
        playing
            .stderr
            .take()
            .map(|err| Box::new(BufReader::new(err)) as _),
    ];
    for (index, stream) in streams.into_iter().enumerate() {
        let sender = sender.clone();
        let Some(mut stream) = stream else { continue };
        thread::spawn(move || {
            let mut bytes = Vec::new();
            while stream
                .read_until(b'\n', &mut bytes)
                .is_ok_and(|read| read > 0)
            {
                let line = String::from_utf8_lossy(&bytes).trim_end().to_owned();
                if sender.send((index, line)).is_err() {
                    break;
                }
                bytes.clear();
            }
        });
    }
    drop(sender);
    let mut last = String::new();
    let mut task = String::new();
    let mut looked = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        match lines.recv_timeout(PAUSE) {
            // Only Ansible's own errors come by the other stream.
            Ok((1, line)) if !line.is_empty() => last = line,
            Ok((_, line)) => match line
                .strip_prefix("TASK [")
                .and_then(|rest| rest.split_once(']'))
            {
                Some((name, _)) => task = name.to_owned(),
                None => note(folder, names, &task, &line)?,
            },
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if looked.elapsed() >= PAUSE {
            folder.save()?;
            tell(&folder.collection);
            looked = Instant::now();
        }
    }
    Ok(last)
}

/// Notes what a line says of a host's result in this task.
fn note(
    folder: &mut Folder,
    names: &[NodeName],
    task: &str,
    line: &str,
) -> Result<(), EngineError> {
    let Some(line) = Line::parse(line) else {
        return Ok(());
    };
    let Some(name) = names.iter().find(|name| name.as_ref() == line.host) else {
        return Ok(());
    };
    let log = folder.log(name);
    let Some(node) = folder.collection.nodes.get_mut(name) else {
        return Ok(());
    };
    match line.failure {
        None if task == LAST_TASK => {
            folder.accept(name)?;
        }
        None if task == REMOVAL => node.job = None,
        None if node.state == State::Waiting => node.state = State::Running,
        None => {}
        // What fails after a failure, fails because of it; after the document has come it does not matter.
        Some(_) if !matches!(node.state, State::Waiting | State::Running) => {}
        Some((state, result)) => {
            // Without a log there is still the reason.
            let _ = fs::write(
                &log,
                format!("{}\n{}\n{}\n", result.msg, result.stdout, result.stderr),
            );
            let reason = match state {
                State::Unreachable => result.reason(),
                _ => format!("{task}: {}", result.reason()),
            };
            if state == State::Unreachable && node.state == State::Waiting {
                // Nothing was ever brought there.
                node.job = None;
            }
            node.end(state, &reason);
        }
    }
    Ok(())
}

/// A line of Ansible's default output that tells a result.
struct Line<'l> {
    host: &'l str,
    failure: Option<(State, Outcome)>,
}

/// The result of a task that failed.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Outcome {
    msg: String,
    stdout: String,
    stderr: String,
}

impl Outcome {
    /// The message, and the end of what the program said, where its message is only that it failed.
    fn reason(&self) -> String {
        let lines: Vec<&str> = self
            .stderr
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        let last = lines[lines.len().saturating_sub(3)..].join("; ");
        match last.is_empty() {
            true => self.msg.clone(),
            false => format!("{}: {last}", self.msg),
        }
    }
}

impl<'l> Line<'l> {
    fn parse(line: &'l str) -> Option<Self> {
        let (word, rest) = line.split_once(": [")?;
        let (host, rest) = rest.split_once(']')?;
        // Of a task that another host carries out.
        let host = host.split(" -> ").next().unwrap_or(host);
        let failure = match word {
            "ok" | "changed" => None,
            "fatal" | "failed" => {
                let (kind, json) = rest.trim_start_matches(": ").split_once("! => ")?;
                let state = match kind {
                    "UNREACHABLE" => State::Unreachable,
                    _ => State::Failed,
                };
                Some((state, serde_json::from_str(json).unwrap_or_default()))
            }
            _ => return None,
        };
        Some(Self { host, failure })
    }
}

/// Waits for the end of a playbook, and returns its exit code.
fn wait_for(playing: &mut Child, patience: Duration) -> Option<i32> {
    let begun = Instant::now();
    while begun.elapsed() < patience {
        match playing.try_wait() {
            Ok(Some(status)) => return status.code(),
            Ok(None) => thread::sleep(Duration::from_millis(50)),
            Err(_) => return None,
        }
    }
    None
}

/// Ends a playbook and the processes that it started.
fn end(playing: &mut Child) {
    let group = Pid::from_child(playing);
    for signal in [Signal::INT, Signal::KILL] {
        if !matches!(playing.try_wait(), Ok(None)) {
            return;
        }
        let _ = kill_process_group(group, signal);
        wait_for(playing, Duration::from_secs(10));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_goes_on_is_ended_before_its_directory_is_removed() {
        let parent = tempfile::tempdir().expect("a temporary directory");
        let folder = parent.path().join("folder");
        fs::create_dir(&folder).expect("made");
        let program = folder.join("syscost");
        fs::copy("/bin/sleep", &program).expect("copied");
        let mut run = Command::new(&program).arg("1000").spawn().expect("started");
        fs::write(folder.join("pid"), run.id().to_string()).expect("written");
        let ended = Command::new("sh").args(["-c", END]).arg(&folder).status();
        assert!(ended.expect("a shell").success() && !folder.exists());
        assert_eq!(run.wait().expect("ours").code(), None, "by a signal");
    }

    #[test]
    fn results_are_read_from_lines() {
        let told = |line| {
            Line::parse(line).map(|line| {
                (
                    line.host.to_owned(),
                    line.failure.map(|(state, result)| (state, result.reason())),
                )
            })
        };
        let fine = Some(("n1".to_owned(), None));
        assert_eq!(told("changed: [n1]"), fine);
        assert_eq!(told("changed: [n1 -> localhost]"), fine);
        let refused = r#"fatal: [n1]: UNREACHABLE! => {"changed": false, "msg": "Failed to connect\nfatal: [n2]", "unreachable": true}"#;
        let reason = "Failed to connect\nfatal: [n2]".to_owned();
        assert_eq!(
            told(refused),
            Some(("n1".to_owned(), Some((State::Unreachable, reason))))
        );
        let failed = r#"fatal: [n1]: FAILED! => {"msg": "non-zero return code", "rc": 2, "stderr": "error: no such row\n", "stdout": ""}"#;
        let reason = "non-zero return code: error: no such row".to_owned();
        assert_eq!(
            told(failed),
            Some(("n1".to_owned(), Some((State::Failed, reason))))
        );
        for other in [
            "",
            "PLAY [syscost] ***",
            "ASYNC POLL on n1: jid=j1 started=1 finished=0",
            "n1 : ok=3 changed=2",
        ] {
            assert_eq!(told(other), None, "{other}");
        }
    }

    #[test]
    fn a_document_that_has_come_counts_whatever_fails_afterwards() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let name: NodeName = "n1".parse().expect("a name");
        let engine = Engine::Ansible {
            inventory: "hosts".into(),
        };
        let request = Request {
            arguments: Vec::new(),
            programs: Vec::new(),
            scratch: "/tmp".to_owned(),
            limit_s: 60,
        };
        let nodes = BTreeMap::from([(name.clone(), Node::waiting(None))]);
        let collection = crate::folder::Collection::new(engine, request, nodes);
        let mut folder = Folder::create(&place.path().join("kept"), collection).expect("made");
        let failure = r#"fatal: [n1]: FAILED! => {"msg": "busy"}"#;
        let mut state_after = |state, task: &str| {
            folder.collection.nodes.get_mut(&name).expect("n1").state = state;
            let names = [name.clone()];
            note(&mut folder, &names, task, failure).expect("no file is moved");
            folder.collection.nodes[&name].state
        };
        assert_eq!(state_after(State::Running, "measure"), State::Failed);
        assert_eq!(state_after(State::Done, "remove"), State::Done);
    }

    #[test]
    fn what_ansible_would_take_as_a_template_is_refused() {
        let mut request = Request {
            arguments: vec![
                "run".to_owned(),
                "syscall.null{call=getppid}".to_owned(),
                "a \"b\" '{c".to_owned(),
            ],
            programs: Vec::new(),
            scratch: "/tmp".to_owned(),
            limit_s: 60,
        };
        let text = playbook(&request, "/tmp/syscost-1", Path::new("/c/arriving"))
            .expect("none of these is one");
        assert!(text.contains(r#"- "a \"b\" '{c""#), "{text}");
        request
            .arguments
            .push("{{ lookup('pipe', 'id') }}".to_owned());
        let error =
            playbook(&request, "/tmp/syscost-1", Path::new("/c/arriving")).expect_err("a template");
        assert!(error.to_string().contains("cannot be passed on"), "{error}");
    }
}
