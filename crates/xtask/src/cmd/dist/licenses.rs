//! The licences of everything that the program contains: the crates that cargo linked into it, and what is no crate; and of all crates that the
//! source archive contains, for it and its tests.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use spdx::{Expression, Licensee, ParseMode};

use crate::owner::Owner;
use xtask::workspace;

/// The licences that a crate may be under; of several that it offers, the first here is taken.
const ALLOWED: [&str; 9] = [
    "MIT",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "Zlib",
    "Unicode-3.0",
    "Unlicense",
    "MIT-0",
    "CC0-1.0",
];

/// The one crate that brings what is no Rust: SQLite.
const SQLITE: &str = "libsqlite3-sys";

/// Something of others in the program.
#[derive(Debug)]
pub(super) struct Part {
    /// `anstream 1.0.0`.
    name: String,
    /// Where the source archive has it; `None` for what compilers link.
    place: Option<String>,
    /// All licences that it offers, an SPDX expression.
    offered: String,
    /// The SPDX names of those that it is used under.
    used: Vec<String>,
    /// Lines with holders of rights.
    copyright: Vec<String>,
    /// Licences and notices as it has them, or else the standard texts.
    texts: Vec<String>,
}

/// A crate's manifest, as far as it is about rights.
#[derive(Debug, Deserialize)]
struct Manifest {
    package: Package,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    license_file: Option<PathBuf>,
    #[serde(default)]
    authors: Vec<String>,
    links: Option<String>,
}

/// The parts of a program that these crates were linked into, which lie in folders called by name and version.
pub(super) fn linked(crates: &[PathBuf]) -> Result<Vec<Part>> {
    parts(crates, true)
}

/// The crates in this folder, that of the source archive.
pub(super) fn vendored(vendor: &Path) -> Result<Vec<Part>> {
    let reading = || format!("reading {}", vendor.display());
    let entries = fs::read_dir(vendor).with_context(reading)?;
    let crates = entries.map(|entry| Ok(entry?.path()));
    parts(
        &crates.collect::<Result<Vec<_>>>().with_context(reading)?,
        false,
    )
}

fn parts(crates: &[PathBuf], are_linked: bool) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    for folder in crates {
        let reading = || format!("reading {}", folder.display());
        let text = workspace::read(&folder.join("Cargo.toml"))?;
        let Manifest { package } = toml::from_str(&text).with_context(reading)?;
        match package.links.as_deref() {
            Some(_) if package.name == SQLITE => parts.push(Part {
                name: format!("SQLite, in {SQLITE} {}", package.version),
                place: Some(place(folder, "/sqlite3")?),
                copyright: vec!["none: its authors disclaim it".to_owned()],
                ..standard("blessing")?
            }),
            Some(library) if are_linked => bail!(
                "{} links the library {library}, of whose licence dist/licenses.rs knows nothing",
                package.name
            ),
            _ => {}
        }
        parts.push(part(&package, folder).with_context(reading)?);
    }
    parts.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(parts)
}

/// What is in the static program besides crates; `root` is the workspace's.
pub(super) fn others(root: &Path) -> Result<Vec<Part>> {
    let fonts = "crates/syscost-pictures/fonts";
    let font = workspace::read(&root.join(fonts).join("LICENSE-DejaVu"))?;
    let exception = "GCC-exception-3.1";
    let exception = spdx::exception_id(exception)
        .with_context(|| format!("SPDX has no exception called {exception}"))?;
    Ok(vec![
        Part {
            name: "DejaVu Sans 2.37, some of its characters".to_owned(),
            place: Some(fonts.to_owned()),
            copyright: copyright(&font),
            texts: vec![font],
            ..standard("Bitstream-Vera")?
        },
        Part {
            name: "the standard library of Rust, with its crates addr2line, adler2, cfg-if, compiler-builtins, gimli, hashbrown, libc, memchr, \
                   miniz_oxide, object and rustc-demangle (the compiler's share/doc/rust/COPYRIGHT-library.html has the notices of each)"
                .to_owned(),
            offered: "MIT OR Apache-2.0".to_owned(),
            copyright: vec!["The Rust Project Contributors".to_owned()],
            ..standard("MIT")?
        },
        Part {
            name: "the GNU C Library, linked statically: the source archive links with any other version of it".to_owned(),
            copyright: vec!["The Free Software Foundation and others".to_owned()],
            ..standard("LGPL-2.1-or-later")?
        },
        Part {
            name: "libgcc and the start files of GCC, linked statically".to_owned(),
            offered: "GPL-3.0-or-later WITH GCC-exception-3.1".to_owned(),
            copyright: vec!["The Free Software Foundation".to_owned()],
            texts: vec![exception.text().to_owned(), standard_text("GPL-3.0-or-later")?],
            ..standard("GPL-3.0-or-later")?
        },
    ])
}

