// A question with what comes back for it, growing event by event. Flow: POST /query/stream -> here -> ask.js, compare.js.

import { ask, worded } from "./service.js";

export function begun(question) {
  return { question, steps: [], text: "", state: "running" };
}

// Ask, and tell what arrives as {type, data}; always ends with `done`, `error` or `stopped`.
export async function play(body, signal, tell) {
  try {
    for await (const { event, data } of ask(body, signal)) tell({ type: event, data });
    tell({ type: "error", data: { detail: "The connection broke before the answer was complete." } });
  } catch (error) {
    if (error.name === "AbortError") tell({ type: "stopped" });
    else tell({ type: "error", data: { code: error.code, detail: error.message } });
  }
}

// Programs know a declined question by its first sentence, which is English; people read the reason, in their language.
const reasonOf = ({ answered, decline_text: own, message }) => (answered || own ? message : message.replace(/^I don't know\. /, ""));

// Return the exchange after an event; what comes after its end changes nothing.
export function grown(exchange, { type, data }) {
  if (exchange.state !== "running") return exchange;
  switch (type) {
    case "step": return { ...exchange, steps: [...exchange.steps, data] };
    case "token": return { ...exchange, text: exchange.text + data.token };
    case "restart": return { ...exchange, text: "", steps: [...exchange.steps, { kind: "warning", text: data.reason }] };
    case "done": return { ...exchange, state: "done", reply: data, text: reasonOf(data) };
    case "error": return { ...exchange, state: "failed", problem: worded(data.code, data.detail) };
    case "stopped": return { ...exchange, state: "stopped" };
    default: return exchange;
  }
}
