// The view of retrieval: which passages a question finds, with all scores, as a list or in the tree of their documents.
// Flow: app.js -> here -> POST /retrieve with `explain`; tree.js draws the trees.

import { Verdict } from "./feedback.js";
import { asFilters, Filters, NO_FILTERS } from "./filters.js";
import { post } from "./service.js";
import { t } from "./texts.js";
import { Tree } from "./tree.js";
import { html, useEffect, useRef, useState } from "./vendor/htm-preact.js";

export function Search({ config, corpus, corpora, query, show, shown }) {
  const settings = config.retrieval;
  const [question, setQuestion] = useState(query.get("q") ?? "");
  const [options, setOptions] = useState({
    mode: settings.mode, top_k: settings.top_k, budget_chars: settings.budget_chars,
    merge: settings.merge, max_per_document: settings.max_per_document, rerank: Boolean(config.rerank), rerank_query: "",
  });
  const [filters, setFilters] = useState(NO_FILTERS);
  const [result, setResult] = useState(null);
  const [failure, setFailure] = useState("");
  const [busy, setBusy] = useState(false);
  const [view, setView] = useState(query.get("view") === "list" ? "list" : "tree");
  const running = useRef(null);

  const search = async () => {
    if (!question.trim()) return;
    running.current?.abort();
    const control = new AbortController();
    running.current = control;
    setBusy(true);
    setFailure("");
    try {
      const { rerank, rerank_query, ...rest } = options;
      const reranking = config.rerank ? { rerank, rerank_query: rerank_query.trim() || undefined } : {};
      const body = { question: question.trim(), corpus, explain: true, filters: asFilters(filters), ...rest, ...reranking };
      setResult(await post("retrieve", body, control.signal));
    } catch (error) {
      if (error.name !== "AbortError") setFailure(error.message);
    }
    if (running.current === control) setBusy(false);
  };
  useEffect(() => {
    if (question) search();
    return () => running.current?.abort();
  }, []);
  const set = (name, read = (target) => target.value) => ({
    value: options[name], onInput: ({ target }) => setOptions((before) => ({ ...before, [name]: read(target) })),
  });
  const asNumber = (target) => Number(target.value);
  const orNull = (target) => (target.value === "" ? null : Number(target.value));
  return html`
    <p class="lead">${t("searchHint")}</p>
    <form class="tester" onSubmit=${(event) => { event.preventDefault(); search(); }}>
      <label class="hidden" for="query">${t("question")}</label>
      <div class="line"><input id="query" data-question type="search" value=${question} placeholder=${t("placeholder")} onInput=${(event) => setQuestion(event.target.value)} />
        <button class="main" type="submit" disabled=${!question.trim()}>${t("search")}</button></div>
      <div class="fields">
        <label>${t("mode")} <select ...${set("mode")}>${["hybrid", "dense", "lexical"].map((one) => html`<option value=${one}>${t(one)}</option>`)}</select></label>
        <label>${t("topK")} <input type="number" min="1" max="200" ...${set("top_k", asNumber)} /></label>
        ${Boolean(config.rerank) && html`<label><input type="checkbox" checked=${options.rerank} onInput=${({ target }) => setOptions((before) => ({ ...before, rerank: target.checked }))} /> ${t("rerank")}</label>`}
      </div>
      <${Filters} corpora=${corpora} filters=${filters} change=${setFilters}>
        <label><input type="checkbox" checked=${options.merge} onInput=${({ target }) => setOptions((before) => ({ ...before, merge: target.checked }))} /> ${t("merging")}</label>
        <label>${t("budget")} <input type="number" min="200" max="200000" step="100" ...${set("budget_chars", asNumber)} /></label>
        <label>${t("perDocument")} <input type="number" min="1" max="200" ...${set("max_per_document", orNull)} /></label>
        ${Boolean(config.rerank) && html`<label>${t("rerankQuery")} <input ...${set("rerank_query")} disabled=${!options.rerank} /></label>`}
      </${Filters}>
    </form>
    ${failure && html`<p class="problem" role="alert">${failure}</p>`}
    <div aria-live="polite" class="counted">${busy ? `${t("loading")} …` : result && (result.passages.length
      ? t("found", { n: result.passages.length, ms: Math.round(result.timings_ms.retrieve) }) : t("nothing"))}</div>
    ${result && result.warnings.length > 0 && html`<p class="note">${result.warnings.join(" ")}</p>`}
    ${result && result.passages.length > 0 && html`
      <div class="tabs" role="group">${["tree", "list"].map((one) => html`
        <button class="quiet" aria-pressed=${String(view === one)} onClick=${() => setView(one)}>${t(one)}</button>`)}</div>
      ${view === "tree"
        ? html`<${Tree} passages=${result.passages} corpus=${corpus} show=${show} />`
        : html`<ol class="passages">${result.passages.map((passage) => html`<${Passage} key=${passage.node_id} retrievalId=${result.retrieval_id} passage=${passage} show=${show} shown=${shown} />`)}</ol>`}
      <${LeftOut} places=${result.left_out} show=${show} shown=${shown} />`}`;
}

