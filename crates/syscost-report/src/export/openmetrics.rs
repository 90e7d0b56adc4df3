//! OpenMetrics text, also for the Prometheus node exporter's textfile collector.
//!
//! That collector reads the older Prometheus text format, in which `# UNIT` and `# EOF` are mere
//! comments, but the type `info` and timestamps are errors. So everything here is a gauge without a
//! timestamp, which both kinds of reader accept.
//!
//! A series lasts as long as what it is of: a value's labels say which host, which row and which
//! revision of it, and what the user called the machine. What may be different in every run (flags,
//! evidence, status, reason) labels series of its own, so that no value ever moves to another series.

mod families;

use syscost_results::document::DigestRow;
use syscost_results::run::Noise;
use syscost_results::{Run, Status, Unit};

use super::columns::{flags, word};
use super::{ExportError, Record, started_us};

pub use families::{Families, Labels};

/// A number of a row, with the suffix of its families' names and the words for their help.
type Statistic = (&'static str, &'static str, fn(&Record) -> Option<f64>);

const STATISTICS: [Statistic; 6] = [
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
        "median over rounds while the core was shared: the price in company",
        |record| record.estimate.shared_median,
    ),
    (
        "shared_ci95_low",
        "lower end of the 95 % confidence interval of the price in company",
        |record| record.estimate.shared_ci95_low,
    ),
    (
        "shared_ci95_high",
        "upper end of the 95 % confidence interval of the price in company",
        |record| record.estimate.shared_ci95_high,
    ),
];

/// A base unit: its name, with which families' names end (counts have none); what is in it, for their
/// help; and the units that convert to it, with factor and divisor. Both are needed, as a division by
/// 1e9 rounds once and a product with 1e-9 twice.
type Base = (&'static str, &'static str, &'static [(Unit, f64, f64)]);

const BASES: [Base; 8] = [
    (
        "seconds",
        "Time of one operation",
        &[(Unit::Nanoseconds, 1.0, 1e9)],
    ),
    ("bytes", "Size", &[(Unit::Bytes, 1.0, 1.0)]),
    (
        "bytes_per_second",
        "Bandwidth",
        &[(Unit::BytesPerSecond, 1.0, 1.0)],
    ),
    (
        "operations_per_second",
        "Throughput",
        &[(Unit::OperationsPerSecond, 1.0, 1.0)],
    ),
    (
        "flops_per_second",
        "Floating-point throughput",
        &[(Unit::FlopsPerSecond, 1.0, 1.0)],
    ),
    ("hertz", "Frequency", &[(Unit::Gigahertz, 1e9, 1.0)]),
    (
        "ratio",
        "Ratio, or share with 1 for 100 %",
        &[(Unit::Ratio, 1.0, 1.0), (Unit::Percent, 1.0, 100.0)],
    ),
    ("", "Count", &[(Unit::Count, 1.0, 1.0)]),
];

/// A run, and the labels that its series have in common: the host, and what the user called it.
struct Exported<'a> {
    run: &'a Run,
    /// When it began, in seconds since 1970.
    started: f64,
    labels: Labels,
    rows: Vec<Row>,
}

/// A row with the labels of its series.
struct Row {
    record: Record,
    labels: Labels,
    is_beyond_doubt: bool,
}

impl<'a> Exported<'a> {
    fn new(run: &'a Run) -> Result<Self, ExportError> {
        let started = started_us(&run.id, &run.started)? as f64 / 1e6;
        let mut labels = Labels::default().with("host", &run.machine.hostname);
        let own = run.config.labels.iter().filter(|(key, _)| is_safe(key));
        for (key, value) in own {
            labels = labels.with(&format!("label_{key}"), value);
        }
        let rows = run.measurements.iter().map(|row| {
            let record = Record::new(run, row);
            Row {
                labels: labels_of(&labels, &record),
                record,
                is_beyond_doubt: DigestRow::from(row).is_beyond_doubt(),
            }
        });
        Ok(Exported {
            started,
            rows: rows.collect(),
            labels,
            run,
        })
    }
}

/// The labels that identify a row: its name and, for selecting, the parts of it. Another revision
/// measures something else, so it is another series.
fn labels_of(run: &Labels, record: &Record) -> Labels {
    let mut labels = run
        .clone()
        .with("name", &record.name)
        .with("group", &record.group)
        .with("operation", &record.operation)
        .with("revision", &record.revision.to_string());
    // The row's name still contains a parameter that gets no label.
    for (key, value) in record.case.iter().filter(|(key, _)| is_safe(key)) {
        labels = labels.with(&format!("case_{key}"), value);
    }
    labels
}

