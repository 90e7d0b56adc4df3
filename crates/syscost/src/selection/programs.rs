//! The names of lmbench's programs among what people write.

use syscost_benches::{CATALOGUE, LMBENCH, Program};

/// The program that is called so.
pub(crate) fn program(name: &str) -> Option<&'static Program> {
    LMBENCH.iter().find(|program| program.name == name)
}

/// Whether it can be nothing but a program: `lat_ctx` is no other word, as `cache` is.
pub(super) fn is_plainly_program(name: &str) -> bool {
    name.contains('_') && program(name).is_some()
}

/// What is said of a program that no benchmark covers.
pub(super) fn uncovered(name: &str) -> Option<String> {
    let program = program(name)?;
    let is_covered = CATALOGUE.tagged(program.name).next().is_some();
    (!is_covered).then(|| about(program))
}

/// A program, and how what is measured here differs.
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
