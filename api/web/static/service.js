// Calls to the service's routes. Flow: views -> here -> HTTP. Holds no state; every failure is a ServiceError.

export class ServiceError extends Error {
  constructor(code, detail, status = 0) {
    super(detail);
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
  const told = body?.error ?? { code: `http_${reply.status}`, detail: `The service replied with status ${reply.status}.` };
  throw new ServiceError(told.code, told.detail, reply.status);
}

function address(path, query = {}) {
  const kept = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return kept.length ? `${path}?${new URLSearchParams(kept)}` : path;
}

export async function get(path, query, signal) {
  return (await send(address(path, query), { signal })).json();
}

export async function post(path, body, signal) {
  return (await send(path, posted(body, signal))).json();
}

export async function remove(path, query) {
  return (await send(address(path, query), { method: "DELETE" })).json();
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
