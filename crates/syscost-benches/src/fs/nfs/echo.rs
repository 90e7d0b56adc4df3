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

pub(super) fn measure(b: &mut Bencher, server: IpAddr) -> Result<(), Failure> {
    b.expect(calls(Sysno::SENDTO));
    b.expect(calls(Sysno::RECVFROM));
    // A lap reads the clock, which is a system call on some machines.
    b.expect(at_most(Counter::Syscall(Sysno::CLOCK_GETTIME), 1.05));
    // None where the reply comes from this kernel, two where packets of other programs wake a raw socket.
    b.expect(at_most(Counter::Switches, 2.3));
    let length = Argument {
        position: 2,
        name: "length",
    };
    let bytes = (HEAD + BYTES) as u64;
    b.expect_argument(Sysno::SENDTO, length, ArgumentValue::Always(bytes));
    let exchange = Exchange::new(b, BYTES, false);
    let pinger = b.together(Placement::SAME, |_| {
        let (pinger, way) = Pinger::open(server, BYTES, Some(LOST_AFTER))?;
        Ok(Team::new(Vec::new(), exchange.over(pinger, way)))
    })?;
    pinger.claim_deliveries(b);
    pinger.claim_interface(b);
    pinger.link.claim_address(b, server);
    pinger.link.claim(b, pinger.tally.answered, false);
    Ok(())
}
