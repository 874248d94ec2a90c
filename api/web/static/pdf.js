// The pages of a PDF as they look, with the cited words marked. Flow: evidence.js -> here -> GET /pages/… and /marks/….
// The service draws the pages and says where the words stand, in shares of a page; so marks fit at every size. Beside each
// page stands its text for those who do not see it.

import { plainMarked, toUnits } from "./markdown.js";
import { get, documentPath } from "./service.js";
import { t } from "./texts.js";
import { html, useEffect, useMemo, useRef, useState } from "./vendor/htm-preact.js";

const MOST_PAGES = 20; // of a span that are shown together
const ZOOMS = [1, 1.5, 2, 3];

// `cited`, `shaded`: {start, end} in characters of the document's text, or null. `unavailable` is told why pages cannot be shown.
export function Pages({ found, corpus, cited, shaded, unavailable }) {
  const all = found.pages.length;
  const place = useMemo(() => pagesOf(found.pages, cited), [found, cited]);
  const [chosen, setChosen] = useState(null); // a page that was turned to
  const [zoom, setZoom] = useState(1);
  const [width, setWidth] = useState(0);
  const [there, setThere] = useState(false); // the service has said that pages can be shown
  const frame = useRef(null);
  const shown = chosen ? [chosen] : place;
  const marks = useMarks(found, corpus, cited, shown, unavailable, "said", there ? null : setThere);
  const shades = useMarks(found, corpus, shaded, shown, unavailable, "around");
  useEffect(() => setWidth(frame.current.clientWidth), []);
  useEffect(() => setChosen(null), [found, cited]);
  const ready = marks.length > 0;
  useEffect(() => {
    frame.current.querySelector(".spot.said")?.scrollIntoView({ block: "center", inline: "nearest" });
  }, [ready, chosen, zoom]);

  const turn = (page) => setChosen(Math.min(all, Math.max(1, page)));
  const told = shown.length > 1 ? t("pagesOfAll", { from: shown[0], to: shown.at(-1), all }) : t("pageOfAll", { n: shown[0], all });
  return html`
    <div class="turner" role="toolbar" aria-label=${t("pagesView")}>
      <button class="quiet icon" disabled=${shown[0] <= 1} onClick=${() => turn(shown[0] - 1)} aria-label=${t("pageBefore")} title=${t("pageBefore")}>‹</button>
      <span role="status">${told}</span>
      <button class="quiet icon" disabled=${shown.at(-1) >= all} onClick=${() => turn(shown.at(-1) + 1)} aria-label=${t("pageAfter")} title=${t("pageAfter")}>›</button>
      ${chosen && cited && html`<button class="quiet" onClick=${() => setChosen(null)}>${t("pageCited")}</button>`}
      <label class="zoom">${t("zoom")} <select value=${zoom} onInput=${(event) => setZoom(Number(event.target.value))}>
        ${ZOOMS.map((one) => html`<option value=${one}>${one === 1 ? t("fitWidth") : `${one * 100} %`}</option>`)}</select></label>
    </div>
    <div class="sheets" ref=${frame} tabindex="0" role="group" aria-label=${told}>
      ${there && width > 0 && shown.map((page) => html`<${Sheet} key=${page} ...${{ found, corpus, page, cited, zoom, width, unavailable }}
        size=${marks.find((one) => one.page === page) ?? shades.find((one) => one.page === page)}
        spots=${[...shades, ...marks].filter((one) => one.page === page)} />`)}
    </div>
    ${cited && marks.some(({ complete }) => !complete) && html`<p class="note">${t("notAllMarked")}</p>`}`;
}

function Sheet({ found, corpus, page, cited, zoom, width, size, spots, unavailable }) {
  const text = useRef(null);
  useEffect(() => {
    const { pages } = found;
    const from = toUnits(found.text, pages[page - 1]);
    const to = page < pages.length ? toUnits(found.text, pages[page]) : found.text.length;
    const range = cited && { start: Math.max(from, toUnits(found.text, cited.start)) - from, end: Math.min(to, toUnits(found.text, cited.end)) - from, className: "said" };
    text.current.replaceChildren(plainMarked(found.text.slice(from, to), range && range.start < range.end ? [range] : []));
  }, [found, page, cited]);
  const pixels = Math.ceil(width * zoom * (window.devicePixelRatio || 1));
  const source = `${documentPath(found.doc_id).replace("documents/", `pages/${page}/`)}?${new URLSearchParams({ corpus, width: pixels })}`;
  // The content security policy allows no style attributes in markup, but scripts may set properties.
  const sized = (element) => element && element.style.setProperty("width", `${zoom * 100}%`);
  return html`<div class="sheet" ref=${sized}>
    <img src=${source} alt=${t("page", { n: page })} width=${size?.width} height=${size?.height} loading="lazy" decoding="async" onError=${() => unavailable(t("pageFailed", { n: page }))} />
    ${spots.map(({ rects, className }) => rects.map((rect) => html`<${Spot} rect=${rect} className=${className} />`))}
    <div class="hidden" ref=${text}></div>
    ${found.ocr?.pages.includes(page) && html`<span class="read" title=${t("byOcr")}>OCR</span>`}
  </div>`;
}

function Spot({ rect: [left, top, width, height], className }) {
  const place = (element) => {
    if (!element) return;
    for (const [name, share] of Object.entries({ left, top, width, height })) element.style[name] = `${share * 100}%`;
  };
  return html`<span class="spot ${className}" aria-hidden="true" ref=${place}></span>`;
}

// Where the part of `range` on the shown pages stands. `ready`, if given, is told once that pages can be shown; that is
// asked even where no part of the range is.
function useMarks(found, corpus, range, shown, unavailable, className, ready) {
  const [marks, setMarks] = useState([]);
  useEffect(() => {
    const control = new AbortController();
    const [first, last] = [found.pages[shown[0] - 1], found.pages[shown.at(-1)] ?? Infinity];
    const inside = range && range.start < last && first < range.end;
    const part = inside ? { start: Math.max(range.start, first), end: Math.min(range.end, last) } : {};
    setMarks([]);
    if (!inside && !ready) return undefined;
    get(documentPath(found.doc_id).replace("documents/", "marks/"), { corpus, ...part }, control.signal).then(
      (reply) => { setMarks(reply.marks.map((mark) => ({ ...mark, className }))); ready?.(true); },
      (error) => !control.signal.aborted && unavailable(error.message),
    );
    return () => control.abort();
  }, [found, range?.start, range?.end, shown[0], shown.at(-1)]);
  return marks;
}

// The numbers, from 1, of the pages that hold a range; the first page without one. Empty pages start where the next one does.
function pagesOf(pages, range) {
  if (!range) return [1];
  const numbers = pages.map((_, index) => index + 1).filter((n) => pages[n - 1] < range.end && range.start < (pages[n] ?? Infinity));
  return numbers.length ? numbers.slice(0, MOST_PAGES) : [1];
}
