//! Figures of another run beside the numbers.

use crate::common::{Program, RUN};

#[test]
fn a_run_of_some_rows_has_figures_beside_them() {
    let program = Program::new();
    let printed = |arguments: &str| program.run(arguments).ran().out;
    let run = format!("run syscall.null{{call=getppid}} --profile quick --beside {RUN}");
    for command in [
        run,
        format!("show --beside {RUN}"),
        format!("show -v --beside {RUN}"),
    ] {
        let table = printed(&command);
        let has_column = table.contains("reference: ") && table.contains("  reference");
        assert!(has_column, "{command}: {table}");
    }
    assert!(!printed("show").contains("reference"));
    // The latest run is the one before, which has no such row.
    let other = printed("run timing.loop --profile quick --beside latest");
    assert!(other.contains(": the same machine"), "{other}");
    assert!(!other.contains("  reference"), "{other}");
}

#[test]
fn where_figures_have_no_place_they_are_refused() {
    for command in [format!("show {RUN}"), "run".to_owned()] {
        let refused = Program::new().run(&format!("{command} --beside {RUN} --format json"));
        assert_eq!(refused.says(2, "--beside").out, "");
    }
}

#[test]
fn a_reference_that_is_none_is_refused_before_anything_is_measured() {
    let program = Program::new();
    let refused = program.run("run syscall.null --beside no-such-machine");
    refused.says(2, "the shipped references are: epyc-guest (");
    program.run("show").says(2, "no run");
}
