// Rankings side by side: a line for each document from ranking to ranking, how much each two agree, and all as a table.
// Flow: pipeline_results.js -> here -> GET /pipeline/compare/…. Everything is drawn from that reply.

import { percent } from "./pipeline_steps.js";
import { get } from "./service.js";
import { number, t } from "./texts.js";
import { html, useEffect, useState } from "./vendor/htm-preact.js";

const MOST_LINES = 30;
const MOST_ROWS = 100;
const ROW_PX = 22;
const GAP_PX = 190;
const LABEL_PX = 210;
const LABEL_CHARS = 28;

export function Rankings({ task, label, fail }) {
  const [found, setFound] = useState(null);
  useEffect(() => {
    const control = new AbortController();
    get(`pipeline/compare/${task}`, {}, control.signal).then(setFound, (error) => error.name !== "AbortError" && fail(error.message));
    return () => control.abort();
  }, [task]);
  if (!found) return html`<p class="note" aria-busy="true">${t("loading")} …</p>`;
  const { rank_columns: columns, documents, pairs } = found;
  if (columns.length < 2) return html`<p class="note">${t("fewRankings")}</p>`;
  const last = columns.at(-1);
  const named = namesOf(documents);
  const sorted = [...documents].sort((a, b) => (a.ranks[last] ?? Infinity) - (b.ranks[last] ?? Infinity));
  return html`<div class="pairs">${pairs.map((pair) => html`<${Pair} pair=${pair} label=${label} named=${named} />`)}</div>
    <${Slopes} columns=${columns} documents=${sorted.slice(0, MOST_LINES)} label=${label} named=${named} />
    <div class="scroller step-table" tabindex="0" role="region" aria-label=${t("allRankings")}><table>
      <thead><tr><th scope="col" class="title">${t("title")}</th>${columns.map((column) => html`<th scope="col" class="figure">${label(column)}</th>`)}</tr></thead>
      <tbody>${sorted.slice(0, MOST_ROWS).map((one) => html`<tr><th scope="row" class="title">${named(one)}<small dir="auto">${one.id}</small></th>
        ${columns.map((column, place) => html`<td class="figure rank">${one.ranks[column] ?? "–"}<${Moved} from=${place ? one.ranks[columns[0]] : null} to=${one.ranks[column]} /></td>`)}</tr>`)}</tbody></table></div>
    ${documents.length > MOST_ROWS && html`<p class="note">${t("rowsShown", { shown: MOST_ROWS, n: number(documents.length) })}</p>`}`;
}

function Pair({ pair, label, named }) {
  const tau = pair.kendall_tau;
  return html`<section class="pair"><h3>${t("rankingPair", { from: label(pair.from), to: label(pair.to) })}</h3>
    <dl><dt title=${t("tauHint")}>${t("tau")}</dt><dd><strong>${tau === null ? "–" : tau.toFixed(2)}</strong> <meter min="-1" max="1" value=${tau ?? 0} aria-label=${t("tauHint")}></meter></dd>
      ${Object.entries(pair.overlap).map(([k, share]) => html`<dt>${t("overlap", { k })}</dt><dd>${percent(share)}</dd>`)}</dl>
    <h4>${t("movedMost")}</h4>
    ${pair.moves.length ? html`<ol class="moves">${pair.moves.map((move) => html`<li><span class="from-to">${move.from} → ${move.to}</span> <${Moved} from=${move.from} to=${move.to} /> ${named(move)}</li>`)}</ol>`
      : html`<p class="note">${t("nothingMoved")}</p>`}</section>`;
}

// How many places a document rose or fell.
function Moved({ from, to }) {
  if (!from || !to || from === to) return null;
  return html` <span class=${from > to ? "rose" : "fell"}>${from > to ? "▲" : "▼"}${Math.abs(from - to)}</span>`;
}

function Slopes({ columns, documents, label, named }) {
  const deepest = Math.max(...documents.flatMap((one) => columns.map((column) => one.ranks[column] ?? 0)));
  const shown = Math.min(deepest, MOST_LINES);
  const height = (shown + 2) * ROW_PX;
  const width = LABEL_PX + GAP_PX * (columns.length - 1) + LABEL_PX;
  const x = (place) => LABEL_PX + GAP_PX * place;
  const y = (rank) => (rank + 1) * ROW_PX;
  const lines = documents.map((one) => {
    const points = columns.map((column, place) => [place, one.ranks[column]]).filter(([, rank]) => rank && rank <= shown);
    const ranks = points.map(([, rank]) => rank);
    return { one, points, moved: ranks.length ? Math.max(...ranks) - Math.min(...ranks) : 0 };
  });
  const most = Math.max(1, ...lines.map(({ moved }) => moved));
  const end = columns.length - 1;
  return html`<div class="scroller slopes" tabindex="0" role="region" aria-label=${t("rankings")}>
    <svg viewBox="0 0 ${width} ${height}" width=${width} height=${height} role="img" aria-label=${t("slopes", { n: documents.length })}>
      ${columns.map((column, place) => html`<text class="axis" x=${x(place)} y=${ROW_PX * 0.7} text-anchor="middle">${cut(label(column))}</text>
        <line class="axis" x1=${x(place)} x2=${x(place)} y1=${ROW_PX} y2=${height - ROW_PX / 2} />`)}
      ${lines.map(({ one, points, moved }) => html`<g class=${moved >= most / 2 && moved > 1 ? "slope far" : "slope"}><title>${named(one)}: ${points.map(([, rank]) => rank).join(" → ")}</title>
        <polyline points=${points.map(([place, rank]) => `${x(place)},${y(rank)}`).join(" ")} />
        ${points.map(([place, rank]) => html`<circle cx=${x(place)} cy=${y(rank)} r="4" />
          ${place === 0 && html`<text x=${x(0) - 10} y=${y(rank) + 4} text-anchor="end">${cut(named(one))} ${rank}</text>`}
          ${place === end && html`<text x=${x(end) + 10} y=${y(rank) + 4}>${rank} ${cut(named(one))}</text>`}`)}</g>`)}
    </svg></div>`;
}

// Names rows by their titles; of passages of one document the number is added.
function namesOf(documents) {
  const times = new Map();
  for (const { title } of documents) times.set(title, (times.get(title) ?? 0) + 1);
  return ({ title, doc_id, id }) => {
    const place = times.get(title) > 1 && /#0*(\d+)$/.exec(id ?? "")?.[1];
    return `${title || doc_id || id || "–"}${place ? ` #${place}` : ""}`;
  };
}

const cut = (text) => (text.length > LABEL_CHARS ? `${text.slice(0, LABEL_CHARS - 1)}…` : text);
