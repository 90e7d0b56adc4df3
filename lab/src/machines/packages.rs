//! Debian's packages of any suite and architecture, downloaded by apt and unpacked in a folder, once.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::list::Arch;

/// A folder of packages that are unpacked, and what apt knows of the suites they are of.
#[derive(Debug)]
pub(super) struct Packages {
    folder: PathBuf,
}

impl Packages {
    pub(super) fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// The folder with the files of this package; of the newest kernel, if it only names that.
    pub(super) fn unpacked(&self, suite: &str, arch: Arch, package: &str) -> Result<PathBuf> {
        let of_suite = self.folder.join(format!("{suite}-{}", arch.of_debian()));
        let unpacked = of_suite.join(package);
        if unpacked.exists() {
            return Ok(unpacked);
        }
        eprintln!("getting {package} of {suite} for {}", arch.of_debian());
        let apt = Apt::new(of_suite.join("apt"), suite, arch)?;
        let package = apt.named(package)?;
        let file = apt.download(&package)?;
        // Under another name, until it is whole.
        let begun = of_suite.join("unpacking");
        let _ = fs::remove_dir_all(&begun);
        run(Command::new("dpkg-deb")
            .arg("--extract")
            .args([&file, &begun]))?;
        // None is loaded, and they are nearly all of a kernel.
        let _ = fs::remove_dir_all(begun.join("lib/modules"));
        fs::rename(&begun, &unpacked).with_context(|| format!("naming {}", unpacked.display()))?;
        fs::remove_file(&file).with_context(|| format!("removing {}", file.display()))?;
        Ok(unpacked)
    }
}

/// An apt that knows of one suite of one architecture, and of nothing that is installed.
struct Apt {
    folder: PathBuf,
}

impl Apt {
    fn new(folder: PathBuf, suite: &str, arch: Arch) -> Result<Self> {
        let apt = Self { folder };
        for name in [
            "etc/apt.conf.d",
            "etc/preferences.d",
            "etc/sources.list.d",
            "state/lists/partial",
            "cache/archives/partial",
        ] {
            let path = apt.folder.join(name);
            fs::create_dir_all(&path).with_context(|| format!("making {}", path.display()))?;
        }
        apt.write("state/status", "")?;
        apt.write(
            "etc/sources.list",
            &format!(
                "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] \
                 http://deb.debian.org/debian {suite} main\n"
            ),
        )?;
        let mut configuration = String::new();
        for (key, value) in [
            ("Dir", &*apt.folder.display().to_string()),
            ("Dir::Etc", "etc"),
            ("Dir::Etc::SourceList", "sources.list"),
            ("Dir::State", "state"),
            ("Dir::State::Status", "status"),
            ("Dir::Cache", "cache"),
            ("APT::Architecture", arch.of_debian()),
            ("APT::Architectures", arch.of_debian()),
            ("APT::Sandbox::User", ""),
            ("Acquire::Languages", "none"),
            ("Acquire::GzipIndexes", "true"),
            ("Dir::Cache::PkgCache", ""),
            ("Dir::Cache::SrcPkgCache", ""),
            // What mirrors serve may be old; it is signed all the same.
            ("Acquire::Check-Valid-Until", "false"),
        ] {
            writeln!(configuration, "{key} \"{value}\";")?;
        }
        apt.write("apt.conf", &configuration)?;
        run(apt.command("apt-get").args(["--quiet=2", "update"]))?;
        Ok(apt)
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.folder.join(name);
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("APT_CONFIG", self.folder.join("apt.conf"))
            .current_dir(&self.folder);
        command
    }

    /// The package with the kernel that this one stands for, or itself if it is of no kernel.
    fn named(&self, package: &str) -> Result<String> {
        let words = ["depends", "--important", package];
        let depends = run(self.command("apt-cache").args(words))?;
        let names = depends
            .lines()
            .filter_map(|line| line.trim().strip_prefix("Depends: "));
        let mut kernels = names
            .filter(|name| name.starts_with("linux-image-") || name.starts_with("linux-binary-"));
        kernels
            .next()
            .map_or_else(|| Ok(package.to_owned()), |kernel| self.named(kernel))
    }

    fn download(&self, package: &str) -> Result<PathBuf> {
        // Where nothing is left of a download that was interrupted.
        let folder = self.folder.join("download");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).context("making a folder for what apt downloads")?;
        run(self
            .command("apt-get")
            .args(["--quiet=2", "download", package])
            .current_dir(&folder))?;
        let files = fs::read_dir(&folder).context("reading what apt has downloaded")?;
        let mut paths = files.flatten().map(|entry| entry.path());
        paths
            .find(|path| path.extension().is_some_and(|end| end == "deb"))
            .with_context(|| format!("apt has downloaded no {package}"))
    }
}

/// What a command prints, which must succeed.
pub(super) fn run(command: &mut Command) -> Result<String> {
    let name = command.get_program().display().to_string();
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("starting {name}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name}: {}", said.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
