//! Calls relative to an open directory.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;

use super::refused;

pub(crate) fn root() -> io::Result<File> {
    refused()
}

pub(crate) fn step_into(_: &File, _: &OsStr) -> io::Result<File> {
    refused()
}

pub(crate) fn open_folder(_: &File, _: &OsStr) -> io::Result<File> {
    refused()
}

pub(crate) fn make_folder(_: &File, _: &OsStr) -> io::Result<()> {
    refused()
}

pub(crate) fn create_at(_: &File, _: &OsStr) -> io::Result<File> {
    refused()
}

pub(crate) fn open_at(_: &File, _: &OsStr, _: bool, _: i32) -> io::Result<File> {
    refused()
}

pub(crate) fn rename_at(_: &File, _: &OsStr, _: &OsStr) -> io::Result<()> {
    refused()
}

pub(crate) fn remove_file_at(_: &File, _: &OsStr) -> io::Result<()> {
    refused()
}

pub(crate) fn remove_folder_at(_: &File, _: &OsStr) -> io::Result<()> {
    refused()
}

pub(crate) fn names_in(_: &File) -> io::Result<Vec<OsString>> {
    refused()
}

pub(crate) fn room(_: &std::path::Path) -> io::Result<(u64, u64)> {
    refused()
}

pub(crate) fn room_at(_: &File) -> io::Result<(u64, u64)> {
    refused()
}
