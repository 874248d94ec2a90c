// The two questions that the page asks in a dialog: whether something shall be deleted, and for a name.

import { t } from "./texts.js";
import { html, useEffect, useRef, useState } from "./vendor/htm-preact.js";

function Dialog({ label, close, children }) {
  const dialog = useRef(null);
  useEffect(() => dialog.current.showModal(), []);
  return html`<dialog ref=${dialog} onClose=${close} aria-label=${label}>${children}</dialog>`;
}

export function Confirm({ text, yes, no }) {
  return html`<${Dialog} label=${t("remove")} close=${no}>
    <p>${text}</p><p class="actions"><button class="main danger" onClick=${yes}>${t("remove")}</button><button autofocus onClick=${no}>${t("cancel")}</button></p></${Dialog}>`;
}

// `pattern`: what the name must match, `hint` says it in words.
export function Naming({ title, name = "", pattern, hint, yes, no }) {
  const [text, setText] = useState(name);
  const submit = (event) => {
    event.preventDefault();
    yes(text.trim());
  };
  return html`<${Dialog} label=${title} close=${no}>
    <form onSubmit=${submit}><label>${title}<input class="naming" autofocus required pattern=${pattern} maxlength="100" value=${text} onInput=${({ target }) => setText(target.value)} /></label>
      ${hint && html`<p class="note">${hint}</p>`}
      <p class="actions"><button class="main" type="submit" disabled=${!text.trim()}>${t("apply")}</button><button type="button" onClick=${no}>${t("cancel")}</button></p></form></${Dialog}>`;
}
