// The frame of the page: header, views by the address's hash, keys, theme, language. Read it first.
//
// Flow: index.html -> here -> one view: ask.js (questions and answers), search.js (passages and tree),
// compare.js (two settings side by side), documents.js, pipelines.js (searches built from steps), evaluate.js (runs).
// Beside the views stands evidence.js, the document that a citation leads to. Views talk to routes through service.js.
// While the corpus holds no documents, empty.js stands in the place of the views that need some, and above pipelines,
// which may search elsewhere.

import { Ask } from "./ask.js";
import { Compare } from "./compare.js";
import { choices, label, members, SEVERAL, slug, thereAre } from "./corpora.js";
import { Choosing, Naming } from "./dialogs.js";
import { Documents } from "./documents.js";
import { Empty } from "./empty.js";
import { Evaluate } from "./evaluate.js";
import { Evidence } from "./evidence.js";
import { Pipelines } from "./pipelines.js";
import { Search } from "./search.js";
import { NARROW, useMedia } from "./screen.js";
import { get, signOut } from "./service.js";
import { move, recall, remember } from "./storage.js";
import { otherLanguage, t } from "./texts.js";
import { html, render, useEffect, useMemo, useRef, useState } from "./vendor/htm-preact.js";

const VIEWS = { ask: Ask, retrieve: Search, compare: Compare, documents: Documents, pipelines: Pipelines, evaluate: Evaluate };
const WORKBENCH = ["retrieve", "compare", "pipelines", "evaluate"]; // for those who tune
const NEED_DOCUMENTS = ["ask", "retrieve", "compare", "pipelines"];
const ONE_CORPUS = ["documents", "pipelines"];
const KEPT = ["ask", "documents"]; // answers, drafts and uploads go on while another view is shown
const PLACE = ["doc_id", "start", "end", "corpus", "number", "label"]; // of a source, in the address
const NEW_CORPUS = "+", SOME = "++"; // no corpora have these names