/// A part whose text is the standard one of a licence.
fn standard(license: &str) -> Result<Part> {
    Ok(Part {
        name: String::new(),
        place: None,
        offered: license.to_owned(),
        used: vec![license.to_owned()],
        copyright: Vec::new(),
        texts: vec![standard_text(license)?],
    })
}

/// The standard text, without the line that names nobody.
fn standard_text(license: &str) -> Result<String> {
    let id = spdx::license_id(license)
        .with_context(|| format!("SPDX has no licence called {license}"))?;
    let lines = id.text().lines();
    Ok(lines
        .filter(|line| !line.to_lowercase().contains("<year>"))
        .map(|line| format!("{line}\n"))
        .collect())
}

fn part(package: &Package, folder: &Path) -> Result<Part> {
    let offered = package
        .license
        .clone()
        .context("its manifest states no licence as an SPDX expression")?;
    let used = used(&offered)?;
    let mut texts = texts(folder, package.license_file.as_deref())?;
    let mut copyright: Vec<String> = texts.iter().flat_map(|text| copyright(text)).collect();
    copyright.sort();
    copyright.dedup();
    if copyright.is_empty() {
        copyright.clone_from(&package.authors);
    }
    if copyright.is_empty() {
        copyright.push(format!("the authors of {}", package.name));
    }
    if texts.is_empty() {
        for license in &used {
            texts.push(standard_text(license)?);
        }
    }
    Ok(Part {
        name: format!("{} {}", package.name, package.version),
        place: Some(place(folder, "")?),
        offered,
        used,
        copyright,
        texts,
    })
}

/// Where the source archive has what is in a crate's folder.
fn place(folder: &Path, inner: &str) -> Result<String> {
    let name = folder.file_name().and_then(|name| name.to_str());
    Ok(format!(
        "vendor/{}{inner}",
        name.context("its folder has no name")?
    ))
}

/// The fewest allowed licences that an SPDX expression is satisfied by, those first in the list before others.
fn used(offered: &str) -> Result<Vec<String>> {
    let expression = Expression::parse_mode(offered, ParseMode::LAX)
        .with_context(|| format!("`{offered}` is no SPDX expression"))?;
    let allowed = ALLOWED
        .map(|license| Licensee::parse(license).with_context(|| format!("`{license}` is allowed")));
    let allowed = allowed.into_iter().collect::<Result<Vec<_>>>()?;
    let used = expression.minimized_requirements(&allowed);
    let used = used.ok().with_context(|| {
        format!(
            "`{offered}` cannot be satisfied by what is allowed: {}",
            ALLOWED.join(", ")
        )
    })?;
    Ok(used.iter().map(ToString::to_string).collect())
}

/// Licences and notices in a crate's folder, in the order of their files' names.
fn texts(folder: &Path, named: Option<&Path>) -> Result<Vec<String>> {
    const BEGINNINGS: [&str; 6] = [
        "LICENSE",
        "LICENCE",
        "COPYING",
        "COPYRIGHT",
        "NOTICE",
        "UNLICENSE",
    ];
    let mut files: Vec<PathBuf> = named.map(|name| folder.join(name)).into_iter().collect();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.to_uppercase();
        if path.is_file() && BEGINNINGS.iter().any(|begins| name.starts_with(begins)) {
            files.push(path);
        }
    }
    files.sort();
    files.dedup();
    files.iter().map(|path| workspace::read(path)).collect()
}

/// The lines of a text that name holders of rights.
fn copyright(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .map(|line| line.trim().trim_start_matches("Copyright: "));
    lines
        .filter(|line| line.to_lowercase().starts_with("copyright"))
        .filter(|line| line.contains(|c: char| c.is_ascii_digit()) || line.contains("(c)"))
        .filter(|line| !line.contains(['[', '<', '{']) && !line.ends_with(','))
        .map(str::to_owned)
        .collect()
}

