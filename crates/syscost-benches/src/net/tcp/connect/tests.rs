//! How connections end, and which ends do not belong to a step.

use super::*;

fn path(family: Family) -> Route {
    let case = Case::new([(Path::KEY, Path::LOOPBACK), (Family::KEY, family.name())]);
    Route::of(&case, &Targets::default()).unwrap()
}

#[test]
fn each_step_ends_as_it_should_and_none_is_missed() {
    let Ok(cpus) = syscost_sys::cpu::allowed() else {
        println!("skipped: no affinity here");
        return;
    };
    for step in [Step::Connect, Step::FirstByte, Step::Reset] {
        let path = path(Family::Ipv4);
        let (far, address, last) = accepting(step.rule(), &path, &cpus).unwrap();
        let connector = Connector::new(step, address, last).unwrap();
        let (connector, account) = far.led_by(connector).perform([50]).unwrap();
        // And the last one.
        assert_eq!(connector.budget.made(), 51, "{step:?}");
        assert_eq!(account.connections, 51, "{step:?}");
    }
}

#[test]
fn a_port_without_a_listener_refuses() {
    for family in Family::ALL {
        let path = path(family);
        let Ok(closed_port) = ClosedPort::at(&path) else {
            println!("skipped: no {} here", family.name());
            continue;
        };
        assert!(once(Step::Refused, &closed_port.address).is_ok());
        assert!(once(Step::Connect, &closed_port.address).is_err());
    }
}

#[test]
fn an_end_of_another_kind_is_none_of_the_step() {
    let Ok(cpus) = syscost_sys::cpu::allowed() else {
        println!("skipped: no affinity here");
        return;
    };
    // The far end closes by FIN where the step waits for a reset, or a byte.
    for step in [Step::Reset, Step::FirstByte, Step::Refused] {
        let path = path(Family::Ipv4);
        let (far, address, last) = accepting(Step::Connect.rule(), &path, &cpus).unwrap();
        let connector = Connector::new(step, address, last).unwrap();
        let failure = far.led_by(connector).perform([1]).map(drop);
        assert!(
            matches!(failure, Err(Failure::Failed(_))),
            "{step:?}: {failure:?}"
        );
    }
}
