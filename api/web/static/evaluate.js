// The view of evaluation runs: a list with main figures, one metric over the runs of the same questions, and reports.
// Flow: app.js -> here -> GET /runs; a report is shown in a frame that may run scripts and has no origin (routes/runs.py).

import { get } from "./service.js";
import { number, t } from "./texts.js";
import { html, useEffect, useRef, useState } from "./vendor/htm-preact.js";

const MOST_FIGURES = 4;
const CHART_HEIGHT = 220;
const EDGE = { top: 24, right: 24, bottom: 34, left: 56 };
const POINT_PX = 110;
const LEAST_WIDTH = 340;
const LABEL_CHARS = 12;

export function Evaluate({ config, query }) {
  const [found, setFound] = useState(null);
  const [failure, setFailure] = useState("");
  const opened = query.get("run");
  useEffect(() => {
    if (config.runs) get("runs").then(setFound, (error) => setFailure(error.message));
  }, []);
  if (!config.runs) return html`<p class="lead">${t("runsOff")}</p>`;
  if (failure) return html`<p class="problem" role="alert">${failure}</p>`;
  if (!found) return html`<p class="note" aria-busy="true">${t("loading")} …</p>`;
  const { runs, metrics, older } = found;
  if (!runs.length) return html`<p class="lead">${t("noRuns")}</p>`;
  const report = runs.find(({ name, has_report }) => name === opened && has_report);
  return html`<div class="evaluations">
    <p class="lead">${t("runsHint")}</p>
    <${List} runs=${runs} metrics=${metrics} opened=${opened} />
    ${older > 0 && html`<p class="note">${t("olderRuns", { n: number(older) })}</p>`}
    ${report && html`<${Report} key=${report.name} name=${report.name} />`}
    <${History} runs=${runs.filter(({ problem, means }) => !problem && Object.keys(means).length)} metrics=${metrics} /></div>`;
}

const address = (name) => `#evaluate?${new URLSearchParams({ run: name })}`;

function List({ runs, metrics, opened }) {
  const named = [...new Set(runs.flatMap(({ main_metrics }) => main_metrics ?? []))];
  const known = Object.keys(metrics);
  const figures = (named.length ? named : known).slice(0, MOST_FIGURES);
  return html`<div class="scroller" tabindex="0" role="region" aria-label=${t("evaluate")}><table class="list runs">
    <thead><tr><th scope="col">${t("runName")}</th><th scope="col">${t("started")}</th><th scope="col">${t("corpus")}</th><th scope="col">${t("questionsOf")}</th>
      ${figures.map((name) => html`<th scope="col" class="figure" title=${metrics[name]?.about}>${name}</th>`)}</tr></thead>
    <tbody>${runs.map((run) => html`<tr key=${run.name} data-open=${String(run.name === opened)}>
      <th scope="row">${run.has_report ? html`<a href=${address(run.name)} aria-label=${t("openReport", { name: run.name })} aria-current=${run.name === opened ? "true" : undefined}>${run.name}</a>` : run.name}
        ${run.problem ? html`<small class="problem">${t("cannotShow")}: ${run.problem}</small>`
          : !run.has_report ? html`<small>${t("noReport")}. ${t("writeReport", { name: run.name })}</small>`
          : run.stale ? html`<small class="caution">${t("stale")}</small>` : null}</th>
      <td>${run.started ? html`<time datetime=${run.started}>${moment(run.started)}</time>` : "–"}</td><td>${run.corpus ?? "–"}</td>
      <td>${run.questions ?? "–"}${Number.isInteger(run.asked) && html`<small>${number(run.asked)}</small>`}</td>
      ${figures.map((name) => html`<td class="figure">${figure(run.means?.[name]?.mean)}</td>`)}</tr>`)}</tbody></table></div>`;
}

function Report({ name }) {
  const heading = useRef(null);
  useEffect(() => {
    heading.current.focus();
    heading.current.scrollIntoView({ block: "start" });
  }, []);
  const source = `runs/${encodeURIComponent(name)}/report`;
  return html`<section class="report"><div class="report-head"><h2 ref=${heading} tabindex="-1">${t("reportOf", { name })}</h2>
      <p class="actions"><a class="quiet" href=${source} target="_blank" rel="noopener noreferrer">${t("ownTab")}</a><a class="quiet" href="#evaluate">${t("close")}</a></p></div>
    <iframe src=${source} sandbox="allow-scripts" referrerpolicy="no-referrer" title=${t("reportOf", { name })}></iframe></section>`;
}

