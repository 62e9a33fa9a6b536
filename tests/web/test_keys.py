"""A server's secret: one-time tickets, key, cookie, proof of identity."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.web.guard import TICKET_LIFE, Keys, new_secret, to_local_path


class Clock:
    """A time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def test_ticket_works_once() -> None:
    keys = Keys("secret")
    ticket = keys.create_ticket()
    assert keys.accepts(ticket)
    assert not keys.accepts(ticket)


def test_ticket_of_another_process_with_the_same_secret_works() -> None:
    assert Keys("secret").accepts(Keys("secret").create_ticket())


def test_ticket_of_another_server_is_refused() -> None:
    assert not Keys("secret").accepts(Keys("another").create_ticket())


def test_ticket_expires() -> None:
    clock = Clock()
    keys = Keys("secret", clock)
    early, late = keys.create_ticket(), keys.create_ticket()
    clock.now += TICKET_LIFE - 1
    assert keys.accepts(early)
    clock.now += 2
    assert not keys.accepts(late)


def test_used_tickets_are_forgotten_after_expiry() -> None:
    clock = Clock()
    keys = Keys("secret", clock)
    for _ in range(50):
        assert keys.accepts(keys.create_ticket())
        clock.now += TICKET_LIFE
    assert len(keys._used) <= 2


def test_ticket_with_a_changed_time_is_refused() -> None:
    keys = Keys("secret")
    until, rest = keys.create_ticket().split(".", 1)
    assert not keys.accepts(f"{int(until) + 1000}.{rest}")


@pytest.mark.parametrize("given", ["", ".", "..", "nan.x.y", "1e400.x.y", "a.b.c", "\ufffd", "é"])
def test_nonsense_is_refused(given: str) -> None:
    assert not Keys("secret").accepts(given)


@given(st.text(max_size=80))
def test_empty_key_is_refused(text: str) -> None:
    keys = Keys("secret")
    text = text.encode("utf-8", "replace").decode()
    assert not keys.accepts(text)
    assert not keys.is_key(text)


def test_key_may_be_typed_with_spaces_and_repeatedly() -> None:
    keys = Keys("secret")
    assert keys.accepts(f" {keys.key.upper()} \n")
    assert keys.accepts(keys.key)


def test_derived_keys_are_distinct_and_hide_the_secret() -> None:
    keys = Keys("secret")
    shown = {keys.cookie, keys.key, keys.prove("cookie"), keys.prove("x"), keys.create_ticket()}
    assert len(shown) == 5
    assert not any("secret" in item for item in shown)
    assert keys.prove("x") != Keys("another").prove("x")
    assert keys.prove("") != keys.cookie


def test_secrets_are_long_and_unique() -> None:
    assert new_secret() != new_secret()
    assert len(new_secret()) == 64


@pytest.mark.parametrize(
    ("to", "where"),
    [
        ("/s/abc?turn=2#x", "/s/abc?turn=2#x"),
        ("//evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("/\t/evil.example", "/"),
        ("https://evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
        ("/a\nb", "/"),
    ],
)
def test_redirects_stay_on_this_server(to: str, where: str) -> None:
    assert to_local_path(to) == where
