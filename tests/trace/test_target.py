"""Addresses and keys of trace targets."""

import pytest

from plait.errors import ConfigError
from plait.trace.delivery import langfuse_target, otlp_target, parse_headers


@pytest.mark.parametrize(
    ("endpoint", "url"),
    [
        ("http://localhost:4318", "http://localhost:4318/v1/traces"),
        ("http://localhost:4318/", "http://localhost:4318/v1/traces"),
        ("https://otel.example.com/v1/traces", "https://otel.example.com/v1/traces"),
        ("https://example.com/otlp/api", "https://example.com/otlp/api"),
    ],
)
def test_address_without_a_path_gets_the_default(endpoint: str, url: str) -> None:
    assert otlp_target(endpoint).url == url


def test_an_invalid_address_is_refused() -> None:
    for endpoint in ["localhost:4318", "ftp://x", "http://", "http://[::1", "http://x:port/", ""]:
        with pytest.raises(ConfigError, match="is not an address"):
            otlp_target(endpoint)


def test_address_with_a_password_is_refused_without_showing_it() -> None:
    with pytest.raises(ConfigError) as caught:
        otlp_target("https://me:hunter2@example.com")
    assert "hunter2" not in str(caught.value)


def test_keys_are_never_shown() -> None:
    target = langfuse_target("https://cloud.langfuse.com/", "pk-1", "sk-2")
    assert target.url == "https://cloud.langfuse.com/api/public/otel/v1/traces"
    assert "Basic" not in f"{target} {target!r}"


def test_loopback_is_recognised() -> None:
    for url, is_loopback in [
        ("http://localhost:1", True),
        ("http://127.0.0.1:1", True),
        ("http://127.9.9.9:1", True),
        ("http://[::1]:1", True),
        ("http://example.com", False),
        ("http://localhost.example.com", False),
        ("http://10.0.0.1", False),
    ]:
        assert otlp_target(url).is_loopback is is_loopback


def test_headers_are_parsed() -> None:
    assert parse_headers("a=b, x-key = c=d,") == {"a": "b", "x-key": "c=d"}
    assert parse_headers("") == {}
    with pytest.raises(ConfigError) as caught:
        parse_headers("secretwithoutname")
    assert "secretwithoutname" not in str(caught.value)
