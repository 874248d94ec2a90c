// All words of the page, in English and German. `t("name", {n: 3})` fills `{n}`.

import { recall, remember } from "./storage.js";

const TEXTS = {
  en: {
    ask: "Ask", retrieve: "Search", compare: "Compare", documents: "Documents", corpus: "Corpus",
    skip: "Skip to the content", theme: "Light or dark", language: "Deutsch", help: "Keys",
    question: "Your question", placeholder: "Ask your documents", send: "Ask", stop: "Stop", stopped: "Stopped.",
    welcome: "Ask a question. The answer quotes your documents, and each number opens the place it came from.",
    try: "Try one of these", recent: "Recent questions", forget: "Forget everything kept in this browser",
    newConversation: "New conversation", filters: "Options", type: "Type", anyType: "any", topic: "Topic",
    dateFrom: "Date from", dateTo: "to", passagesRead: "Passages to read",
    working: "Working", steps: "{n} steps, {time}", stepsRunning: "{n} steps so far",
    answerReady: "The answer is complete.", declined: "The documents do not answer this.",
    nearest: "Closest passages", copy: "Copy", copied: "Copied", again: "Ask again", showTree: "Show the search",
    by: { extractive: "quoted, no language model", huggingface: "written by a local model", openvino: "written by a local model",
      openai: "written by a language model server", catalogue: "from the catalogue", small_talk: "small talk" },
    cached: "answered before", warnings: "Please note",
    citation: "Source {n}: {title}", sources: "Sources", open: "Open the document", close: "Close",
    evidence: "Evidence", loading: "Loading", page: "page {n}", pages: "pages {from}–{to}",
    pagesView: "Pages", textView: "Text", shownAs: "Shown as", pageOfAll: "Page {n} of {all}", pagesOfAll: "Pages {from}–{to} of {all}",
    pageBefore: "Page before", pageAfter: "Next page", pageCited: "Cited page", zoom: "Size", fitWidth: "whole width",
    pageFailed: "Page {n} cannot be shown as it looks.", notAllMarked: "Some of the cited lines could not be found on the page for certain; the text marks all of them.",
    source: "Source", goToCited: "Go to the cited passage", document: "Document", root: "Section", middle: "Part", leaf: "Leaf", span: "Passage", characters: "{n} characters", more: "Show more",
    changed: "This document has changed since it was cited.",
    searchHint: "See which passages a question finds, with their scores, and how small passages became large ones.",
    mode: "Mode", hybrid: "meaning and words", dense: "meaning", lexical: "words", budget: "Characters to read",
    topK: "Passages at most", share: "Share of meaning", merging: "Merging", mergeOff: "off",
    rerank: "Rerank", search: "Search", list: "Passages", tree: "Tree", nothing: "Nothing was found.",
    found: "{n} passages in {ms} ms", best: "score {score}", leavesMatched: "{n} matching leaves",
    fusion: "Scores", fusions: { evidence: "all evidence", plain: "weighted sum" }, perDocument: "Per document at most", rerankQuery: "Rerank by",
    leftOut: "Found but not read: {n}", notMerged: "Not merged: {why}", ranks: "Places in the rankings", besideOnly: "beside a match only",
    treeHint: "Each row is a level of the document. Coloured leaves match: the darker, the better. The bars below are what an answer reads, by rank; a bold border marks leaves that were merged.",
    treeRead: "Read", otherLeaves: "{n} other parts",
    listHint: "{documents} documents, {leaves} leaves, {size} on disk. Built with {model} ({precision}).",
    compareHint: "Ask two settings the same question and say which answer is better. Votes stay in this browser.",
    blind: "Hide which is which until the vote", answerN: "Answer {n}", better: "Which is better?", tie: "Equal", bothBad: "Both bad",
    tally: "So far A {a}, B {b}, equal {tie}, both bad {bad}.", interval: "A is liked better in {low} to {high} % of the decided questions (95 % interval).",
    answerMode: "Mode", modes: { single: "one search", agent: "several searches", auto: "as the question needs" },
    feedback: "Your verdict", verdicts: { good: "Good", bad: "Bad", relevant: "Relevant", irrelevant: "Not relevant" },
    filterTitle: "Find by title", remove: "Delete", removeAsk: "Delete “{title}” from the corpus? It returns with the next ingestion if its file is still there.",
    removeUploaded: "Delete “{title}” from the corpus, and its uploaded file?",
    removed: "“{title}” is deleted.", cancel: "Cancel", upload: "Upload files", dropHere: "or drop them here", sending: "Sending",
    uploadFormat: "“{name}” has no format that can be read. These have: {formats}.", uploadSize: "These files have {size}; one upload takes {most}.",
    ingest: "Bring in files of the server", path: "File or folder on the server", start: "Start",
    ingestOff: "This service reads no folders for its clients. Set RAG_INGEST__ROOT, or run python -m ingestion.",
    ingestRunning: "{state}: {files} files, {documents} documents", ingestDone: "{new} new, {changed} changed, {unchanged} unchanged, {failed} failed",
    fates: { failed: "Failed", skipped: "Skipped", left_out: "Left out, for it holds no words" },
    health: "State of the corpus", newest: "last brought in", allRead: "every file could be read", unread: "{n} files could not be read in full", readAgain: "Try them again",
    ask_document: "Summarise the document “{title}”.", title: "Title", leaves: "Leaves", added: "Added", noDocuments: "This corpus holds no documents yet.",
    presets: ["What documents do you have?", "What are these documents about?"],
    keys: [["/", "go to the question"], ["j, k", "next and previous source"], ["Esc", "close, or stop the answer"], ["?", "show these keys"]],
    states: { queued: "Waiting", running: "Running", done: "Done", failed: "Failed", cancelled: "Cancelled" },
  },
  de: {
    ask: "Fragen", retrieve: "Suche", compare: "Vergleich", documents: "Dokumente", corpus: "Korpus",
    skip: "Zum Inhalt", theme: "Hell oder dunkel", language: "English", help: "Tasten",
    question: "Ihre Frage", placeholder: "Fragen Sie Ihre Dokumente", send: "Fragen", stop: "Anhalten", stopped: "Angehalten.",
    welcome: "Stellen Sie eine Frage. Die Antwort zitiert Ihre Dokumente, und jede Nummer öffnet die Stelle, von der sie stammt.",
    try: "Zum Beispiel", recent: "Letzte Fragen", forget: "Alles vergessen, was dieser Browser gespeichert hat",
    newConversation: "Neues Gespräch", filters: "Optionen", type: "Art", anyType: "alle", topic: "Thema",
    dateFrom: "Datum von", dateTo: "bis", passagesRead: "Passagen lesen",
    working: "In Arbeit", steps: "{n} Schritte, {time}", stepsRunning: "bisher {n} Schritte",
    answerReady: "Die Antwort ist vollständig.", declined: "Die Dokumente beantworten das nicht.",
    nearest: "Nächstliegende Stellen", copy: "Kopieren", copied: "Kopiert", again: "Noch einmal fragen", showTree: "Suche zeigen",
    by: { extractive: "zitiert, ohne Sprachmodell", huggingface: "von einem lokalen Modell geschrieben", openvino: "von einem lokalen Modell geschrieben",
      openai: "von einem Sprachmodell-Server geschrieben", catalogue: "aus dem Katalog", small_talk: "Plauderei" },
    cached: "schon beantwortet", warnings: "Bitte beachten",
    citation: "Quelle {n}: {title}", sources: "Quellen", open: "Dokument öffnen", close: "Schließen",
    evidence: "Beleg", loading: "Lädt", page: "Seite {n}", pages: "Seiten {from}–{to}",
    pagesView: "Seiten", textView: "Text", shownAs: "Ansicht", pageOfAll: "Seite {n} von {all}", pagesOfAll: "Seiten {from}–{to} von {all}",
    pageBefore: "Seite davor", pageAfter: "Nächste Seite", pageCited: "Zitierte Seite", zoom: "Größe", fitWidth: "ganze Breite",
    pageFailed: "Seite {n} lässt sich nicht so zeigen, wie sie aussieht.", notAllMarked: "Einige der zitierten Zeilen waren auf der Seite nicht sicher zu finden; der Text markiert sie alle.",
    source: "Quelle", goToCited: "Zur zitierten Stelle", document: "Dokument", root: "Abschnitt", middle: "Teil", leaf: "Blatt", span: "Passage", characters: "{n} Zeichen", more: "Mehr zeigen",
    changed: "Dieses Dokument hat sich seit dem Zitat geändert.",
    searchHint: "Sehen Sie, welche Passagen eine Frage findet, mit ihren Werten, und wie aus kleinen Passagen große wurden.",
    mode: "Suche nach", hybrid: "Bedeutung und Wörtern", dense: "Bedeutung", lexical: "Wörtern", budget: "Zu lesende Zeichen",
    topK: "Höchstens Passagen", share: "Anteil der Bedeutung", merging: "Zusammenführen", mergeOff: "aus",
    rerank: "Neu ordnen", search: "Suchen", list: "Passagen", tree: "Baum", nothing: "Nichts gefunden.",
    found: "{n} Passagen in {ms} ms", best: "Wert {score}", leavesMatched: "{n} passende Blätter",
    fusion: "Werte", fusions: { evidence: "alle Belege", plain: "gewichtete Summe" }, perDocument: "Höchstens je Dokument", rerankQuery: "Neu ordnen nach",
    leftOut: "Gefunden, aber nicht gelesen: {n}", notMerged: "Nicht zusammengeführt: {why}", ranks: "Plätze in den Ranglisten", besideOnly: "nur neben einem Treffer",
    treeHint: "Jede Zeile ist eine Ebene des Dokuments. Farbige Blätter passen: je dunkler, desto besser. Die Balken darunter liest die Antwort, nach Rang; ein fetter Rand zeigt zusammengeführte Blätter.",
    treeRead: "Gelesen", otherLeaves: "{n} andere Teile",
    listHint: "{documents} Dokumente, {leaves} Blätter, {size} auf der Platte. Gebaut mit {model} ({precision}).",
    compareHint: "Stellen Sie zwei Einstellungen dieselbe Frage, und sagen Sie, welche Antwort besser ist. Stimmen bleiben in diesem Browser.",
    blind: "Bis zur Stimme verbergen, welche welche ist", answerN: "Antwort {n}", better: "Welche ist besser?", tie: "Gleich", bothBad: "Beide schlecht",
    tally: "Bisher A {a}, B {b}, gleich {tie}, beide schlecht {bad}.", interval: "A gefällt bei {low} bis {high} % der entschiedenen Fragen besser (95-%-Intervall).",
    answerMode: "Modus", modes: { single: "eine Suche", agent: "mehrere Suchen", auto: "je nach Frage" },
    feedback: "Ihr Urteil", verdicts: { good: "Gut", bad: "Schlecht", relevant: "Passt", irrelevant: "Passt nicht" },
    filterTitle: "Nach Titel suchen", remove: "Löschen", removeAsk: "„{title}“ aus dem Korpus löschen? Es kommt mit dem nächsten Einlesen zurück, wenn seine Datei noch da ist.",
    removeUploaded: "„{title}“ aus dem Korpus löschen, und die hochgeladene Datei dazu?",
    removed: "„{title}“ ist gelöscht.", cancel: "Abbrechen", upload: "Dateien hochladen", dropHere: "oder hier ablegen", sending: "Wird gesendet",
    uploadFormat: "„{name}“ hat kein lesbares Format. Lesbar sind: {formats}.", uploadSize: "Diese Dateien haben {size}; auf einmal gehen {most}.",
    ingest: "Dateien des Servers einlesen", path: "Datei oder Ordner auf dem Server", start: "Beginnen",
    ingestOff: "Dieser Dienst liest keine Ordner ein. Setzen Sie RAG_INGEST__ROOT, oder rufen Sie python -m ingestion auf.",
    ingestRunning: "{state}: {files} Dateien, {documents} Dokumente", ingestDone: "{new} neu, {changed} geändert, {unchanged} unverändert, {failed} fehlgeschlagen",
    fates: { failed: "Fehlgeschlagen", skipped: "Übersprungen", left_out: "Weggelassen, da ohne Wörter" },
    health: "Zustand des Korpus", newest: "zuletzt eingelesen", allRead: "alle Dateien waren lesbar", unread: "{n} Dateien waren nicht ganz lesbar", readAgain: "Noch einmal versuchen",
    ask_document: "Summarise the document “{title}”.", title: "Titel", leaves: "Blätter", added: "Eingelesen", noDocuments: "Dieses Korpus enthält noch keine Dokumente.",
    presets: ["What documents do you have?", "What are these documents about?"],
    keys: [["/", "zur Frage"], ["j, k", "nächste und vorige Quelle"], ["Esc", "schließen oder die Antwort anhalten"], ["?", "diese Tasten zeigen"]],
    states: { queued: "Wartet", running: "Läuft", done: "Fertig", failed: "Fehlgeschlagen", cancelled: "Abgebrochen" },
  },
};

const preferred = (navigator.language || "en").startsWith("de") ? "de" : "en";
let current = recall("language", preferred) in TEXTS ? recall("language", preferred) : "en";
document.documentElement.lang = current;

export function t(name, values = {}) {
  const found = TEXTS[current][name];
  return typeof found === "string" ? found.replace(/\{(\w+)\}/g, (whole, key) => values[key] ?? whole) : found;
}

export function otherLanguage() {
  current = current === "en" ? "de" : "en";
  document.documentElement.lang = current;
  remember("language", current);
}

export function number(value) {
  return new Intl.NumberFormat(current).format(value);
}

export function duration(ms) {
  if (!Number.isFinite(ms)) return "–";
  return ms < 1000 ? `${Math.max(1, Math.round(ms))} ms` : `${new Intl.NumberFormat(current, { maximumFractionDigits: 1 }).format(ms / 1000)} s`;
}

export function size(bytes) {
  const power = bytes < 1e6 ? ["kB", 1e3] : bytes < 1e9 ? ["MB", 1e6] : ["GB", 1e9];
  return `${new Intl.NumberFormat(current, { maximumFractionDigits: 1 }).format(bytes / power[1])} ${power[0]}`;
}
