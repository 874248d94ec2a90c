#!/usr/bin/env bash
# Have a running service research a topic, and show the report; fails if it has no findings.
#
# Usage: scripts/smoke_agent_research.sh [TOPIC]. BASE_URL (http://localhost:8000) and API_KEY say which service.
set -euo pipefail

body=$(python3 -c 'import json, sys; print(json.dumps({"topic": sys.argv[1], "max_subquestions": 3, "include_context": True}))' "${1:-heat pumps}")
curl --silent --show-error --fail-with-body --header 'Content-Type: application/json' \
    --header "Authorization: Bearer ${API_KEY:-}" --data "$body" "${BASE_URL:-http://localhost:8000}/agent/research" \
    | python3 -c 'import json, sys; reply = json.load(sys.stdin); print(json.dumps(reply, indent=2)); sys.exit(not reply.get("findings"))'
