"""Ask and score a file of questions, by the arguments of bedrock-rag-eval's `run_eval.py`.

    python scripts/run_eval.py --dataset data/eval/eval_dataset.jsonl --api-url http://localhost:8000 --require-llm

Flow: these arguments -> **here** -> `python -m eval run`, whose further options may be given. The report goes to
`reports` unless `--output-dir` names another folder.
"""

import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

if __name__ == "__main__":
    # The last one counts.
    sys.exit(import_module("eval.__main__").main(["run", "--output-dir", "reports", *sys.argv[1:]]))
