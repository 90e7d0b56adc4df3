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
          // What stands for several cells is as wide as these. The style writes the heading beside the cell where there is no room for columns.
          const span = index + 1 === cells.length ? heads.length - index : 1;
          return index === heading
            ? element("th", { scope: "row" }, cell)
            : element("td", span > 1 ? { colspan: span } : { "data-head": heads[index] }, cell);
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
      lines.push([verdict, claimed, expected ?? "–", row.e[index + 1] ?? "–", by]);
    }
    const run = lastRun(row);
    const caption = run < 0 ? "Evidence" : "Evidence of " + nameOfRun(run);
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
  // The last run that has the row, whose statistics and evidence the details tell; -1 if there is one run.
  const lastRun = (row) => row.b ? row.b.findLastIndex((cells) => cells !== null) : -1;
  // The letter of a run, or its place where there are more than stand side by side.
  const nameOfRun = (run) => data.runs[run][0] ?? data.runs[run][1];
  // What unfolds beneath a row, drawn when it is first wanted.
  const details = (body) => {
    const row = facts.get(body);
    const last = lastRun(row);
    const name = nameOf(body);
    const id = name.split("{")[0];
    const about = element("a", { href: "#about-" + id }, "what it measures and how to read it");
    const title = element("p", {}, element("strong", {}, data.texts[row.t]), " ", element("code", {}, name), " · ", about);
    const left = element("div", {}, title);
    const whose = last < 0 ? "" : nameOfRun(last) + ": ";
    if (row.r !== undefined) left.append(element("p", { class: "reason" }, whose + data.texts[row.r]));
    if (row.c) left.append(element("ul", { class: "plain" }, ...row.c.map((text) => element("li", {}, data.texts[text]))));
    if (row.b) left.append(byRun(row));
    left.append(evidence(row));
    if (row.g) {
      left.append(element("ul", { class: "flag-list" }, ...row.g.map((flag) =>
        element("li", {}, element("span", { class: "flag" }, flag), " " + data.flags[flag]))));
    }
    if (row.f) {
      const statistics = [row.f[0]];
      for (let index = 1; index < row.f.length; index += 2) statistics.push(data.texts[row.f[index]] + " " + row.f[index + 1]);
      left.append(element("p", { class: "quiet" }, whose + statistics.join(" · ")));
    }
    const right = element("div", { class: "pictures" });
    if (row.p) {
      right.innerHTML = row.p;
      prepare(right);
    }
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
    // The whole row opens, as its look under the pointer says; a link in it leads where it says, and marking its text opens nothing.
    document.addEventListener("click", (event) => {
      const button = event.target.closest("tr.row")?.querySelector("button.more");
      if (!button || event.target.closest("a") || (getSelection()?.toString() && !event.target.closest("button"))) return;
      unfold(button.closest("tbody"), button.getAttribute("aria-expanded") !== "true");
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

  // Shows the rows whose name, title or tags contain every word, and of these the ones of a kind. A word is found where a word of theirs
  // begins; it may be written as one where they have several (pagefault), or as several.
  const filter = document.getElementById("filter");
  const which = document.getElementById("which");
  const count = document.getElementById("count");
  const main = document.getElementById("content");
  const toolbar = document.querySelector(".toolbar");
  const nothing = element("p", { hidden: "" }, "No row matches the filter.");
  const wordsOf = (text) => text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  // All that a text can be found by: it without what parts its words, from each of them on.
  const beginnings = (text) => wordsOf(text).map((word, index, words) => words.slice(index).join(""));
  const idOf = (body) => nameOf(body).split("{")[0];
  const valuesOf = (body) => (nameOf(body).split("{")[1] ?? "").slice(0, -1).split(",").map((pair) => pair.split("=")[1] ?? "");
  // A tag that is a value of some of a benchmark's rows finds those alone: by their names.
  const values = new Set(rows.flatMap((body) => valuesOf(body).map((value) => idOf(body) + " " + value)));
  const ofBenchmark = new Map();
  const textsOf = (id) => {
    if (!ofBenchmark.has(id)) {
      const tags = (document.getElementById("about-" + id)?.dataset.tags ?? "").split("|");
      const texts = [data?.words[id] ?? "", ...tags.filter((tag) => !values.has(id + " " + tag))];
      ofBenchmark.set(id, texts.flatMap(beginnings));
    }
    return ofBenchmark.get(id);
  };
  const found = new Map(rows.map((body) => [body, [...beginnings(nameOf(body)), ...textsOf(idOf(body))]]));
  const has = (body, word) => found.get(body).some((text) => text.startsWith(word));
  const ofKind = (body, kind) =>
    !kind || body.dataset.mark === kind || kind === "none" && body.dataset.mark === "withheld" || body.dataset.change === kind && kind !== "none" ||
    kind === "flagged" && body.querySelector(".row .flag") !== null;
  const apply = () => {
    // What is written as one term, as lat_ctx or clock_gettime, is one word.
    const words = filter.value.split(/[\s-]+/).map((term) => wordsOf(term).join("")).filter(Boolean);
    const kind = which ? which.value : "";
    const wanted = (body) => ofKind(body, kind) && words.every((word) => has(body, word));
    const shown = rows.filter((body) => !(body.hidden = !wanted(body)));
    count.textContent = shown.length || !rows.length ? `${shown.length} of ${rows.length} rows` : "no row matches";
    const narrowed = shown.length < rows.length;
    const benchmarks = new Set(shown.map(idOf));
    for (const card of all(".benchmark")) card.hidden = narrowed && !benchmarks.has(card.dataset.benchmark);
    for (const group of all(".group")) {
      group.hidden = narrowed && !all("table.rows > tbody", group).some((body) => !body.hidden);
      if (narrowed && !group.hidden) group.firstElementChild.open = true;
    }
    // Only what was found stands beneath the filter; links to what was not are grey.
    for (const part of main.children) {
      if (!part.querySelector("table.rows")) part.hidden = narrowed;
    }
    nothing.hidden = shown.length > 0 || !rows.length;
    for (const link of all("nav a", toolbar)) {
      link.classList.toggle("empty", document.getElementById(link.hash.slice(1))?.closest("[hidden]") != null);
    }
    const top = main.getBoundingClientRect().top + scrollY - toolbar.offsetHeight;
    if (narrowed && scrollY > top) scrollTo(0, top);
  };
  if (filter) {
    main.prepend(nothing);
    filter.addEventListener("input", apply);
    which?.addEventListener("change", apply);
    apply();
    // A count leads to the rows that it counts.
    document.addEventListener("click", (event) => {
      const link = event.target.closest("a[data-which]");
      if (!link || !which) return;
      event.preventDefault();
      filter.value = "";
      which.value = link.dataset.which;
      apply();
      main.scrollIntoView();
    });
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
  // The headings of tables stay beneath the toolbar, however many lines it takes.
  if (toolbar) new ResizeObserver(() => root.style.setProperty("--bar", toolbar.offsetHeight + "px")).observe(toolbar);
  // Paper shows all groups.
  addEventListener("beforeprint", () => all(".group > details").forEach((details) => { details.open = true; }));
  addEventListener("hashchange", arrive);

  // Charts: the value of the point under the pointer, or of the one that arrow keys lead to, beside it; and each chart as a file.
  const drawing = (tag, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  };
  const titleOf = (svg) => svg.getAttribute("aria-label").split(": ")[0];
  const keys = element("p", { id: "chart-keys", hidden: "" }, "Arrow keys read its values.");
  document.body.append(keys);
  const prepare = (within) => {
    for (const svg of all(".chart[data-points]", within)) {
      svg.setAttribute("tabindex", "0");
      svg.setAttribute("aria-describedby", keys.id);
    }
    for (const figure of all("figure", within)) {
      const svg = figure.querySelector("svg.chart");
      if (!svg) continue;
      const title = `Save as an SVG file: ${titleOf(svg)}`;
      figure.append(element("button", { type: "button", class: "save", title, "aria-label": title }, "SVG"));
    }
  };
  prepare(document);
  const tip = element("div", { class: "tip", hidden: "" });
  const said = element("div", { class: "spoken", "aria-live": "polite" });
  const ring = drawing("circle", { r: "7", class: "ring" });
  document.body.append(tip, said);
  const known = new WeakMap();
  const pointsOf = (svg) => {
    if (!known.has(svg)) {
      const runs = svg.dataset.runs?.split("\n");
      known.set(svg, svg.dataset.points.split("\n").map((line) => {
        const [x, y, run, ...text] = line.split(" ");
        return { x: Number(x), y: Number(y), text: text.join(" ") + (runs ? " · " + runs[run] : "") };
      }));
    }
    return known.get(svg);
  };
  let shown = null;
  const hide = () => { shown = null; tip.hidden = true; ring.remove(); };
  const place = (svg) => {
    const box = svg.getBoundingClientRect();
    return { box, scale: box.width / svg.viewBox.baseVal.width };
  };
  const show = (svg, index) => {
    const point = pointsOf(svg)[index];
    const { box, scale } = place(svg);
    shown = { svg, index };
    tip.textContent = point.text;
    tip.hidden = false;
    const left = box.left + point.x * scale - tip.offsetWidth / 2;
    tip.style.left = Math.max(4, Math.min(left, root.clientWidth - tip.offsetWidth - 4)) + "px";
    const above = box.top + point.y * scale - tip.offsetHeight - 12;
    tip.style.top = (above < 4 ? above + tip.offsetHeight + 24 : above) + "px";
    ring.setAttribute("cx", point.x);
    ring.setAttribute("cy", point.y);
    svg.append(ring);
  };
  const charted = (event) => event.target.closest?.(".chart[data-points]");
  const nearest = (event) => {
    const svg = charted(event);
    if (!svg) return hide();
    const { box, scale } = place(svg);
    const far = pointsOf(svg).map(({ x, y }) => Math.hypot(box.left + x * scale - event.clientX, box.top + y * scale - event.clientY));
    const index = far.indexOf(Math.min(...far));
    if (far[index] < 60) show(svg, index);
    else hide();
  };
  document.addEventListener("pointermove", nearest);
  document.addEventListener("pointerdown", nearest);
  addEventListener("scroll", hide, { passive: true });
  document.addEventListener("focusout", hide);
  document.addEventListener("keydown", (event) => {
    const svg = charted(event);
    if (!svg) return;
    const last = pointsOf(svg).length - 1;
    const at = shown?.svg === svg ? shown.index : -1;
    const steps = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: last };
    if (event.key === "Escape") hide();
    if (!(event.key in steps)) return;
    event.preventDefault();
    show(svg, Math.max(0, Math.min(last, steps[event.key])));
    said.textContent = tip.textContent;
  });

  // A chart as a file of its own: the page's rules for it with the light theme's colours in place of variables, its title and its source.
  const saved = (figure) => {
    const svg = all("svg.chart", figure).find((one) => one.getClientRects().length) ?? figure.querySelector("svg.chart");
    const { width, height } = svg.viewBox.baseVal;
    const copy = svg.cloneNode(true);
    copy.querySelector(".ring")?.remove();
    for (const name of ["tabindex", "data-points", "data-runs", "aria-label", "aria-describedby"]) copy.removeAttribute(name);
    const rules = [...document.styleSheets[0].cssRules].filter((rule) => /^[.:]/.test(rule.selectorText));
    const run = /\bof(\d)\b/.exec(figure.className)?.[1];
    const light = (name) => rules[0].style.getPropertyValue(name === "--s0" && run ? "--s" + run : name);
    const css = rules.filter(({ selectorText }) => copy.matches(selectorText) || copy.querySelector(selectorText))
      .map((rule) => rule.cssText.replace(/var\((--[\w-]+)\)/g, (_, name) => light(name)));
    css.push(".chart { font-family: system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif; }", ".title { font-size: 15px; font-weight: 600; }");
    const lines = (text, room) => {
      const parts = [""];
      for (const word of text.split(/\s+/)) {
        if (parts.at(-1) && parts.at(-1).length + word.length >= room) parts.push("");
        parts[parts.length - 1] += (parts.at(-1) ? " " : "") + word;
      }
      return parts;
    };
    const title = lines(titleOf(svg), width / 9);
    const below = [figure.querySelector("figcaption")?.textContent ?? "", data?.source ?? ""];
    const source = below.filter(Boolean).flatMap((text) => lines(text, width / 6));
    const top = 18 * title.length + 10;
    const bottom = 15 * source.length + 12;
    const write = (text, y, name) => {
      const line = drawing("text", { x: "2", y, class: name });
      line.textContent = text;
      copy.append(line);
    };
    title.forEach((text, index) => write(text, 18 * (index + 1) - top, "title"));
    source.forEach((text, index) => write(text, height + 15 * (index + 1), "tick"));
    const whole = { x: -10, y: -top - 8, width: width + 20, height: height + top + bottom + 8 };
    const style = drawing("style", {});
    style.textContent = css.join("\n");
    copy.prepend(style, drawing("rect", { ...whole, fill: light("--paper") }));
    copy.setAttribute("viewBox", Object.values(whole).join(" "));
    copy.setAttribute("width", whole.width);
    copy.setAttribute("height", whole.height);
    const link = element("a", {
      href: URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" })),
      download: title.join(" ").replace(/[^\w.-]+/g, "-").slice(0, 80) + ".svg",
    });
    link.click();
    URL.revokeObjectURL(link.href);
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.save");
    if (button) saved(button.closest("figure"));
  });
  // Last, as a row that it unfolds is drawn with all of the above.
  if (location.hash) arrive();
})();
