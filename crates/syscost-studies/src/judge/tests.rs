use super::*;
use crate::VerdictKind;
use crate::parse;
use syscost_results::fixture::{row, run};
use syscost_results::measurement::Cause;
use syscost_results::measurement::Disturbance;
use syscost_results::{Status, Unit, Verdict};

const STUDY: &str = r#"
id = "mine"
title = "Mine"
source = "A note"
about = "What I measured."
cycles = "tsc"

[[machine]]
id = "old"
name = "An old machine"

[[quantity]]
id = "getpid"
title = "getpid()"
table = "System calls"
unit = "ns"
procedure = "One at a time."
as_published = "study.mine.getpid"
ours = "syscall.null"
published = [{ machine = "old", value = "90.0", place = "page 1" }]

[[quantity.claim]]
counted = "getpid system calls per operation"
at_least = 1.0
broken = "No system call happened."

[[quantity]]
id = "switch"
title = "Switch"
table = "Switches"
unit = "ns"
procedure = "Nobody says how."
ours = "switch.pipe"
published = [{ machine = "old", value = "1.80 us", place = "page 1" }]

[[ratio]]
title = "switch : system call"
of = "switch"
to = "getpid"
words = "twenty times"
"#;

fn study() -> Study {
    parse(STUDY).expect("it is right")
}

/// What is said of the first quantity by a run of these rows.
fn judged(rows: Vec<Measurement>) -> JudgedQuantity {
    judge(&study(), &run("r", rows)).judged.remove(0)
}

/// Why there is no figure.
fn reason(seen: &Option<Seen>) -> Option<&str> {
    seen.as_ref().and_then(Seen::reason)
}

/// Results of which every other one was disturbed.
fn published_row() -> Measurement {
    let mut row = row("study.mine.getpid", vec![vec![12.0, 30.01]; 10]);
    for round in row.samples.iter_mut().flatten() {
        let cause = Cause::SharedCore;
        round.disturbed = vec![Disturbance { sample: 1, cause }];
    }
    row.estimate.median = Some(12.0);
    row.estimate.undisturbed_percent = Some(50.0);
    row
}

#[test]
fn four_views_and_a_verdict() {
    let rows = vec![
        published_row(),
        row("syscall.null", vec![vec![100.0; 2]; 6]),
    ];
    let judged = judged(rows);
    let all = judged.as_published.as_ref().and_then(Seen::figure);
    let all = all.expect("it was run");
    assert_eq!((all.low, all.high), (Some(12.0), Some(30.01)));
    assert_eq!(all.cycles, Some(all.value * 2.5), "ticks of the counter");
    assert_eq!(judged.compared().expect("undisturbed").value, 12.0);
    assert_eq!(judged.ours_row.as_deref(), Some("syscall.null"));
    assert_eq!(judged.verdict.kind, VerdictKind::Differs);
    assert_eq!(
        judged.verdict.text,
        "Not counted here: getpid system calls per operation. The same procedure gives 12.0 ns: \
         shorter than old (7.50 times). syscost's row gives 100 ns, 8.33 times as much; why is \
         not known."
    );
}

#[test]
fn a_few_undisturbed_results_decide_nothing() {
    let mut few = published_row();
    few.samples = few.samples.map(|rounds| rounds[..9].to_vec());
    let first = judged(vec![few.clone()]);
    let undisturbed = first.undisturbed.as_ref().and_then(Seen::figure);
    assert_eq!(undisturbed.expect("they are shown").from, 9);
    assert!(!first.compares_undisturbed());
    assert_eq!(first.compared().expect("all of them").from, 18);
    few.samples = published_row().samples;
    let judged = judged(vec![few]);
    assert!(judged.compares_undisturbed());
    assert_eq!(judged.compared().expect("undisturbed").from, 10);
}

#[test]
fn a_ratio_that_is_missing_says_why() {
    let both = |of: &str, to: &str| {
        let text = STUDY.replace("ours = \"switch.pipe\"", of);
        let text = text.replace("ours = \"syscall.null\"", to);
        let rows = vec![
            row("syscall.null", vec![vec![100.0; 2]; 6]),
            published_row(),
        ];
        let study = parse(&text).expect("it is right");
        let judged = judge(&study, &run("r", rows)).judged_ratios.remove(0);
        let reason = |ratio: Between| match ratio {
            Between::Missing { reason } => reason,
            Between::Ratio { ratio, .. } => ratio.to_string(),
        };
        (reason(judged.as_published), reason(judged.by_method))
    };
    let one = "ours = \"syscall.null\"";
    let (published, method) = both(one, one);
    assert_eq!(published, "no figure of Switch");
    assert_eq!(method, "both are the same row");
    let mut nothing = row("study.mine.getpid", vec![vec![-1.0, 2.0]; 10]);
    nothing.estimate.undisturbed_percent = None;
    let text = STUDY.replace("ours = \"switch.pipe\"", "as_published = \"syscall.null\"");
    let rows = vec![row("syscall.null", vec![vec![100.0; 2]; 6]), nothing];
    let study = parse(&text).expect("it is right");
    let judged = judge(&study, &run("r", rows)).judged_ratios.remove(0);
    let reason = "getpid() cannot be told apart from zero".to_owned();
    assert_eq!(judged.as_published, Between::Missing { reason });
}

#[test]
fn without_an_undisturbed_result_all_are_compared() {
    let mut disturbed = published_row();
    for round in disturbed.samples.iter_mut().flatten() {
        let cause = Cause::SharedCore;
        round.disturbed.push(Disturbance { sample: 0, cause });
    }
    let method = row("syscall.null", vec![vec![100.0; 2]; 6]);
    let judged = judged(vec![disturbed, method]);
    assert_eq!(judged.verdict.kind, VerdictKind::Differs);
    let said = "but every result was disturbed (SMT interference 20).";
    assert!(
        judged.verdict.text.ends_with(said),
        "{}",
        judged.verdict.text
    );
    assert_eq!(judged.compared().expect("all of them").from, 20);
}

