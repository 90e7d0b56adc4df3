//! `cargo lab fleet`: documents of many machines, simulated from a real one with known bad machines among them, and how long
//! `fleet report` takes on them.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use fastrand::Rng;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use syscost_stats::normal::random as random_normal;

use crate::program::Given;
use xtask::workspace;

/// Between machines of one kind a figure scatters by about this share, with somewhat heavier tails than
/// normal.
const SCATTER: f64 = 0.01;
/// One in this number of machines is bad.
const BAD: usize = 100;
/// The numbers of a row that are in its unit, or follow it.
const SCALED: [&str; 8] = [
    "median",
    "ci95_low",
    "ci95_high",
    "min",
    "best",
    "mad",
    "p99",
    "raw_median",
];

/// Arguments of `fleet`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Machines to simulate, one size after the other
    #[arg(long, value_delimiter = ',', default_value = "100,1000,10000")]
    machines: Vec<usize>,
    /// Rows of each document
    #[arg(long, default_value_t = 1000)]
    rows: usize,
    /// The real document whose rows are varied
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Where the documents are made; what is in it is removed
    #[arg(long, value_name = "DIR")]
    folder: PathBuf,
    /// Leave the last documents there
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    program: Given,
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let program = arguments.program.get()?.path;
    let real = match &arguments.from {
        Some(path) => path.clone(),
        None => workspace::root().join("fixtures/runs/quick.json"),
    };
    let real = fs::read(&real).with_context(|| format!("reading {}", real.display()))?;
    let simulated = Simulation::new(serde_json::from_slice(&real)?, arguments.rows)?;
    let [nodes, page] = ["nodes", "fleet.html"].map(|name| arguments.folder.join(name));
    println!("machines  documents GB   report s    MiB   page MB  found");
    for machines in &arguments.machines {
        clear(&nodes)?;
        simulated.write(*machines, &nodes)?;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let report = [
            "report",
            &text(&nodes),
            "-o",
            &text(&page),
            "--format",
            "json",
        ];
        let report = timed(&program, &report)?;
        ensure!(matches!(report.code, Some(0 | 3)), "the report failed");
        let megabytes = |path: &Path| Ok::<f64, io::Error>(size(path)? as f64 / 1e6);
        println!(
            "{machines:8}  {:12.2}  {report}  {:7.2}  {}",
            megabytes(&nodes)? / 1e3,
            megabytes(&page)?,
            found(&report.output, *machines)?,
        );
    }
    if !arguments.keep {
        clear(&nodes)?;
    }
    Ok(())
}

