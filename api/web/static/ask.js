// The view of questions and answers: conversations that stream, with their filters.
// Flow: app.js -> here -> POST /query/stream; one exchange is drawn by answer.js. What was said stays in this browser:
// `talks.CORPUS.ID` names a conversation with a corpus, or several together, `talk.CORPUS.ID.ID` holds one exchange of it,
// so that two tabs do not overwrite each other's. Ids are times: their order is that of what they name.

import { Answer, asMarkdown } from "./answer.js";
import { slug } from "./corpora.js";
import { Confirm, Naming } from "./dialogs.js";
import { begun, grown, play } from "./exchange.js";
import { asFilters, Filters, NO_FILTERS } from "./filters.js";
import { get } from "./service.js";
import { useMedia, WIDE } from "./screen.js";
import { forget, recall, recallAll, remember, watch } from "./storage.js";
import { t } from "./texts.js";
import { html, useEffect, useReducer, useRef, useState } from "./vendor/htm-preact.js";

const KEPT_EXCHANGES = 20;
const NAME_CHARS = 100;
const newId = () => Date.now().toString(36) + Math.random().toString(36).slice(2, 5);
const talksOf = (corpus) => recallAll(`talks.${corpus}.`).reverse().map(([id, name]) => ({ id, name }));
const exchangesOf = (corpus, id) => recallAll(`talk.${corpus}.${id}.`).map(([, exchange]) => exchange);

export function Ask(props) {
  const { corpus, show, shown } = props;
  const [talks, setTalks] = useState(() => talksOf(corpus)); // [{id, name}], the newest first
  const [id, setId] = useState(() => talks[0]?.id ?? newId());
  const load = () => setTalks(talksOf(corpus));
  useEffect(() => watch(`talks.${corpus}.`, load), []);
  const rename = (talk, name) => {
    remember(`talks.${corpus}.${talk.id}`, name);
    load();
  };
  const open = (other) => {
    show(null);
    setId(other);
  };
  const begin = (question) => talks.some((one) => one.id === id) || rename({ id }, question.slice(0, NAME_CHARS));
  const remove = (talk) => {
    forget(`talk.${corpus}.${talk.id}.`);
    forget(`talks.${corpus}.${talk.id}`);
    load();
    if (talk.id === id) open(newId());
  };
  const forgetAll = () => {
    forget();
    load();
    open(newId());
  };
  const save = (talk) => {
    const parts = exchangesOf(corpus, talk.id).map(({ question, reply, text }) => `## ${question}\n\n${reply ? asMarkdown(reply) : `${text}\n`}`);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([`# ${talk.name}\n\n`, parts.join("\n")], { type: "text/markdown" }));
    link.download = `${slug(talk.name) || "conversation"}.md`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return html`${talks.length > 0 && html`<${Talks} ...${{ corpus, talks, id, open, rename, remove, save, forgetAll, beside: Boolean(shown) }} />`}
    <${Talk} key=${id} ...${props} id=${id} begin=${begin} renew=${() => open(newId())} />`;
}

// A bar beside the answers where the screen has room for it, else a drawer over them.
function Talks({ corpus, talks, id, open, rename, remove, save, forgetAll, beside }) {
  const [renaming, setRenaming] = useState(null);
  const [doomed, setDoomed] = useState(null); // a conversation, or "all"
  const [wanted, setWanted] = useState("");
  const drawer = useRef(null);
  const wide = useMedia(WIDE) && !beside;
  const done = () => { setRenaming(null); setDoomed(null); };
  useEffect(() => { if (!wide) drawer.current.open = false; }, [id]);
  const words = wanted.trim().toLowerCase();
  const found = words ? talks.filter(({ id: one, name }) => [name, ...exchangesOf(corpus, one).flatMap(({ question, text }) => [question, text])].some((text) => text.toLowerCase().includes(words))) : talks;
  return html`<details class="talks" ref=${drawer} open=${wide}><summary>${t("conversations", { n: talks.length })}</summary><div class="drawer">
    <input type="search" aria-label=${t("findTalk")} placeholder=${t("findTalk")} value=${wanted} onInput=${({ target }) => setWanted(target.value)} />
    ${!found.length && html`<p class="note">${t("nothing")}</p>`}
    <ul>${found.map((talk) => html`<li key=${talk.id}><button class="link" dir="auto" title=${talk.name} aria-current=${talk.id === id ? "true" : undefined} onClick=${() => open(talk.id)}>${talk.name}</button><span>
      <button class="quiet" aria-label="${t("exportTalk")}: ${talk.name}" onClick=${() => save(talk)}>${t("saveTalk")}</button>
      <button class="quiet" aria-label="${t("rename")}: ${talk.name}" onClick=${() => setRenaming(talk)}>${t("rename")}</button>
      <button class="quiet" aria-label="${t("remove")}: ${talk.name}" onClick=${() => setDoomed(talk)}>${t("remove")}</button></span></li>`)}</ul>
    <p><button class="quiet" onClick=${() => setDoomed("all")}>${t("forget")}</button></p></div></details>
    ${renaming && html`<${Naming} title=${t("renameTalk")} name=${renaming.name} no=${done} yes=${(name) => { rename(renaming, name); done(); }} />`}
    ${doomed && html`<${Confirm} text=${doomed === "all" ? t("forgetAsk") : t("removeTalk", doomed)} no=${done}
      yes=${() => { doomed === "all" ? forgetAll() : remove(doomed); done(); }} />`}`;
}

