//! A program that runs during a test and is ended with it.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

use tempfile::TempDir;

/// A child whose output goes to a file, killed and waited for on drop.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    output: PathBuf,
    _folder: TempDir,
}

impl Running {
    /// Starts it.
    pub(crate) fn start(mut command: Command) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let output = folder.path().join("output");
        let file = File::create(&output).expect("a file for its output");
        let child = command
            .stdin(Stdio::null())
            .stdout(file.try_clone().expect("the same file"))
            .stderr(file)
            .spawn()
            .expect("the program starts");
        Self {
            child,
            output,
            _folder: folder,
        }
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it has printed so far, on both streams.
    pub(crate) fn output(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.output).expect("its output")).into_owned()
    }

    /// Whether it has not ended yet.
    pub(crate) fn is_alive(&mut self) -> bool {
        self.child.try_wait().expect("its state").is_none()
    }

    /// Ends it with SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it can be waited for");
    }

    /// Waits until it ends.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("it can be waited for")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Only the process started here, by its id. It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
