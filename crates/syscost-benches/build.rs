//! Compiles the programs of the studies with the flags that each study states, and links them into
//! one static executable, which a procedure's name as its first argument chooses from: a program of
//! a megabyte, as a single one of them would be.
//!
//! Where there is no C compiler, or no C library to link statically, the executable is empty and
//! the reason is kept: those rows say so, all others are as ever.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde::Deserialize;

/// What a build needs to know of a study.
#[derive(Deserialize)]
struct Study {
    /// The flags of its programs.
    #[serde(default)]
    flags: String,
}

/// What was made.
#[derive(Default)]
struct Programs {
    executable: Vec<u8>,
    /// The compiler's name and version.
    compiler: String,
    /// `study=flags` of each study, separated by semicolons.
    flags: String,
}

fn main() {
    if env::var_os("CARGO_FEATURE_STUDIES").is_none() {
        return;
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let studies = Path::new("src/study");
    println!("cargo::rerun-if-changed={}", studies.display());
    println!("cargo::rerun-if-env-changed=CC");
    let (programs, missing) = match programs(studies, &out) {
        Ok(programs) => (programs, String::new()),
        Err(reason) => (Programs::default(), reason),
    };
    let Programs {
        executable,
        compiler,
        flags,
    } = programs;
    fs::write(out.join("programs"), executable).expect("OUT_DIR is writable");
    println!("cargo::rustc-env=SYSCOST_PROGRAMS_COMPILER={compiler}");
    println!("cargo::rustc-env=SYSCOST_PROGRAMS_FLAGS={flags}");
    println!("cargo::rustc-env=SYSCOST_PROGRAMS_MISSING={missing}");
}

/// Compiles all programs and links them.
fn programs(studies: &Path, out: &Path) -> Result<Programs, String> {
    let found = cc::Build::new()
        .cargo_metadata(false)
        .opt_level(0)
        .debug(false)
        .try_get_compiler();
    let compiler = found.map_err(|error| one_line(error.to_string()))?;
    let version = output(Command::new(compiler.path()).arg("--version"))?;
    let mut objects = Vec::new();
    let (mut declared, mut chosen) = (String::new(), String::new());
    let mut flags = Vec::new();
    for folder in entries(studies) {
        let Ok(text) = fs::read_to_string(folder.join("study.toml")) else {
            continue;
        };
        let facts: Study = toml::from_str(&text).map_err(|error| one_line(error.to_string()))?;
        flags.push(format!("{}={}", stem(&folder), facts.flags));
        let is_program = |file: &PathBuf| file.extension().is_some_and(|end| end == "c");
        for source in entries(&folder).into_iter().filter(is_program) {
            let (study, name) = (stem(&folder), stem(&source));
            let begins = format!("{study}_{name}");
            let object = out.join(format!("{begins}.o"));
            let mut command = Command::new(compiler.path());
            command.args(facts.flags.split_whitespace());
            command.args(["-std=gnu11", "-Wall", "-Wextra", "-c", "-o"]);
            command
                .arg(&object)
                .arg(source)
                .arg(format!("-Dmain={begins}"));
            output(&mut command)?;
            objects.push(object);
            let _ = writeln!(declared, "int {begins}(int, char **);");
            let _ = writeln!(
                chosen,
                "    if (!strcmp(argv[1], \"{study}/{name}\")) return {begins}(argc - 1, argv + 1);"
            );
        }
    }
    let chooser = out.join("chooser.c");
    let text = format!(
        "#include <string.h>\n{declared}\
         int main(int argc, char **argv)\n{{\n    if (argc < 2) return 2;\n{chosen}    return 2;\n}}\n"
    );
    fs::write(&chooser, text).map_err(|error| error.to_string())?;
    let executable = out.join("programs.linked");
    let mut link = Command::new(compiler.path());
    link.args(["-static", "-pthread", "-O0", "-o"])
        .arg(&executable)
        .arg(&chooser)
        .args(&objects);
    output(link.arg("-lm"))?;
    let executable = fs::read(&executable).map_err(|error| error.to_string())?;
    Ok(Programs {
        executable,
        compiler: version.lines().next().unwrap_or_default().to_owned(),
        flags: flags.join(";"),
    })
}

/// What a folder holds, in the order of names.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn stem(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// What a command prints on standard output.
fn output(command: &mut Command) -> Result<String, String> {
    let ran = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if ran.status.success() {
        return Ok(String::from_utf8_lossy(&ran.stdout).into_owned());
    }
    println!("cargo::warning={command:?} failed");
    for line in String::from_utf8_lossy(&ran.stderr).lines() {
        println!("cargo::warning={line}");
    }
    let program = command.get_program().to_string_lossy();
    Err(format!(
        "{program} could not compile and link them statically when syscost was built"
    ))
}

/// The first line: a message of Cargo's ends with the line.
fn one_line(message: String) -> String {
    message.lines().next().unwrap_or_default().to_owned()
}
