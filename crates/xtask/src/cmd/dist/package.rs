//! The release files: a Debian package, and an archive for all other systems.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

use super::archive::{Files, Packed, add_checksums, ar, gzip, tar_gz};
use super::licenses::{Part, debian_copyright, third_party};
use crate::cmd::generate::command_line;
use crate::owner::Owner;
use xtask::workspace;

/// The name of the file with the licences of others.
const THIRD_PARTY: &str = "THIRD-PARTY.txt";

/// Debian's folder of documentation.
const DOC: &str = "usr/share/doc/syscost";

pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// All files of a release except the binary itself, by their path in the workspace.
pub(super) struct Texts {
    owner: Owner,
    /// Man pages and completions, generated from the command line's definition.
    generated: BTreeMap<PathBuf, String>,
    /// README.md, CHANGELOG.md, the documentation with its pages about studies and trials, and the studies' files as examples.
    documents: BTreeMap<PathBuf, String>,
    /// Our own licences, and those of all parts.
    licenses: BTreeMap<PathBuf, String>,
    /// The latter as Debian wants them.
    copyright: String,
    containerfile: String,
}

impl Texts {
    /// Reads and generates them, for a program of these parts, and its source archive of these.
    pub(super) fn of(root: &Path, owner: &Owner, parts: &[Part], sources: &[Part]) -> Result<Self> {
        let read = |path: PathBuf| Ok((path.clone(), workspace::read(&root.join(path))?));
        let mut documents = ["README.md", "CHANGELOG.md"].map(PathBuf::from).to_vec();
        for folder in ["docs", "docs/lab", "docs/studies"] {
            let reading = || format!("reading {folder}/");
            for entry in fs::read_dir(root.join(folder)).with_context(reading)? {
                let name = entry.with_context(reading)?.file_name();
                let path = Path::new(folder).join(name);
                if path.extension().is_some_and(|ending| ending == "md") {
                    documents.push(path);
                }
            }
        }
        let mut documents = documents
            .into_iter()
            .map(read)
            .collect::<Result<BTreeMap<_, _>>>()?;
        for text in syscost_benches::STUDIES {
            let study = syscost_studies::parse(text).map_err(|error| anyhow!("a study{error}"))?;
            let path = format!("docs/examples/{}.toml", study.id);
            documents.insert(path.into(), (*text).to_owned());
        }
        let own = ["LICENSE-APACHE", "LICENSE-MIT"].map(PathBuf::from);
        let mut licenses = own
            .into_iter()
            .map(read)
            .collect::<Result<BTreeMap<_, _>>>()?;
        let copyright = debian_copyright(owner, &licenses[Path::new("LICENSE-MIT")], sources)?;
        licenses.insert(THIRD_PARTY.into(), third_party(parts));
        Ok(Self {
            owner: *owner,
            generated: command_line::files(owner)?,
            documents,
            licenses,
            copyright,
            containerfile: workspace::read(&root.join("Containerfile"))?,
        })
    }

    /// The licences, as files beside the packages.
    pub(super) fn licenses(&self) -> Files {
        data(&self.licenses).collect()
    }

    /// The files of the archive, in a directory with this name.
    pub(super) fn archive(&self, folder: &str, binary: &[u8]) -> Files {
        let texts = data(&self.generated).map(|(path, file)| {
            let inner = path.strip_prefix("docs").unwrap_or(&path);
            (inner.to_owned(), file)
        });
        let texts = texts
            .chain(data(&self.documents))
            .chain(data(&self.licenses));
        let mut files: Files = texts
            .map(|(path, file)| (Path::new(folder).join(path), file))
            .collect();
        files.insert(Path::new(folder).join("syscost"), program(binary));
        add_checksums(&mut files, Path::new(folder), Path::new(folder));
        files
    }

    /// The files that an image is built of for this architecture, with its description.
    pub(super) fn image(&self, binary: &[u8], architecture: &str, commit: Option<&str>) -> Files {
        let mut file = self.containerfile.clone();
        let labels = [
            ("title", Some("syscost")),
            ("version", Some(VERSION)),
            ("licenses", Some(env!("CARGO_PKG_LICENSE"))),
            ("revision", commit),
            ("authors", self.owner.maintainer),
            ("source", self.owner.repository),
            ("url", self.owner.homepage),
        ];
        for (name, value) in labels {
            if let Some(value) = value {
                let _ = writeln!(file, "LABEL org.opencontainers.image.{name}={value:?}");
            }
        }
        // Engines call architectures as Debian does.
        let folder = Path::new("image").join(architecture);
        let mut files = Files::from([
            (folder.join("syscost"), program(binary)),
            ("image/Containerfile".into(), Packed::data(file)),
        ]);
        let licenses = data(&self.licenses);
        files.extend(licenses.map(|(path, file)| (folder.join("licenses").join(path), file)));
        files
    }

