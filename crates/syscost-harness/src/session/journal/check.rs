//! A journal is untrusted input: any program may have written it, or a disk may have changed it.
//! Its content is used only if this program could have written it.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;

use syscost_net::nfs::Export;
use syscost_params::Value;
use syscost_results::run::Config;

use super::{Header, Record};
use crate::bencher::Findings;
use crate::profile::Profile;
use crate::variation::Variation;

/// Maximum size of a journal that is read, in bytes: a careful run of the whole catalogue writes a
/// tenth of it.
pub(super) const MAX_BYTES: u64 = 1 << 30;

/// Maximum length of an id, in bytes: it becomes a file's name.
const MAX_ID: usize = 100;

/// Maximum length of an environment variable's value, in bytes: a factor.
const MAX_VALUE: usize = 32;

/// Accepted time of a run or a case, in seconds: from too little for anything to a year.
const SECONDS: RangeInclusive<f64> = 1e-3..=3.2e7;

/// Accepted numbers of rounds and of resumptions.
const ROUNDS: RangeInclusive<u32> = 0..=100_000;

/// Maximum cost, rate, size or time in ns.
const MAX_NUMBER: f64 = 1e20;

/// Maximum number of samples of a process, details of a row and bins of its histogram.
const MAX_ENTRIES: usize = 1 << 20;

/// Maximum number of CPUs.
const MAX_CPUS: u32 = 1 << 16;

/// Checks that this program can have written this header for a run of its own; the error says why not.
pub(super) fn header(header: &Header) -> Result<(), String> {
    let Header { id, config, .. } = header;
    let programs = header.programs.iter();
    let of_programs = programs.flat_map(|one| [&one.study, &one.quantity]);
    let mut names = [id].into_iter().chain(&header.studies).chain(of_programs);
    if let Some(wrong) = names.find(|name| !is_name(name)) {
        return Err(format!("its id {:?} is no name", cut(wrong)));
    }
    ensure(header.started.parse::<jiff::Timestamp>().is_ok(), || {
        format!("it began at {:?}, which is no time", cut(&header.started))
    })?;
    let limit = header.time_limit_s;
    ensure(SECONDS.contains(&limit), || {
        format!("its time limit is {limit:e} s")
    })?;
    self::config(config)?;
    rows(&header.rows)?;
    targets(header)?;
    let mut cpus = config.cpus.iter().chain(&header.candidates);
    let known = cpus.all(|cpu| *cpu < MAX_CPUS);
    ensure(known && !config.cpus.is_empty(), || {
        format!("its CPUs are {:?}", config.cpus)
    })
}

/// Whether this may be the id of a run, a study or a quantity.
fn is_name(id: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-_".contains(letter);
    (1..=MAX_ID).contains(&id.len()) && id.chars().all(is_plain) && !id.starts_with('.')
}

/// A run measures something, and everything once.
fn rows(rows: &[String]) -> Result<(), String> {
    ensure(!rows.is_empty(), || "it has no rows".to_owned())?;
    let mut seen = BTreeSet::new();
    match rows.iter().find(|row| !seen.insert(*row)) {
        Some(row) => Err(format!("it names the row {:?} twice", cut(row))),
        None => Ok(()),
    }
}

/// As much of a text as a message needs.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_ID)]
}

fn config(config: &Config) -> Result<(), String> {
    ensure(Profile::read(&config.profile).is_some(), || {
        format!("there is no profile {:?}", cut(&config.profile))
    })?;
    ensure(SECONDS.contains(&config.budget_s), || {
        format!("its budget is {:e} s", config.budget_s)
    })?;
    ensure((0.0..=*SECONDS.end()).contains(&config.patience_s), || {
        format!("its patience is {:e} s", config.patience_s)
    })?;
    let rounds = [config.min_rounds, config.max_rounds, config.resumed];
    let are_few = rounds.iter().all(|count| ROUNDS.contains(count));
    ensure(
        are_few && (1..=config.max_rounds).contains(&config.min_rounds),
        || {
            format!(
                "it has {} to {} rounds",
                config.min_rounds, config.max_rounds
            )
        },
    )?;
    // Only `ab` uses another program, and it keeps no journal.
    ensure(config.program.is_none(), || {
        "it names a program to measure".to_owned()
    })?;
    for (name, value) in &config.environment {
        let is_known = value.as_ref().is_some_and(|value| is_variable(name, value));
        ensure(is_known, || {
            format!("it sets the environment variable {:?}", cut(name))
        })?;
    }
    Ok(())
}

