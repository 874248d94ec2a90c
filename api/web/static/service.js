// Calls to the service's routes. Flow: views -> here -> HTTP. Holds no state; every failure is a ServiceError.

import { t } from "./texts.js";

// What went wrong, in the page's language where it has words for it.
export const worded = (code, detail) => t("errors")[code] ?? detail;

export class ServiceError extends Error {
  constructor(code, detail, status = 0) {
    super(worded(code, detail));
    this.code = code;
    this.status = status;
  }
}

// `path` has no leading slash, so the page works behind a proxy that adds a prefix.
async function send(path, options) {
  let reply;
  try {
    reply = await fetch(path, { ...options, headers: { Accept: "application/json", ...options.headers } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServiceError("unreachable", "The service does not answer. Check that it is running.");
  }
  if (reply.ok) return reply;
  const body = await reply.json().catch(() => null);
  throw failed(reply.status, body);
}

function failed(status, body) {
  const told = body?.error ?? { code: `http_${status}`, detail: `The service replied with status ${status}.` };
  return new ServiceError(told.code, told.detail, status);
}

function address(path, query = {}) {
  const kept = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return kept.length ? `${path}?${new URLSearchParams(kept)}` : path;
}

export async function get(path, query, signal) {
  return (await send(address(path, query), { signal })).json();
}

// GET /stats of several corpora, summed as far as the page needs it; of one, as it is.
export async function counts(corpora) {
  const all = await Promise.all(corpora.map((corpus) => get("stats", { corpus })));
  if (all.length === 1) return all[0];
  const sum = (name) => {
    const total = {};
    for (const one of all) for (const [value, n] of Object.entries(one[name])) total[value] = (total[value] ?? 0) + n;
    return total;
  };
  return { by_content_type: sum("by_content_type"), by_topic: sum("by_topic") };
}

// Has the cookie deleted, which no script can read. Should that fail, the page of /login says who is still signed in.
export async function signOut() {
  await send("logout", { method: "POST" }).catch(() => {});
  location.assign("login");
}

export async function post(path, body, signal) {
  return (await send(path, posted(body, signal))).json();
}

export async function patch(path, body) {
  return (await send(path, { ...posted(body), method: "PATCH" })).json();
}

// Some routes answer an id in plain text.
export async function getText(path, signal) {
  return (await send(path, { signal })).text();
}

export async function postForText(path, body, signal) {
  return (await send(path, posted(body, signal))).text();
}

export async function remove(path, query) {
  return (await send(address(path, query), { method: "DELETE" })).json();
}

// Sends files as POST /documents; fetch would not say how far they are. `progress` is told the share sent, 0 to 1.
export function upload(files, query, progress) {
  const body = new FormData();
  for (const file of files) body.append("file", file);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", address("documents", query));
    request.responseType = "json";
    request.setRequestHeader("Accept", "application/json");
    request.upload.onprogress = (event) => progress(event.total ? event.loaded / event.total : 0);
    request.onerror = () => reject(new ServiceError("unreachable", "The service does not answer, or refused the upload before its end."));
    request.onload = () => (request.status < 300 ? resolve(request.response) : reject(failed(request.status, request.response)));
    request.send(body);
  });
}

// Yields {event, data} of POST /query/stream as they arrive; ends early only with an error.
export async function* ask(body, signal) {
  const reply = await send("query/stream", posted(body, signal, "text/event-stream"));
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    let piece;
    try {
      piece = await reader.read();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ServiceError("cut", "The connection broke before the answer was complete.");
    }
    rest += piece.done ? "\n\n" : piece.value;
    const records = rest.split(/\r?\n\r?\n/);
    rest = records.pop();
    for (const record of records) {
      const read = parse(record);
      if (read) yield read;
    }
    if (piece.done) return;
  }
}

export function documentPath(docId) {
  // Proxies and browsers fold `//`, `.` and `..`; then the slashes have to be encoded as well.
  const parts = docId.split("/");
  const foldable = parts.some((part) => ["", ".", ".."].includes(part));
  return `documents/${foldable ? encodeURIComponent(docId) : parts.map(encodeURIComponent).join("/")}`;
}

function posted(body, signal, accept = "application/json") {
  const headers = { "Content-Type": "application/json", Accept: accept };
  return { method: "POST", body: JSON.stringify(body), headers, signal };
}

function parse(record) {
  let event = "message";
  const data = [];
  for (const line of record.split(/\r?\n/)) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return data.length ? { event, data: JSON.parse(data.join("\n")) } : null;
}
