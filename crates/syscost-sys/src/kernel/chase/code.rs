//! The kernels of chases.

use super::super::machine::chase::chain;
use super::super::shell::kernel;
use super::{Code, no_such_chains};
use crate::Unsupported;

/// Chains whose positions stay in registers while they run.
macro_rules! in_registers {
    ($name:ident: $times:literal times $chains:literal, $($number:tt)+) => {
        kernel! {
            $name: $times times $chains, chains $chains,
            prepare [chain!(keep the table), $(chain!(begin $number)),+],
            body [$(chain!(step $number)),+],
            after [],
            finish [$(chain!(add $number)),+, $(chain!(end $number)),+]
        }
    };
}

/// More chains than there are registers: each step loads its chain's position from the table and
/// stores it back.
macro_rules! in_table {
    ($name:ident: $times:literal times $chains:literal, $places:literal) => {
        kernel! {
            $name: $times times $chains, chains $chains,
            prepare [],
            body [concat!(".irp place,", $places, "\n", chain!(step in the table), "\n.endr")],
            after [],
            finish [concat!(".irp place,", $places, "\n", chain!(add from the table), "\n.endr")]
        }
    };
}

in_registers! { ONE: 64 times 1, 0 }
in_registers! { TWO: 32 times 2, 0 1 }
in_registers! { THREE: 24 times 3, 0 1 2 }
in_registers! { FOUR: 16 times 4, 0 1 2 3 }
in_registers! { FIVE: 16 times 5, 0 1 2 3 4 }
in_registers! { SIX: 16 times 6, 0 1 2 3 4 5 }
in_registers! { SEVEN: 12 times 7, 0 1 2 3 4 5 6 }
in_registers! { EIGHT: 12 times 8, 0 1 2 3 4 5 6 7 }
in_registers! { NINE: 12 times 9, 0 1 2 3 4 5 6 7 8 }
in_registers! { TEN: 12 times 10, 0 1 2 3 4 5 6 7 8 9 }
in_registers! { ELEVEN: 12 times 11, 0 1 2 3 4 5 6 7 8 9 10 }
in_registers! { TWELVE: 12 times 12, 0 1 2 3 4 5 6 7 8 9 10 11 }
in_table! { SIXTEEN: 8 times 16, "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15" }
in_table! {
    TWENTY_FOUR: 6 times 24,
    "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23"
}
in_table! {
    THIRTY_TWO: 4 times 32,
    "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"
}

pub(super) fn code(chains: usize) -> Result<Code, Unsupported> {
    Ok(match chains {
        1 => ONE,
        2 => TWO,
        3 => THREE,
        4 => FOUR,
        5 => FIVE,
        6 => SIX,
        7 => SEVEN,
        8 => EIGHT,
        9 => NINE,
        10 => TEN,
        11 => ELEVEN,
        12 => TWELVE,
        16 => SIXTEEN,
        24 => TWENTY_FOUR,
        32 => THIRTY_TWO,
        _ => return Err(no_such_chains(chains)),
    })
}