    /// The files of the Debian package, at Debian's standard paths.
    pub(super) fn installed(&self, binary: &[u8]) -> Result<Files> {
        let mut files = Files::new();
        files.insert("usr/bin/syscost".into(), program(binary));
        for (path, text) in &self.generated {
            if let Some((place, is_compressed)) = place(path) {
                let content = match is_compressed {
                    true => gzip(text.as_bytes())?,
                    false => text.clone().into_bytes(),
                };
                files.insert(place, Packed::data(content));
            }
        }
        let doc = Path::new(DOC);
        let third_party = self.licenses.get_key_value(Path::new(THIRD_PARTY));
        for (path, text) in self.documents.iter().chain(third_party) {
            let inner = path.strip_prefix("docs").unwrap_or(path);
            let name = match inner.to_str() {
                Some("CHANGELOG.md") => "changelog",
                Some(name) => name,
                None => bail!("{} has no name", path.display()),
            };
            let content = gzip(text.as_bytes())?;
            files.insert(doc.join(format!("{name}.gz")), Packed::data(content));
        }
        let copyright = Packed::data(self.copyright.as_str());
        files.insert(doc.join("copyright"), copyright);
        add_checksums(&mut files, Path::new(""), doc);
        Ok(files)
    }
}

fn data(texts: &BTreeMap<PathBuf, String>) -> impl Iterator<Item = (PathBuf, Packed)> {
    let texts = texts.iter();
    texts.map(|(path, text)| (path.clone(), Packed::data(text.as_str())))
}

fn program(binary: &[u8]) -> Packed {
    Packed {
        content: binary.to_vec(),
        is_program: true,
    }
}

/// Where Debian's man and shells look for a generated file, and whether it is compressed there;
/// `None` for shells without such a place in Debian.
fn place(path: &Path) -> Option<(PathBuf, bool)> {
    let name = path.file_name()?.to_str()?;
    let is_man = path.extension().is_some_and(|ending| ending == "1");
    let share = Path::new("usr/share");
    let place = match name {
        name if is_man => return Some((share.join("man/man1").join(format!("{name}.gz")), true)),
        "syscost.bash" => share.join("bash-completion/completions/syscost"),
        "_syscost" => share.join("zsh/vendor-completions/_syscost"),
        "syscost.fish" => share.join("fish/vendor_completions.d/syscost.fish"),
        _ => return None,
    };
    Some((place, false))
}

/// The Debian package.
pub(super) fn deb(texts: &Texts, binary: &[u8], architecture: &str, time: u64) -> Result<Vec<u8>> {
    let files = texts.installed(binary)?;
    let bytes: usize = files.values().map(|file| file.content.len()).sum();
    let owner = [
        ("Maintainer", texts.owner.maintainer),
        ("Homepage", texts.owner.homepage.or(texts.owner.repository)),
    ];
    let owner: String = owner
        .into_iter()
        .filter_map(|(field, value)| Some(format!("{field}: {}\n", value?)))
        .collect();
    let control = format!(
        "Package: syscost
Version: {VERSION}
Section: utils
Priority: optional
Architecture: {architecture}
{owner}Installed-Size: {}
Description: what this computer charges for its primitives
 Measures what clock reads, calls, system calls, signals, tasks, switches,
 messages, locks, memory, the network and file systems cost on this machine.
 Each number is a median over fresh processes, with its uncertainty and with
 evidence: a number whose evidence contradicts its name is withheld.
",
        bytes.div_ceil(1024)
    );
    let control = Files::from([("control".into(), Packed::data(control))]);
    ar(
        &[
            ("debian-binary", b"2.0\n".to_vec()),
            ("control.tar.gz", tar_gz(&control, time)?),
            ("data.tar.gz", tar_gz(&files, time)?),
        ],
        time,
    )
}

