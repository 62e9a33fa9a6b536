"""Strings and bytes of files to lines, and lines after a change: by its patch or what it replaced.

The client logs line ends as newlines and no byte order mark, whatever the file has: lines are
compared without.
"""

from collections.abc import Iterator, Sequence
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from plait.conversation.patches import Hunk
from plait.conversation.versions.model import FileEvent, Replacement, Text

MOST_BYTES = 32 << 20
"""Larger files are not looked into."""
NOTHING = Text(())
UNSEEN = Text((), is_whole=False)
"""A file of which nothing is known."""
MARK = "\0"
"""What a line begins with that nobody has seen; no two of them are the same."""
_NUMBERS = count()


def text_of(content: str) -> Text:
    """Returns a text as the log has it."""
    lines = content.removeprefix("\ufeff").split("\n")
    is_ended = len(lines) > 1 and not lines[-1]
    found = lines[:-1] if is_ended or not lines[-1] else lines
    return Text(tuple(line.removesuffix("\r") for line in found), is_ended or not found)


def text_in(data: bytes) -> Text | None:
    """Returns the text that a file holds, None where it is none."""
    if len(data) > MOST_BYTES or b"\0" in data:
        return None
    found = text_of(data.decode("utf-8", "surrogateescape"))
    ends, long = data.count(b"\n"), data.count(b"\r\n")
    if long:
        return Text(found.lines, found.is_ended, "\r\n" if ends == long else None)
    return Text(found.lines, found.is_ended, "\n")


class Region(Struct, frozen=True):
    """Lines of the old text, and the lines of the new one in their place."""

    old: tuple[int, int]
    new: tuple[int, int]


class Changed(Struct, frozen=True):
    """A text after a change, and where it is another."""

    text: Text
    regions: tuple[Region, ...]


def change_in(event: FileEvent, before: Text) -> Changed | None:
    """Returns what an event makes of a text, None where it does not fit or nobody can say."""
    if not before.is_whole:
        return _patched(event.hunks, before) if event.hunks and event.after is None else None
    replaced = _replaced(event.replacements, before) if event.replacements else None
    patched = _patched(event.hunks, before) if event.hunks else None
    after = event.after or (patched or replaced or Changed(before, ())).text
    if event.after is None and not (patched or replaced):
        return None
    if _is_elsewhere(event, before) and not patched:
        return None
    for found in (replaced, patched):
        if found and found.text.lines == after.lines:
            return Changed(_with_end(after, before), found.regions)
    whole = Region((0, len(before.lines)), (0, len(after.lines)))
    return Changed(_with_end(after, before), (whole,))


def widened(changed: Changed, before: Text) -> Iterator[Region]:
    """Yields where a text is another, with lines beside it that may be what came or went.

    x          x                      one of both came: nobody can say which
    b    ->    b   +b   x
    """
    old, new, low = before.lines, changed.text.lines, 0
    ends = [region.old[0] for region in changed.regions[1:]] + [len(old)]
    for region, high in zip(changed.regions, ends, strict=True):
        up, down = _slides(region, old, new, low, high)
        found = Region(
            (region.old[0] - up, region.old[1] + down), (region.new[0] - up, region.new[1] + down)
        )
        low = found.old[1]
        yield found


def _slides(
    region: Region, old: Sequence[str], new: Sequence[str], low: int, high: int
) -> tuple[int, int]:
    """Returns how many lines above and below a change could be part of it instead."""
    (o1, o2), (n1, n2) = region.old, region.new
    first, last = o1, o2
    while o1 < o2 and n1 < n2 and old[o1] == new[n1]:
        o1, n1 = o1 + 1, n1 + 1
    while o1 < o2 and n1 < n2 and old[o2 - 1] == new[n2 - 1]:
        o2, n2 = o2 - 1, n2 - 1
    block = new[n1:n2] or old[o1:o2]
    if (o1 < o2 and n1 < n2) or not block:
        return 0, 0
    up = down = 0
    while o1 - up > low and old[o1 - up - 1] == block[-1 - up % len(block)]:
        up += 1
    while o2 + down < high and old[o2 + down] == block[down % len(block)]:
        down += 1
    return max(up - (o1 - first), 0), max(down - (last - o2), 0)


def _is_elsewhere(event: FileEvent, before: Text) -> bool:
    """Tells whether a patch says that the file held something else than this."""
    is_told = event.before is not None or event.after is not None
    return not is_told and bool(event.hunks) and not _is_near(event.hunks, before)


def _with_end(after: Text, before: Text) -> Text:
    return after if after.line_end else replace(after, line_end=before.line_end)


def before_of(event: FileEvent) -> Text | None:
    """Returns what a file held before a change whose result and patch are known."""
    if event.before is not None:
        return event.before
    if event.kind == "created":
        return NOTHING
    if event.after is None or not event.hunks:
        return None
    found = _patched(tuple(map(_turned, event.hunks)), event.after)
    return found.text if found else None


def added_lines(event: FileEvent) -> Iterator[str]:
    """Yields the lines that a change is known to have added, wherever they stand."""
    if event.hunks:
        for hunk in event.hunks:
            removed = {line[1:] for line in hunk.lines if line[:1] in "- "}
            added = (line[1:] for line in hunk.lines if line[:1] == "+")
            yield from (line for line in added if line not in removed)
        return
    for one in event.replacements:
        old = set(one.old.split("\n"))
        yield from (line for line in one.new.split("\n")[1:-1] if line not in old)


def _turned(hunk: Hunk) -> Hunk:
    swap = {"+": "-", "-": "+"}
    lines = tuple(swap.get(line[:1], line[:1]) + line[1:] for line in hunk.lines)
    return Hunk(hunk.new_start, hunk.new_lines, hunk.old_start, hunk.old_lines, lines)