function Talk({ config, corpus, corpora, query, show, showNothing, shown, active, id, begin, renew, only, askOnly }) {
  const [exchanges, tell] = useReducer(told, null, () => exchangesOf(corpus, id));
  const [full, setFull] = useState(false);
  const [filters, setFilters] = useState(NO_FILTERS);
  const [mode, setMode] = useState(config.mode);
  const [usual] = config.writers; // writes where none is chosen
  const [writer, setWriter] = useState(() => config.writers.find((one) => one === recall("writer", usual)) ?? usual);
  const [topK, setTopK] = useState(""); // passages read; the service's own number if empty
  const [text, setText] = useState("");
  const running = useRef(null);
  const own = useRef(""); // the exchange that was asked here
  const talk = useRef(null);
  const box = useRef(null);
  const last = exchanges[exchanges.length - 1];
  const busy = Boolean(last && last.state === "running");

  useEffect(() => () => running.current?.abort(), []);
  useEffect(() => {
    if (!active) return undefined;
    const stop = () => running.current?.abort();
    addEventListener("treeline-stop", stop);
    if (!shown) box.current?.focus({ preventScroll: true });
    return () => removeEventListener("treeline-stop", stop);
  }, [active]);
  const wanted = query.get("q");
  useEffect(() => {
    if (!wanted) return;
    showNothing(); // and the question leaves the address: it is asked once
    submit(wanted);
  }, [wanted]);
  useEffect(() => watch(`talk.${corpus}.${id}.`, () => tell({ type: "kept", exchanges: exchangesOf(corpus, id) })), []);
  useEffect(() => {
    if (!own.current) return;
    for (const old of exchanges.slice(0, -KEPT_EXCHANGES)) forget(`talk.${corpus}.${id}.${old.id}`);
    const one = exchanges.find((each) => each.id === own.current);
    if (one) setFull(!remember(`talk.${corpus}.${id}.${one.id}`, one.state === "running" ? { ...one, state: "unfinished" } : one));
  }, [busy, exchanges.length]);
  useEffect(() => { talk.current.querySelector(".exchange:last-of-type")?.scrollIntoView({ block: "start" }); }, []);

  async function submit(question) {
    const wording = question.trim();
    if (!wording || running.current) return;
    const control = new AbortController();
    running.current = control;
    setText("");
    begin(wording);
    show(null);
    own.current = newId();
    tell({ type: "asked", id: own.current, question: wording, only: only.map(({ title }) => title).join(", ") });
    const body = { question: wording, corpus, turns: turns(exchanges), filters: asFilters(filters, only), mode, top_k: topK === "" ? undefined : topK,
      writer: writer === usual ? undefined : writer };
    await play(body, control.signal, tell);
    running.current = null;
  }

  const edit = (question) => {
    setText(question);
    box.current.focus();
  };
  return html`
    <div class="talk" ref=${talk}>
      ${!exchanges.length && html`<p class="lead">${t("welcome")}</p>
        ${config.writers.length === 1 && usual === "quotes" && html`<p class="note status">${t("quotesOnly")}</p>`}
        <${Beginning} ...${{ config, corpus }} choose=${submit} />`}
      ${full && html`<p class="note" role="status">${t("storageFull")}</p>`}
      ${exchanges.map(
        (exchange, index) => html`<${Answer} key=${exchange.id} ...${{ exchange, show, shown }}
          latest=${index === exchanges.length - 1} again=${busy ? null : () => submit(exchange.question)} edit=${busy ? null : () => edit(exchange.question)} />`,
      )}
    </div>
    <form class="composer" onSubmit=${(event) => { event.preventDefault(); submit(text); }}>
      <textarea id=${active ? "question" : undefined} aria-label=${t("question")} data-question dir="auto" rows="1" maxlength="10000" ref=${box} value=${text} placeholder=${t("placeholder")}
        onInput=${(event) => setText(event.target.value)}
        onKeyDown=${(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
            event.preventDefault();
            submit(text);
          }
        }}></textarea>
      ${busy
        ? html`<button type="button" class="main" onClick=${() => running.current?.abort()}>${t("stop")}</button>`
        : html`<button type="submit" class="main" disabled=${!text.trim()}>${t("send")}</button>`}
      <div class="under">
        ${only.length > 0 && html`<p class="only note"><span dir="auto">${t("asksOnly", { titles: only.map(({ title }) => title).join(", ") })}</span> <button type="button" class="quiet" onClick=${() => askOnly([])}>${t("askAll")}</button></p>`}
        <${Filters} corpora=${corpora} filters=${filters} change=${setFilters} set=${(topK === "" ? 0 : 1) + (mode === config.mode ? 0 : 1)}>
          <label>${t("passagesRead")} <input type="number" min="1" max="200" value=${topK} onInput=${({ target }) => setTopK(whole(target.value))} /></label>
          <label>${t("answerMode")} <select value=${mode} onInput=${({ target }) => setMode(target.value)}>
            ${config.modes.map((one) => html`<option value=${one}>${t("modes")[one]}</option>`)}</select></label></${Filters}>
        ${config.writers.length > 1 && html`<label class="mode">${t("writer")} <select value=${writer} onInput=${({ target }) => { setWriter(target.value); remember("writer", target.value); }}>
          ${config.writers.map((one) => html`<option value=${one}>${one === "quotes" ? t("quotes") : one}</option>`)}</select></label>`}
        ${config.writers.length === 1 && usual === "quotes" && html`<span class="note">${t("quotesOnly")}</span>`}
        ${exchanges.length > 0 && !busy && html`<button type="button" class="quiet" onClick=${renew}>${t("newConversation")}</button>`}
      </div>
    </form>`;
}

