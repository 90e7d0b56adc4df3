//! Files that other programs need to measure or check machines with syscost.
//!
//! A template is a folder here and a line of [`TEMPLATES`]. Its files are complete and work as they
//! are; what a site must decide stands at the top of each, with a comment.

/// What one program needs.
#[derive(Debug, Clone, Copy)]
pub struct Template {
    /// What the command line calls it.
    pub name: &'static str,
    /// What it is for, as help has it.
    pub about: &'static str,
    /// Its files, in the order in which they are read.
    pub files: &'static [File],
}

/// One file of a [`Template`].
#[derive(Debug, Clone, Copy)]
pub struct File {
    /// Its name, without a folder.
    pub name: &'static str,
    /// What it holds.
    pub text: &'static str,
}

impl File {
    /// Whether it is a program: its first line says by what it is run.
    pub fn is_program(&self) -> bool {
        self.text.starts_with("#!")
    }
}

/// A file of the folder `$folder`.
macro_rules! file {
    ($folder:literal, $name:literal) => {
        File {
            name: $name,
            text: include_str!(concat!($folder, "/", $name)),
        }
    };
}

/// All templates, by name.
pub const TEMPLATES: &[Template] = &[
    Template {
        name: "grafana",
        about: "Grafana's dashboard, and Prometheus' rules for its alerts",
        files: &[
            file!("grafana", "syscost-dashboard.json"),
            file!("grafana", "syscost-rules.yml"),
        ],
    },
    Template {
        name: "kubernetes",
        about: "a DaemonSet that measures every node, with least privilege",
        files: &[file!("kubernetes", "syscost-daemonset.yaml")],
    },
    Template {
        name: "npd",
        about: "Kubernetes' node-problem-detector: a condition SlowMachine of each node",
        files: &[file!("npd", "syscost-check.json")],
    },
    Template {
        name: "reframe",
        about: "tests for ReFrame: figures of all rows, and whether they are as they should be",
        files: &[file!("reframe", "syscost_reframe.py")],
    },
    Template {
        name: "slurm-healthcheck",
        about: "Slurm's health check: drains a node that is not as it should be",
        files: &[
            file!("slurm-healthcheck", "syscost-healthcheck"),
            file!("slurm-healthcheck", "syscost.nhc"),
        ],
    },
    Template {
        name: "systemd",
        about: "a timer that measures, and the resident exporter of cores",
        files: &[
            file!("systemd", "syscost-run.service"),
            file!("systemd", "syscost-run.timer"),
            file!("systemd", "syscost-cores.service"),
            file!("systemd", "syscost-sysusers.conf"),
            file!("systemd", "syscost-tmpfiles.conf"),
        ],
    },
];

/// Returns the template of this name.
pub fn find(name: &str) -> Option<&'static Template> {
    TEMPLATES.iter().find(|template| template.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_template_and_each_file_has_a_name_of_its_own() {
        let names: Vec<&str> = TEMPLATES.iter().map(|template| template.name).collect();
        assert!(names.is_sorted_by(|one, next| one < next), "{names:?}");
        let files = || TEMPLATES.iter().flat_map(|template| template.files);
        let distinct: BTreeSet<&str> = files().map(|file| file.name).collect();
        assert_eq!(distinct.len(), files().count());
    }

    #[test]
    fn the_files_of_a_folder_are_those_of_its_template() {
        let folders = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/template");
        for template in TEMPLATES {
            let there = std::fs::read_dir(folders.join(template.name)).expect("a folder");
            let there: BTreeSet<String> = there
                .map(|entry| entry.expect("read").file_name().to_string_lossy().into())
                .collect();
            let listed = template.files.iter().map(|file| file.name.to_owned());
            assert_eq!(there, listed.collect(), "{}", template.name);
        }
    }

    #[test]
    fn json_is_valid() {
        for file in TEMPLATES.iter().flat_map(|template| template.files) {
            if file.name.ends_with(".json") {
                let read: Result<serde_json::Value, _> = serde_json::from_str(file.text);
                assert!(read.is_ok(), "{}: {read:?}", file.name);
            }
        }
    }
}
