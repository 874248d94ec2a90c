// The pane beside an answer: the document that a citation leads to, with the cited words marked and in view.
// Flow: a click on a source -> here -> GET /documents/…; the tree says which leaf, part and section the words stand in.
// document_text.js draws its text, pdf.js the pages of a PDF.

import { DocumentText } from "./document_text.js";
import { toUnits } from "./markdown.js";
import { Pages } from "./pdf.js";
import { reference } from "./reference.js";
import { documentPath, get } from "./service.js";
import { number, t } from "./texts.js";
import { html, useCallback, useEffect, useMemo, useRef, useState } from "./vendor/htm-preact.js";

const MARKDOWN = new Set([
  "markdown", "html", "docx", "mediawiki", "xlsx", "xls", "pptx", "odt", "ods", "odp", "epub", "rtf",
  "restructuredtext", "asciidoc", "org", "notebook", "xml",
]);
const LEVELS = ["root", "middle", "leaf"];
const KEPT = 6;
const kept = new Map();

// `place`: {doc_id, start, end, title, label, url}, and its corpus where several were asked; offsets count characters.
export function Evidence({ place, asked, close }) {
  const corpus = place.corpus ?? asked;
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
    ${found && html`<${Shown} found=${found} place=${place} corpus=${corpus} pane=${pane} />`}
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

function Shown({ found, place, corpus, pane }) {
  const whole = place.end === undefined;
  const { text } = found;
  const span = useMemo(
    () => (whole ? null : { start: toUnits(text, place.start), end: toUnits(text, place.end) }),
    [found, place],
  );
  const changed = Boolean(place.quote) && span && text.slice(span.start, span.end) !== place.quote;
  const chain = useMemo(() => (whole ? [] : ancestors(found, place)), [found, place]);
  const [level, setLevel] = useState(-1); // which of the chain is shaded
  const node = chain[level] ?? null;
  const shaded = useMemo(() => node && { start: toUnits(text, node.start), end: toUnits(text, node.end) }, [node]);
  const paged = found.content_type === "pdf" && found.pages.length > 0;
  const [view, setView] = useState(paged && !changed ? "pages" : "text");
  const [reason, setReason] = useState(""); // why pages cannot be shown
  const unavailable = useCallback((why) => { setReason(why); setView("text"); }, []);
  const note = changed ? t("changed") : reason;

  const pages = span ? pagesOf(found, place) : "";
  const citedAs = reference(found);
  const leaving = place.url && !place.url.includes("/documents/") ? place.url : found.url;
  return html`
    <p class="crumbs">
      <strong dir="auto">${found.title}</strong>${pages && ` · ${pages}`}
      ${headings(text, span?.start ?? 0).map((heading) => html` › <span>${heading}</span>`)}
    </p>
    ${citedAs && html`<p class="note" dir="auto">${citedAs}</p>`}
    ${chain.length > 0 && html`<p class="levels" role="group">${chain.map((node, index) => html`
      <button class="quiet" aria-pressed=${String(level === index)} onClick=${() => setLevel(level === index ? -1 : index)}
        title=${t("characters", { n: number(node.end - node.start) })}>${t(LEVELS[node.level])}</button>`)}</p>`}
    ${paged && html`<p class="views" role="group" aria-label=${t("shownAs")}>${["pages", "text"].map((one) => html`
      <button class="quiet" aria-pressed=${String(view === one)} disabled=${one === "pages" && Boolean(reason)} onClick=${() => setView(one)}>${t({ pages: "pagesView", text: "textView" }[one])}</button>`)}</p>`}
    ${note && html`<p class="note">${note}</p>`}
    ${found.ocr && html`<p class="note">${t("byOcr")}: ${found.pages.length > 1 ? found.metadata.ocr_pages : ""}${found.ocr.confidence === null ? "" : ` (${number(Math.round(100 * found.ocr.confidence))} %)`}</p>`}
    ${view === "pages"
      ? html`<${Pages} found=${found} corpus=${corpus} cited=${whole || changed ? null : place} shaded=${node} unavailable=${unavailable} />`
      : html`<${DocumentText} text=${text} blocks=${found.blocks} markdown=${MARKDOWN.has(found.content_type)} language=${found.metadata.language} cited=${changed ? null : span} shaded=${shaded} pane=${pane} />`}
    <p class="actions">
      <a class="quiet" target="_blank" rel="noopener" href="${documentPath(found.doc_id)}?${new URLSearchParams(span ? { corpus, start: place.start, end: place.end } : { corpus })}#cited">${t("open")}</a>
      ${found.original && html`<a class="quiet" target="_blank" rel="noopener" title=${found.original} href="${documentPath(found.doc_id)}/original?${new URLSearchParams({ corpus })}">${t("original")}</a>`}
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

// The headings above a place, from the outer to the inner one, without the title. Read backwards: texts are long.
function headings(text, offset) {
  const chain = [];
  let level = 7;
  for (let place = offset + 1; level > 2 && place > 0;) {
    place = text.lastIndexOf("\n#", place - 1);
    const start = place + 1;
    const end = text.indexOf("\n", start);
    const [, marks, name] = text.slice(start, end < 0 ? text.length : end).match(/^(#{1,6}) +(.+?)\s*#*$/) ?? [];
    if (marks && marks.length < level) {
      level = marks.length;
      if (level > 1) chain.unshift(name);
    }
  }
  return chain;
}
