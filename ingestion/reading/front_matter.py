"""Values of front matter as their author wrote them: YAML 1.2, in which `NO`, `12:30` and `00123` are words.

Flow: the block above a text -> **here** -> `markdown.py`. Pure.

A number is a number where it would be written the same way again, so that `1.10` and `007` can be found as they stand.
Dates are dates. What has a tag that YAML itself does not know is refused.
"""

import re
from typing import Any

import yaml

_INTEGER, _DECIMAL = re.compile(r"-?(?:0|[1-9]\d{0,17})\Z", re.ASCII), re.compile(r"-?\d{1,17}\.\d{1,17}\Z", re.ASCII)
_DATE = re.compile(
    r"\d{4}-\d\d-\d\d(?:(?:[Tt]|[ \t]++)\d\d?:\d\d:\d\d(?:\.\d++)?(?:[ \t]*+(?:Z|[-+]\d\d?(?::\d\d)?))?)?\Z", re.ASCII
)
_WORDS = {
    "bool": re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"),
    "null": re.compile(r"(?:~|null|Null|NULL|)\Z"),
}


class _Loader(yaml.SafeLoader):
    """Takes no word for a value but those named below."""


_Loader.yaml_implicit_resolvers = {}


def front_matter(source: str) -> Any:
    """Return what a block of YAML says.

    Raises:
        yaml.YAMLError: it is not YAML.
    """
    return yaml.load(source, _Loader)  # noqa: S506  # a loader of plain values


def as_written(number: str) -> float | str:
    """Return a decimal number, or the words if it would be written in another way."""
    return float(number) if str(float(number)) == number else number


def _decimal(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> float | str:
    return as_written(loader.construct_scalar(node))


def _date(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> object:
    try:
        return loader.construct_yaml_timestamp(node)
    except ValueError:  # such as the 31st of June
        return loader.construct_scalar(node)


for _name, _pattern in {**_WORDS, "int": _INTEGER, "float": _DECIMAL, "timestamp": _DATE}.items():
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", _pattern, None)
_Loader.add_constructor("tag:yaml.org,2002:float", _decimal)
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _date)
