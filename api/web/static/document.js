// A document's own page: Markdown in place of its source, block by block as they come into sight, the cited words first.
// Flow: GET /documents/… as HTML, readable without this -> here -> markdown.js. app.js is not part of it.

import { renderMarked } from "./markdown.js";
import { recall } from "./storage.js";
import { t } from "./texts.js";

const AHEAD = "1200px"; // blocks nearer than this to what is in sight are rendered

const theme = recall("theme", "");
if (theme) document.documentElement.dataset.theme = theme;
for (const label of document.querySelectorAll("[data-text]")) label.textContent = t(label.dataset.text);

function draw(block) {
  const mark = block.querySelector("mark");
  const start = mark?.previousSibling?.data.length ?? 0;
  const ranges = mark ? [{ start, end: start + mark.textContent.length, className: "cited" }] : [];
  const { fragment, marked } = renderMarked(block.textContent, ranges);
  // Cited words that Markdown swallows stay marked in the source.
  if (marked.length < ranges.length) return;
  const first = fragment.querySelector("mark");
  if (first) first.id = "cited";
  block.classList.replace("plain", "prose");
  block.replaceChildren(fragment);
}

if (document.querySelector("[data-markdown]")) {
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      draw(target);
    }
  }, { rootMargin: AHEAD });
  const cited = document.getElementById("cited")?.closest(".block");
  if (cited) draw(cited);
  for (const block of document.querySelectorAll(".block")) if (block !== cited) seen.observe(block);
}
if (location.hash === "#cited") document.getElementById("cited")?.scrollIntoView({ block: "center" });
