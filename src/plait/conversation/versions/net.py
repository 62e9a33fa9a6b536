"""What happened to files to one change for each: from the first that is known to the last."""

from collections.abc import Iterable

from plait.conversation.patches import Hunk, hunks_between
from plait.conversation.versions.model import FileEvent, NetChange, Text, Version
from plait.conversation.versions.story import Stories, Story
from plait.conversation.versions.text import MARK

DRAWN = "  "
"""What the client draws for a tab at the start of a line of a patch."""


def net_changes(events: Iterable[FileEvent]) -> dict[str, NetChange]:
    """Returns what became of each file that was changed, in the order of the first change."""
    by_path: dict[str, list[FileEvent]] = {}
    for event in events:
        by_path.setdefault(event.path, []).append(event)
    stories = (Stories().take(found).at(path) for path, found in by_path.items())
    changed = [one for one in stories if any(event.is_change for event in one.events)]
    changed.sort(key=lambda one: next(event.time for event in one.events if event.is_change))
    return {one.path: net_change(one) for one in changed}


def net_change(story: Story) -> NetChange:
    """Returns what became of one file."""
    done = [event for event in story.events if event.is_change]
    turns = tuple(dict.fromkeys(event.origin.turn for event in done))
    places = [place for place, one in enumerate(story.versions) if one.event]
    first, last = story.versions[max(places[0] - 1, 0)], story.versions[places[-1]]
    before, after = (story.text_of(one) for one in (first, last))
    within = story.versions[places[0] : places[-1] + 1]
    found = NetChange(path=story.path, changes=len(done), turns=turns, is_known=False)
    if before is None or after is None or places[0] == 0 or _is_broken(within):
        return found
    hunks = _hunks(before, after)
    signs = [line[:1] for hunk in hunks for line in hunk.lines]
    return NetChange(
        path=story.path,
        changes=len(done),
        turns=turns,
        hunks=hunks,
        added=signs.count("+"),
        removed=signs.count("-"),
        is_new=not first.is_there,
        has_others=any(one.is_foreign for one in within),
    )


def _is_broken(versions: Iterable[Version]) -> bool:
    """Tells whether the file is not known somewhere between, so that parts do not compare."""
    found = list(versions)
    is_partial = any(one.text is not None and not one.text.is_whole for one in found)
    return any(one.text is None for one in found) or (
        is_partial and any(one.is_foreign for one in found)
    )


def _hunks(before: Text, after: Text) -> tuple[Hunk, ...]:
    if before.is_whole and after.is_whole:
        return hunks_between(str(before), str(after))
    old, new = ("".join(f"{_drawn(line)}\n" for line in one.lines) for one in (before, after))
    return tuple(_seen_part(hunk) for hunk in hunks_between(old, new))


def _drawn(line: str) -> str:
    rest = line.lstrip("\t")
    return DRAWN * (len(line) - len(rest)) + rest


def _seen_part(hunk: Hunk) -> Hunk:
    """Returns a stretch without the lines around it that nobody has seen."""
    lines = list(hunk.lines)
    lead = 0
    while lines and lines[0][1:2] == MARK:
        lines.pop(0)
        lead += 1
    trail = 0
    while lines and lines[-1][1:2] == MARK:
        lines.pop()
        trail += 1
    gone = lead + trail
    return Hunk(
        hunk.old_start + lead,
        hunk.old_lines - gone,
        hunk.new_start + lead,
        hunk.new_lines - gone,
        tuple(lines),
    )
