"""`treeline keys`: make, list and revoke the keys of a service.

Flow: a command line -> **here** -> the file of `RAG_SERVE__KEYS_FILE`, which a running service reads again. The file
keeps hashes; a key is printed once, when it is made.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from api.caller import READ, SCOPES
from api.security.keyring import add_key, read_keys, revoke_key
from errors import SettingsError, run_command
from settings import load_settings


def main(argv: Sequence[str] | None = None, prog: str = "treeline keys") -> int:
    """Parse `argv` and do what it says."""
    parser = argparse.ArgumentParser(prog=prog, description="The keys of a service, in RAG_SERVE__KEYS_FILE.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add = commands.add_parser("add", help="make a key and print it, this once")
    add.add_argument("name", help="who or what it is for")
    add.add_argument(
        "--scope",
        action="append",
        choices=SCOPES,
        help="what it is for; may be repeated. read: ask, and read documents; ingest: bring documents in and delete "
        "them; admin: everything. Default: read",
    )
    add.add_argument("--corpus", action="append", help="the only corpus that it opens; may be repeated")
    add.add_argument(
        "--group", action="append", default=[], help="sees documents that are for this group; may be repeated"
    )
    add.add_argument("--rate", help="requests that it may send, as 60/minute; without it no limit")
    add.add_argument(
        "--root",
        type=Path,
        metavar="PATH",
        help="the only folder that it may have ingested by /ingest. Default: RAG_INGEST__ROOT/CORPUS for a key with "
        "--corpus, else everything that the service may ingest",
    )
    commands.add_parser("list", help="list the keys, a line each")
    revoke = commands.add_parser("revoke", help="take a key back, also from a service that runs")
    revoke.add_argument("name")
    given = parser.parse_args(argv)
    return run_command(lambda: _run(given))


def _run(given: argparse.Namespace) -> int:
    path = _path()
    match given.command:
        case "add":
            scopes = given.scope or [READ]
            print(add_key(path, given.name, scopes, given.corpus, given.rate, root=given.root, groups=given.group))
            print(f"Only a hash of it is kept, in {path}.", file=sys.stderr)
        case "revoke":
            revoke_key(path, given.name)
        case _:
            for key in read_keys(path):
                scopes = ",".join(scope for scope in SCOPES if scope in key.scopes)
                corpora = "all corpora" if key.corpora is None else ",".join(sorted(key.corpora))
                shown = (key.name, scopes, corpora, key.rate or "no limit", key.created_at, str(key.root or ""))
                print("\t".join((*shown, ",".join(sorted(key.groups)))))
    return 0


def _path() -> Path:
    path = load_settings().serve.keys_file
    if path is None:
        raise SettingsError("No file of keys is set.", "Set RAG_SERVE__KEYS_FILE, for the service as well.")
    return path
