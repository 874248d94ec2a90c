"""Ask every question, several at a time and each until a reply comes, and keep each row at once.

Flow: cases + a target -> **here** -> the run's folder. The order of the rows is that of the replies. A question
without a reply becomes a failed row with the reason. A run belongs to one system: if questions, settings, models or
documents change, even in the middle of a run, it is refused here.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from errors import RagError
from eval.asking.target import QUOTING, NoReplyError, Target
from eval.cases import Case
from eval.rows import Row
from eval.run_folder import CASES, LOCK, Header, RunFolder, RunFolderError
from eval.tables import flat

OUTAGE_CALLS = 5
FIRST_REPLIES = 5
CHANGES_SHOWN = 4


class OutageError(RagError):
    """Several questions in a row got no reply."""

    code = "outage"


class Asked(NamedTuple):
    """The row of one question; `refused`: it failed because this very question is not taken."""

    row: Row
    refused: bool = False


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long one call may take, and how often it is made.

    Attributes:
        pause_s: before the second call; doubled before each further one.
        max_pause_s: no pause is longer, even if the service asks for it.
    """

    timeout_s: float = 300
    attempts: int = 3
    pause_s: float = 1
    max_pause_s: float = 60
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def ask(self, target: Target, case: Case) -> Asked:
        """Return a row; a failed one has the last reason, and the seconds of the last call."""
        attempt = 0
        while True:
            started, asked_at = time.perf_counter(), time.time()
            try:
                async with asyncio.timeout(self.timeout_s):
                    return Asked((await target.ask(case)).model_copy(update={"asked_at": asked_at}))
            except TimeoutError:
                failure = NoReplyError(f"There was no reply within {self.timeout_s:g} s.", "Raise --timeout-s.")
            except NoReplyError as error:
                failure = error
            seconds, attempt = time.perf_counter() - started, attempt + 1
            if failure.lasting or attempt >= self.attempts:
                row = Row(id=case.id, outcome="failed", answer=None, reason=str(failure), seconds=seconds)
                return Asked(row, failure.refused)
            pause_s = max(self.pause_s * 2 ** (attempt - 1), failure.retry_after_s)
            await self.sleep(min(pause_s, self.max_pause_s))


class Keeper:
    """Appends rows. Blocks; one call at a time, below the folder's lock.

    The header records the fingerprint of the first reply, so the run begins with it; rows that failed before it wait.

    Args:
        folder: may hold a run, which is then continued.
        draft: what the run is of, as far as it is known without a reply.
        cases: all that the run is to ask.
    """

    def __init__(self, folder: RunFolder, draft: Header, cases: Sequence[Case]) -> None:
        self._folder, self._draft, self._cases = folder, draft, tuple(cases)
        self._header = folder.header() if folder.exists() else None
        self._waiting: list[Row] = []

    def keep(self, row: Row) -> None:
        """Keep a row; raise RunFolderError if its fingerprint is not the run's, or it cannot be written."""
        self.check(row)
        self._waiting.append(row)
        try:
            if self._header is None and row.outcome != "failed":
                self._header = self._draft.model_copy(update={"fingerprint": row.fingerprint})
                self._folder.create(self._header, self._cases)
            if self._header is not None:
                for one in self._waiting:
                    self._folder.append_row(one)
                self._waiting.clear()
        except OSError as error:
            raise RunFolderError(
                f"{self._folder.path} cannot be written: {error.strerror or error}.",
                "Mend that, e.g. make room on the disk; then the same command goes on.",
            ) from error

    def check(self, row: Row) -> None:
        """Raise RunFolderError if a row is of another system than the run."""
        known = self._header.fingerprint if self._header else row.fingerprint
        if row.outcome != "failed" and row.fingerprint != known:
            raise RunFolderError(
                f"The replies in {self._folder.path} have the fingerprint {known or '(none)'}, this one has "
                f"{row.fingerprint or '(none)'}: settings, models or documents changed since the run began.",
                "Change them back and go on with the same command, or begin another run: --out FOLDER.",
            )

    def check_begun(self) -> None:
        """Raise NoReplyError if no question got a reply and the run therefore does not exist."""
        if self._header is None:
            why = self._waiting[-1].reason if self._waiting else "there was none to ask."
            raise NoReplyError(f"No question got a reply, the last one because: {why}", "Nothing was kept.")


