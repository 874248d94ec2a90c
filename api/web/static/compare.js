// The view that asks two settings the same question, side by side, blind if wanted, and counts which is liked better.
// Flow: app.js -> here -> two streams (exchange.js), drawn by answer.js. Votes stay in this browser.

import { Answer } from "./answer.js";
import { choices, label } from "./corpora.js";
import { begun, grown, play } from "./exchange.js";
import { recall, remember } from "./storage.js";
import { t } from "./texts.js";
import { html, useEffect, useRef, useState } from "./vendor/htm-preact.js";

const SIDES = ["a", "b"];

export function Compare({ config, corpus, show, shown }) {
  const [settings, setSettings] = useState(() => recall("compare", { a: { corpus, top_k: 4 }, b: { corpus, top_k: 12 } }));
  const [blind, setBlind] = useState(recall("blind", true));
  const [question, setQuestion] = useState("");
  const [round, setRound] = useState(null); // {order, asked, a, b, vote}
  const [votes, setVotes] = useState(() => recall("votes", {}));
  const running = useRef(null);
  useEffect(() => {
    const stop = () => running.current?.abort();
    addEventListener("treeline-stop", stop);
    return () => {
      removeEventListener("treeline-stop", stop);
      stop();
    };
  }, []);

  const busy = round && SIDES.some((side) => round[side].state === "running");
  const submit = async (event) => {
    event.preventDefault();
    const wording = question.trim();
    if (!wording || busy) return;
    remember("compare", settings);
    remember("blind", blind);
    show(null);
    const control = new AbortController();
    running.current = control;
    const order = blind && Math.random() < 0.5 ? ["b", "a"] : SIDES;
    setRound({ order, asked: settings, a: begun(wording), b: begun(wording), vote: null });
    await Promise.all(SIDES.map((side) => play({ question: wording, ...settings[side] }, control.signal,
      (message) => setRound((now) => ({ ...now, [side]: grown(now[side], message) })))));
  };
  const vote = (winner) => {
    setRound({ ...round, vote: winner });
    const key = pair(round.asked);
    const before = votes[key] ?? { a: 0, b: 0, tie: 0, bad: 0 };
    const after = { ...votes, [key]: { ...before, [winner]: before[winner] + 1 } };
    setVotes(after);
    remember("votes", after);
  };
  const hidden = round && blind && !round.vote;
  const tally = votes[pair(round ? round.asked : settings)];
  return html`
    <p class="lead">${t("compareHint")}</p>
    <form class="tester" onSubmit=${submit}>
      <label class="hidden" for="both">${t("question")}</label>
      <div class="line"><input id="both" data-question type="search" value=${question} placeholder=${t("placeholder")} onInput=${(event) => setQuestion(event.target.value)} />
        ${busy ? html`<button class="main" type="button" onClick=${() => running.current.abort()}>${t("stop")}</button>`
          : html`<button class="main" type="submit" disabled=${!question.trim()}>${t("send")}</button>`}</div>
      <div class="sides">${SIDES.map((side) => html`<${Side} name=${side.toUpperCase()} config=${config} value=${settings[side]}
        change=${(value) => setSettings({ ...settings, [side]: value })} />`)}</div>
      <label class="check"><input type="checkbox" checked=${blind} onInput=${(event) => setBlind(event.target.checked)} /> ${t("blind")}</label>
    </form>
    ${round && html`<div class="sides answers">${round.order.map((side, index) => html`<section aria-label=${hidden ? t("answerN", { n: index + 1 }) : side.toUpperCase()}>
        <p class="by">${hidden ? t("answerN", { n: index + 1 }) : `${side.toUpperCase()}: ${told(round.asked[side])}`}</p>
        <${Answer} exchange=${hidden ? veiled(round[side]) : round[side]} latest=${false} again=${null} show=${show} shown=${shown} /></section>`)}</div>`}
    ${round && !busy && !round.vote && html`<p class="actions" role="group" aria-label=${t("better")}><strong>${t("better")}</strong>
      ${round.order.map((side, index) => html`<button onClick=${() => vote(side)}>${hidden ? t("answerN", { n: index + 1 }) : side.toUpperCase()}</button>`)}
      <button onClick=${() => vote("tie")}>${t("tie")}</button><button onClick=${() => vote("bad")}>${t("bothBad")}</button></p>`}
    ${tally && !hidden && html`<p class="note" role="status">${counted(tally)}</p>`}`;
}

function Side({ name, config, value, change }) {
  return html`<fieldset class="fields"><legend>${name}</legend>
    <label>${t("corpus")} <select value=${value.corpus} onInput=${({ target }) => change({ ...value, corpus: target.value })}>
      ${choices(config.corpora, value.corpus).map((one) => html`<option value=${one}>${label(one)}</option>`)}</select></label>
    <label>${t("passagesRead")} <input type="number" min="1" max="200" value=${value.top_k} onInput=${({ target }) => change({ ...value, top_k: Math.min(200, Math.max(1, Math.round(Number(target.value)) || 1)) })} /></label>
    <label>${t("answerMode")} <select value=${value.mode ?? config.mode} onInput=${({ target }) => change({ ...value, mode: target.value })}>
      ${config.modes.map((one) => html`<option value=${one}>${t("modes")[one]}</option>`)}</select></label></fieldset>`;
}

const pair = ({ a, b }) => JSON.stringify([a, b]);
const told = ({ corpus, top_k, mode }) => [label(corpus), t("readsAtMost", { n: top_k }), mode && t("modes")[mode]].filter(Boolean).join(", ");
// What names the writer or its speed would tell the sides apart.
const veiled = (exchange) => (exchange.reply ? { ...exchange, steps: [], reply: { ...exchange.reply, synthesizer: null, timings_ms: {}, cache_hit: false } } : { ...exchange, steps: [] });

function counted({ a, b, tie, bad }) {
  const decided = a + b;
  const words = t("tally", { a, b, tie, bad });
  if (!decided) return words;
  const [low, high] = wilson(a, decided).map((share) => Math.round(share * 100));
  return `${words} ${t("interval", { low, high })}`;
}

// Wilson's score interval for a share, 95 % (Wilson 1927).
export function wilson(wins, of) {
  const z = 1.96;
  const share = wins / of;
  const middle = share + (z * z) / (2 * of);
  const spread = z * Math.sqrt((share * (1 - share)) / of + (z * z) / (4 * of * of));
  const scale = 1 + (z * z) / of;
  return [(middle - spread) / scale, (middle + spread) / scale];
}
