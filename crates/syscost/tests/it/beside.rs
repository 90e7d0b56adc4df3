//! Figures of another run beside the numbers.

use crate::common::{Program, RUN};

#[test]
fn a_run_of_some_rows_has_figures_beside_them() {
    let program = Program::new();
    let printed = |arguments: &str| program.run(arguments).ran().out;
    printed("run syscall.null{call=getppid} --profile quick");
    for command in [
        format!("show --beside {RUN}"),
        format!("show -v --beside {RUN}"),
    ] {
        let table = printed(&command);
        let has_column = table.contains("reference: ") && table.contains("  reference");
        assert!(has_column, "{command}: {table}");
    }
    assert!(!printed("show").contains("reference"));
}

#[test]
fn where_figures_have_no_place_they_are_refused() {
    let refused = Program::new().run(&format!("show {RUN} --beside {RUN} --format json"));
    assert_eq!(refused.says(2, "--beside").out, "");
}
