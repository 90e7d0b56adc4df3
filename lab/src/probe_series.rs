//! Recorded probes of the core, and whether the program's judgement of them is right.
//!
//! Each record is a probe right after work, between two reference probes with a burst of another length. Where both
//! references show an own core, or both clearly a shared one, they are the truth.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use flate2::read::MultiGzDecoder;
use syscost_sys::clock::{Bracket, Clock, Source, ticks_per_ns};
use syscost_sys::core_probe::{Alone, Burst, Probe, ProbeReading, Shape, Work, Worker, alone};
use syscost_sys::cpu;

/// How `probe-series` runs.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Judge this recorded series (CSV, plain or gzip) instead of recording one
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Also write the series here
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    output: Option<PathBuf>,
    /// Records of each burst and kind of work
    #[arg(long, value_name = "NUMBER", default_value_t = 300)]
    records: usize,
    /// The CPU; without it the first
    #[arg(long, value_name = "CPU")]
    cpu: Option<u32>,
}

/// The columns of a series; times in ticks of a clock whose readings lie `grain` apart.
const HEADER: &str = "burst,reference,grain,work,chain,throughput,before_chain,before_throughput,after_chain,after_throughput";

/// A reference probe this far above an own core shows a shared one clearly: independent instructions of two threads of which
/// one works a quarter of the time or more.
const CLEARLY_SHARED: f64 = 1.25;

/// A probe after work, and those around both.
struct Record {
    burst: u32,
    reference: u32,
    grain: u32,
    work: String,
    probe: ProbeReading,
    around: [ProbeReading; 2],
}

/// Probes by the truth, and those called wrongly.
#[derive(Debug, Default, Clone, Copy)]
struct Errors {
    own: usize,
    own_called_shared: usize,
    shared: usize,
    shared_called_own: usize,
}

/// Records or reads a series, and prints its table of errors.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let records = match &arguments.from {
        Some(file) => read(file)?,
        None => record(arguments)?,
    };
    if let Some(file) = &arguments.output {
        let text: String = records.iter().map(Record::line).collect();
        let mut output =
            File::create(file).with_context(|| format!("making {}", file.display()))?;
        write!(output, "{HEADER}\n{text}").context("writing the series")?;
    }
    println!("burst  work               own, called shared    shared, called own");
    for ((burst, work), errors) in table(&records)? {
        println!(
            "{burst:5}  {work:16} {:6} {:6.2} %       {:6} {:6.2} %",
            errors.own,
            percent(errors.own_called_shared, errors.own),
            errors.shared,
            percent(errors.shared_called_own, errors.shared)
        );
    }
    Ok(())
}

fn percent(part: usize, of: usize) -> f64 {
    100.0 * part as f64 / of.max(1) as f64
}

/// The errors by burst and kind of work.
fn table(records: &[Record]) -> Result<BTreeMap<(u32, &str), Errors>> {
    let mut by_burst: BTreeMap<(u32, u32), Vec<&Record>> = BTreeMap::new();
    for record in records {
        let shape = (record.burst, record.reference);
        by_burst.entry(shape).or_default().push(record);
    }
    let mut table: BTreeMap<(u32, &str), Errors> = BTreeMap::new();
    for ((burst, _), records) in by_burst {
        let around: Vec<ProbeReading> = records.iter().flat_map(|record| record.around).collect();
        let probes: Vec<ProbeReading> = records.iter().map(|record| record.probe).collect();
        let Some((truth, own)) =
            judge(&around, records[0].grain).zip(judge(&probes, records[0].grain))
        else {
            bail!("no mode in the series of burst {burst}");
        };
        for record in records {
            let errors = table.entry((burst, &record.work)).or_default();
            let is_own = own.holds(&record.probe);
            if record.around.iter().all(|probe| truth.holds(probe)) {
                errors.own += 1;
                errors.own_called_shared += usize::from(!is_own);
            } else if record
                .around
                .iter()
                .all(|probe| truth.slowdown(probe) > CLEARLY_SHARED)
            {
                errors.shared += 1;
                errors.shared_called_own += usize::from(is_own);
            }
        }
    }
    Ok(table)
}

/// The judgement that is examined.
fn judge(probes: &[ProbeReading], grain: u32) -> Option<Alone> {
    alone(probes, grain)
}

impl Record {
    fn line(&self) -> String {
        let Self {
            burst,
            reference,
            grain,
            work,
            ..
        } = self;
        let [before, after] = self.around;
        let times = [self.probe, before, after]
            .map(|probe| format!(",{},{}", probe.chain, probe.throughput));
        format!("{burst},{reference},{grain},{work}{}\n", times.concat())
    }

    fn parsed(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |index: usize| fields.get(index)?.parse().ok();
        let probe = |index| {
            let (chain, throughput) = (number(index)?, number(index + 1)?);
            Some(ProbeReading { throughput, chain })
        };
        Some(Self {
            burst: number(0)?,
            reference: number(1)?,
            grain: number(2)?,
            work: (*fields.get(3)?).to_owned(),
            probe: probe(4)?,
            around: [probe(6)?, probe(8)?],
        })
    }
}

