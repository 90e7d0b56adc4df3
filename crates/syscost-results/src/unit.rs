//! The units of measurements.

use serde::{Deserialize, Serialize};

/// The unit of a measurement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Unit {
    /// Nanoseconds (per operation).
    #[default]
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Bytes.
    #[serde(rename = "B")]
    Bytes,
    /// Bytes per second.
    #[serde(rename = "B/s")]
    BytesPerSecond,
    /// Operations per second, of all copies together.
    #[serde(rename = "op/s")]
    OperationsPerSecond,
    /// Floating-point operations per second, of all copies together.
    #[serde(rename = "FLOP/s")]
    FlopsPerSecond,
    /// Gigahertz.
    #[serde(rename = "GHz")]
    Gigahertz,
    /// A percentage.
    #[serde(rename = "%")]
    Percent,
    /// A count.
    #[serde(rename = "count")]
    Count,
    /// A ratio of two equal units.
    #[serde(rename = "ratio")]
    Ratio,
}

impl Unit {
    /// All units.
    pub const ALL: [Unit; 9] = [
        Unit::Nanoseconds,
        Unit::Bytes,
        Unit::BytesPerSecond,
        Unit::OperationsPerSecond,
        Unit::FlopsPerSecond,
        Unit::Gigahertz,
        Unit::Percent,
        Unit::Count,
        Unit::Ratio,
    ];

    /// The unit with this symbol.
    pub fn from_symbol(symbol: &str) -> Option<Unit> {
        Self::ALL.into_iter().find(|unit| unit.symbol() == symbol)
    }

    /// The unit as written in documents and tables.
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::Nanoseconds => "ns",
            Unit::Bytes => "B",
            Unit::BytesPerSecond => "B/s",
            Unit::OperationsPerSecond => "op/s",
            Unit::FlopsPerSecond => "FLOP/s",
            Unit::Gigahertz => "GHz",
            Unit::Percent => "%",
            Unit::Count => "count",
            Unit::Ratio => "ratio",
        }
    }

    /// Whether it is a time or a rate. A value in another unit is observed or computed: no
    /// operation is timed for it.
    pub fn is_timed(self) -> bool {
        match self {
            Unit::Nanoseconds
            | Unit::BytesPerSecond
            | Unit::OperationsPerSecond
            | Unit::FlopsPerSecond => true,
            Unit::Bytes | Unit::Gigahertz | Unit::Percent | Unit::Count | Unit::Ratio => false,
        }
    }

    /// The interval without what no value in this unit can be: a percentage is a share of a whole.
    pub(crate) fn possible(self, (low, high): (f64, f64)) -> (f64, f64) {
        match self {
            Unit::Percent => (low.clamp(0.0, 100.0), high.clamp(0.0, 100.0)),
            Unit::Nanoseconds
            | Unit::Bytes
            | Unit::BytesPerSecond
            | Unit::OperationsPerSecond
            | Unit::FlopsPerSecond
            | Unit::Gigahertz
            | Unit::Count
            | Unit::Ratio => (low, high),
        }
    }

    /// The logarithm of a value, so that it rises with the time: negative for all but times. `None`
    /// if the value is not positive.
    pub(crate) fn logarithm(self, value: f64) -> Option<f64> {
        let log = Some(value).filter(|value| *value > 0.0)?.ln();
        Some(if self == Unit::Nanoseconds { log } else { -log })
    }
}
