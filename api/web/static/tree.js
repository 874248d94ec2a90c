// How small passages became the large ones that are read: the outline of each document that was found, as levels of boxes.
// Flow: search.js -> here -> GET /documents/…?nodes=true. A row for each level, a box for each node, as wide as its text is
// long; leaves that matched are coloured by score, and below stand the passages that came of them, numbered by rank. A
// long outline is wider than the screen: it scrolls, and only the boxes near the view exist.

import { documentPath, get } from "./service.js";
import { number, t } from "./texts.js";
import { html, useEffect, useMemo, useRef, useState } from "./vendor/htm-preact.js";

const MOST_DOCUMENTS = 8;
const LEAST_SHARE = 0.012; // of the width; a thinner box could not be hit
const LEAF_PX = 16; // on average, at least

export function Tree({ passages, corpus, show }) {
  const documents = useMemo(() => {
    const groups = new Map();
    passages.forEach((passage, index) => {
      const key = `${passage.corpus ?? ""}\n${passage.doc_id}`;
      groups.set(key, [...(groups.get(key) ?? []), { ...passage, rank: index + 1 }]);
    });
    return [...groups.entries()].slice(0, MOST_DOCUMENTS);
  }, [passages]);
  return html`<p class="hint">${t("treeHint")}</p>
    ${documents.map(([key, found]) => html`<${Outline} key=${key} passages=${found} asked=${corpus} show=${show} />`)}`;
}

function Outline({ passages, asked, show }) {
  const { doc_id: docId, corpus } = passages[0];
  const [loaded, setLoaded] = useState(null);
  const [failure, setFailure] = useState("");
  useEffect(() => {
    const control = new AbortController();
    get(documentPath(docId), { corpus: corpus ?? asked, nodes: true }, control.signal).then(setLoaded, (error) => error.name !== "AbortError" && setFailure(error.message));
    return () => control.abort();
  }, [docId]);
  const drawing = useMemo(() => loaded && draw(loaded, passages), [loaded, passages]);
  const open = (start, end) => show({ corpus, doc_id: docId, start, end, title: passages[0].title, label: passages[0].title });
  return html`<section class="outline">
    <h2>${passages[0].title} <small>${corpus ? `${corpus} · ` : ""}${t("best", { score: Math.max(...passages.map(({ score }) => score)).toFixed(3) })}</small></h2>
    ${failure && html`<p class="problem">${failure}</p>`}
    ${drawing && html`<${Levels} drawing=${drawing} open=${open} title=${passages[0].title} />
    ${drawing.left > 0 && html`<p class="why">+ ${t("otherLeaves", { n: number(drawing.left) })}</p>`}
    <ul class="why">${reasons(passages).map(([reason, ranks]) => html`<li>${ranks.join(", ")}: ${reason}</li>`)}</ul>`}
  </section>`;
}

function Levels({ drawing, open, title }) {
  const { rows, read, leaves } = drawing;
  const scroller = useRef(null);
  const [[from, to], setWindow] = useState([0, 0]); // shares of the outline that are drawn
  // An event of a scroll comes a frame later, when the element may be out of the page or hidden.
  const look = ({ scrollLeft, clientWidth, scrollWidth }) => {
    if (!clientWidth) return;
    const step = clientWidth / scrollWidth;
    const at = Math.floor(scrollLeft / clientWidth) * step; // drawn again once for each width that is scrolled
    setWindow((before) => (before[0] === at - step && before[1] === at + 3 * step ? before : [at - step, at + 3 * step]));
  };
  useEffect(() => {
    const element = scroller.current;
    element.style.setProperty("--wide", `${leaves * LEAF_PX}px`);
    // What is read first is in view first.
    const best = read.reduce((first, box) => (box.rank < first.rank ? box : first));
    element.scrollLeft = (best.left + best.width / 2) * element.scrollWidth - element.clientWidth / 2;
    look(element);
    const resized = new ResizeObserver(() => look(element));
    resized.observe(element);
    return () => resized.disconnect();
  }, [drawing]);
  const near = ({ left, width }) => left + width >= from && left <= to;
  const level = (name, boxes, classes) => html`<div class=${classes}><span class="name">${t(name)}</span><div class="boxes">
    ${boxes.filter(near).map((box) => html`<${Box} key=${`${box.rank} ${box.start} ${box.end}`} box=${box} open=${open} />`)}</div></div>`;
  return html`<div class="levels-of-document" ref=${scroller} onScroll=${({ currentTarget }) => look(currentTarget)} tabindex="0" role="group" aria-label=${title}>
    ${rows.map(({ name, boxes }) => level(name, boxes, "level"))}
    ${level("treeRead", read, "level read")}</div>`;
}

