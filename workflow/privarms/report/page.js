"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const views = [...document.querySelectorAll(".view")];
  const links = [...document.querySelectorAll("nav a")];
  const title = document.title;

  // Show only the rows of the ledger that match the filter.
  const form = byId("tools");
  const fields = [...form.elements].filter((field) => field.name);
  const rows = [...byId("cases").tBodies[0].rows];
  const statement = (row) => decodeURIComponent(row.querySelector("a").hash.slice(1));
  const plain = (words) => words.toLowerCase().replace(/(\d)\u202f(?=\d)/g, "$1").replaceAll("\u2212", "-");
  // The search also covers the statement's test, which is on its card only.
  const written = (row) => plain(`${row.textContent} ${statement(row)} ${byId(statement(row))?.querySelector(".test").textContent}`);
  const filter = () => {
    const chosen = fields.filter((field) => field.value);
    const fits = (row) => chosen.every(({ name, value }) => name === "text"
      ? plain(value).split(/\s+/).every((word) => written(row).includes(word)) : row.dataset[name] === value);
    const about = new Set();
    let shown = 0;
    for (const row of rows) {
      row.hidden = !fits(row);
      if (row.hidden) continue;
      shown += 1;
      about.add(statement(row));
    }
    const [cases, statements] = [shown === 1 ? "case" : "cases", about.size === 1 ? "statement" : "statements"];
    byId("found").textContent = `${shown} ${cases} of ${about.size} ${statements} (all: ${rows.length} cases)`;
    byId("nothing").hidden = shown > 0;
    return new URLSearchParams(chosen.map(({ name, value }) => [name, value])).toString();
  };
  const remember = () => {
    const query = filter();
    history.replaceState(null, "", query ? `#ledger?${query}` : "#ledger");
  };
  form.addEventListener("input", remember);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(remember));

  // Show one view at a time: the view that contains the element in the URL fragment.
  const go = (first) => {
    const [name, query] = decodeURIComponent(location.hash.slice(1)).split("?");
    if (name === "main") return;
    const target = byId(name)?.closest(".view") ? byId(name) : byId("overview");
    const view = target.closest(".view");
    for (const one of views) one.classList.toggle("current", one === view);
    for (const link of links) link.ariaCurrent = link.hash === `#${view.id}` ? "page" : null;
    document.title = view.id === "overview" ? title : `${view.querySelector("h1").textContent} · privarms`;
    if (view.id === "ledger") {
      const values = new URLSearchParams(query ?? "");
      for (const field of fields) field.value = values.get(field.name) ?? "";
      filter();
    }
    for (let box = target; box !== view; box = box.parentElement) {
      if (box instanceof HTMLDetailsElement) box.open = true;
    }
    if (target !== view) {
      target.scrollIntoView();
      // Pictures above the target may load later and move it, so scroll again.
      requestAnimationFrame(() => target.scrollIntoView());
    } else if (!first || location.hash) scrollTo(0, 0);
    if (!first) byId("main").focus({ preventScroll: true });
  };
  addEventListener("hashchange", () => go(false));
  addEventListener("beforeprint", () => document.querySelectorAll(".tab").forEach((one) => (one.open = true)));
  go(true);
})();
