// The frame of the page: header, views by the address's hash, keys, theme, language. Read it first.
//
// Flow: index.html -> here -> one view: ask.js (questions and answers), search.js (passages and tree),
// compare.js (two settings side by side), documents.js, pipelines.js (searches built from steps), evaluate.js (runs).
// Beside the views stands evidence.js, the document that a citation leads to. Views talk to routes through service.js.

import { Ask } from "./ask.js";
import { Compare } from "./compare.js";
import { Documents } from "./documents.js";
import { Evaluate } from "./evaluate.js";
import { Evidence } from "./evidence.js";
import { Pipelines } from "./pipelines.js";
import { Search } from "./search.js";
import { get } from "./service.js";
import { recall, remember } from "./storage.js";
import { otherLanguage, t } from "./texts.js";
import { html, render, useCallback, useEffect, useRef, useState } from "./vendor/htm-preact.js";

const VIEWS = { ask: Ask, retrieve: Search, compare: Compare, documents: Documents, pipelines: Pipelines, evaluate: Evaluate };

function App() {
  const [config, setConfig] = useState(null);
  const [failure, setFailure] = useState("");
  const [corpus, setCorpus] = useState(recall("corpus", ""));
  const [view, query] = useAddress();
  const [shown, setShown] = useState(null);
  const [, redraw] = useState(0);
  const keys = useRef(null);

  useEffect(() => {
    get("ui/config").then(
      (found) => {
        setConfig(found);
        document.title = found.title;
        setCorpus((kept) => (found.corpora.includes(kept) ? kept : found.default_corpus));
      },
      (error) => setFailure(error.message),
    );
  }, []);
  useEffect(() => setShown(null), [view]);
  useKeys(keys, () => setShown(null));
  const choose = (event) => {
    setCorpus(event.target.value);
    setShown(null);
    remember("corpus", event.target.value);
  };
  // The pane says where the focus was, so that closing it brings a reader back.
  const show = useCallback((place) => setShown(place && { ...place, from: document.activeElement }), []);
  const close = () => {
    setShown(null);
    shown?.from?.focus?.();
  };
  // As index.html has it, so that nothing moves when the page takes over.
  if (!config) return html`<header class="bar"><span class="brand"><img src="ui/static/icon.svg" alt="" width="22" height="22" />Treeline</span></header>
    <main class="narrow" aria-busy=${String(!failure)}>${failure && html`<p class="problem" role="alert">${failure}</p>`}</main>`;
  const View = VIEWS[view];
  const names = config.corpora.includes(corpus) ? config.corpora : [corpus, ...config.corpora];
  return html`
    <a class="skip" href="#content" onClick=${skip}>${t("skip")}</a>
    <header class="bar">
      <a class="brand" href="#ask"><img src="ui/static/icon.svg" alt="" width="22" height="22" />${config.title}</a>
      <nav aria-label=${config.title}>
        ${Object.keys(VIEWS).map(
          (name) => html`<a href="#${name}" aria-current=${name === view ? "page" : undefined}>${t(name)}</a>`,
        )}
      </nav>
      <label class="corpus"><span aria-hidden="true">${t("corpus")}</span>
        <select aria-label=${t("corpus")} value=${corpus} onChange=${choose}>${names.map((name) => html`<option value=${name}>${name}</option>`)}</select>
      </label>
      <button class="quiet" onClick=${() => { otherLanguage(); redraw((n) => n + 1); }}>${t("language")}</button>
      <button class="quiet icon" title=${t("theme")} aria-label=${t("theme")} onClick=${otherTheme}>◐</button>
      <button class="quiet icon" title=${t("help")} aria-label=${t("help")} onClick=${() => keys.current.showModal()}>?</button>
    </header>
    <div class=${shown ? "room two" : "room"}>
      <main id="content" tabindex="-1"><h1 class="hidden">${config.title}: ${t(view)}</h1><${View} key=${corpus} ...${{ config, corpus, query, show, shown }} /></main>
      ${shown && html`<${Evidence} key=${`${shown.doc_id} ${shown.start}`} place=${shown} corpus=${corpus} close=${close} />`}
    </div>
    <dialog ref=${keys} aria-label=${t("help")}>
      <dl>${t("keys").map(([key, does]) => html`<dt><kbd>${key}</kbd></dt><dd>${does}</dd>`)}</dl>
      <form method="dialog"><button>${t("close")}</button></form>
    </dialog>`;
}

function skip(event) {
  event.preventDefault();
  document.getElementById("content").focus();
}

// `#retrieve?q=…` -> ["retrieve", URLSearchParams]
function useAddress() {
  const read = () => {
    const [name, rest = ""] = location.hash.slice(1).split("?");
    return [name in VIEWS ? name : "ask", new URLSearchParams(rest)];
  };
  const [address, setAddress] = useState(read);
  useEffect(() => {
    const changed = () => setAddress(read());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return address;
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
        document.querySelector("[data-question]")?.focus();
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

const theme = recall("theme", "");
if (theme) document.documentElement.dataset.theme = theme;
const place = document.getElementById("app");
place.replaceChildren();
render(html`<${App} />`, place);
