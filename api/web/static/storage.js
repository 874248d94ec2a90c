// What the page remembers, in this browser only: conversation, questions, theme and language. One call forgets it all.

const PREFIX = "treeline.";

export function recall(name, fallback) {
  try {
    const kept = localStorage.getItem(PREFIX + name);
    return kept === null ? fallback : JSON.parse(kept);
  } catch {
    return fallback; // storage is off, or holds something else
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Storage is off or full: the page works without memory.
  }
}

export function forget() {
  try {
    for (const name of Object.keys(localStorage)) if (name.startsWith(PREFIX)) localStorage.removeItem(name);
  } catch {
    // There is nothing to forget.
  }
}
