// Bringing files in: uploads by button or drop, files of the server, and how the job that reads them goes.
// Flow: documents.js, empty.js -> here -> POST /documents, POST /ingest, GET and DELETE /ingest/…
// One job is shown at a time: the one that was started here, else the corpus's last one, if it runs or left files out.

import { get, post, remove, upload } from "./service.js";
import { number, size, t } from "./texts.js";
import { html, useEffect, useRef, useState } from "./vendor/htm-preact.js";

const POLL_MS = 700;

// Starts a job by `send` and shows it to its end. Who may bring nothing in may not see the service's jobs.
export function useJob(config, corpus, done) {
  const [job, setJob] = useState(null);
  const [failure, setFailure] = useState("");
  const alive = useRef(true);
  const started = useRef(false);
  const mayBring = config.can_ingest || config.upload.max_bytes > 0;
  useEffect(() => {
    if (mayBring) get("ingest").then(async ({ jobs }) => {
      const last = jobs.find(({ request }) => request.corpus === corpus);
      if (!last || started.current || !alive.current) return;
      if (unfinished(last)) start(() => last);
      else if (last.error || last.result?.docs_failed || last.request.refused?.length) setJob(await get(`ingest/${last.job}`));
    }).catch((error) => setFailure(error.message));
    return () => { alive.current = false; };
  }, []);
  const clear = () => {
    setJob(null);
    setFailure("");
  };
  const start = async (send) => {
    started.current = true;
    clear();
    try {
      let now = await send();
      while (alive.current) {
        setJob(now);
        if (!unfinished(now)) break;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        now = await get(`ingest/${now.job}`);
      }
      if (alive.current) done(now);
    } catch (error) {
      setFailure(error.message);
    }
  };
  return { job, failure, start, clear };
}

export const unfinished = (job) => job && ["queued", "running"].includes(job.state);

// `work`: from useJob, which the page's ways to bring files in share.
export function Upload({ limits, corpus, work }) {
  const { job, start, clear } = work;
  const files = useRef([]); // that were sent, to send them again
  const [refused, setRefused] = useState([]); // without being sent
  const [chosen, setChosen] = useState(0); // files
  const [sent, setSent] = useState(null);
  const [over, setOver] = useState(false);
  const input = useRef(null);
  const busy = sent !== null || unfinished(job);
  const unknown = refused.filter((file) => file.suffix !== undefined);
  // Each file is taken or refused by itself, here and by the service.
  const bring = async (given) => {
    if (busy || !given.length) return;
    const [fitting, kept] = [[], []];
    let room = limits.max_bytes;
    for (const file of given) {
      const known = limits.formats.some((suffix) => file.name.toLowerCase().endsWith(suffix));
      if (known && file.size <= room) fitting.push(file);
      else if (known) kept.push({ source: file.name, reason: t("uploadSize", { size: size(file.size), most: size(limits.max_bytes) }) });
      else kept.push({ source: file.name, reason: t("uploadFormat"), suffix: suffixOf(file.name) });
      if (fitting.at(-1) === file) room -= file.size;
    }
    setRefused(kept);
    setChosen(given.length);
    files.current = fitting;
    if (!fitting.length) return clear();
    setSent(0);
    await start(() => upload(fitting, { corpus }, setSent).finally(() => setSent(null)));
  };
  const lost = new Set(job?.result?.failed.map(({ source }) => source.slice(source.lastIndexOf("/") + 1)));
  const again = busy ? [] : files.current.filter(({ name }) => lost.has(name) || job?.error);
  const dragged = (event, isOver) => { event.preventDefault(); setOver(isOver); };
  return html`<section class="drop" data-over=${String(over)} aria-label=${t("upload")}
    onDragOver=${(event) => dragged(event, true)} onDragLeave=${(event) => dragged(event, false)}
    onDrop=${(event) => { dragged(event, false); bring(event.dataTransfer.files); }}>
    <p><button class="main" disabled=${busy} onClick=${() => input.current.click()}>${t("upload")}</button> <span class="note">${t("dropHere")}</span></p>
    <details class="note"><summary>${t("formats")}</summary>${limits.formats.join(", ")}</details>
    <input ref=${input} type="file" hidden multiple accept=${limits.formats.join(",")} onChange=${(event) => { bring(event.target.files); event.target.value = ""; }} />
    <${Fates} fate="refused" files=${[...refused, ...(job?.request?.refused ?? [])]} />
    ${sent !== null && html`<p><label>${t("sending")} <progress value=${sent}></progress></label></p>`}
    ${again.length > 0 && html`<p><button onClick=${() => bring(again)}>${t("readAgain")}</button></p>`}
    ${!busy && html`<${Coverage} read=${job?.result?.files_read ?? 0} types=${counted(unknown)} files=${chosen} />`}</section>`;
}

