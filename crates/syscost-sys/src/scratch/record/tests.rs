use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::scratch;

#[test]
fn a_thing_goes_in_and_out_of_its_line() {
    for thing in [
        Thing::File(folder_path().join("1-2-3.fifo")),
        Thing::Directory(PathBuf::from("/sys/fs/cgroup/syscost-1-2-3")),
        Thing::Tree(PathBuf::from("/mnt/a b/syscost-1-2-3")),
        Thing::PosixQueue(c"/syscost-1-2-3".to_owned()),
        Thing::MessageQueue(77),
        Thing::Semaphores(78),
    ] {
        assert_eq!(Thing::parse(&thing.line()), Some(thing));
    }
    for stranger in [
        &b"file /etc/passwd"[..],
        b"file ",
        b"directory /home",
        b"tree /home",
        b"posix_queue /theirs",
        b"message_queue x",
        b"semaphores",
        b"",
    ] {
        assert_eq!(Thing::parse(stranger), None, "{stranger:?}");
    }
}

#[test]
fn only_regular_files_that_nobody_holds_are_swept() {
    let here = or_skip!(world(), "no /proc");
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let held = write_at(
        &at("1-2-3.record"),
        format!("{here}\nmessage_queue 7\n").as_bytes(),
    );
    assert!(orphaned(&at("1-2-3.record")).is_err(), "its maker lives");
    drop(held.unwrap());
    let (_lock, thing) = orphaned(&at("1-2-3.record")).unwrap();
    assert_eq!(thing, Some(Thing::MessageQueue(7)));

    std::os::unix::fs::symlink(at("1-2-3.record"), at("1-2-4.record")).unwrap();
    assert!(orphaned(&at("1-2-4.record")).is_err(), "a link");
    let made = std::process::Command::new("mkfifo")
        .arg(at("1-2-5.record"))
        .status();
    if !made.is_ok_and(|status| status.success()) {
        println!("skipped: no mkfifo");
        return;
    }
    assert!(
        orphaned(&at("1-2-5.record")).is_err(),
        "a FIFO without a writer"
    );
}

#[test]
fn a_record_that_was_swept_before_it_was_locked_is_written_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("1-2-3.record");
    std::thread::scope(|scope| {
        let sweeps = scope.spawn(|| {
            for _ in 0..20_000 {
                if let Ok((lock, _)) = orphaned(&path) {
                    fs::remove_file(&path).unwrap();
                    drop(lock);
                }
            }
        });
        while !sweeps.is_finished() {
            match write_at(&path, b"world\n") {
                Ok(lock) => {
                    assert!(path.exists(), "what is locked is there");
                    fs::remove_file(&path).unwrap();
                    drop(lock);
                }
                Err(cause) => assert_eq!(cause.kind(), io::ErrorKind::NotFound),
            }
        }
    });
}

#[test]
fn keys_of_another_world_are_not_ours_to_remove() {
    let parse = |text: &str| parse(text.as_bytes(), "boot ipc:[1]");
    assert_eq!(
        parse("boot ipc:[1]\nsemaphores 7\n"),
        Some(Thing::Semaphores(7))
    );
    assert_eq!(parse("boot ipc:[2]\nsemaphores 7\n"), None);
    assert_eq!(parse("old ipc:[1]\nposix_queue /syscost-1\n"), None);
    let file = folder_path().join("1-2-3.fifo");
    assert_eq!(
        parse(&format!("boot ipc:[2]\nfile {}\n", file.display())),
        Some(Thing::File(file))
    );
    // As where /proc shows processes only.
    assert!(parse(&format!("{UNKNOWN_WORLD}\ntree /tmp/syscost-1\n")).is_some());
    assert_eq!(parse(&format!("{UNKNOWN_WORLD}\nsemaphores 7\n")), None);
    assert_eq!(parse("boot"), None, "cut short");
}

#[test]
fn things_are_removed_when_dropped_and_when_their_maker_was_killed() {
    or_skip!(world(), "no /proc");
    let file = scratch::file("test").unwrap();
    let path = file.path().to_owned();
    fs::write(&path, "x").unwrap();
    drop(file);
    assert!(!path.exists());

    // A forked process creates one of each and ends before it can remove them.
    let shared_keys = crate::partner::Shared::new([const { AtomicU32::new(0) }; 2]).unwrap();
    let child = os::fork(&mut || {
        let (Ok(queue), Ok(set)) = (scratch::message_queue(), scratch::semaphores(1)) else {
            return 1;
        };
        let keys = [&queue.record, &set.record].map(|record| match record.thing {
            Thing::MessageQueue(key) | Thing::Semaphores(key) => key as u32,
            _ => 0,
        });
        shared_keys[0].store(keys[0], Ordering::SeqCst);
        shared_keys[1].store(keys[1], Ordering::SeqCst);
        std::mem::forget((queue, set));
        0
    })
    .unwrap();
    if os::wait_for(child).unwrap() != 0 {
        println!("skipped: no SysV objects here");
        return;
    }
    let kept = scratch::semaphores(1).unwrap();
    let removed = sweep();
    for (kind, key) in ["message_queue", "semaphores"]
        .iter()
        .zip(shared_keys.iter())
    {
        let line = format!("{kind} {}", key.load(Ordering::SeqCst));
        // Another test's sweep may have come first; what matters is that it is gone.
        let gone = match *kind {
            "semaphores" => os::remove_semaphores(key.load(Ordering::SeqCst) as i32).is_err(),
            _ => os::remove_message_queue(key.load(Ordering::SeqCst) as i32).is_err(),
        };
        assert!(gone, "{line} is still there after {removed:?}");
    }
    let Thing::Semaphores(key) = kept.record.thing else {
        panic!("it is a set of semaphores");
    };
    assert!(
        os::make_semaphores(key, 1).is_err(),
        "what lives is left alone"
    );
}
