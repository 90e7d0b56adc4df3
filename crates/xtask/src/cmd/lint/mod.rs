//! `cargo xtask lint`: rules of this code that the compiler does not check.

mod catalogue;
mod circles;
mod constants;
mod ids;
mod links;
pub(crate) mod released;
mod target;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use xtask::workspace::{self, SourceFile};

/// A violation of a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: PathBuf,
    line: usize,
    message: String,
}

impl Finding {
    fn new(path: &Path, line: usize, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.message)
    }
}

/// Runs the chore.
pub(crate) fn run() -> Result<()> {
    let findings = of_workspace()?;
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => Ok(()),
        1 => bail!("one rule is broken"),
        many => bail!("{many} rules are broken"),
    }
}

/// Every violation in this workspace: in its code, and links of its documents.
fn of_workspace() -> Result<Vec<Finding>> {
    let root = workspace::root();
    let code = workspace::rust_files(root)?;
    let documents = workspace::documents(root)?;
    let mut findings = findings(&code);
    findings.extend(released::findings());
    findings.extend(code.iter().flat_map(|file| links::of_comments(root, file)));
    let links = |document| links::of_document(root, document, &code);
    findings.extend(documents.iter().flat_map(links));
    Ok(findings)
}

/// Every violation in these files, by place.
pub(crate) fn findings(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = files.iter().flat_map(target::findings).collect();
    findings.extend(catalogue::findings(files));
    findings.extend(circles::findings(files));
    let tests: BTreeSet<&str> = files.iter().flat_map(ids::test_modules).collect();
    findings.extend(constants::findings(files, &tests));
    findings.extend(ids::findings(files, &tests));
    findings.sort();
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_keeps_its_rules() {
        let findings = of_workspace().unwrap();
        let list: Vec<String> = findings.iter().map(Finding::to_string).collect();
        assert!(list.is_empty(), "\n{}", list.join("\n"));
    }
}
