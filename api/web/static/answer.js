// One exchange: the question, what was done for it, the answer with its numbered sources, and the nearest places.
// Flow: ask.js -> here -> clicks on sources open evidence.js.

import { Verdict } from "./feedback.js";
import { languageCode, plain, render, renderMarked, toUnits } from "./markdown.js";
import { duration, t } from "./texts.js";
import { html, useEffect, useMemo, useRef, useState } from "./vendor/htm-preact.js";

const DRAW_PAUSE_MS = 100;
const QUOTE_CHARS = 300; // shown beside a number that is pointed at

export function Answer({ exchange, latest, again, edit, show, shown }) {
  const { question, steps, text, state, reply, problem } = exchange;
  const running = state === "running";
  const citations = reply?.citations ?? [];
  const open = (citation) => show({ ...citation, label: t("citation", { n: citation.number, title: citation.title }) });
  const article = useRef(null);
  useSources(latest ? citations : [], shown, open);
  useEffect(() => {
    if (running) article.current.scrollIntoView({ block: "start", behavior: motion() });
  }, []);
  return html`
    <article class="exchange" ref=${article}>
      <h2 class="asked" dir="auto">${question}</h2>
      ${exchange.only && html`<p class="note" dir="auto">${t("asksOnly", { titles: exchange.only })}</p>`}
      <${Steps} steps=${steps} running=${running} answerId=${reply?.answer_id} took=${duration(reply?.timings_ms?.total)} />
      ${reply && html`<${Notes} warnings=${reply.warnings.filter(isDoubt)} />`}
      ${text && html`<${Prose} text=${text} citations=${citations} unsupported=${reply?.unsupported} open=${open} shown=${shown} busy=${running} />`}
      ${latest && html`<${Announcer} text=${text} state=${state} answered=${reply?.answered} />`}
      ${["stopped", "unfinished"].includes(state) && html`<p class="note">${t(state)}</p>`}
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      ${reply && html`<${Below} reply=${reply} open=${open} show=${show} shown=${shown} />`}
      ${!running && html`<p class="actions">
        ${reply && html`<${Verdict} about=${{ answer_id: reply.answer_id }} />`}
        ${reply?.answered && html`<${Copy} reply=${reply} />`}
        ${again && html`<button class="quiet" onClick=${again}>${t("again")}</button>`}
        ${edit && html`<button class="quiet" onClick=${edit}>${t("edit")}</button>`}
        <a class="quiet" href="#retrieve?${new URLSearchParams({ q: question })}">${t("showTree")}</a>
        ${reply && html`<span class="by">${facts(reply)}</span>`}
      </p>`}
    </article>`;
}

function motion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
}

function facts(reply) {
  const parts = [reply.synthesizer && (t("by")[reply.synthesizer] ?? reply.synthesizer)];
  if (reply.cache_hit) parts.push(t("cached"));
  parts.push(duration(reply.timings_ms.total));
  return parts.filter(Boolean).join(" · ");
}

function Steps({ steps, running, answerId, took }) {
  if (!steps.length && !running) return null;
  const title = running
    ? steps.length ? t("stepsRunning", { n: steps.length }) : t("working")
    : t("steps", { n: steps.length, time: took });
  return html`<details class="steps">
    <summary>${running && html`<span class="spinner" aria-hidden="true"></span>`}${title}
      ${running && steps.length > 0 && html`<span class="now"> · <${Markdown} text=${firstLine(steps[steps.length - 1].text)} inline /></span>`}
    </summary>
    <ol>${steps.map((step, index) => html`<li class=${step.kind}><${StepLine} text=${step.text} />
      <${Verdict} about=${{ answer_id: answerId, step: index }} /></li>`)}</ol>
  </details>`;
}

// A step is one line that opens to the rest of it.
function StepLine({ text }) {
  const [head, rest] = [firstLine(text), text.slice(firstLine(text).length).trim()];
  if (!rest) return html`<${Markdown} text=${head} inline />`;
  return html`<details><summary><${Markdown} text=${head} inline /></summary><${Markdown} text=${rest} /></details>`;
}

const firstLine = (text) => text.split("\n", 1)[0];

