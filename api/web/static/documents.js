// The view of a corpus: what it holds, the newest first, search by title and file name, deletion.
// Flow: app.js -> here -> GET /documents, GET /stats, DELETE /documents/…; files come in by upload.js.

import { slug } from "./corpora.js";
import { Confirm, Naming } from "./dialogs.js";
import { forgetDocuments } from "./evidence.js";
import { documentPath, get, patch, post, remove } from "./service.js";
import { number, size, t } from "./texts.js";
import { Bring, unfinished, Upload, useJob, Work } from "./upload.js";
import { html, useEffect, useRef, useState } from "./vendor/htm-preact.js";

const PAGE = 100;

export function Documents({ config, corpus, show, shown, active, dropped, renamed, askOnly }) {
  const [counted, setCounted] = useState(null);
  const [rows, setRows] = useState([]);
  const [next, setNext] = useState(null);
  const [title, setTitle] = useState("");
  const [failure, setFailure] = useState("");
  const [said, setSaid] = useState("");
  const [doomed, setDoomed] = useState(null);
  const [ending, setEnding] = useState(false);
  const [naming, setNaming] = useState(null); // {problem}: why the name before was refused
  const [ticked, setTicked] = useState([]); // rows
  const request = useRef(0);

  const load = async (after) => {
    const mine = ++request.current;
    const value = title.trim();
    const filter = value && JSON.stringify({ condition: "or", filters: ["title", "doc_id", "source"].map((key) => ({ key, operator: "text_match_insensitive", value })) });
    try {
      const page = await get("documents", { corpus, limit: PAGE, after, filter, order: "newest" });
      if (mine !== request.current) return;
      setRows((before) => (after ? [...before, ...page.documents] : page.documents));
      setNext(page.next);
      setFailure("");
    } catch (error) {
      if (mine === request.current) setFailure(error.message);
    }
  };
  const refresh = () => {
    forgetDocuments();
    load();
    get("stats", { corpus }).then(setCounted, (error) => setFailure(error.message));
  };
  const work = useJob(config, corpus, refresh);
  useEffect(() => { if (active) refresh(); }, [active]);
  useEffect(() => {
    if (!counted) return undefined;
    const waiting = setTimeout(() => load(), 200);
    return () => clearTimeout(waiting);
  }, [title]);
  const deleted = async () => {
    const { doc_id, title: gone } = doomed;
    setDoomed(null);
    try {
      await remove(documentPath(doc_id), { corpus });
      setSaid(t("removed", { title: gone }));
      setTicked((rows) => rows.filter((row) => row.doc_id !== doc_id));
      show(null);
      refresh();
    } catch (error) {
      setFailure(error.message);
    }
  };
  const drop = async () => {
    setEnding(false);
    await remove(`corpora/${corpus}`).then(dropped, (error) => setFailure(error.message));
  };
  const rename = async (name) => {
    if (slug(name) === corpus) setNaming(null);
    else await patch(`corpora/${corpus}`, { name: slug(name) }).then(() => renamed(slug(name)), (error) => setNaming({ problem: error.message }));
  };
  const isTicked = (row) => ticked.some(({ doc_id }) => doc_id === row.doc_id);
  const tick = (row) => setTicked(isTicked(row) ? ticked.filter(({ doc_id }) => doc_id !== row.doc_id) : [...ticked, row]);
  return html`
    ${counted && html`<p class="lead">${t("listHint", { n: number(counted.documents), size: size(counted.size_bytes) })}</p>`}
    ${counted && html`<${Health} counted=${counted} corpus=${corpus} work=${work} />`}
    ${config.upload.max_bytes > 0 && html`<${Upload} limits=${config.upload} corpus=${corpus} work=${work} />`}
    <${Bring} config=${config} corpus=${corpus} work=${work} />
    <${Work} ...${work} />
    ${failure && html`<p class="problem" role="alert">${failure}</p>`}
    <p class="hidden" aria-live="polite">${said}</p>
    <div class="line"><input aria-label=${t("filterTitle")} data-question type="search" value=${title} placeholder=${t("filterTitle")} onInput=${(event) => setTitle(event.target.value)} /></div>
    ${ticked.length > 0 && html`<p class="actions" role="status"><button class="main" onClick=${() => askOnly(ticked)}>${t("askOnly", { n: number(ticked.length) })}</button>
      <button class="quiet" onClick=${() => setTicked([])}>${t("untick")}</button></p>`}
    ${counted && !rows.length && !failure && html`<p class="note">${title ? t("nothing") : t("noDocuments")}</p>`}
    ${rows.length > 0 && html`<div class="scroller" tabindex="0"><table class="list">
      <thead><tr><td></td><th scope="col">${t("title")}</th><th scope="col" class="extra">${t("type")}</th><th scope="col" class="extra">${t("added")}</th><td></td></tr></thead>
      <tbody>${rows.map((row) => html`<tr key=${row.doc_id}>
        <td><input type="checkbox" aria-label="${t("tick")}: ${row.title}" checked=${isTicked(row)} onInput=${() => tick(row)} /></td><td><button class="link" aria-pressed=${String(shown?.doc_id === row.doc_id)} onClick=${() => show({ ...row, label: row.title })}>${row.title}</button><small dir="auto">${row.doc_id}</small>
          ${row.unread.length > 0 && html`<details class="note"><summary>${t("notAllRead")}</summary>${row.unread.join(" ")}</details>`}</td>
        <td class="extra">${row.content_type}</td><td class="extra"><time datetime=${row.ingested_at}>${row.ingested_at.slice(0, 10)}</time></td>
        <td><button class="quiet" onClick=${() => setDoomed(row)} aria-label="${t("remove")}: ${row.title}">${t("remove")}</button></td></tr>`)}</tbody>
    </table></div>`}
    ${next && html`<p><button class="quiet" onClick=${() => load(next)}>${t("more")}</button></p>`}
    ${doomed && html`<${Confirm} text=${t(doomed.doc_id.startsWith("uploads/") ? "removeUploaded" : "removeAsk", { title: doomed.title })} yes=${deleted} no=${() => setDoomed(null)} />`}
    ${counted && config.can_drop && html`<p class="end"><button class="quiet" onClick=${() => setNaming({})}>${t("renameCorpus")}</button> <button class="quiet danger" onClick=${() => setEnding(true)}>${t("dropCorpus")}</button></p>`}
    ${naming && html`<${Naming} title=${t("renameCorpus")} name=${corpus} hint=${(name) => slug(name) && t("corpusNameHint", { slug: slug(name) })} problem=${naming.problem} yes=${rename} no=${() => setNaming(null)} />`}
    ${ending && html`<${Confirm} text=${t("dropAsk", { corpus, n: counted.documents })} yes=${drop} no=${() => setEnding(false)} />`}`;
}

// What came in, when, and what could not be read, with the reasons.
function Health({ counted, corpus, work: { job, start } }) {
  const { failed, failed_sources: total, by_content_type: types, last_ingested_at: newest, left_out } = counted;
  const kinds = Object.entries(types).map(([type, n]) => `${type} ${number(n)}`).join(", ");
  return html`<section class="health" aria-label=${t("health")}>
    <p class="note">${kinds}${newest && html` · ${t("newest")} <time datetime=${newest}>${newest.slice(0, 16).replace("T", " ")}</time>`}</p>
    <details class="note"><summary>${t("inside")}</summary>${t("insideHint", { leaves: number(counted.leaves), model: counted.model, precision: counted.precision })}</details>
    ${total > 0 && html`<details class="unread"><summary class="problem">${t("unread", { n: number(total) })}</summary>
      <ul>${failed.map((one) => html`<li><strong dir="auto">${one.source}</strong> ${one.reasons.join(" ")}</li>`)}</ul>
      <button disabled=${unfinished(job)} onClick=${() => start(() => post("ingest", { retry: true, corpus, wait: false }))}>${t("readAgain")}</button></details>`}
</section>`;
}
