//! What says whom to ask: SECURITY.md, and where the form for issues sends those who found a hole.

use crate::owner::Owner;

/// SECURITY.md.
pub(super) fn security(owner: &Owner) -> String {
    let places = [
        owner.maintainer.map(|one| format!("write to {one}")),
        owner
            .repository
            .map(|page| format!("use the private report of a vulnerability at <{page}>")),
    ];
    let places: Vec<String> = places.into_iter().flatten().collect();
    let contact = match places.as_slice() {
        [] => "This copy says nowhere whom to tell about a hole: `authors` and `repository` in `[workspace.package]` of Cargo.toml are still to be \
               filled in by whoever publishes it; `cargo xtask gen` then writes them here."
            .to_owned(),
        places => format!("To report a hole, {}.", places.join(", or ")),
    };
    include_str!("SECURITY.md").replace("{contact}", &contact)
}

/// `.github/ISSUE_TEMPLATE/config.yml`.
pub(super) fn issues(owner: &Owner) -> String {
    let mut text = "blank_issues_enabled: true\n".to_owned();
    if let Some(page) = owner.repository {
        let page = page.trim_end_matches(".git");
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
        assert!(security(&none).contains("`authors` and `repository` in `[workspace.package]`"));
        let named = security(&all);
        assert!(
            named.contains("write to A. Owner <owner@example.org>, or use"),
            "{named}"
        );
        assert!(!named.contains('{'), "{named}");
        assert!(!issues(&none).contains("contact_links"));
        assert!(issues(&all).contains("url: https://example.org/syscost/security/policy\n"));
    }
}