// Only runs of the same questions stand on one line: the hash of their file decides.
function History({ runs, metrics }) {
  const groups = new Map();
  for (const run of [...runs].reverse()) groups.set(run.questions_sha256, [...(groups.get(run.questions_sha256) ?? []), run]);
  const [chosenGroup, setGroup] = useState(null);
  const [chosenMetric, setMetric] = useState(null);
  if (!groups.size) return null;
  const largest = [...groups.keys()].sort((a, b) => groups.get(b).length - groups.get(a).length)[0];
  const group = groups.get(chosenGroup ?? largest);
  const names = Object.keys(metrics).filter((name) => group.some(({ means }) => Number.isFinite(means[name]?.mean)));
  const metric = names.includes(chosenMetric) ? chosenMetric : group.at(-1).main_metrics.find((name) => names.includes(name)) ?? names[0];
  const points = group.map((run) => ({ run, value: run.means[metric]?.mean })).filter(({ value }) => Number.isFinite(value));
  const families = [...new Set(names.map((name) => metrics[name].family))];
  return html`<section class="history"><h2>${t("historyOf")}</h2>
    <div class="fields">
      ${groups.size > 1 && html`<label>${t("questionsOf")} <select value=${chosenGroup ?? largest} onInput=${({ target }) => setGroup(target.value)}>
        ${[...groups].map(([hash, [first]]) => html`<option value=${hash}>${t("sameQuestions", { file: first.questions, n: number(first.asked ?? 0) })} (${hash.slice(0, 6)})</option>`)}</select></label>`}
      <label>${t("metric")} <select value=${metric} onInput=${({ target }) => setMetric(target.value)}>
        ${families.map((family) => html`<optgroup label=${family}>${names.filter((name) => metrics[name].family === family).map((name) => html`<option value=${name}>${name}</option>`)}</optgroup>`)}</select></label></div>
    <p class="note">${metrics[metric].about} ${t(metrics[metric].better === "higher" ? "higherBetter" : "lowerBetter")}</p>
    ${points.length > 1 ? html`<${Chart} points=${points} metric=${metric} />` : html`<p class="note">${t("oneRun")}</p>`}
    <div class="scroller" tabindex="0" role="region" aria-label=${metric}><table class="list">
      <thead><tr><th scope="col">${t("runName")}</th><th scope="col">${t("started")}</th><th scope="col" class="figure">${t("mean")}</th><th scope="col" class="figure">${t("change")}</th><th scope="col" class="figure">${t("scored")}</th></tr></thead>
      <tbody>${points.map(({ run, value }, index) => html`<tr key=${run.name}><th scope="row">${run.name}</th><td><time datetime=${run.started}>${moment(run.started)}</time></td>
        <td class="figure">${figure(value)}</td><td class="figure"><${Change} before=${points[index - 1]?.value} now=${value} better=${metrics[metric].better} /></td>
        <td class="figure">${run.means[metric].n}/${run.means[metric].of}</td></tr>`)}</tbody></table></div></section>`;
}

function Change({ before, now, better }) {
  if (!Number.isFinite(before)) return "–";
  const by = now - before;
  if (Math.abs(by) < 5e-4) return "0";
  const good = by > 0 === (better === "higher");
  return html`<span class=${good ? "rose" : "fell"}>${by > 0 ? "▲ +" : "▼ −"}${figure(Math.abs(by))}</span>`;
}

function Chart({ points, metric }) {
  const values = points.map(({ value }) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const flat = figure(low) === figure(high);
  const room = ((flat ? 0 : high - low) || Math.abs(high) || 1) * 0.15;
  const [from, to] = [low - room, high + room];
  const width = Math.max(LEAST_WIDTH, EDGE.left + EDGE.right + POINT_PX * points.length);
  const step = (width - EDGE.left - EDGE.right) / Math.max(1, points.length - 1);
  const x = (index) => EDGE.left + step * index;
  const y = (value) => EDGE.top + (1 - (value - from) / (to - from)) * (CHART_HEIGHT - EDGE.top - EDGE.bottom);
  const ticks = flat ? [low] : [low, (low + high) / 2, high];
  const told = t("chartOf", { metric, n: points.length, first: figure(values[0]), last: figure(values.at(-1)) });
  return html`<div class="scroller" tabindex="0" role="region" aria-label=${told}>
    <svg class="chart" viewBox="0 0 ${width} ${CHART_HEIGHT}" width=${width} height=${CHART_HEIGHT} role="img" aria-label=${told}>
      ${ticks.map((tick) => html`<line class="grid" x1=${EDGE.left} x2=${width - EDGE.right} y1=${y(tick)} y2=${y(tick)} /><text class="tick" x=${EDGE.left - 8} y=${y(tick) + 4} text-anchor="end">${figure(tick)}</text>`)}
      <polyline points=${points.map(({ value }, index) => `${x(index)},${y(value)}`).join(" ")} />
      ${points.map(({ run, value }, index) => html`<g><title>${run.name}: ${figure(value)}</title><circle cx=${x(index)} cy=${y(value)} r="5" />
        <text class="tick" x=${x(index)} y=${CHART_HEIGHT - 10} text-anchor=${index === 0 ? "start" : index === points.length - 1 ? "end" : "middle"}>${cut(run.name)}</text></g>`)}
    </svg></div>`;
}

const cut = (text) => (text.length > LABEL_CHARS ? `${text.slice(0, LABEL_CHARS - 1)}…` : text);
const moment = (started) => started.slice(0, 16).replace("T", " ");
// Shares with three decimals, milliseconds without.
const figure = (value) => (Number.isFinite(value) ? (Math.abs(value) >= 100 ? number(Math.round(value)) : value.toFixed(3)) : "–");