/// Whether a key can be part of a label's name.
fn is_safe(key: &str) -> bool {
    key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// The rows of runs as gauges in base units, and gauges on the runs themselves. Each run is of
/// another host: two of one host would be the same series.
///
/// A row without a number has no sample in the number families, but one with its reason in
/// `syscost_without_number`.
///
/// # Errors
/// [`ExportError::Started`] if a run's start is not a valid time.
pub fn to_openmetrics(runs: &[&Run]) -> Result<String, ExportError> {
    let runs = runs.iter().map(|run| Exported::new(run));
    let runs = runs.collect::<Result<Vec<_>, ExportError>>()?;
    let mut text = Families::default();
    about_runs(&mut text, &runs);
    for (base, of, units) in BASES {
        for (statistic, help, number) in STATISTICS {
            let help = format!("{of}, {help}");
            text.family(statistic, base, &help, |add| {
                for Row { record, labels, .. } in rows(&runs) {
                    let unit = units.iter().find(|(unit, ..)| *unit == record.unit);
                    if let Some(((_, times, by), value)) = unit.zip(number(record)) {
                        add(labels, value * times / by);
                    }
                }
            });
        }
    }
    let help = "Share of a row's samples that nothing disturbed";
    text.family("undisturbed", "ratio", help, |add| {
        for Row { record, labels, .. } in rows(&runs) {
            if let Some(percent) = record.estimate.undisturbed_percent {
                add(labels, percent / 100.0);
            }
        }
    });
    let help =
        "Up to how many times the ratio of an own core a row's samples count as taken on one";
    text.family("sharing_limit", "ratio", help, |add| {
        for Row { record, labels, .. } in rows(&runs) {
            if let Some(sharing) = record.sharing {
                add(labels, sharing.limit);
            }
        }
    });
    let help = "Whether a row's number can be held against others: measured, confirmed, and not flagged for its samples";
    text.family("beyond_doubt", "", help, |add| {
        for row in rows(&runs).filter(|row| row.record.status.has_figures()) {
            add(&row.labels, f64::from(u8::from(row.is_beyond_doubt)));
        }
    });
    let help = "What is to be known of a row, in the labels";
    text.family("row_info", "", help, |add| {
        for Row { record, labels, .. } in rows(&runs) {
            let labels = labels
                .clone()
                .with("status", &word(&record.status))
                .with("evidence", &word(&record.mark()))
                .with("flags", &flags(record));
            add(&labels, 1.0);
        }
    });
    let help = "Rows without a number, and why";
    text.family("without_number", "", help, |add| {
        for Row { record, labels, .. } in rows(&runs) {
            if record.status != Status::Ok {
                let labels = labels
                    .clone()
                    .with("status", &word(&record.status))
                    .with("reason", record.reason.as_deref().unwrap_or(""));
                add(&labels, 1.0);
            }
        }
    });
    Ok(text.finish())
}

fn rows<'a>(runs: &'a [Exported<'_>]) -> impl Iterator<Item = &'a Row> {
    runs.iter().flat_map(|one| &one.rows)
}

fn about_runs(text: &mut Families, runs: &[Exported<'_>]) {
    let help = "What was measured, in the labels";
    text.family("run_info", "", help, |add| {
        for Exported { run, labels, .. } in runs {
            let machine = &run.machine;
            let or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
            let labels = labels
                .clone()
                .with("run", &run.id)
                .with("version", &run.tool.version)
                .with("profile", &run.config.profile)
                .with("cpu_model", &machine.cpu_model)
                .with("microcode", &or_empty(&machine.microcode))
                .with("product", &or_empty(&machine.product))
                .with("firmware", &or_empty(&machine.firmware))
                .with("kernel", &machine.kernel)
                .with(
                    "hypervisor",
                    machine.hypervisor.written().unwrap_or_default(),
                )
                .with("clock", &run.clock.source);
            add(&labels, 1.0);
        }
    });
    let mut of_each = |name, unit, help, number: fn(&Exported<'_>) -> f64| {
        text.family(name, unit, help, |add| {
            for one in runs {
                add(&one.labels, number(one));
            }
        });
    };
    let help = "When the run began, since 1970";
    of_each("run_start_timestamp", "seconds", help, |one| one.started);
    let help = "How long the run took";
    of_each("run_duration", "seconds", help, |one| one.run.duration_s);
    let help = "Whether every row got its minimum number of rounds";
    of_each("run_complete", "", help, |one| {
        f64::from(u8::from(one.run.complete))
    });
    text.family("rows", "", "Rows of the run by status", |add| {
        for one in runs {
            for status in Status::ALL {
                let rows = one.rows.iter();
                let count = rows.filter(|row| row.record.status == status).count();
                let labels = one.labels.clone().with("status", &word(&status));
                add(&labels, count as f64);
            }
        }
    });
    let mut of_cores = |name, help, percent: fn(&Noise) -> Option<f64>| {
        text.family(name, "ratio", help, |add| {
            for one in runs {
                for noise in &one.run.noise {
                    if let Some(percent) = percent(noise) {
                        let labels = one.labels.clone().with("cpu", &noise.cpu.to_string());
                        add(&labels, percent / 100.0);
                    }
                }
            }
        });
    };
    let help = "Share of the probes of the core that found nobody else on it, as the run began";
    of_cores("core_alone", help, |noise| noise.alone_percent);
    let help = "How much longer independent instructions took while the core was shared";
    of_cores("core_shared_slowdown", help, |noise| {
        noise.shared_slowdown_percent
    });
}
