//! The table `runs`: one line per run.

use syscost_report::export::{ExportError, started_us};
use syscost_results::run::{Noise, core_ours};
use syscost_results::{Machine, Run, Status};

use crate::column::{Table, Values};
use crate::{collect, fitting, json};

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
    let started = collect(runs.iter().map(|run| started_us(&run.id, &run.started)))?;
    let mut table = vec![
        ("run", text(|run| Some(run.id.clone()))),
        ("started", Values::Time(started)),
        ("duration_s", double(|run| Some(run.duration_s))),
        ("complete", bool(|run| Some(run.complete))),
        ("version", text(|run| Some(run.tool.version.clone()))),
        count("schema_version", |run| Some(run.schema_version))?,
        ("profile", text(|run| Some(run.config.profile.clone()))),
    ];
    table.extend(of_machines(runs)?);
    table.extend([
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
        ("core_ours_percent", double(|run| core_ours(&run.noise))),
        ("labels", text(|run| json(&run.config.labels))),
        ("product", text(|run| run.machine.product.clone())),
        ("firmware", text(|run| run.machine.firmware.clone())),
        (
            "kernel_cmdline",
            text(|run| run.machine.kernel_cmdline.clone()),
        ),
        (
            "transparent_hugepages",
            text(|run| run.machine.transparent_hugepages.clone()),
        ),
    ]);
    Ok(table)
}

/// The columns of the machines.
fn of_machines(runs: &[&Run]) -> Result<Table, ExportError> {
    let all = || runs.iter().map(|run| (&*run.id, &run.machine));
    let text = |of: fn(&Machine) -> Option<String>| Values::text(all().map(|(_, one)| of(one)));
    let bool =
        |of: fn(&Machine) -> Option<bool>| Values::Bool(all().map(|(_, one)| of(one)).collect());
    let count = |name: &'static str, of: fn(&Machine) -> Option<u32>| {
        let fit = |(run, one)| of(one).map(|count| fitting(run, name, count.into()));
        let values = all().map(|one| fit(one).transpose());
        values
            .collect::<Result<_, ExportError>>()
            .map(|values| (name, Values::Int(values)))
    };
    let memory = all().map(|(run, one)| {
        let bytes = one.memory_bytes;
        bytes
            .map(|bytes| fitting(run, "memory_bytes", bytes))
            .transpose()
    });
    Ok(vec![
        ("hostname", text(|one| Some(one.hostname.clone()))),
        ("arch", text(|one| Some(one.arch.clone()))),
        ("cpu_model", text(|one| Some(one.cpu_model.clone()))),
        ("cpu_vendor", text(|one| one.cpu_vendor.clone())),
        ("cpu_signature", text(|one| one.cpu_signature.clone())),
        ("microcode", text(|one| one.microcode.clone())),
        count("cpus_online", |one| Some(one.cpus_online))?,
        count("cores", |one| one.cores)?,
        count("sockets", |one| one.sockets)?,
        ("smt", bool(|one| one.smt)),
        count("numa_nodes", |one| one.numa_nodes)?,
        (
            "memory_bytes",
            Values::Long(memory.collect::<Result<_, _>>()?),
        ),
        ("kernel", text(|one| Some(one.kernel.clone()))),
        ("kernel_version", text(|one| one.kernel_version.clone())),
        ("distribution", text(|one| one.distribution.clone())),
        (
            "hypervisor",
            text(|one| one.hypervisor.written().map(str::to_owned)),
        ),
        (
            "container",
            text(|one| one.container.written().map(str::to_owned)),
        ),
        ("mitigations", text(|one| json(&one.mitigations))),
        ("governor", text(|one| one.governor.clone())),
        ("turbo", bool(|one| one.turbo)),
        ("libc", text(|one| Some(one.libc.clone()))),
    ])
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
