//! OpenMetrics text, also for the Prometheus node exporter's textfile collector.
//!
//! That collector reads the older Prometheus text format, in which `# UNIT` and `# EOF` are mere
//! comments, but the type `info` and timestamps are errors. So everything here is a gauge without a
//! timestamp, which both kinds of reader accept.

use std::fmt::Write;

use syscost_results::run::Noise;
use syscost_results::{Run, Status, Unit};

use super::columns::word;
use super::{ExportError, Record, started_us};

/// A number of a row, with the suffix of its families' names and the words for their help.
type Statistic = (&'static str, &'static str, fn(&Record) -> Option<f64>);

const STATISTICS: [Statistic; 4] = [
    ("median", "median of the rounds' medians", |record| {
        record.estimate.median
    }),
    (
        "ci95_low",
        "lower end of the median's 95 % confidence interval, or the bound of a row above the range that was tried",
        |record| record.estimate.ci95_low,
    ),
    (
        "ci95_high",
        "upper end of the median's 95 % confidence interval, or the bound of a row below resolution",
        |record| record.estimate.ci95_high,
    ),
    (
        "shared_median",
        "median over rounds while the core was shared",
        |record| record.estimate.shared_median,
    ),
];

/// A base unit: which units convert to it, and the families' help. Families' names end with its
/// name; counts have none.
struct Base {
    name: &'static str,
    of: &'static str,
    /// Factor and divisor that convert a value from a row's unit to the base unit; `None` for other
    /// units. Both are needed, as a division by 1e9 rounds once and a product with 1e-9 twice.
    from: fn(Unit) -> Option<(f64, f64)>,
}

const BASES: [Base; 8] = [
    Base {
        name: "seconds",
        of: "Time of one operation",
        from: |unit| (unit == Unit::Nanoseconds).then_some((1.0, 1e9)),
    },
    Base {
        name: "bytes",
        of: "Size",
        from: |unit| (unit == Unit::Bytes).then_some((1.0, 1.0)),
    },
    Base {
        name: "bytes_per_second",
        of: "Bandwidth",
        from: |unit| (unit == Unit::BytesPerSecond).then_some((1.0, 1.0)),
    },
    Base {
        name: "operations_per_second",
        of: "Throughput",
        from: |unit| (unit == Unit::OperationsPerSecond).then_some((1.0, 1.0)),
    },
    Base {
        name: "flops_per_second",
        of: "Floating-point throughput",
        from: |unit| (unit == Unit::FlopsPerSecond).then_some((1.0, 1.0)),
    },
    Base {
        name: "hertz",
        of: "Frequency",
        from: |unit| (unit == Unit::Gigahertz).then_some((1e9, 1.0)),
    },
    Base {
        name: "ratio",
        of: "Ratio, or share with 1 for 100 %",
        from: |unit| match unit {
            Unit::Ratio => Some((1.0, 1.0)),
            Unit::Percent => Some((1.0, 100.0)),
            _ => None,
        },
    },
    Base {
        name: "",
        of: "Count",
        from: |unit| (unit == Unit::Count).then_some((1.0, 1.0)),
    },
];

/// The rows of a run as gauges in base units, and gauges on the run itself.
///
/// A row without a number has no sample in the number families, but one with its reason in
/// `syscost_without_number`.
///
/// # Errors
/// [`ExportError::Started`] if the run's start is not a valid time.
pub fn to_openmetrics(run: &Run) -> Result<String, ExportError> {
    let started = started_us(&run.id, &run.started)? as f64 / 1e6;
    let records: Vec<Record> = Record::all(&[run]).collect();
    let mut text = Families::default();
    about_run(&mut text, run, started);
    text.family("rows", "", "Rows of the run by status", |samples| {
        for status in Status::ALL {
            let count = records.iter().filter(|row| row.status == status).count();
            samples.push((vec![label("status", &word(&status))], count as f64));
        }
    });
    for base in &BASES {
        for (statistic, help, number) in STATISTICS {
            let help = format!("{}, {help}", base.of);
            text.family(statistic, base.name, &help, |samples| {
                for record in &records {
                    if let Some(((times, by), value)) = (base.from)(record.unit).zip(number(record))
                    {
                        samples.push((of_row(record), value * times / by));
                    }
                }
            });
        }
    }
    let help = "Share of a row's samples that nothing disturbed";
    text.family("undisturbed", "ratio", help, |samples| {
        for record in &records {
            let percent = record.estimate.undisturbed_percent;
            samples.extend(percent.map(|percent| (of_row(record), percent / 100.0)));
        }
    });
    let help = "Rows without a number, and why";
    text.family("without_number", "", help, |samples| {
        for record in records.iter().filter(|row| row.status != Status::Ok) {
            let mut labels = of_row(record);
            labels.push(label("status", &word(&record.status)));
            labels.push(label("reason", record.reason.as_deref().unwrap_or("")));
            samples.push((labels, 1.0));
        }
    });
    Ok(text.finish())
}

