"""Settings, and what a user names after `--to`, to where traces go."""

from collections.abc import Sequence
from dataclasses import replace as with_fields
from pathlib import Path

from msgspec.structs import replace

from plait.cli.settings import Collector
from plait.errors import ConfigError, UserError
from plait.trace.send.target import LANGFUSE_CLOUD, Target, headers_in, langfuse, otlp


def target_in(collector: Collector) -> Target | None:
    """Returns where traces go, None where nobody said. An OTLP endpoint beats Langfuse."""
    if collector.otlp_endpoint:
        return otlp(collector.otlp_endpoint, headers_in(collector.otlp_headers or ""))
    public, secret = collector.langfuse_public_key, collector.langfuse_secret_key
    if public and secret:
        return langfuse(collector.langfuse_host or LANGFUSE_CLOUD, public, secret)
    if public or secret or collector.langfuse_host:
        raise ConfigError(
            "Langfuse needs two keys",
            "set `langfuse_public_key` and `langfuse_secret_key` in config.toml",
        )
    return None


def target_of(collector: Collector) -> Target:
    """Returns where traces go, or says how to set it."""
    target = target_in(collector)
    if target is None:
        raise ConfigError(
            "nobody has said where traces go",
            "set `otlp_endpoint`, or the two keys of a Langfuse project, in config.toml",
        )
    return target


FILE, LANGFUSE = "file:", "langfuse"
SUFFIXES = (".json", ".jsonl")


def destination(collector: Collector, to: str | None, headers: Sequence[str]) -> Target | Path:
    """Returns where traces go; without a name, where the settings say.

    The headers of the settings are for the settings' own address: they may hold keys, and do
    not go to another.
    """
    if to is not None and to.startswith(FILE):
        return Path(to.removeprefix(FILE))
    if to is not None and "://" not in to and to.endswith(SUFFIXES):
        return Path(to)
    target = otlp(to) if to and to != LANGFUSE else _configured(collector, to)
    more = headers_in(",".join(headers))
    return replace(target, headers={**target.headers, **more}) if more else target


def _configured(collector: Collector, to: str | None) -> Target:
    only = with_fields(collector, otlp_endpoint=None) if to == LANGFUSE else collector
    target = target_in(only)
    if target is None and to == LANGFUSE:
        raise ConfigError(
            "the keys of no Langfuse project are set",
            "set `langfuse_public_key` and `langfuse_secret_key` in config.toml",
        )
    if target is None:
        raise UserError(
            "nothing says where to",
            "add `--to http://localhost:4318`, `--to langfuse` or `--to traces.json`",
        )
    return target
