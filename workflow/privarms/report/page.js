"use strict";
(() => {
  const root = document.documentElement;
  const views = [...document.querySelectorAll(".view")];
  const links = [...document.querySelectorAll("nav a")];
  const title = document.title;
  const byId = (id) => document.getElementById(id);

  // Tabs: what belongs together, one at a time. Without a script, and in print, all stand below one another.
  const open = new Map();
  document.querySelectorAll("[data-tabs]").forEach((box, number) => {
    const panels = [...box.children];
    const list = document.createElement("div");
    list.className = "tabs";
    list.setAttribute("role", "tablist");
    list.setAttribute("aria-label", box.dataset.tabs);
    const tabs = panels.map((panel, index) => {
      const tab = document.createElement("button");
      tab.type = "button";
      tab.textContent = panel.dataset.tab;
      tab.id = `tab-${number}-${index}`;
      tab.setAttribute("role", "tab");
      panel.id ||= `panel-${number}-${index}`;
      tab.setAttribute("aria-controls", panel.id);
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", tab.id);
      list.append(tab);
      return tab;
    });
    const choose = (index, focus) => {
      tabs.forEach((tab, at) => {
        tab.setAttribute("aria-selected", String(at === index));
        tab.tabIndex = at === index ? 0 : -1;
        panels[at].classList.toggle("shut", at !== index);
      });
      if (focus) tabs[index].focus();
    };
    tabs.forEach((tab, index) => {
      tab.addEventListener("click", () => choose(index));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        const to = step ? (index + step + tabs.length) % tabs.length : { Home: 0, End: tabs.length - 1 }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        choose(to, true);
      });
    });
    panels.forEach((panel, index) => open.set(panel, () => choose(index)));
    box.prepend(list);
    choose(0);
  });

  // The ledger: what fits a filter, in an order, both of which the address holds.
  const form = byId("tools");
  const table = byId("claims");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const headers = [...table.tHead.rows[0].cells];
  const places = new Map(rows.map((row, place) => [row, place]));
  const order = ["differs", "inconclusive", "measured small", "unverifiable", "reproduced"];
  const compare = new Intl.Collator("en", { numeric: true }).compare;
  const plain = (words) => words.toLowerCase().replace(/(\d)\u202f(?=\d)/g, "$1").replaceAll("\u2212", "-");
  // What is written about a claim is read when somebody looks for a word, and once.
  let contents = null;
  const written = (row) => {
    contents ||= new Map(rows.map((one) => [one, plain(`${one.dataset.claim} ${one.textContent} ${byId(decodeURIComponent(one.querySelector("a").hash.slice(1)))?.textContent ?? ""}`)]));
    return contents.get(row);
  };
  const fields = ["text", "paper", "where", "verdict", "outcome", "epsilon", "variant", "data", "whose", "sort"];
  const wheres = new Map(rows.map((row) => [row, row.cells[2].firstChild.textContent]));
  for (const where of [...new Set(wheres.values())].sort(compare)) form.elements.where.add(new Option(where, where));
  const sorts = headers.map((header) => header.dataset.sort);
  for (const header of headers) {
    const name = header.textContent;
    for (const [sign, word] of [["", "up"], ["-", "down"]]) {
      form.elements.sort.add(new Option(`${name}, ${word}`, sign + header.dataset.sort));
    }
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name;
    header.replaceChildren(button);
    button.addEventListener("click", () => {
      const now = form.elements.sort.value;
      const by = header.dataset.sort;
      form.elements.sort.value = now === by ? `-${by}` : now === `-${by}` ? "" : by;
      filter(true);
    });
  }
  const keyOf = (row, index) => {
    const cell = row.cells[index];
    if (index === 0) return order.indexOf(row.dataset.verdict);
    if (!cell.classList.contains("num")) return cell.textContent.trim();
    // The first number of what is written there: ">= 5" sorts as 5.
    const number = plain(cell.textContent).replace("\u221e", "1e999").match(/-?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?/);
    return number ? Number(number[0]) : "";
  };
  let sorted = "";
  const sort = (by) => {
    headers.forEach((header, index) => {
      const way = by === sorts[index] ? "ascending" : by === `-${sorts[index]}` ? "descending" : "";
      if (way) header.setAttribute("aria-sort", way);
      else header.removeAttribute("aria-sort");
    });
    if (by === sorted) return;
    sorted = by;
    const direction = by.startsWith("-") ? -1 : 1;
    const index = sorts.indexOf(by.replace("-", ""));
    const ordered = [...rows];
    if (index >= 0) {
      const keys = new Map(rows.map((row) => [row, keyOf(row, index)]));
      ordered.sort((one, other) => {
        const [a, b] = [keys.get(one), keys.get(other)];
        // Empty cells come last either way.
        if ((a === "") !== (b === "")) return a === "" ? 1 : -1;
        const which = typeof a === "number" && typeof b === "number" ? a - b : compare(a, b);
        return direction * which || places.get(one) - places.get(other);
      });
    }
    body.append(...ordered);
  };
  const filter = (remember) => {
    const wanted = Object.fromEntries(fields.map((name) => [name, form.elements[name].value]));
    const words = plain(wanted.text).split(/\s+/).filter(Boolean);
    const chosen = ["paper", "verdict", "outcome", "epsilon", "variant", "data", "whose"].filter((name) => wanted[name]);
    let found = 0;
    for (const row of rows) {
      // A claim may be measured at several budgets.
      const own = (name) => (name === "epsilon" ? row.dataset[name].split(" ") : [row.dataset[name]]);
      const fits = chosen.every((name) => own(name).includes(wanted[name]))
        && (!wanted.where || wheres.get(row) === wanted.where) && words.every((word) => written(row).includes(word));
      row.hidden = !fits;
      found += fits;
    }
    sort(wanted.sort);
    const about = new Set(rows.filter((row) => !row.hidden).map((row) => row.dataset.about)).size;
    // A count of statements that led here is not the count of claims.
    const verdicts = rows.filter((row) => !row.hidden).map((row) => row.dataset.verdict);
    const parts = [...new Set(verdicts)].map((word) => `${verdicts.filter((one) => one === word).length} ${word}`);
    byId("found").textContent = `${found} ${found === 1 ? "claim" : "claims"} about ${about} ${about === 1 ? "statement" : "statements"} (of ${rows.length} claims)${parts.length > 1 ? `: ${parts.join(", ")}` : ""}`;
    byId("nothing").hidden = found > 0;
    if (remember) {
      const given = new URLSearchParams(fields.filter((name) => wanted[name]).map((name) => [name, wanted[name]])).toString();
      history.replaceState(null, "", given ? `#ledger?${given}` : "#ledger");
    }
  };
  // A browser may have kept the form of an earlier visit. Before anybody listens: a reset by hand is remembered.
  form.reset();
  form.addEventListener("input", () => filter(true));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => filter(true)));
  byId("download").addEventListener("click", () => {
    const quoted = (text) => `"${text.trim().replace(/\s+/g, " ").replaceAll('"', '""')}"`;
    const lines = [["claim", "variant", "verdict", "data", "statement", "published", "measured"]];
    for (const row of body.rows) {
      if (row.hidden) continue;
      const { claim, variant, verdict, data } = row.dataset;
      lines.push([claim, variant.replace("-", ""), verdict, data.replace(/^-$/, ""), row.querySelector("a").textContent, row.cells[3].textContent, row.cells[4].textContent]);
    }
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([lines.map((line) => line.map(quoted).join(",")).join("\n") + "\n"], { type: "text/csv" }));
    link.download = "ledger-filtered.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href));
  });

  // A view at a time: the one that holds what the address names.
  const go = (first) => {
    const hash = decodeURIComponent(location.hash.slice(1));
    const [name, query] = hash.split("?");
    root.classList.toggle("everything", name === "everything");
    const target = byId(name) ?? byId("overview");
    const view = target.closest(".view") ?? byId("overview");
    for (const one of views) one.classList.toggle("current", one === view);
    for (const link of links) {
      if (link.hash === `#${view.id}`) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    const heading = view.querySelector("h1, h2");
    document.title = view.id === "overview" ? title : `${heading.textContent} · privarms`;
    if (view.id === "ledger") {
      const given = new URLSearchParams(query ?? "");
      for (const field of fields) form.elements[field].value = given.get(field) ?? "";
      filter(false);
    }
    document.querySelectorAll(".target").forEach((one) => one.classList.remove("target"));
    for (let box = target; box && box !== view; box = box.parentElement) {
      if (box instanceof HTMLDetailsElement) box.open = true;
      if (open.has(box)) open.get(box)();
    }
    if (target === view) {
      if (!first || location.hash) scrollTo(0, 0);
    } else {
      target.classList.add("target");
      target.scrollIntoView();
      // Pictures above it that had no height yet may have moved it.
      requestAnimationFrame(() => target.scrollIntoView());
    }
    links.find((link) => link.hasAttribute("aria-current"))?.scrollIntoView?.({ block: "nearest", inline: "center" });
    if (target !== view) target.scrollIntoView();
    if (!first) byId("main").focus({ preventScroll: true });
  };
  addEventListener("hashchange", () => go(false));
  go(true);
})();
