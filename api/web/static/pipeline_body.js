// A pipeline as the routes write it, and as the page edits it: {query, name, steps: [{key, id, parameters, on_error}]}.
// Flow: pipelines.js, pipeline_shelf.js -> here. Pure; what a step or parameter means is the service's business.

import { t } from "./texts.js";

let made = 0;

export function newStep(id, parameters = {}, on_error = "stop") {
  return { key: `${Date.now().toString(36)}-${made++}`, id, parameters, on_error };
}

// Throws an Error with words for people.
export function fromBody(given, info) {
  const body = isObject(given?.pipeline) ? given.pipeline : given;
  if (!isObject(body)) throw new Error(t("notPipeline"));
  const numbers = Object.keys(body).filter((name) => /^\d{1,4}$/.test(name)).map(Number).sort((a, b) => a - b);
  if (!numbers.length || numbers.some((number) => typeof body[number]?.id !== "string")) throw new Error(t("notPipeline"));
  const defaults = isObject(body.parameters) ? body.parameters : {};
  const steps = numbers.map((number) => {
    const { id, parameters, on_error } = body[number];
    const own = isObject(parameters) ? parameters : {};
    // Parameters of the whole pipeline are for the sources that know them; the page keeps all at their steps.
    const known = info[id]?.category === "Data Sources" ? Object.entries(defaults).filter(([name]) => name in info[id].parameters) : [];
    return newStep(id, { ...Object.fromEntries(known), ...own }, on_error === "continue" ? "continue" : "stop");
  });
  return { query: typeof body.query === "string" ? body.query : "", steps };
}

// `corpus` is for the sources that name none; null leaves that to the service.
export function toBody({ query, steps }, info, corpus = null) {
  const body = query.trim() ? { query: query.trim() } : {};
  steps.forEach(({ id, parameters, on_error }, index) => {
    const chosen = corpus && info[id]?.parameters.corpus && !parameters.corpus ? { ...parameters, corpus } : parameters;
    body[index + 1] = { id, ...(Object.keys(chosen).length ? { parameters: chosen } : {}), ...(on_error === "continue" ? { on_error } : {}) };
  });
  return body;
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
