"""A regular expression of ripgrep's kind to something that finds it in bytes."""

import re
from collections.abc import Callable
from typing import Any, TypeAlias

from plait.agent.tools.globs import rejected

Search: TypeAlias = Callable[[bytes, int], "tuple[int, int] | None"]
"""Finds the first match in some bytes, from a place on."""
NAMED_GROUP = re.compile(r"(?<!\\)\(\?<(?=[A-Za-z_])")
MEMORY = 64 << 20


def search_for(pattern: str, *, ignores_case: bool, is_multiline: bool) -> Search:
    """Returns what finds a pattern; raises ToolError where it is none."""
    flags = ("i" if ignores_case else "") + ("sm" if is_multiline else "m")
    compiled = _compiled(f"(?{flags}){NAMED_GROUP.sub('(?P<', pattern)}", pattern)

    def search(data: bytes, place: int) -> tuple[int, int] | None:
        found = compiled.search(data, place)
        return found.span() if found else None

    return search


def _compiled(told: str, pattern: str) -> Any:
    """Compiles with re2, which takes no longer for a pattern that is made to be slow."""
    try:
        import re2  # type: ignore[import-untyped]
    except ImportError:  # no wheel for this platform
        try:
            return re.compile(told.encode("utf-8", "replace"))
        except (re.error, RecursionError, OverflowError) as error:
            raise _no_expression(pattern, str(error)) from error
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MEMORY
    try:
        return re2.compile(told.encode("utf-8", "replace"), options)
    except re2.error as error:
        told_why = error.args[0] if error.args else b"it is none"
        why = told_why.decode() if isinstance(told_why, bytes) else str(told_why)
        raise _no_expression(pattern, why.partition(": ")[0]) from error


def _no_expression(pattern: str, why: str) -> Exception:
    return rejected(f"rg: regex parse error:\n    {pattern}\nerror: {why}")
