"""Settings to where traces go: a collector, or a project of Langfuse."""

from typing import TYPE_CHECKING

from plait.errors import ConfigError

if TYPE_CHECKING:
    from plait.cli.settings import Collector
    from plait.trace.send.target import Target


def target_in(collector: "Collector") -> "Target | None":
    """Returns where traces go, None where nobody said. An OTLP endpoint beats Langfuse."""
    from plait.trace.send.target import LANGFUSE_CLOUD, headers_in, langfuse, otlp

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