function Markdown({ text, inline }) {
  const place = useRef(null);
  useEffect(() => {
    const drawn = render(text);
    const only = inline && drawn.children.length === 1 && drawn.firstElementChild.tagName === "P" ? drawn.firstElementChild : null;
    place.current.replaceChildren(...(only ? only.childNodes : [drawn]));
  }, [text]);
  return inline ? html`<span ref=${place}></span>` : html`<div class="prose" ref=${place}></div>`;
}

function Prose({ text, citations, unsupported = [], open, shown, busy }) {
  const place = useRef(null);
  const byNumber = useMemo(() => new Map(citations.map((citation) => [String(citation.number), citation]).reverse()), [citations]);
  const drawnAt = useRef(0);
  useEffect(() => {
    const draw = () => {
      const places = unsupported.map(({ start, end }) => ({ start: toUnits(text, start), end: toUnits(text, end), className: "unsupported" }));
      const drawn = renderMarked(text, [...places, ...answering(text, citations)]).fragment;
      for (const mark of drawn.querySelectorAll("mark.unsupported")) mark.title = t("unsupported");
      number(drawn, byNumber);
      if (!busy) for (const code of drawn.querySelectorAll("pre")) code.append(copier());
      place.current.replaceChildren(drawn);
      drawnAt.current = performance.now();
    };
    // A long answer is not drawn again for every token: that would keep the page's thread busy.
    const wait = busy ? drawnAt.current + DRAW_PAUSE_MS - performance.now() : 0;
    if (wait <= 0) return draw();
    const timer = setTimeout(draw, wait);
    return () => clearTimeout(timer);
  }, [text, byNumber, busy]);
  useEffect(() => {
    for (const button of place.current.querySelectorAll("button.cite")) {
      button.setAttribute("aria-pressed", String(shown?.number === Number(button.dataset.n) && same(shown, byNumber.get(button.dataset.n))));
    }
  }, [shown, text, byNumber]);
  const clicked = (event) => {
    const button = event.target.closest("button.cite");
    if (button) open(byNumber.get(button.dataset.n));
    const copying = event.target.closest("button.copy");
    if (copying) copyText(copying.previousElementSibling.textContent).then((done) => { copying.textContent = t(done ? "copied" : "notCopied"); }, () => { copying.textContent = t("notCopied"); });
  };
  const languages = new Set(citations.map(({ language }) => language));
  return html`<div class="prose answer" dir="auto" lang=${languages.size === 1 ? languageCode([...languages][0]) : undefined} ref=${place} onClick=${clicked} aria-busy=${busy ? "true" : "false"}></div>`;
}

// Stands in a box of code, after the code.
function copier() {
  const button = document.createElement("button");
  button.className = "quiet copy";
  button.type = "button";
  button.textContent = t("copy");
  return button;
}

// Where the sentences that answer stand in the text, except those that it does not show as they are.
function answering(text, citations) {
  return citations.flatMap(({ quote, start, marks = [] }) => marks.flatMap(([from, to]) => {
    const said = quote.slice(toUnits(quote, from - start), toUnits(quote, to - start));
    const place = text.indexOf(said, Math.max(0, text.indexOf(quote)));
    return place < 0 ? [] : [{ start: place, end: place + said.length, className: "answering" }];
  }));
}

// Make each `[n]` outside code a button; while the answer streams its sources are not known yet, and marks stay plain.
function number(fragment, byNumber) {
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  const texts = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (/\[\d+\]/.test(node.data) && !node.parentElement?.closest("code")) texts.push(node);
  }
  for (const node of texts) {
    const pieces = node.data.split(/\s?\[(\d+)\]/).map((piece, index) => {
      if (index % 2 === 0) return piece;
      const source = byNumber.get(piece);
      const mark = document.createElement(source ? "button" : "sup");
      mark.className = "cite";
      mark.textContent = piece;
      if (source) {
        mark.dataset.n = piece;
        mark.type = "button";
        mark.setAttribute("aria-label", t("citation", { n: piece, title: source.title }));
        const quote = plain(source.quote);
        mark.dataset.quote = quote.length > QUOTE_CHARS ? `${quote.slice(0, QUOTE_CHARS)}…` : quote;
      }
      return mark;
    });
    node.replaceWith(...pieces);
  }
}

