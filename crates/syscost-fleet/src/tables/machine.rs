//! The facts of machines as columns, the same in every table of runs.

use syscost_report::export::ExportError;
use syscost_results::Machine;

use super::column::{Table, Values};
use super::fitting;

/// The columns of these machines, each with the id of its run.
pub(super) fn columns<'m>(
    machines: impl Iterator<Item = (&'m str, &'m Machine)> + Clone,
) -> Result<Table, ExportError> {
    let all = || machines.clone();
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
        ("hypervisor", text(|one| one.hypervisor.clone().into())),
        ("container", text(|one| one.container.clone().into())),
        ("mitigations", text(|one| super::json(&one.mitigations))),
        ("governor", text(|one| one.governor.clone())),
        ("turbo", bool(|one| one.turbo)),
        ("libc", text(|one| Some(one.libc.clone()))),
    ])
}