/// Reads a series.
fn read(file: &Path) -> Result<Vec<Record>> {
    let bytes = fs::read(file).with_context(|| format!("reading {}", file.display()))?;
    let is_packed = bytes.starts_with(&[0x1f, 0x8b]);
    let text: Box<dyn BufRead> = match is_packed {
        true => Box::new(BufReader::new(MultiGzDecoder::new(&bytes[..]))),
        false => Box::new(&bytes[..]),
    };
    let mut lines = text.lines();
    let header = lines.next().context("the series is empty")??;
    ensure!(
        header == HEADER,
        "{} is no series of probes",
        file.display()
    );
    let parsed = |line: std::io::Result<String>| {
        let line = line?;
        Record::parsed(&line).with_context(|| format!("a record of probes: {line}"))
    };
    lines.map(parsed).collect()
}

/// Records a series: each burst in turn after each kind of work, so that whatever else the core does meets each alike.
fn record(arguments: &Arguments) -> Result<Vec<Record>> {
    let cpus = cpu::allowed().context("listing the CPUs")?;
    let cpu = arguments.cpu.or(cpus.first().copied()).context("no CPU")?;
    cpu::pin(cpu).with_context(|| format!("moving to CPU {cpu}"))?;
    let source = Source::preferred();
    let first = Bracket::take(source);
    std::thread::sleep(std::time::Duration::from_millis(50));
    let rate = ticks_per_ns(&first, &Bracket::take(source));
    let clock = Clock::new(source, rate).unwrap_or(Clock::system());
    let grain = clock.grain_ticks();
    let probes: Vec<Probe> = Burst::all()
        .map(|burst| Probe::new(clock, Shape { grain, burst }))
        .collect();
    let mut worker = Worker::default();
    let mut records = Vec::new();
    for _ in 0..arguments.records {
        for work in Work::ALL {
            for (index, probe) in probes.iter().enumerate() {
                // The burst after this one, of another length.
                let reference = &probes[(index + 1) % probes.len()];
                let before = reference.read();
                worker.work(work);
                let reading = probe.read();
                records.push(Record {
                    burst: probe.shape().burst.instructions(),
                    reference: reference.shape().burst.instructions(),
                    grain,
                    work: work.name().to_owned(),
                    probe: reading,
                    around: [before, reference.read()],
                });
            }
        }
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(name: &str) -> Vec<Record> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/probes");
        read(&folder.join(name)).expect("a series")
    }

    /// All kinds of work together, in percent: own probes called shared, shared ones called own.
    fn wrong(records: &[Record], burst: u32) -> [f64; 2] {
        let table = table(records).expect("modes");
        let rows = table.iter().filter(|((of, _), _)| *of == burst);
        let all = rows.fold(Errors::default(), |sum, (_, row)| Errors {
            own: sum.own + row.own,
            own_called_shared: sum.own_called_shared + row.own_called_shared,
            shared: sum.shared + row.shared,
            shared_called_own: sum.shared_called_own + row.shared_called_own,
        });
        assert!(all.own >= 100 && all.shared >= 100, "{burst}: {all:?}");
        [
            percent(all.own_called_shared, all.own),
            percent(all.shared_called_own, all.shared),
        ]
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let line = "60,120,24,a sleep,3748,3112,3749,3136,3750,3160\n";
        let record = Record::parsed(line.trim_end()).expect("a record");
        assert_eq!(record.line(), line);
        assert!(Record::parsed("60,120,24,a sleep,3748").is_none());
    }

    /// Only this side: the series' burst of 300 instructions, without a warm-up, shows more on an own core after system calls,
    /// and calls nearly half of the own probes shared.
    #[test]
    fn shared_probes_of_a_cascade_lake_are_not_called_own() {
        let [_, shared_called_own] = wrong(&stored("cascade-lake.csv.gz"), 300);
        assert!(shared_called_own <= 1.0, "{shared_called_own} %");
    }

    /// Recorded after six kinds of work, on a core that others shared most of the time; of a Granite Rapids,
    /// whose own cores show two ratios, on one that was shared a quarter of the time.
    #[test]
    fn probes_are_judged_rightly_both_ways() {
        for (series, most) in [("zen3.csv.gz", 1.0), ("granite-rapids.csv.gz", 3.0)] {
            let records = stored(series);
            for part in wrong(&records, 60) {
                assert!(part <= most, "{series}: {part} %");
            }
            let table = table(&records).expect("modes");
            for ((_, work), errors) in table.iter().filter(|((burst, _), _)| *burst == 60) {
                // A core may be shared for a moment between two references that find it own: one of them does
                // not count.
                let is_most =
                    |wrong: usize, of: usize| percent(wrong.saturating_sub(1), of) > 2.0 * most;
                assert!(
                    !is_most(errors.own_called_shared, errors.own),
                    "{series}, {work}: {errors:?}"
                );
                assert!(
                    !is_most(errors.shared_called_own, errors.shared),
                    "{series}, {work}: {errors:?}"
                );
            }
        }
    }
}