/// Whether a coordinator may set this variable to such a value.
fn is_variable(name: &str, value: &str) -> bool {
    let mut known = Variation::ALL.iter().map(|one| one.variable());
    known.any(|known| known == name) && value.len() <= MAX_VALUE
}

/// Checks that workers are sent only where a command line may send them, and where the run says.
fn targets(header: &Header) -> Result<(), String> {
    let targets = &header.targets;
    if let Some(flaw) = targets.flaw() {
        return Err(format!("its {flaw} cannot be measured"));
    }
    let named = header.peer.as_ref().map(|peer| peer.address.clone());
    let reached = targets.peer.as_ref().map(|peer| peer.address.to_string());
    ensure(named == reached, || {
        "its far end is not the one its workers are sent to".to_owned()
    })?;
    let named = header.nfs.as_ref().map(|server| server.export.clone());
    let reached = targets.nfs.as_ref().map(Export::to_string);
    ensure(named == reached, || {
        "its NFS server is not the one its workers are sent to".to_owned()
    })?;
    let is_set = |described: &syscost_results::Directory| {
        let mut set = targets.directories.iter();
        set.any(|one| one.label == described.label && one.path == Path::new(&described.path))
    };
    ensure(header.directories.iter().all(is_set), || {
        "its directories are not those that its workers are sent to".to_owned()
    })
}

/// Whether a worker of this program could have reported this.
pub(super) fn is_sound(record: &Record) -> bool {
    let findings = record
        .cases
        .iter()
        .filter_map(|(_, case)| case.as_ref().ok());
    ROUNDS.contains(&record.round)
        && record.cpu < MAX_CPUS
        && (0.0..=*SECONDS.end()).contains(&record.elapsed_s)
        && is_number(record.started_in_ms)
        && findings.into_iter().all(is_sound_finding)
}

fn is_sound_finding(findings: &Findings) -> bool {
    let Findings {
        samples,
        details,
        histogram,
        ..
    } = findings;
    let (values, raw, sample_ghz) = (&samples.values, &samples.raw, &samples.sample_ghz);
    let counts = [
        values.len(),
        raw.len(),
        sample_ghz.len(),
        samples.disturbed.len(),
        details.len(),
        histogram.len(),
    ];
    let numbers = values.iter().chain(raw).chain(sample_ghz);
    let numbers = numbers.chain(details.values().map(|detail| &detail.value));
    let spans = [findings.took_ns, findings.waited_ns];
    counts.iter().all(|count| *count <= MAX_ENTRIES)
        && numbers.copied().all(is_number)
        && histogram.iter().all(|(bound, _)| is_number(*bound))
        && spans.iter().all(|span| (0.0..=MAX_NUMBER).contains(span))
        && (values.is_empty() || samples.iterations > 0)
        && (samples.ratios.is_empty() || samples.ratios.len() == values.len())
        && findings.explained.values().all(|share| is_number(*share))
        && findings.counted_ns.is_none_or(is_number)
}

fn is_number(number: f64) -> bool {
    number.abs() <= MAX_NUMBER
}

fn ensure(holds: bool, complaint: impl FnOnce() -> String) -> Result<(), String> {
    match holds {
        true => Ok(()),
        false => Err(complaint()),
    }
}

#[cfg(test)]
mod tests {
    use syscost_results::Directory;
    use syscost_results::run::{NfsServer, Peer};

    use super::super::tests;
    use super::*;
    use crate::peer::PeerTarget;

    fn refused(change: impl FnOnce(&mut Header), words: &str) {
        let mut changed = tests::header();
        change(&mut changed);
        let complaint = header(&changed).expect_err(words);
        assert!(complaint.contains(words), "{complaint}");
    }

