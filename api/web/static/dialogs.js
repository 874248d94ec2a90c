// The questions that the page asks in a dialog: whether something shall be deleted, for a name, for several of a list.

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

// `hint`: says what becomes of a name; one of which nothing becomes is not taken.
export function Naming({ title, name = "", hint, problem, yes, no }) {
  const [text, setText] = useState(name);
  const submit = (event) => {
    event.preventDefault();
    yes(text.trim());
  };
  return html`<${Dialog} label=${title} close=${no}>
    <form onSubmit=${submit}><label>${title}<input class="naming" autofocus required maxlength="100" value=${text} onInput=${({ target }) => setText(target.value)} /></label>
      ${hint && html`<p class="note">${hint(text)}</p>`}
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      <p class="actions"><button class="main" type="submit" disabled=${!(hint ? hint(text) : text.trim())}>${t("apply")}</button><button type="button" onClick=${no}>${t("cancel")}</button></p></form></${Dialog}>`;
}

// `yes` is given those of `names` that are ticked, one at least; `ticked` are at first.
export function Choosing({ title, names, ticked, yes, no }) {
  const [chosen, setChosen] = useState(ticked);
  const submit = (event) => {
    event.preventDefault();
    yes(names.filter((name) => chosen.includes(name)));
  };
  const turn = (name) => setChosen(chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name]);
  return html`<${Dialog} label=${title} close=${no}>
    <form onSubmit=${submit}><fieldset class="choosing"><legend>${title}</legend>
      ${names.map((name) => html`<label class="check"><input type="checkbox" checked=${chosen.includes(name)} onInput=${() => turn(name)} /> ${name}</label>`)}</fieldset>
      <p class="actions"><button class="main" type="submit" disabled=${!chosen.length}>${t("apply")}</button><button type="button" onClick=${no}>${t("cancel")}</button></p></form></${Dialog}>`;
}