def _patched(hunks: Sequence[Hunk], before: Text) -> Changed | None:
    """Returns a text with a patch applied, exactly where it says and as it says."""
    lines: list[str] = []
    regions: list[Region] = []
    place, is_ended = 0, before.is_ended
    for hunk in hunks:
        old, new, ended = _sides(hunk)
        start = min(max(hunk.old_start - bool(old), 0), len(before.lines))
        there = before.lines[start : start + len(old)]
        if start < place or not (there == tuple(old) if before.is_whole else _alike(there, old)):
            return None
        lines += before.lines[place:start]
        regions.append(Region((start, start + len(old)), (len(lines), len(lines) + len(new))))
        lines += new
        place = start + len(old)
        is_ended = is_ended if ended is None else ended
    lines += before.lines[place:]
    return Changed(Text(tuple(lines), is_ended, is_whole=before.is_whole), tuple(regions))


def revealed(before: Text, hunks: Sequence[Hunk]) -> Text | None:
    """Returns a text that is known in parts with what a patch tells of it, None where it differs.

    The spaces that a line begins with may have been tabs: the client draws them so in patches.
    """
    lines = list(before.lines)
    for hunk in hunks:
        old = _sides(hunk)[0]
        start = max(hunk.old_start - bool(old), 0)
        lines += [f"{MARK}{next(_NUMBERS)}" for _ in range(start + len(old) - len(lines))]
        for place, line in enumerate(old, start):
            if lines[place].startswith(MARK):
                lines[place] = line
        if not _alike(lines[start : start + len(old)], old):
            return None
    return replace(before, lines=tuple(lines))


def filled(known: Text, seen: Text) -> bool:
    """Tells whether a text is one that was known in parts."""
    if known.is_whole or len(seen.lines) < len(known.lines):
        return False
    return all(
        one.startswith(MARK) or one.strip() == other.strip()
        for one, other in zip(known.lines, seen.lines, strict=False)
    )


def _alike(there: Sequence[str], lines: Sequence[str]) -> bool:
    return [line.strip() for line in there] == [line.strip() for line in lines]


def _sides(hunk: Hunk) -> tuple[list[str], list[str], bool | None]:
    """Returns the lines before and after, and whether the last one has an end if that is said."""
    old: list[str] = []
    new: list[str] = []
    last, ended = "", None
    for line in hunk.lines:
        sign, rest = line[:1], line[1:].removesuffix("\r")
        if sign == "\\":
            ended = last == "-" if ended is None or last != "-" else ended
            continue
        last = sign
        if sign in ("-", " ", ""):
            old.append(rest)
        if sign in ("+", " ", ""):
            new.append(rest)
    return old, new, ended


def _is_near(hunks: Sequence[Hunk], before: Text) -> bool:
    """Tells whether a patch stands where it says, whatever became of the space before lines.

    The client draws tabs at the start of a line as spaces in some patches.
    """
    for hunk in hunks:
        old = _sides(hunk)[0]
        start = max(hunk.old_start - bool(old), 0)
        if not _alike(before.lines[start : start + len(old)], old):
            return False
    return True


def _replaced(replacements: Sequence[Replacement], before: Text) -> Changed | None:
    """Returns a text with texts replaced, None where one does not stand there or stands twice."""
    text = "\n".join(before.lines) + ("\n" if before.is_ended and before.lines else "")
    spans: list[tuple[int, int, int]] | None = []
    for one in replacements:
        old, new = one.old.replace("\r\n", "\n"), one.new.replace("\r\n", "\n")
        if not new and not old.endswith("\n") and f"{old}\n" in text:
            old = f"{old}\n"  # format: what goes for nothing goes with the end of its line
        times = text.count(old) if old else 0
        if not times or (times > 1 and not one.is_everywhere):
            return None
        spans = _spans(text, old, new) if len(replacements) == 1 else None
        text = text.replace(old, new)
    after = text_of(text)
    if spans is None:
        whole = Region((0, len(before.lines)), (0, len(after.lines)))
        return Changed(after, (whole,))
    return Changed(after, tuple(_regions(before, after, spans)))


def _spans(text: str, old: str, new: str) -> list[tuple[int, int, int]]:
    """Returns the lines that each place touches, and how many more lines there are after it."""
    found, place, line = [], 0, 0
    grown = new.count("\n") - old.count("\n")
    while (there := text.find(old, place)) >= 0:
        line += text.count("\n", place, there)
        end = line + old.count("\n")
        found.append((line, end + (not _ends_alike(text, there, old, new)), grown))
        place, line = there + len(old), end
    return found


def _ends_alike(text: str, there: int, old: str, new: str) -> bool:
    """Tells whether the line behind is left as it was: what goes and what comes are whole lines."""
    if not old.endswith("\n"):
        return False
    return new.endswith("\n") or (not new and (there == 0 or text[there - 1] == "\n"))


def _regions(before: Text, after: Text, spans: Sequence[tuple[int, int, int]]) -> Iterator[Region]:
    shift = 0
    joined: list[tuple[int, int, int]] = []
    for start, end, grown in spans:
        if joined and start < joined[-1][1]:
            first, _, earlier = joined.pop()
            start, grown = first, earlier + grown
        joined.append((start, end, grown))
    for start, end, grown in joined:
        last, new_last = min(end, len(before.lines)), min(end + shift + grown, len(after.lines))
        first = min(start, len(before.lines))
        yield Region((first, last), (min(start + shift, len(after.lines)), new_last))
        shift += grown