fn clear(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("removing {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// Which of the bad machines are among the outliers, and how many others.
fn found(report: &[u8], machines: usize) -> Result<String> {
    let report: Value = serde_json::from_slice(report).context("the report is no JSON")?;
    let outliers = report["outliers"].as_array();
    let outliers = outliers.context("the report has no outliers")?;
    let is_bad = |host: &Value| {
        let number = host
            .as_str()
            .and_then(|host| host.strip_prefix("node")?.parse().ok());
        number.is_some_and(|number| Bad::of(number).is_some())
    };
    let bad = outliers
        .iter()
        .filter(|one| is_bad(&one["machine"]))
        .count();
    let planted = (0..machines).filter(|one| Bad::of(*one).is_some()).count();
    let wrong = outliers.len() - bad;
    Ok(format!("{bad} of {planted}, {wrong} others"))
}

/// What is wrong with a bad machine.
#[derive(Debug, Clone, Copy)]
enum Bad {
    /// Its system calls cost so much more.
    SystemCalls(f64),
    /// Its memory is read and written slower.
    MemoryBandwidth,
    /// One row alone costs more.
    OneRow,
}

impl Bad {
    fn of(machine: usize) -> Option<Self> {
        (machine % BAD == BAD / 2).then_some(match machine / BAD % 4 {
            0 => Bad::SystemCalls(1.3),
            1 => Bad::SystemCalls(1.1),
            2 => Bad::MemoryBandwidth,
            _ => Bad::OneRow,
        })
    }

    fn factor(self, index: usize, row: &Row) -> f64 {
        match self {
            Bad::SystemCalls(factor) if row.id.starts_with("syscall.") => factor,
            Bad::MemoryBandwidth if row.id.starts_with("memory.") && row.is_rate => 0.85,
            Bad::OneRow if index == 7 => 1.3,
            _ => 1.0,
        }
    }
}

/// A real run, ready to be varied.
struct Simulation {
    /// The document without its rows.
    head: Value,
    rows: Vec<Row>,
}

struct Row {
    id: String,
    is_rate: bool,
    /// Its text but for the numbers that vary, without its end.
    text: String,
    scaled: BTreeMap<&'static str, f64>,
    /// The other fields of its estimate.
    rest: String,
}

impl Simulation {
    fn new(mut real: Value, rows: usize) -> Result<Self> {
        let Value::Array(real_rows) = real["measurements"].take() else {
            bail!("the document has no rows");
        };
        let copy = |index: usize| {
            let mut row = real_rows[index % real_rows.len()].clone();
            let copy = (index / real_rows.len()).to_string();
            let name = row["name"].as_str().unwrap_or_default();
            let name = match name.strip_suffix('}') {
                Some(begun) => format!("{begun},copy={copy}}}"),
                None => format!("{name}{{copy={copy}}}"),
            };
            row["name"] = name.into();
            row["case"]["copy"] = copy.into();
            // Of standard runs, most documents have none.
            row["samples"] = Value::Null;
            Row::new(row)
        };
        Ok(Self {
            head: real.clone(),
            rows: (0..rows).map(copy).collect(),
        })
    }

    /// Writes the documents, packed.
    fn write(&self, machines: usize, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder)?;
        let next = AtomicUsize::new(0);
        let work = || {
            loop {
                let machine = next.fetch_add(1, Ordering::Relaxed);
                if machine >= machines {
                    return Ok(());
                }
                let file = fs::File::create(folder.join(format!("node{machine:05}.json.gz")))?;
                let mut file = GzEncoder::new(file, Compression::default());
                file.write_all(self.document(machine)?.as_bytes())?;
                file.finish()?;
            }
        };
        let threads = thread::available_parallelism()?.get();
        thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            for worker in workers {
                worker
                    .join()
                    .unwrap_or_else(|_| bail!("a thread panicked"))?;
            }
            Ok(())
        })
    }

    fn document(&self, machine: usize) -> Result<String> {
        let mut random = Rng::with_seed(machine as u64);
        let bad = Bad::of(machine);
        let mut head = self.head.clone();
        head["id"] = format!("20261127T{:06}Z-{machine:05}", machine % 1_000_000).into();
        head["machine"]["hostname"] = format!("node{machine:05}").into();
        head["machine"]["microcode"] = format!("0x{:x}", 0x2b00 + machine % 3).into();
        if bad.is_some() {
            head["machine"]["kernel"] = "Linux 6.1.0-13".into();
        }
        let of_machine = SCATTER / 2.0 * random_normal(&mut random);
        let mut rows = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            let tail = (0.2 * random_normal(&mut random)).exp();
            let own = of_machine + SCATTER * tail * random_normal(&mut random);
            let planted = bad.map_or(1.0, |bad| bad.factor(index, row));
            let comma = if index == 0 { "" } else { "," };
            rows += comma;
            row.write(&mut rows, own.exp() * planted)?;
        }
        let head = head.to_string();
        let (before, after) = head
            .split_once("\"measurements\":null")
            .context("the document has no place for rows")?;
        Ok(format!("{before}\"measurements\":[{rows}]{after}"))
    }
}

