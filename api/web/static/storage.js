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

// What is kept under names that begin so: [rest of the name, value], ordered by name.
export function recallAll(begins) {
  try {
    const names = Object.keys(localStorage).filter((name) => name.startsWith(PREFIX + begins)).sort();
    return names.map((name) => [name.slice((PREFIX + begins).length), JSON.parse(localStorage[name])]);
  } catch {
    return [];
  }
}

// Tells of what other tabs change under names that begin so; returns how to stop.
export function watch(begins, changed) {
  const stored = ({ key }) => { if (key === null || key.startsWith(PREFIX + begins)) changed(); };
  addEventListener("storage", stored);
  return () => removeEventListener("storage", stored);
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

// Gives what is kept under names that begin so to names that begin otherwise.
export function move(begins, now) {
  for (const [rest, value] of recallAll(begins)) remember(now + rest, value);
  forget(begins);
}

// Forgets what `begins` with a name; everything by default.
export function forget(begins = "") {
  try {
    for (const name of Object.keys(localStorage)) if (name.startsWith(PREFIX + begins)) localStorage.removeItem(name);
  } catch {
    // There is nothing to forget.
  }
}
