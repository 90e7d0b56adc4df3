//! Man pages and shell completions, from the command line's definition.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use syscost::cli::{Cli, manual, scripts};

use crate::owner::Owner;

/// `docs/man/*.1`, one for the program and one for each command at any depth, and `docs/completions/*`,
/// with the names that shells expect.
pub(crate) fn files(owner: &Owner) -> Result<BTreeMap<PathBuf, String>> {
    let mut files = BTreeMap::new();
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let commands = all(&program);
    let named = commands.iter().map(|command| {
        let name = command.get_bin_name().unwrap_or("syscost").to_owned();
        let page = name.replace(' ', "-");
        (name, page)
    });
    let pages: Vec<(String, String)> = named.collect();
    for command in commands {
        let (name, page) = man(command, &pages, owner)?;
        files.insert(Path::new("docs/man").join(name), page);
    }
    for (file, script) in scripts() {
        files.insert(Path::new("docs/completions").join(file), script);
    }
    Ok(files)
}

/// A command and all its subcommands, except hidden ones.
fn all(command: &Command) -> Vec<&Command> {
    let nested = command.get_subcommands().filter(|one| !one.is_hide_set());
    std::iter::once(command)
        .chain(nested.flat_map(all))
        .collect()
}

/// The page of a command: its file name and its text. What the parser's definition does not say is in
/// [`manual`], and in the text below help: examples are its indented lines.
fn man(command: &Command, pages: &[(String, String)], owner: &Owner) -> Result<(String, String)> {
    let bin_name = command.get_bin_name().unwrap_or("syscost");
    let path = bin_name.trim_start_matches("syscost").trim_start();
    let version = command.get_version().unwrap_or(env!("CARGO_PKG_VERSION"));
    let name = bin_name.replace(' ', "-");
    let page = Man::new(command.clone())
        .title(name.to_uppercase())
        .date(date()?)
        .source(format!("syscost {version}"))
        .manual("syscost manual");
    let help = command.get_after_help().map(ToString::to_string);
    let help = help.unwrap_or_default();
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    let (described, examples) = described_and_examples(&help);
    described.to_writer(&mut text)?;
    if command.has_subcommands() {
        page.render_subcommands_section(&mut text)?;
    }
    page.render_options_section(&mut text)?;
    let codes = manual::exit_codes(path);
    let codes = codes
        .iter()
        .map(|(code, meaning)| (code.to_string(), sentence(meaning)));
    section("EXIT STATUS", codes).to_writer(&mut text)?;
    section("ENVIRONMENT", manual::environment(path)).to_writer(&mut text)?;
    section("FILES", manual::files(path)).to_writer(&mut text)?;
    examples.to_writer(&mut text)?;
    if path.is_empty() {
        bugs(owner).to_writer(&mut text)?;
    }
    see_also(bin_name, &format!("{help} {}", arguments(command)), pages).to_writer(&mut text)?;
    Ok((format!("{name}.1"), tidy(&String::from_utf8(text)?)))
}

/// The day of the version's last change, by the changelog: it is the same whenever pages are made.
fn date() -> Result<String> {
    let changes = include_str!("../../../../../CHANGELOG.md");
    let heading = changes.lines().find(|line| line.starts_with("## "));
    let is_day = |word: &&str| word.len() == 10 && word.split('-').count() == 3;
    let day = heading.and_then(|line| line.split([' ', ',', '(', ')']).find(is_day));
    day.map(str::to_owned)
        .context("the first heading of CHANGELOG.md has no day, such as 2026-11-27")
}

/// The text below help, as further paragraphs of a description, and its examples with what introduces
/// them. Exit codes have a section of their own.
fn described_and_examples(help: &str) -> (Roff, Roff) {
    let (mut described, mut examples) = (Roff::new(), Roff::new());
    let is_example = |line: &&str| line.starts_with("  ");
    if help.lines().any(|line| is_example(&line)) {
        examples.control("SH", ["EXAMPLES"]);
    }
    for paragraph in help
        .split("\n\n")
        .filter(|one| !one.starts_with("Exit codes:"))
    {
        if !paragraph.lines().any(|line| is_example(&line)) {
            described.control("PP", []).text([roman(paragraph)]);
            continue;
        }
        let mut lines = paragraph.lines().peekable();
        while let Some(line) = lines.next() {
            if !is_example(&line) {
                if line != "Examples:" {
                    examples.control("PP", []).text([roman(line)]);
                }
                continue;
            }
            examples.control("PP", []).control("EX", []);
            examples.text([roman(line)]);
            while let Some(line) = lines.next_if(is_example) {
                examples.text([roman(line)]);
            }
            examples.control("EE", []);
        }
    }
    (described, examples)
}

