//! Arguments of `fleet template`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use syscost_fleet::template::TEMPLATES;

/// Arguments of `fleet template`.
#[derive(Debug, Args)]
pub struct TemplateArguments {
    /// For which program
    #[arg(value_parser = names())]
    pub name: String,
    /// Write the files into this folder; without it, the only file is printed
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

fn names() -> PossibleValuesParser {
    let named = |template: &syscost_fleet::template::Template| {
        PossibleValue::new(template.name).help(template.about)
    };
    TEMPLATES.iter().map(named).collect::<Vec<_>>().into()
}
