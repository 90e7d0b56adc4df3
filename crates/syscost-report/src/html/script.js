// Sorts, filters, unfolds, and changes the theme. The page reads without it.
"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const rows = all("table.rows > tbody");

  // Light or dark: the reader's choice holds while the page is open; the system's holds otherwise.
  const root = document.documentElement;
  document.getElementById("theme")?.addEventListener("click", () => {
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  // Unfolds a row's details; the explanation is copied from the benchmark's card when first wanted.
  const unfold = (button, open) => {
    const detail = document.getElementById(button.getAttribute("aria-controls"));
    if (!detail) return;
    detail.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
    const place = detail.querySelector(".explain:empty");
    const card = place && document.getElementById("about-" + place.dataset.about);
    const explanation = card && card.querySelector(".explanation");
    if (open && explanation) place.append(explanation.cloneNode(true));
  };
  for (const button of all("button.more")) {
    button.addEventListener("click", () => unfold(button, button.getAttribute("aria-expanded") !== "true"));
  }

  // Sorts the rows of one table by a column; rows without a value there come last.
  const sort = (table, index, descending) => {
    const value = (body) => {
      const cell = body.rows[0].cells[index];
      if (index === 0) return body.dataset.name;
      return cell?.dataset.v === undefined ? null : Number(cell.dataset.v);
    };
    const compare = (a, b) => {
      if (a.value === null || b.value === null) return (a.value === null) - (b.value === null);
      const order = index === 0 ? a.value.localeCompare(b.value, "en", { numeric: true }) : a.value - b.value;
      return descending ? -order : order;
    };
    const bodies = [...table.tBodies].map((body) => ({ body, value: value(body) }));
    bodies.sort(compare);
    table.append(...bodies.map(({ body }) => body));
  };
  for (const button of all("button.sort")) {
    button.addEventListener("click", () => {
      const header = button.closest("th");
      const descending = header.getAttribute("aria-sort") === "ascending";
      for (const other of header.parentElement.cells) {
        if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
      }
      header.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sort(header.closest("table"), header.cellIndex, descending);
    });
  }

  // Shows the rows whose name, title or tags contain every word, and of these the ones of a kind. A word may be written as one
  // where they have a blank, a hyphen or an underscore: pagefault, lat_ctx.
  const filter = document.getElementById("filter");
  const which = document.getElementById("which");
  const count = document.getElementById("count");
  const one = (text) => text.replace(/[ _-]/g, "");
  const texts = new Map();
  for (const body of rows) {
    const card = document.getElementById("about-" + body.dataset.name.split("{")[0]);
    texts.set(body, one((body.dataset.text + "|" + (card?.dataset.tags ?? "")).toLowerCase()));
  }
  const apply = () => {
    const words = filter.value.toLowerCase().split(/[\s-]+/).map(one).filter(Boolean);
    const kind = which ? which.value : "";
    const wanted = (body) => {
      const text = texts.get(body);
      const ofKind = !kind || (kind === "flagged" ? "flagged" in body.dataset : body.dataset.mark === kind);
      return ofKind && words.every((word) => text.includes(word));
    };
    const shown = rows.filter((body) => !(body.hidden = !wanted(body)));
    count.textContent = `${shown.length} of ${rows.length} rows`;
    const narrowed = shown.length < rows.length;
    const benchmarks = new Set(shown.map((body) => body.dataset.name.split("{")[0]));
    for (const card of all(".benchmark")) card.hidden = narrowed && !benchmarks.has(card.dataset.benchmark);
    for (const group of all(".group")) {
      group.hidden = narrowed && !all("table.rows > tbody", group).some((body) => !body.hidden);
    }
  };
  if (filter) {
    filter.addEventListener("input", apply);
    which?.addEventListener("change", apply);
    apply();
  }
})();
