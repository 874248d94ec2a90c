"""The arguments of `python -m ingestion` and its commands: what is understood, and what is refused at once."""

import argparse
from typing import Any

import pytest

from ingestion.__main__ import COMMANDS, main
from ingestion.commands import delete, documents, ingest


def parsed(command: Any, *words: str) -> argparse.Namespace:
    arguments: argparse.Namespace = command.parse(argparse.ArgumentParser(), list(words))
    return arguments


@pytest.mark.parametrize(
    ("pair", "value"),
    [
        ("year=2024", 2024),
        ("rank=1.5", 1.5),
        ("draft=false", False),
        ("name=Ada", "Ada"),
        ("code=007", "007"),
        ('text="7"', "7"),
        ("share=NaN", "NaN"),
        ("note=a=b", "a=b"),
        ("gone=", ""),
        ("deep=" + "[" * 100_000, "[" * 100_000),
    ],
    ids=lambda value: str(value)[:10],
)
def test_metadata_is_read_as_numbers_truth_values_and_text(pair: str, value: object) -> None:
    assert parsed(ingest, "docs", "--meta", pair).metadata == {pair.partition("=")[0]: value}


def test_ray_means_this_machine_or_the_cluster_that_is_named() -> None:
    given = [parsed(ingest, "docs", *words).ray for words in ([], ["--ray"], ["--ray", "head:6379"])]

    assert given == [None, "local", "head:6379"]


def test_a_path_is_not_taken_for_the_address_of_a_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        parsed(ingest, "--ray", "docs")

    assert "write PATH before --ray" in capsys.readouterr().err


def test_topic_and_doc_type_are_metadata() -> None:
    assert parsed(ingest, "docs", "--topic", "xdd", "--doc-type", "paper").metadata == {
        "topic": "xdd",
        "doc_type": "paper",
    }


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--rebuild", "--dry-run"], "--rebuild and --dry-run"),
        (["--rebuild", "--prune"], "--rebuild and --prune"),
        (["--prune", "--limit", "3"], "--prune and --limit"),
        (["--watch", "--dry-run"], "--watch and --dry-run"),
        (["--watch", "--rebuild"], "--watch and --rebuild"),
        (["--watch", "--every", "7d"], "--watch and --every"),
        (["--every", "7d", "--rebuild"], "--every and --rebuild"),
        (["--every", "0m"], "not a time"),
        (["--every", "soon"], "not a time"),
        (["--limit", "0"], "not a number from 1 up"),
        (["--meta", "year"], "name=value"),
        (["--meta", "=1"], "name=value"),
        (["--meta", "a=1", "--meta", "a=2"], "'a' is given twice"),
        (["--topic", "x", "--meta", "topic=y"], "'topic' is given twice"),
        (["--root", "a/"], "not a name"),
        (["--root", "../a"], "not a name"),
        (["more"], "one PATH"),
    ],
)
def test_what_contradicts_itself_or_means_nothing_is_refused(
    words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["docs", *words])

    assert complaint in capsys.readouterr().err


def test_a_command_after_an_option_is_not_taken_for_a_path(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--corpus", "books", "retry-failed"])

    assert "a command stands first" in capsys.readouterr().err


def test_a_folder_named_like_a_command_is_reached_by_its_path() -> None:
    assert str(parsed(ingest, "./delete").path) == "delete"


@pytest.mark.parametrize("words", [[], ["a", "--source", "b.md"], ["--filter", "{}", "--source", "b.md"]])
def test_documents_to_delete_are_named_in_exactly_one_way(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["delete", *words])

    assert "in one way" in capsys.readouterr().err


def test_ids_and_sources_to_delete_become_filters() -> None:
    assert parsed(delete, "a", "b").filter == {"filters": [{"key": "doc_id", "operator": "in", "value": ["a", "b"]}]}
    assert parsed(delete, "--source", "c.md").filter["filters"][0]["value"] == "c.md"


@pytest.mark.parametrize("words", [["show"], ["list", "a.md"]])
def test_only_show_takes_a_document(words: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        parsed(documents, *words)


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])

    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([name, "--help"])

    assert f"python -m ingestion {name}" in capsys.readouterr().out
