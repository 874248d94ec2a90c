"""Keep the rows of one run, begin it with the first reply, and refuse what does not belong to it.

Flow: `asking.py` -> **here** -> `run_folder.py`. A run is of one system: other questions, settings, models or documents
make another run, also in the middle of one.
"""

from collections.abc import Sequence

from eval.asking.target import Facts, NoReplyError
from eval.cases import Case
from eval.rows import Row
from eval.run_folder import CASES, LOCK, Header, RunFolder, RunFolderError
from eval.tables import flat

CHANGES_SHOWN = 4


class Keeper:
    """Appends rows. Blocks; one call at a time, below the folder's lock.

    The header tells the fingerprint of the first reply, so the run begins with that; rows that failed before it wait.

    Args:
        folder: may hold a run, which is then gone on with.
        draft: what the run is of, as far as it is known without a reply.
        cases: all that the run is to ask.
    """

    def __init__(self, folder: RunFolder, draft: Header, cases: Sequence[Case]) -> None:
        self._folder = folder
        self._cases = tuple(cases)
        self._draft = draft
        self._header = folder.header() if folder.exists() else None
        self._early: list[Row] = []

    def keep(self, row: Row) -> None:
        """Keep a row.

        Raises:
            RunFolderError: its fingerprint is not the run's, or it cannot be written.
        """
        try:
            if self._header is not None:
                self.check(row)
                self._folder.append_row(row)
                return
            self._early.append(row)
            if row.outcome != "failed":
                self._header = self._draft.model_copy(update={"fingerprint": row.fingerprint})
                self._folder.create(self._header, self._cases)
                for early in self._early:
                    self._folder.append_row(early)
        except OSError as error:
            raise RunFolderError(
                f"{self._folder.path} cannot be written: {error.strerror or error}.",
                "Mend that, e.g. make room on the disk; then the same command goes on.",
            ) from error

    def check(self, row: Row) -> None:
        """Check that a row is of the system that the run is of.

        Raises:
            RunFolderError: its fingerprint is another one.
        """
        known = self._header.fingerprint if self._header else row.fingerprint
        if row.outcome != "failed" and row.fingerprint != known:
            raise RunFolderError(
                f"The replies in {self._folder.path} have the fingerprint {known or '(none)'}, this one has "
                f"{row.fingerprint or '(none)'}: settings, models or documents changed since the run began.",
                "Change them back and go on with the same command, or begin another run: --out FOLDER.",
            )

    def check_begun(self) -> None:
        """Check that anything was kept.

        Raises:
            NoReplyError: no question got a reply, so that there is no run.
        """
        if self._header is None:
            why = self._early[-1].reason if self._early else "there was none to ask."
            raise NoReplyError(f"No question got a reply, the last one because: {why}", "Nothing was kept.")


def check_place(folder: RunFolder) -> None:
    """Check that a run can be kept here.

    Raises:
        RunFolderError: there is a file, or a folder with something else in it.
    """
    path, remedy = folder.path, "Name a folder that does not exist yet: --out FOLDER."
    if path.exists() and not path.is_dir():
        raise RunFolderError(f"{path} is a file.", remedy)
    names = sorted(one.name for one in path.iterdir()) if path.exists() and not folder.exists() else []
    if strange := [name for name in names if name not in {LOCK, CASES} and not name.endswith(".part")]:
        raise RunFolderError(f"{path} holds no run, but other things ({', '.join(strange[:3])}).", remedy)


def check_questions(folder: RunFolder, draft: Header, cases: Sequence[Case]) -> None:
    """Check that a run is of these questions and this target, before models are loaded.

    Raises:
        RunFolderError: it is of others.
    """
    header, known = folder.header(), [case.id for case in folder.cases()]
    changed = []
    if header.questions_sha256 != draft.questions_sha256:
        changed.append(f"the questions of {header.questions} were others than those of {draft.questions} are")
    elif known != [case.id for case in cases]:
        now = f"now other {len(cases)} are to be asked (--limit, --split)"
        changed.append(f"it asks {len(known)} of the questions, and {now}")
    if header.target != draft.target:
        changed.append(f"it asked {header.target}, and now {draft.target} is to be asked")
    _refuse(folder, changed)


def check_facts(folder: RunFolder, facts: Facts) -> None:
    """Check that a run is of the system as it is now.

    Raises:
        RunFolderError: settings, versions or documents are others.
    """
    header = folder.header()
    before, now = (
        dict(flat({"corpus": one.corpus, **one.settings, "versions": one.versions})) for one in (header, facts)
    )
    names = dict.fromkeys([*before, *now])
    changed = [
        f"{name} was {before.get(name)} and is {now.get(name)}" for name in names if before.get(name) != now.get(name)
    ]
    if not changed and facts.fingerprint and header.fingerprint != facts.fingerprint:
        changed.append(f"fingerprint was {header.fingerprint} and is {facts.fingerprint}")
    _refuse(folder, changed)


def _refuse(folder: RunFolder, changed: Sequence[str]) -> None:
    if changed:
        more = f"; and {len(changed) - CHANGES_SHOWN} more" if len(changed) > CHANGES_SHOWN else ""
        raise RunFolderError(
            f"{folder.path} holds a run of something else: {'; '.join(changed[:CHANGES_SHOWN])}{more}.",
            "Change that back to go on with it, or begin another run: --out FOLDER.",
        )
