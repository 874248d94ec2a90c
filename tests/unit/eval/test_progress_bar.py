import io

from eval.progress_bar import AskingProgress
from tests.unit.eval.asking.fakes import a_row


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_elsewhere_than_on_a_terminal_every_tenth_is_a_line_with_the_time_left() -> None:
    ticks = iter(range(100))
    stream = io.StringIO()
    progress = AskingProgress(stream, 20, clock=lambda: next(ticks) * 30)

    for number in range(20):
        progress.add(a_row(outcome="declined" if number == 3 else "failed" if number == 5 else "answered"))
    progress.close()

    lines = stream.getvalue().splitlines()
    assert len(lines) == 10
    assert lines[0] == " 10 %: 2 of 20 asked, 4:30 left"
    assert lines[2] == " 30 %: 6 of 20 asked, 1 declined, 1 failed, 3:30 left"
    assert lines[-1] == "100 %: 20 of 20 asked, 1 declined, 1 failed, 0:00 left"


def test_few_questions_are_a_line_each() -> None:
    stream = io.StringIO()
    progress = AskingProgress(stream, 3, clock=lambda: 0.0)

    for _ in range(3):
        progress.add(a_row())
    progress.close()

    assert [line[:4] for line in stream.getvalue().splitlines()] == [" 33 ", " 66 ", "100 "]


def test_on_a_terminal_there_is_a_bar_and_notes_stand_on_lines_of_their_own() -> None:
    stream = Terminal()
    progress = AskingProgress(stream, 2)

    progress.add(a_row(outcome="declined"))
    progress.note("warning: look")
    progress.add(a_row())
    progress.close()

    shown = stream.getvalue().replace("\r", "\n").splitlines()
    assert any(line.startswith("100%") and "2 of 2 asked, 1 declined" in line for line in shown)
    assert "warning: look" in [line.strip() for line in shown]
