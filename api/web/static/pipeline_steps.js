// The steps of a pipeline as cards, with forms built from what /pipeline/info declares, and how far each is in a run.
// Flow: pipelines.js -> here. Steps are moved by buttons, or by Alt and the arrow keys on a card.

import { newStep } from "./pipeline_body.js";
import { duration, number, t } from "./texts.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/htm-preact.js";

const FACT_CHARS = 60;

export function Steps({ info, steps, run, refused, change, say }) {
  const [chosen, setChosen] = useState(() => Object.keys(info).find((id) => info[id].category === "Data Sources") ?? Object.keys(info)[0]);
  const list = useRef(null);
  const focus = useRef(null); // {key, name}: where the focus goes once the cards are drawn
  // Before the page is painted: a later focus would take the next key from where it was pressed.
  useLayoutEffect(() => {
    if (!focus.current) return;
    const card = [...list.current.children].find(({ dataset }) => dataset.key === focus.current.key);
    const wanted = focus.current.name && card?.querySelector(`[data-tool="${focus.current.name}"]:not(:disabled)`);
    (wanted || card || list.current.parentElement.querySelector(".adding select")).focus();
    focus.current = null;
  });
  useEffect(() => {
    if (refused) focusOn(refused.key);
  }, [refused]);
  const focusOn = (key) => {
    const card = [...list.current.children].find(({ dataset }) => dataset.key === key);
    card?.focus();
  };
  const titled = (id) => info[id]?.name ?? id;
  const add = (event) => {
    event.preventDefault();
    const step = newStep(chosen);
    focus.current = { key: step.key };
    change([...steps, step]);
    say(t("stepAdded", { name: titled(chosen), n: steps.length + 1 }));
  };
  const move = (from, by, name) => {
    const to = from + by;
    if (to < 0 || to >= steps.length) return;
    const moved = [...steps];
    [moved[from], moved[to]] = [moved[to], moved[from]];
    focus.current = { key: steps[from].key, name };
    change(moved);
    say(t("moved", { name: titled(steps[from].id), n: to + 1 }));
  };
  const remove = (place) => {
    focus.current = { key: (steps[place + 1] ?? steps[place - 1])?.key };
    change(steps.filter((_, index) => index !== place));
    say(t("stepRemoved", { name: titled(steps[place].id) }));
  };
  const categories = Map.groupBy ? Map.groupBy(Object.keys(info), (id) => info[id].category) : grouped(info);
  return html`<h2>${t("pipelineSteps")}</h2>
    ${!steps.length && html`<p class="note">${t("noSteps")}</p>`}
    <ol class="cards" ref=${list}>${steps.map((step, index) => html`<${Card} key=${step.key} ...${{ step, index, info, ids: steps.map(({ id }) => id), last: index === steps.length - 1 }}
      progress=${progressOf(run, step.key)} problem=${refused?.key === step.key ? refused.text : ""} columns=${columnsBefore(steps.slice(0, index), info)}
      move=${(by, name) => move(index, by, name)} remove=${() => remove(index)} set=${(changed) => change(steps.map((one) => (one.key === step.key ? { ...one, ...changed } : one)))} />`)}</ol>
    <form class="adding" onSubmit=${add}>
      <label class="hidden" for="step-to-add">${t("stepToAdd")}</label>
      <select id="step-to-add" value=${chosen} aria-describedby="step-to-add-hint" onInput=${({ target }) => setChosen(target.value)}>
        ${[...categories].map(([category, ids]) => html`<optgroup label=${category}>${ids.map((id) => html`<option value=${id}>${info[id].name}</option>`)}</optgroup>`)}</select>
      <button type="submit">${t("addStep")}</button>
      <small id="step-to-add-hint">${info[chosen]?.description}</small>
    </form>`;
}

function grouped(info) {
  const found = new Map();
  for (const [id, { category }] of Object.entries(info)) found.set(category, [...(found.get(category) ?? []), id]);
  return found;
}