/// The list of all parts, and every text once.
pub(super) fn third_party(parts: &[Part]) -> String {
    let mut text = "syscost is under the MIT licence or the Apache licence 2.0, as you choose (LICENSE-MIT, LICENSE-APACHE). Its program contains \
                    what others wrote, under the licences below.\n\n"
        .to_owned();
    for part in parts {
        let _ = writeln!(text, "{}: {}", part.name, part.offered);
    }
    // The words of a text, and who has it first how, and who else.
    let mut texts: Vec<(String, &str, Vec<&Part>)> = Vec::new();
    for part in parts {
        for one in &part.texts {
            let words: Vec<&str> = one.split_whitespace().collect();
            let words = words.join(" ");
            match texts.iter_mut().find(|(other, ..)| *other == words) {
                Some((.., shared)) => shared.push(part),
                None => texts.push((words, one, vec![part])),
            }
        }
    }
    for (_, one, shared) in texts {
        let rule = "-".repeat(80);
        let names: Vec<&str> = shared.iter().map(|part| part.name.as_str()).collect();
        let _ = write!(
            text,
            "\n{rule}\n{}\n{rule}\n\n{}\n",
            names.join(", "),
            one.trim()
        );
    }
    text
}

/// Debian's machine-readable copyright file, version 1.0, about the source archive, of these parts; `license` is our own licence's text.
pub(super) fn debian_copyright(owner: &Owner, license: &str, parts: &[Part]) -> Result<String> {
    let mut text = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: syscost\n".to_owned();
    if let Some(maintainer) = owner.maintainer {
        let _ = writeln!(text, "Upstream-Contact: {maintainer}");
    }
    if let Some(source) = owner.repository {
        let _ = writeln!(text, "Source: {source}");
    }
    let linked = parts.iter().filter(|part| part.place.is_none());
    text.push_str("Comment: The program also contains\n");
    for part in linked {
        let _ = writeln!(text, "  {} ({})", part.name, part.offered);
    }
    text.push('\n');
    let mut licenses = BTreeMap::from([("Apache-2.0", apache()), ("MIT", standard_text("MIT")?)]);
    let own = copyright(license);
    ensure!(!own.is_empty(), "LICENSE-MIT names nobody");
    let mut stanza = |files: &str, holders: &[String], license: &str| {
        let _ = write!(
            text,
            "Files: {files}\nCopyright: {}\nLicense: {license}\n\n",
            holders.join("\n ")
        );
    };
    stanza("*", &own, "MIT or Apache-2.0");
    // The last stanza that a file matches holds: that of a folder within another comes after it.
    let placed = parts
        .iter()
        .filter_map(|part| Some((part.place.as_ref()?, part)));
    for (place, part) in BTreeMap::from_iter(placed) {
        stanza(
            &format!("{place}/*"),
            &part.copyright,
            &part.used.join(" and "),
        );
        for license in &part.used {
            if !licenses.contains_key(license.as_str()) {
                licenses.insert(license, standard_text(license)?);
            }
        }
    }
    for (name, body) in licenses {
        let _ = writeln!(text, "License: {name}");
        for line in body.trim().lines() {
            let _ = match line.trim_end() {
                "" => writeln!(text, " ."),
                line => writeln!(text, " {line}"),
            };
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len() + 1);
    Ok(text)
}

/// Debian keeps a copy of this one.
fn apache() -> String {
    "On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::owner::EXAMPLES;

    #[test]
    fn of_what_is_offered_the_first_that_is_allowed_is_used() {
        for (offered, expected) in [
            ("MIT", Some("MIT")),
            ("Apache-2.0 OR MIT", Some("MIT")),
            ("Unlicense/MIT", Some("MIT")),
            (
                "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
                Some("MIT"),
            ),
            (
                "(MIT OR Apache-2.0) AND Unicode-3.0",
                Some("MIT and Unicode-3.0"),
            ),
            ("GPL-3.0-only OR Zlib", Some("Zlib")),
            ("GPL-3.0-only", None),
            ("MIT AND GPL-3.0-only", None),
            ("Apache-2.0 WITH LLVM-exception", None),
            ("as you like", None),
        ] {
            let used = used(offered).ok().map(|used| used.join(" and "));
            assert_eq!(used.as_deref(), expected, "{offered}");
        }
    }

    #[test]
    fn lines_that_name_holders_are_found() {
        for (line, is_found) in [
            ("Copyright (c) 2015 A. Author", true),
            ("  Copyright 2015 A. Author", true),
            ("Copyright: Copyright (c) 2003 by B.", true),
            (
                "copyright notice and this permission notice shall be included",
                false,
            ),
            ("Copyright [yyyy] [name of copyright owner]", false),
            ("Copyright (c) <year> <owner>", false),
            ("The above copyright notice", false),
        ] {
            assert_eq!(!copyright(line).is_empty(), is_found, "{line}");
        }
    }

    /// A folder of crates: name and version, the rest of the manifest, the text of a licence.
    fn crates(all: &[(&str, &str, Option<&str>)]) -> (tempfile::TempDir, Vec<PathBuf>) {
        let root = tempfile::tempdir().unwrap();
        let folders = all.iter().map(|(name, manifest, license)| {
            let folder = root.path().join(format!("{name}-1.0.0"));
            let manifest =
                format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\n{manifest}\n");
            workspace::write(&folder.join("Cargo.toml"), &manifest).unwrap();
            if let Some(text) = license {
                workspace::write(&folder.join("LICENSE-MIT.txt"), text).unwrap();
            }
            folder
        });
        let folders = folders.collect();
        (root, folders)
    }

    const MIT: &str = "license = \"MIT OR Apache-2.0\"";

    #[test]
    fn every_part_is_listed_and_every_text_written_once() {
        let (_root, folders) = crates(&[
            (
                "one",
                MIT,
                Some("Copyright (c) 2015 A. Author\n\nDo  as you like.\n"),
            ),
            (
                "two",
                MIT,
                Some("Copyright (c) 2015 A. Author\nDo as you like."),
            ),
            (
                "three",
                "license = \"Unlicense\"\nauthors = [\"B. Author\"]",
                None,
            ),
            (
                SQLITE,
                "license = \"MIT\"\nlinks = \"sqlite3\"",
                Some("Copyright 2014 C."),
            ),
        ]);
        let parts = linked(&folders).unwrap();
        let text = third_party(&parts);
        for line in [
            "one 1.0.0: MIT OR Apache-2.0",
            "three 1.0.0: Unlicense",
            "SQLite, in libsqlite3-sys 1.0.0: blessing",
            "one 1.0.0, two 1.0.0",
            "This is free and unencumbered software released into the public domain.",
        ] {
            assert!(
                text.lines().any(|one| one.starts_with(line)),
                "{line}: {text}"
            );
        }
        assert_eq!(text.matches("as you like").count(), 1, "{text}");

        let [_, owner] = EXAMPLES;
        let text = debian_copyright(&owner, "Copyright (c) 2026 us", &parts).unwrap();
        assert!(
            text.contains(
                "Files: vendor/three-1.0.0/*\nCopyright: B. Author\nLicense: Unlicense\n"
            ),
            "{text}"
        );
        assert!(text.contains("Files: *\nCopyright: Copyright (c) 2026 us\nLicense: MIT or"));
        let [crates, inner] = ["", "/sqlite3"].map(|inner| {
            let files = format!("Files: vendor/libsqlite3-sys-1.0.0{inner}/*\n");
            text.find(&files).unwrap()
        });
        assert!(crates < inner, "{text}");
        let fields = text.split("\n\n").map(|paragraph| {
            let line = paragraph.lines().find(|line| line.starts_with("License: "));
            (paragraph.starts_with("License: "), line.unwrap_or_default())
        });
        let (texts, used): (Vec<_>, Vec<_>) = fields.skip(1).partition(|(is_text, _)| *is_text);
        for (_, line) in used {
            for name in line
                .trim_start_matches("License: ")
                .split(" and ")
                .flat_map(|one| one.split(" or "))
            {
                let wanted = (true, &*format!("License: {name}"));
                assert!(texts.contains(&wanted), "{name}: {text}");
            }
        }
    }

    #[test]
    fn what_is_not_known_to_be_allowed_is_refused() {
        for (manifest, complaint) in [
            ("", "states no licence"),
            ("license = \"GPL-3.0-only\"", "cannot be satisfied"),
            ("license = \"MIT\"\nlinks = \"z\"", "links the library z"),
        ] {
            let (root, folders) = crates(&[("one", manifest, None)]);
            let error = format!("{:#}", linked(&folders).unwrap_err());
            assert!(error.contains(complaint), "{error}");
            // What is only compiled for other systems links nothing here, but is given away as well.
            let is_refused = vendored(root.path()).is_err();
            assert_eq!(is_refused, !complaint.starts_with("links"), "{manifest}");
        }
    }

    #[test]
    fn what_is_no_crate_has_its_text() {
        for part in others(workspace::root()).unwrap() {
            assert!(
                part.texts.iter().any(|text| text.len() > 500),
                "{}",
                part.name
            );
            assert!(!part.copyright.is_empty(), "{}", part.name);
        }
    }
}
