// The pane beside an answer: the document that a citation leads to, with the cited words marked and in view.
// Flow: a click on a source -> here -> GET /documents/…; the tree says which leaf, part and section the words stand in.
// Of a long document only the surroundings are drawn; the rest follows on demand.

import { plainMarked, renderMarked, toUnits } from "./markdown.js";
import { documentPath, get } from "./service.js";
import { number, t } from "./texts.js";
import { html, useEffect, useMemo, useRef, useState } from "./vendor/htm-preact.js";

const MARKDOWN = new Set(["markdown", "html", "docx"]);
const LEVELS = ["root", "middle", "leaf"];
const AROUND = 12_000; // characters drawn on each side of the place
const KEPT = 6;
const kept = new Map();

// `place`: {doc_id, start, end, title, label, url}; offsets count characters.
export function Evidence({ place, corpus, close }) {
  const [found, setFound] = useState(null);
  const [failure, setFailure] = useState("");
  const pane = useRef(null);
  useEffect(() => {
    const control = new AbortController();
    load(corpus, place.doc_id, control.signal).then(setFound, (error) => error.name !== "AbortError" && setFailure(error.message));
    return () => control.abort();
  }, []);
  useEffect(() => pane.current.focus({ preventScroll: true }), []);
  return html`<aside class="evidence" ref=${pane} tabindex="-1" aria-label=${t("evidence")}>
    <header>
      <h2>${place.label ?? place.title}</h2>
      <button class="quiet icon" onClick=${close} aria-label=${t("close")} title=${t("close")}>✕</button>
    </header>
    ${failure && html`<p class="problem" role="alert">${failure}</p>`}
    ${!found && !failure && html`<p class="note" role="status">${t("loading")} …</p>`}
    ${found && html`<${Shown} found=${found} place=${place} corpus=${corpus} />`}
  </aside>`;
}

async function load(corpus, docId, signal) {
  const key = `${corpus}\n${docId}`;
  if (!kept.has(key)) {
    const found = await get(documentPath(docId), { corpus, nodes: true }, signal);
    if (kept.size >= KEPT) kept.delete(kept.keys().next().value);
    kept.set(key, found);
  }
  return kept.get(key);
}

export function forgetDocuments() {
  kept.clear();
}

function Shown({ found, place, corpus }) {
  const whole = place.end === undefined;
  const { text } = found;
  const span = useMemo(
    () => (whole ? null : { start: toUnits(text, place.start), end: toUnits(text, place.end) }),
    [found, place],
  );
  const chain = useMemo(() => (whole ? [] : ancestors(found, place)), [found, place]);
  const [level, setLevel] = useState(-1); // which of the chain is shaded
  const [reach, setReach] = useState(AROUND);
  const body = useRef(null);
  const [note, setNote] = useState("");
  const changed = Boolean(place.quote) && span && text.slice(span.start, span.end) !== place.quote;
  const from = span ? boundary(text, span.start - reach, -1) : 0;
  const to = boundary(text, (span ? span.end : 0) + reach, 1);

  useEffect(() => {
    const shaded = chain[level] && { start: toUnits(text, chain[level].start), end: toUnits(text, chain[level].end), className: "around" };
    const cited = span && !changed && { ...span, className: "cited" };
    const ranges = [cited, shaded].filter(Boolean).map((range) => ({
      ...range, start: Math.max(range.start, from) - from, end: Math.min(range.end, to) - from,
    }));
    const part = text.slice(from, to);
    let drawn;
    let missing = "";
    if (MARKDOWN.has(found.content_type)) {
      const { fragment, marked } = renderMarked(part, ranges);
      // A quote that Markdown swallows is shown in the plain text, where it cannot hide.
      drawn = cited && !marked.some(({ className }) => className === "cited") ? null : fragment;
    }
    if (!drawn) {
      drawn = document.createElement("div");
      drawn.className = "plain";
      drawn.append(plainMarked(part, ranges));
    }
    if (changed) missing = t("changed");
    body.current.replaceChildren(drawn);
    setNote(missing);
  }, [found, place, level, reach]);
  useEffect(() => {
    const mark = body.current.querySelector("mark.cited");
    if (mark) mark.scrollIntoView({ block: "center" });
  }, [found, place]);

  const pages = span ? pagesOf(found, place) : "";
  const leaving = place.url && !place.url.includes("/documents/") ? place.url : found.url;
  return html`
    <p class="crumbs">
      <strong dir="auto">${found.title}</strong>${pages && ` · ${pages}`}
      ${headings(text, span?.start ?? 0).map((heading) => html` › <span>${heading}</span>`)}
    </p>
    ${chain.length > 0 && html`<p class="levels" role="group">${chain.map((node, index) => html`
      <button class="quiet" aria-pressed=${String(level === index)} onClick=${() => setLevel(level === index ? -1 : index)}
        title=${t("characters", { n: number(node.end - node.start) })}>${t(LEVELS[node.level])}<small> ${number(node.end - node.start)}</small></button>`)}</p>`}
    ${note && html`<p class="note">${note}</p>`}
    ${from > 0 && html`<button class="quiet more" onClick=${() => setReach(reach * 4)}>${t("more")} ↑</button>`}
    <div class="prose document" ref=${body} dir="auto" tabindex="0"></div>
    ${to < text.length && html`<button class="quiet more" onClick=${() => setReach(reach * 4)}>${t("more")} ↓</button>`}
    <p class="actions">
      <a class="quiet" target="_blank" rel="noopener" href="${documentPath(found.doc_id)}?${new URLSearchParams(span ? { corpus, start: place.start, end: place.end } : { corpus })}#cited">${t("open")}</a>
      ${leaving && html`<a class="quiet" target="_blank" rel="noopener noreferrer nofollow" href=${leaving}>${new URL(leaving).host}</a>`}
    </p>`;
}

// The leaf at the place, and what it is part of, from the section down to the leaf.
function ancestors({ nodes }, { start }) {
  let row = nodes.findLastIndex(([level, from]) => level === 2 && from <= start);
  const chain = [];
  while (row >= 0) {
    const [level, from, to, parent] = nodes[row];
    chain.unshift({ level, start: from, end: to });
    row = parent;
  }
  // A section that was not cut further is all of these at once.
  return chain.filter((node, index) => index === chain.length - 1 || node.end - node.start !== chain[index + 1].end - chain[index + 1].start);
}

function pagesOf({ pages }, { start, end }) {
  if (!pages.length) return "";
  const page = (offset) => pages.findLastIndex((first) => first <= offset) + 1;
  const [from, to] = [Math.max(1, page(start)), Math.max(1, page(end - 1))];
  return from === to ? t("page", { n: from }) : t("pages", { from, to });
}

// The headings above a place, from the outer to the inner one, without the title.
function headings(text, offset) {
  const chain = [];
  for (const [, marks, name] of text.slice(0, offset + 1).matchAll(/^(#{1,6}) +(.+?)\s*#*$/gm)) {
    chain.length = Math.min(chain.length, marks.length - 1);
    chain[marks.length - 1] = name;
  }
  return chain.slice(1).filter(Boolean);
}

// The nearest end of a paragraph, so that neither a table nor a list is cut in the middle where that can be helped.
function boundary(text, offset, direction) {
  if (offset <= 0) return 0;
  if (offset >= text.length) return text.length;
  const place = direction < 0 ? text.lastIndexOf("\n\n", offset) : text.indexOf("\n\n", offset);
  if (place < 0 || Math.abs(place - offset) > AROUND) return offset;
  return place + 2;
}
