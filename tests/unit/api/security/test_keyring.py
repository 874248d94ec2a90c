"""The file of keys: what is kept of a key, and what a changed or broken file does to a running service."""

import json
import stat
from pathlib import Path

import pytest

from api.caller import CALLER, NOBODY, mark_of
from api.security.keyring import Keyring, add_key, read_keys, revoke_key, sha256_of
from errors import SettingsError
from settings import ServeSettings
from treeline.keys_command import main


def ring(path: Path) -> Keyring:
    return Keyring(ServeSettings(keys_file=path))


def test_a_key_is_kept_as_a_hash_that_only_the_owner_reads(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"

    made = add_key(path, "reader", ["read"], ["papers"], "60/minute")

    assert len(made) >= 43, "256 bits"
    assert made not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    (key,) = read_keys(path)
    assert (key.name, key.sha256, key.scopes, key.corpora, key.rate) == (
        "reader",
        sha256_of(made),
        frozenset({"read"}),
        frozenset({"papers"}),
        "60/minute",
    )


def test_a_service_learns_of_new_and_revoked_keys_while_it_runs(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    keyring = ring(path)
    assert keyring.guarded, "no key yet, and still everybody needs one"

    first, second = add_key(path, "a", ["read"], None, None), add_key(path, "b", ["admin"], None, None)
    assert [key and key.name for key in (keyring.find([first]), keyring.find([second]))] == ["a", "b"]

    revoke_key(path, "a")

    assert keyring.find([first]) is None
    assert keyring.find(["", "wrong", second]) is not None


def test_a_key_has_its_groups_and_one_of_an_earlier_release_none(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    add_key(path, "a", ["read"], None, None, groups=["staff", "board"])
    assert [key.groups for key in read_keys(path)] == [{"staff", "board"}]

    written = json.loads(path.read_text())
    del written["keys"][0]["groups"]
    path.write_text(json.dumps(written))

    assert [key.groups for key in read_keys(path)] == [frozenset()]


@pytest.mark.parametrize("name", ["", " ", "a,b", "a\nb", " a"])
def test_a_group_that_no_document_could_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match="group"):
        add_key(tmp_path / "keys.json", "a", ["read"], None, None, groups=[name])


def test_work_is_done_with_what_the_key_it_was_given_to_may_do_by_then(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    made = add_key(path, "a", ["read"], None, None, groups=["staff"])
    keyring = ring(path)
    mark = mark_of("work", keyring.find([made]))

    def acting(mark: str) -> str:
        with keyring.acting("work", mark):
            key = CALLER.get()
        assert CALLER.get() is None
        return "everybody" if key is None else key.name

    assert [acting(mark), acting("")] == ["a", NOBODY.name]
    revoke_key(path, "a")
    assert acting(mark) == NOBODY.name
    with Keyring(ServeSettings()).acting("work", mark):
        assert CALLER.get() is None


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"keys": [{"name": "a"}]}', '{"keys": [7]}'])
def test_a_broken_file_stops_the_start_and_opens_nothing_later(tmp_path: Path, broken: str) -> None:
    path = tmp_path / "keys.json"
    made = add_key(path, "a", ["read"], None, None)
    keyring = ring(path)
    path.write_text(broken)

    assert keyring.find([made]) is None
    with pytest.raises(SettingsError, match="RAG_SERVE__KEYS_FILE"):
        ring(path)


NO_LINES = ["", " ", "\t", "a\nb", "a\r", "a\tb", "\x1b[2J", "a\0", "a\u2028b", "a\x7f", "a\u202eb"]
NO_RATES = [
    "",
    "0/minute",
    "0 per 5 hour",
    "-1/minute",
    "often",
    "60",
    "60/minute\n",
    "60/minute;5/second",
    "1/fortnight",
]


@pytest.mark.parametrize("name", NO_LINES)
def test_a_name_is_one_line_that_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.setenv("RAG_SERVE__KEYS_FILE", str(tmp_path / "keys.json"))

    assert main(["add", name]) == 1
    told = capsys.readouterr()
    assert (told.out, len(told.err.splitlines())) == ("", 1)
    assert not (tmp_path / "keys.json").exists()


@pytest.mark.parametrize("rate", NO_RATES)
def test_a_rate_lets_something_through_and_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], rate: str
) -> None:
    monkeypatch.setenv("RAG_SERVE__KEYS_FILE", str(tmp_path / "keys.json"))

    assert main(["add", "team", f"--rate={rate}"]) == 1
    assert "60/minute" in capsys.readouterr().err
    assert not (tmp_path / "keys.json").exists()


