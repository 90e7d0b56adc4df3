//! Finds the figure of the same row in another run.

use std::collections::HashMap;

use crate::run::{NfsServer, Peer};
use crate::{Better, Measurement, Role, Run, Status, Unit, directory, row_name};

/// The figure of a row in another run, in the row's unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beside {
    /// Its median.
    pub median: f64,
    /// Lower end of its 95 % confidence interval; `None` if it has none.
    pub low: Option<f64>,
    /// Upper end of it.
    pub high: Option<f64>,
    /// How many times as fast as the other run's the clock of the row's own core was; `None` if
    /// either frequency is not known, or if the figure is neither a time nor a rate.
    pub clock: Option<f64>,
    /// Whether this figure and the row's own are prices of one kind: both own, or both in company.
    /// Others have no ratio.
    pub is_of_one_kind: bool,
}

/// Runs whose cores' frequencies differ by less than this share ran at the same one.
const SAME_CLOCK: f64 = 0.005;

impl Beside {
    /// How many times this figure the row's own is; `None` where either is not above zero, or one is
    /// an own price and the other one in company.
    pub fn ratio(&self, row: &Measurement) -> Option<f64> {
        let own = row.estimate.median.filter(|own| *own > 0.0)?;
        let ratio = own / self.median;
        (self.is_of_one_kind && self.median > 0.0 && ratio.is_finite()).then_some(ratio)
    }

    /// Whether the two intervals have no value in common. Not if either is not known, nor of prices of
    /// two kinds.
    ///
    /// A core's frequency wanders between runs of an unchanged machine, and which part of a cost
    /// is core cycles is not known here: the other run's interval is all from where it would lie
    /// if none of the cost were to where it would lie at the row's own frequency if all were.
    pub fn is_apart(&self, row: &Measurement) -> bool {
        let own = row.estimate.ci95_low.zip(row.estimate.ci95_high);
        let other = self.low.zip(self.high);
        let known = own.zip(other).filter(|_| self.is_of_one_kind);
        known.is_some_and(|((low, high), (other_low, other_high))| {
            let factor = self.clock.map_or(1.0, |clock| match row.unit {
                Unit::Nanoseconds => clock.recip(),
                _ => clock,
            });
            high < other_low.min(other_low * factor) || other_high.max(other_high * factor) < low
        })
    }

    /// Whether the two cores ran at different frequencies, as far as known.
    pub fn is_of_another_clock(&self) -> bool {
        self.clock
            .is_some_and(|clock| (clock - 1.0).abs() > SAME_CLOCK)
    }

    /// Whether the row's own figure is the better one.
    pub fn is_better(&self, row: &Measurement) -> bool {
        let own = row.estimate.median;
        own.is_some_and(|own| match row.better {
            Better::Lower => own < self.median,
            Better::Higher => own > self.median,
        })
    }
}

/// The figures of another run, found by the names of their rows.
#[derive(Debug)]
pub struct Figures<'r> {
    run: &'r Run,
    rows: HashMap<(&'r str, u32), &'r Measurement>,
}

impl<'r> Figures<'r> {
    /// Those of this run; of rows with one name and definition that of the first.
    pub fn of(run: &'r Run) -> Self {
        let mut rows = HashMap::new();
        for row in &run.measurements {
            rows.entry((&*row.name, row.revision)).or_insert(row);
        }
        Self { run, rows }
    }

    /// The figure of a row of `run`: with the same definition and unit. A row that refers to a part of its
    /// machine ([`is_of_one_machine`]) has no figure in a run of another machine, or if the name means
    /// another part there.
    pub fn beside(&self, row: &Measurement, run: &Run) -> Option<Beside> {
        let same = self.rows.get(&(&*row.name, row.revision))?;
        figure(row, same, run, self.run)
    }
}

fn figure(row: &Measurement, same: &Measurement, run: &Run, other: &Run) -> Option<Beside> {
    let is_comparable = !is_of_one_machine(row) || are_of_one_part(row, run, other);
    Some(Beside {
        median: figure_of(same, row.unit).filter(|_| is_comparable)?,
        low: same.estimate.ci95_low,
        high: same.estimate.ci95_high,
        clock: clock(run, other).filter(|_| row.unit.is_timed()),
        is_of_one_kind: row.is_in_company() == same.is_in_company(),
    })
}

