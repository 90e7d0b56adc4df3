//! A run without what names its machine's owner: for pages and documents that strangers will read.

use std::collections::BTreeSet;

use crate::run::{NfsServer, Peer};
use crate::{Directory, Fact, Machine, Run};

/// What stands for a name that was taken out.
const UNNAMED: &str = "(unnamed)";

impl Run {
    /// Takes out host names, addresses, paths, the kernel's command line and build line, the environment, and the
    /// names of mounted servers. What is measured and what explains it stays: hardware, kernel release, settings.
    /// Labels of directories stay too: they are parts of rows' names.
    pub fn anonymize(&mut self) {
        let mut names: BTreeSet<String> = BTreeSet::new();
        let mut name = |text: &str| {
            // Shorter ones would be found within words.
            if text.len() > 2 {
                names.insert(text.to_owned());
            }
        };
        name(&self.machine.hostname);
        if let Some(peer) = &self.peer {
            let parts = [&peer.name, &peer.address, &peer.machine.hostname];
            parts.into_iter().for_each(|part| name(part));
            name(Peer::host_of(&peer.name));
            name(Peer::host_of(&peer.address));
        }
        if let Some(nfs) = &self.nfs {
            [&nfs.name, &nfs.export]
                .into_iter()
                .for_each(|part| name(part));
            name(&NfsServer::place_of(&nfs.export));
        }
        for directory in &self.directories {
            let served = directory.nfs.as_ref().map(|nfs| &nfs.server);
            let source = Some(&directory.source).filter(|_| served.is_some());
            let parts = [
                Some(&directory.path),
                Some(&directory.mount_point),
                served,
                source,
            ];
            parts.into_iter().flatten().for_each(|part| name(part));
        }
        // Longer names first: a path before the mount point that it begins with.
        let mut names: Vec<String> = names.into_iter().collect();
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        let clean = |text: &mut String| {
            for name in &names {
                if text.contains(name.as_str()) {
                    *text = text.replace(name.as_str(), UNNAMED);
                }
            }
        };
        for row in &mut self.measurements {
            row.reason.iter_mut().for_each(clean);
            for evidence in &mut row.evidence {
                clean(&mut evidence.claim);
                evidence.reason.iter_mut().for_each(clean);
                let facts = [Some(&mut evidence.expected), evidence.observed.as_mut()];
                for fact in facts.into_iter().flatten() {
                    if let Fact::Text(text) = fact {
                        clean(text);
                    }
                }
            }
        }
        for warning in &mut self.warnings {
            clean(&mut warning.message);
            clean(&mut warning.advice);
        }
        anonymize_machine(&mut self.machine);
        if let Some(peer) = &mut self.peer {
            peer.name = UNNAMED.to_owned();
            peer.address = UNNAMED.to_owned();
            anonymize_machine(&mut peer.machine);
        }
        if let Some(nfs) = &mut self.nfs {
            nfs.name = UNNAMED.to_owned();
            nfs.export = UNNAMED.to_owned();
        }
        for directory in &mut self.directories {
            anonymize_directory(directory);
        }
        self.config.environment.clear();
        self.config.program = None;
    }
}

fn anonymize_machine(machine: &mut Machine) {
    machine.hostname.clear();
    machine.kernel_cmdline = None;
    machine.kernel_version = None;
}

fn anonymize_directory(directory: &mut Directory) {
    directory.path.clear();
    directory.mount_point.clear();
    // A device's name says nothing of its owner; a server's does, and so do the options of its mount.
    if let Some(nfs) = &mut directory.nfs {
        nfs.server = UNNAMED.to_owned();
        directory.source.clear();
        directory.options.clear();
    }
    for layer in &mut directory.layers {
        // `loop over /srv/image`
        if let Some((kind, _path)) = layer.split_once(" over ") {
            *layer = kind.to_owned();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::NfsMount;
    use crate::run::Warning;
    use crate::{Evidence, Verdict, fixture};

    #[test]
    fn nothing_that_names_the_owner_is_left() {
        let mut run = fixture::run_of(&[vec![1.0, 2.0]]);
        run.machine = Machine {
            hostname: "secret-host".to_owned(),
            kernel: "Linux 6.18.0".to_owned(),
            kernel_cmdline: Some("root=LABEL=secret-disk".to_owned()),
            kernel_version: Some("#1 built@secret-builder".to_owned()),
            ..Machine::default()
        };
        run.peer = Some(Box::new(Peer {
            name: "secret-peer:7717".to_owned(),
            address: "10.1.2.3:7717".to_owned(),
            version: "0.1.0".to_owned(),
            machine: run.machine.clone(),
        }));
        run.nfs = Some(Box::new(NfsServer {
            name: "nfs://secret-server/srv".to_owned(),
            export: "nfs://10.4.5.6:2049:635/srv".to_owned(),
            read_bytes: 1,
            write_bytes: 1,
        }));
        run.directories = vec![
            Directory {
                label: "default".to_owned(),
                path: "/home/secret-user/.cache".to_owned(),
                source: "/dev/vda".to_owned(),
                mount_point: "/home".to_owned(),
                layers: vec!["loop over /srv/secret-image".to_owned()],
                ..Directory::default()
            },
            Directory {
                source: "secret-server:/export".to_owned(),
                options: "rw,addr=10.7.8.9".to_owned(),
                nfs: Some(NfsMount {
                    version: "4.2".to_owned(),
                    server: "10.7.8.9".to_owned(),
                }),
                ..Directory::default()
            },
        ];
        run.warnings = vec![Warning {
            code: "far_end".to_owned(),
            message: "the far end is secret-host too".to_owned(),
            advice: String::new(),
        }];
        let config = &mut run.config;
        config.program = Some("/home/secret-user/syscost".to_owned());
        let token = ("TOKEN".to_owned(), Some("secret-token".to_owned()));
        config.environment.extend([token]);
        let row = &mut run.measurements[0];
        row.reason = Some("opening /home/secret-user/.cache/x: no space".to_owned());
        row.evidence = vec![Evidence {
            claim: "far end".to_owned(),
            expected: Fact::Text("secret-peer".to_owned()),
            observed: Some(Fact::Text("10.1.2.3:7717 of 10.7.8.9".to_owned())),
            source: "getpeername".to_owned(),
            verdict: Verdict::Confirmed,
            reason: Some("mounted from 10.4.5.6/srv".to_owned()),
        }];
        run.anonymize();
        let text = serde_json::to_string(&run).expect("a document");
        for word in ["secret", "10.1.2.3", "10.4.5.6", "10.7.8.9", "/srv"] {
            assert!(!text.contains(word), "{word} is left in {text}");
        }
        assert!(text.contains("Linux 6.18.0") && text.contains("/dev/vda"));
        let reason = run.measurements[0].reason.as_deref();
        assert_eq!(reason, Some("opening (unnamed)/x: no space"));
    }
}