// Screen readers hear whole sentences, not every token.
function Announcer({ text, state, answered }) {
  const [said, setSaid] = useState("");
  const spoken = useRef(0);
  useEffect(() => {
    const words = text.replace(/\*\*|\[\d+\]|^\|[ :|-]+\|$/gm, "").replace(/\|/g, " ");
    // A point inside a number ends no sentence.
    const end = state === "running" ? ([...words.matchAll(/[.!?:](?=\s)/g)].at(-1)?.index ?? -1) + 1 : words.length;
    if (end < spoken.current) spoken.current = 0; // another author began again
    if (end > spoken.current) {
      setSaid(words.slice(spoken.current, end));
      spoken.current = end;
    }
    if (state === "done") setSaid((before) => `${before} ${answered ? t("answerReady") : t("declined")}`);
  }, [text, state]);
  return html`<p class="hidden" aria-live="polite">${said}</p>`;
}

function Below({ reply, open, show, shown }) {
  const { answered, citations, nearest, warnings, unsupported = [] } = reply;
  const unsaid = [...new Set(unsupported.map((one) => one.text))].join(", ");
  return html`
    ${unsaid && html`<p class="note">${t("unsupported")}: ${unsaid}</p>`}
    <${Notes} warnings=${warnings.filter((one) => !isDoubt(one))} />
    ${nearest.length > 0 && html`<section class="places"><h3>${t(answered ? "elsewhere" : "nearest")}</h3>
      ${nearest.map((one) => html`<${Place} place=${one} shown=${shown} open=${() => show({ ...one, label: one.title })} />`)}</section>`}
    ${citations.length > 0 && html`<details class="places"><summary>${t("sources")} (${citations.length})</summary>
      ${citations.map((one) => html`<${Place} place=${one} shown=${shown} open=${() => open(one)} />`)}</details>`}`;
}

// What makes an answer doubtful is read before it, the rest below.
const isDoubt = (warning) => /^(absent_identifier|low_confidence):/.test(warning);

function Notes({ warnings }) {
  return warnings.length > 0 && html`<p class="note">${t("warnings")}: ${warnings.map((one) => one.replace(/^\w+: /, "")).join(" ")}</p>`;
}

function Place({ place, open, shown }) {
  const path = (place.headings ?? []).filter((heading) => heading !== place.title).join(" › ");
  return html`<div class="place" dir="auto" lang=${languageCode(place.language)}><button class="whole" onClick=${open} aria-pressed=${String(same(shown, place))}>
    ${place.number ? `${place.number}. ` : ""}${place.title}${place.date && html` <small>${place.date}</small>`}${place.corpus && html` <small>${place.corpus}</small>`}${path && html` <small>${path}</small>`}</button><${Markdown} text=${place.quote} /></div>`;
}

const absolute = (url) => new URL(url, location).href;
const same = (one, other) => Boolean(one && other && one.corpus === other.corpus && one.doc_id === other.doc_id && one.start === other.start);

// `j` and `k` walk through the sources of the last answer.
function useSources(citations, shown, open) {
  useEffect(() => {
    const walk = ({ detail }) => {
      if (!citations.length) return;
      const now = citations.findIndex((one) => same(one, shown));
      const next = now < 0 ? (detail > 0 ? 0 : -1) : now + detail;
      open(citations[(next + citations.length) % citations.length]);
    };
    addEventListener("treeline-source", walk);
    return () => removeEventListener("treeline-source", walk);
  }, [citations, shown]);
}

function Copy({ reply }) {
  const [said, setSaid] = useState("copy");
  const copy = async () => {
    setSaid(await copyText(asMarkdown(reply)).then((done) => (done ? "copied" : "notCopied"), () => "notCopied"));
    setTimeout(() => setSaid("copy"), 2000);
  };
  return html`<button class="quiet" onClick=${copy} aria-live="polite">${t(said)}</button>`;
}

// Returns whether it is copied. Browsers give the clipboard to pages over https alone; on plain http a selection can
// still be copied.
async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text).then(() => true);
  const from = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  from.focus();
  return copied;
}

export function asMarkdown({ message, citations }) {
  const urls = new Map(citations.map(({ number, url }) => [String(number), absolute(url)]).reverse());
  const text = message.replace(/(`+)[^]*?\1|\[(\d+)\]/g, (mark, code, n) => (urls.has(n) ? `[[${n}]](${urls.get(n)})` : mark));
  const first = citations.filter((one, index) => citations.findIndex(({ number }) => number === one.number) === index);
  return `${text}\n\n${first.map(({ number, title, url }) => `${number}. [${title}](${absolute(url)})`).join("\n")}\n`;
}
