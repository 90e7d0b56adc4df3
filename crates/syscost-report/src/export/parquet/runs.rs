//! The table `runs`: one line per run.

use syscost_results::run::Noise;
use syscost_results::{Machine, Run, Status};

use super::writer::{Table, Values};
use super::{ExportError, collect, fitting, started_us};

/// The table of these runs.
pub(super) fn table(runs: &[&Run]) -> Result<Table, ExportError> {
    let text = |of: fn(&Run) -> Option<String>| Values::text(runs.iter().map(|run| of(run)));
    let double =
        |of: fn(&Run) -> Option<f64>| Values::Double(runs.iter().map(|run| of(run)).collect());
    let bool =
        |of: fn(&Run) -> Option<bool>| Values::Bool(runs.iter().map(|run| of(run)).collect());
    let count = |name: &'static str, of: fn(&Run) -> Option<u32>| {
        let values = runs.iter().map(|run| {
            of(run)
                .map(|count| fitting(&run.id, name, count.into()))
                .transpose()
        });
        values
            .collect::<Result<_, ExportError>>()
            .map(|values| (name, Values::Int(values)))
    };
    let bytes = |name: &'static str, of: fn(&Run) -> Option<u64>| {
        let values = runs.iter().map(|run| {
            of(run)
                .map(|bytes| fitting(&run.id, name, bytes))
                .transpose()
        });
        values
            .collect::<Result<_, ExportError>>()
            .map(|values| (name, Values::Long(values)))
    };
    let started = collect(runs.iter().map(|run| started_us(&run.id, &run.started)))?;
    Ok(vec![
        ("run", text(|run| Some(run.id.clone()))),
        ("started", Values::Time(started)),
        ("duration_s", double(|run| Some(run.duration_s))),
        ("complete", bool(|run| Some(run.complete))),
        ("version", text(|run| Some(run.tool.version.clone()))),
        count("schema_version", |run| Some(run.schema_version))?,
        ("profile", text(|run| Some(run.config.profile.clone()))),
        ("hostname", text(|run| Some(run.machine.hostname.clone()))),
        ("arch", text(|run| Some(run.machine.arch.clone()))),
        ("cpu_model", text(|run| Some(run.machine.cpu_model.clone()))),
        ("cpu_vendor", text(|run| run.machine.cpu_vendor.clone())),
        (
            "cpu_signature",
            text(|run| run.machine.cpu_signature.clone()),
        ),
        ("microcode", text(|run| run.machine.microcode.clone())),
        count("cpus_online", |run| Some(run.machine.cpus_online))?,
        count("cores", |run| run.machine.cores)?,
        count("sockets", |run| run.machine.sockets)?,
        ("smt", bool(|run| run.machine.smt)),
        count("numa_nodes", |run| run.machine.numa_nodes)?,
        bytes("memory_bytes", |run| run.machine.memory_bytes)?,
        ("kernel", text(|run| Some(run.machine.kernel.clone()))),
        (
            "kernel_version",
            text(|run| run.machine.kernel_version.clone()),
        ),
        ("distribution", text(|run| run.machine.distribution.clone())),
        ("hypervisor", text(|run| run.machine.hypervisor.clone())),
        ("container", text(|run| run.machine.container.clone())),
        ("mitigations", text(|run| Some(mitigations(&run.machine)))),
        ("governor", text(|run| run.machine.governor.clone())),
        ("turbo", bool(|run| run.machine.turbo)),
        ("libc", text(|run| Some(run.machine.libc.clone()))),
        ("rustc", text(|run| Some(run.machine.build.rustc.clone()))),
        ("commit_id", text(|run| run.machine.build.commit.clone())),
        ("clock_source", text(|run| Some(run.clock.source.clone()))),
        ("clock_ghz", double(|run| Some(run.clock.ghz))),
        ("clock_step_ns", double(|run| Some(run.clock.step_ns))),
        ("clock_read_ns", double(|run| Some(run.clock.read_ns))),
        ("clock_drift_ppm", double(|run| run.clock.drift_ppm)),
        ("core_ghz", double(|run| run.core_ghz)),
        ("cpus", text(|run| Some(cpus(run)))),
        ("warnings", text(|run| Some(warnings(run)))),
        count("rows_ok", |run| rows(run, Status::Ok))?,
        count("rows_below_resolution", |run| {
            rows(run, Status::BelowResolution)
        })?,
        count("rows_above_range", |run| rows(run, Status::AboveRange))?,
        count("rows_withheld", |run| rows(run, Status::Withheld))?,
        count("rows_failed", |run| rows(run, Status::Failed))?,
        count("rows_unsupported", |run| rows(run, Status::Unsupported))?,
        count("rows_skipped", |run| rows(run, Status::Skipped))?,
        (
            "alone_percent",
            double(|run| used(run).and_then(|noise| noise.alone_percent)),
        ),
        (
            "shared_slowdown_percent",
            double(|run| used(run).and_then(|noise| noise.shared_slowdown_percent)),
        ),
        ("directories", text(|run| Some(directories(run)))),
    ])
}

/// CPU vulnerabilities and the kernel's mitigation of each, as a JSON object.
fn mitigations(machine: &Machine) -> String {
    let object: serde_json::Map<String, serde_json::Value> = machine
        .mitigations
        .iter()
        .map(|(weakness, answer)| (weakness.clone(), answer.as_str().into()))
        .collect();
    serde_json::Value::Object(object).to_string()
}

/// The CPUs that measured, separated by spaces.
fn cpus(run: &Run) -> String {
    let cpus: Vec<String> = run.config.cpus.iter().map(u32::to_string).collect();
    cpus.join(" ")
}

/// The storage of each directory, by its label, as a JSON object.
fn directories(run: &Run) -> String {
    let directories = run.directories.iter();
    let object: serde_json::Map<String, serde_json::Value> = directories
        .map(|directory| (directory.label.clone(), directory.storage().into()))
        .collect();
    serde_json::Value::Object(object).to_string()
}

/// The noise record of the first CPU that measured.
fn used(run: &Run) -> Option<&Noise> {
    let first = run.config.cpus.first();
    run.noise.iter().find(|noise| Some(&noise.cpu) == first)
}

/// The codes of the warnings, separated by spaces.
fn warnings(run: &Run) -> String {
    let codes: Vec<&str> = run.warnings.iter().map(|warning| &*warning.code).collect();
    codes.join(" ")
}

fn rows(run: &Run, status: Status) -> Option<u32> {
    let count = run.measurements.iter().filter(|row| row.status == status);
    u32::try_from(count.count()).ok()
}
