//! An ICMP echo that the server's kernel answers.

use std::net::IpAddr;

use syscost_harness::prelude::*;

use crate::net::exchange::{Exchange, LOST_AFTER};
use crate::net::far_end::Family;
use crate::net::icmp::ping::{self, HEAD, Pinger};

/// Content of an echo, in bytes.
const BYTES: usize = 64;

/// Whether this machine permits sending echoes to this address.
pub(super) fn support(server: IpAddr) -> Result<(), Unsupported> {
    ping::support(Family::of_address(server))
}

pub(super) fn measure(mut plan: Plan, server: IpAddr) -> Result<Outcome, Failure> {
    // A lap reads the clock, which is a system call on some machines.
    plan.expect(at_most(Counter::Syscall(Sysno::CLOCK_GETTIME), 1.05));
    // None where the reply comes from this kernel, two where packets of other programs wake a raw socket.
    plan.expect(at_most(Counter::Switches, 2.3));
    let length = Argument {
        position: 2,
        name: "length",
    };
    let bytes = (HEAD + BYTES) as u64;
    plan.expect_argument(Sysno::SENDTO, length, ArgumentValue::Always(bytes));
    let exchange = Exchange::new(&mut plan, BYTES, false);
    let (mut outcome, pinger) = plan
        .measure(Together::of(Placement::SAME, |_| {
            let (pinger, way) = Pinger::open(server, BYTES, Some(LOST_AFTER))?;
            Ok(Team::new(Vec::new(), exchange.over(pinger, way)))
        }))?
        .split();
    pinger.claim_deliveries(&mut outcome);
    pinger.claim_interface(&mut outcome);
    pinger.link.claim_address(&mut outcome, server);
    pinger
        .link
        .claim(&mut outcome, pinger.tally.answered, false);
    Ok(outcome)
}
