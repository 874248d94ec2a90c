// What a run of a pipeline left: the table after each step, what is said of all documents, rankings side by side, log.
// Flow: pipelines.js -> here -> GET /task/table/…, GET /pipeline/compare/…; a title opens its place by evidence.js.

import { percent, rankName } from "./pipeline_steps.js";
import { Rankings } from "./pipeline_rankings.js";
import { get } from "./service.js";
import { duration, number, t } from "./texts.js";
import { html, useEffect, useState } from "./vendor/htm-preact.js";

const PAGE_ROWS = 25;
const FOLDED_CHARS = 180;
const SIDE_BY_SIDE = "rankings";
// Opened by the row's title.
const NOT_SHOWN = new Set(["title"]);

export function Results({ run, info, corpus, show, shown }) {
  const [chosen, setChosen] = useState(null); // a step's number, or SIDE_BY_SIDE; null follows the run
  const outputs = Object.values(run.progress.step_output);
  const done = outputs.length;
  const [failure, setFailure] = useState("");
  const [count, setCount] = useState(null); // of the last table
  if (!done) return run.has_finished ? html`<${Log} lines=${run.progress.log} />` : null;
  const view = chosen ?? done;
  const sum = (read) => outputs.reduce((total, one) => total + read(one), 0);
  const looked = sum((one) => one.looked_up);
  const whole = run.has_finished && !run.progress.pipeline_error;
  const ranked = run.ids.slice(0, done).filter((id) => ["Data Sources", "Rerankers"].includes(info[id]?.category)).length > 1;
  const name = (id) => info[id]?.name ?? id;
  return html`<h2>${t("results")}</h2>
    ${whole && count !== null && html`<p class="result-line">${t("resultLine", { n: number(count), time: duration(sum((one) => one.seconds) * 1000), share: percent(looked ? sum((one) => one.found) / looked : 0) })}</p>`}
    ${(run.aggregated ?? []).map((one) => html`<${Aggregated} said=${one} show=${show} />`)}
    <div class="tabs steps-tabs" role="group" aria-label=${t("tableAfter")}>
      ${outputs.map((one, index) => html`<button key=${index} class="quiet" aria-pressed=${String(view === index + 1)} onClick=${() => setChosen(index + 1)}>${index + 1} ${name(one.id)}</button>`)}
      ${ranked && html`<button key="rankings" class="quiet" aria-pressed=${String(view === SIDE_BY_SIDE)} onClick=${() => setChosen(SIDE_BY_SIDE)}>${t("rankings")}</button>`}</div>
    ${failure && html`<p class="problem" role="alert">${failure}</p>`}
    ${view === SIDE_BY_SIDE
      ? html`<${Rankings} key=${done} task=${run.task} label=${(column) => rankName(column, run.ids, info)} fail=${setFailure} />`
      : html`<${StepTable} key=${view} task=${run.task} step=${view} ids=${run.ids} info=${info} openable=${run.corpus === corpus} counted=${view === done ? setCount : null} fail=${setFailure} show=${show} shown=${shown} />`}
    <${Log} lines=${run.progress.log} />`;
}

function Log({ lines }) {
  return html`<details class="bring log"><summary>${t("log")}</summary><pre tabindex="0">${lines.join("\n")}</pre></details>`;
}

// Said of all documents together; each quoted sentence leads to its place.
function Aggregated({ said, show }) {
  const { title, data, citations = [] } = said;
  return html`<section class="aggregated" aria-label=${String(title)}><h3>${String(title)}</h3><p dir="auto">${String(data)}</p>
    ${citations.length > 0 && html`<p class="actions">${citations.filter((one) => one.doc_id).map((one, index) => html`
      <button class="cite" aria-label=${t("citation", { n: index + 1, title: one.title ?? one.doc_id })} onClick=${() => show({ ...one, label: one.title ?? one.doc_id })}>${index + 1}</button>`)}</p>`}</section>`;
}

