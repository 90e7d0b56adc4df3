//! Anonymized runs: nothing identifies their owner, and what explains numbers is still there.

use super::*;
use crate::directory::NfsMount;
use crate::run::Warning;
use crate::{Claim, Directory, Evidence, Machine, Verdict, fixture};

/// Whatever a user may write into a study of his own says `secret`.
const SECRET_STUDY: &str = r#"
id = "mine"
title = "What secret-host costs"
source = "a report in /home/secret-user"
about = "By secret-user."
flags = "-I/home/secret-user"
question = ["Is it secret?"]

[[machine]]
id = "secret-box"
name = "secret-host"
note = "in the secret room"

[[quantity]]
id = "call"
title = "Secret call"
table = "Secret table"
unit = "ns"
procedure = "secret-tool is started"
command = ["/opt/secret-tool", "--of", "secret-user"]
published = [{ machine = "secret-box", value = "12", place = "p. 7 of the secret report", words = "secret" }]
claim = [{ counted = "secret calls", at_least = 1, broken = "it is secret" }]
reason = [{ counted = "secret flag", says = "-Osecret", acts = "more", text = "secret reason" }]

[[ratio]]
title = "Secret ratio"
of = "call"
to = "call"
words = "secret times"

[[doubt]]
text = "The secret report is wrong."

[[not_here]]
what = "secret hardware"
why = "it is in the secret room"

[[chart]]
title = "Secret chart"
kind = "machines"
quantities = ["call"]
"#;

#[test]
fn nothing_that_names_the_owner_is_left() {
    let mut run = fixture::run_of(&[vec![1.0, 2.0]]);
    run.machine = Machine {
        hostname: "secret-host".to_owned(),
        kernel: "Linux 6.18.0-secret-host+".to_owned(),
        distribution: Some("secret-host OS, in /srv/image".to_owned()),
        mitigations: BTreeMap::from([("of secret-host".to_owned(), "none".to_owned())]),
        kernel_cmdline: Some("root=LABEL=secret-disk".to_owned()),
        kernel_version: Some("#1 built@secret-builder".to_owned()),
        ..Machine::default()
    };
    run.peer = Some(Box::new(Peer {
        name: "secret-peer:7717".to_owned(),
        address: "10.1.2.3:7717".to_owned(),
        version: "0.1.0".to_owned(),
        machine: run.machine.clone(),
    }));
    run.nfs = Some(Box::new(NfsServer {
        name: "nfs://secret-server/srv".to_owned(),
        export: "nfs://10.4.5.6:2049:635/srv".to_owned(),
        read_bytes: 1,
        write_bytes: 1,
    }));
    run.directories = vec![
        Directory {
            label: "default".to_owned(),
            path: "/home/secret-user/.cache".to_owned(),
            source: "/dev/vda".to_owned(),
            mount_point: "/home".to_owned(),
            layers: vec!["loop over /srv/secret-image".to_owned()],
            ..Directory::default()
        },
        Directory {
            source: "secret-server:/export".to_owned(),
            options: "rw,addr=10.7.8.9".to_owned(),
            nfs: Some(NfsMount {
                version: "4.2".to_owned(),
                server: "10.7.8.9".to_owned(),
            }),
            ..Directory::default()
        },
    ];
    run.warnings = vec![Warning {
        code: "far_end".to_owned(),
        message: "the far end is secret-host too".to_owned(),
        advice: String::new(),
    }];
    let config = &mut run.config;
    config.program = Some("/home/secret-user/syscost".to_owned());
    config.wrapper = Some("numactl-of-secret-user".to_owned());
    config.labels = BTreeMap::from([("owner".to_owned(), "secret-team".to_owned())]);
    let token = ("TOKEN".to_owned(), Some("secret-token".to_owned()));
    config.environment.extend([token]);
    run.studies = vec![toml::from_str(SECRET_STUDY).expect("a study")];
    let row = &mut run.measurements[0];
    row.reason = Some("opening /home/secret-user/.cache/x: no space".to_owned());
    row.evidence = vec![
        Evidence::new(
            "far end",
            "secret-peer",
            "10.1.2.3:7717 of 10.7.8.9",
            "getpeername",
            Verdict::Confirmed,
        )
        .because("mounted from 10.4.5.6/srv"),
    ];
    run.anonymize();
    let text = serde_json::to_string(&run).expect("a document");
    for word in ["secret", "10.1.2.3", "10.4.5.6", "10.7.8.9", "/srv"] {
        assert!(!text.contains(word), "{word} is left in {text}");
    }
    assert!(text.contains("Linux 6.18.0") && text.contains("/dev/vda"));
    let reason = run.measurements[0].reason.as_deref();
    assert_eq!(reason, Some("opening (unnamed): no space"));
}

fn warning(code: &str, message: &str) -> Warning {
    Warning {
        code: code.to_owned(),
        message: message.to_owned(),
        advice: "measure at a quieter time".to_owned(),
    }
}