function Card({ step, index, last, ids, info, progress, problem, columns, move, remove, set }) {
  const declared = info[step.id];
  const parameters = declared?.parameters ?? {};
  const needed = Object.entries(parameters).some(([name, one]) => one.required && !(name in step.parameters));
  const [open, setOpen] = useState(needed);
  const name = declared?.name ?? step.id;
  const n = index + 1;
  const facts = Object.entries(step.parameters).map(([key, value]) => `${parameters[key]?.title ?? key}: ${shortened(rankName(written(value), ids, info))}`);
  const pressed = (event) => {
    if (!event.altKey || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
    event.preventDefault();
    move(event.key === "ArrowUp" ? -1 : 1);
  };
  const put = (key, value) => {
    const { [key]: _, ...others } = step.parameters;
    set({ parameters: value === undefined ? others : { ...step.parameters, [key]: value } });
  };
  const failed = problem || progress?.problem;
  return html`<li class="card" data-key=${step.key} data-state=${failed ? "failed" : progress?.state} tabindex="-1" onKeyDown=${pressed}>
    <div class="card-head"><span class="number" aria-hidden="true">${n}</span>
      <h3>${name} <small>${declared?.category ?? step.id}</small></h3>
      <span class="tools" role="group" aria-label="${n} ${name}">
        <button class="quiet icon" data-tool="up" disabled=${n === 1} title=${t("moveUp", { n, name })} aria-label=${t("moveUp", { n, name })} onClick=${() => move(-1, "up")}>↑</button>
        <button class="quiet icon" data-tool="down" disabled=${last} title=${t("moveDown", { n, name })} aria-label=${t("moveDown", { n, name })} onClick=${() => move(1, "down")}>↓</button>
        <button class="quiet icon" title=${t("removeStep", { n, name })} aria-label=${t("removeStep", { n, name })} onClick=${remove}>×</button></span></div>
    ${facts.length > 0 && !open && html`<p class="facts">${facts.map((fact) => html`<span>${fact}</span>`)}</p>`}
    ${progress && html`<p class="how-far">${progress.state === "running" && html`<span class="spinner" aria-hidden="true"></span>`}${progress.text}</p>`}
    ${(progress?.warnings ?? []).map((warning) => html`<p class="caution">${warning}</p>`)}
    ${failed && html`<p class="problem" role="alert">${failed}</p>`}
    ${!declared ? html`<p class="problem">${t("unknownStep")}</p>` : html`
    <details class="settings" open=${open} onToggle=${({ target }) => setOpen(target.open)}>
      <summary aria-label=${t("settingsOf", { n, name })}>${t("settingsShort")}</summary>
      <p class="note">${declared.description}</p>
      <div class="form">
        ${Object.entries(parameters).map(([key, one]) => html`<${Field} key=${key} id="${step.key}-${key}" declared=${one} name=${key} value=${step.parameters[key]} columns=${columns} put=${(value) => put(key, value)} />`)}
        ${Object.keys(step.parameters).filter((key) => !(key in parameters)).map((key) => html`<p class="problem">${key}: ${t("unknownParameter")}
          <button class="quiet" onClick=${() => put(key, undefined)} aria-label=${t("removeParameter", { name: key })}>×</button></p>`)}
        <div class="field"><label for="${step.key}-policy">${t("onError")}</label>
          <select id="${step.key}-policy" value=${step.on_error} aria-describedby="${step.key}-policy-hint" onInput=${({ target }) => set({ on_error: target.value })}>
            ${Object.entries(t("onErrors")).map(([value, label]) => html`<option value=${value}>${label}</option>`)}</select>
          <small id="${step.key}-policy-hint">${t("onErrorHint")}</small></div>
      </div>
    </details>`}
  </li>`;
}

// One parameter: a choice, a number or a text, as it is declared. What stands at its default is not sent.
function Field({ id, declared, name, value, columns, put }) {
  const { title, description, required, default: standard, minimum, maximum } = declared;
  const supported = declared["supported-values"];
  const numeric = declared.type === "number" || (!declared["enforce-limit"] && (typeof standard === "number" || (supported.length > 0 && supported.every((one) => typeof one === "number"))));
  const shown = value === true ? "Yes" : value === false ? "No" : typeof value === "object" && value !== null ? JSON.stringify(value) : value;
  const typed = (raw) => {
    if (raw === "") return put(undefined);
    const read = numeric && Number.isFinite(Number(raw)) ? Number(raw) : raw;
    return put(!required && read === standard ? undefined : read);
  };
  const limits = minimum !== undefined && maximum !== undefined ? t("limits", { from: number(minimum), to: number(maximum) })
    : minimum !== undefined ? t("atLeast", { from: number(minimum) }) : maximum !== undefined ? t("atMost", { to: number(maximum) }) : "";
  const byDefault = required ? t("required") : standard === null || standard === "" ? "" : t("byDefault", { value: standard });
  const told = [limits, byDefault].filter(Boolean).join("; ");
  const offered = name.endsWith("column") && declared["enforce-limit"] !== true && !required_output(name) ? [...new Set([...supported, ...columns])] : supported;
  const common = { id, "aria-describedby": `${id}-hint`, required, onInput: ({ target }) => typed(target.value) };
  return html`<div class="field"><label for=${id}>${title}${required && html`<span aria-hidden="true"> *</span>`}</label>
    ${declared["enforce-limit"]
      ? html`<select ...${common} value=${shown ?? standard ?? ""}>${(required || standard === null) && html`<option value="">${t("notSet")}</option>`}
          ${supported.map((one) => html`<option value=${one}>${one}</option>`)}</select>`
      : html`<input ...${common} type=${numeric ? "number" : "text"} step="any" min=${minimum} max=${maximum} value=${shown ?? ""} placeholder=${standard ?? ""} list=${offered.length ? `${id}-list` : undefined} />
          ${offered.length > 0 && html`<datalist id="${id}-list">${offered.map((one) => html`<option value=${one}></option>`)}</datalist>`}`}
    <small id="${id}-hint">${description}${told && ` (${told})`}</small></div>`;
}

const required_output = (name) => name === "output_column";

// Columns that the steps before add, as far as their parameters tell.
function columnsBefore(steps, info) {
  const found = new Set();
  let rerankers = 0;
  for (const { id, parameters } of steps) {
    const { category, parameters: declared = {} } = info[id] ?? {};
    if (category === "Data Sources") found.add("_original_ranking_");
    if (category === "Rerankers") found.add(`_reranking_rank_${++rerankers}_`);
    const output = parameters.output_column ?? declared.output_column?.default;
    if (output) found.add(output);
  }
  return [...found];
}

// The name of a ranking's step: rerankers are numbered in the order in which they stand.
export function rankName(column, ids, info) {
  const place = Number(/^_reranking_rank_(\d+)_$/.exec(column)?.[1]);
  if (!place) return column === "_original_ranking_" ? t("originalRank") : column;
  const rerankers = ids.map((id, index) => [id, index + 1]).filter(([id]) => info[id]?.category === "Rerankers");
  const [id, step] = rerankers[place - 1] ?? [];
  return id ? `${step} ${info[id].name}` : column;
}

// How far a card's step is in the run: {state, text, warnings, problem}; nothing for a card that does not run.
function progressOf(run, key) {
  const place = run?.keys.indexOf(key) ?? -1;
  if (place < 0 || !run.progress) return null;
  const n = String(place + 1);
  const { step_output: output, current_step_index: current, pipeline_error_index: broken, pipeline_error: problem, step_progress: told } = run.progress;
  const states = t("stepStates");
  if (output[n]) {
    const { seconds, looked_up, found, warnings } = output[n];
    const cache = looked_up ? `, ${t("fromCache", { share: percent(found / looked_up) })}` : "";
    return { state: "done", text: `${states.done}, ${duration(seconds * 1000)}${cache}`, warnings };
  }
  if (broken === n) return { state: "failed", text: states.failed, problem };
  if (run.has_finished) return null;
  if (current !== n) return { state: "waiting", text: states.waiting };
  const [, done, of] = /^(\d+)\/(\d+)$/.exec((told[run.ids[place]] ?? []).at(-1) ?? "") ?? [];
  return { state: "running", text: of ? `${states.running}, ${t("ofRows", { done: number(Number(done)), of: number(Number(of)) })}` : states.running };
}

export const percent = (share) => `${Math.round(share * 100)} %`;
const written = (value) => (typeof value === "object" ? JSON.stringify(value) : String(value));
const shortened = (text) => (text.length > FACT_CHARS ? `${text.slice(0, FACT_CHARS)}…` : text);