async def ask_all(
    cases: Sequence[Case],
    target: Target,
    keeper: Keeper,
    retry_policy: RetryPolicy,
    *,
    concurrency: int,
    tell: Callable[[Row], None],
) -> None:
    """Ask the questions in their order, `concurrency` of them at a time; keep each row, then `tell` it.

    Raises:
        OutageError: `OUTAGE_CALLS` questions in a row got no reply; what was refused does not count.
        RunFolderError: the replies are no longer those of the system that the run is of.
    """
    waiting, lock, in_a_row = iter(cases), asyncio.Lock(), 0

    async def work() -> None:
        nonlocal in_a_row
        for case in waiting:  # shared: each worker takes the next one
            asked = await retry_policy.ask(target, case)
            async with lock:
                await asyncio.to_thread(keeper.keep, asked.row)
                tell(asked.row)
                if asked.row.outcome != "failed":
                    in_a_row = 0
                elif not asked.refused:
                    in_a_row += 1
                if in_a_row >= OUTAGE_CALLS:
                    raise OutageError(
                        f"{in_a_row} questions in a row got no reply, the last one because: {asked.row.reason}",
                        "Once that is fixed, the same command continues where this one stopped.",
                    )

    try:
        async with asyncio.TaskGroup() as workers:
            for _ in range(concurrency):
                workers.create_task(work())
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None  # the others were cancelled for it


class FirstReplies:
    """Watches the first replies for a run that is not worth its time; `provider` is set to write, if that is known."""

    def __init__(self, provider: str | None = None) -> None:
        self._left = FIRST_REPLIES
        self._model = provider if provider != QUOTING else None

    def add(self, case: Case, row: Row) -> list[str]:
        """Return what a row warns of; the same is said once."""
        said = []
        if self._left and row.outcome != "failed" and not case.unanswerable:
            self._left = self._left - 1 if row.outcome == "declined" else 0
            if row.outcome == "declined" and not self._left:
                said.append(
                    f"The first {FIRST_REPLIES} questions were all declined (the last one with: "
                    f"{(row.answer or '')[:100]!r}). Is it the right corpus, and was all of it ingested?"
                )
        if self._model and row.outcome == "answered":
            model, self._model = self._model, None
            if row.synthesizer == QUOTING:
                why = "".join(f" {warning}" for warning in row.warnings if warning.startswith("llm"))
                said.append(
                    f"The first answer is quotes, not written by {model!r}.{why} --require-llm makes that a failure."
                )
        return said


def check_place(folder: RunFolder) -> None:
    """Raise RunFolderError if there is a file, or a folder with something other than a run in it."""
    path, remedy = folder.path, "Name a folder that does not exist yet: --out FOLDER."
    if path.exists() and not path.is_dir():
        raise RunFolderError(f"{path} is a file.", remedy)
    names = sorted(one.name for one in path.iterdir()) if path.exists() and not folder.exists() else []
    if strange := [name for name in names if name not in {LOCK, CASES} and not name.endswith(".part")]:
        raise RunFolderError(f"{path} holds no run, but other things ({', '.join(strange[:3])}).", remedy)


def check_questions(folder: RunFolder, draft: Header, cases: Sequence[Case]) -> None:
    """Raise RunFolderError if a run is of other questions or another target; asked before models are loaded."""
    header, known = folder.header(), [case.id for case in folder.cases()]
    changed = []
    if header.questions_sha256 != draft.questions_sha256:
        changed.append(f"the questions of {header.questions} were others than those of {draft.questions} are")
    elif known != [case.id for case in cases]:
        now = f"now another selection of {len(cases)} is chosen (--limit, --split)"
        changed.append(f"it asks {len(known)} of the questions, and {now}")
    if header.target != draft.target:
        changed.append(f"it asked {header.target}, and now {draft.target} is named")
    _refuse(folder, changed)


def check_system(folder: RunFolder, now: Header) -> None:
    """Raise RunFolderError if settings, versions or documents are not what they were when the run began."""
    header = folder.header()
    known = ({"corpus": one.corpus, **one.settings, "versions": one.versions} for one in (header, now))
    before, after = (dict(flat(values)) for values in known)
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    changed = [f"{name} was {before.get(name)} and is {after.get(name)}" for name in names]
    if not changed and now.fingerprint and header.fingerprint != now.fingerprint:
        changed.append(f"fingerprint was {header.fingerprint} and is {now.fingerprint}")
    _refuse(folder, changed)


def _refuse(folder: RunFolder, changed: Sequence[str]) -> None:
    if changed:
        more = f"; and {len(changed) - CHANGES_SHOWN} more" if len(changed) > CHANGES_SHOWN else ""
        raise RunFolderError(
            f"{folder.path} holds a run of something else: {'; '.join(changed[:CHANGES_SHOWN])}{more}.",
            "Change that back to go on with it, or begin another run: --out FOLDER.",
        )