#[test]
fn a_short_host_name_is_taken_out_and_a_common_word_corrupts_no_text() {
    let of = |hostname: &str| {
        let mut run = fixture::run_of(&[vec![1.0, 2.0]]);
        run.machine.hostname = hostname.to_owned();
        run.warnings = vec![
            warning("noise", "CPU 0 lost 11.5 % of its time to others"),
            warning("far_end", &format!("the far end is {hostname} too")),
            warning(
                "environment",
                "the environment changes what is measured: LD_PRELOAD=liba.so lib-alice.so MALLOC_ARENA_MAX=1",
            ),
        ];
        run.measurements[0].reason = Some(format!("asked {hostname}, not vmlinux"));
        run.anonymize();
        run
    };
    let run = of("vm");
    let messages: Vec<&str> = run.warnings.iter().map(|one| &*one.message).collect();
    assert_eq!(
        messages,
        [
            "CPU 0 lost 11.5 % of its time to others",
            "the far end is (unnamed) too",
            "the environment changes what is measured: LD_PRELOAD MALLOC_ARENA_MAX",
        ]
    );
    let reason = run.measurements[0].reason.as_deref();
    assert_eq!(reason, Some("asked (unnamed), not vmlinux"));
    let run = of("time");
    assert_eq!(
        run.warnings[0].message,
        "CPU 0 lost 11.5 % of its time to others"
    );
    assert_eq!(run.warnings[0].advice, "measure at a quieter time");
    assert_eq!(run.warnings[1].message, "the far end is (unnamed) too");
}

#[test]
fn a_claim_that_names_something_is_cleaned_and_keeps_an_id_that_does_not() {
    let mut run = fixture::run_of(&[vec![1.0, 2.0]]);
    run.machine.hostname = "alice-box".to_owned();
    let sentence = "bytes of alice-box in /home/alice";
    let judged = |claim: Claim| Evidence::new(claim, 1.0, 1.0, "stat", Verdict::Confirmed);
    run.measurements[0].evidence = vec![
        judged(Claim::new("bytes of the host", sentence)),
        judged(sentence.into()),
    ];
    run.anonymize();
    let [given, by_words] = &run.measurements[0].evidence[..] else {
        panic!("two claims");
    };
    assert_eq!(given.claim.sentence, "bytes of (unnamed) in (unnamed)");
    assert_eq!(given.claim.id.as_str(), "bytes_of_the_host");
    assert_eq!(by_words.claim.id.as_str(), "bytes_of_unnamed_in_unnamed");
}

#[test]
fn directories_called_by_their_paths_get_the_same_labels_in_all_runs() {
    let of = |labels: &[&str]| {
        let mut run = fixture::run_of(&[vec![1.0, 2.0]]);
        let row = run.measurements[0].clone();
        run.measurements.clear();
        run.machine.hostname = "alicebox".to_owned();
        for label in labels {
            let mut row = row.clone();
            row.name = format!("fs.read{{dir={label},size=4K}}");
            row.case.insert("dir".to_owned(), (*label).to_owned());
            run.measurements.push(row);
            run.directories.push(Directory {
                label: (*label).to_owned(),
                path: "/mnt/x".to_owned(),
                ..Directory::default()
            });
        }
        run.config.selectors = vec!["fs.read{dir=/home/alice}".to_owned()];
        run.warnings = vec![warning(
            "directory_on_loop",
            "dir=/home/alice is on a loop over /srv/image: slow",
        )];
        run
    };
    let mut runs = [
        of(&["ssd", "/home/alice", "directory-1"]),
        of(&["alicebox-disk", "/home/alice"]),
    ];
    let renamed = Run::anonymize_together(&mut runs);
    let rows = |run: &Run| -> Vec<String> {
        run.measurements
            .iter()
            .map(|row| row.name.clone())
            .collect()
    };
    assert_eq!(
        rows(&runs[0]),
        [
            "fs.read{dir=ssd,size=4K}",
            "fs.read{dir=directory-2,size=4K}",
            "fs.read{dir=directory-1,size=4K}"
        ]
    );
    assert_eq!(
        rows(&runs[1]),
        [
            "fs.read{dir=directory-3,size=4K}",
            "fs.read{dir=directory-2,size=4K}"
        ]
    );
    assert_eq!(
        renamed.get("fs.read{dir=/home/alice,size=4K}"),
        Some(&runs[0].measurements[1].name)
    );
    assert_eq!(runs[0].config.selectors, ["fs.read{dir=directory-2}"]);
    assert_eq!(
        runs[0].warnings[0].message,
        "dir=directory-2 is on a loop over (unnamed): slow"
    );
    for run in &runs {
        let text = serde_json::to_string(run).expect("a document");
        assert!(!text.contains("alice"), "{text}");
        for row in &run.measurements {
            assert!(
                crate::directory::of(run, &row.name).is_some(),
                "{}",
                row.name
            );
            assert_eq!(
                row.case.get("dir").map(String::as_str),
                crate::directory::label_of(&row.name)
            );
        }
    }
}

#[test]
fn a_command_of_the_user_is_a_number() {
    let of = |id: &str, command: &str| {
        let mut row = fixture::row(&format!("{id}{{command={command}}}"), vec![vec![1.0]]);
        row.id = id.to_owned();
        row.case = [("command".to_owned(), command.to_owned())].into();
        row.reason = Some(format!("{command} failed: secret-password"));
        let claim = Claim::from(crate::commands::EXECUTED);
        let seen = Evidence::new(claim, command, "secret-other", "/proc", Verdict::Refuted);
        row.evidence = vec![seen.because("secret-reason")];
        row
    };
    let deploy = "deploy --token secret-token";
    let rows = [
        of("command.cpu", deploy),
        of("command.cpu", "secret"),
        of("command.wall", deploy),
    ];
    let mut run = fixture::run("r", rows.to_vec());
    run.anonymize();
    let names: Vec<&str> = run
        .measurements
        .iter()
        .map(|row| row.name.as_str())
        .collect();
    let expected = [
        "command.cpu{command=command-1}",
        "command.cpu{command=command-2}",
        "command.wall{command=command-1}",
    ];
    assert_eq!(names, expected);
    let text = serde_json::to_string(&run).expect("a document");
    assert!(
        !text.contains("secret") && !text.contains("deploy"),
        "{text}"
    );
}
