"""What a user names after `--to` to where traces go: an address, Langfuse, or a file."""

from collections.abc import Sequence
from dataclasses import replace as with_fields
from pathlib import Path

from msgspec.structs import replace

from plait.cli.settings import Collector
from plait.cli.trace_target import target_in
from plait.errors import ConfigError, UserError
from plait.trace.send.target import Target, headers_in, otlp

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
    target = otlp(to) if to and to != LANGFUSE else configured(collector, to)
    more = headers_in(",".join(headers))
    return replace(target, headers={**target.headers, **more}) if more else target


def configured(collector: Collector, to: str | None) -> Target:
    """Returns where the settings say that traces go, or says how to set it."""
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
