// Markdown to safe DOM, with ranges of the source marked in what is drawn.
// Flow: an answer, a step or a document's text -> here -> a DocumentFragment. Nothing of a text can run or load anything:
// DOMPurify passes a short list of elements, and images become their descriptions.

import { Marked } from "./vendor/marked.js";
import DOMPurify from "./vendor/purify.js";

const ELEMENTS = "p br hr em strong del code pre blockquote ul ol li h1 h2 h3 h4 h5 h6 table thead tbody tr th td a sub sup";
const ALLOWED = {
  ALLOWED_TAGS: ELEMENTS.split(" "),
  ALLOWED_ATTR: ["href", "align", "start"],
  ALLOWED_URI_REGEXP: /^https?:/i,
  RETURN_DOM_FRAGMENT: true,
};
// Punctuation that texts do not hold: beside `**` and `_` it leaves emphasis as it is. One pair for each class of ranges.
const PAIRS = ["⸽⸾", "⹀⹁"];
const SENTINELS = /[⸽⸾⹀⹁]/g;
const SENTINELS_IN_ADDRESSES = /%E2%B8%B[DE]|%E2%B9%8[01]/gi;
// What stands before the words of a line: list marks, heading marks, quote marks, the first bar of a row.
const LINE_START = /^(?:[ \t]*(?:[-*+]|\d{1,9}[.)]|>|#{1,6}|\|))*[ \t]*/;
const FENCE = /^[ \t]*(?:```|~~~)/;

const parser = new Marked({
  gfm: true,
  renderer: { image: ({ text }) => escaped(text), html: ({ text }) => escaped(text) },
});

export function render(text) {
  const fragment = DOMPurify.sanitize(parser.parse(text, { async: false }), ALLOWED);
  for (const link of fragment.querySelectorAll("a")) {
    link.target = "_blank";
    link.rel = "noopener noreferrer nofollow";
  }
  // The corner of a table heads nothing.
  for (const cell of fragment.querySelectorAll("th")) if (!cell.textContent.trim()) cell.replaceWith(document.createElement("td"));
  for (const table of fragment.querySelectorAll("table")) {
    const place = document.createTextNode("");
    table.replaceWith(place);
    place.replaceWith(scrolling(table));
  }
  return fragment;
}

// A table that is wider than its place is scrolled, not the page.
export function scrolling(table) {
  const scroller = document.createElement("div");
  scroller.className = "scroller";
  scroller.tabIndex = 0;
  scroller.append(table);
  return scroller;
}

// The words of a text as they are read, a line for each block.
export const plain = (text) => render(text).textContent.replace(/\s*\n\s*/g, "\n").trim();

// A document may name its language in any way; only a code is worth saying.
export const languageCode = (name) => (/^[a-z]{2,3}(-[a-z]{2})?$/i.test(name ?? "") ? name : undefined);

// `ranges`: {start, end, className} as positions in `text`, of at most two classes; those of one class do not overlap. If
// the Markdown swallows a range (inside an address, say), its class is missing from the returned `marked`.
export function renderMarked(text, ranges) {
  let source = text.replace(SENTINELS, "�");
  const insertions = [];
  const classes = [...new Set(ranges.map(({ className }) => className))];
  for (const range of ranges) {
    const [open, close] = PAIRS[classes.indexOf(range.className)];
    const [start, end] = words(source, range.start, range.end);
    if (start < end) insertions.push([start, open, 1], [end, close, 0]);
  }
  // From the end, so that positions hold; where two meet, the end mark comes first.
  insertions.sort((a, b) => b[0] - a[0] || b[2] - a[2]);
  for (const [place, sentinel] of insertions) source = source.slice(0, place) + sentinel + source.slice(place);
  const fragment = render(source);
  const marked = classes.filter((className, index) => wrap(fragment, PAIRS[index], className));
  clean(fragment);
  return { fragment, marked };
}

// The same for text that is no Markdown.
export function plainMarked(text, ranges) {
  const fragment = document.createDocumentFragment();
  const cuts = [...new Set([0, text.length, ...ranges.flatMap(({ start, end }) => [start, end])])].sort((a, b) => a - b);
  cuts.slice(0, -1).forEach((from, index) => {
    const piece = document.createTextNode(text.slice(from, cuts[index + 1]));
    const around = ranges.filter(({ start, end }) => start <= from && from < end);
    fragment.append(around.reduceRight((inner, range) => {
      const mark = document.createElement("mark");
      mark.className = range.className;
      mark.append(inner);
      return mark;
    }, piece));
  });
  return fragment;
}

// The service counts characters, JavaScript UTF-16 units: they differ where a text holds emoji and the like.
export function toUnits(text, offset) {
  const pair = /[\ud800-\udbff](?=[\udc00-\udfff])/g;
  let units = offset;
  for (let found = pair.exec(text); found && found.index < units; found = pair.exec(text)) units += 1;
  return Math.min(units, text.length);
}

// The same for many offsets of one text, which is looked through once.
export function unitsOf(text) {
  const pairs = []; // where such characters stand, in characters
  for (const { index } of text.matchAll(/[\ud800-\udbff](?=[\udc00-\udfff])/g)) pairs.push(index - pairs.length);
  return (offset) => {
    let [low, high] = [0, pairs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[middle] < offset) low = middle + 1;
      else high = middle;
    }
    return Math.min(offset + low, text.length);
  };
}

export function escaped(text) {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

// Move a range inwards to the words, so that a sentinel never stands where Markdown expects the mark of a block.
function words(text, start, end) {
  let first = start;
  for (;;) {
    const line = text.lastIndexOf("\n", first - 1) + 1;
    const stop = text.indexOf("\n", line);
    const whole = text.slice(line, stop < 0 ? text.length : stop);
    const prefix = line + whole.match(LINE_START)[0].length;
    if (FENCE.test(whole) || /^[ \t|:-]*$/.test(whole)) {
      if (stop < 0 || stop >= end) break;
      first = stop + 1;
    } else {
      first = Math.max(first, prefix);
      break;
    }
  }
  let last = end;
  while (last > first && /[\s|#]/.test(text[last - 1])) last -= 1;
  const lastLine = text.lastIndexOf("\n", last - 1) + 1;
  if (lastLine > first && FENCE.test(text.slice(lastLine, last))) last = lastLine - 1;
  return [first, last];
}

// Wrap what stands between each pair of sentinels; return whether every range was found, and any.
function wrap(fragment, [open, close], className) {
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  const inside = [];
  let within = false;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (let place = 0; place < node.data.length;) {
      if (!within) {
        const start = node.data.indexOf(open, place);
        if (start < 0) break;
        place = start + 1;
      }
      const end = node.data.indexOf(close, place);
      inside.push([node, place, end < 0 ? node.data.length : end]);
      within = end < 0;
      place = within ? node.data.length : end + 1;
    }
  }
  if (within) return false;
  for (const [node, start, end] of inside.reverse()) {
    if (!node.data.slice(start, end).trim()) continue;
    const piece = node.splitText(start);
    piece.splitText(end - start);
    const mark = document.createElement("mark");
    mark.className = className;
    piece.replaceWith(mark);
    mark.append(piece);
  }
  return inside.length > 0;
}

function clean(fragment) {
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) node.data = node.data.replace(SENTINELS, "");
  for (const link of fragment.querySelectorAll("a[href]")) link.setAttribute("href", link.getAttribute("href").replace(SENTINELS_IN_ADDRESSES, ""));
}
