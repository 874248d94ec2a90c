"""The types of arguments that several commands take: numbers, a service's address, what is sent to it.

Flow: a command's `add_arguments` -> **these** -> argparse.
"""

import argparse
import re
from contextlib import suppress
from functools import partial

import httpx


def add_header_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--header`: what a service that asks for a key wants to see."""
    parser.add_argument(
        "--header",
        action="append",
        default=[],
        dest="headers",
        type=_header,
        metavar="'NAME: VALUE'",
        help="send this to the service with each request, e.g. 'Authorization: Bearer KEY'; may be repeated",
    )


def whole_number(text: str, least: int = 1) -> int:
    """Read a number of things, 1 or more."""
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least {least}")
    return int(text)


whole_from_0 = partial(whole_number, least=0)


def number_from_0(text: str) -> float:
    """Read a finite number, 0 or more."""
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError("must be a number of at least 0")
    return value


def seconds(text: str) -> float:
    """Read a time in seconds: above 0, and finite."""
    with suppress(ValueError):
        if 0 < float(text) < float("inf"):
            return float(text)
    raise argparse.ArgumentTypeError(f"{text!r} must be a number of seconds above 0")


def service_url(text: str) -> str:
    """Return the base of a service's URL; that of one of the routes asked is taken for the base."""
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a URL: {error}") from error
    if url.scheme not in {"http", "https"} or not url.host:
        raise argparse.ArgumentTypeError(f"{text!r} is not an address like http://127.0.0.1:8000")
    if url.userinfo:  # it would be kept with the run, and shown
        raise argparse.ArgumentTypeError("an address is kept with the run: give a name and password by --header")
    return re.sub(r"/(?:run|evaluate)?/?$", "", text)


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not (colon and re.fullmatch(r"[A-Za-z0-9-]+", name) and value.strip().isascii() and value.isprintable()):
        raise argparse.ArgumentTypeError("a header looks like 'Authorization: Bearer KEY'")
    return name, value.strip()