/// Debian's name for the architecture of a target triple.
pub(super) fn architecture(triple: &str) -> Result<&'static str> {
    match triple.split('-').next() {
        Some("x86_64") => Ok("amd64"),
        Some("aarch64") => Ok("arm64"),
        Some(_) | None => bail!("Debian's name for the processor of {triple} is not known here"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::dist::licenses;
    use crate::owner::EXAMPLES;
    use std::process::Command;

    const BINARY: &[u8] = b"a program";

    fn texts(owner: &Owner) -> Texts {
        let root = workspace::root();
        let others = licenses::others(root).unwrap();
        Texts::of(root, owner, &others, &others).unwrap()
    }

    fn package(owner: &Owner) -> Vec<u8> {
        deb(&texts(owner), BINARY, "amd64", 1_767_225_600).unwrap()
    }

    #[test]
    fn the_same_content_makes_the_same_bytes() {
        let [owner, _] = EXAMPLES;
        assert!(package(&owner) == package(&owner));
        let archive = || tar_gz(&texts(&owner).archive("syscost-1", BINARY), 7).unwrap();
        assert!(archive() == archive());
    }

    #[test]
    fn everything_lies_where_debian_looks_for_it() {
        let [owner, _] = EXAMPLES;
        let files = texts(&owner).installed(BINARY).unwrap();
        for path in [
            "usr/bin/syscost",
            "usr/share/man/man1/syscost.1.gz",
            "usr/share/man/man1/syscost-run.1.gz",
            "usr/share/man/man1/syscost-history-prune.1.gz",
            "usr/share/bash-completion/completions/syscost",
            "usr/share/zsh/vendor-completions/_syscost",
            "usr/share/fish/vendor_completions.d/syscost.fish",
            "usr/share/doc/syscost/copyright",
            "usr/share/doc/syscost/changelog.gz",
            "usr/share/doc/syscost/README.md.gz",
            "usr/share/doc/syscost/studies.md.gz",
            "usr/share/doc/syscost/THIRD-PARTY.txt.gz",
            "usr/share/doc/syscost/SHA256SUMS",
            "usr/share/doc/syscost/examples/three-costs.toml.gz",
            // The path that docs/studies.md links to.
            "usr/share/doc/syscost/studies/three-costs.md.gz",
        ] {
            assert!(files.contains_key(Path::new(path)), "{path}");
        }
        let archive = texts(&owner).archive("syscost-1", BINARY);
        for path in [
            "docs/studies/three-costs.md",
            "THIRD-PARTY.txt",
            "SHA256SUMS",
        ] {
            let path = Path::new("syscost-1").join(path);
            assert!(archive.contains_key(&path), "{}", path.display());
        }
        let programs = files.values().filter(|file| file.is_program);
        assert_eq!(programs.count(), 1);
    }

    #[test]
    fn dpkg_reads_the_package_and_who_maintains_it() {
        for owner in EXAMPLES {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("syscost.deb");
            fs::write(&path, package(&owner)).unwrap();
            let dpkg = |option| Command::new("dpkg-deb").arg(option).arg(&path).output();
            let Ok(output) = dpkg("--info") else {
                println!("skipped: no dpkg-deb here");
                return;
            };
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "{output:?}");
            assert!(text.contains("Package: syscost"), "{text}");
            let maintainer = owner.maintainer.map(|one| format!("Maintainer: {one}"));
            let field = text.lines().map(str::trim);
            let field = field.filter(|line| line.starts_with("Maintainer"));
            assert_eq!(field.collect::<Vec<_>>(), Vec::from_iter(maintainer));
            let text = String::from_utf8_lossy(&dpkg("--contents").unwrap().stdout).into_owned();
            assert!(
                text.contains("-rwxr-xr-x root/root") || text.contains("-rwxr-xr-x 0/0"),
                "{text}"
            );
            assert!(text.contains(" usr/bin/syscost"), "{text}");
        }
    }

    #[test]
    fn an_image_is_described_as_far_as_is_known() {
        let labels = |owner: &Owner, commit| {
            let files = texts(owner).image(BINARY, "arm64", commit);
            assert!(files.contains_key(Path::new("image/arm64/syscost")));
            let text = files[Path::new("image/Containerfile")].content.clone();
            let text = String::from_utf8(text).unwrap();
            let labels = text
                .lines()
                .filter_map(|line| line.strip_prefix("LABEL org.opencontainers.image."));
            labels
                .map(|line| line.split('=').next().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        let [none, all] = EXAMPLES;
        assert_eq!(labels(&none, None), ["title", "version", "licenses"]);
        assert_eq!(labels(&all, Some("abc")).len(), 7);
    }
}
