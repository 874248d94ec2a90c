"""The keys that a service knows: those of its settings, and those of the file that `treeline keys` writes.

Flow: settings and file -> **here** -> `auth.py` asks whose a sent key is; `guesses.py` counts wrong ones. A file that
has changed is read again, so a key can be added or revoked under a running service.

Only hashes are kept. The command makes keys of 256 random bits, which nobody can find by trying, so one round of
SHA-256 hides them; the keys of the settings are chosen by people, and are hidden from nobody who reads the settings.
"""

import hashlib
import json
import logging
import os
import secrets
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from hmac import compare_digest
from pathlib import Path
from typing import Any

from limits import parse_many

from api.caller import ADMIN, CALLER, NOBODY, SCOPES, Key, mark_of
from api.security.guesses import Guesses
from errors import SettingsError
from index.corpus import check_corpus_name
from index.disk import private_file, sync_folder
from settings import ServeSettings

logger = logging.getLogger(__name__)

KEY_BYTES = 32
_BROKEN = "Correct or restore the file, or delete it and add its keys again by `treeline keys add`."


class Keyring:
    """The keys of one service.

    Args:
        serve: has the keys, and the file of further ones.

    Raises:
        SettingsError: the file cannot be read.
    """

    def __init__(self, serve: ServeSettings) -> None:
        self.guarded = serve.asks_for_keys
        self._own = [
            Key(f"key {number} of the settings", sha256_of(key), frozenset((ADMIN,)))
            for number, key in enumerate(serve.known_keys(), start=1)
        ]
        self._file = serve.keys_file
        self._seen = _version(self._file)
        self._filed = read_keys(self._file) if self._file is not None else []
        self._guesses = Guesses()

    def find_for(self, address: str, sent: Sequence[str], *, by_hand: bool = False) -> Key | None:
        """Return the key that a client shows, as `find` does, and count those before it as wrong.

        Args:
            address: of the client; empty if it has none.
            sent: what it shows, by precedence.
            by_hand: a person has typed it.

        Raises:
            TooManyRequestsError: too many wrong ones came from this address, so this one is not looked at.
        """
        if sent:
            self._guesses.check(address)
        for one in sent:
            if (key := self.find([one])) is not None:
                return key
            self._guesses.note(address, sha256_of(one), by_hand=by_hand)
        return None

    def find(self, sent: Iterable[str]) -> Key | None:
        """Return what is known of the first of these keys that is one; None if none of them is.

        All are compared, whichever fits: how long it takes tells nothing.
        """
        known = self._own + self._from_file()
        hashes = [sha256_of(one) for one in sent]
        found = [key for one in hashes for key in known if compare_digest(one, key.sha256)]
        return found[0] if found else None

    @contextmanager
    def acting(self, id_: str, mark: str) -> Iterator[None]:
        """Let the block work as the key that was given an id, with what it may do now; as nobody if that is gone.

        Args:
            id_: of the work.
            mark: kept beside the id, see `mark_of`.
        """
        known = (*self._own, *self._from_file()) if self.guarded else ()
        key = next((one for one in known if compare_digest(mark, mark_of(id_, one))), NOBODY if self.guarded else None)
        before = CALLER.set(key)
        try:
            yield
        finally:
            CALLER.reset(before)

    def _from_file(self) -> list[Key]:
        version = _version(self._file)
        if self._file is not None and version != self._seen:
            self._seen = version
            try:
                self._filed = read_keys(self._file)
            except SettingsError:
                self._filed = []
                logger.exception("No key of the file opens anything until it can be read again.")
        return self._filed


def sha256_of(key: str) -> str:
    """Return what is kept of a key."""
    return hashlib.sha256(key.encode()).hexdigest()


def read_keys(path: Path) -> list[Key]:
    """Return the keys in a file, or an empty list if the file does not exist.

    Raises:
        SettingsError: it cannot be read, or is not what `write_keys` writes.
    """
    try:
        return [_key(raw) for raw in json.loads(path.read_text(encoding="utf-8"))["keys"]]
    except FileNotFoundError:
        return []
    except SettingsError as error:
        raise SettingsError(f"A key in the file of RAG_SERVE__KEYS_FILE is not valid: {error.fact}", _BROKEN) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SettingsError(f"The file of RAG_SERVE__KEYS_FILE cannot be read: {error}.", _BROKEN) from error


def write_keys(path: Path, keys: Sequence[Key]) -> None:
    """Write the file so that a crash leaves either the old one or the new one; only its owner can read it.

    Raises:
        SettingsError: it cannot be written.
    """
    shown = [
        {
            "name": key.name,
            "sha256": key.sha256,
            "scopes": sorted(key.scopes, key=SCOPES.index),
            "corpora": None if key.corpora is None else sorted(key.corpora),
            "rate": key.rate,
            "root": None if key.root is None else str(key.root),
            "groups": sorted(key.groups),
            "created_at": key.created_at,
        }
        for key in keys
    ]
    scratch = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        scratch.unlink(missing_ok=True)
        private_file(scratch)
        scratch.write_text(json.dumps({"keys": shown}, indent=1) + "\n", encoding="utf-8")
        scratch.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise SettingsError(
            f"The file of RAG_SERVE__KEYS_FILE cannot be written: {error.strerror}.", "Make its folder writable."
        ) from error


