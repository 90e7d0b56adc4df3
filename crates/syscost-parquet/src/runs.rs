//! The table `runs`: one line per run.

use syscost_report::export::ExportError;
use syscost_results::run::{Noise, core_ours};
use syscost_results::{Run, Status};

use crate::column::{Columns, Table};
use crate::json;

/// The table of these runs.
pub(super) fn table(runs: &[&Run]) -> Result<Table, ExportError> {
    Columns::of(runs, |run| &run.id)
        .text("run", |run| Some(run.id.clone()))
        .time("started", |run| run.started.clone())
        .double("duration_s", |run| Some(run.duration_s))
        .bool("complete", |run| Some(run.complete))
        .text("version", |run| Some(run.tool.version.clone()))
        .int("schema_version", |run| Some(run.schema_version))
        .text("profile", |run| Some(run.config.profile.clone()))
        .text("hostname", |run| Some(run.machine.hostname.clone()))
        .text("arch", |run| Some(run.machine.arch.clone()))
        .text("cpu_model", |run| Some(run.machine.cpu_model.clone()))
        .text("cpu_vendor", |run| run.machine.cpu_vendor.clone())
        .text("cpu_signature", |run| run.machine.cpu_signature.clone())
        .text("microcode", |run| run.machine.microcode.clone())
        .int("cpus_online", |run| Some(run.machine.cpus_online))
        .int("cores", |run| run.machine.cores)
        .int("sockets", |run| run.machine.sockets)
        .bool("smt", |run| run.machine.smt)
        .int("numa_nodes", |run| run.machine.numa_nodes)
        .long("memory_bytes", |run| run.machine.memory_bytes)
        .text("kernel", |run| Some(run.machine.kernel.clone()))
        .text("kernel_version", |run| run.machine.kernel_version.clone())
        .text("distribution", |run| run.machine.distribution.clone())
        .text("hypervisor", |run| {
            run.machine.hypervisor.written().map(str::to_owned)
        })
        .text("container", |run| {
            run.machine.container.written().map(str::to_owned)
        })
        .text("mitigations", |run| json(&run.machine.mitigations))
        .text("governor", |run| run.machine.governor.clone())
        .bool("turbo", |run| run.machine.turbo)
        .text("libc", |run| Some(run.machine.libc.clone()))
        .text("rustc", |run| Some(run.machine.build.rustc.clone()))
        .text("commit_id", |run| run.machine.build.commit.clone())
        .text("clock_source", |run| Some(run.clock.source.clone()))
        .double("clock_ghz", |run| Some(run.clock.ghz))
        .double("clock_step_ns", |run| Some(run.clock.step_ns))
        .double("clock_read_ns", |run| Some(run.clock.read_ns))
        .double("clock_drift_ppm", |run| run.clock.drift_ppm)
        .double("core_ghz", |run| run.core_ghz)
        .text("cpus", |run| Some(cpus(run)))
        .text("warnings", |run| Some(warnings(run)))
        .int("rows_ok", |run| rows(run, Status::Ok))
        .int("rows_below_resolution", |run| {
            rows(run, Status::BelowResolution)
        })
        .int("rows_above_range", |run| rows(run, Status::AboveRange))
        .int("rows_withheld", |run| rows(run, Status::Withheld))
        .int("rows_failed", |run| rows(run, Status::Failed))
        .int("rows_unsupported", |run| rows(run, Status::Unsupported))
        .int("rows_skipped", |run| rows(run, Status::Skipped))
        .double("alone_percent", |run| used(run)?.alone_percent)
        .double("shared_slowdown_percent", |run| {
            used(run)?.shared_slowdown_percent
        })
        .text("directories", |run| Some(directories(run)))
        .double("core_ours_percent", |run| core_ours(&run.noise))
        .text("labels", |run| json(&run.config.labels))
        .text("product", |run| run.machine.product.clone())
        .text("firmware", |run| run.machine.firmware.clone())
        .text("kernel_cmdline", |run| run.machine.kernel_cmdline.clone())
        .text("transparent_hugepages", |run| {
            run.machine.transparent_hugepages.clone()
        })
        .table()
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