// Why passages are larger than a leaf, each reason once, with the ranks of those passages.
function reasons(passages) {
  const found = new Map();
  for (const { rank, explanation } of passages) {
    if (explanation?.merged) found.set(explanation.merged, [...(found.get(explanation.merged) ?? []), rank]);
  }
  return [...found];
}

function Box({ box, open }) {
  return useMemo(() => drawnBox(box, open), [box]); // the same one again is not drawn again
}

function drawnBox(box, open) {
  const { left, width, start, end, snippet, heat, path, kind } = box;
  // The content security policy allows no style attributes in markup, but scripts may set properties.
  const place = (element) => {
    if (!element) return;
    element.style.left = `${left * 100}%`;
    element.style.width = `${width * 100}%`;
    if (heat !== undefined) element.style.setProperty("--heat", heat.toFixed(2));
  };
  const name = `${kind}, ${t("characters", { n: number(end - start) })}${heat === undefined ? "" : `, ${t("best", { score: box.score.toFixed(3) })}`}: ${snippet}`;
  const classes = ["box", heat !== undefined && "hit", path && "path", box.merged && "merged"].filter(Boolean).join(" ");
  return heat !== undefined || box.read
    ? html`<button class=${classes} ref=${place} title=${name} aria-label=${name} onClick=${() => open(start, end)}>${box.rank}</button>`
    : html`<span class=${classes} ref=${place} title=${name}></span>`;
}

// Only the sections that hold something that was found are drawn; positions are shares of their length together.
function draw({ nodes, text }, passages) {
  const hits = new Map();
  for (const { explanation } of passages) {
    for (const leaf of explanation?.leaves ?? []) hits.set(leaf.start, Math.max(hits.get(leaf.start) ?? 0, leaf.score));
  }
  const all = nodes.map(([level, start, end, parent], row) => ({ level, start, end, parent, row }));
  const leaves = all.filter(({ level }) => level === 2);
  const path = new Set();
  for (const leaf of leaves) {
    const read = passages.some(({ start, end }) => leaf.start < end && start < leaf.end);
    for (let row = hits.has(leaf.start) || read ? leaf.row : -1; row >= 0; row = all[row].parent) path.add(row);
  }
  const top = (node) => (node.parent < 0 ? node.row : top(all[node.parent]));
  const roots = all.filter(({ parent, row }) => parent < 0 && path.has(row));
  const offsets = new Map();
  let total = 0;
  for (const root of roots) {
    offsets.set(root.row, total - root.start);
    total += root.end - root.start;
  }
  const shown = all.filter((node) => offsets.has(top(node)));
  const count = shown.filter(({ level }) => level === 2).length;
  const least = Math.min(LEAST_SHARE, 1 / Math.max(1, count));
  const box = ({ start, end }, root, more) => ({
    start, end, left: (start + offsets.get(root)) / total, width: Math.max(least, (end - start) / total),
    snippet: text.slice(start, end).replace(/\s+/g, " ").slice(0, 160), ...more,
  });
  const [lowest, highest] = [Math.min(...hits.values()), Math.max(...hits.values())];
  const heat = (score) => (highest > lowest ? 0.2 + (0.8 * (score - lowest)) / (highest - lowest) : 1);
  const rows = ["root", "middle", "leaf"].map((name, level) => ({
    name,
    boxes: shown.filter((node) => node.level === level).map((node) => {
      const score = level === 2 ? hits.get(node.start) : undefined;
      return box(node, top(node), { kind: t(name), path: path.has(node.row), score, heat: score === undefined ? undefined : heat(score) });
    }),
  })).filter(({ boxes }) => boxes.length);
  const read = passages.map((passage) => {
    const leaf = leaves.findLast(({ start }) => start <= passage.start) ?? leaves[0];
    const merged = passage.explanation?.merged;
    const kind = `${t("treeRead")} ${passage.rank}${merged ? `, ${merged}` : ""}`;
    return box(passage, top(leaf), { kind, read: true, merged: Boolean(merged), rank: passage.rank });
  });
  return { rows, read, leaves: count, left: all.filter(({ parent }) => parent < 0).length - roots.length };
}
