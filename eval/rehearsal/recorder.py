"""Ask by one of the competition's routes, and keep what each reply shows beside its answer.

Flow: `asking/asking.py` -> **here** -> `contract/exchange.py` asks; its rules judge each reply, `asking/`'s readers
take the answer from it, liberally. Nothing is asked twice: the arena does not either.

A reply is reduced at once, since a hundred streams of snapshots are larger than memory likes.
"""

from dataclasses import dataclass
from pathlib import Path

from eval.asking.replies import StreamReply, read_reply
from eval.asking.target import NoReplyError
from eval.cases import Case
from eval.contract.exchange import Exchange, Reply
from eval.contract.rules import EVALUATE_RULES, LIMIT_S, RUN_RULES, SEPARATOR, Verdict
from eval.rows import Row
from eval.run_folder import RunFolder


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
        """Ask once.

        Raises:
            NoReplyError: there is no reply, or no answer in it.
        """
        stream = self.route == "/run"
        body = {"question": case.question} if stream else {"query": case.question, "iid": case.id}
        reply, read = await self._exchange.post(self.route, body), StreamReply()
        answer = failure = None
        try:
            row = _row(reply, case.id, read if stream else None)
            answer = row.answer
        except NoReplyError as error:
            failure = error.fact
            # Who replies is up, however bad the replies are: they are counted, and the course goes on.
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
