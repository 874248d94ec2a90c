// Keeping pipelines: on the service, by id, and as JSON in files.
// Flow: pipelines.js -> here -> /pipeline/save, /list, /restore, DELETE; pipeline_body.js reads what comes in.

import { Confirm } from "./dialogs.js";
import { toBody } from "./pipeline_body.js";
import { get, postForText, remove } from "./service.js";
import { size, t } from "./texts.js";
import { html, useEffect, useRef, useState } from "./vendor/htm-preact.js";

const MOST_BYTES = 1_000_000;
const MOST_LISTED = 50;

export function Shelf({ draft, info, load, rename }) {
  const [open, setOpen] = useState(false);
  const [saved, setSaved] = useState(null);
  const [id, setId] = useState("");
  const [text, setText] = useState("");
  const [failure, setFailure] = useState("");
  const [said, setSaid] = useState("");
  const [doomed, setDoomed] = useState(null);
  const file = useRef(null);

  const attempt = async (what) => {
    setFailure("");
    setSaid("");
    try {
      await what();
    } catch (error) {
      setFailure(error.message);
    }
  };
  const list = () => get("pipeline/list", { limit: MOST_LISTED }).then((found) => setSaved(found.pipelines));
  useEffect(() => {
    if (open) attempt(list);
  }, [open]);
  const json = JSON.stringify(toBody(draft, info), null, 2);
  useEffect(() => setText(json), [json]);

  const save = (event) => {
    event.preventDefault();
    attempt(async () => {
      const kept = await postForText("pipeline/save", { pipeline: toBody(draft, info), name: draft.name.trim() });
      setSaid(t("savedAs", { id: kept }));
      await list();
    });
  };
  const restore = (wanted, name) => attempt(async () => {
    const steps = load(await get(`pipeline/restore/${encodeURIComponent(wanted)}`), name);
    setSaid(t("imported", { n: steps }));
  });
  const deleted = () => attempt(async () => {
    setDoomed(null);
    await remove(`pipeline/${encodeURIComponent(doomed.id)}`);
    await list();
  });
  const read = (given) => attempt(async () => {
    let body;
    try {
      body = JSON.parse(given);
    } catch {
      throw new Error(t("notJson"));
    }
    const steps = load(body);
    setSaid(t("imported", { n: steps }));
  });
  const bring = (event) => {
    const [chosen] = event.target.files;
    event.target.value = "";
    if (chosen) attempt(async () => {
      if (chosen.size > MOST_BYTES) throw new Error(t("tooLarge", { most: size(MOST_BYTES) }));
      await read(await chosen.text());
    });
  };
  const saveFile = () => {
    const address = URL.createObjectURL(new Blob([json], { type: "application/json" }));
    const link = Object.assign(document.createElement("a"), { href: address, download: `${draft.name.trim() || "pipeline"}.json` });
    link.click();
    URL.revokeObjectURL(address);
  };
  return html`<details class="bring shelf" onToggle=${({ target }) => setOpen(target.open)}><summary>${t("shelf")}</summary>
    <form class="line" onSubmit=${save}><label class="hidden" for="pipeline-name">${t("pipelineName")}</label>
      <input id="pipeline-name" maxlength="200" value=${draft.name} placeholder=${t("pipelineName")} onInput=${({ target }) => rename(target.value)} />
      <button type="submit" disabled=${!draft.steps.length}>${t("savePipeline")}</button></form>
    <h3>${t("savedPipelines")}</h3>
    ${saved && !saved.length && html`<p class="note">${t("noSaved")}</p>`}
    ${saved?.length > 0 && html`<ul class="saved">${saved.map((one) => html`<li key=${one.id}>
      <button class="link" onClick=${() => restore(one.id, one.name)}>${one.name || t("unnamed")}</button>
      <small>${one.steps.map((step) => info[step]?.name ?? step).join(" · ")}</small>
      <button class="quiet icon" aria-label="${t("remove")}: ${one.name || t("unnamed")}" onClick=${() => setDoomed(one)}>×</button></li>`)}</ul>`}
    <form class="line" onSubmit=${(event) => { event.preventDefault(); restore(id.trim(), ""); }}><label class="hidden" for="pipeline-id">${t("pipelineId")}</label>
      <input id="pipeline-id" value=${id} placeholder=${t("pipelineId")} onInput=${({ target }) => setId(target.value)} />
      <button type="submit" disabled=${!id.trim()}>${t("openPipeline")}</button></form>
    <h3><label for="pipeline-json">${t("asJson")}</label></h3>
    <textarea id="pipeline-json" rows="8" spellcheck=${false} value=${text} onInput=${({ target }) => setText(target.value)}></textarea>
    <p class="actions"><button onClick=${() => read(text)} disabled=${text === json}>${t("apply")}</button>
      <button onClick=${() => file.current.click()}>${t("importFile")}</button>
      <button onClick=${saveFile} disabled=${!draft.steps.length}>${t("exportFile")}</button></p>
    <input ref=${file} type="file" hidden accept=".json,application/json" onChange=${bring} />
    ${failure && html`<p class="problem" role="alert">${failure}</p>`}
    ${doomed && html`<${Confirm} text=${t("removePipeline", { name: doomed.name || t("unnamed") })} yes=${deleted} no=${() => setDoomed(null)} />`}
    <p class="note" role="status">${said}</p></details>`;
}