/// How many times as fast as the other run's the core of a run was clocked; `None` if either
/// frequency is not known.
pub(crate) fn clock(run: &Run, other: &Run) -> Option<f64> {
    let clock = run.core_ghz? / other.core_ghz?;
    (clock > 0.0 && clock.is_finite()).then_some(clock)
}

/// The median of a row that has a number in this unit.
pub fn figure_of(row: &Measurement, unit: Unit) -> Option<f64> {
    let has_it = row.status == Status::Ok && row.unit == unit;
    row.estimate.median.filter(|_| has_it)
}

/// Whether a row means something else on another machine, because it depends on a directory, on the
/// distance between two CPUs, on the far end or on the NFS server.
pub fn is_of_one_machine(row: &Measurement) -> bool {
    let mut parameters = row_name::parameters(&row.name);
    parameters.any(|(key, value)| match key {
        directory::KEY => true,
        "path" => value == "remote",
        // Some benchmarks have words instead of numbers: `from=heap`, `cpu=idle`.
        "cpu" | "against" | "from" | "to" | "cpu_node" | "memory_node" => {
            value.parse::<u32>().is_ok()
        }
        _ => false,
    }) || row.is(Role::NfsServer)
}

/// Whether a row refers to the same part of the same machine in both runs.
fn are_of_one_part(row: &Measurement, run: &Run, other: &Run) -> bool {
    let storage = |run: &Run| directory::of(run, &row.name).map(directory::Directory::storage);
    let far_end = |run: &Run| {
        let peer = run.peer.as_ref();
        peer.map(|peer| Peer::host_of(&peer.address).to_owned())
    };
    let server = |run: &Run| {
        let server = run.nfs.as_ref();
        server.map(|server| NfsServer::place_of(&server.export))
    };
    let is_remote = row_name::parameters(&row.name).any(|one| one == ("path", "remote"));
    run.machine.is_same_as(&other.machine)
        && storage(run) == storage(other)
        && (!is_remote || far_end(run) == far_end(other))
        && (!row.is(Role::NfsServer) || server(run) == server(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Directory;
    use crate::fixture::{of_role, row, run};

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
        let figures = Figures::of(other);
        rows.filter(|row| figures.beside(row, run).is_some())
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
            assert!(!is_of_one_machine(&row(name, Vec::new())), "{name}");
        }
        for name in [
            OF_A_PAIR,
            "timing.noise{cpu=0}",
            "memory.latency{cpu_node=0,memory_node=1}",
        ] {
            assert!(is_of_one_machine(&row(name, Vec::new())), "{name}");
        }
        assert!(is_of_one_machine(&of_role(Role::NfsServer, "null", 1.0)));
    }

    #[test]
    fn a_row_is_apart_from_a_figure_where_no_interval_has_both() {
        let mut own = row(OF_ANY, vec![vec![1.0]; 6]);
        let estimate = &mut own.estimate;
        estimate.median = Some(10.0);
        (estimate.ci95_low, estimate.ci95_high) = (Some(9.0), Some(11.0));
        let beside = |median, low, high| Beside {
            median,
            low,
            high,
            clock: None,
            is_of_one_kind: true,
        };
        for (other, ratio, is_apart, is_better) in [
            (beside(20.0, Some(19.0), Some(21.0)), Some(0.5), true, true),
            (beside(5.0, Some(4.0), Some(8.0)), Some(2.0), true, false),
            // They touch, or one lies within the other.
            (beside(8.0, Some(7.0), Some(9.0)), Some(1.25), false, false),
            (beside(20.0, Some(8.0), Some(50.0)), Some(0.5), false, true),
            (beside(20.0, None, None), Some(0.5), false, true),
            (beside(0.0, Some(0.0), Some(0.0)), None, true, false),
            (beside(f64::NAN, Some(f64::NAN), None), None, false, false),
        ] {
            assert_eq!(other.ratio(&own), ratio, "{other:?}");
            assert_eq!(other.is_apart(&own), is_apart, "{other:?}");
            assert_eq!(other.is_better(&own), is_better, "{other:?}");
        }
        let rate = Measurement {
            better: Better::Higher,
            ..own
        };
        assert!(beside(5.0, None, None).is_better(&rate));
        assert!(!beside(5.0, None, None).is_better(&Measurement::default()));
    }

    #[test]
    fn an_own_price_and_one_in_company_have_no_ratio() {
        let own = on("a", "vda");
        let mut company = own.clone();
        let others = company.measurements.iter_mut();
        others.for_each(|row| row.flags = vec![crate::Flag::Disturbed]);
        for (run, other, ratio) in [
            (&own, &own, Some(1.0)),
            (&company, &company, Some(1.0)),
            (&own, &company, None),
            (&company, &own, None),
        ] {
            let row = &run.measurements[2];
            let figure = Figures::of(other)
                .beside(row, run)
                .expect("it has a number");
            assert_eq!((figure.median, figure.ratio(row)), (1.0, ratio));
            assert!(!figure.is_apart(row));
        }
    }

    #[test]
    fn what_another_frequency_explains_is_not_apart() {
        let with = |unit, [median, low, high]: [f64; 3]| {
            let mut row = row(OF_ANY, vec![vec![median]; 6]);
            (row.unit, row.estimate.median) = (unit, Some(median));
            (row.estimate.ci95_low, row.estimate.ci95_high) = (Some(low), Some(high));
            row
        };
        let (time, rate) = (Unit::Nanoseconds, Unit::BytesPerSecond);
        // The own core is clocked a fifth faster than the other run's, where the figure is 100 ± 1.
        for (unit, median, clock, is_apart) in [
            (time, 100.0 / 1.2, None, true),
            (time, 100.0 / 1.2, Some(1.2), false),
            // It is partly core cycles.
            (time, 92.0, Some(1.2), false),
            (time, 100.0, Some(1.2), false),
            (time, 75.0, Some(1.2), true),
            (time, 110.0, Some(1.2), true),
            (rate, 120.0, None, true),
            (rate, 120.0, Some(1.2), false),
            (rate, 110.0, Some(1.2), false),
            (rate, 130.0, Some(1.2), true),
            (rate, 90.0, Some(1.2), true),
        ] {
            let own = with(unit, [median, median - 1.0, median + 1.0]);
            let other = Beside {
                median: 100.0,
                low: Some(99.0),
                high: Some(101.0),
                clock,
                is_of_one_kind: true,
            };
            assert_eq!(
                other.is_apart(&own),
                is_apart,
                "{unit:?} {median} {clock:?}"
            );
        }
    }

    #[test]
    fn a_figure_knows_how_the_cores_were_clocked_where_that_matters() {
        let clocked = |ghz| Run {
            core_ghz: ghz,
            ..on("here", "/dev/vda")
        };
        let of = |own, other, unit| {
            let mut runs = [clocked(own), clocked(other)];
            runs.iter_mut()
                .for_each(|run| run.measurements[0].unit = unit);
            let [run, other] = &runs;
            let figure = Figures::of(other).beside(&run.measurements[0], run);
            figure.and_then(|figure| figure.clock)
        };
        let time = Unit::Nanoseconds;
        assert_eq!(of(Some(3.0), Some(2.0), time), Some(1.5));
        assert_eq!(of(Some(3.0), Some(2.0), Unit::Percent), None);
        for (own, other) in [
            (None, Some(2.0)),
            (Some(3.0), Some(0.0)),
            (Some(f64::NAN), Some(2.0)),
        ] {
            assert_eq!(of(own, other, time), None, "{own:?} {other:?}");
        }
        for (clock, is_another) in [(None, false), (Some(1.004), false), (Some(0.99), true)] {
            let figure = Beside {
                median: 1.0,
                low: None,
                high: None,
                clock,
                is_of_one_kind: true,
            };
            assert_eq!(figure.is_of_another_clock(), is_another, "{clock:?}");
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
