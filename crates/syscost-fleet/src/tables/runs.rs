//! The table `runs` of a fleet: one line per run, all of a [`Digest`] but its rows.

use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use serde::de::DeserializeOwned;
use syscost_report::export::{ExportError, started_us};
use syscost_results::Machine;
use syscost_results::document::Digest;
use syscost_results::run::Tool;

use super::column::{Group, Table, Values};
use super::{fitting, json, machine};
use crate::facts::core_ours;

/// The line of a run.
pub(super) fn table(digest: &Digest) -> Result<Table, ExportError> {
    let text = |text: Option<String>| Values::text(std::iter::once(text));
    let machine = &digest.machine;
    let started = started_us(&digest.id, &digest.started)?;
    let version = fitting(&digest.id, "schema_version", digest.schema_version.into())?;
    let mut table = vec![
        ("run", text(Some(digest.id.clone()))),
        ("started", Values::Time(vec![Some(started)])),
        ("duration_s", Values::Double(vec![Some(digest.duration_s)])),
        ("complete", Values::Bool(vec![Some(digest.complete)])),
        ("version", text(Some(digest.tool.version.clone()))),
        ("schema_version", Values::Int(vec![Some(version)])),
        ("profile", text(Some(digest.config.profile.clone()))),
    ];
    table.extend(machine::columns(std::iter::once((&*digest.id, machine)))?);
    table.extend([
        ("product", text(machine.product.clone())),
        ("firmware", text(machine.firmware.clone())),
        ("kernel_cmdline", text(machine.kernel_cmdline.clone())),
        (
            "transparent_hugepages",
            text(machine.transparent_hugepages.clone()),
        ),
        ("core_ghz", Values::Double(vec![digest.core_ghz])),
        (
            "core_ours_percent",
            Values::Double(vec![core_ours(&digest.noise)]),
        ),
        ("labels", text(json(&digest.config.labels))),
        // What has no column of its own, for whoever asks for it, and for reading the run back.
        ("machine", text(json(machine))),
        ("config", text(json(&digest.config))),
        ("noise", text(json(&digest.noise))),
        ("warnings", text(json(&digest.warnings))),
    ]);
    Ok(table)
}

/// The runs of a row group, without their rows.
pub(super) fn digests(group: &Group<'_>) -> Result<Vec<Digest>, ParquetError> {
    let ids = group.column::<ByteArrayType>("run")?;
    let mut started = group.column::<Int64Type>("started")?.into_iter();
    let mut durations = group.column::<DoubleType>("duration_s")?.into_iter();
    let mut complete = group.column::<BoolType>("complete")?.into_iter();
    let mut versions = group.column::<ByteArrayType>("version")?.into_iter();
    let mut schemas = group.column::<Int32Type>("schema_version")?.into_iter();
    let mut core_ghz = group.column::<DoubleType>("core_ghz")?.into_iter();
    let mut hosts = group.column::<ByteArrayType>("hostname")?.into_iter();
    let mut machines = group.column::<ByteArrayType>("machine")?.into_iter();
    let mut configs = group.column::<ByteArrayType>("config")?.into_iter();
    let mut noises = group.column::<ByteArrayType>("noise")?.into_iter();
    let mut warnings = group.column::<ByteArrayType>("warnings")?.into_iter();
    let mut digests = Vec::with_capacity(ids.len());
    for id in ids {
        let started = present("started", started.next())?;
        let started = jiff::Timestamp::from_microsecond(started).map_err(external)?;
        let schema = present("schema_version", schemas.next())?;
        digests.push(Digest {
            schema_version: u32::try_from(schema).map_err(external)?,
            tool: Tool {
                name: "syscost".to_owned(),
                version: text("version", versions.next())?,
            },
            id: text("run", Some(id))?,
            started: started.to_string(),
            duration_s: present("duration_s", durations.next())?,
            complete: present("complete", complete.next())?,
            machine: Machine {
                hostname: text("hostname", hosts.next())?,
                ..parsed("machine", machines.next())?
            },
            core_ghz: core_ghz.next().flatten(),
            noise: parsed("noise", noises.next())?,
            config: parsed("config", configs.next())?,
            warnings: parsed("warnings", warnings.next())?,
            rows: Vec::new(),
        });
    }
    Ok(digests)
}

fn present<T>(column: &str, value: Option<Option<T>>) -> Result<T, ParquetError> {
    let lacks = || ParquetError::General(format!("a run has no {column}"));
    value.flatten().ok_or_else(lacks)
}

fn text(column: &str, value: Option<Option<ByteArray>>) -> Result<String, ParquetError> {
    Ok(present(column, value)?.as_utf8()?.to_owned())
}

fn parsed<T: DeserializeOwned>(
    column: &str,
    value: Option<Option<ByteArray>>,
) -> Result<T, ParquetError> {
    serde_json::from_slice(present(column, value)?.data()).map_err(external)
}

fn external(cause: impl std::error::Error + Send + Sync + 'static) -> ParquetError {
    ParquetError::External(Box::new(cause))
}