#[test]
fn what_is_not_repeated_is_still_compared_with_the_text_and_makes_ratios() {
    let rows = vec![
        published_row(),
        row("switch.pipe", vec![vec![3600.0; 2]; 6]),
        row("syscall.null", vec![vec![90.0; 2]; 6]),
    ];
    let judged = judge(&study(), &run("r", rows));
    assert_eq!(
        judged.judged[1].verdict.text,
        "syscost's row gives 3.60 µs: longer than old (2.00 times). The published procedure is not \
         repeated here."
    );
    let ratio = &judged.judged_ratios[0];
    assert_eq!(ratio.published, [("old".to_owned(), 20.0)]);
    let ratios = (ratio.as_published.ratio(), ratio.by_method.ratio());
    assert_eq!(ratios, (None, Some(40.0)));
}

#[test]
fn a_broken_claim_comes_first() {
    let mut published = published_row();
    published.evidence = vec![Evidence::new(
        "getpid system calls per operation",
        0.0,
        0.0,
        "seccomp audit",
        Verdict::Confirmed,
    )];
    let verdict = judged(vec![published]).verdict;
    assert_eq!(verdict.kind, VerdictKind::NotWhatItSays);
    assert!(verdict.text.starts_with("No system call happened."));
    let missing = "No figure of syscost's row: not part of this run.";
    assert!(verdict.text.ends_with(missing), "{}", verdict.text);
}

#[test]
fn rows_are_found_in_whatever_directory_and_by_whatever_far_end_there_was() {
    let in_any = STUDY.replace("\"syscall.null\"", "\"fs.read{dir=*,size=4K}\"");
    let rows = vec![row("fs.read{dir=ssd,size=4K}", vec![vec![100.0; 2]; 6])];
    let judged = judge(&parse(&in_any).expect("it is right"), &run("r", rows));
    let ours = judged.judged[0].ours.as_ref().and_then(Seen::figure);
    assert_eq!(ours.expect("it is there").value, 100.0);
    let far = STUDY.replace("\"syscall.null\"", "\"net.x{path=remote,family=*}\"");
    let judged = judge(&parse(&far).expect("it is right"), &run("r", Vec::new()));
    let ours = judged.judged[0].ours.as_ref().expect("it is asked for");
    assert!(ours.reason().expect("there is none").contains("--peer"));
}

#[test]
fn a_row_in_another_unit_agrees_with_nothing() {
    let mut rate = row("syscall.null", vec![vec![21.0; 2]; 6]);
    rate.unit = Unit::BytesPerSecond;
    let judged = judged(vec![published_row(), rate]);
    assert_eq!(
        reason(&judged.ours),
        Some("its row is in B/s, the quantity in ns")
    );
    assert_eq!(judged.verdict.kind, VerdictKind::NotCompared);
}

#[test]
fn a_row_without_a_number_says_why() {
    let mut withheld = published_row();
    withheld.status = Status::Withheld;
    withheld.reason = Some("it lied".into());
    let mut larger = row("syscall.null", vec![vec![100.0; 2]; 6]);
    larger.status = Status::AboveRange;
    larger.unit = Unit::Bytes;
    larger.estimate.ci95_low = Some(f64::from(1 << 20));
    larger.reason = Some("its time ended".into());
    let mut nothing = row("syscall.null", vec![vec![100.0; 2]; 6]);
    nothing.status = Status::BelowResolution;
    assert_eq!(
        reason(&judged(vec![nothing]).ours),
        Some("below resolution")
    );
    let said = "larger than 1 MiB: its time ended";
    assert_eq!(reason(&judged(vec![larger]).ours), Some(said));
    let mut never_ours = row("syscall.null", vec![vec![100.0; 2]; 6]);
    never_ours.estimate.median = None;
    let judged = judged(vec![withheld, never_ours]);
    assert_eq!(reason(&judged.as_published), Some("withheld: it lied"));
    assert_eq!(reason(&judged.ours), Some("it has no median"));
    assert_eq!(judged.verdict.kind, VerdictKind::NotCompared);
}

const CLAIMED: &str = r#"
id = "mine"
title = "Mine"
source = "A note"
about = "What I measured."

[[quantity]]
id = "read"
title = "read()"
table = "System calls"
unit = "ns"
procedure = "In a loop."
as_published = "syscall.null"

[[quantity.claim]]
counted = "read system calls per operation"
at_least = 1.0
broken = "Nothing was read: {}."
"#;

#[test]
fn a_study_finds_its_claims_in_an_anonymous_run() {
    let study = parse(CLAIMED).expect("a study");
    let mut run = syscost_results::fixture::run_of(&[vec![1.0, 2.0]]);
    run.machine.hostname = "read".to_owned();
    run.measurements[0].evidence = vec![
        Evidence::new(
            "read system calls per operation",
            1.0,
            0.0,
            "seccomp audit",
            Verdict::Confirmed,
        )
        .because("of /home/alice/file, at 10.1.2.3"),
    ];
    let before = judge(&study, &run);
    run.anonymize();
    let after = judge(&study, &run);
    let verdict = |judged: &JudgedStudy| judged.judged[0].verdict.clone();
    assert!(verdict(&before).text.contains("Nothing was read: 0."));
    assert_eq!(verdict(&before), verdict(&after));
    let reason = after.judged[0].evidence[0].reason.as_deref();
    assert_eq!(reason, Some("of (unnamed), at (unnamed)"));
}