function App() {
  const [config, setConfig] = useState(null);
  const [failure, setFailure] = useState("");
  const [corpus, setCorpus] = useState(recall("corpus", ""));
  const [{ view, query }, go] = useAddress();
  const [shown, show, showNothing] = usePane(view, query, go);
  const [bare, setBare] = useState(""); // the corpus that exists and holds no documents
  const [naming, setNaming] = useState(false);
  const [choosing, setChoosing] = useState(false);
  const [only, setOnly] = useState([]); // documents {doc_id, title} of the corpus, which are asked alone
  const narrow = useMedia(NARROW);
  const [, redraw] = useState(0);
  const keys = useRef(null);
  const bench = useRef(WORKBENCH[0]); // where the workbench was left
  const kept = useRef([]); // the views that stay, {name, corpus}

  // Both at once: a view that is drawn for another corpus first would keep what it then forgets.
  const load = () => get("ui/config").then((found) => {
    document.title = found.title;
    if (!recall("theme", "") && ["light", "dark"].includes(found.theme)) document.documentElement.dataset.theme = found.theme;
    setConfig(found);
    setCorpus((kept) => (thereAre(members(kept, found.corpora), found.corpora) ? kept : found.default_corpus));
  }, (error) => setFailure(error.message));
  useEffect(() => { load(); }, []);
  // What was empty may hold documents by now.
  useEffect(() => { if (config && !config.corpora.includes(corpus)) get("ui/config").then(setConfig, () => {}); }, [view]);
  useEffect(() => {
    if (!config?.corpora.includes(corpus)) return;
    get("documents", { corpus, limit: 1 }).then(({ documents }) => setBare(documents.length ? "" : corpus), () => {});
  }, [config, corpus, view]);
  const choose = (name) => {
    setOnly([]);
    setCorpus(name);
    showNothing();
    remember("corpus", name);
  };
  const make = (name) => {
    setNaming(false);
    choose(slug(name));
    location.hash = "#documents";
  };
  const dropped = () => load().then(() => showNothing());
  const renamed = (name) => {
    kept.current = kept.current.filter((one) => one.corpus !== corpus);
    for (const kind of ["talks", "talk"]) move(`${kind}.${corpus}.`, `${kind}.${name}.`);
    return load().then(() => choose(name));
  };
  const askOnly = (documents) => {
    setOnly(documents);
    location.hash = "#ask";
  };
  const close = () => show(null);
  const closing = useRef(close);
  closing.current = close;
  useKeys(keys, () => closing.current());
  useScrolls(view);
  // As index.html has it, so that nothing moves when the page takes over.
  if (!config) return html`<header class="bar"><span class="brand"><img src="ui/static/icon.svg" alt="" width="22" height="22" />Treeline</span></header>
    <main class="narrow" aria-busy=${String(!failure)}>${failure && html`<p class="problem" role="alert">${failure}</p>`}</main>`;
  const corpora = members(corpus, config.corpora);
  const several = corpora.length > 1;
  const exists = thereAre(corpora, config.corpora);
  const names = exists ? choices(config.corpora, corpus) : [corpus, ...config.corpora];
  const isShown = (one) => one.name === view && one.corpus === corpus;
  const drawn = (one) => html`<${VIEWS[one.name]} key="${one.name} ${one.corpus}" ...${{ config, show, showNothing, dropped, renamed, askOnly, only: one.corpus === corpus ? only : [], corpus: one.corpus, active: isShown(one),
    corpora: members(one.corpus, config.corpora), query: isShown(one) ? query : new URLSearchParams(), shown: isShown(one) ? shown : null }} />`;
  const empty = NEED_DOCUMENTS.includes(view) ? !exists || bare === corpus : view === "documents" && !exists;
  const here = { name: view, corpus };
  const covered = Boolean(shown) && narrow;
  if (WORKBENCH.includes(view)) bench.current = view;
  const place = (name) => html`<a href="#${name}" aria-current=${name === view ? "page" : undefined}>${t(name)}</a>`;
  const isChoosing = several && ONE_CORPUS.includes(view);
  const isDrawn = !isChoosing && (!empty || view === "pipelines");
  if (isDrawn && KEPT.includes(view) && !kept.current.some(isShown)) kept.current.push(here);
  return html`
    <a class="skip" href="#content" onClick=${skip} inert=${covered}>${t("skip")}</a>
    <header class="bar" inert=${covered}>
      <a class="brand" href="#ask"><img src="ui/static/icon.svg" alt="" width="22" height="22" />${config.title}${config.subtitle && html` <small>${config.subtitle}</small>`}</a>
      <nav aria-label=${config.title}>
        ${["ask", "documents"].map(place)}
        <a href="#${bench.current}" aria-current=${WORKBENCH.includes(view) ? "true" : undefined}>${t("workbench")}</a>
        ${config.about.url && html`<a href=${config.about.url} rel="noopener">${config.about.text}</a>`}
      </nav>
      ${WORKBENCH.includes(view) && html`<nav class="bench" aria-label=${t("workbench")}>
        ${WORKBENCH.filter((name) => name !== "evaluate" || config.runs || name === view).map(place)}</nav>`}
      <label class="corpus"><span aria-hidden="true">${t("corpus")}</span>
        <select aria-label=${t("corpus")} value=${corpus} onChange=${({ target }) => {
          const chosen = target.value;
          target.value = corpus;
          if (chosen === NEW_CORPUS) setNaming(true);
          else if (chosen === SOME) setChoosing(true);
          else choose(chosen);
        }}>${names.map((name) => html`<option value=${name}>${label(name)}</option>`)}${config.corpora.length > 2
          && html`<option value=${SOME}>${t("someCorpora")}</option>`}<option value=${NEW_CORPUS}>${t("newCorpus")}</option></select>
      </label>
      <button class="quiet" onClick=${() => { otherLanguage(); redraw((n) => n + 1); }}>${t("language")}</button>
      <button class="quiet icon" title=${t("theme")} aria-label=${t("theme")} onClick=${otherTheme}>◐</button>
      ${config.signed_in_as && html`<button class="quiet" title=${config.signed_in_as} onClick=${signOut}>${t("signOut")}</button>`}
      <button class="quiet icon" title=${t("help")} aria-label=${t("help")} onClick=${() => keys.current.showModal()}>?</button>
    </header>
    <div class=${shown ? "room two" : "room"}>
      <main id="content" tabindex="-1" inert=${covered}><h1 class="hidden">${config.title}: ${t(view)}</h1>${empty
        && html`<${Empty} key="empty ${corpus}" config=${config} corpus=${corpus} ready=${() => load().then(() => { setBare(""); location.hash = "#ask"; })} />`}
      ${isChoosing && html`<p class="lead">${t("oneCorpus")}</p><p class="actions">${corpora.map((name) => html`<button onClick=${() => choose(name)}>${name}</button>`)}</p>`}
      ${kept.current.map((one) => html`<div key="kept ${one.name} ${one.corpus}" class="view" hidden=${!isDrawn || !isShown(one)}>${drawn(one)}</div>`)}
      ${isDrawn && !KEPT.includes(view) && drawn(here)}</main>
      ${shown && html`<${Evidence} key=${`${shown.corpus ?? ""} ${shown.doc_id} ${shown.start}`} place=${shown} asked=${corpus} close=${close} />`}
    </div>
    ${naming && html`<${Naming} title=${t("corpusName")} hint=${(name) => slug(name) && t("corpusNameHint", { slug: slug(name) })} yes=${make} no=${() => setNaming(false)} />`}
    ${choosing && html`<${Choosing} title=${t("someCorpora")} names=${config.corpora} ticked=${exists ? corpora : []} no=${() => setChoosing(false)}
      yes=${(names) => { setChoosing(false); choose(names.join(SEVERAL)); }} />`}
    <dialog ref=${keys} aria-label=${t("help")}>
      <dl>${t("keys").map(([key, does]) => html`<dt><kbd>${key}</kbd></dt><dd>${does}</dd>`)}</dl>
      <form method="dialog"><button>${t("close")}</button></form>
    </dialog>`;
}