/// A section of names and their meanings.
fn section(
    heading: &str,
    items: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>,
) -> Roff {
    let mut section = Roff::new();
    section.control("SH", [heading]);
    for (name, meaning) in items {
        section
            .control("TP", [])
            .text([bold(name)])
            .text([roman(meaning)]);
    }
    section
}

/// Where to tell what is wrong; nothing where nobody is named.
fn bugs(owner: &Owner) -> Roff {
    let mut section = Roff::new();
    if let Some(place) = owner.repository.or(owner.homepage).or(owner.maintainer) {
        section.control("SH", ["REPORTING BUGS"]);
        section.text([roman(place)]);
    }
    section
}

/// These words as a sentence.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).chain(['.']).collect()
}

/// What the help of a command's arguments says.
fn arguments(command: &Command) -> String {
    let help = command.get_arguments().filter_map(clap::Arg::get_help);
    help.map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// The pages of the commands that contain this one or are mentioned with it.
fn see_also(bin_name: &str, text: &str, pages: &[(String, String)]) -> Roff {
    let is_mentioned = |name: &str| {
        let mut found = text.match_indices(name);
        found.any(|(at, _)| {
            !text[at + name.len()..].starts_with(|next: char| next.is_alphanumeric())
        })
    };
    let is_related = |(name, _): &&(String, String)| {
        name != bin_name
            && (bin_name.starts_with(&format!("{name} "))
                || name.contains(' ') && is_mentioned(name))
    };
    let related = pages.iter().filter(is_related);
    let mut related: Vec<String> = related.map(|(_, page)| format!("{page}(1)")).collect();
    if related.is_empty() {
        related = pages.iter().map(|(_, page)| format!("{page}(1)")).collect();
    }
    let mut section = Roff::new();
    section
        .control("SH", ["SEE ALSO"])
        .text([roman(related.join(", "))]);
    section
}

/// The page, of its parts, without what formatters complain about: vertical space beside a line break, space at the
/// end of lines, and lines of more than 80 bytes.
fn tidy(page: &str) -> String {
    // Each part begins with it.
    let preamble = Roff::new().render();
    let page = page
        .replace(&preamble, "")
        .replace("\n.br\n\n.br\n", "\n.sp\n")
        .replace("\n.SH EXAMPLES\n.PP\n", "\n.SH EXAMPLES\n");
    let mut tidied = preamble;
    let mut is_filled = true;
    for line in page.lines().map(str::trim_end) {
        is_filled = match line {
            ".EX" => false,
            ".EE" => true,
            _ => is_filled,
        };
        let is_text = is_filled && !line.starts_with(['.', '\'']);
        let mut width = 0;
        for (index, word) in line.split(' ').enumerate() {
            if index > 0 && is_text && !word.is_empty() && width + 1 + word.len() > 80 {
                tidied.push('\n');
                width = 0;
                if word.starts_with(['.', '\'']) {
                    // It would be a request at the start of a line.
                    tidied.push_str("\\&");
                    width = 2;
                }
            } else if index > 0 {
                tidied.push(' ');
                width += 1;
            }
            tidied.push_str(word);
            width += word.len();
        }
        tidied.push('\n');
    }
    tidied
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::owner::EXAMPLES;

    /// Whether a page is about this command: `syscost-history-prune`.
    fn is_page_of(page: &str, name: &str) -> bool {
        page.contains(&format!(".TH {} 1", name.to_uppercase())) && page.contains(".SH SYNOPSIS")
    }

    #[test]
    fn every_command_has_a_page_and_every_shell_completes_it() {
        let files = files(&EXAMPLES[0]).unwrap();
        let commands: Vec<String> = Cli::command()
            .get_subcommands()
            .map(|command| command.get_name().to_owned())
            .collect();
        assert!(commands.len() >= 5, "{commands:?}");
        for command in &commands {
            let name = format!("syscost-{command}");
            let page = &files[&Path::new("docs/man").join(format!("{name}.1"))];
            assert!(is_page_of(page, &name), "{page}");
        }
        for name in ["syscost.bash", "_syscost", "syscost.fish"] {
            let script = &files[&Path::new("docs/completions").join(name)];
            // The script asks the program for its commands.
            assert!(script.contains("SYSCOST_COMPLETE"), "{script}");
        }
        assert!(files[Path::new("docs/man/syscost.1")].contains("syscost\\-run(1)"));
    }

    #[test]
    fn every_page_that_another_refers_to_exists() {
        let files = files(&EXAMPLES[0]).unwrap();
        let mut found = 0;
        for page in files.values() {
            // As in the list of a command's own: `syscost\-history\-prune(1)`.
            for word in page.split_whitespace() {
                let Some(name) = word.trim_end_matches(',').strip_suffix("(1)") else {
                    continue;
                };
                let name = name.replace('\\', "");
                let other = files.get(&Path::new("docs/man").join(format!("{name}.1")));
                assert!(other.is_some_and(|page| is_page_of(page, &name)), "{word}");
                found += 1;
            }
        }
        assert!(found > 80, "{found} references");
        let page = &files[Path::new("docs/man/syscost-history-prune.1")];
        assert!(page.contains("older\\-than"), "{page}");
    }

    #[test]
    fn every_page_has_its_sections_in_order() {
        let [none, all] = EXAMPLES.map(|owner| files(&owner).unwrap());
        for (path, page) in none.into_iter().chain(all) {
            if path.extension() != Some("1".as_ref()) {
                continue;
            }
            let sections = page.lines().filter_map(|line| line.strip_prefix(".SH "));
            let not_of_all = ["SUBCOMMANDS", "\"REPORTING BUGS\""];
            let sections: Vec<&str> = sections.filter(|name| !not_of_all.contains(name)).collect();
            let wanted = [
                "NAME",
                "SYNOPSIS",
                "DESCRIPTION",
                "OPTIONS",
                "\"FOR EVERY COMMAND\"",
                "\"EXIT STATUS\"",
                "ENVIRONMENT",
                "FILES",
                "EXAMPLES",
                "\"SEE ALSO\"",
            ];
            assert_eq!(sections, wanted, "{}", path.display());
        }
    }

    /// Formatters have nothing to say of the pages, where these are installed.
    #[test]
    fn pages_are_clean() {
        let folder = tempfile::tempdir().unwrap();
        for (path, page) in files(&EXAMPLES[1]).unwrap() {
            let page_path = folder.path().join(path.file_name().unwrap());
            std::fs::write(&page_path, page).unwrap();
            if path.extension() != Some("1".as_ref()) {
                continue;
            }
            for (program, arguments) in [
                ("mandoc", &["-T", "lint", "-W", "style"][..]),
                ("groff", &["-man", "-ww", "-z", "-K", "utf-8"]),
            ] {
                let output = std::process::Command::new(program)
                    .args(arguments)
                    .arg(&page_path)
                    .output();
                let Ok(output) = output else {
                    println!("skipped: there is no {program}");
                    continue;
                };
                let said = [output.stdout, output.stderr].concat();
                let said = String::from_utf8_lossy(&said);
                assert_eq!(said, "", "{program}");
            }
        }
    }

    #[test]
    fn who_is_told_of_bugs_is_named_if_known() {
        let [none, all] = EXAMPLES.map(|owner| bugs(&owner).to_roff());
        assert_eq!(none, "");
        assert!(
            all.contains("REPORTING BUGS") && all.contains("https://example.org/"),
            "{all}"
        );
    }

    #[test]
    fn the_readme_tells_exit_codes_as_help_does() {
        let readme = include_str!("../../../../../README.md").replace('`', "");
        let words: Vec<&str> = readme.split_whitespace().collect();
        let sentence = manual::exit_codes_sentence("");
        assert!(words.join(" ").contains(&sentence), "{sentence}");
    }
}
