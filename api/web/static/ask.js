// The view of questions and answers: a conversation that streams, with its filters and what was asked before.
// Flow: app.js -> here -> POST /query/stream; one exchange is drawn by answer.js. What was said stays in this browser.

import { Answer } from "./answer.js";
import { begun, grown, play } from "./exchange.js";
import { asFilters, Filters, NO_FILTERS } from "./filters.js";
import { get } from "./service.js";
import { forget, recall, remember } from "./storage.js";
import { t } from "./texts.js";
import { html, useEffect, useReducer, useRef, useState } from "./vendor/htm-preact.js";

const KEPT_EXCHANGES = 20;
const KEPT_QUESTIONS = 12;

export function Ask({ config, corpus, query, show, shown }) {
  const [exchanges, tell] = useReducer(told, null, () => recall(`talk.${corpus}`, []));
  const [asked, setAsked] = useState(() => recall("questions", []));
  const [filters, setFilters] = useState(NO_FILTERS);
  const [mode, setMode] = useState(config.mode);
  const [topK, setTopK] = useState(""); // passages read; the service's own number if empty
  const [text, setText] = useState("");
  const running = useRef(null);
  const box = useRef(null);
  const last = exchanges[exchanges.length - 1];
  const busy = Boolean(last && last.state === "running");

  useEffect(() => {
    const stop = () => running.current?.abort();
    addEventListener("treeline-stop", stop);
    box.current?.focus({ preventScroll: true });
    const wanted = query.get("q");
    if (wanted) {
      history.replaceState(null, "", "#ask");
      submit(wanted);
    }
    return () => {
      removeEventListener("treeline-stop", stop);
      stop();
    };
  }, []);
  useEffect(() => {
    if (!busy) remember(`talk.${corpus}`, exchanges.slice(-KEPT_EXCHANGES));
  }, [busy, exchanges.length]);

  async function submit(question) {
    const wording = question.trim();
    if (!wording || running.current) return;
    const control = new AbortController();
    running.current = control;
    setText("");
    const questions = [wording, ...asked.filter((one) => one !== wording)].slice(0, KEPT_QUESTIONS);
    setAsked(questions);
    remember("questions", questions);
    show(null);
    tell({ type: "asked", question: wording });
    const body = { question: wording, corpus, turns: turns(exchanges), filters: asFilters(filters), mode, top_k: topK === "" ? undefined : topK };
    await play(body, control.signal, tell);
    running.current = null;
  }

  const clear = () => {
    tell({ type: "clear" });
    show(null);
    box.current?.focus();
  };
  const forgetAll = () => {
    forget();
    setAsked([]);
    clear();
  };
  return html`
    <div class="talk">
      ${!exchanges.length && html`<p class="lead">${t("welcome")}</p>
        <${Presets} config=${config} corpus=${corpus} choose=${submit} />
        ${asked.length > 0 && html`<${Choices} title=${t("recent")} questions=${asked} choose=${submit} />
          <p><button class="quiet" onClick=${forgetAll}>${t("forget")}</button></p>`}`}
      ${exchanges.map(
        (exchange, index) => html`<${Answer} key=${exchange.id} ...${{ exchange, show, shown }}
          latest=${index === exchanges.length - 1} again=${busy ? null : () => submit(exchange.question)} />`,
      )}
    </div>
    <form class="composer" onSubmit=${(event) => { event.preventDefault(); submit(text); }}>
      <label class="hidden" for="question">${t("question")}</label>
      <textarea id="question" data-question rows="2" maxlength="10000" ref=${box} value=${text} placeholder=${t("placeholder")}
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
        <${Filters} corpus=${corpus} filters=${filters} change=${setFilters} set=${topK === "" ? 0 : 1}>
          <label>${t("passagesRead")} <input type="number" min="1" max="200" value=${topK} onInput=${({ target }) => setTopK(whole(target.value))} /></label></${Filters}>
        <label class="mode">${t("answerMode")} <select value=${mode} onInput=${({ target }) => setMode(target.value)}>
          ${config.modes.map((one) => html`<option value=${one}>${t("modes")[one]}</option>`)}</select></label>
        ${exchanges.length > 0 && !busy && html`<button type="button" class="quiet" onClick=${clear}>${t("newConversation")}</button>`}
      </div>
    </form>`;
}

function told(exchanges, message) {
  if (message.type === "clear") return [];
  if (message.type === "asked") {
    const id = 1 + (exchanges[exchanges.length - 1]?.id ?? 0);
    return [...exchanges, { id, ...begun(message.question) }];
  }
  const last = exchanges[exchanges.length - 1];
  // What arrives after the conversation was cleared belongs to nothing.
  if (!last || last.state !== "running") return exchanges;
  return [...exchanges.slice(0, -1), grown(last, message)];
}

function turns(exchanges) {
  return exchanges
    .filter(({ state }) => state === "done")
    .slice(-4)
    .flatMap(({ question, text }) => [{ role: "user", text: question }, { role: "assistant", text: text.slice(0, 20000) }]);
}

// The settings' questions for this corpus, perhaps by topic; without any, those that every corpus can answer.
function Presets({ config, corpus, choose }) {
  const set = config.preset_questions[corpus];
  const [titles, setTitles] = useState([]);
  useEffect(() => {
    if (!set) get("stats", { corpus }).then((counted) => setTitles(counted.top_docs.slice(0, 3).map(({ title }) => title)), () => {});
  }, []);
  const groups = !set || Array.isArray(set)
    ? { [t("try")]: set ?? [...t("presets"), ...titles.map((title) => t("ask_document", { title }))] }
    : set;
  return Object.entries(groups).map(([title, questions]) => html`<${Choices} title=${title} questions=${questions} choose=${choose} />`);
}

const whole = (text) => (text === "" ? "" : Math.min(200, Math.max(1, Math.round(Number(text)) || 1)));

function Choices({ title, questions, choose }) {
  return html`<section class="choices"><h2>${title}</h2>
    <ul>${questions.map((one) => html`<li><button onClick=${() => choose(one)}>${one}</button></li>`)}</ul></section>`;
}