function StepTable({ task, step, ids, info, openable, counted, fail, show, shown }) {
  const [table, setTable] = useState(null);
  const [before, setBefore] = useState([]); // names of the columns before this step
  const [all, setAll] = useState(false);
  const load = async (offset, signal) => {
    try {
      const page = await get(`task/table/${task}/${step}`, { offset, limit: PAGE_ROWS }, signal);
      setTable((now) => (offset && now ? { ...page, rows: [...now.rows, ...page.rows] } : page));
      fail("");
      counted?.(page.count);
    } catch (error) {
      if (error.name !== "AbortError") fail(error.message);
    }
  };
  useEffect(() => {
    const control = new AbortController();
    load(0, control.signal);
    if (step > 1) {
      get(`task/table/${task}/${step - 1}`, { limit: 1, cell_chars: 1 }, control.signal).then(({ columns }) => setBefore(columns.map(({ id }) => id)), () => {});
    }
    return () => control.abort();
  }, [task, step]);
  if (!table) return html`<p class="note" aria-busy="true">${t("loading")} …</p>`;
  if (!table.count) return html`<p class="note">${t("emptyTable")}</p>`;
  const isNew = (id) => step > 1 && before.length > 0 && !before.includes(id);
  const shownColumns = table.columns.filter(({ id, rank, text, chip }) => !NOT_SHOWN.has(id) && (all || rank || text || chip || isNew(id)));
  const columns = [...shownColumns.filter(({ rank }) => rank), ...shownColumns.filter(({ rank }) => !rank)];
  const titled = table.columns.some(({ id }) => id === "title");
  const open = (row) => show({ doc_id: row.doc_id, start: row.start, end: row.end, title: row.title, label: row.title });
  const canOpen = (row) => openable && typeof row.doc_id === "string" && Number.isInteger(row.start) && Number.isInteger(row.end);
  return html`<div class="scroller step-table" tabindex="0" role="region" aria-label="${t("tableAfter")} ${step} ${info[ids[step - 1]]?.name ?? ids[step - 1]}"><table>
      <thead><tr>${titled && html`<th scope="col" class="title">${t("title")}</th>`}
        ${columns.map(({ id, rank }) => html`<th key=${id} scope="col" class=${rank ? "figure" : undefined} data-new=${String(isNew(id))}>${rank ? rankName(id, ids, info) : id}${isNew(id) && html` <small class="new">${t("newColumn")}</small>`}</th>`)}</tr></thead>
      <tbody>${table.rows.map((row, index) => html`<tr key=${index}>
        ${titled && html`<th scope="row" class="title">${canOpen(row) ? html`<button class="link" aria-pressed=${String(shown?.doc_id === row.doc_id && shown?.start === row.start)} onClick=${() => open(row)}>${row.title}</button>` : row.title}</th>`}
        ${columns.map((column) => html`<${Cell} key=${column.id} column=${column} value=${row[column.id]} />`)}</tr>`)}</tbody></table></div>
    <p class="actions under-table"><span class="note">${t("rowsShown", { shown: number(table.rows.length), n: number(table.count) })}</span>
      ${table.rows.length < table.count && html`<button class="quiet" onClick=${() => load(table.rows.length)}>${t("more")}</button>`}
      <label class="note"><input type="checkbox" checked=${all} onInput=${({ target }) => setAll(target.checked)} /> ${t("allColumns")}</label></p>`;
}

function Cell({ column, value }) {
  if (value === null || value === undefined || value === "") return html`<td class=${column.rank ? "figure" : undefined}>–</td>`;
  if (column.rank) return html`<td class="figure rank">${number(value)}</td>`;
  if (typeof value === "number") return html`<td class="figure">${Number.isInteger(value) ? number(value) : value.toFixed(3)}</td>`;
  if (column.chip) return html`<td><span class="chip" dir="auto" title=${String(value)}>${String(value)}</span></td>`;
  return html`<td class=${String(value).length > 30 ? "wide" : undefined}><${Folded} text=${String(value)} /></td>`;
}

function Folded({ text }) {
  const [open, setOpen] = useState(false);
  if (text.length <= FOLDED_CHARS) return html`<span dir="auto">${text}</span>`;
  return html`<span dir="auto">${open ? text : `${beginning(text)} …`}</span>${" "}
    <button class="link fold" aria-expanded=${String(open)} onClick=${() => setOpen(!open)}>${t(open ? "less" : "more")}</button>`;
}

const beginning = (text) => text.slice(0, Math.max(text.lastIndexOf(" ", FOLDED_CHARS), FOLDED_CHARS / 2)).trimEnd();
