//! Who publishes this project, as `[workspace.package]` of the root's Cargo.toml says once for all crates, packages, pages and images.

/// What is not filled in yet is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    /// `Name <address>`: the first author, who maintains the packages.
    pub(crate) maintainer: Option<&'static str>,
    /// The address of the repository.
    pub(crate) repository: Option<&'static str>,
    /// The address of the project's page.
    pub(crate) homepage: Option<&'static str>,
}

impl Owner {
    /// This workspace's.
    pub(crate) fn of_workspace() -> Self {
        let filled = |text: &'static str| Some(text).filter(|text| !text.is_empty());
        Self {
            maintainer: env!("CARGO_PKG_AUTHORS").split(':').next().and_then(filled),
            repository: filled(env!("CARGO_PKG_REPOSITORY")),
            homepage: filled(env!("CARGO_PKG_HOMEPAGE")),
        }
    }

    /// What to fill in, and where; `None` if all is.
    pub(crate) fn missing(&self) -> Option<String> {
        let fields = [
            ("authors", self.maintainer),
            ("repository", self.repository),
            ("homepage", self.homepage),
        ];
        let missing: Vec<&str> = fields
            .into_iter()
            .filter(|(_, value)| value.is_none())
            .map(|(name, _)| name)
            .collect();
        (!missing.is_empty()).then(|| {
            format!(
                "not filled in: {} in [workspace.package] of Cargo.toml; then run `cargo xtask gen`",
                missing.join(", ")
            )
        })
    }
}

/// Where nothing, and where everything is filled in.
#[cfg(test)]
pub(crate) const EXAMPLES: [Owner; 2] = [
    Owner {
        maintainer: None,
        repository: None,
        homepage: None,
    },
    Owner {
        maintainer: Some("A. Owner <owner@example.org>"),
        repository: Some("https://example.org/syscost.git"),
        homepage: Some("https://example.org/syscost"),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said_with_its_place() {
        let [none, all] = EXAMPLES;
        assert_eq!(all.missing(), None);
        let said = none.missing().unwrap();
        assert!(said.starts_with("not filled in: authors, repository, homepage in "));
        let one = Owner {
            homepage: None,
            ..all
        };
        assert!(one.missing().unwrap().contains(": homepage in "));
    }
}
