//! The source archive: this workspace with all crates that it needs, from which `cargo build --release` makes the same program without a network.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::archive::{Files, Packed};
use super::licenses::{Part, vendored};
use super::output;
use xtask::{cargo, workspace};

/// The folder of all crates from elsewhere.
const VENDOR: &str = "vendor";

/// Cargo's configuration.
const CONFIG: &str = ".cargo/config.toml";

/// The commit that a repository is at, with `-dirty` if what is packed has changes since; `None` for an unpacked source archive.
pub(super) fn commit(root: &Path) -> Result<Option<String>> {
    if !root.join(".git").exists() {
        return Ok(None);
    }
    let head = output(git(root).args(["rev-parse", "HEAD"]))?;
    let changes = output(git(root).args(["status", "--porcelain", "--untracked-files=no"]))?;
    let dirty = if changes.is_empty() { "" } else { "-dirty" };
    Ok(Some(format!("{}{dirty}", head.trim())))
}

fn git(root: &Path) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(root);
    git
}

/// All files of the archive, in a folder with this name, and the crates among them. An unpacked archive is packed as it is; a repository at this
/// commit, with the crates that cargo has or downloads.
pub(super) fn files(root: &Path, folder: &str, commit: Option<&str>) -> Result<(Files, Vec<Part>)> {
    let mut files = Files::new();
    let Some(commit) = commit else {
        let is_made = |path: &Path| path == Path::new("target");
        add(&mut files, root, Path::new(folder), &is_made)?;
        return Ok((files, vendored(&root.join(VENDOR))?));
    };
    for name in output(git(root).args(["ls-files", "-z"]))?.split_terminator('\0') {
        let path = root.join(name);
        // A file that was removed, but not yet from the index.
        if path.exists() {
            files.insert(Path::new(folder).join(name), packed(&path)?);
        }
    }
    let config = additions(&workspace::read(&root.join(CONFIG))?, commit);
    files.insert(Path::new(folder).join(CONFIG), Packed::data(config));
    let crates = tempfile::tempdir().context("making a folder")?;
    output(
        cargo::command()
            .args(["vendor", "--locked", "--quiet", "--versioned-dirs"])
            .arg(crates.path())
            .current_dir(root),
    )?;
    let place = Path::new(folder).join(VENDOR);
    add(&mut files, crates.path(), &place, &|_| false)?;
    Ok((files, vendored(crates.path())?))
}

/// Cargo's settings with what makes `cargo build --release --features full` that of the release.
fn additions(settings: &str, commit: &str) -> String {
    // A table may be there once only.
    let (before, environment) = settings.split_once("[env]\n").unwrap_or((settings, ""));
    format!(
        "{before}
# Of the source archive: `cargo build --release --offline --locked --features full` makes the released program, byte for byte with the same compilers.
[build]
target = \"host-tuple\"
rustflags = [{}]
rustc-wrapper = \"{WRAPPER}\"
incremental = false

[env]
SYSCOST_COMMIT = \"{commit}\"
{environment}
[source.crates-io]
replace-with = \"{VENDOR}\"

[source.{VENDOR}]
directory = \"{VENDOR}\"
",
        cargo::STATIC.map(|flag| format!("{flag:?}")).join(", "),
        WRAPPER = super::WRAPPER,
    )
}

/// Adds everything in a directory to `place`, except paths within it that are left out.
fn add(
    files: &mut Files,
    from: &Path,
    place: &Path,
    is_left_out: &dyn Fn(&Path) -> bool,
) -> Result<()> {
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let reading = || format!("reading {}", from.join(&folder).display());
        for entry in fs::read_dir(from.join(&folder)).with_context(reading)? {
            let path = folder.join(entry.with_context(reading)?.file_name());
            if is_left_out(&path) {
                continue;
            }
            let whole = from.join(&path);
            if whole.is_dir() {
                folders.push(path);
            } else {
                files.insert(place.join(path), packed(&whole)?);
            }
        }
    }
    Ok(())
}