fn about_run(text: &mut Families, run: &Run, started: f64) {
    let machine = &run.machine;
    let labels = vec![
        label("run", &run.id),
        label("version", &run.tool.version),
        label("profile", &run.config.profile),
        label("hostname", &machine.hostname),
        label("cpu_model", &machine.cpu_model),
        label("microcode", machine.microcode.as_deref().unwrap_or("")),
        label("kernel", &machine.kernel),
        label("hypervisor", machine.hypervisor.as_deref().unwrap_or("")),
        label("clock", &run.clock.source),
    ];
    text.single(
        "run_info",
        "",
        "What was measured, in the labels",
        labels,
        1.0,
    );
    let help = "When the run began, since 1970";
    text.single("run_start_timestamp", "seconds", help, vec![], started);
    let help = "How long the run took";
    text.single("run_duration", "seconds", help, vec![], run.duration_s);
    let help = "Whether every row got its minimum number of rounds";
    let complete = f64::from(u8::from(run.complete));
    text.single("run_complete", "", help, vec![], complete);
    let mut of_cores = |name, help, percent: fn(&Noise) -> Option<f64>| {
        text.family(name, "ratio", help, |samples| {
            for noise in &run.noise {
                let label = vec![label("cpu", &noise.cpu.to_string())];
                samples.extend(percent(noise).map(|percent| (label, percent / 100.0)));
            }
        });
    };
    let help = "Share of the time in which the core worked for nobody else, as the run began";
    of_cores("core_alone", help, |noise| noise.alone_percent);
    let help = "How much longer independent instructions took while the core was shared";
    of_cores("core_shared_slowdown", help, |noise| {
        noise.shared_slowdown_percent
    });
}

/// A label: its name and escaped value.
type Label = String;
type Sample = (Vec<Label>, f64);

/// The labels that identify a row: its name and, for selecting, the parts of it.
fn of_row(record: &Record) -> Vec<Label> {
    let mut labels = vec![
        label("name", &record.name),
        label("group", &record.group),
        label("operation", &record.operation),
    ];
    // A parameter that cannot be part of a label name gets no label; the row's name still contains
    // it.
    let is_safe = |key: &str| key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    for (key, value) in record.case.iter().filter(|(key, _)| is_safe(key)) {
        labels.push(label(&format!("case_{key}"), value));
    }
    labels
}

fn label(name: &str, value: &str) -> Label {
    let value = value
        .replace('\\', r"\\")
        .replace('"', "\\\"")
        .replace('\n', r"\n");
    format!("{name}=\"{value}\"")
}

/// The text so far.
#[derive(Default)]
struct Families(String);

impl Families {
    /// Adds a family of gauges, unless it has no sample. `unit` ends its name.
    fn family(&mut self, name: &str, unit: &str, help: &str, fill: impl FnOnce(&mut Vec<Sample>)) {
        let mut samples = Vec::new();
        fill(&mut samples);
        if samples.is_empty() {
            return;
        }
        let name = match unit {
            "" => format!("syscost_{name}"),
            unit => format!("syscost_{name}_{unit}"),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "# HELP {name} {help}.\n# TYPE {name} gauge");
        if !unit.is_empty() {
            let _ = writeln!(self.0, "# UNIT {name} {unit}");
        }
        for (labels, value) in samples {
            let labels = match labels.join(",") {
                none if none.is_empty() => none,
                some => format!("{{{some}}}"),
            };
            // Debug formatting writes the shortest digits that read back the same, with an exponent
            // for tiny numbers.
            let _ = writeln!(self.0, "{name}{labels} {value:?}");
        }
    }

    /// Adds a family of one sample.
    fn single(&mut self, name: &str, unit: &str, help: &str, labels: Vec<Label>, value: f64) {
        self.family(name, unit, help, |samples| samples.push((labels, value)));
    }

    fn finish(self) -> String {
        self.0 + "# EOF\n"
    }
}
