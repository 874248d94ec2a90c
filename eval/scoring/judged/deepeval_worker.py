"""DeepEval in a separate process and environment: it and the service need different versions of click.

Flow: `deepeval_metrics.py` -> JSON lines on stdin -> **here** -> DeepEval's metrics -> JSON lines on stdout. Every
question to the judge goes back through those lines, so that cache, limits and counts are the same as everywhere.
Nothing of Treeline is imported, and no connection can be made from here.

    in:   {"score": 1, "metric": "deepeval_faithfulness", "case": {...}}    {"reply": 7, "text": "..."}
          {"reply": 8, "failed": true}
    out:  {"ready": "4.3.1"} or {"broken": "why"}    {"ask": 7, "of": 1, "prompt": "...", "schema": {...}}
          {"done": 1, "score": 0.5} or {"done": 1, "failed": "why"}
"""

import itertools
import json
import os
import socket
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, NoReturn

Message = dict[str, Any]


class Wire:
    """The lines to and from Treeline; many threads write and wait."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)  # library output must not get between the lines
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, SimpleQueue[Message]] = {}

    def send(self, message: Message) -> None:
        """Write one line."""
        with self._lock:
            self._out.write(json.dumps(message) + "\n")
            self._out.flush()

    def ask(self, of: int, prompt: str, schema: Message) -> str:
        """Have the judge asked for the score `of`, and wait for its reply."""
        replies: SimpleQueue[Message] = SimpleQueue()
        number = next(self._numbers)
        self._waiting[number] = replies
        self.send({"ask": number, "of": of, "prompt": prompt, "schema": schema})
        reply = replies.get()
        if "text" not in reply:
            raise RuntimeError("the judge gave no judgement")
        return str(reply["text"])

    def hand_over(self, reply: Message) -> None:
        """Give a reply to the thread that waits for it."""
        self._waiting.pop(reply["reply"]).put(reply)


def main() -> None:
    """Score what comes in until stdin ends."""
    wire = Wire()
    socket.socket.connect = socket.getaddrinfo = _refuse  # type: ignore[method-assign]
    try:
        score, version = _load(wire)
    except Exception as error:  # noqa: BLE001  # any failure is reported to Treeline
        wire.send({"broken": f"{type(error).__name__}: {error}"})
        return
    wire.send({"ready": version})
    for line in sys.stdin:
        message = json.loads(line)
        if "reply" in message:
            wire.hand_over(message)
        else:
            threading.Thread(target=score, args=(message,), daemon=True).start()


def _load(wire: Wire) -> tuple[Callable[[Message], None], str]:
    """Return what scores one cell, and DeepEval's version."""
    import deepeval  # noqa: PLC0415  # may be missing
    from deepeval import metrics, models, test_case  # noqa: PLC0415

    class Judge(models.DeepEvalBaseLLM):  # type: ignore[misc]
        """Treeline's judge, as DeepEval wants to call it."""

        def __init__(self, of: int) -> None:
            self._of = of
            super().__init__("judge")

        def load_model(self) -> "Judge":
            return self

        def get_model_name(self) -> str:
            return "judge"

        def generate(self, prompt: str, schema: Any) -> Any:
            return schema.model_validate_json(wire.ask(self._of, prompt, schema.model_json_schema()))

        async def a_generate(self, prompt: str, schema: Any) -> Any:
            return self.generate(prompt, schema)

    by_name = {
        "deepeval_faithfulness": metrics.FaithfulnessMetric,
        "deepeval_answer_relevancy": metrics.AnswerRelevancyMetric,
        "deepeval_contextual_precision": metrics.ContextualPrecisionMetric,
        "deepeval_contextual_recall": metrics.ContextualRecallMetric,
    }

    def score(message: Message) -> None:
        number = message["score"]
        try:
            # Sequential, and without the sentence that explains the score: it would be paid for and thrown away.
            metric = by_name[message["metric"]](model=Judge(number), async_mode=False, include_reason=False)
            value = metric.measure(test_case.LLMTestCase(**message["case"]), _show_indicator=False)
            wire.send({"done": number, "score": float(value)})
        except Exception as error:  # noqa: BLE001  # any failure belongs to this cell alone
            wire.send({"done": number, "failed": f"{type(error).__name__}: {error}"})

    return score, str(deepeval.__version__)


def _refuse(*_: object, **__: object) -> NoReturn:
    raise OSError("no connection is made from here")


if __name__ == "__main__":
    main()
