//! The files of fixtures/machines/*.txt: what they say, and the tree of /proc and /sys that they
//! stand for. Their form is described in the README there.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use syscost_sys::cpu::{format_list, parse_list};

/// How CPUs are listed in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As lists, by all kernels of today.
    Lists,
    /// As masks only, by old ones, which have no list of those online either.
    Masks,
}

/// A recorded machine.
pub(super) struct Recorded {
    /// The file's name, without its ending.
    pub(super) name: String,
    /// What the field's tools say of it.
    pub(super) answers: BTreeMap<String, String>,
    facts: Vec<(String, String)>,
    files: Vec<(String, String)>,
}

/// All recorded machines.
pub(super) fn all() -> Vec<Recorded> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/machines");
    let entries = fs::read_dir(folder).expect("the fixtures").flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "txt"));
    paths.sort();
    paths.iter().map(|path| Recorded::read(path)).collect()
}

impl Recorded {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("a text");
        let name = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let (mut answers, mut facts, mut files) = (Vec::new(), Vec::new(), Vec::new());
        for line in text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
        {
            if let Some(more) = line.strip_prefix("=   ") {
                continue_with(&mut answers, more);
            } else if let Some(answer) = line.strip_prefix("= ") {
                answers.push(fact(answer));
            } else if let Some(more) = line.strip_prefix("  ") {
                continue_with(&mut facts, more);
            } else if let Some(more) = line.strip_prefix("| ") {
                let file: &mut (String, String) = files.last_mut().expect("a file");
                file.1 += &format!("{more}\n");
            } else if let Some(path) = line.strip_prefix("file ") {
                files.push((path.to_owned(), String::new()));
            } else {
                facts.push(fact(line));
            }
        }
        Self {
            name,
            answers: answers.into_iter().collect(),
            facts,
            files,
        }
    }

    fn values(&self, key: &str) -> impl Iterator<Item = &str> {
        let of_key = self.facts.iter().filter(move |(known, _)| known == key);
        of_key.map(|(_, value)| value.as_str())
    }

    fn online(&self) -> Vec<u32> {
        list(self.values("online").next().expect("the CPUs online"))
    }

    /// Sets of CPUs: `each` by itself, `all`, those of each `core`, or as listed.
    fn sets(&self, value: &str) -> Vec<Vec<u32>> {
        let each = |cpus: Vec<u32>| cpus.into_iter().map(|cpu| vec![cpu]).collect();
        match value {
            "each" => each(self.online()),
            "all" => vec![self.online()],
            "core" => self.sets(self.values("threads").next().expect("the threads")),
            _ => match value.strip_prefix("each of ") {
                Some(cpus) => each(list(cpus)),
                None => value.split(" | ").map(list).collect(),
            },
        }
    }

    /// Writes its tree below this folder.
    pub(super) fn write(&self, root: &Path, form: Form) {
        let tree = Tree { root, form };
        let system = "sys/devices/system";
        let of = |cpu: u32| format!("{system}/cpu/cpu{cpu}");
        let online = self.online();
        if form == Form::Lists {
            tree.write(&format!("{system}/cpu/online"), &format_list(&online));
        }
        for key in ["together", "threads"] {
            let name = match key {
                "together" => "core_siblings",
                _ => "thread_siblings",
            };
            for set in self.values(key).flat_map(|value| self.sets(value)) {
                for cpu in set.iter().filter(|cpu| online.contains(cpu)) {
                    tree.set(&format!("{}/topology/{name}", of(*cpu)), "_list", "", &set);
                }
            }
        }
        let mut indices: BTreeMap<u32, u32> = BTreeMap::new();
        for (key, value) in &self.facts {
            let words: Vec<&str> = key.split(' ').collect();
            match words[..] {
                ["online" | "together" | "threads"] => {}
                ["package", number] => {
                    for cpu in self.sets(value).into_iter().flatten() {
                        let own = cpu.to_string();
                        let number = if number == "each" {
                            own.as_str()
                        } else {
                            number
                        };
                        tree.write(&format!("{}/topology/physical_package_id", of(cpu)), number);
                    }
                }
                ["node", number] => {
                    let path = format!("{system}/node/node{number}/cpu");
                    tree.set(&path, "list", "map", &list(value));
                }
                ["cache", level, kind, size, line] => {
                    for set in self.sets(value) {
                        for cpu in set.iter().filter(|cpu| online.contains(cpu)) {
                            let index = indices.entry(*cpu).or_default();
                            let folder = format!("{}/cache/index{index}", of(*cpu));
                            *index += 1;
                            for (file, text) in [
                                ("level", level),
                                ("type", kind),
                                ("size", size),
                                ("coherency_line_size", line),
                            ] {
                                if text != "-" {
                                    tree.write(&format!("{folder}/{file}"), text);
                                }
                            }
                            tree.set(&format!("{folder}/shared_cpu"), "_list", "_map", &set);
                        }
                    }
                }
                ["cpuinfo", cpus] => {
                    for cpu in self.sets(cpus).into_iter().flatten() {
                        let fields = value.split("; ").filter(|field| !field.is_empty());
                        let lines = fields.map(|field| field.replace('=', "\t: ") + "\n");
                        let lines: String = lines.collect();
                        tree.append("proc/cpuinfo", &format!("processor\t: {cpu}\n{lines}\n"));
                    }
                }
                _ => panic!("{}: what is `{key}`?", self.name),
            }
        }
        for (path, text) in &self.files {
            tree.append(path, text);
        }
    }
}

fn fact(line: &str) -> (String, String) {
    let (key, value) = line.split_once(':').expect("key: value");
    (key.to_owned(), value.trim().to_owned())
}

/// Continues the last value on another line.
fn continue_with(facts: &mut [(String, String)], more: &str) {
    let (_, value) = facts.last_mut().expect("something to continue");
    *value += &format!(" {more}");
}

fn list(text: &str) -> Vec<u32> {
    parse_list(text).expect("a list of CPUs")
}

/// A tree that is being written.
struct Tree<'a> {
    root: &'a Path,
    form: Form,
}

impl Tree<'_> {
    fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("make the folder");
        fs::write(path, format!("{text}\n")).expect("write the file");
    }

    fn append(&self, path: &str, text: &str) {
        let before = fs::read_to_string(self.root.join(path)).unwrap_or_default();
        self.write(path, &(before + text));
    }

    /// Writes a set of CPUs to the file with this beginning, and the end for its form.
    fn set(&self, path: &str, of_list: &str, of_mask: &str, cpus: &[u32]) {
        match self.form {
            Form::Lists => self.write(&format!("{path}{of_list}"), &format_list(cpus)),
            Form::Masks => self.write(&format!("{path}{of_mask}"), &mask(cpus)),
        }
    }
}

/// Words of 32 bits in hexadecimal, the highest first.
fn mask(cpus: &[u32]) -> String {
    let words = cpus.iter().max().map_or(1, |last| last / 32 + 1);
    let word = |word: u32| {
        let bits = cpus.iter().filter(|cpu| **cpu / 32 == word);
        bits.fold(0_u32, |bits, cpu| bits | 1 << (cpu % 32))
    };
    let words: Vec<String> = (0..words)
        .rev()
        .map(|at| format!("{:08x}", word(at)))
        .collect();
    words.join(",")
}
