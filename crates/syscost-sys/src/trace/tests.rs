use super::*;
use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};

use crate::raw::Sysno;

#[test]
fn look() {
    let show = |command: &mut Command| {
        let tally = run(command, &Options::default(), |_| true).unwrap();
        for (call, count) in &tally.calls {
            println!("{call}: {} calls, {} bytes", count.calls, count.bytes);
        }
        println!("{:?}", Tally { calls: BTreeMap::new(), ..tally.clone() });
        assert!(tally.adds_up());
    };
    show(Command::new("ls").arg("/").stdout(Stdio::null()));
    show(Command::new("sh").args(["-c", "for i in 1 2 3; do /bin/true; done"]));
    show(Command::new("python3").args(["-c", "pass"]));
    let _ = (fs::read("/x"), Sysno::READ);
}
