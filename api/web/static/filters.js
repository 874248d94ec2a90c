// The conditions on documents that a question is asked under: type, topic, dates. Flow: ask.js, search.js -> here -> `filters`.
// What there is to choose from comes from GET /stats when the conditions are first opened.

import { counts } from "./service.js";
import { t } from "./texts.js";
import { html, useState } from "./vendor/htm-preact.js";

export const NO_FILTERS = { content_type: "", topic: "", from: "", to: "" };

// The conditions as the service takes them; undefined without any. `only`: documents, the only ones that are asked.
export function asFilters({ content_type, topic, from, to }, only = []) {
  const filters = [];
  if (only.length) filters.push({ key: "doc_id", operator: "in", value: only.map(({ doc_id }) => doc_id) });
  if (content_type) filters.push({ key: "content_type", value: content_type });
  if (topic) filters.push({ key: "topic", value: topic });
  if (from) filters.push({ key: "date", operator: ">=", value: from });
  if (to) filters.push({ key: "date", operator: "<=", value: `${to}T23:59:59` });
  return filters.length ? { filters } : undefined;
}

// `children` are further fields beside the conditions, `set` how many of them are set.
export function Filters({ corpora, filters, change, children, set = 0 }) {
  const [counted, setCounted] = useState(null);
  const opened = (event) => {
    if (event.target.open && !counted) counts(corpora).then(setCounted, () => {});
  };
  const field = (name) => ({ value: filters[name], onInput: ({ target }) => change({ ...filters, [name]: target.value }) });
  const choice = (name, label, counts) => html`<label>${label} <select ...${field(name)}><option value="">${t("anyType")}</option>
    ${Object.entries(counts).map(([value, n]) => html`<option value=${value}>${value} (${n})</option>`)}</select></label>`;
  const used = Object.values(filters).filter(Boolean).length + set;
  return html`<details class="filters" onToggle=${opened}>
    <summary>${t("filters")}${used ? ` (${used})` : ""}</summary>
    <div class="fields">
      ${choice("content_type", t("type"), counted?.by_content_type ?? {})}
      ${Object.keys(counted?.by_topic ?? {}).length > 0 && choice("topic", t("topic"), counted.by_topic)}
      <label>${t("dateFrom")} <input type="date" ...${field("from")} /></label>
      <label>${t("dateTo")} <input type="date" ...${field("to")} /></label>
      ${children}
    </div>
  </details>`;
}
