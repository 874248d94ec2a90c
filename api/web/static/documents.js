// The view of a corpus: what it holds, search by title, deletion, uploads, and bringing in files of the server.
// Flow: app.js -> here -> GET and POST /documents, GET /stats, DELETE /documents/…, POST /ingest.

import { forgetDocuments } from "./evidence.js";
import { documentPath, get, post, remove, upload } from "./service.js";
import { number, size, t } from "./texts.js";
import { html, useEffect, useRef, useState } from "./vendor/htm-preact.js";

const PAGE = 100;
const POLL_MS = 700;

export function Documents({ config, corpus, show, shown }) {
  const [counted, setCounted] = useState(null);
  const [rows, setRows] = useState([]);
  const [next, setNext] = useState(null);
  const [title, setTitle] = useState("");
  const [failure, setFailure] = useState("");
  const [said, setSaid] = useState("");
  const [doomed, setDoomed] = useState(null);
  const request = useRef(0);

  const load = async (after) => {
    const mine = ++request.current;
    const filter = title.trim() && JSON.stringify({ filters: [{ key: "title", operator: "text_match_insensitive", value: title.trim() }] });
    try {
      const page = await get("documents", { corpus, limit: PAGE, after, filter });
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
  useEffect(refresh, []);
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
      show(null);
      refresh();
    } catch (error) {
      setFailure(error.message);
    }
  };
  return html`
    ${counted && html`<p class="lead">${t("listHint", {
      documents: number(counted.documents), leaves: number(counted.leaves), size: size(counted.size_bytes), model: counted.model, precision: counted.precision,
    })}</p>`}
    ${counted && html`<${Health} counted=${counted} corpus=${corpus} done=${refresh} />`}
    ${config.upload.max_bytes > 0 && html`<${Upload} limits=${config.upload} corpus=${corpus} done=${refresh} />`}
    <${Bring} config=${config} corpus=${corpus} done=${refresh} />
    ${failure && html`<p class="problem" role="alert">${failure}</p>`}
    <p class="hidden" aria-live="polite">${said}</p>
    <div class="line"><label for="title-filter" class="hidden">${t("filterTitle")}</label>
      <input id="title-filter" data-question type="search" value=${title} placeholder=${t("filterTitle")} onInput=${(event) => setTitle(event.target.value)} /></div>
    ${counted && !rows.length && !failure && html`<p class="note">${title ? t("nothing") : t("noDocuments")}</p>`}
    ${rows.length > 0 && html`<div class="scroller" tabindex="0"><table class="list">
      <thead><tr><th scope="col">${t("title")}</th><th scope="col">${t("type")}</th><th scope="col" class="figure">${t("leaves")}</th><th scope="col">${t("added")}</th><td></td></tr></thead>
      <tbody>${rows.map((row) => html`<tr key=${row.doc_id}>
        <td><button class="link" aria-pressed=${String(shown?.doc_id === row.doc_id)} onClick=${() => show({ ...row, label: row.title })}>${row.title}</button><small dir="auto">${row.doc_id}</small></td>
        <td>${row.content_type}</td><td class="figure">${number(row.leaves)}</td><td><time datetime=${row.ingested_at}>${row.ingested_at.slice(0, 10)}</time></td>
        <td><button class="quiet" onClick=${() => setDoomed(row)} aria-label="${t("remove")}: ${row.title}">${t("remove")}</button></td></tr>`)}</tbody>
    </table></div>`}
    ${next && html`<p><button class="quiet" onClick=${() => load(next)}>${t("more")}</button></p>`}
    ${doomed && html`<${Confirm} text=${t(doomed.doc_id.startsWith("uploads/") ? "removeUploaded" : "removeAsk", { title: doomed.title })} yes=${deleted} no=${() => setDoomed(null)} />`}`;
}

// What came in, when, and what could not be read, with the reasons.
function Health({ counted, corpus, done }) {
  const { job, failure, start } = useJob(done);
  const { failed, failed_sources: total, by_content_type: types, last_ingested_at: newest } = counted;
  const kinds = Object.entries(types).map(([type, n]) => `${type} ${number(n)}`).join(", ");
  return html`<section class="health" aria-label=${t("health")}>
    <p class="note">${kinds}${newest && html` · ${t("newest")} <time datetime=${newest}>${newest.slice(0, 16).replace("T", " ")}</time>`}${!total && ` · ${t("allRead")}`}</p>
    ${total > 0 && html`<details class="unread"><summary class="problem">${t("unread", { n: number(total) })}</summary>
      <ul>${failed.map((one) => html`<li><strong dir="auto">${one.source}</strong> ${one.reasons.join(" ")}</li>`)}</ul>
      <button disabled=${unfinished(job)} onClick=${() => start(() => post("ingest", { retry: true, corpus, wait: false }))}>${t("readAgain")}</button></details>`}
    ${failure && html`<p class="problem" role="alert">${failure}</p>`}
    ${job && html`<${Job} job=${job} />`}</section>`;
}

export function Confirm({ text, yes, no }) {
  const dialog = useRef(null);
  useEffect(() => dialog.current.showModal(), []);
  return html`<dialog ref=${dialog} onClose=${no} aria-label=${t("remove")}>
    <p>${text}</p><p class="actions"><button class="main danger" onClick=${yes}>${t("remove")}</button><button autofocus onClick=${no}>${t("cancel")}</button></p></dialog>`;
}

