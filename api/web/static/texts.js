// All words of the page, in English and German. `t("name", {n: 3})` fills `{n}`, and takes of `{n|one|many}` what fits n.

import { recall, remember } from "./storage.js";

const TEXTS = {
  en: {
    ask: "Ask", retrieve: "Search", compare: "Compare", documents: "Documents", corpus: "Collection", workbench: "Workbench",
    skip: "Skip to the content", theme: "Light or dark", language: "Deutsch", help: "Keys", signOut: "Sign out",
    question: "Your question", placeholder: "Ask your documents", send: "Ask", stop: "Stop", stopped: "Stopped.", unfinished: "Interrupted, or still being answered in another tab.",
    welcome: "Ask a question. The answer quotes your documents, and each number opens the place it came from.",
    try: "Try one of these", forget: "Forget everything kept in this browser",
    findTalk: "Find a conversation", newConversation: "New conversation", conversations: "Conversations ({n})", rename: "Rename", renameTalk: "Name of the conversation", removeTalk: "Delete the conversation “{name}”? It is kept only in this browser.", storageFull: "This browser has no room to keep this conversation. Delete older ones.", forgetAsk: "Delete all conversations, votes and choices kept in this browser?", filters: "Options", type: "Type", anyType: "any", topic: "Topic",
    dateFrom: "Date from", dateTo: "to", passagesRead: "Passages to read",
    working: "Working", steps: "{n} {n|step|steps}, {time}", stepsRunning: "{n} {n|step|steps} so far",
    answerReady: "The answer is complete.", declined: "The documents do not answer this.",
    nearest: "Closest passages", elsewhere: "It may also stand here", copy: "Copy", copied: "Copied", notCopied: "Not copied", again: "Ask again", edit: "Edit", exportTalk: "Save as a file", saveTalk: "Save", showTree: "Show the search",
    by: { extractive: "quoted, no language model", huggingface: "written by a local model",
      openai: "written by a language model server", ollama: "written by a model of Ollama", catalogue: "from the catalogue" },
    cached: "answered before", warnings: "Please note", unsupported: "Not in the sources",
    citation: "Source {n}: {title}", sources: "Sources", open: "Open the document", original: "Original file", byOcr: "Read from pictures by OCR, so letters may be mistaken", close: "Close",
    evidence: "Evidence", loading: "Loading", page: "page {n}", pages: "pages {from}–{to}",
    pagesView: "Pages", textView: "Text", shownAs: "Shown as", pageOfAll: "Page {n} of {all}", pagesOfAll: "Pages {from}–{to} of {all}",
    pageBefore: "Previous page", pageAfter: "Next page", pageCited: "Cited page", zoom: "Size", fitWidth: "whole width",
    pageFailed: "Page {n} cannot be shown as an image.", notAllMarked: "Some of the cited lines could not be located on the page with certainty; the text view marks all of them.",
    source: "Source", goToCited: "Go to the cited passage", document: "Document", root: "Section", middle: "Part", leaf: "Leaf", span: "Passage", characters: "{n} {n|character|characters}", more: "Show more",
    changed: "This document has changed since it was cited.",
    searchHint: "See which passages a question finds, with their scores, and how small passages became large ones.",
    mode: "Mode", hybrid: "meaning and words", dense: "meaning", lexical: "words", budget: "Characters to read",
    topK: "Passages at most", merging: "Merging", scores: "Scores and places",
    rerank: "Rerank", search: "Search", list: "Passages", tree: "Tree", nothing: "Nothing was found.",
    found: "{n} {n|passage|passages} in {ms} ms", best: "score {score}", leavesMatched: "{n} matching {n|leaf|leaves}",
    perDocument: "Per document at most", rerankQuery: "Rerank by",
    leftOut: "Found but not read: {n}", notMerged: "Not merged: {why}", ranks: "Places of its leaves in the rankings", besideOnly: "next to a match, not a match itself",
    treeHint: "Each row is a level of the document. Coloured leaves match: the darker, the better. The bars below are what an answer reads, by rank; a bold border marks leaves that were merged.",
    treeRead: "Read", otherLeaves: "{n} other {n|part|parts}",
    listHint: "{n} {n|document|documents}, {size} on disk.", inside: "How it is stored", insideHint: "{leaves} leaves, the small passages that are searched; embedded by {model} ({precision}).",
    compareHint: "Ask two settings the same question and say which answer is better. Votes stay in this browser.",
    readsAtMost: "at most {n} {n|passage|passages}", blind: "Hide which is which until you vote", answerN: "Answer {n}", better: "Which is better?", tie: "Equal", bothBad: "Both bad",
    tally: "So far A {a}, B {b}, equal {tie}, both bad {bad}.", interval: "A is preferred in {low} to {high} % of the decided questions (95 % interval).",
    pipelines: "Pipelines", pipelineHint: "A pipeline is a list of steps over a table of documents: a source fetches them, rerankers order them, filters drop some. Begin with an example, or add steps.",
    examples: "Begin with an example", exampleTitles: {}, pipelineSteps: "Steps", noSteps: "No steps yet. Add a source first.", addStep: "Add step", stepToAdd: "Step to add",
    run: "Run", cancelRun: "Cancel", stepProgress: "Step {step} of {of}", waitingInLine: "Waiting for its turn", settingsOf: "Settings of step {n}, {name}", settingsShort: "Settings",
    moveUp: "Move up: step {n}, {name}", moveDown: "Move down: step {n}, {name}", removeStep: "Remove: step {n}, {name}", moved: "{name} is step {n} now.", stepRemoved: "{name} is removed.", stepAdded: "{name} is step {n}.",
    unknownStep: "This service has no step of this name.", unknownParameter: "This step has no such parameter.", removeParameter: "Remove the parameter {name}",
    limits: "{from} to {to}", atLeast: "at least {from}", atMost: "at most {to}", byDefault: "default: {value}", required: "needed", notSet: "not set",
    onError: "If it fails", onErrors: { stop: "end the task", continue: "go on with its input" }, onErrorHint: "What follows if this step fails.",
    stepStates: { waiting: "waiting", running: "running", done: "done", failed: "failed" }, ofRows: "{done} of {of} rows", fromCache: "{share} from the cache",
    clearPipeline: "Clear", shelf: "Save, open, import, export", pipelineName: "Name", savePipeline: "Save", savedAs: "Saved with the id {id}.", savedPipelines: "Saved pipelines", unnamed: "unnamed", openPipeline: "Open", pipelineId: "Id of a pipeline", noSaved: "Nothing is saved yet.", removePipeline: "Delete the saved pipeline “{name}”?",
    asJson: "As JSON", apply: "Apply", importFile: "Import a file", exportFile: "Export a file", imported: "The pipeline has {n} {n|step|steps}.", notJson: "This is not valid JSON.", notPipeline: "This is not a pipeline: steps belong under \"1\", \"2\" and so on, each with an id.", tooLarge: "The file is larger than {most}.",
    results: "Results", toResults: "To the results", tableAfter: "Table after", rankings: "Rankings", resultLine: "{n} {n|document|documents} in {time}, {share} from the cache", taskCancelled: "Cancelled.", log: "Log", newColumn: "new", allColumns: "All columns", rowsShown: "{shown} of {n} rows", less: "Show less", emptyTable: "The table is empty.",
    tau: "Kendall's tau", tauHint: "1: the same order, 0: unrelated, −1: reversed", overlap: "Same in the first {k}", movedMost: "Moved most", nothingMoved: "Nothing moved.", originalRank: "Source", slopes: "{n} {n|document|documents}, a line each, from ranking to ranking", fewRankings: "The table has fewer than two rankings.", allRankings: "Rankings as a table", rankingPair: "{from} → {to}",
    evaluate: "Evaluate", runsHint: "Runs of python -m eval in the service's folder, newest first. The figures are those of their reports.", runsOff: "This service shows no evaluation runs. Set RAG_SERVE__RUNS to the folder that holds them (runs/, where python -m eval run puts them), and start it again.",
    noRuns: "The folder holds no runs yet. Make one: python -m eval run data/questions.jsonl --out FOLDER/NAME", olderRuns: "{n} older runs are not shown.", runName: "Run", started: "Started", questionsOf: "Questions", noReport: "no report yet", writeReport: "For figures and a report: python -m eval report FOLDER/{name}", stale: "scored again after its report", cannotShow: "Cannot be shown",
    report: "Report", reportOf: "Report of {name}", openReport: "Open the report of {name}", ownTab: "In a separate tab", historyOf: "One metric over runs", metric: "Metric", higherBetter: "Higher is better.", lowerBetter: "Lower is better.", mean: "Mean", scored: "Scored", change: "Change", chartOf: "{metric} in {n} runs, from {first} to {last}", oneRun: "One run asked these questions; after a second one a trend is shown.", sameQuestions: "{file}, {n} {n|question|questions}",
    writer: "Written by", quotes: "quotes, no language model", quotesOnly: "Answers are quotes. Connect a model: docs/models.md", answerMode: "Mode", modes: { single: "one search", agent: "several searches", auto: "as the question needs" },
    feedback: "Your verdict", verdicts: { good: "Good", bad: "Bad", relevant: "Relevant", irrelevant: "Not relevant" },
    filterTitle: "Find by title or file name", remove: "Delete", removeAsk: "Delete “{title}” from the collection? It will come back with the next ingestion if its file still exists.",
    removeUploaded: "Delete “{title}” from the collection, and its uploaded file?",
    removed: "“{title}” is deleted.", cancel: "Cancel", upload: "Upload files", dropHere: "or drop them here", sending: "Sending",
    uploadFormat: "This format cannot be read.", coverage: "{read} of {files} files read; {skipped} {skipped|has|have} a type that is not read: {types}.", noSuffix: "no suffix", uploadSize: "Its {size} exceed what one upload may hold, {most} in all.", formats: "Readable formats",
    ingest: "Ingest files from the server", path: "File or folder on the server", start: "Start",
    emptyCorpus: "The collection {corpus} holds no documents yet. Upload files, then ask about them.", emptyClosed: "The collection {corpus} holds no documents yet, and this service takes none from the page.", goOn: "Ask about them",
    allCorpora: "All", someCorpora: "Several …", oneCorpus: "This view shows one collection. Choose it:",
    newCorpus: "New collection …", corpusName: "Name of the new collection", corpusNameHint: "In the API it is called {slug}.", renameCorpus: "Rename the collection", dropCorpus: "Delete the collection", dropAsk: "Delete the collection {corpus} with its {n} {n|document|documents} and uploaded files? Folders that were ingested stay where they are.",
    ingestReading: "{state}: reading", ingestRunning: "{state}: {share} %, {documents} {documents|document|documents}", ingestDone: "{new} new, {changed} changed, {unchanged} unchanged, {failed} failed",
    fates: { refused: "Not taken", failed: "Failed", skipped: "Skipped", left_out: "Left out" },
    health: "State of the collection", newest: "last ingested", unread: "{n} {n|file|files} could not be read in full", readAgain: "Try them again", notAllRead: "not read in full",
    title: "Title", added: "Added", noDocuments: "This collection holds no documents yet.",
    holds: "{n} {n|document|documents}{about}: {titles}", aboutTopics: " about {topics}", tick: "Ask this one", askOnly: "Ask only these ({n})", untick: "Tick none", asksOnly: "Only asked: {titles}.", askAll: "Ask all", andMore: "{titles} and others", sample: "Load the sample", presets: ["What documents do you have?", "How many documents are there?"],
    keys: [["/", "go to the question"], ["j, k", "next and previous source"], ["Esc", "close, or stop the answer"], ["Alt ↑, Alt ↓", "move a step of a pipeline"], ["?", "show these keys"]],
    errors: {},
    states: { queued: "Waiting", running: "Running", done: "Done", failed: "Failed", cancelled: "Cancelled" },
  },
  de: {
    ask: "Fragen", retrieve: "Suche", compare: "Vergleich", documents: "Dokumente", corpus: "Sammlung", workbench: "Werkbank",
    skip: "Zum Inhalt", theme: "Hell oder dunkel", language: "English", help: "Tasten", signOut: "Abmelden",
    question: "Ihre Frage", placeholder: "Fragen Sie Ihre Dokumente", send: "Fragen", stop: "Anhalten", stopped: "Angehalten.", unfinished: "Unterbrochen, oder noch in einem anderen Tab in Arbeit.",
    welcome: "Stellen Sie eine Frage. Die Antwort zitiert Ihre Dokumente, und jede Nummer öffnet die Stelle, von der sie stammt.",
    try: "Zum Beispiel", forget: "Alles vergessen, was dieser Browser gespeichert hat",
    findTalk: "Gespräch suchen", newConversation: "Neues Gespräch", conversations: "Gespräche ({n})", rename: "Umbenennen", renameTalk: "Name des Gesprächs", removeTalk: "Das Gespräch „{name}“ löschen? Es steht nur in diesem Browser.", storageFull: "In diesem Browser ist kein Platz, um das Gespräch zu behalten. Löschen Sie ältere.", forgetAsk: "Alle Gespräche, Stimmen und Einstellungen löschen, die dieser Browser gespeichert hat?", filters: "Optionen", type: "Art", anyType: "alle", topic: "Thema",
    dateFrom: "Datum von", dateTo: "bis", passagesRead: "Zu lesende Passagen",
    working: "In Arbeit", steps: "{n} {n|Schritt|Schritte}, {time}", stepsRunning: "bisher {n} {n|Schritt|Schritte}",
    answerReady: "Die Antwort ist vollständig.", declined: "Die Dokumente beantworten das nicht.",
    nearest: "Nächstliegende Stellen", elsewhere: "Vielleicht steht es auch hier", copy: "Kopieren", copied: "Kopiert", notCopied: "Nicht kopiert", again: "Noch einmal fragen", edit: "Bearbeiten", exportTalk: "Als Datei sichern", saveTalk: "Sichern", showTree: "Suche zeigen",
    by: { extractive: "zitiert, ohne Sprachmodell", huggingface: "von einem lokalen Modell geschrieben",
      openai: "von einem Sprachmodell-Server geschrieben", ollama: "von einem Modell in Ollama geschrieben", catalogue: "aus dem Katalog" },
    cached: "schon beantwortet", warnings: "Bitte beachten", unsupported: "Nicht in den Quellen",
    citation: "Quelle {n}: {title}", sources: "Quellen", open: "Dokument öffnen", original: "Originaldatei", byOcr: "Von Bildern durch Texterkennung gelesen; Buchstaben können falsch sein", close: "Schließen",
    evidence: "Beleg", loading: "Lädt", page: "Seite {n}", pages: "Seiten {from}–{to}",
    pagesView: "Seiten", textView: "Text", shownAs: "Ansicht", pageOfAll: "Seite {n} von {all}", pagesOfAll: "Seiten {from}–{to} von {all}",
    pageBefore: "Seite davor", pageAfter: "Nächste Seite", pageCited: "Zitierte Seite", zoom: "Größe", fitWidth: "ganze Breite",
    pageFailed: "Seite {n} lässt sich nicht als Bild zeigen.", notAllMarked: "Einige der zitierten Zeilen waren auf der Seite nicht sicher zu finden; der Text markiert sie alle.",
    source: "Quelle", goToCited: "Zur zitierten Stelle", document: "Dokument", root: "Abschnitt", middle: "Teil", leaf: "Blatt", span: "Passage", characters: "{n} Zeichen", more: "Mehr zeigen",
    changed: "Dieses Dokument hat sich seit dem Zitat geändert.",
    searchHint: "Sehen Sie, welche Passagen eine Frage findet, mit ihren Werten, und wie aus kleinen Passagen große wurden.",
    mode: "Suche nach", hybrid: "Bedeutung und Wörtern", dense: "Bedeutung", lexical: "Wörtern", budget: "Zu lesende Zeichen",
    topK: "Passagen höchstens", merging: "Zusammenführen", scores: "Werte und Plätze",
    rerank: "Neu ordnen", search: "Suchen", list: "Passagen", tree: "Baum", nothing: "Nichts gefunden.",
    found: "{n} {n|Passage|Passagen} in {ms} ms", best: "Wert {score}", leavesMatched: "{n} {n|passendes Blatt|passende Blätter}",
    perDocument: "Höchstens je Dokument", rerankQuery: "Neu ordnen nach",
    leftOut: "Gefunden, aber nicht gelesen: {n}", notMerged: "Nicht zusammengeführt: {why}", ranks: "Plätze ihrer Blätter in den Ranglisten", besideOnly: "nur neben einem Treffer",
    treeHint: "Jede Zeile ist eine Ebene des Dokuments. Farbige Blätter passen: je dunkler, desto besser. Die Balken darunter liest die Antwort, nach Rang; ein fetter Rand zeigt zusammengeführte Blätter.",
    treeRead: "Gelesen", otherLeaves: "{n} {n|anderer Teil|andere Teile}",
    listHint: "{n} {n|Dokument|Dokumente}, {size} auf der Platte.", inside: "Wie es gespeichert ist", insideHint: "{leaves} Blätter, die kleinen Passagen, die durchsucht werden; eingebettet mit {model} ({precision}).",
    compareHint: "Stellen Sie zwei Einstellungen dieselbe Frage, und sagen Sie, welche Antwort besser ist. Stimmen bleiben in diesem Browser.",
    readsAtMost: "höchstens {n} {n|Passage|Passagen}", blind: "Bis zur Abstimmung verbergen, welche Antwort von welcher Einstellung stammt", answerN: "Antwort {n}", better: "Welche ist besser?", tie: "Gleich", bothBad: "Beide schlecht",
    tally: "Bisher A {a}, B {b}, gleich {tie}, beide schlecht {bad}.", interval: "A gefällt bei {low} bis {high} % der entschiedenen Fragen besser (95-%-Intervall).",
    pipelines: "Pipelines", pipelineHint: "Eine Pipeline ist eine Liste von Schritten über einer Tabelle von Dokumenten: eine Quelle liefert sie, Reranker ordnen sie, Filter sortieren einige aus. Beginnen Sie mit einem Beispiel, oder fügen Sie Schritte hinzu.",
    examples: "Mit einem Beispiel beginnen", exampleTitles: { "Rank twice, keep the best": "Zweimal ordnen, die besten behalten", "Prepare texts": "Texte vorbereiten", "Mark and summarise": "Markieren und zusammenfassen" }, pipelineSteps: "Schritte", noSteps: "Noch keine Schritte. Fügen Sie zuerst eine Quelle hinzu.", addStep: "Schritt hinzufügen", stepToAdd: "Neuer Schritt",
    run: "Starten", cancelRun: "Abbrechen", stepProgress: "Schritt {step} von {of}", waitingInLine: "Wartet, bis sie an der Reihe ist", settingsOf: "Einstellungen von Schritt {n}, {name}", settingsShort: "Einstellungen",
    moveUp: "Nach oben: Schritt {n}, {name}", moveDown: "Nach unten: Schritt {n}, {name}", removeStep: "Entfernen: Schritt {n}, {name}", moved: "{name} ist jetzt Schritt {n}.", stepRemoved: "{name} ist entfernt.", stepAdded: "{name} ist Schritt {n}.",
    unknownStep: "Dieser Dienst hat keinen Schritt dieses Namens.", unknownParameter: "Dieser Schritt hat keinen solchen Parameter.", removeParameter: "Parameter {name} entfernen",
    limits: "{from} bis {to}", atLeast: "mindestens {from}", atMost: "höchstens {to}", byDefault: "Vorgabe: {value}", required: "nötig", notSet: "nicht gesetzt",
    onError: "Wenn er scheitert", onErrors: { stop: "Aufgabe beenden", continue: "mit seiner Eingabe weitermachen" }, onErrorHint: "Was folgt, wenn dieser Schritt scheitert.",
    stepStates: { waiting: "wartet", running: "läuft", done: "fertig", failed: "fehlgeschlagen" }, ofRows: "{done} von {of} Zeilen", fromCache: "{share} aus dem Zwischenspeicher",
    clearPipeline: "Leeren", shelf: "Speichern, öffnen, importieren, exportieren", pipelineName: "Name", savePipeline: "Speichern", savedAs: "Gespeichert unter der Kennung {id}.", savedPipelines: "Gespeicherte Pipelines", unnamed: "ohne Namen", openPipeline: "Öffnen", pipelineId: "Kennung einer Pipeline", noSaved: "Noch ist nichts gespeichert.", removePipeline: "Die gespeicherte Pipeline „{name}“ löschen?",
    asJson: "Als JSON", apply: "Übernehmen", importFile: "Datei importieren", exportFile: "Datei exportieren", imported: "Die Pipeline hat {n} {n|Schritt|Schritte}.", notJson: "Das ist kein JSON.", notPipeline: "Das ist keine Pipeline: Schritte stehen unter „1“, „2“ und so weiter, jeder mit einer id.", tooLarge: "Die Datei ist größer als {most}.",
    results: "Ergebnisse", toResults: "Zu den Ergebnissen", tableAfter: "Tabelle nach", rankings: "Rangfolgen", resultLine: "{n} {n|Dokument|Dokumente} in {time}, {share} aus dem Zwischenspeicher", taskCancelled: "Abgebrochen.", log: "Protokoll", newColumn: "neu", allColumns: "Alle Spalten", rowsShown: "{shown} von {n} Zeilen", less: "Weniger zeigen", emptyTable: "Die Tabelle ist leer.",
    tau: "Kendalls Tau", tauHint: "1: gleiche Folge, 0: ohne Zusammenhang, −1: umgekehrt", overlap: "Gleich in den ersten {k}", movedMost: "Am stärksten verschoben", nothingMoved: "Nichts hat sich verschoben.", originalRank: "Quelle", slopes: "{n} {n|Dokument|Dokumente}, je eine Linie, von Rangfolge zu Rangfolge", fewRankings: "Die Tabelle hat weniger als zwei Rangfolgen.", allRankings: "Rangfolgen als Tabelle", rankingPair: "{from} → {to}",
    evaluate: "Auswerten", runsHint: "Läufe von python -m eval im Ordner des Dienstes, die neuesten zuerst. Die Zahlen sind die ihrer Berichte.", runsOff: "Dieser Dienst zeigt keine Auswertungen. Setzen Sie RAG_SERVE__RUNS auf ihren Ordner (runs/, wohin python -m eval run sie legt), und starten Sie ihn neu.",
    noRuns: "Der Ordner enthält noch keine Läufe. Einen macht: python -m eval run data/questions.jsonl --out ORDNER/NAME", olderRuns: "{n} ältere Läufe sind nicht gezeigt.", runName: "Lauf", started: "Begonnen", questionsOf: "Fragen", noReport: "noch ohne Bericht", writeReport: "Zahlen und Bericht schreibt: python -m eval report ORDNER/{name}", stale: "nach seinem Bericht noch einmal bewertet", cannotShow: "Nicht darstellbar",
    report: "Bericht", reportOf: "Bericht von {name}", openReport: "Bericht von {name} öffnen", ownTab: "In einem eigenen Tab", historyOf: "Eine Metrik über die Läufe", metric: "Metrik", higherBetter: "Höher ist besser.", lowerBetter: "Niedriger ist besser.", mean: "Mittel", scored: "Bewertet", change: "Änderung", chartOf: "{metric} in {n} Läufen, von {first} bis {last}", oneRun: "Ein Lauf hat diese Fragen gestellt; ab dem zweiten ist ein Verlauf zu sehen.", sameQuestions: "{file}, {n} {n|Frage|Fragen}",
    writer: "Geschrieben von", quotes: "Zitate, ohne Sprachmodell", quotesOnly: "Antworten sind Zitate. Ein Modell anschließen: docs/models.md", answerMode: "Modus", modes: { single: "eine Suche", agent: "mehrere Suchen", auto: "je nach Frage" },
    feedback: "Ihr Urteil", verdicts: { good: "Gut", bad: "Schlecht", relevant: "Passt", irrelevant: "Passt nicht" },
    filterTitle: "Nach Titel oder Dateiname suchen", remove: "Löschen", removeAsk: "„{title}“ aus der Sammlung löschen? Es kommt mit dem nächsten Einlesen zurück, wenn seine Datei noch da ist.",
    removeUploaded: "„{title}“ aus der Sammlung löschen, und die hochgeladene Datei dazu?",
    removed: "„{title}“ ist gelöscht.", cancel: "Abbrechen", upload: "Dateien hochladen", dropHere: "oder hier ablegen", sending: "Wird gesendet",
    uploadFormat: "Dieses Format ist nicht lesbar.", coverage: "{read} von {files} Dateien gelesen; {skipped} {skipped|hat|haben} einen Typ, der nicht gelesen wird: {types}.", noSuffix: "ohne Endung", uploadSize: "Mit {size} überschreitet die Datei, was auf einmal geht, zusammen {most}.", formats: "Lesbare Formate",
    ingest: "Dateien des Servers einlesen", path: "Datei oder Ordner auf dem Server", start: "Beginnen",
    emptyCorpus: "Die Sammlung {corpus} enthält noch keine Dokumente. Laden Sie Dateien hoch, dann fragen Sie danach.", emptyClosed: "Die Sammlung {corpus} enthält noch keine Dokumente, und dieser Dienst nimmt von der Seite aus keine an.", goOn: "Danach fragen",
    allCorpora: "Alle", someCorpora: "Mehrere …", oneCorpus: "Diese Ansicht zeigt eine Sammlung. Wählen Sie sie:",
    newCorpus: "Neue Sammlung …", corpusName: "Name der neuen Sammlung", corpusNameHint: "In der API heißt sie {slug}.", renameCorpus: "Sammlung umbenennen", dropCorpus: "Sammlung löschen", dropAsk: "Die Sammlung {corpus} mit {n} {n|Dokument|Dokumenten} und den hochgeladenen Dateien löschen? Eingelesene Ordner bleiben, wo sie sind.",
    ingestReading: "{state}: wird gelesen", ingestRunning: "{state}: {share} %, {documents} {documents|Dokument|Dokumente}", ingestDone: "{new} neu, {changed} geändert, {unchanged} unverändert, {failed} fehlgeschlagen",
    fates: { refused: "Nicht angenommen", failed: "Fehlgeschlagen", skipped: "Übersprungen", left_out: "Weggelassen" },
    health: "Zustand der Sammlung", newest: "zuletzt eingelesen", unread: "{n} {n|Datei war|Dateien waren} nicht ganz lesbar", readAgain: "Noch einmal versuchen", notAllRead: "nicht ganz gelesen",
    title: "Titel", added: "Eingelesen", noDocuments: "Diese Sammlung enthält noch keine Dokumente.",
    holds: "{n} {n|Dokument|Dokumente}{about}: {titles}", aboutTopics: " über {topics}", tick: "Dieses befragen", askOnly: "Nur diese befragen ({n})", untick: "Keins auswählen", asksOnly: "Nur befragt: {titles}.", askAll: "Alle befragen", andMore: "{titles} und andere", sample: "Beispiel laden", presets: ["Welche Dokumente gibt es?", "Wie viele Dokumente gibt es?"],
    keys: [["/", "zur Frage"], ["j, k", "nächste und vorige Quelle"], ["Esc", "schließen oder die Antwort anhalten"], ["Alt ↑, Alt ↓", "einen Schritt einer Pipeline verschieben"], ["?", "diese Tasten zeigen"]],
    errors: {
      unreachable: "Der Dienst antwortet nicht. Prüfen Sie, ob er läuft.", cut: "Die Verbindung brach ab, bevor die Antwort vollständig war.",
      too_many_questions: "Der Dienst beantwortet gerade andere Fragen. Fragen Sie gleich noch einmal.", out_of_time: "Die Antwort brauchte zu lange. Fragen Sie kürzer oder später.",
      corpus_busy: "In diese Sammlung wird gerade eingelesen. Warten Sie, bis das fertig ist.", too_many_corpora: "Die Sammlung ist in Gebrauch. Versuchen Sie es gleich noch einmal.",
      corpus_locked: "Ein anderes Programm hält diese Sammlung.", unknown_corpus: "Diese Sammlung gibt es nicht mehr. Laden Sie die Seite neu.", unknown_document: "Dieses Dokument gibt es nicht mehr.",
      key_scope: "Ihr Schlüssel erlaubt das nicht.", key_needed: "Dafür braucht es einen Schlüssel. Melden Sie sich an.", internal: "Etwas Unvorhergesehenes ist schiefgegangen. Mehr steht im Protokoll des Dienstes.",
    },
    states: { queued: "Wartet", running: "Läuft", done: "Fertig", failed: "Fehlgeschlagen", cancelled: "Abgebrochen" },
  },
};

const preferred = (navigator.language || "en").startsWith("de") ? "de" : "en";
let current = recall("language", preferred) in TEXTS ? recall("language", preferred) : "en";
document.documentElement.lang = current;

export function t(name, values = {}) {
  const found = TEXTS[current][name];
  if (typeof found !== "string") return found;
  return found.replace(/\{(\w+)\|([^|]*)\|([^}]*)\}/g, (_, key, one, many) => (String(values[key]) === "1" ? one : many))
    .replace(/\{(\w+)\}/g, (whole, key) => values[key] ?? whole);
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
  return `${ms < 100 ? "< " : ""}${new Intl.NumberFormat(current, { maximumFractionDigits: 1 }).format(Math.max(ms, 100) / 1000)} s`;
}

export function size(bytes) {
  const power = bytes < 1e6 ? ["kB", 1e3] : bytes < 1e9 ? ["MB", 1e6] : ["GB", 1e9];
  return `${new Intl.NumberFormat(current, { maximumFractionDigits: 1 }).format(bytes / power[1])} ${power[0]}`;
}
