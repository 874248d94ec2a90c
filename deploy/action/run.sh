#!/bin/sh
# Ask questions about a folder of documents, and compare the answers with a baseline that `python -m eval baseline` kept.
#
#   CASES=questions.jsonl BASELINE=baselines/mine CORPUS=documents OUT=folder [THRESHOLD=0.03] [FAIL_ON="..."] run.sh
#
# OUT gets the index, the run, compare.md and gate.xml (JUnit). Exit codes: 0 as good, 1 worse or not to be told, or a
# question without a reply. Documents are always ingested again, because they may have changed too.
set -eu

PYTHON=${PYTHON:-$(dirname "$0")/../../.venv/bin/python}
export RAG_INDEX__DIR="$OUT/index" RAG_INDEX__CHROMA_URL= RAG_INDEX__DATABASE_URL=

"$PYTHON" -m ingestion "$CORPUS" --corpus gate
"$PYTHON" -m eval run "$CASES" --corpus gate --out "$OUT/run"

set --
for metric in ${FAIL_ON:-replied word_recall citation_precision declined}; do
    set -- "$@" --fail-on "$metric"
done
status=0
"$PYTHON" -m eval compare "$BASELINE" "$OUT/run" --min-difference "${THRESHOLD:-0.03}" --junit "$OUT/gate.xml" "$@" \
    >"$OUT/compare.md" || status=$?
cat "$OUT/compare.md"
exit $status
