#!/usr/bin/env bash
# Have a running service ingest a folder, and show what it did; fails if no document can be read.
#
# Usage: scripts/smoke_ingest.sh [PATH]. BASE_URL (http://localhost:8000) and API_KEY say which service.
set -euo pipefail

body=$(python3 -c 'import json, sys; print(json.dumps({"path": sys.argv[1], "wait": True}))' "${1:-data/corpus}")
curl --silent --show-error --fail-with-body --header 'Content-Type: application/json' \
    --header "Authorization: Bearer ${API_KEY:-}" --data "$body" "${BASE_URL:-http://localhost:8000}/ingest" \
    | python3 -c 'import json, sys; reply = json.load(sys.stdin); print(json.dumps(reply, indent=2)); sys.exit(not reply.get("docs_ok"))'
