/* Opens, finds and sorts the questions. The page can be read without it: then everything is open. */
(() => {
  "use strict";
  const table = document.getElementById("question-table");
  if (!table) return;
  const bodies = Array.from(table.tBodies);
  const search = document.getElementById("search");
  const filters = ["kind", "category"].map((name) => document.getElementById("filter-" + name)).filter(Boolean);
  const status = document.getElementById("found");
  const texts = bodies.map((body) =>
    Array.from(body.querySelectorAll("[data-find]"), (part) => part.textContent).join("\n").toLowerCase());
  const state = (body) => body.querySelector("button.open");

  function show(body, open) {
    state(body).setAttribute("aria-expanded", String(open));
    body.classList.toggle("is-open", open);
  }

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    bodies.forEach((body, place) => {
      const fits = words.every((word) => texts[place].includes(word)) &&
        filters.every((one) => one.value === "" ||
          (one.dataset.of === "kind" && one.value === "bad" ? body.dataset.state : body.dataset[one.dataset.of]) === one.value);
      body.hidden = !fits;
      count += fits ? 1 : 0;
    });
    status.textContent = count + " of " + bodies.length + " questions";
  }

  function sort(header) {
    const column = header.cellIndex;
    const falling = header.getAttribute("aria-sort") === "ascending";
    table.querySelectorAll("thead th").forEach((one) => { if (one.hasAttribute("aria-sort")) one.setAttribute("aria-sort", "none"); });
    header.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const numbers = header.classList.contains("number");
    const value = (body) => body.rows[0].cells[column].dataset.value;
    const key = new Map(bodies.map((body) => [body, numbers ? parseFloat(value(body)) : value(body)]));
    bodies.slice().sort((a, b) => {
      const one = key.get(a), two = key.get(b);
      if (numbers && (isNaN(one) || isNaN(two))) return (isNaN(one) ? 1 : 0) - (isNaN(two) ? 1 : 0);
      const order = numbers ? one - two : one.localeCompare(two, "en", { numeric: true });
      return falling ? -order : order;
    }).forEach((body) => table.append(body));
  }

  function follow() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const body = target && target.closest("tbody.question");
    if (!body) return;
    if (body.hidden) { search.value = ""; filters.forEach((one) => { one.value = ""; }); filter(); }
    show(body, true);
    target.scrollIntoView({ block: target === body ? "start" : "center" });
  }

  table.addEventListener("click", (event) => {
    const sorter = event.target.closest("thead th button");
    if (sorter) { sort(sorter.closest("th")); return; }
    const row = event.target.closest("tr.line");
    if (!row || event.target.closest("a")) return;
    if (!event.target.closest("button") && String(getSelection())) return; /* selecting text does not open the row */
    const body = row.parentElement;
    show(body, !body.classList.contains("is-open"));
  });
  const all = document.getElementById("open-all");
  all.addEventListener("click", () => {
    const open = all.getAttribute("aria-pressed") !== "true";
    all.setAttribute("aria-pressed", String(open));
    all.textContent = open ? "Close all" : "Open all";
    bodies.forEach((body) => { if (!body.hidden || !open) show(body, open); });
  });
  search.addEventListener("input", filter);
  filters.forEach((one) => one.addEventListener("change", filter));
  addEventListener("hashchange", follow);
  document.querySelectorAll("a[data-kind]").forEach((link) => link.addEventListener("click", () => {
    search.value = "";
    filters.forEach((one) => { one.value = one.dataset.of === "kind" ? link.dataset.kind : ""; });
    filter();
  }));
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) { event.preventDefault(); search.focus(); }
  });
  filter();
  follow();
})();