    #[test]
    fn a_header_that_no_run_wrote_is_refused() {
        assert_eq!(header(&tests::header()), Ok(()));
        for id in ["", "../../etc/passwd", "a/b", ".hidden", "a\0b"] {
            refused(|it| it.id = id.to_owned(), "is no name");
            refused(|it| it.studies = [id.to_owned()].into(), "is no name");
        }
        refused(|it| it.started = "soon".to_owned(), "no time");
        for seconds in [-1.0, 0.0, 1e300] {
            refused(|it| it.time_limit_s = seconds, "time limit");
            refused(|it| it.config.budget_s = seconds, "budget");
        }
        let long = header(&Header {
            id: "/".repeat(5_000),
            ..tests::header()
        });
        let long = long.expect_err("it is too long");
        assert!(long.len() < 200, "{long}");
        let mut endless = tests::header();
        endless.config.budget_s = 1e300;
        assert!(header(&endless).expect_err("it is endless").len() < 40);
        refused(|it| it.rows.clear(), "no rows");
        refused(|it| it.rows.push(it.rows[0].clone()), "twice");
        refused(|it| it.config.cpus.clear(), "CPUs");
        refused(|it| it.candidates.push(u32::MAX), "CPUs");
        refused(|it| it.config.min_rounds = 0, "rounds");
        refused(|it| it.config.resumed = u32::MAX, "rounds");
        refused(|it| it.config.profile = "rash".to_owned(), "profile");
        refused(
            |it| it.config.program = Some("/bin/sh".to_owned()),
            "program",
        );
        for name in ["LD_PRELOAD", "PATH", "MALLOC_PERTURB_"] {
            let set = (name.to_owned(), Some("x".to_owned()));
            refused(|it| it.config.environment.extend([set]), name);
        }
        let far = |address: &str, token_file: &str| {
            Some(PeerTarget {
                address: address.parse().expect("an address"),
                token_file: token_file.into(),
            })
        };
        let token = "/home/me/token";
        refused(|it| it.targets.peer = far("10.0.0.1:0", token), "far end");
        refused(|it| it.targets.peer = far("10.0.0.1:1", token), "far end");
        let mut remote = tests::header();
        remote.peer = Some(Box::new(Peer {
            name: "db1:7717".to_owned(),
            address: "10.0.0.1:7717".to_owned(),
            version: "0.1.0".to_owned(),
            machine: Default::default(),
        }));
        assert!(
            header(&remote).is_err(),
            "it does not say how it is reached"
        );
        remote.targets.peer = far("10.0.0.1:7717", token);
        assert_eq!(header(&remote), Ok(()));
        let mut export = tests::header();
        let located = "nfs://10.0.0.1:2049:635/e".to_owned();
        export.nfs = Some(Box::new(NfsServer {
            name: "nfs://db1/e".to_owned(),
            export: located.clone(),
            read_bytes: 1 << 20,
            write_bytes: 1 << 20,
        }));
        export.targets.nfs = Some(located.parse().expect("an export"));
        assert_eq!(header(&export), Ok(()));
        let server = export.targets.nfs;
        refused(|it| it.targets.nfs = server.clone(), "NFS server");
        let unlocated = "nfs://db1/e".parse().ok();
        refused(|it| it.targets.nfs = unlocated.clone(), "NFS server");
        let nowhere = Directory {
            label: "ssd".to_owned(),
            path: "/data".to_owned(),
            ..Directory::default()
        };
        refused(|it| it.directories.push(nowhere.clone()), "directories");
        let ssd = |path: &str| {
            vec![crate::directory::Directory {
                label: "ssd".to_owned(),
                path: path.into(),
            }]
        };
        let mut legal = tests::header();
        legal.targets.directories = ssd("/data");
        legal.directories.push(nowhere.clone());
        assert_eq!(header(&legal), Ok(()));
        refused(|it| it.targets.directories = ssd("data"), "directories");
        refused(|it| it.targets.directories.clear(), "directories");
        for name in ["", "a b", "a name of more than sixteen bytes"] {
            refused(
                |it| it.targets.congestion = Some(name.to_owned()),
                "congestion",
            );
        }
    }

    #[test]
    fn a_record_that_no_worker_gave_is_detected() {
        let sound = || tests::record(3);
        assert!(is_sound(&sound()));
        let change = |change: fn(&mut Record)| {
            let mut record = sound();
            change(&mut record);
            is_sound(&record)
        };
        assert!(!change(|it| it.elapsed_s = -1.0));
        assert!(!change(|it| it.elapsed_s = 1e300));
        assert!(!change(|it| it.round = u32::MAX));
        fn findings(record: &mut Record) -> &mut Findings {
            record.cases[0].1.as_mut().expect("was measured")
        }
        assert!(!change(|it| findings(it).samples.values.push(1e300)));
        assert!(!change(|it| findings(it).samples.iterations = 0));
        assert!(!change(|it| findings(it).took_ns = -5.0));
    }
}
