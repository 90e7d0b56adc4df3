//! Parts that a build may lack: each is a crate that nothing else mentions, and a feature.

use std::path::{Path, PathBuf};

use anyhow::Result;
use syscost_results::Run;

use crate::Failed;

/// A chart as PDF.
///
/// # Errors
/// When it cannot be converted, or this build lacks pictures.
#[cfg(feature = "pictures")]
pub(crate) fn pdf(svg: &str) -> Result<Vec<u8>> {
    Ok(syscost_pictures::pdf(svg)?)
}

/// A chart as PNG.
///
/// # Errors
/// When it cannot be drawn, is larger than a picture may be, or this build lacks pictures.
#[cfg(feature = "pictures")]
pub(crate) fn png(svg: &str) -> Result<Vec<u8>> {
    use syscost_pictures::{PictureError, png};
    png(svg).map_err(|error| match error {
        PictureError::TooLarge { .. } => Failed::Usage(error.to_string()).into(),
        _ => error.into(),
    })
}

/// What to say of a picture whose text has letters that its type lacks.
#[cfg(feature = "pictures")]
pub(crate) fn lacking_letters(svg: &str) -> Option<String> {
    syscost_pictures::lacking(svg)
}

#[cfg(not(feature = "pictures"))]
pub(crate) fn lacking_letters(_: &str) -> Option<String> {
    None
}

#[cfg(not(feature = "pictures"))]
pub(crate) fn pdf(_: &str) -> Result<Vec<u8>> {
    Err(lacking("PDF", "pictures", "; .svg needs neither"))
}

#[cfg(not(feature = "pictures"))]
pub(crate) fn png(_: &str) -> Result<Vec<u8>> {
    Err(lacking("PNG", "pictures", "; .svg needs neither"))
}

/// Writes what `each` gives it as tables into a folder, whose files appear when all are whole. A run that no table can hold is handed
/// to `left_out`.
///
/// # Errors
/// When they cannot be written, `each` fails, or this build lacks Parquet.
#[cfg(feature = "parquet")]
pub(crate) fn parquet(
    folder: &Path,
    each: impl FnOnce(&mut dyn FnMut(&Run) -> Result<()>) -> Result<()>,
) -> Result<()> {
    use anyhow::Context;
    use syscost_parquet::{TABLES, Tables};

    let failed = || format!("writing into {}", folder.display());
    let files = TABLES.iter().map(|_| syscost_store::fresh(folder));
    let files = files.collect::<Result<Vec<_>, _>>().with_context(failed)?;
    let files: [_; TABLES.len()] = files.try_into().expect("one for each");
    let mut tables = Tables::new(files)?;
    each(&mut |run| Ok(tables.add(run)?))?;
    for (name, file) in TABLES.iter().zip(tables.finish()?) {
        file.as_file().sync_all().with_context(failed)?;
        file.persist(folder.join(format!("{name}.parquet")))
            .with_context(failed)?;
    }
    Ok(())
}

#[cfg(not(feature = "parquet"))]
pub(crate) fn parquet(
    _: &Path,
    _: impl FnOnce(&mut dyn FnMut(&Run) -> Result<()>) -> Result<()>,
) -> Result<()> {
    Err(lacking(
        "Parquet",
        "parquet",
        "; --format jsonl needs neither, and DuckDB reads it",
    ))
}

/// Names the machine of a document as the collection does that it was found in.
#[cfg(feature = "fleet")]
pub(crate) fn name_machine(run: &mut Run, file: &Path) {
    syscost_fleet::collection::name_machine(&mut run.machine, &run.config, file);
}

/// The documents in a folder; what else is called like one is left out with a warning.
///
/// # Errors
/// When it cannot be read, or this build knows no folders of many machines.
#[cfg(feature = "fleet")]
pub(crate) fn documents(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut places = syscost_fleet::collection::Places::default();
    places.add(folder, 0)?;
    for left_out in &places.left_out {
        crate::terminal::warn(&format!("left out: {}: {}", left_out.what, left_out.why));
    }
    Ok(places.files())
}

#[cfg(not(feature = "fleet"))]
pub(crate) fn name_machine(_: &mut Run, _: &Path) {}

#[cfg(not(feature = "fleet"))]
pub(crate) fn documents(folder: &Path) -> Result<Vec<PathBuf>> {
    let words = format!(
        "{} is a folder, and this build has no fleets; name the documents",
        folder.display()
    );
    Err(Failed::Usage(words).into())
}

#[cfg(not(all(feature = "parquet", feature = "pictures")))]
fn lacking(what: &str, feature: &str, instead: &str) -> anyhow::Error {
    let words = format!(
        "this build writes no {what}: take a release, or build with `cargo build --release --features {feature}`{instead}"
    );
    Failed::Usage(words).into()
}
