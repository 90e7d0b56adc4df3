//! Links between documents lead to files and headings that exist, and so do names of documents in comments, and of Rust files in documents.

use std::fs;
use std::path::Path;

use super::Finding;
use xtask::workspace::SourceFile;

/// What precedes the address of a link, and what ends it.
const LINKS: [(&str, char); 4] = [
    ("](", ')'),
    ("src=\"", '"'),
    ("srcset=\"", '"'),
    ("href=\"", '"'),
];

/// Every link of a document below `root` that leads nowhere, and every Rust file that it names and that is not in `code`.
pub(super) fn of_document(root: &Path, document: &SourceFile, code: &[SourceFile]) -> Vec<Finding> {
    let mut fenced = false;
    let mut findings = Vec::new();
    for (number, line) in document.text.lines().enumerate() {
        fenced ^= line.trim_start().starts_with("```");
        if fenced {
            continue;
        }
        // Every second piece is code. Paths of files may lack their beginning.
        for name in line.split('`').skip(1).step_by(2) {
            let is_file = name.ends_with(".rs") && !name.contains(' ');
            if is_file && !code.iter().any(|file| file.path.ends_with(name)) {
                let message = format!("there is no `{name}`");
                findings.push(Finding::new(&document.path, number + 1, message));
            }
        }
        let line: String = line.split('`').step_by(2).collect();
        for (start, end) in LINKS {
            for link in line.split(start).skip(1) {
                let link = link.split(end).next().unwrap_or_default();
                if !leads_somewhere(root, &document.path, link) {
                    let message = format!("`{link}` leads nowhere");
                    findings.push(Finding::new(&document.path, number + 1, message));
                }
            }
        }
    }
    findings
}

/// Every file of docs/ that a comment names and that is not there.
pub(super) fn of_comments(root: &Path, file: &SourceFile) -> Vec<Finding> {
    let comments = file.text.lines().enumerate().filter_map(|(number, line)| {
        let (_, comment) = line.split_once("//")?;
        Some((number + 1, comment))
    });
    let named = comments.flat_map(|(number, comment)| {
        let names = comment.match_indices("docs/").map(|(start, _)| {
            let name = comment[start..]
                .split(|letter: char| !(letter.is_ascii_alphanumeric() || "/._-".contains(letter)));
            name.take(1).collect::<String>()
        });
        names.map(move |name| (number, name))
    });
    named
        .filter(|(_, name)| {
            let name = name.trim_end_matches('.');
            name.ends_with(".md") && !root.join(name).is_file()
        })
        .map(|(number, name)| Finding::new(&file.path, number, format!("there is no {name}")))
        .collect()
}

/// Whether a link in this document is to another site, or to a file and a heading that exist.
fn leads_somewhere(root: &Path, document: &Path, link: &str) -> bool {
    if ["https:", "http:", "mailto:"]
        .iter()
        .any(|other| link.starts_with(other))
    {
        return true;
    }
    let (path, heading) = link.split_once('#').unwrap_or((link, ""));
    let file = match path {
        "" => root.join(document),
        path => root.join(document.parent().unwrap_or(document)).join(path),
    };
    let has_heading = || fs::read_to_string(&file).is_ok_and(|text| has_heading(&text, heading));
    file.exists() && (heading.is_empty() || has_heading())
}

/// Whether a document has a heading with this anchor.
fn has_heading(text: &str, wanted: &str) -> bool {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| anchor(line.trim_start_matches('#')))
        .any(|anchor| anchor == wanted)
}

/// The anchor of a heading, as forges generate it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        letter => letter.is_alphanumeric().then_some(letter),
    });
    kept.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use xtask::workspace;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile {
            path: path.into(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn links_lead_to_files_and_headings() {
        let root = tempfile::tempdir().unwrap();
        let other = "# A `b.c` {d}, e\n\n## Serve: `syscost serve`\n";
        workspace::write(&root.path().join("docs/other.md"), other).unwrap();
        let own = "# Own: `a/b.rs`, `b.rs`, `x/b.rs`\n[a](#own-abrs-brs-xbrs) [b](other.md) [c](other.md#a-bc-d-e) [d](other.md#serve-syscost-serve)\n\
                   [e](https://x.org/#y) `[f](none.md)` [g](../docs)\n```\n[h](none.md)\n```\n\
                   [i](none.md) [j](#other) [k](other.md#b)\n<img src=\"none.png\">\n";
        workspace::write(&root.path().join("docs/own.md"), own).unwrap();
        let findings = of_document(
            root.path(),
            &file("docs/own.md", own),
            &[file("c/a/b.rs", "")],
        );
        let found: Vec<String> = findings.iter().map(Finding::to_string).collect();
        assert_eq!(
            found,
            [
                "docs/own.md:1: there is no `x/b.rs`",
                "docs/own.md:7: `none.md` leads nowhere",
                "docs/own.md:7: `#other` leads nowhere",
                "docs/own.md:7: `other.md#b` leads nowhere",
                "docs/own.md:8: `none.png` leads nowhere",
            ]
        );
    }

    #[test]
    fn comments_name_documents_that_exist() {
        let root = tempfile::tempdir().unwrap();
        workspace::write(&root.path().join("docs/a.md"), "").unwrap();
        let begin = "//"; // This file is checked as well.
        let code = format!("{begin} See docs/a.md.\nlet x = 1; {begin} as in docs/b.md, there\n");
        let findings = of_comments(root.path(), &file("x.rs", &code));
        assert_eq!(
            findings,
            [Finding::new(Path::new("x.rs"), 2, "there is no docs/b.md")]
        );
    }
}
