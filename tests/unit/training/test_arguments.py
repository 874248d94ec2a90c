"""What the training commands have in common."""

import pytest

from errors import ModelError, packages_for


def test_a_package_that_is_not_installed_is_named_with_the_remedy() -> None:
    with (
        pytest.raises(ModelError, match=r"^Fine-tuning needs nowhere, which is not installed\. Install it\.$"),
        packages_for("Fine-tuning", "Install it."),
    ):
        import nowhere  # type: ignore[import-not-found]  # noqa: F401, PLC0415


def test_other_errors_are_not_changed() -> None:
    with pytest.raises(KeyError), packages_for("Fine-tuning", "Install it."):
        raise KeyError