def test_a_folder_is_kept_with_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAG_SERVE__KEYS_FILE", str(tmp_path / "keys.json"))
    monkeypatch.chdir(tmp_path)

    assert main(["add", "team", "--scope", "ingest", "--root", "inbox"]) == 0
    assert main(["add", "other", "--root", "in\nbox"]) == 1
    capsys.readouterr()
    assert main(["list"]) == 0

    assert [key.root for key in read_keys(tmp_path / "keys.json")] == [tmp_path / "inbox"]
    assert str(tmp_path / "inbox") in capsys.readouterr().out


def test_a_key_of_an_earlier_release_has_no_folder(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    add_key(path, "a", ["ingest"], None, None)
    (raw,) = json.loads(path.read_text())["keys"]
    del raw["root"]
    path.write_text(json.dumps({"keys": [raw]}))

    assert [key.root for key in read_keys(path)] == [None]


@pytest.mark.parametrize(
    ("part", "value"),
    [
        *(("scopes", ["root"]), ("sha256", "00"), ("corpora", 7), ("root", "inbox"), ("root", "/in\nbox"), ("root", 7)),
        *(("name", name) for name in (*NO_LINES, 7, None)),
        *(("rate", rate) for rate in (*NO_RATES, 0, 60, ["60/minute"])),
    ],
)
def test_what_the_file_says_of_a_key_has_to_have_a_meaning(tmp_path: Path, part: str, value: object) -> None:
    path = tmp_path / "keys.json"
    add_key(path, "a", ["read"], None, None)
    (raw,) = json.loads(path.read_text())["keys"]
    path.write_text(json.dumps({"keys": [raw | {part: value}]}))

    with pytest.raises(SettingsError, match="RAG_SERVE__KEYS_FILE"):
        read_keys(path)


def test_keys_of_the_settings_open_everything() -> None:
    key = Keyring(ServeSettings.model_validate({"keys": "a-key-0123456789"})).find(["a-key-0123456789"])

    assert key is not None
    assert all(key.allows(scope) for scope in ("read", "ingest", "admin"))
    assert key.corpora is None


def test_the_command_makes_lists_and_revokes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "keys.json"
    monkeypatch.setenv("RAG_SERVE__KEYS_FILE", str(path))

    assert main(["add", "team", "--scope", "read", "--scope", "ingest", "--corpus", "papers"]) == 0
    made = capsys.readouterr().out.strip()
    assert main(["list"]) == 0
    listed = capsys.readouterr().out

    assert ring(path).find([made]) is not None
    assert listed.split("\t")[:4] == ["team", "read,ingest", "papers", "no limit"]
    assert made not in listed
    assert main(["add", "team"]) == 1, "the name is taken"
    assert main(["add", "other", "--rate", "often"]) == 1
    assert main(["add", "other", "--corpus", "*"]) == 1, "without --corpus it opens all"
    assert main(["revoke", "team"]) == 0
    assert main(["revoke", "team"]) == 1
    assert ring(path).find([made]) is None


def test_the_command_needs_a_file(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("RAG_SERVE__KEYS_FILE", raising=False)

    assert main(["list"]) == 1
    assert "RAG_SERVE__KEYS_FILE" in capsys.readouterr().err


@pytest.mark.fault("E3")
def test_a_key_of_few_characters_stops_the_start() -> None:
    with pytest.raises(ValueError, match="16 characters"):
        ServeSettings.model_validate({"keys": "a-key-0123456789,short"})


@pytest.mark.parametrize("sign", [" ", "\n", "\r\n", "\t", "\0", "\x1b", "\u00a0", "\u2028", ",,"])
@pytest.mark.parametrize("keys", ["a-key{}-0123456789", "a-key-0123456789{}", "{}a-key-0123456789"])
def test_a_key_of_the_settings_is_one_word(keys: str, sign: str) -> None:
    with pytest.raises(ValueError, match="printable ASCII"):
        ServeSettings.model_validate({"keys": keys.format(sign)})
