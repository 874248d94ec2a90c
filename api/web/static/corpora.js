// Which corpora a choice stands for, as the service takes it: one by its name, several as `a+b`, all as `*`.

import { t } from "./texts.js";

export const SEVERAL = "+";
export const ALL = "*";

export const members = (corpus, known) => (corpus === ALL ? known : corpus.split(SEVERAL));
// The name of a corpus for what a person calls it, as the service takes it; empty if no letter or digit is left.
export const slug = (name) => name.normalize("NFKD").toLowerCase().replaceAll("ß", "ss").replace(/[^a-z0-9_]+/g, (rest) => (/^\p{M}+$/u.test(rest) ? "" : "-"))
  .replace(/^[-_]+|-+$/g, "").slice(0, 63);
export const thereAre = (corpora, known) => corpora.length > 0 && corpora.every((name) => known.includes(name));
export const label = (corpus) => (corpus === ALL ? t("allCorpora") : corpus.split(SEVERAL).join(", "));
// What one may choose from a list of corpora, with what is chosen.
export const choices = (known, chosen) => [...new Set([...known, ...(known.length > 1 ? [ALL] : []), chosen])];
