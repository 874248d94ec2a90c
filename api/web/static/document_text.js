// The text of a document around a place, with ranges of it marked; the rest follows as it is scrolled to.
// Flow: evidence.js -> here -> markdown.js. Text is drawn in pieces that end between paragraphs, so that a document of a
// million characters opens as fast as a short one; a table that is longer than a piece has its head in each.

import { languageCode, plainMarked, renderMarked } from "./markdown.js";
import { drawn, tablesOf } from "./tables.js";
import { html, useEffect, useMemo, useRef } from "./vendor/htm-preact.js";

const FIRST = 8_000; // characters drawn on each side of the place at once
const PIECE = 24_000; // characters added at an edge that comes near
const NEAR = "800px 0px";
const TABLE_RULE = /^\|[ :|-]+$/;

// `blocks`: what the text is made of, see GET /documents/…. `cited`, `shaded`: {start, end} as positions in `text`, or
// null. `pane`: a reference to the element that scrolls.
export function DocumentText({ text, blocks, markdown, language, cited, shaded, pane }) {
  const body = useRef(null);
  const edges = [useRef(null), useRef(null)];
  const pieces = useRef([]);
  const marked = useRef(null); // the range that is shaded now
  const tables = useMemo(() => tablesOf(text, blocks), [text, blocks]);

  const ranges = () => [cited && { ...cited, className: "cited" }, shaded && { ...shaded, className: "around" }].filter(Boolean);
  const add = (from, to, before) => {
    const piece = { from, to, element: document.createElement("div") };
    draw(piece, text, markdown, tables, ranges());
    if (before) {
      const height = pane.current.scrollHeight;
      body.current.prepend(piece.element);
      pane.current.scrollTop += pane.current.scrollHeight - height;
      pieces.current.unshift(piece);
    } else {
      body.current.append(piece.element);
      pieces.current.push(piece);
    }
  };
  useEffect(() => {
    body.current.replaceChildren();
    pieces.current = [];
    marked.current = shaded;
    add(boundary(text, (cited?.start ?? 0) - FIRST, -1), boundary(text, (cited?.end ?? 0) + FIRST, 1));
    body.current.querySelector("mark.cited")?.scrollIntoView({ block: "center" });
  }, [text, markdown, cited]);
  useEffect(() => {
    const touched = [shaded, marked.current].filter(Boolean);
    if (shaded === marked.current) return;
    marked.current = shaded;
    for (const piece of pieces.current) {
      if (touched.some(({ start, end }) => start < piece.to && piece.from < end)) draw(piece, text, markdown, tables, ranges());
    }
  }, [shaded]);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting || !target.isConnected) continue;
        const upwards = target === edges[0].current;
        const edge = upwards ? pieces.current[0].from : pieces.current.at(-1).to;
        observer.unobserve(target);
        if (edge === (upwards ? 0 : text.length)) continue;
        if (upwards) add(boundary(text, edge - PIECE, -1), edge, true);
        else add(edge, boundary(text, edge + PIECE, 1));
        observer.observe(target); // tells again if the edge is still near
      }
    }, { root: pane.current, rootMargin: NEAR });
    for (const edge of edges) observer.observe(edge.current);
    return () => observer.disconnect();
  }, [text, markdown, cited, shaded]);
  return html`<div ref=${edges[0]}></div><div class="prose document" ref=${body} dir="auto" lang=${languageCode(language)} tabindex="0"></div><div ref=${edges[1]}></div>`;
}

function draw({ from, to, element }, text, markdown, tables, ranges) {
  element.replaceChildren();
  let place = from;
  for (const table of tables) {
    if (table.end <= from || table.start >= to) continue;
    if (place < table.start) element.append(written(text, place, table.start, markdown, ranges));
    // A row that a piece ends in is drawn whole, and not again in the next.
    const rows = table.rows.filter(({ start }) => from <= start && start < to);
    if (rows.length) element.append(drawn(text, table.names, rows, ranges));
    place = Math.max(place, Math.min(table.end, to));
  }
  if (place < to) element.append(written(text, place, to, markdown, ranges));
}

function written(text, from, to, markdown, ranges) {
  const head = markdown ? tableHead(text, from) : "";
  const source = head + text.slice(from, to);
  const inside = ranges.filter(({ start, end }) => start < to && from < end).map((range) => ({
    ...range, start: Math.max(range.start, from) - from + head.length, end: Math.min(range.end, to) - from + head.length,
  }));
  const element = document.createElement("div");
  if (markdown) {
    const { fragment, marked } = renderMarked(source, inside);
    // A quote that Markdown swallows is shown in the plain text, where it cannot hide.
    if (inside.every(({ className }) => className !== "cited") || marked.includes("cited")) {
      element.append(fragment);
      return element;
    }
  }
  element.className = "plain";
  element.append(plainMarked(source.slice(head.length), inside.map((range) => ({ ...range, start: range.start - head.length, end: range.end - head.length }))));
  return element;
}

// The head of the table in the middle of which a piece begins; "" if it begins elsewhere.
function tableHead(text, from) {
  if (from === 0 || text[from] !== "|" || text[from - 1] !== "\n" || text[from - 2] === "\n") return "";
  const start = text.lastIndexOf("\n\n", from) + 2;
  const rule = text.indexOf("\n", start) + 1;
  const rows = text.indexOf("\n", rule) + 1;
  return text[start] === "|" && rows <= from && TABLE_RULE.test(text.slice(rule, rows - 1)) ? text.slice(start, rows) : "";
}

// The nearest end of a paragraph, or else of a line: a table that is not longer than a piece is never cut.
function boundary(text, offset, direction) {
  if (offset <= 0) return 0;
  if (offset >= text.length) return text.length;
  for (const end of ["\n\n", "\n"]) {
    const place = direction < 0 ? text.lastIndexOf(end, offset) : text.indexOf(end, offset);
    if (place < 0 && Math.abs(offset - (direction < 0 ? 0 : text.length)) <= PIECE) return direction < 0 ? 0 : text.length;
    if (place >= 0 && Math.abs(place - offset) <= PIECE) return place + end.length;
  }
  return offset;
}
