// The view of pipelines: build a search from steps, run it, and look at what each step did.
// Flow: app.js -> here -> /pipeline/… and /task/…; pipeline_steps.js draws the steps, pipeline_results.js the tables.

import { fromBody, toBody } from "./pipeline_body.js";
import { Results } from "./pipeline_results.js";
import { Shelf } from "./pipeline_shelf.js";
import { Steps } from "./pipeline_steps.js";
import { get, getText, postForText } from "./service.js";
import { recall, remember } from "./storage.js";
import { t } from "./texts.js";
import { html, useEffect, useRef, useState } from "./vendor/htm-preact.js";

// Asked often at first, since short tasks end at once, then ever less often.
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 2500;
const EMPTY = { query: "", name: "", steps: [] };

export function Pipelines({ config, corpus, show, shown }) {
  const [info, setInfo] = useState(null);
  const [examples, setExamples] = useState([]);
  const [draft, setDraft] = useState(() => recall("pipeline", EMPTY));
  const [first] = useState(() => recall("pipeline", null) === null);
  const [run, setRun] = useState(() => recall("task", null)); // {task, keys, ids, …progress}
  const [refused, setRefused] = useState(null); // {key, text} of what was not taken
  const [failure, setFailure] = useState("");
  const [said, setSaid] = useState("");
  const [sending, setSending] = useState(false);
  const watching = useRef(null);
  const outcome = useRef(null);

  const busy = sending || Boolean(run && !run.has_finished);
  useEffect(() => {
    const told = (error) => setFailure(error.message);
    get("pipeline/info").then((found) => {
      setInfo(found);
      if (first && config.pipeline) setDraft({ ...fromBody(config.pipeline, found), name: "" });
    }).catch(told);
    get("pipeline/examples").then((found) => setExamples(found.examples), told);
    if (run) watch(run);
    return () => watching.current?.abort();
  }, []);
  useEffect(() => remember("pipeline", draft), [draft]);

  const change = (changed) => {
    setRefused(null);
    setDraft((before) => ({ ...before, ...changed }));
  };
  // Returns the number of steps.
  const load = (body, name = "") => {
    const read = fromBody(body, info);
    setFailure("");
    change({ ...read, name });
    return read.steps.length;
  };

  async function watch(started) {
    watching.current?.abort();
    const control = new AbortController();
    watching.current = control;
    try {
      for (let wait = FIRST_WAIT_MS; ; wait = Math.min(LONGEST_WAIT_MS, wait * 1.3)) {
        const now = await get(`task/progress/${started.task}`, {}, control.signal);
        // The rows come from /task/table; what is drawn here is small.
        const aggregated = now.result ? JSON.parse(now.result.aggregated_data) : [];
        setRun((before) => (before?.task === started.task ? { ...before, has_finished: now.has_finished, progress: now.progress, aggregated } : before));
        if (now.has_finished) {
          setSaid(now.progress.pipeline_error || t("stepStates").done);
          return;
        }
        await pause(wait, control.signal);
      }
    } catch (error) {
      if (error.name === "AbortError") return;
      if (error.code === "unknown_task") {
        setRun(null);
        remember("task", null);
      } else setFailure(error.message);
    }
  }

  async function start(event) {
    event.preventDefault();
    if (busy || !draft.steps.length) return;
    setRefused(null);
    setFailure("");
    setSending(true);
    show(null);
    try {
      const task = await postForText("task/enqueue", toBody(draft, info, corpus === config.default_corpus ? null : corpus));
      const started = { task, keys: draft.steps.map(({ key }) => key), ids: draft.steps.map(({ id }) => id), corpus, has_finished: false };
      setRun(started);
      remember("task", started);
      watch(started);
    } catch (error) {
      // Refusals begin with the step that cannot run.
      const step = Number(/^Step (\d+)\b/.exec(error.message)?.[1]);
      const key = draft.steps[step - 1]?.key;
      if (key) setRefused({ key, text: error.message });
      else setFailure(error.message);
    }
    setSending(false);
  }

  async function cancel() {
    try {
      await getText(`task/cancel/${run.task}`);
      watch(run);
    } catch (error) {
      setFailure(error.message);
    }
  }

  if (!info) return html`<p class="note" aria-busy="true">${failure ? html`<span class="problem" role="alert">${failure}</span>` : `${t("loading")} …`}</p>`;
  const error = run?.has_finished && run.progress?.pipeline_error;
  return html`<div class="pipeline-room"><div class="pipeline">
    <section class="builder" aria-label=${t("pipelineSteps")}>
      <p class="lead">${t("pipelineHint")}</p>
      ${examples.length > 0 && html`<div class="choices"><h2>${t("examples")}</h2><ul>${examples.map(({ title, pipeline }) => html`
        <li><button disabled=${busy} onClick=${() => load(pipeline)}>${t("exampleTitles")[title] ?? title}</button></li>`)}</ul></div>`}
      <form class="line asking" onSubmit=${start}>
        <label class="hidden" for="pipeline-query">${t("question")}</label>
        <input id="pipeline-query" data-question type="search" value=${draft.query} placeholder=${t("placeholder")} onInput=${({ target }) => change({ query: target.value })} />
        ${busy ? html`<button key="cancel" class="main" type="button" disabled=${sending} onClick=${cancel}>${t("cancelRun")}</button>`
          : html`<button key="run" class="main" type="submit" disabled=${!draft.query.trim() || !draft.steps.length}>${t("run")}</button>`}
      </form>
      ${failure && html`<p class="problem" role="alert">${failure}</p>`}
      ${run && !run.has_finished && html`<${Progress} run=${run} info=${info} />`}
      ${run?.has_finished && html`<button class="link to-results" onClick=${() => outcome.current.focus()}>${t("toResults")} ↓</button>`}
      <${Steps} info=${info} steps=${draft.steps} run=${run} refused=${refused} change=${(steps) => change({ steps })} say=${setSaid} />
      ${draft.steps.length > 0 && html`<p class="actions"><button class="quiet" onClick=${() => change(EMPTY)}>${t("clearPipeline")}</button></p>`}
      <${Shelf} draft=${draft} info=${info} load=${load} rename=${(name) => change({ name })} />
    </section>
    <section class="outcome" aria-label=${t("results")} ref=${outcome} tabindex="-1">
      ${error && !run.progress.pipeline_error_index && html`<p class=${/^TaskCancelled/.test(error) ? "note" : "problem"}>${/^TaskCancelled/.test(error) ? t("taskCancelled") : error}</p>`}
      ${run?.progress && html`<${Results} key=${run.task} run=${run} info=${info} corpus=${corpus} show=${show} shown=${shown} />`}
    </section></div>
    <p class="hidden" aria-live="polite">${said}</p></div>`;
}

function Progress({ run, info }) {
  const { current_step_index: step, current_step: name } = run.progress ?? {};
  const of = run.ids.length;
  const label = step ? `${t("stepProgress", { step, of })}: ${info[run.ids[step - 1]]?.name ?? name}` : t("waitingInLine");
  return html`<div class="running"><progress max=${of} value=${Object.keys(run.progress?.step_output ?? {}).length} aria-label=${t("working")}></progress>
    <p><span class="spinner" aria-hidden="true"></span>${label}</p></div>`;
}

// Waits, and then until the page is looked at: a hidden one need not know.
function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const seen = () => {
      if (document.hidden) return;
      document.removeEventListener("visibilitychange", seen);
      resolve();
    };
    const timer = setTimeout(() => {
      document.addEventListener("visibilitychange", seen);
      seen();
    }, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", seen);
      reject(new DOMException("stopped", "AbortError"));
    }, { once: true });
  });
}
