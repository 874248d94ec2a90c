"""Show drafted questions one by one in the terminal: a person keeps, edits or drops each.

Flow: a file of drafts -> **here** -> the same file, rewritten after each key: a stopped review goes on with what is
not reviewed yet, and the file can be asked at any time.
"""

from collections.abc import Callable
from pathlib import Path

from eval.cases import Nugget, Text, case_lines
from eval.drafting.draft import Draft
from eval.nuggets import recalls
from eval.questions.files import read_cases
from eval.run_folder import replace_file

KEYS = "[k]eep, [e]dit, [d]rop, [q]uit"
BETWEEN = " | "


def review(path: Path, ask: Callable[[str], str], show: Callable[[str], object]) -> None:
    """Ask about each question that nobody has reviewed, until all are or the person leaves.

    Args:
        path: of the drafts.
        ask: shows a prompt and returns the line that was typed; raises EOFError at the end of the input.
        show: prints a text.

    Raises:
        BadCasesError: the file holds no drafts.
    """
    drafts = list(read_cases(path, Draft))
    waiting = [draft for draft in drafts if not draft.reviewed]
    for number, draft in enumerate(waiting, start=1):
        show(f"\n{number} of {len(waiting)}\n{described(draft)}")
        try:
            decided = _decided(draft, ask, show)
        except EOFError:
            break
        place = drafts.index(draft)
        drafts[place : place + 1] = [decided] if decided else []
        write(path, drafts)
    left = sum(not draft.reviewed for draft in drafts)
    show(f"\n{path}: {len(drafts) - left} questions reviewed and kept, {left} not reviewed yet.")


def write(path: Path, drafts: list[Draft]) -> None:
    """Write the drafts, one a line; the file is there whole or as it was."""
    replace_file(path, case_lines(drafts))


def described(draft: Draft) -> str:
    """Return a draft as a person judges it."""
    facts = [f"{'vital' if one.vital else 'okay '} {one.text}: {BETWEEN.join(one.any)}" for one in draft.nuggets]
    regions = [text for context in draft.reference_contexts for text in ("", context)]
    head = f"{draft.category}, by {draft.drafted_by or 'a person'}, from {draft.source or '-'}"
    answer = "(the corpus does not answer it)" if draft.unanswerable else draft.answer or "(unknown)"
    return "\n".join((head, f"question: {draft.question}", f"answer:   {answer}", *facts, *regions, ""))


def _decided(draft: Draft, ask: Callable[[str], str], show: Callable[[str], object]) -> Draft | None:
    """Return the draft as it is kept; None drops it. Raises EOFError to leave."""
    while True:
        match ask(f"{KEYS}: ").strip().lower()[:1]:
            case "k":
                return draft.model_copy(update={"reviewed": True})
            case "d":
                return None
            case "q":
                raise EOFError
            case "e":
                draft = _edited(draft, ask, show)
                show(described(draft))


def _edited(draft: Draft, ask: Callable[[str], str], show: Callable[[str], object]) -> Draft:
    """Ask for each part; an empty line leaves it as it is."""
    question = ask(f"question [{draft.question}]: ").strip() or draft.question
    answer = draft.answer if draft.unanswerable else ask(f"answer [{draft.answer}]: ").strip() or draft.answer
    nuggets = []
    for nugget in draft.nuggets:
        typed = ask(f"phrases, '-' drops the fact [{BETWEEN.join(nugget.any)}]: ").strip()
        if typed != "-":
            nuggets.append(_with_phrases(nugget, typed) if typed else nugget)
    for nugget in nuggets:
        if not any(recalls([nugget], text)[1] for text in draft.reference_contexts):
            show(f"Not in the region, so that no quote can have it: {BETWEEN.join(nugget.any)}")
    return draft.model_copy(update={"question": question, "answer": answer, "nuggets": tuple(nuggets)})


def _with_phrases(nugget: Nugget, typed: str) -> Nugget:
    phrases: tuple[Text, ...] = tuple(filter(None, map(str.strip, typed.split("|"))))
    return nugget.model_copy(update={"any": phrases})
