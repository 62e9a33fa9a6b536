"""Where a server listens, and who can reach it."""

import pytest

from plait.web.address import ServerAddress, is_local


@pytest.mark.parametrize(
    ("host", "wanted"),
    [
        ("127.0.0.1", True),
        ("127.0.0.2", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.1.5", False),
        ("example.org", False),
        ("", False),
    ],
)
def test_only_loopback_is_local(host: str, wanted: bool) -> None:
    assert is_local(host) == wanted
    assert ServerAddress(host, 1).is_remote != wanted


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:8420"),
        ("::1", "http://[::1]:8420"),
        ("0.0.0.0", "http://127.0.0.1:8420"),
        ("::", "http://[::1]:8420"),
    ],
)
def test_local_browser_gets_a_reachable_address(host: str, address: str) -> None:
    assert ServerAddress(host, 8420).url == address
