//! Names of lmbench's programs as arguments.

use syscost_benches::{CATALOGUE, LMBENCH, Program};

/// Returns the program with this name.
pub(crate) fn program(name: &str) -> Option<&'static Program> {
    LMBENCH.iter().find(|program| program.name == name)
}

/// Whether the name can only mean a program: `lat_ctx`, but not `cache`.
pub(super) fn is_plainly_program(name: &str) -> bool {
    name.contains('_') && program(name).is_some()
}

/// Describes the program with this name if no benchmark covers it.
pub(super) fn uncovered(name: &str) -> Option<String> {
    let program = program(name)?;
    let is_covered = CATALOGUE.tagged(program.name).next().is_some();
    (!is_covered).then(|| about(program))
}

/// Describes how what is measured here differs from a program.
pub(super) fn about(program: &Program) -> String {
    format!("`{}` of lmbench: {}", program.name, program.note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_are_not_covered_say_why() {
        for program in LMBENCH {
            let said = uncovered(program.name);
            assert_eq!(
                said.is_some(),
                program.note.starts_with("Not covered: "),
                "{}",
                program.name
            );
        }
        assert!(is_plainly_program("lat_ctx") && !is_plainly_program("cache"));
        assert!(program("lat_ctxx").is_none());
    }
}