def add_key(
    path: Path,
    name: str,
    scopes: Iterable[str],
    corpora: Collection[str] | None,
    rate: str | None,
    *,
    root: Path | None = None,
    groups: Iterable[str] = (),
) -> str:
    """Make a key, note it in the file, and return it; it is shown nowhere else.

    Args:
        path: of the file.
        name: for people: one line that is not blank.
        scopes: some of `SCOPES`.
        corpora: the only ones that it opens; None: all of them.
        rate: as `60/minute`, at least one request; None: no limit.
        root: the only folder that it may have ingested; it need not exist yet.
        groups: whose documents it sees, beside those for everybody: each one line without a comma.

    Raises:
        SettingsError: the name is taken or is not a line, the rate is not one, a corpus or group cannot have its name,
            or the file cannot be read or written.
    """
    _check_name(name)
    for corpus in corpora or ():
        check_corpus_name(corpus)
    known = read_keys(path)
    if any(key.name == name for key in known):
        raise SettingsError(f"There is a key {name!r} already.", "Revoke it first, or choose another name.")
    if rate is not None:
        _check_rate(rate)
    made = secrets.token_urlsafe(KEY_BYTES)
    opens = None if corpora is None else frozenset(corpora)
    at = datetime.now(UTC).isoformat(timespec="seconds")
    folder = None if root is None else _checked_root(root.absolute())
    seen = frozenset(map(_checked_group, groups))
    write_keys(path, [*known, Key(name, sha256_of(made), frozenset(scopes), opens, rate, at, folder, seen)])
    return made


def revoke_key(path: Path, name: str) -> None:
    """Take a key out of the file.

    Raises:
        SettingsError: there is none of this name, or the file cannot be read or written.
    """
    known = read_keys(path)
    left = [key for key in known if key.name != name]
    if len(left) == len(known):
        raise SettingsError(f"There is no key {name!r}.", "`treeline keys list` names them.")
    write_keys(path, left)


def _key(raw: dict[str, Any]) -> Key:
    corpora, scopes = raw["corpora"], frozenset(raw["scopes"])
    if unknown := scopes - set(SCOPES):
        raise ValueError(f"there is no scope {min(unknown)!r}")
    if len(bytes.fromhex(raw["sha256"])) != hashlib.sha256().digest_size:
        raise ValueError("a hash has another length")
    _check_name(raw["name"])
    if raw["rate"] is not None:
        _check_rate(raw["rate"])
    root = None if raw.get("root") is None else _checked_root(Path(raw["root"]))  # earlier releases wrote none
    groups = frozenset(map(_checked_group, raw.get("groups", ())))  # nor of these
    key = Key(
        raw["name"],
        raw["sha256"],
        scopes,
        rate=raw["rate"],
        created_at=str(raw["created_at"]),
        root=root,
        groups=groups,
    )
    return key if corpora is None else replace(key, corpora=frozenset(map(str, corpora)))


def _check_name(name: str) -> None:
    if not _is_line(name):
        raise SettingsError(
            f"{name!r} cannot name a key.", "Write one line that is not blank, without control characters."
        )


def _checked_root(root: Path) -> Path:
    if not root.is_absolute() or not _is_line(str(root)):
        raise SettingsError(f"{str(root)!r} cannot be the folder of a key.", "Write an absolute path, on one line.")
    return root


def _checked_group(name: str) -> str:
    if not _is_line(name) or "," in name or name != name.strip():
        raise SettingsError(f"{name!r} cannot name a group.", "Write one line without commas and blanks around it.")
    return name


def _is_line(text: str) -> bool:
    """Say whether a list of keys can show a text in its line."""
    return bool(text.strip()) and text.isprintable()


def _check_rate(rate: str) -> None:
    try:
        (limit,) = parse_many(rate)
    except ValueError:  # not a rate, or several, of which only one would be kept to
        limit = None
    if limit is None or limit.amount < 1 or not _is_line(rate):
        raise SettingsError(
            f"{rate!r} is not a rate.", "Write one of at least one request: `60/minute`, `2/second` or `1000/day`."
        )


def _version(path: Path | None) -> tuple[int, int, int] | None:
    """Return what changes with a file; None if there is none."""
    try:
        status = os.stat(path) if path is not None else None
    except OSError:
        return None
    return status and (status.st_mtime_ns, status.st_ino, status.st_size)
