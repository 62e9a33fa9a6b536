"""Ids of records to ids of traces and spans: the same record always gives the same span."""

from hashlib import blake2b

TRACE_BYTES, SPAN_BYTES = 16, 8


def trace_id(key: str) -> str:
    """Returns the id of the trace that a record begins: 32 hexadecimal digits."""
    return digits(f"trace {key}", TRACE_BYTES)


def span_id(trace: str, key: str) -> str:
    """Returns the id of a span within its trace: 16 hexadecimal digits."""
    return digits(f"{trace} {key}", SPAN_BYTES)


def digits(text: str, size: int) -> str:
    """Returns so many bytes of a text's digest, in hexadecimal."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()