function told(exchanges, message) {
  if (message.type === "asked") return [...exchanges, { id: message.id, ...begun(message.question), only: message.only }];
  if (message.type === "kept") {
    const running = exchanges.filter(({ state }) => state === "running");
    return [...message.exchanges.filter(({ id }) => !running.some((one) => one.id === id)), ...running];
  }
  return exchanges.map((one) => (one.state === "running" ? grown(one, message) : one));
}

function turns(exchanges) {
  return exchanges
    .filter(({ state }) => state === "done")
    .slice(-4)
    .flatMap(({ question, text }) => [{ role: "user", text: question }, { role: "assistant", text: text.slice(0, 20000) }]);
}

// What is there, and questions to begin with: the settings' own for this corpus, perhaps by topic; without any, headings
// of the documents, and what every corpus can answer.
function Beginning({ config, corpus, choose }) {
  const [found, setFound] = useState(null);
  useEffect(() => { get("ui/beginning", { corpus }).then(setFound, () => {}); }, []);
  const set = config.preset_questions[corpus] ?? [...(found?.headings ?? []), ...t("presets")];
  const groups = Array.isArray(set) ? { [t("try")]: set } : set;
  const about = found?.topics.length ? t("aboutTopics", { topics: found.topics.join(", ") }) : "";
  const titles = found && (found.documents > found.titles.length ? t("andMore", { titles: found.titles.join(", ") }) : found.titles.join(", "));
  return html`${found && html`<p class="note" dir="auto">${t("holds", { n: found.documents, about, titles })}</p>`}
    ${(found || config.preset_questions[corpus]) && Object.entries(groups).map(([title, questions]) => html`<${Choices} title=${title} questions=${questions} choose=${choose} />`)}`;
}

const whole = (text) => (text === "" ? "" : Math.min(200, Math.max(1, Math.round(Number(text)) || 1)));

function Choices({ title, questions, choose }) {
  return html`<section class="choices"><h2>${title}</h2>
    <ul>${questions.map((one) => html`<li><button onClick=${() => choose(one)}>${one}</button></li>`)}</ul></section>`;
}
