"""What the command line refuses before it opens anything."""

import pytest

from query_engine.__main__ import main


def test_a_filter_without_meaning_is_told_before_models_are_loaded(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["What?", "--filter", '{"filters": [{"key": "year", "operator": "~", "value": 3}]}']) == 1
    assert 'error[bad_filter]: There is no operator "~". Use one of `==`' in capsys.readouterr().err


def test_a_filter_that_is_no_json_is_a_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["What?", "--filter", "year > 3"])
    assert "this is no JSON" in capsys.readouterr().err
