//! What charts show of a row.

/// A value with its interval, in the chart's unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    /// The median.
    pub median: f64,
    /// Lower end of its 95 % confidence interval, if there is one.
    pub low: Option<f64>,
    /// Upper end of it.
    pub high: Option<f64>,
}

impl Value {
    /// Whether it has no interval; its dot is hollow then.
    pub(super) fn has_no_interval(&self) -> bool {
        self.low.is_none() || self.high.is_none()
    }
}
