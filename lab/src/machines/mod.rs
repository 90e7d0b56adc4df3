//! `cargo lab machines`: the program in emulated machines, whose processors, kernels and settings this one
//! has not.
//!
//! `list.toml` says which machines there are and what is done in them, `expected.toml` what does not go well.
//! An interpreted processor's times mean nothing; what is judged is which rows have a number, what is said of
//! the others, and what is found out about the machine.

mod boot;
mod cpio;
mod judge;
mod list;
mod packages;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use xtask::cargo;

use boot::{Booted, Parts};
use list::{Arch, List, Machine};
use packages::Packages;

/// Arguments of `machines`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Machines whose names contain one of these words; all without any
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    /// Only the cheapest machines that together try most
    #[arg(long)]
    quick: bool,
    /// How many times longer than listed a machine may take, and the run in it
    #[arg(long, default_value_t = 1.0)]
    scale: f64,
    /// A static program for x86-64; without it one is built
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// A static program for 64-bit Arm; without it one is built
    #[arg(long, value_name = "FILE")]
    arm_program: Option<PathBuf>,
    /// Where kernels are kept, and the last output of each machine
    #[arg(long, value_name = "FOLDER", default_value_os_t = kept())]
    folder: PathBuf,
}

/// `~/.cache/syscost-lab`, or the same below `XDG_CACHE_HOME`.
fn kept() -> PathBuf {
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(env::home_dir()?.join(".cache")));
    cache.unwrap_or_else(env::temp_dir).join("syscost-lab")
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let list = List::read()?;
    let is_asked = |machine: &&Machine| {
        let mut words = arguments.words.iter();
        let is_named = words.len() == 0 || words.any(|word| machine.name.contains(word.as_str()));
        is_named && (machine.quick || !arguments.quick)
    };
    let machines: Vec<&Machine> = list.machine.iter().filter(is_asked).collect();
    ensure!(!machines.is_empty(), "no machine is called so");
    let mut bench = Bench {
        list: &list,
        packages: Packages::new(&arguments.folder.join("packages")),
        parts: BTreeMap::new(),
        arguments,
    };
    let steps = list.step.iter().map(|step| &*step.name);
    let head = steps.chain(["rows", "seconds", "as listed", "not as listed"]);
    let head: Vec<String> = head.map(str::to_owned).collect();
    println!("{}", row("machine", &head));
    println!("{}", row("---", &vec!["---".to_owned(); head.len()]));
    let mut complaints = Vec::new();
    for machine in machines {
        let (cells, wrong) = match bench.boot(machine) {
            Ok(booted) => bench.judged(machine, &booted),
            Err(error) => (Vec::new(), vec![format!("{error:#}")]),
        };
        println!("{}", row(&machine.name, &cells));
        complaints.extend(wrong.iter().map(|what| format!("{}: {what}", machine.name)));
    }
    if !complaints.is_empty() {
        println!("\nNot as listed:\n- {}", complaints.join("\n- "));
        bail!(
            "{} of what happened is not as listed; what machines printed is in {}",
            complaints.len(),
            bench.printed().display()
        );
    }
    Ok(())
}

/// A line of the table.
fn row(machine: &str, cells: &[String]) -> String {
    format!("| {machine} | {} |", cells.join(" | "))
}

/// How each step ended, for the table.
fn ends(list: &List, machine: &Machine, booted: &Booted) -> Vec<String> {
    let taken: Vec<&str> = list.steps(machine).map(|step| &*step.name).collect();
    let end = |name: &str| {
        let begun = booted.steps.iter().find(|step| step.name == name);
        match begun.map(|step| step.code) {
            _ if !taken.contains(&name) => String::new(),
            None => "not begun".to_owned(),
            Some(None) => "not ended".to_owned(),
            Some(Some(0)) => "ok".to_owned(),
            Some(Some(code)) => format!("exit {code}"),
        }
    };
    list.step.iter().map(|step| end(&step.name)).collect()
}

/// What machines are booted from.
struct Bench<'a> {
    list: &'a List,
    arguments: &'a Arguments,
    packages: Packages,
    parts: BTreeMap<Arch, Parts>,
}

impl Bench<'_> {
    /// A machine's cells of the table, and what in it is not as listed.
    fn judged(&self, machine: &Machine, booted: &Booted) -> (Vec<String>, Vec<String>) {
        let found = judge::findings(self.list, machine, booted);
        let verdict = judge::verdict(self.list, &machine.name, booted, &found);
        let unexpected = verdict.unexpected.iter().map(ToString::to_string);
        let missing = verdict.missing.iter();
        let missing = missing.map(|one| format!("no longer so: {one} ({})", one.because));
        let wrong: Vec<String> = unexpected.chain(missing).collect();
        let mut cells = ends(self.list, machine, booted);
        cells.extend([
            judge::measured(booted),
            format!("{:.0}", booted.took.as_secs_f64()),
            verdict.expected.to_string(),
            wrong.len().to_string(),
        ]);
        (cells, wrong)
    }

    fn boot(&mut self, machine: &Machine) -> Result<Booted> {
        let [suite, kernel] = &machine.kernel;
        let kernel = self.packages.unpacked(suite, machine.arch, kernel)?;
        let limit =
            Duration::from_secs_f64(self.list.seconds * machine.times * self.arguments.scale);
        let steps = self.list.steps(machine);
        let parts = match self.parts.get(&machine.arch) {
            Some(parts) => parts,
            None => {
                let parts = self.parts_of(machine.arch)?;
                self.parts.entry(machine.arch).or_insert(parts)
            }
        };
        let booted = boot::boot(machine, &kernel, parts, steps, limit)?;
        self.keep(&machine.name, &booted)?;
        Ok(booted)
    }

    fn parts_of(&self, arch: Arch) -> Result<Parts> {
        let given = match arch {
            Arch::X86 => &self.arguments.program,
            Arch::Arm => &self.arguments.arm_program,
        };
        let busybox = self.packages.unpacked("bookworm", arch, "busybox-static")?;
        Ok(Parts {
            program: given.clone().map_or_else(|| build(arch), Ok)?,
            busybox: busybox.join("bin/busybox"),
        })
    }

    /// The folder with what machines printed.
    fn printed(&self) -> PathBuf {
        self.arguments.folder.join("printed")
    }

    /// Keeps what a machine printed, for people.
    fn keep(&self, machine: &str, booted: &Booted) -> Result<()> {
        let folder = self.printed().join(machine);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.join(name);
            fs::write(&path, bytes).with_context(|| format!("writing {}", path.display()))
        };
        write("console", booted.printed.as_bytes())?;
        for step in &booted.steps {
            write(&format!("{}.out", step.name), &step.out)?;
            write(&format!("{}.err", step.name), &step.err)?;
        }
        Ok(())
    }
}

/// Builds the static program.
fn build(arch: Arch) -> Result<PathBuf> {
    let triple = arch.triple();
    let variable = |what: &str| {
        format!(
            "CARGO_TARGET_{}_{what}",
            triple.replace('-', "_").to_uppercase()
        )
    };
    let linker = format!("{}-gcc", triple.replace("-unknown", ""));
    let flags = cargo::STATIC.join(" ");
    let environment = [
        (&*variable("RUSTFLAGS"), flags.as_ref()),
        (&*variable("LINKER"), linker.as_ref()),
    ];
    Ok(cargo::release(Some(triple), &environment)?.program)
}
