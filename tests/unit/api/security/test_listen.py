import logging
import socket

import pytest
from pydantic import SecretStr

from api.security.listen import bind, require_auth_or_loopback, url_of
from errors import SettingsError
from settings import ServeSettings


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_this_machine_alone_may_always_come_in(host: str) -> None:
    require_auth_or_loopback(ServeSettings(host=host))


@pytest.mark.fault("E3")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "guide.example", "127.0.0.1.evil.example"])
def test_other_machines_are_refused_without_a_word_of_consent(host: str) -> None:
    with pytest.raises(SettingsError, match="RAG_SERVE__OPEN=true"):
        require_auth_or_loopback(ServeSettings(host=host))


@pytest.mark.parametrize("opened", [False, True])
def test_keys_open_the_door_without_a_warning(opened: bool, caplog: pytest.LogCaptureFixture) -> None:
    require_auth_or_loopback(ServeSettings(host="0.0.0.0", keys=SecretStr("a-key-0123456789"), open=opened))

    assert caplog.text == ""


def test_consent_opens_the_door_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        require_auth_or_loopback(ServeSettings(host="0.0.0.0", open=True))

    assert "can ask questions and read documents" in caplog.text


@pytest.mark.promise("A42")
def test_port_zero_takes_a_free_port_and_names_it() -> None:
    with bind(ServeSettings(port=0)) as listener:
        assert url_of(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"
        assert listener.getsockname()[1] > 0


def test_an_address_for_all_interfaces_is_named_as_this_machine_reaches_it() -> None:
    with bind(ServeSettings(host="0.0.0.0", port=0, open=True)) as listener:
        assert url_of(listener).startswith("http://127.0.0.1:")


def test_a_taken_port_is_named_with_a_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SettingsError, match=f"port {port}.*RAG_SERVE__PORT"):
            bind(ServeSettings(port=port))
