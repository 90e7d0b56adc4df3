use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::PathBuf;
use std::time::SystemTime;

use super::*;

/// A folder, a tree in it and the tree's path.
fn tree() -> Result<(tempfile::TempDir, Tree, PathBuf), SystemError> {
    let parent = tempfile::tempdir().unwrap();
    let tree = tree_in(parent.path())?;
    let path = parent.path().join(&tree.name);
    Ok((parent, tree, path))
}

fn private(parent: &Path, name: &str) -> PathBuf {
    let path = parent.join(name);
    DirBuilder::new().mode(0o700).create(&path).unwrap();
    path
}

fn marked(path: &Path) {
    let parent = Folder::at(path.parent().unwrap()).unwrap();
    mark(&parent.folder(path.file_name().unwrap()).unwrap()).unwrap();
}

#[test]
fn a_tree_goes_with_all_that_is_in_it_and_nothing_else() {
    let (parent, tree, path) = or_skip!(tree());
    let kept = parent.path().join("kept");
    fs::create_dir(&kept).unwrap();
    fs::write(kept.join("file"), "theirs").unwrap();
    assert!(super::super::is_ours(&path) && path.join(MARKER).exists());
    fs::create_dir_all(path.join("a/b")).unwrap();
    fs::write(path.join("a/b/c"), "ours").unwrap();
    symlink(&kept, path.join("a/link")).unwrap();
    drop(tree);
    assert!(!path.exists());
    assert_eq!(fs::read(kept.join("file")).unwrap(), b"theirs");
}

#[test]
fn what_is_put_in_a_trees_place_is_neither_written_nor_removed() {
    let (parent, tree, path) = or_skip!(tree());
    let (aside, theirs) = (parent.path().join("aside"), parent.path().join("theirs"));
    let victim = parent.path().join("victim");
    fs::create_dir(&theirs).unwrap();
    fs::write(&victim, "theirs").unwrap();
    symlink(&victim, theirs.join("written_over")).unwrap();
    fs::rename(&path, &aside).unwrap();
    symlink(&theirs, &path).unwrap();
    let folder = tree.folder();
    folder
        .create("written_over")
        .expect("it is free in the tree");
    folder
        .open_to_write("written_over", 0)
        .expect("it is there");
    assert!(aside.join("written_over").is_file());
    let record = tree.record.path().to_owned();
    drop(tree);
    assert!(
        !record.exists(),
        "there is nothing left to remove by its name"
    );
    let gone = remove(&path).unwrap_err();
    assert_eq!(gone.kind(), io::ErrorKind::NotFound);
    assert_eq!(fs::read(&victim).unwrap(), b"theirs");
    let there: Vec<_> = fs::read_dir(&theirs).unwrap().flatten().collect();
    assert!(there.len() == 1 && there[0].file_type().unwrap().is_symlink());
    assert!(path.is_symlink(), "the link is not ours");
    assert_eq!(fs::read_dir(&aside).unwrap().count(), 0);
}

#[test]
fn a_tree_keeps_its_marker_until_all_else_is_gone() {
    let parent = tempfile::tempdir().unwrap();
    let held = or_skip!(Folder::at(parent.path()), "not written for this system");
    let path = private(parent.path(), "syscost-1-0123456789abcdef");
    marked(&path);
    fs::write(path.join("file"), "ours").unwrap();
    // A removal that ends midway.
    let (tree, _marker) = abandoned(&held, path.file_name().unwrap(), false).unwrap();
    tree.clear(&[MARKER, UNLOCKED_MARKER]).unwrap();
    assert!(path.join(MARKER).exists());
    drop(_marker);
    assert_eq!(sweep_in(parent.path()).len(), 1);
    assert!(!path.exists());
}

#[test]
fn a_tree_without_its_marker_is_known_by_its_name_owner_and_record_or_age() {
    let parent = tempfile::tempdir().unwrap();
    or_skip!(Folder::at(parent.path()), "not written for this system");
    let left = |name: &str| {
        let path = private(parent.path(), name);
        fs::write(path.join("file"), "x").unwrap();
        path
    };
    let (named, other) = (left("syscost-77-0123456789abcdef"), left("syscost-theirs"));
    let open = left("syscost-78-0123456789abcdef");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&open, mode).unwrap();
    assert_eq!(
        strays(parent.path(), true),
        [],
        "its maker may be about to mark it"
    );
    let long_ago = SystemTime::now() - 2 * UNTOUCHED;
    for path in [&named, &other, &open] {
        File::open(path).unwrap().set_modified(long_ago).unwrap();
    }
    let what = format!("tree {}", named.display());
    let trouble = None;
    assert_eq!(strays(parent.path(), true), [Leftover { what, trouble }]);
    let recorded = left("syscost-77-0123456789abcdef");
    remove(&recorded).expect("it is on record");
    for path in [&other, &open] {
        assert!(remove(path).is_err());
        assert_eq!(fs::read(path.join("file")).unwrap(), b"x");
    }
}

#[test]
fn a_tree_whose_maker_is_no_more_goes_without_a_record() {
    let (parent, _alive, alive) = or_skip!(tree());
    let left = private(parent.path(), "syscost-1-a");
    marked(&left);
    fs::write(left.join("file"), "ours").unwrap();
    let unmarked = private(parent.path(), "syscost-1-b");
    let kept = private(parent.path(), "kept");
    marked(&kept);
    let link = parent.path().join("syscost-1-c");
    symlink(&kept, &link).unwrap();
    let found = [Leftover {
        what: format!("tree {}", left.display()),
        trouble: None,
    }];
    assert_eq!(strays(parent.path(), false), found);
    assert!(left.exists(), "it was only looked for");
    assert_eq!(sweep_in(parent.path()), found);
    assert!(!left.exists());
    for other in [&alive, &unmarked, &kept, &link] {
        assert!(other.exists(), "{}", other.display());
    }
}

#[test]
fn more_than_there_is_room_for_is_refused() {
    let (_parent, tree, _) = or_skip!(tree());
    let reason = tree.room_for(u64::MAX / 2).unwrap_err().to_string();
    println!("{reason}");
    assert!(reason.contains("must stay free"), "{reason}");
}
