#!/usr/bin/env bash
# Ask a running service a question, and show the answer with its passages; fails if nothing was found.
#
# Usage: scripts/smoke_query.sh [QUESTION]. BASE_URL (http://localhost:8000) and API_KEY say which service.
set -euo pipefail

body=$(python3 -c 'import json, sys; print(json.dumps({"question": sys.argv[1], "top_k": 4, "include_context": True}))' "${1:-What is a heat pump?}")
curl --silent --show-error --fail-with-body --header 'Content-Type: application/json' \
    --header "Authorization: Bearer ${API_KEY:-}" --data "$body" "${BASE_URL:-http://localhost:8000}/query" \
    | python3 -c 'import json, sys; reply = json.load(sys.stdin); print(json.dumps(reply, indent=2)); sys.exit(not reply.get("retrieved"))'
