//! `cargo lab machines`: the program in emulated machines, whose processors, kernels and settings this one
//! has not.
//!
//! `list.toml` says which machines there are and what is done in them, `expected.toml` what does not go well.
//! An interpreted processor's times mean nothing; what is judged is which rows have a number, what is said of
//! the others, and what is found out about the machine.

mod boot;
mod cpio;
mod judge;
mod kernel;
mod list;
mod packages;
mod record;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use xtask::cargo;

use crate::listed;

use boot::{Booted, Parts};
use list::{Arch, List, Machine, Prints, Step};
use packages::Packages;
use record::Record;

/// Arguments of `machines`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Machines whose names contain one of these words; all without any
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    /// Only the cheapest machines that together try most
    #[arg(long)]
    quick: bool,
    /// Judge anew what machines printed last time, and boot none
    #[arg(long)]
    kept: bool,
    /// Write what came of all machines to docs/platforms.md and the README
    #[arg(long, conflicts_with_all = ["quick", "words", "program", "arm_program"])]
    record: bool,
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
    #[arg(long, value_name = "FOLDER", default_value_os_t = listed::kept())]
    folder: PathBuf,
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let list = List::read()?;
    let is_asked = |machine: &&Machine| {
        let is_named = listed::is_asked(&arguments.words, &machine.name);
        is_named && (machine.quick || !arguments.quick)
    };
    let machines: Vec<&Machine> = list.machine.iter().filter(is_asked).collect();
    ensure!(!machines.is_empty(), "no machine is called so");
    let mut bench = Bench {
        list: &list,
        packages: Mutex::new(Packages::new(&arguments.folder.join("packages"))),
        parts: BTreeMap::new(),
        arguments,
    };
    for arch in [Arch::X86, Arch::Arm] {
        let of_it = machines.iter().filter(|machine| machine.arch == arch);
        let of_it: Vec<&Machine> = of_it.copied().collect();
        if !of_it.is_empty() && !arguments.kept {
            let parts = bench.parts_of(arch, &of_it)?;
            bench.parts.insert(arch, parts);
        }
    }
    let mut record = Record::new(&list);
    println!("{}", record.head());
    let mut complaints = Vec::new();
    bench.side_by_side(&machines, |machine, (cells, wrong)| {
        println!("{}", record.add(machine, cells));
        complaints.extend(wrong.iter().map(|what| format!("{}: {what}", machine.name)));
    });
    if arguments.record {
        record.write()?;
    }
    listed::ended(&complaints, &bench.printed())
}

/// How each step ended, for the table.
fn ends(list: &List, machine: &Machine, booted: &Booted) -> Vec<String> {
    let end = |step: &Step| {
        let begun = booted.steps.iter().find(|taken| taken.name == step.name);
        match begun.map(|taken| (taken, taken.code)) {
            _ if !machine.takes(step) => String::new(),
            None => "not begun".to_owned(),
            Some((_, None)) => "not ended".to_owned(),
            Some((taken, Some(code))) => {
                judge::summary(step, taken).unwrap_or_else(|| match code {
                    0 => "ok".to_owned(),
                    code => format!("exit {code}"),
                })
            }
        }
    };
    list.step.iter().map(end).collect()
}

/// What machines are booted from.
struct Bench<'a> {
    list: &'a List,
    arguments: &'a Arguments,
    packages: Mutex<Packages>,
    parts: BTreeMap<Arch, Parts>,
}

/// A machine's cells of the table, and what in it is not as listed.
type Outcome = (Vec<String>, Vec<String>);

