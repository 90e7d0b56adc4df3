//! What says whom to ask: SECURITY.md, and where the form for issues sends those who found a hole.

use crate::owner::Owner;

/// SECURITY.md.
pub(super) fn security(owner: &Owner) -> String {
    let places = [
        owner.maintainer.map(|one| format!("write to {one}")),
        page(owner)
            .filter(|page| page.starts_with("https://github.com/"))
            .map(|page| format!("report it privately at <{page}/security/advisories/new>")),
    ];
    let places: Vec<String> = places.into_iter().flatten().collect();
    let contact = match places.as_slice() {
        [] => "This copy says nowhere whom to tell about a hole: `authors`, or a `repository` on github.com, in `[workspace.package]` of Cargo.toml are still to be \
               filled in by whoever publishes it; `cargo xtask gen` then writes them here."
            .to_owned(),
        places => format!("To report a hole, {}.", places.join(", or ")),
    };
    include_str!("SECURITY.md").replace("{contact}", &contact)
}

/// The page of the repository, as a forge has it.
fn page(owner: &Owner) -> Option<&str> {
    let repository = owner.repository?.trim_end_matches('/');
    Some(repository.trim_end_matches(".git"))
}

/// `.github/ISSUE_TEMPLATE/config.yml`.
pub(super) fn issues(owner: &Owner) -> String {
    let mut text = "blank_issues_enabled: true\n".to_owned();
    if let Some(page) = page(owner) {
        text.push_str(&format!(
            "contact_links:
  - name: A hole that lets others do harm
    url: {page}/security/policy
    about: Not as an issue, please; SECURITY.md says how
"
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::owner::EXAMPLES;

    #[test]
    fn the_owner_is_named_once_there_is_one() {
        let [none, all] = EXAMPLES;
        assert!(
            security(&none)
                .contains("`authors`, or a `repository` on github.com, in `[workspace.package]`")
        );
        let named = security(&all);
        assert!(
            named.contains("write to A. Owner <owner@example.org>.\n"),
            "{named}"
        );
        let on_github = Owner {
            repository: Some("https://github.com/a/syscost.git"),
            ..all
        };
        assert!(security(&on_github).contains(
            ", or report it privately at <https://github.com/a/syscost/security/advisories/new>.\n"
        ));
        assert!(!named.contains('{'), "{named}");
        assert!(!issues(&none).contains("contact_links"));
        assert!(issues(&all).contains("url: https://example.org/syscost/security/policy\n"));
    }
}