impl Row {
    fn new(mut row: Value) -> Self {
        let id = row["id"].as_str().unwrap_or_default().to_owned();
        let is_rate = row["unit"] == json!("B/s");
        let mut estimate = row["estimate"].take();
        let cycles = row["core_cycles"].take().as_f64();
        if let Value::Object(fields) = &mut row {
            fields.remove("estimate");
            fields.remove("core_cycles");
        }
        let mut scaled = BTreeMap::new();
        for name in SCALED {
            if let Some(number) = estimate[name].as_f64() {
                scaled.insert(name, number);
                estimate[name].take();
            }
        }
        if let Value::Object(fields) = &mut estimate {
            fields.retain(|name, _| !scaled.contains_key(name.as_str()));
        }
        scaled.extend(cycles.map(|cycles| ("core_cycles", cycles)));
        let cut = |value: &Value| {
            let text = value.to_string();
            text.strip_suffix('}').unwrap_or(&text).to_owned()
        };
        Row {
            id,
            is_rate,
            text: cut(&row),
            rest: cut(&estimate),
            scaled,
        }
    }

    fn write(&self, to: &mut String, factor: f64) -> Result<()> {
        let cycles = self.scaled.get("core_cycles");
        match cycles {
            Some(cycles) => write!(to, "{},\"core_cycles\":{:e}", self.text, cycles * factor)?,
            None => write!(to, "{},\"core_cycles\":null", self.text)?,
        }
        write!(to, ",\"estimate\":{}", self.rest)?;
        for (name, number) in self
            .scaled
            .iter()
            .filter(|(name, _)| **name != "core_cycles")
        {
            write!(to, ",\"{name}\":{:e}", number * factor)?;
        }
        to.push_str("}}");
        Ok(())
    }
}

/// What a command took.
struct Timed {
    code: Option<i32>,
    took: Duration,
    /// The time of all its threads on a CPU: what it takes where nothing else runs.
    on_cpu_s: f64,
    peak_mib: u64,
    output: Vec<u8>,
}

impl fmt::Display for Timed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let took = self.took.as_secs_f64();
        write!(f, "{took:8.1}  {:5.1}  {:4}", self.on_cpu_s, self.peak_mib)
    }
}

/// Runs `syscost fleet` with these arguments.
fn timed(program: &Path, arguments: &[&str]) -> Result<Timed> {
    let begun = Instant::now();
    let output = tempfile::tempfile()?;
    let mut child = Command::new(program)
        .arg("fleet")
        .args(arguments)
        .stdout(Stdio::from(output.try_clone()?))
        .spawn()
        .with_context(|| format!("starting {}", program.display()))?;
    let of_process = format!("/proc/{}", child.id());
    let (mut peak_mib, mut on_cpu_s) = (0, 0.0);
    let code = loop {
        // The kernel keeps the maximum, which an ended process does not tell any more.
        let text = fs::read_to_string(format!("{of_process}/status")).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        peak_mib = kib.map_or(peak_mib, |kib| kib >> 10);
        let stat = fs::read_to_string(format!("{of_process}/stat")).unwrap_or_default();
        // The user's and the kernel's ticks, of which there are 100 in a second.
        let ticks = |at: usize| {
            stat.rsplit(')')
                .next()?
                .split_whitespace()
                .nth(at)?
                .parse()
                .ok()
        };
        let sum = ticks(11)
            .zip(ticks(12))
            .map(|(user, kernel): (f64, f64)| user + kernel);
        on_cpu_s = sum.map_or(on_cpu_s, |ticks| ticks / 100.0);
        if let Some(status) = child.try_wait()? {
            break status.code();
        }
        thread::sleep(Duration::from_millis(10));
    };
    let took = begun.elapsed();
    Ok(Timed {
        code,
        took,
        on_cpu_s,
        peak_mib,
        output: contents(output)?,
    })
}

fn contents(mut file: fs::File) -> Result<Vec<u8>> {
    use std::io::{Read, Seek};
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Bytes of a file, or of all files in a directory.
fn size(path: &Path) -> io::Result<u64> {
    if !path.is_dir() {
        return fs::metadata(path).map(|facts| facts.len());
    }
    fs::read_dir(path)?.map(|entry| size(&entry?.path())).sum()
}
