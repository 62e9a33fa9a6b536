"""Conversations of a session to the files they touched: by file and by turn."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from plait.conversation.changes import CHANGING, Touch, touches_of
from plait.conversation.model import Conversations
from plait.conversation.versions.model import NetChange
from plait.graph.paths import SPOKEN
from plait.view.text import shortened
from plait.view.words import plain_words

LONGEST = 160


class Handled(Struct, frozen=True, kw_only=True):
    """Something that happened to a file, and where in the session."""

    number: int
    """From 1, over all of the session."""
    touch: Touch
    line: str
    """The conversation."""
    by: str | None = None
    """The agent's task, None where it happened in the conversation itself."""
    turn: int
    """Of the conversation that people had: an agent counts where it was sent out."""
    is_active: bool = True

    @property
    def is_change(self) -> bool:
        """Tells whether the file is another since."""
        return self.touch.action in CHANGING and self.touch.outcome == "ok"


class FileStory(Struct, frozen=True, kw_only=True):
    """A file with all that happened to it."""

    number: int
    path: str
    handled: tuple[Handled, ...]
    reads: int = 0
    changes: int = 0
    failed: int = 0
    added: int = 0
    removed: int = 0
    is_new: bool = False
    net: NetChange | None = None
    """What became of it in all; None where it was not changed."""


class TurnStory(Struct, frozen=True, kw_only=True):
    """A turn with the files that it touched."""

    number: int
    words: str
    uuid: str | None
    handled: tuple[Handled, ...]


class ChangedFiles(Struct, frozen=True, kw_only=True):
    """What a session did to files."""

    files: tuple[FileStory, ...]
    """Those that changed first, then the others, each in the order of their first touch."""
    turns: tuple[TurnStory, ...]
    """Of the conversation that Claude would go on with."""


def changed_files(told: Conversations, net: Mapping[str, NetChange] | None = None) -> ChangedFiles:
    """Returns what all conversations of a session did to files, with what came of it in all."""
    handled = tuple(_all_handled(told))
    stories = tuple(_stories(handled, net or {}))
    return ChangedFiles(files=stories, turns=tuple(_turns_of(told, handled)))


def _all_handled(told: Conversations) -> Iterator[Handled]:
    from plait.conversation.versions.events import sending_turns

    turns = {name: turn for name, (_, turn) in sending_turns(told).items()}
    others = [one for one in told.by_line.values() if one.id != told.main]
    number = 0
    for one in (told.active, *others):
        is_spoken = one.kind in SPOKEN
        words = None if is_spoken else shortened(one.label or one.agent or one.id, LONGEST)
        for touch in touches_of(one):
            number += 1
            yield Handled(
                number=number,
                touch=touch,
                line=one.id,
                by=words,
                turn=touch.turn if is_spoken else turns.get(one.id, 0),
                is_active=one.is_active,
            )


def _stories(handled: tuple[Handled, ...], net: Mapping[str, NetChange]) -> Iterator[FileStory]:
    from plait.conversation.versions.events import whole_path

    by_path: dict[str, list[Handled]] = {}
    for one in handled:
        by_path.setdefault(one.touch.path, []).append(one)
    ordered = sorted(by_path.items(), key=lambda pair: not any(one.is_change for one in pair[1]))
    for number, (path, found) in enumerate(ordered, 1):
        yield _story(number, path, found, net.get(whole_path(path, None)))


def _story(number: int, path: str, found: list[Handled], net: NetChange | None) -> FileStory:
    done = [one for one in found if one.touch.outcome == "ok"]
    patches = [one.touch.patch for one in done if one.touch.patch]
    return FileStory(
        number=number,
        path=path,
        handled=tuple(found),
        reads=sum(one.touch.action == "read" for one in done),
        changes=sum(one.is_change for one in done),
        failed=len(found) - len(done),
        added=sum(patch.added for patch in patches),
        removed=sum(patch.removed for patch in patches),
        is_new=any(one.touch.action == "created" for one in done),
        net=net,
    )


def _turns_of(told: Conversations, handled: tuple[Handled, ...]) -> Iterator[TurnStory]:
    agents = {one.id for one in told.by_line.values() if one.kind not in SPOKEN}
    by_turn: dict[int, list[Handled]] = {}
    for one in handled:
        if one.line == told.main or (one.line in agents and one.is_active):
            by_turn.setdefault(one.turn, []).append(one)
    for turn in told.active.turns:
        if turn.number in by_turn:
            yield TurnStory(
                number=turn.number,
                words=shortened(plain_words(turn.opener.text), LONGEST) if turn.opener else "",
                uuid=turn.opener.uuid if turn.opener else None,
                handled=tuple(by_turn[turn.number]),
            )
