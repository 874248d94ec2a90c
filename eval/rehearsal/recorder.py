"""Ask by one of the competition's routes, keep what each reply shows beside its answer, and make a table of it.

Flow: `asking/asking.py` -> **here** -> `contract/exchange.py` asks; its rules judge each reply, `asking/`'s readers
take the answer from it, liberally. Nothing is asked twice: the arena does not either.

A reply is reduced at once, since a hundred streams of snapshots are larger than memory likes. What the ranking would
see of all of them is one table, with a column for each route.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.asking.replies import StreamReply, read_reply
from eval.asking.target import NoReplyError
from eval.cases import Case
from eval.cells import means
from eval.contract.exchange import Exchange, Reply
from eval.contract.rules import EVALUATE_RULES, LIMIT_S, RUN_RULES, SEPARATOR, Verdict
from eval.rows import Row
from eval.run_folder import RunFolder
from eval.scoring.catalogue import METRICS
from eval.scoring.judge_option import FAMILIES
from eval.tables import ABSENT, aligned, figure, quantile, spread

SCORES = {"rouge_l": "ROUGE-L", "bert_score_f1": "BERTScore, F1"} | {
    metric.name: f"judge: {metric.name}" for metric in METRICS.values() if metric.family in {*FAMILIES, "deepeval"}
}


@dataclass(frozen=True, slots=True)
class Observed:
    """What one reply shows.

    Attributes:
        seconds: from the request to the end of the reply.
        size_bytes: of the body.
        verdicts: on each rule of the route.
        failure: why there is no reply, or none that can be read; None if there is one.
        empty: the status is 200, and no answer can be read.
        first_record_s: from the request to the first line that is not a ping; None if there was none.
        step_chars: length of each intermediate step; empty for `/evaluate`.
        late_steps: steps came after the answer had begun.
    """

    seconds: float
    size_bytes: int
    verdicts: list[Verdict]
    failure: str | None
    empty: bool
    first_record_s: float | None
    step_chars: list[int]
    late_steps: bool

    @property
    def late(self) -> bool:
        """Whether it took longer than is allowed."""
        return self.seconds > LIMIT_S

    @property
    def breaks(self) -> bool:
        """Whether it breaks a rule."""
        return any(verdict.state == "FAIL" for verdict in self.verdicts)


class Recorder:
    """One route of a service; it can be asked as an `asking.target.Target`.

    Attributes:
        route: `/run` or `/evaluate`.
        folder: of the run that is made of its replies.
        observed: by the case's id, what its reply shows.
    """

    def __init__(self, exchange: Exchange, route: str, out: Path) -> None:
        self._exchange = exchange
        self.route = route
        self.folder = RunFolder(out / route.strip("/"))
        self.observed: dict[str, Observed] = {}

    async def ask(self, case: Case) -> Row:
        """Ask once; raise NoReplyError if no reply came, or it holds no answer."""
        stream = self.route == "/run"
        body = {"question": case.question} if stream else {"query": case.question, "iid": case.id}
        reply, read = await self._exchange.post(self.route, body), StreamReply()
        answer = failure = None
        try:
            row = _row(reply, case.id, read if stream else None)
            answer = row.answer
        except NoReplyError as error:
            failure = error.fact
            # A service that replies is up, however bad its replies are: they are counted, and the course goes on.
            raise NoReplyError(error.fact, error.remedy, refused=0 < reply.status < 500) from error
        finally:
            steps = [step.strip() for step in read.steps.split(SEPARATOR)]
            self.observed[case.id] = Observed(
                seconds=reply.seconds,
                size_bytes=len(reply.body),
                verdicts=(RUN_RULES if stream else EVALUATE_RULES).judge([reply]),
                failure=failure,
                empty=reply.status == 200 and not (answer or "").strip(),
                first_record_s=reply.first_record_s if stream else None,
                step_chars=[len(step) for step in steps if step],
                late_steps=read.late_steps,
            )
        return row


def _row(reply: Reply, case_id: str, stream: StreamReply | None) -> Row:
    if reply.status != 200:
        raise NoReplyError(reply.outcome(), "Start the service, or mend it.")
    if stream is None:
        return read_reply(reply.body, case_id, reply.seconds)
    for line in reply.lines:
        stream.take(line.text.decode(errors="replace"))
    return stream.row(case_id, reply.seconds, reply.first_record_s)


def table(recorders: Sequence[Recorder], questions: int) -> str:
    """Return the table, with a column for each route that was to be asked so many questions."""
    figures, scores = [_figures(one, questions) for one in recorders], [_scores(one) for one in recorders]
    lines = [[name, *(column[name] for column in figures)] for name in figures[0]]
    known = [name for name in SCORES if any(name in column for column in scores)]
    lines += [[SCORES[name], *(column.get(name, ABSENT) for column in scores)] for name in known]
    return aligned(["", *(one.route for one in recorders)], lines, left={0})


def failures(recorders: Sequence[Recorder], questions: int) -> Iterator[str]:
    """Yield why replies are missing, the most frequent reason first."""
    for one in recorders:
        reasons = Counter(seen.failure for seen in one.observed.values() if seen.failure)
        for reason, count in reasons.most_common():
            yield f"- {one.route}, {count} of {questions}: {reason}"


def _figures(recorder: Recorder, questions: int) -> dict[str, str]:
    """Return the lines of the table: what a figure is of, and how it is spelt."""
    seen = list(recorder.observed.values())
    outcomes = Counter(row.outcome for row in recorder.folder.rows().values())
    seconds, first_s = [one.seconds for one in seen], [one.first_record_s for one in seen if one.first_record_s]
    size_kib, steps = [one.size_bytes / 1024 for one in seen], [len(one.step_chars) for one in seen]

    def at(share: float, values: Sequence[float], digits: int = 2) -> str:
        return figure(quantile(values, share) if values else None, digits)

    return {
        "questions asked": f"{len(seen)} of {questions}",
        "answered": str(outcomes["answered"]),
        "say that they do not know": str(outcomes["declined"]),
        "empty answers": str(sum(one.empty for one in seen)),
        "errors, no reply": str(sum(bool(one.failure) and not one.empty for one in seen)),
        "replies that break the contract": str(sum(one.breaks for one in seen)),
        f"later than {LIMIT_S} s": str(sum(one.late for one in seen)),
        "whole answer, p50, s": at(0.5, seconds),
        "whole answer, p95, s": at(0.95, seconds),
        "whole answer, slowest, s": at(1, seconds),
        "first record, p50, s": at(0.5, first_s),
        "first record, p95, s": at(0.95, first_s),
        "steps of an answer": spread(steps if any(steps) else [], 0),
        "characters of a step": spread([chars for one in seen for chars in one.step_chars], 0),
        "streams with steps after the answer": str(sum(one.late_steps for one in seen)),
        "on the wire, p50, KiB": at(0.5, size_kib, 1),
        "on the wire, largest, KiB": at(1, size_kib, 1),
    }


def _scores(recorder: Recorder) -> dict[str, str]:
    """Return what the scores spell, by metric; those that apply to no row are left out."""
    cells = recorder.folder.cells().values()
    found = means(cells, {name for row in cells for name in row} & SCORES.keys())
    partial = {name: f" ({mean.n}/{mean.of})" if 0 < mean.n < mean.of else "" for name, mean in found.items()}
    return {name: figure(mean.value, 3) + partial[name] for name, mean in found.items() if mean.of}