// Starts a job by `send` and shows it to its end.
function useJob(done) {
  const [job, setJob] = useState(null);
  const [failure, setFailure] = useState("");
  const alive = useRef(true);
  useEffect(() => () => { alive.current = false; }, []);
  const start = async (send) => {
    setFailure("");
    setJob(null);
    try {
      let now = await send();
      while (alive.current) {
        setJob(now);
        if (!unfinished(now)) break;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        now = await get(`ingest/${now.job}`);
      }
      if (alive.current) done();
    } catch (error) {
      setFailure(error.message);
    }
  };
  return { job, failure, setFailure, start };
}

const unfinished = (job) => job && ["queued", "running"].includes(job.state);

function Upload({ limits, corpus, done }) {
  const { job, failure, setFailure, start } = useJob(done);
  const [sent, setSent] = useState(null);
  const [over, setOver] = useState(false);
  const input = useRef(null);
  const busy = sent !== null || unfinished(job);
  const refusal = (files) => {
    const bytes = files.reduce((sum, file) => sum + file.size, 0);
    const strange = files.find((file) => !limits.formats.some((suffix) => file.name.toLowerCase().endsWith(suffix)));
    if (strange) return t("uploadFormat", { name: strange.name, formats: limits.formats.join(", ") });
    return bytes > limits.max_bytes ? t("uploadSize", { size: size(bytes), most: size(limits.max_bytes) }) : "";
  };
  const bring = async (chosen) => {
    const files = [...chosen];
    const refused = refusal(files);
    setFailure(refused);
    if (refused || !files.length || busy) return;
    setSent(0);
    await start(() => upload(files, { corpus }, setSent).finally(() => setSent(null)));
  };
  const dragged = (event, isOver) => { event.preventDefault(); setOver(isOver); };
  return html`<section class="drop" data-over=${String(over)} aria-label=${t("upload")}
    onDragOver=${(event) => dragged(event, true)} onDragLeave=${(event) => dragged(event, false)}
    onDrop=${(event) => { dragged(event, false); bring(event.dataTransfer.files); }}>
    <p><button class="main" disabled=${busy} onClick=${() => input.current.click()}>${t("upload")}</button> <span class="note">${t("dropHere")}</span></p>
    <input ref=${input} type="file" hidden multiple accept=${limits.formats.join(",")} onChange=${(event) => { bring(event.target.files); event.target.value = ""; }} />
    ${sent !== null && html`<p><label>${t("sending")} <progress value=${sent}></progress></label></p>`}
    ${failure && html`<p class="problem" role="alert">${failure}</p>`}
    ${job && html`<${Job} job=${job} />`}</section>`;
}

function Bring({ config, corpus, done }) {
  const [path, setPath] = useState("");
  const { job, failure, start } = useJob(done);
  if (!config.can_ingest) return html`<p class="note">${t("ingestOff")}</p>`;
  const begin = (event) => {
    event.preventDefault();
    start(() => post("ingest", { path: path.trim(), corpus, wait: false }));
  };
  return html`<details class="bring"><summary>${t("ingest")}</summary>
    <form class="line" onSubmit=${begin}><label class="hidden" for="path">${t("path")}</label>
      <input id="path" value=${path} placeholder=${t("path")} onInput=${(event) => setPath(event.target.value)} />
      <button class="main" type="submit" disabled=${!path.trim() || unfinished(job)}>${t("start")}</button></form>
    ${failure && html`<p class="problem" role="alert">${failure}</p>`}
    ${job && html`<${Job} job=${job} />`}</details>`;
}

// How far a job is, and file by file what became of those that did not come in whole.
function Job({ job }) {
  const { state, progress, result, error } = job;
  const [failure, setFailure] = useState("");
  const cancel = () => remove(`ingest/${job.job}`).catch((refused) => setFailure(refused.message));
  return html`<div class="job">
    <p role="status">${result
      ? `${t("states")[state]}. ${t("ingestDone", { new: result.new, changed: result.changed, unchanged: result.unchanged, failed: result.failed.length })}`
      : t("ingestRunning", { state: t("states")[state], files: progress?.files ?? 0, documents: progress?.documents ?? 0 })}</p>
    ${unfinished(job) && html`<p>${progress && html`<progress value=${progress.bytes} max=${Math.max(1, progress.bytes_total)} aria-label=${t("ingest")}></progress> <small dir="auto">${progress.source}</small> `}
      <button class="quiet" disabled=${job.cancelling} onClick=${cancel}>${t("cancel")}</button></p>`}
    ${(error || failure) && html`<p class="problem">${error?.detail ?? failure}</p>`}
    ${result && ["failed", "skipped", "left_out"].map((fate) => html`<${Fates} fate=${fate} files=${result[fate]} />`)}
  </div>`;
}

const MOST_LISTED = 50;

function Fates({ fate, files }) {
  if (!files.length) return null;
  return html`<details open=${fate === "failed"}><summary>${t("fates")[fate]}: ${number(files.length)}</summary>
    <ul class=${fate}>${files.slice(0, MOST_LISTED).map((one) => html`<li><strong dir="auto">${one.source}</strong> ${one.reason}</li>`)}
      ${files.length > MOST_LISTED && html`<li>…</li>`}</ul></details>`;
}
