//! Prints the JSON Schemas of the run document and of the lines of `export --format jsonl`, each as a line: for `cargo xtask gen`.

use schemars::schema_for;
use syscost_report::export::Record;
use syscost_results::Run;

fn main() {
    for schema in [schema_for!(Run), schema_for!(Record)] {
        println!("{}", schema.to_value());
    }
}
