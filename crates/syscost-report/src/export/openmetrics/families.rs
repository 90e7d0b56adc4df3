//! The text format itself: families of gauges, and labels.

use std::fmt::Write;

/// Labels of a series, as they are written.
#[derive(Debug, Clone, Default)]
pub struct Labels(String);

impl Labels {
    /// The same with one more; its name must be one that a label may have.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        let value = value
            .replace('\\', r"\\")
            .replace('"', "\\\"")
            .replace('\n', r"\n");
        let comma = if self.0.is_empty() { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = write!(self.0, "{comma}{name}=\"{value}\"");
        self
    }
}

/// The text so far.
#[derive(Debug, Default)]
pub struct Families(String);

impl Families {
    /// Adds a family of gauges, `syscost_<name>_<unit>`, unless it has no sample. `fill` is given
    /// what adds one.
    pub fn family(
        &mut self,
        name: &str,
        unit: &str,
        help: &str,
        fill: impl FnOnce(&mut dyn FnMut(&Labels, f64)),
    ) {
        let name = match unit {
            "" => format!("syscost_{name}"),
            unit => format!("syscost_{name}_{unit}"),
        };
        let before = self.0.len();
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "# HELP {name} {help}.\n# TYPE {name} gauge");
        if !unit.is_empty() {
            let _ = writeln!(self.0, "# UNIT {name} {unit}");
        }
        let head = self.0.len();
        fill(&mut |labels, value| {
            let _ = match &*labels.0 {
                // Debug formatting writes the shortest digits that read back the same, with an
                // exponent for tiny numbers.
                "" => writeln!(self.0, "{name} {value:?}"),
                labels => writeln!(self.0, "{name}{{{labels}}} {value:?}"),
            };
        });
        if self.0.len() == head {
            self.0.truncate(before);
        }
    }

    /// The whole text.
    #[must_use]
    pub fn finish(self) -> String {
        self.0 + "# EOF\n"
    }
}