// What was found and is not read: the budget, or another limit, had no room for it.
function LeftOut({ places, show, shown }) {
  if (!places.length) return null;
  return html`<details class="places left-out"><summary>${t("leftOut", { n: places.length })}</summary>
    <ol>${places.map((place) => html`<li key=${place.node_id}><button class="place" aria-pressed=${String(isShown(shown, place))} onClick=${() => show({ ...place, quote: place.text, label: place.title })}>
      <strong>${place.title} <small>${place.corpus ? `${place.corpus} · ` : ""}${t("best", { score: place.score.toFixed(3) })}</small></strong><span>${place.text.slice(0, 160)}${place.text.length > 160 ? " …" : ""}</span></button></li>`)}</ol></details>`;
}

const isShown = (shown, place) => Boolean(shown && shown.corpus === place.corpus && shown.doc_id === place.doc_id && shown.start === place.start);

function Passage({ passage, retrievalId, show, shown }) {
  const { explanation } = passage;
  const merged = explanation?.merged;
  const leaves = explanation?.leaves ?? [];
  return html`<li>
    <button class="place" aria-pressed=${String(isShown(shown, passage))} onClick=${() => show({ ...passage, quote: passage.text, label: passage.title })}>
      <strong>${passage.title} <small>${passage.corpus ? `${passage.corpus} · ` : ""}${t(passage.level)} · ${t("best", { score: passage.score.toFixed(3) })}</small></strong>
      <span>${passage.text.slice(0, 420)}${passage.text.length > 420 ? " …" : ""}</span></button>
    ${merged && html`<p class="why">${t("leavesMatched", { n: leaves.length })}: ${merged}</p>`}
    ${explanation?.not_merged && html`<p class="why">${t("notMerged", { why: explanation.not_merged })}</p>`}
    <${Verdict} about=${{ retrieval_id: retrievalId, node_id: passage.node_id }} words=${["relevant", "irrelevant"]} />
    <details class="why"><summary>${t("scores")}</summary><dl class="scores">${Object.entries(passage.scores).map(([name, score]) => html`<dt>${name}</dt><dd><meter min="0" max=${name === "lexical" ? 20 : 1} value=${score} aria-label=${name}></meter> ${score.toFixed(3)}</dd>`)}</dl>
    ${leaves.length > 0 && html`<p>${t("ranks")}</p><ul>${leaves.map((leaf) => html`<li>${t("characters", { n: leaf.end - leaf.start })}, ${t("best", { score: leaf.score.toFixed(3) })}: ${
      Object.entries(leaf.ranks).map(([name, rank]) => `${name} ${rank}`).join(", ") || t("besideOnly")}</li>`)}</ul>`}</details>
  </li>`;
}