impl Bench<'_> {
    /// Boots these machines, as many at once as this one has CPUs, and gives each outcome as it comes.
    fn side_by_side<'m>(&self, machines: &[&'m Machine], mut to: impl FnMut(&'m Machine, Outcome)) {
        let next = AtomicUsize::new(0);
        let (sender, outcomes) = mpsc::channel();
        let boot_all = |sender: Sender<(&'m Machine, Outcome)>| {
            while let Some(machine) = machines.get(next.fetch_add(1, Ordering::Relaxed)) {
                let booted = match self.arguments.kept {
                    true => self.kept(&machine.name),
                    false => self.boot(machine),
                };
                let outcome = match booted {
                    Ok(booted) => self.judged(machine, &booted),
                    Err(error) => (Vec::new(), vec![format!("{error:#}")]),
                };
                // Only a panic ends who receives it.
                let _ = sender.send((machine, outcome));
            }
        };
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(1, Into::into) {
                let sender = sender.clone();
                scope.spawn(|| boot_all(sender));
            }
            drop(sender);
            for (machine, outcome) in outcomes {
                to(machine, outcome);
            }
        });
    }

    /// What the outcome of a machine is that was booted.
    fn judged(&self, machine: &Machine, booted: &Booted) -> Outcome {
        let found = judge::findings(self.list, machine, booted);
        let verdict = judge::verdict(self.list, &machine.name, booted, &found);
        let unexpected = verdict.unexpected.iter().map(ToString::to_string);
        let missing = verdict.missing.iter();
        let missing = missing.map(|one| format!("no longer so: {one} ({})", one.because));
        let wrong: Vec<String> = unexpected.chain(missing).collect();
        let mut cells = ends(self.list, machine, booted);
        cells.extend([
            judge::commit(booted).unwrap_or_default(),
            format!("{:.0}", booted.took.as_secs_f64()),
            verdict.expected.to_string(),
            wrong.len().to_string(),
        ]);
        (cells, wrong)
    }

    fn boot(&self, machine: &Machine) -> Result<Booted> {
        let kernel = {
            let packages = self.packages.lock().unwrap_or_else(PoisonError::into_inner);
            kernel::of(machine, &packages)?
        };
        let limit =
            Duration::from_secs_f64(self.list.seconds * machine.times * self.arguments.scale);
        let steps: Vec<&Step> = self.list.steps(machine).collect();
        let booted = boot::boot(machine, &kernel, &self.parts[&machine.arch], &steps, limit)?;
        self.keep(&machine.name, &booted)?;
        Ok(booted)
    }

    fn parts_of(&mut self, arch: Arch, machines: &[&Machine]) -> Result<Parts> {
        let given = match arch {
            Arch::X86 => &self.arguments.program,
            Arch::Arm => &self.arguments.arm_program,
        };
        let packages = self
            .packages
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let busybox = packages.unpacked("bookworm", arch, "busybox-static")?;
        let machines = machines.iter();
        let mut steps = machines.flat_map(|machine| self.list.steps(machine));
        let tests = match steps.any(|step| step.prints == Some(Prints::Tests)) {
            true => tests(arch)?,
            false => Vec::new(),
        };
        Ok(Parts {
            program: given.clone().map_or_else(|| program(arch), Ok)?,
            busybox: busybox.join("bin/busybox"),
            tests,
        })
    }

    /// The folder with what machines printed.
    fn printed(&self) -> PathBuf {
        self.arguments.folder.join("printed")
    }

    /// What a machine printed last time.
    fn kept(&self, machine: &str) -> Result<Booted> {
        let folder = self.printed().join(machine);
        let read = |name: &str| {
            let path = folder.join(name);
            fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))
        };
        let seconds = read("seconds")?
            .trim()
            .parse()
            .context("reading how long it took")?;
        Ok(Booted::of(
            read("console")?,
            Duration::from_secs_f64(seconds),
        ))
    }

    /// Keeps what a machine printed.
    fn keep(&self, machine: &str, booted: &Booted) -> Result<()> {
        let folder = self.printed().join(machine);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.join(name);
            fs::write(&path, bytes).with_context(|| format!("writing {}", path.display()))
        };
        write("console", booted.printed.as_bytes())?;
        write("seconds", booted.took.as_secs_f64().to_string().as_bytes())?;
        for step in &booted.steps {
            write(&format!("{}.out", step.name), &step.out)?;
            write(&format!("{}.err", step.name), &step.err)?;
        }
        Ok(())
    }
}

/// Builds the static program.
fn program(arch: Arch) -> Result<PathBuf> {
    built(arch, |environment| {
        Ok(cargo::release(Some(arch.triple()), environment)?.program)
    })
}

/// Builds the tests of what touches processor and kernel, as static programs.
fn tests(arch: Arch) -> Result<Vec<PathBuf>> {
    let packages = ["--package", "syscost-sys", "--package", "syscost-harness"];
    let of_tests = ["test", "--no-run", "--lib", "--target", arch.triple()];
    built(arch, |environment| {
        let built = cargo::built(&[&of_tests[..], &packages].concat(), environment)?;
        Ok(built.into_iter().map(|test| test.path).collect())
    })
}

/// What is built with the environment variables that make programs for this architecture static.
fn built<T>(arch: Arch, build: impl FnOnce(&[(&str, &OsStr)]) -> Result<T>) -> Result<T> {
    let [linker, gcc] = cargo::linker(arch.triple());
    let flags = linker.replace("_LINKER", "_RUSTFLAGS");
    build(&[
        (&flags, cargo::STATIC.join(" ").as_ref()),
        (&linker, gcc.as_ref()),
    ])
}
