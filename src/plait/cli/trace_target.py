"""Settings to where traces go."""

from plait.cli.settings import Collector
from plait.errors import ConfigError
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