function skip(event) {
  event.preventDefault();
  document.getElementById("content").focus();
}

// The source beside a view stands in the address: Back, Forward and a reload find it; where the focus was, it returns.
function usePane(view, query, go) {
  const from = useRef(null);
  const last = useRef(null); // with all that is known of it
  const address = String(query);
  const shown = useMemo(() => placeIn(query, last.current), [address]);
  const put = (place, kind) => {
    const now = location.hash.split("?")[1] ?? "";
    const wanted = new URLSearchParams(now);
    for (const name of view === "ask" ? ["q", ...PLACE] : PLACE) wanted.delete(name);
    for (const name of place ? PLACE : []) if (place[name] !== undefined && place[name] !== null) wanted.set(name, place[name]);
    if (place && !shown) from.current = document.activeElement;
    last.current = place;
    if (String(wanted) !== String(new URLSearchParams(now))) go(view, wanted, kind);
  };
  useEffect(() => {
    if (shown) return;
    if (from.current?.isConnected) focusQuietly(from.current);
    from.current = null;
  }, [shown]);
  useEffect(() => { from.current = null; }, [view]);
  return [shown, (place) => put(place, "pushState"), () => put(null, "replaceState")];
}

// The quote beside a number was just read: it stays hidden until the reader points at the number again.
function focusQuietly(element) {
  const aloud = () => delete element.dataset.quiet;
  element.dataset.quiet = "";
  for (const event of ["blur", "pointerleave"]) element.addEventListener(event, aloud, { once: true });
  element.focus();
}

function placeIn(query, last) {
  if (!query.has("doc_id")) return null;
  if (last && PLACE.every((name) => String(last[name] ?? "") === (query.get(name) ?? ""))) return last;
  const place = Object.fromEntries(PLACE.filter((name) => query.has(name)).map((name) => [name, query.get(name)]));
  for (const name of ["start", "end", "number"]) if (name in place) place[name] = Number(place[name]);
  return place;
}

// `#retrieve?q=…` -> {view: "retrieve", query: URLSearchParams}
function useAddress() {
  const read = () => {
    const [name, rest = ""] = location.hash.slice(1).split("?");
    return { view: name in VIEWS ? name : "ask", query: new URLSearchParams(rest) };
  };
  const [address, setAddress] = useState(read);
  const changed = () => setAddress(read());
  const go = (view, query, kind) => {
    history[kind](null, "", String(query) ? `#${view}?${query}` : `#${view}`);
    changed();
  };
  useEffect(() => {
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return [address, go];
}

// A view is shown again where it was left.
function useScrolls(view) {
  const left = useRef({});
  useEffect(() => {
    if (view in left.current) scrollTo(0, left.current[view]);
    const scrolled = () => { left.current[view] = scrollY; };
    addEventListener("scroll", scrolled);
    return () => removeEventListener("scroll", scrolled);
  }, [view]);
}

function useKeys(keys, close) {
  useEffect(() => {
    const pressed = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape") {
        if (!keys.current?.open) {
          close();
          dispatchEvent(new CustomEvent("treeline-stop"));
        }
        return;
      }
      if (event.target.closest("input, textarea, select, [contenteditable]")) return;
      if (event.key === "/") {
        event.preventDefault();
        [...document.querySelectorAll("[data-question]")].find((one) => one.offsetParent)?.focus();
      } else if (event.key === "?") {
        keys.current?.showModal();
      } else if (event.key === "j" || event.key === "k") {
        dispatchEvent(new CustomEvent("treeline-source", { detail: event.key === "j" ? 1 : -1 }));
      }
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

function otherTheme() {
  const dark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  remember("theme", document.documentElement.dataset.theme);
}

// What is printed has the sources of its answers.
addEventListener("beforeprint", () => { for (const one of document.querySelectorAll("details.places")) one.open = true; });

const theme = recall("theme", "");
if (theme) document.documentElement.dataset.theme = theme;
const place = document.getElementById("app");
place.replaceChildren();
render(html`<${App} />`, place);
