// What the page remembers, in this browser only: conversations, theme and language. One call forgets it all.

const PREFIX = "treeline.";

export function recall(name, fallback) {
  try {
    const kept = localStorage.getItem(PREFIX + name);
    return kept === null ? fallback : JSON.parse(kept);
  } catch {
    return fallback; // storage is off, or holds something else
  }
}

// Returns whether it is kept: storage may be off or full, and the page works without memory.
export function remember(name, value) {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

// Forgets what `begins` with a name; everything by default.
export function forget(begins = "") {
  try {
    for (const name of Object.keys(localStorage)) if (name.startsWith(PREFIX + begins)) localStorage.removeItem(name);
  } catch {
    // There is nothing to forget.
  }
}
