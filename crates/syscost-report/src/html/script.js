// Sorts, filters, unfolds, leads to rows, and changes the theme. The page reads without it.
"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const rows = all("table.rows > tbody");
  const nameOf = (body) => body.id.slice("row-".length);
  const element = (tag, attributes, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  };
  const source = document.getElementById("data");
  const data = source && JSON.parse(source.textContent);
  const facts = new Map(data ? rows.map((body, index) => [body, data.rows[index]]) : []);

  // Light or dark: the reader's choice holds while the page is open; the system's holds otherwise.
  const root = document.documentElement;
  document.getElementById("theme")?.addEventListener("click", () => {
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  // A table of these headings and rows; the cell of this index heads its row.
  const table = (caption, heads, lines, heading) =>
    element("table", { class: "evidence" },
      element("caption", {}, caption),
      element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
      element("tbody", {}, ...lines.map((cells) =>
        element("tr", {}, ...cells.map((cell, index) => {
          // What stands for several cells is as wide as these.
          const span = index + 1 === cells.length ? heads.length - index : 1;
          return index === heading
            ? element("th", { scope: "row" }, cell)
            : element("td", span > 1 ? { colspan: span } : {}, cell);
        })))));

  const signs = { good: ["✓", "confirmed"], care: ["?", "unverified"], bad: ["✗", "refuted"] };
  const evidence = (row) => {
    if (!row.e) return element("p", { class: "quiet" }, "No evidence was taken.");
    const lines = [];
    for (let index = 0; index < row.e.length; index += 2) {
      const [mark, claim, expected, by, reason] = data.claims[row.e[index]];
      const [sign, word] = signs[mark];
      const verdict = element("span", { class: "mark " + mark }, sign, element("span", { class: "word" }, " " + word));
      const claimed = element("span", {}, claim, reason ? element("span", { class: "quiet" }, ": " + reason) : null);
      lines.push([verdict, claimed, expected, row.e[index + 1] ?? "–", by]);
    }
    const caption = data.runs.length > 1 ? "Evidence of the last run" : "Evidence";
    return table(caption, ["verdict", "claim", "expected", "observed", "counted by"], lines, 1);
  };
  const byRun = (row) => {
    const heads = ["run", "median", "evidence", "best", "cycles", "flags"];
    const wide = row.b.some((cells) => Array.isArray(cells) && cells.length > 2);
    const lines = row.b.map((cells, index) => {
      const [key, started] = data.runs[index];
      const run = key ? `${key}: ${started}` : started;
      return Array.isArray(cells) ? [run, ...cells] : [run, cells ?? "not in this run"];
    });
    return element("div", { class: "by-run" }, table("In each run", wide ? heads : heads.slice(0, 3), lines, 0));
  };
  // What unfolds beneath a row, drawn when it is first wanted.
  const details = (body) => {
    const row = facts.get(body);
    const name = nameOf(body);
    const id = name.split("{")[0];
    const about = element("a", { href: "#about-" + id }, "what it measures and how to read it");
    const title = element("p", {}, element("strong", {}, data.texts[row.t]), " ", element("code", {}, name), " · ", about);
    const left = element("div", {}, title);
    if (row.r !== undefined) left.append(element("p", { class: "reason" }, data.texts[row.r]));
    if (row.b) left.append(byRun(row));
    left.append(evidence(row));
    if (row.g) {
      left.append(element("ul", { class: "flag-list" }, ...row.g.map((flag) =>
        element("li", {}, element("span", { class: "flag" }, flag), " " + data.flags[flag]))));
    }
    if (row.f) {
      const interval = body.querySelector(".ci")?.title;
      const told = interval ? [row.f[0], "95 % interval " + interval] : [row.f[0]];
      for (let index = 1; index < row.f.length; index += 2) told.push(data.texts[row.f[index]] + " " + row.f[index + 1]);
      left.append(element("p", { class: "quiet" }, told.join(" · ")));
    }
    const right = element("div", { class: "pictures" });
    if (row.p) right.innerHTML = row.p;
    else if (row.f && !data.samples) {
      right.append(element("p", { class: "note" }, "Its samples are drawn in a page made by ",
        element("code", {}, "syscost report RUN --samples"), "."));
    }
    const explanation = document.getElementById("about-" + id)?.querySelector(".explanation");
    if (explanation) right.append(element("div", { class: "explain" }, explanation.cloneNode(true)));
    return element("div", { class: "details" }, left, right);
  };
  const unfold = (body, open) => {
    const button = body.querySelector("button.more");
    if (!button) return;
    let detail = body.rows[1];
    if (open && !detail) {
      const columns = body.closest("table").tHead.rows[0].cells.length;
      detail = element("tr", { class: "detail", id: button.getAttribute("aria-controls") },
        element("td", { colspan: columns }, details(body)));
      body.append(detail);
    }
    if (detail) detail.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
  };
  if (data) {
    rows.forEach((body, index) => {
      const cell = body.rows[0].cells[0];
      const attributes = { type: "button", class: "more", "aria-expanded": "false", "aria-controls": "detail-" + index };
      cell.replaceChildren(element("button", attributes, ...cell.childNodes));
      for (const flag of all(".flag:not([title])", body)) flag.title = data.flags[flag.textContent] ?? "";
    });
    document.addEventListener("click", (event) => {
      const button = event.target.closest("button.more");
      if (button) unfold(button.closest("tbody"), button.getAttribute("aria-expanded") !== "true");
    });
  }

  // Sorts the rows of one table by a column; rows without a value there come last.
  const sort = (table, index, descending) => {
    const value = (body) => {
      if (index === 0) return nameOf(body);
      const cell = body.rows[0].cells[index];
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
  const found = new Map(rows.map((body) => {
    const name = nameOf(body);
    const id = name.split("{")[0];
    const tags = document.getElementById("about-" + id)?.dataset.tags ?? "";
    return [body, one([name, data?.words[id] ?? "", tags].join("|").toLowerCase())];
  }));
  const ofKind = (body, kind) =>
    !kind || body.dataset.mark === kind || body.dataset.change === kind && kind !== "none" ||
    kind === "flagged" && body.querySelector(".row .flag") !== null;
  const apply = () => {
    const words = filter.value.toLowerCase().split(/[\s-]+/).map(one).filter(Boolean);
    const kind = which ? which.value : "";
    const wanted = (body) => ofKind(body, kind) && words.every((word) => found.get(body).includes(word));
    const shown = rows.filter((body) => !(body.hidden = !wanted(body)));
    count.textContent = `${shown.length} of ${rows.length} rows`;
    const narrowed = shown.length < rows.length;
    const benchmarks = new Set(shown.map((body) => nameOf(body).split("{")[0]));
    for (const card of all(".benchmark")) card.hidden = narrowed && !benchmarks.has(card.dataset.benchmark);
    for (const group of all(".group")) {
      group.hidden = narrowed && !all("table.rows > tbody", group).some((body) => !body.hidden);
      if (narrowed && !group.hidden) group.firstElementChild.open = true;
    }
  };
  if (filter) {
    filter.addEventListener("input", apply);
    which?.addEventListener("change", apply);
    apply();
  }

  // A link leads to what the filter or a closed group hides too, and unfolds the row it leads to.
  // A link that is cut in the middle of an escape names nothing.
  const named = (hash) => { try { return decodeURIComponent(hash.slice(1)); } catch { return ""; } };
  const arrive = () => {
    const target = document.getElementById(named(location.hash));
    if (!target) return;
    if (target.closest("[hidden]")) {
      filter.value = "";
      if (which) which.value = "";
      apply();
    }
    for (let around = target.closest("details"); around; around = around.parentElement.closest("details")) around.open = true;
    if (target.matches("table.rows > tbody")) unfold(target, true);
    target.scrollIntoView();
  };
  // A link to where the page already is leads there again.
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && link.getAttribute("href") === location.hash) arrive();
  });
  // Paper shows all groups.
  addEventListener("beforeprint", () => all(".group > details").forEach((details) => { details.open = true; }));
  addEventListener("hashchange", arrive);
  if (location.hash) arrive();
})();
