//! Finds the figure of the same row in another run.

use crate::run::{NfsServer, Peer};
use crate::{Measurement, Run, Status, Unit, directory, row_name};

/// The figure of a row of `run` in another run: with the same definition and unit. A row that
/// refers to a part of its machine ([`is_of_one_machine`]) has no figure in a run of another
/// machine, or if the name means another part there.
pub fn figure(row: &Measurement, run: &Run, other: &Run) -> Option<f64> {
    let is_same = |other: &&Measurement| other.name == row.name && other.revision == row.revision;
    let same = other.measurements.iter().find(is_same)?;
    let is_comparable = !is_of_one_machine(&row.name) || are_of_one_part(&row.name, run, other);
    figure_of(same, row.unit).filter(|_| is_comparable)
}

/// The median of a row that has a number in this unit.
pub fn figure_of(row: &Measurement, unit: Unit) -> Option<f64> {
    let has_it = row.status == Status::Ok && row.unit == unit;
    row.estimate.median.filter(|_| has_it)
}

/// Whether a row with this name means something else on another machine, because it depends on a
/// directory, on the distance between two CPUs, on the far end or on the NFS server.
pub fn is_of_one_machine(name: &str) -> bool {
    let mut parameters = row_name::parameters(name);
    parameters.any(|(key, value)| match key {
        directory::KEY => true,
        "path" => value == "remote",
        // Some benchmarks have words instead of numbers: `from=heap`, `cpu=idle`.
        "cpu" | "against" | "from" | "to" | "cpu_node" | "memory_node" => {
            value.parse::<u32>().is_ok()
        }
        _ => false,
    }) || is_of_nfs(name)
}

fn is_of_nfs(name: &str) -> bool {
    row_name::id(name) == "fs.nfs"
}

/// Whether a row with this name refers to the same part of the same machine in both runs.
fn are_of_one_part(name: &str, run: &Run, other: &Run) -> bool {
    let storage = |run: &Run| directory::of(run, name).map(directory::Directory::storage);
    let far_end = |run: &Run| {
        let peer = run.peer.as_ref();
        peer.map(|peer| Peer::host_of(&peer.address).to_owned())
    };
    let server = |run: &Run| {
        let server = run.nfs.as_ref();
        server.map(|server| NfsServer::place_of(&server.export))
    };
    let is_remote = row_name::parameters(name).any(|parameter| parameter == ("path", "remote"));
    run.machine.is_same_as(&other.machine)
        && storage(run) == storage(other)
        && (!is_remote || far_end(run) == far_end(other))
        && (!is_of_nfs(name) || server(run) == server(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Directory;
    use crate::fixture::{row, run};

    const OF_A_PAIR: &str = "memory.core_to_core{via=exchange,from=0,to=1}";
    const OF_A_DIRECTORY: &str = "fs.read{dir=default,size=4K}";
    const OF_ANY: &str = "switch.wakeup{via=timer,class=normal,cpu=idle}";

    fn on(hostname: &str, source: &str) -> Run {
        let rows = [OF_A_PAIR, OF_A_DIRECTORY, OF_ANY].map(|name| row(name, vec![vec![1.0]; 6]));
        let mut run = run("r", rows.to_vec());
        run.machine.hostname = hostname.to_owned();
        run.directories = vec![Directory {
            label: "default".to_owned(),
            filesystem: "ext4".to_owned(),
            source: source.to_owned(),
            ..Directory::default()
        }];
        run
    }

    /// The rows that have a figure in the other run.
    fn with_figures<'r>(run: &'r Run, other: &Run) -> Vec<&'r str> {
        let rows = run.measurements.iter();
        rows.filter(|row| figure(row, run, other).is_some())
            .map(|row| row.name.as_str())
            .collect()
    }

    #[test]
    fn a_part_of_one_machine_has_no_figure_of_another() {
        let here = on("here", "/dev/vda");
        assert_eq!(with_figures(&here, &on("there", "/dev/vda")), [OF_ANY]);
        assert_eq!(
            with_figures(&here, &on("here", "/dev/vda")),
            [OF_A_PAIR, OF_A_DIRECTORY, OF_ANY]
        );
        assert_eq!(
            with_figures(&here, &on("here", "/dev/vdb")),
            [OF_A_PAIR, OF_ANY]
        );
        // A machine without a name may be any machine.
        let unnamed = on("", "/dev/vda");
        assert_eq!(with_figures(&unnamed, &unnamed), [OF_ANY]);
    }

    #[test]
    fn a_far_end_is_a_part_of_the_machine() {
        let name = "net.tcp.connect{path=remote,step=reset}";
        let with = |address: &str| {
            let mut run = on("here", "/dev/vda");
            run.measurements = vec![row(name, vec![vec![1.0]; 6])];
            run.peer = Some(Box::new(Peer {
                name: "db1".to_owned(),
                address: address.to_owned(),
                version: "0.1.0".to_owned(),
                machine: run.machine.clone(),
            }));
            run
        };
        let here = with("10.0.0.1:7717");
        assert_eq!(with_figures(&here, &with("10.0.0.1:8000")), [name]);
        assert_eq!(with_figures(&here, &with("10.0.0.2:7717")), [""; 0]);
    }

    #[test]
    fn words_in_place_of_numbers_mean_the_same_everywhere() {
        for name in [OF_ANY, "memory.malloc{size=16,from=heap}", "op.ramp_up"] {
            assert!(!is_of_one_machine(name), "{name}");
        }
        for name in [
            OF_A_PAIR,
            "timing.noise{cpu=0}",
            "fs.nfs{op=null}",
            "memory.latency{cpu_node=0,memory_node=1}",
        ] {
            assert!(is_of_one_machine(name), "{name}");
        }
    }

    #[test]
    fn another_definition_unit_or_status_has_no_figure() {
        let here = on("here", "/dev/vda");
        let changed = |change: fn(&mut Measurement)| {
            let mut other = here.clone();
            other.measurements.iter_mut().for_each(change);
            with_figures(&here, &other).len()
        };
        assert_eq!(changed(|_| ()), 3);
        assert_eq!(changed(|row| row.revision += 1), 0);
        assert_eq!(changed(|row| row.unit = Unit::Count), 0);
        assert_eq!(changed(|row| row.status = Status::Withheld), 0);
    }
}
