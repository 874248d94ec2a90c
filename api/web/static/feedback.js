// Two buttons that say what a reader thinks of an answer, a step or a passage. Flow: answer.js, search.js -> POST /feedback.
// A service without feedback gives no ids, and then there are no buttons.

import { post } from "./service.js";
import { recall, remember } from "./storage.js";
import { t } from "./texts.js";
import { html, useState } from "./vendor/htm-preact.js";

const THUMB = "M7 22H4a2 2 0 0 1-2-2v-7a2 2 0 0 1 2-2h3m0 11V11m0 11h11.3a2 2 0 0 0 2-1.7l1.4-9a2 2 0 0 0-2-2.3H14V5a3 3 0 0 0-3-3L7 11";

// `about`: {answer_id} or {retrieval_id}, and at most one of `step` and `node_id`; `words`: the two verdicts.
export function Verdict({ about, words = ["good", "bad"] }) {
  const kept = `vote.${Object.values(about).join(".")}`;
  const [said, setSaid] = useState(() => recall(kept, ""));
  const [failure, setFailure] = useState("");
  if (!about.answer_id && !about.retrieval_id) return null;
  const say = async (verdict) => {
    const before = said;
    setSaid(verdict);
    setFailure("");
    try {
      await post("feedback", { ...about, verdict });
      remember(kept, verdict);
    } catch (error) {
      setSaid(before);
      setFailure(error.message);
    }
  };
  return html`<span class="verdict" role="group" aria-label=${t("feedback")}>
    ${words.map((verdict, index) => html`<button class="quiet icon" title=${t("verdicts")[verdict]} aria-label=${t("verdicts")[verdict]}
      aria-pressed=${String(said === verdict)} onClick=${() => say(verdict)}><svg class=${index ? "down" : "up"} viewBox="0 0 24 24" aria-hidden="true"><path d=${THUMB} /></svg></button>`)}
    ${failure && html`<span class="problem" role="alert">${failure}</span>`}</span>`;
}