function suffixOf(name) {
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot).toLowerCase() : "";
}

function counted(files) {
  const types = {};
  for (const { suffix } of files) types[suffix] = (types[suffix] ?? 0) + 1;
  return types;
}

export function Bring({ config, corpus, work }) {
  const [path, setPath] = useState("");
  const { job, start } = work;
  if (!config.can_ingest) return null;
  const begin = (event) => {
    event.preventDefault();
    start(() => post("ingest", { path: path.trim(), corpus, wait: false }));
  };
  return html`<details class="bring"><summary>${t("ingest")}</summary>
    <form class="line" onSubmit=${begin}><input aria-label=${t("path")} value=${path} placeholder=${t("path")} onInput=${(event) => setPath(event.target.value)} />
      <button class="main" type="submit" disabled=${!path.trim() || unfinished(job)}>${t("start")}</button></form></details>`;
}

export function Work({ job, failure }) {
  return html`${failure && html`<p class="problem" role="alert">${failure}</p>`}${job && html`<${Job} job=${job} />`}`;
}

// How far a job is, and file by file what became of those that did not come in whole.
function Job({ job }) {
  const { state, progress, result, error } = job;
  // Of a file under way its embedded share counts; before that it is being read, which nobody can measure.
  const share = progress?.bytes ? Math.floor((100 * progress.bytes) / progress.bytes_total) : null;
  const [failure, setFailure] = useState("");
  const cancel = () => remove(`ingest/${job.job}`).catch((refused) => setFailure(refused.message));
  return html`<div class="job">
    <p role="status">${result
      ? `${t("states")[state]}. ${t("ingestDone", { new: result.new, changed: result.changed, unchanged: result.unchanged, failed: result.failed.length })}`
      : t(share === null ? "ingestReading" : "ingestRunning", { state: t("states")[state], share, documents: number(progress?.documents ?? 0) })}</p>
    ${unfinished(job) && html`<p>${progress && html`<progress ...${share === null ? {} : { value: share, max: 100 }} aria-label=${t("ingest")}></progress> <small dir="auto">${progress.source.startsWith("/") ? "" : progress.source}</small> `}
      <button class="quiet" disabled=${job.cancelling} onClick=${cancel}>${t("cancel")}</button></p>`}
    ${(error || failure) && html`<p class="problem">${error?.detail ?? failure}</p>`}
    ${result && ["failed", "skipped", "left_out"].map((fate) => html`<${Fates} fate=${fate} files=${result[fate]} />`)}
    ${result && html`<${Coverage} read=${result.files_read} files=${result.files} types=${result.skipped_types} />`}
  </div>`;
}

const MOST_TYPES = 8;

// How many files were read, if others have a type that is not read.
function Coverage({ read, files, types }) {
  const counts = Object.entries(types).sort((one, other) => other[1] - one[1]);
  if (!counts.length) return null;
  const skipped = counts.reduce((sum, [, count]) => sum + count, 0);
  const shown = counts.slice(0, MOST_TYPES).map(([suffix, count]) => `${suffix || t("noSuffix")} (${number(count)})`);
  const list = shown.join(", ") + (counts.length > MOST_TYPES ? ", …" : "");
  return html`<p class="problem coverage">${t("coverage", { read: number(read), files: number(files), skipped: number(skipped), types: list })}</p>`;
}

const MOST_LISTED = 50;

function Fates({ fate, files }) {
  if (!files.length) return null;
  return html`<details open=${fate === "failed" || fate === "refused"}><summary>${t("fates")[fate]}: ${number(files.length)}</summary>
    <ul class=${fate}>${files.slice(0, MOST_LISTED).map((one) => html`<li><strong dir="auto">${one.source}</strong> ${one.reason}</li>`)}
      ${files.length > MOST_LISTED && html`<li>…</li>`}</ul></details>`;
}
