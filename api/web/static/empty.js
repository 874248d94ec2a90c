// What takes the place of a view while its corpus holds no documents: a way to bring some in.
// Flow: app.js -> here -> upload.js; at the end `ready` shows the view.

import { post } from "./service.js";
import { t } from "./texts.js";
import { Bring, Upload, useJob, Work } from "./upload.js";
import { html, useState } from "./vendor/htm-preact.js";

export function Empty({ config, corpus, ready }) {
  const [filled, setFilled] = useState(false);
  const work = useJob(config, corpus, ({ result }) => setFilled(Boolean(result && result.docs_ok)));
  const canUpload = config.upload.max_bytes > 0;
  return html`${!filled && html`<p class="lead">${t(canUpload || config.can_ingest ? "emptyCorpus" : "emptyClosed", { corpus })}</p>`}
    ${canUpload && html`<${Upload} limits=${config.upload} corpus=${corpus} work=${work} />`}
    ${config.sample && html`<p><button class="quiet" onClick=${() => work.start(() => post("ingest", { path: config.sample, corpus, wait: false }))}>${t("sample")}</button></p>`}
    <${Bring} config=${config} corpus=${corpus} work=${work} />
    <${Work} ...${work} />
    ${filled && html`<p><button class="main" onClick=${ready}>${t("goOn")}</button></p>`}`;
}