fn packed(path: &Path) -> Result<Packed> {
    let reading = || format!("reading {}", path.display());
    let mode = fs::metadata(path)
        .with_context(reading)?
        .permissions()
        .mode();
    Ok(Packed {
        content: fs::read(path).with_context(reading)?,
        is_program: mode & 0o100 != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_have_each_table_once() {
        for settings in [
            "[alias]\nx = \"y\"\n",
            "[alias]\n\n[env]\n# Why.\nA = \"b\"\n",
        ] {
            let text = additions(settings, "abc");
            let read: toml::Table = text
                .parse()
                .unwrap_or_else(|error| panic!("{error}: {text}"));
            assert_eq!(read["env"]["SYSCOST_COMMIT"].as_str(), Some("abc"));
            assert_eq!(read["env"].get("A").is_some(), settings.contains('A'));
        }
        let own = workspace::read(&workspace::root().join(CONFIG)).unwrap();
        assert!(additions(&own, "abc").parse::<toml::Table>().is_ok());
    }

    const IDENTITY: [&str; 4] = ["-c", "user.name=a", "-c", "user.email=a@example.org"];

    #[test]
    fn an_unpacked_archive_is_packed_as_the_repository_is() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        for (name, text) in [
            (CONFIG, "[alias]\n"),
            (
                "Cargo.toml",
                "[package]\nname = \"a\"\nversion = \"1.0.0\"\n",
            ),
            (
                "Cargo.lock",
                "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n",
            ),
            ("src/lib.rs", ""),
            ("tool", "#!/bin/sh\n"),
        ] {
            workspace::write(&path(name), text).unwrap();
        }
        fs::set_permissions(path("tool"), fs::Permissions::from_mode(0o755)).unwrap();
        let Ok(_) = output(git(root.path()).args(["init", "--quiet"])) else {
            println!("skipped: no git here");
            return;
        };
        output(git(root.path()).args(["add", "--all"])).unwrap();
        output(
            git(root.path())
                .args(IDENTITY)
                .args(["commit", "--quiet", "-m", "All"]),
        )
        .unwrap();
        let head = commit(root.path()).unwrap().unwrap();
        assert!(head.len() >= 40 && !head.contains('-'), "{head}");
        workspace::write(&path("src/lib.rs"), "//! Changed.\n").unwrap();
        assert_eq!(commit(root.path()).unwrap(), Some(format!("{head}-dirty")));
        workspace::write(&path("notes"), "untracked").unwrap();
        let (packed, _) = files(root.path(), "a-1", Some("abc")).unwrap();
        let names: Vec<&Path> = packed.keys().map(PathBuf::as_path).collect();
        let expected = [CONFIG, "Cargo.lock", "Cargo.toml", "src/lib.rs", "tool"];
        assert_eq!(names, expected.map(|name| Path::new("a-1").join(name)));
        assert!(packed[Path::new("a-1/tool")].is_program);
        let config = String::from_utf8_lossy(&packed[&Path::new("a-1").join(CONFIG)].content);
        assert!(config.starts_with("[alias]\n"), "{config}");
        assert!(config.contains("SYSCOST_COMMIT = \"abc\""), "{config}");
        toml::from_str::<toml::Table>(&config).unwrap();

        let elsewhere = tempfile::tempdir().unwrap();
        for (path, file) in &packed {
            let path = elsewhere.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &file.content).unwrap();
            let mode = if file.is_program { 0o755 } else { 0o644 };
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        let root = elsewhere.path().join("a-1");
        workspace::write(&root.join("target/built"), "").unwrap();
        fs::create_dir_all(root.join(VENDOR)).unwrap();
        assert_eq!(commit(&root).unwrap(), None);
        assert!(files(&root, "a-1", None).unwrap().0 == packed);
    }
}
