// How a paper is cited, in APA's order: authors (year). Title. Journal. Address.
// Flow: evidence.js -> here. The metadata say it; names stand as they are written there, since nobody can tell
// a person's from a committee's.

// Returns "" for a document that names no author.
export function reference({ title, url, metadata }) {
  const authors = [metadata.authors ?? metadata.author ?? []].flat().map(String).filter(Boolean);
  if (!authors.length) return "";
  const year = String(metadata.year ?? metadata.date ?? "").match(/\b\d{4}\b/)?.[0] ?? "n.d.";
  const doi = metadata.doi && `https://doi.org/${String(metadata.doi).replace(/^.*?(?=10\.)/, "")}`;
  const own = url && !url.includes("/documents/") ? url : "";
  const names = authors.length > 1 ? `${authors.slice(0, -1).join(", ")}, & ${authors.at(-1)}` : authors[0];
  return [`${names} (${year})`, title, metadata.journal].filter(Boolean).map(ended).concat(doi || own || []).join(" ");
}

const ended = (part) => (/[.?!]$/.test(part) ? part : `${part}.`);
