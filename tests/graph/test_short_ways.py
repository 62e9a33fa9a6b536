"""Fast paths for simple files agree with the general algorithms."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings

from plait.graph import SessionGraph, build
from plait.graph.parents import FileWalk
from tests.graph.generated import archives, conversations, sources
from tests.graph.sketch import sketch

Archive = dict[str, list[dict[str, Any]]]
quick = settings(max_examples=60, deadline=None, derandomize=True)


@contextmanager
def long_ways() -> Iterator[None]:
    """Has every file walked node by node, all nodes numbered one by one, all descent counted."""
    with ExitStack() as stack:
        stack.enter_context(patch.object(FileWalk, "hangs_together", lambda _: False))
        stack.enter_context(patch.object(import_module("plait.graph.forks"), "NEAR", 0))
        numbering = import_module("plait.graph.index")
        stack.enter_context(patch.object(numbering, "attrgetter", lambda _: lambda node: ""))
        yield


def both(archive: Archive) -> tuple[SessionGraph, SessionGraph]:
    """Return the graph of an archive by the short ways and by the long ones."""
    short = build(sources(archive))
    with long_ways():
        return short, build(sources(archive))


@quick
@given(archives)
def test_odd_archives_agree(archive: Archive) -> None:
    short, long = both(archive)
    assert short == long


@quick
@given(conversations)
def test_conversations_agree(archive: Archive) -> None:
    short, long = both(archive)
    assert short == long


def test_file_beginning_with_the_last_record_of_another_is_walked() -> None:
    text = "file a\nU1\nA1<\nfile b\ncopy a:A1\nU2<A1\nA2<"
    short = sketch(text)
    with long_ways():
        assert sketch(text).graph == short.graph


def test_parents_after_their_children_are_found() -> None:
    text = "U1\nA2<A1\nA1<U1\nU2<A2\nA3<"
    short = sketch(text)
    with long_ways():
        assert sketch(text).graph == short.graph
