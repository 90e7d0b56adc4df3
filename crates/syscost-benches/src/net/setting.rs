//! Shared: a parameter that must be a number greater than 0.

use syscost_harness::prelude::*;

/// The value of a parameter that must be a number greater than 0.
pub(crate) fn positive(case: &Case, key: &str) -> Result<usize, Failure> {
    let number = case.find_number(key).filter(|number| *number > 0);
    let number = number.ok_or_else(|| case.unknown(key))?;
    Ok(number as usize)
}
