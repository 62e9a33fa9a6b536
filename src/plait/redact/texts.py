"""Texts in values: joined to be searched once, decoded as readers see them, and put back.

Most lines contain nothing to hide, and to find that out their texts may be searched in any order.
Only where something is found are the fields walked with care.
"""

import dataclasses
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple, TypeAlias

import msgspec

from plait.redact.contexts import NOUNS
from plait.redact.expression import compile_expression
from plait.redact.model import Island, TextSpan
from plait.redact.people import ACCOUNT_NAMES

# By its first letter, so that the search skips everything else at once.
CODES = re.compile(
    rb"[\x1b\\%&=](?:(?<=\x1b)\[[0-9;?]*[A-Za-z]"
    rb"|(?<=\\)\\{0,3}(?:(?:u001[bB]|x1b|e|033)\[[0-9;?]*[A-Za-z]"
    rb"|u(?P<unit>[0-9a-fA-F]{4})|x(?P<byte>[0-9a-fA-F]{2})|(?P<slash>/))"
    rb"|(?<=%)(?:25)*(?P<percent>[0-9a-fA-F]{2})"
    rb"|(?<=&)(?:amp;)*(?:#(?P<number>[0-9]{2,5});|#[xX](?P<hexa>[0-9a-fA-F]{2,4});"
    rb"|(?P<name>quot|apos|lt|gt|amp|nbsp|colon|equals);)|(?<==)(?P<printable>3D))"
)
ENTITIES = {b"quot": b'"', b"apos": b"'", b"lt": b"<", b"gt": b">", b"amp": b"&", b"nbsp": b" "}
ENTITIES |= {b"colon": b":", b"equals": b"="}
WRAPPING = compile_expression(
    rb"\x1b\[|\\[u/x]|%[2-7][0-9a-fA-F]|&(?:#[0-9xX]|quot;|apos;|lt;|amp;|colon;)|=3D"
)


class Piece(NamedTuple):
    """A range that was copied, or one that was written differently."""

    start: int
    """Its position in the new text."""
    source: TextSpan
    is_copy: bool


Letter: TypeAlias = Callable[[re.Match[bytes]], bytes]


class View:
    """A text with one kind of wrapping removed, and the origin of each range of it."""

    def __init__(
        self,
        original: bytes,
        codes: Iterable[re.Match[bytes]],
        letter: Letter,
        parent: "View | None" = None,
    ) -> None:
        self._original, self._codes, self._letter = original, list(codes), letter
        self._parent = parent
        parts: list[bytes] = []
        place = 0
        for code in self._codes:
            parts += (original[place : code.start()], letter(code))
            place = code.end()
        self.text = b"".join((*parts, original[place:]))

    def without(self, codes: Iterable[re.Match[bytes]], letter: Letter) -> "View":
        """Return a view of this text with another kind of wrapping removed; itself if it has none."""
        found = View(self.text, codes, letter, self)
        return self if found.text == self.text else found

    def source(self, span: TextSpan) -> TextSpan:
        """Return the range of the original for a range of this text."""
        first = self.pieces[self._piece_at(span.start)]
        last = self.pieces[self._piece_at(span.end - 1)]
        start = first.source.start + (span.start - first.start if first.is_copy else 0)
        end = last.source.start + span.end - last.start if last.is_copy else last.source.end
        found = TextSpan(start, end)
        return self._parent.source(found) if self._parent else found

    def _piece_at(self, place: int) -> int:
        return bisect_right(self.pieces, place, key=lambda piece: piece.start) - 1

    @cached_property
    def pieces(self) -> list[Piece]:
        """Its ranges in order; computed only if something is found."""
        pieces: list[Piece] = []
        start = place = 0
        for code in self._codes:
            if code.start() > place:
                pieces.append(Piece(start, TextSpan(place, code.start()), True))
                start += code.start() - place
            letter = self._letter(code)
            if letter:
                pieces.append(Piece(start, TextSpan(*code.span()), False))
                start += len(letter)
            place = code.end()
        pieces.append(Piece(start, TextSpan(place, len(self._original)), True))
        return pieces


@lru_cache(2)
def is_wrapped(text: bytes) -> bool:
    """Return whether a text may look different when decoded."""
    return WRAPPING.search(text) is not None


@lru_cache(2)
def unwrap(text: bytes) -> View:
    """Return a text as a reader sees it."""
    return View(text, CODES.finditer(text), _letter_of)


# What a program writes before each line of a text: numbers, times, names, marks of a quotation, of a
# comment or of a difference.
MARGINS = (
    r"[ \t]{0,8}[0-9]{1,6}(?:\t|→|[:|](?![0-9/])|\)(?=[ \t]))[ ]?",
    r"(?:>[ ]?)+",
    r"(?://|#|--|;|::|\*|REM|rem|%|!)(?:[ \t]|(?=\n|\Z))",
    r"#(?=[a-z])",
    r"\^?[0-9a-f]{7,40}[ ](?:[A-Za-z0-9_./-]+[ ]+)?\([^()\n]{5,80}[0-9]\)[ ]?",
    r"[A-Za-z0-9_./-]{1,80}[/.][A-Za-z0-9_-]{1,20}[:-][0-9]{1,6}[:-](?:[0-9]{1,4}:)?",
    r"[IWEF][0-9]{4}[ ][0-9:.]+[ ]+[0-9]+[ ][A-Za-z0-9_./-]+:[0-9]+\][ ]?",
    r"[JFMASOND][a-z]{2}[ ][ 0-9][0-9][ ][0-9:]{8}(?:\.[0-9]+)?[ ][A-Za-z0-9_.-]+[ ][A-Za-z0-9_./@-]+(?:\[[0-9]+\])?:[ ]?",
    r"[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T ][0-9:.,]+(?:Z|[ ]?[+-][0-9]{2}:?[0-9]{2})?[ \t]+(?:std(?:out|err)[ ][FP][ ])?(?:\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\]?:?[ \t]+)?(?:\[[^\]\n]{1,40}\][ ]?)?",
    r"\[[0-9][^\]\n]{1,30}\][ \t]+(?:[A-Za-z0-9_.-]{1,40}(?:\[[0-9]+\])?:[ \t])?",
    r"[A-Za-z0-9_.-]{1,40}[ ]+\|[ ]",
    r"(?:│|┃)[ \t]?",
)
IN_PATCH = re.compile(rb"(?m)^(?:@@ |diff --git |\+\+\+ |\*\*\* )")
MARGIN = re.compile("(?m)^(?:{0})(?:[ \t]*(?:{0})){{0,2}}".format("|".join(MARGINS)).encode())
SIGNS = "[+-]|[!][ ]|[ ](?=[^ \\n])"
PATCH_MARGIN = re.compile(
    "(?m)^(?:{0})(?:[ \t]*(?:{0})){{0,2}}".format("|".join((*MARGINS, SIGNS))).encode()
)
ESCAPE = re.compile(rb"\\(?:([nrt])|([\\\"'`/$]))")
ESCAPED_LETTERS = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}
DOUBLED = re.compile(rb'""')
HAS_DOUBLED = re.compile(rb'""[^"\n,]{1,200}""')
MOST_LEVELS = 3


def _drop(match: re.Match[bytes]) -> bytes:
    return b""


def _unescaped(match: re.Match[bytes]) -> bytes:
    return match[2] or ESCAPED_LETTERS[match[1]]


def _halved(match: re.Match[bytes]) -> bytes:
    return b'"'


def iter_views(text: bytes) -> Iterator[View]:
    """Yield a text without its wrappings: codes, escapes of one to three levels, margins of lines."""
    seen = {text}
    view = unwrap(text)
    for level in range(MOST_LEVELS + 1):
        if level:
            inner = view.without(ESCAPE.finditer(view.text), _unescaped)
            if inner is view:
                return
            view = inner
        if HAS_DOUBLED.search(view.text):
            view = view.without(DOUBLED.finditer(view.text), _halved)
        margin = PATCH_MARGIN if IN_PATCH.search(view.text) else MARGIN
        shown = view.without(margin.finditer(view.text), _drop)
        joined = shown.without(find_full_line_breaks(shown.text), _drop)
        for found in (shown, joined):
            if found.text not in seen:
                seen.add(found.text)
                yield found


NARROWEST, WIDEST = 40, 250
USUAL_WIDTHS = frozenset((60, 64, 66, 68, 70, 72, 74, 76, 78, 79, 80, 100, 120, 132))
LINE_BREAK = re.compile(rb"\r?\n")
NEXT_STATEMENT = re.compile(
    rb"[ \t]|[-*#>|}\])]|[A-Za-z_][\w.-]*[\"']?[ \t]*(?::[ \t\r\n]|=)|\r?\Z"
)
"""What begins a line of its own rather than continuing a full one."""


def find_full_line_breaks(text: bytes) -> list[re.Match[bytes]]:
    """Return the line breaks that a terminal or an editor put into lines of the full width."""
    breaks = list(LINE_BREAK.finditer(text))
    starts = [0, *(item.end() for item in breaks)]
    ends = [*(item.start() for item in breaks), len(text)]
    widths = [end - start for start, end in zip(starts, ends, strict=True)]
    if not text.isascii():
        widths = [
            len(text[start:end].decode("utf-8", "replace"))
            for start, end in zip(starts, ends, strict=True)
        ]
    full = max(widths)
    if not NARROWEST <= full <= WIDEST:
        return []
    found = [item for item, width in zip(breaks, widths, strict=False) if width == full]
    if len(found) == 1:
        # One line is always the longest: it needs another sign of having been broken.
        line = text[found[0].start() - full : found[0].start()]
        is_usual = full in USUAL_WIDTHS or line.count(b"'") % 2 == 1 or line.count(b'"') % 2 == 1
        if not is_usual or NEXT_STATEMENT.match(text, found[0].end()):
            return []
    return [item for item in found if not text.startswith((b"\n", b"\r"), item.end())]


MOST_LETTERS = 10_000
_letters: dict[bytes, bytes] = {}
"""What the escapes met so far stand for: a text has few different ones."""


def _letter_of(code: re.Match[bytes]) -> bytes:
    letter = _letters.get(code[0])
    if letter is None:
        letter = _decoded(code)
        if len(_letters) < MOST_LETTERS:
            _letters[code[0]] = letter
    return letter


def _decoded(code: re.Match[bytes]) -> bytes:
    if unit := code["unit"] or code["hexa"]:
        return chr(int(unit, 16)).encode("utf-8", "surrogatepass")
    if code["number"]:
        number = int(code["number"])
        return chr(number).encode("utf-8", "surrogatepass")
    if code["name"]:
        return ENTITIES[code["name"]]
    digits = code["byte"] or code["percent"] or code["printable"]
    return bytes((int(digits, 16),)) if digits else code["slash"] or b""


# format: ids, kinds and times of a record, and what only machines read
FIXED = frozenset(
    """uuid parentUuid logicalParentUuid leafUuid sessionId session_id requestId request_id id
    tool_use_id toolUseId toolUseID parentToolUseID parent_tool_use_id sourceToolAssistantUUID
    sourceToolUseID messageId message_id messageUuid snapshotMessageId promptId agentId agent_id
    parentSessionId parentLastUuid bridgeSessionId interruptedMessageId source_uuid anchorUuid
    headUuid tailUuid uuids allUuids compactedToolIds clearedAttachmentUUIDs supersedesUuids
    collapseId summaryUuid type subtype role timestamp backupTime backupFileName model version
    stop_reason userType media_type signature originalHeadCommit""".split()
)
# What those fields usually hold; anything else in them is read like a text.
USUAL = re.compile(
    r"[0-9a-fA-F-]{1,64}"  # uuids, hashes, ids of agents
    r"|(?:toolu|srvtoolu|mcptoolu|msg|req|call|cse|session)_[A-Za-z0-9_-]{1,64}"
    r"|[a-z]{1,32}(?:[_/+-][a-z]{1,32}){0,6}"  # kinds
    r"|claude-[a-z0-9.@-]{1,48}|<synthetic>"
    r"|[0-9][0-9T:.,Z+ -]{0,40}"  # times, versions
    r"|[0-9a-f]{1,64}@v[0-9]{1,6}"
)
PACKED = re.compile(r"[A-Za-z0-9+/\s]*={0,2}\s*")
"""What is only for machines: a signature, the bytes of an image."""
SIGNATURE = "signature"
PICTURES = frozenset(("data", "base64"))
PICTURE_TYPES = ("base64", "image", "redacted_thinking", "image/png", "image/jpeg", "pdf")
# Tool inputs have keys of their own: an `id` there may be anything.
FREE = frozenset(("input", "structuredContent"))
SHORT_KEY = 2
"""So short that it reveals nothing."""
# Of messages, of usual tool inputs, and of their results.
USUAL_KEYS = frozenset(
    """message content text thinking source data input output command description prompt file_path
    path pattern query url old_string new_string replace_all edits todos plan name value key code
    status subject questions answers options header label question answer lines file filePath
    toolUseResult attachment snapshot summary customTitle aiTitle lastPrompt cwd gitBranch
    structuredPatch stdout stderr title citations trackedFileBackups compactMetadata result error
    notebook_path new_source subagent_type skill args glob files steps notes request response body
    headers config env settings arguments params isSidechain isMeta slug entrypoint level usage
    input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens cache_creation
    ephemeral_5m_input_tokens ephemeral_1h_input_tokens service_tier inference_geo server_tool_use
    web_search_requests web_fetch_requests speed stop_sequence stop_details context_management
    caller is_error isSnapshotUpdate oldStart oldLines newStart newLines startLine numLines
    totalLines limit offset output_mode head_limit timeout run_in_background activeForm priority
    diagnostics blocks blockedBy from operation messageCount stopReason start end kind owner
    origin""".split()
)


@cache
def known_keys() -> frozenset[str]:
    """Return the keys of the format itself, whatever a log contains."""
    from plait.record.fields import ATTACHMENT_FIELDS, EXTRA_FIELDS, PROGRESS_FIELDS, STATE_FIELDS
    from plait.record.types import RESULT_FIELDS

    tables = (ATTACHMENT_FIELDS, EXTRA_FIELDS, PROGRESS_FIELDS, STATE_FIELDS, RESULT_FIELDS)
    return USUAL_KEYS.union(FIXED, *(table.names(kind) for table in tables for kind in table))


class Leaf(NamedTuple):
    """One text, its container and its key there."""

    node: int
    key: Any
    text: str
    is_key: bool = False
    """Whether the text is itself a key."""


class Node(NamedTuple):
    """One container, its own container and its key there."""

    value: Any
    parent: int
    key: Any
    is_free: bool


class Tree:
    """The containers and the texts of one value, in order."""

    def __init__(self, value: Any) -> None:
        self.nodes: list[Node] = [Node(value, -1, None, False)]
        self.leaves: list[Leaf] = []
        self.inner_first: list[int] = []
        """The numbers of containers, each after everything it contains."""
        self.again: dict[int, list[tuple[int, Any]]] = {}
        """Further places of a container: in which other, by which key."""
        waiting = [(0, iter(_parts_of(value, is_free=False)))]
        known: dict[int, int] = {id(value): 0}
        while waiting:
            number, parts = waiting[-1]
            for key, part, is_key in parts:
                if isinstance(part, str):
                    self.leaves.append(Leaf(number, key, part, is_key))
                elif id(part) in known:
                    self.again.setdefault(known[id(part)], []).append((number, key))
                else:
                    inner = known[id(part)] = len(self.nodes)
                    is_free = self.nodes[number].is_free or key in FREE
                    self.nodes.append(Node(part, number, key, is_free))
                    waiting.append((inner, iter(_parts_of(part, is_free=is_free))))
                    break
            else:
                self.inner_first.append(number)
                waiting.pop()

    @property
    def count_of_keys(self) -> int:
        """The number of keys in all dicts."""
        return sum(len(node.value) for node in self.nodes if isinstance(node.value, dict))

    def keys(self, leaf: Leaf) -> list[Any]:
        """Return the keys that lead to a text."""
        keys = [] if leaf.key is None else [leaf.key]
        node = self.nodes[leaf.node]
        while node.parent >= 0:
            keys.append(node.key)
            node = self.nodes[node.parent]
        return keys[::-1]

    def place(self, leaf: Leaf) -> str:
        """Return the path to a text, such as `message.content[0].text`, for a report.

        A key outside the format is written as `*`: it may be anything.
        """
        steps = (
            f"[{key}]"
            if isinstance(key, int)
            else f".{key if (isinstance(key, str) and (len(key) <= SHORT_KEY or key in known_keys())) else '*'}"
            for key in self.keys(leaf)
        )
        return "".join(steps).lstrip(".")

    def replace(self, texts: dict[int, str]) -> Any:
        """Return the value with some leaves replaced, by their numbers."""
        changes: dict[int, dict[Any, Any]] = {}
        renamed: dict[int, dict[Any, str]] = {}
        for number, text in texts.items():
            leaf = self.leaves[number]
            (renamed if leaf.is_key else changes).setdefault(leaf.node, {})[leaf.key] = text
        for number in self.inner_first:
            if number not in changes and number not in renamed:
                continue
            node = self.nodes[number]
            value = _rebuilt(node.value, changes.get(number, {}), renamed.get(number, {}))
            if node.parent < 0:
                return value
            for parent, key in ((node.parent, node.key), *self.again.get(number, ())):
                changes.setdefault(parent, {})[key] = value
        return self.nodes[0].value


def _parts_of(value: Any, *, is_free: bool) -> list[tuple[Any, Any, bool]]:
    """Return the texts and containers directly in a container, by key; odd keys as texts."""
    if type(value) is list:
        return [(key, item, False) for key, item in enumerate(value) if _is_looked_at(item)]
    if not isinstance(value, dict):
        return [(key, item, False) for key, item in _members_of(value) if _is_looked_at(item)]
    found: list[tuple[Any, Any, bool]] = []
    for key, member in value.items():
        if key not in USUAL_KEYS and isinstance(key, str) and _is_odd(key):
            found.append((key, key, True))
        kind = type(member)
        if kind in DULL or not (kind in LOOKED_AT or _is_looked_at(member)):
            continue
        if key in FIXED and not is_free and is_usual(key, member):
            continue
        if not (key in PICTURES and is_picture(value, member)):
            found.append((key, member, False))
    return found


LOOKED_AT = frozenset((str, dict, list))
DULL = frozenset((int, float, bool, type(None)))


def _is_looked_at(member: Any) -> bool:
    return type(member) in LOOKED_AT or isinstance(member, str) or _is_container(member)


@lru_cache(4096)
def _is_odd(key: str) -> bool:
    return len(key) > SHORT_KEY and key not in known_keys()


def is_usual(key: str, value: Any) -> bool:
    """Return whether a field of a record has its usual form and no free text."""
    if isinstance(value, str):
        is_short = len(value) <= LONGEST_USUAL
        return _is_packed(value) if key == SIGNATURE else is_short and _is_usual_text(value)
    if isinstance(value, list | tuple):
        return all(isinstance(item, str) and USUAL.fullmatch(item) for item in value)
    return not _is_container(value)


LONGEST_USUAL = 256


@lru_cache(4096)
def _is_usual_text(value: str) -> bool:
    return USUAL.fullmatch(value) is not None


def is_picture(value: dict[Any, Any], member: Any) -> bool:
    """Return whether a member of a dict is the bytes of an image."""
    has_type = "media_type" in value or value.get("type") in PICTURE_TYPES
    return has_type and _is_packed(member)


def _is_packed(value: Any) -> bool:
    return isinstance(value, str) and PACKED.fullmatch(value) is not None


def _is_container(value: Any) -> bool:
    if isinstance(value, dict | list | tuple | msgspec.Struct):
        return True
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _members_of(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, list | tuple):
        yield from enumerate(value)
    elif isinstance(value, msgspec.Struct):
        yield from ((name, getattr(value, name)) for name in value.__struct_fields__)
    elif _is_container(value):
        for field in dataclasses.fields(value):
            yield field.name, getattr(value, field.name, None)


def _rebuilt(value: Any, changes: dict[Any, Any], renamed: dict[Any, str]) -> Any:
    if isinstance(value, dict):
        return {renamed.get(key, key): changes.get(key, old) for key, old in value.items()}
    if isinstance(value, list):
        return [changes.get(place, old) for place, old in enumerate(value)]
    if isinstance(value, tuple):
        members = [changes.get(place, old) for place, old in enumerate(value)]
        return value._make(members) if hasattr(value, "_make") else tuple(members)
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.replace(value, **changes)
    return dataclasses.replace(value, **changes)


def holds_more(raw: bytes, keys: int) -> bool:
    """Return whether a line holds more values than its fields: a repeated key.

    The bytes of such a line contain what nobody has read.
    """
    written = raw.count(b'":') - raw.count(b'\\":')
    return (written != keys or ODD_KEY.search(raw) is not None) and _has_twins(raw)


ODD_KEY = compile_expression(rb'"[ \t\r\n]+:|\\\\":')
"""A key that is not delimited as usual."""


def _has_twins(raw: bytes) -> bool:
    found: list[bool] = []

    def check_keys(pairs: list[tuple[str, Any]]) -> None:
        found.append(len({key for key, _ in pairs}) < len(pairs))

    json.loads(raw.decode("utf-8", "replace"), object_pairs_hook=check_keys)
    return any(found)


REVEALING = f"{NOUNS}|[aA]uthorization|AUTHORIZATION|[cC]ookie|^auth$|{'|'.join(ACCOUNT_NAMES)}"
REVEALING_KEY = compile_expression(REVEALING.encode())
NAMES = ("name", "key", "Name", "Key")
VALUES = frozenset(("value", "Value"))
BETWEEN_TEXTS, BETWEEN_LINES, BETWEEN_NEIGHBOURS = b"\0", b"\n", b"\x1f"
PLAINLY = (BETWEEN_TEXTS, b"")
PLAIN_KEYS = frozenset("text content cwd gitBranch command file_path thinking stdout".split())
"""Keys that say nothing about their texts, for a shortcut through common fields."""


class Joined:
    """All texts of a tree as one, with their positions.

    The separator between two texts says whether the second continues the first.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.starts: list[int] = []
        self.texts: list[bytes] = []
        self._around: list[tuple[bytes, bytes]] = []
        parts: list[bytes] = []
        place = 0
        before: Leaf | None = None
        for leaf in tree.leaves:
            around = self._surroundings(before, leaf)
            opening, closing = around
            text = leaf.text.encode("utf-8", "surrogatepass")
            parts += (opening, text, closing)
            self.texts.append(text)
            self._around.append(around)
            self.starts.append(place + len(opening))
            place += len(opening) + len(text) + len(closing)
            before = leaf
        self.data = b"".join(parts)

    @cached_property
    def islands(self) -> list[Island]:
        """The independent ranges, in order."""
        spans = [
            TextSpan(at, at + len(item)) for at, item in zip(self.starts, self.texts, strict=True)
        ]
        found: list[Island] = []
        first = 0
        for last, span in enumerate(spans, 1):
            if last < len(spans) and self._around[last][0][:1] != BETWEEN_TEXTS:
                continue
            opening, _ = self._around[first]
            start, end = (
                spans[first].start - len(opening) + 1,
                span.end + len(self._around[last - 1][1]),
            )
            is_alone = last == first + 1 and opening == BETWEEN_TEXTS
            found.append(Island(TextSpan(start, end), () if is_alone else tuple(spans[first:last])))
            first = last
        return found

    def _surroundings(self, before: Leaf | None, leaf: Leaf) -> tuple[bytes, bytes]:
        key = leaf.key
        if key in PLAIN_KEYS and (before is None or before.key != "text"):
            return PLAINLY
        if isinstance(key, int):
            is_next = before is not None and before.node == leaf.node
            return (BETWEEN_LINES if is_next else BETWEEN_TEXTS), b""
        if key in VALUES:
            key = self._name_next_to(leaf) or key
        if isinstance(key, str) and not leaf.is_key and is_revealing_key(key):
            return b'\0"' + key.encode("utf-8", "surrogatepass") + b'":"', b'"'
        if before and key == "text" == before.key and self._are_neighbours(before, leaf):
            return BETWEEN_NEIGHBOURS, b""
        return BETWEEN_TEXTS, b""

    def _name_next_to(self, leaf: Leaf) -> str | None:
        value = self.tree.nodes[leaf.node].value
        if not isinstance(value, dict):
            return None
        found = next((value[name] for name in NAMES if name in value), None)
        return found if isinstance(found, str) else None

    def _are_neighbours(self, before: Leaf, leaf: Leaf) -> bool:
        node, other = self.tree.nodes[before.node], self.tree.nodes[leaf.node]
        return (
            node.parent == other.parent and isinstance(other.key, int) and other.key == node.key + 1
        )

    def leaf_at(self, span: TextSpan) -> tuple[int, TextSpan] | None:
        """Return the number of the text that contains a range, and its position there."""
        number = bisect_right(self.starts, span.start) - 1
        if number < 0:
            return None
        start = span.start - self.starts[number]
        end = span.end - self.starts[number]
        return (number, TextSpan(start, end)) if end <= len(self.texts[number]) else None


@lru_cache(4096)
def is_revealing_key(key: str) -> bool:
    """Return whether a key says what its text is."""
    return REVEALING_KEY.search(key.encode("utf-8", "surrogatepass")) is not None


class Texts:
    """The texts of some fields; those of one list are lines of one text."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.lists: dict[int, list[str]] = {}
        """The lines of some of the texts, by their numbers."""
        self.keys = 0
        """The number of keys."""

    def add_list(self, parts: list[Any]) -> None:
        """Add the texts directly in a list."""
        lines = [part for part in parts if type(part) is str]
        if lines:
            self.lists[len(self.texts)] = lines
            self.texts.append("\n".join(lines))

    @cached_property
    def data(self) -> bytes:
        """All texts, joined."""
        return "\0".join(self.texts).encode("utf-8", "surrogatepass")

    @cached_property
    def islands(self) -> list[Island]:
        """Where the texts are in the joined text."""
        found: list[Island] = []
        place = 0
        for number, text in enumerate(self.texts):
            span = _span_of(text, place)
            found.append(Island(span, self._lines_of(number, place)))
            place = span.end + 1
        return found

    def _lines_of(self, number: int, place: int) -> tuple[TextSpan, ...]:
        lines = []
        for line in self.lists.get(number, ()):
            lines.append(_span_of(line, place))
            place = lines[-1].end + 1
        return tuple(lines)


def _span_of(text: str, place: int) -> TextSpan:
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return TextSpan(place, place + size)


def collect_texts(fields: Any) -> Texts | None:
    """Return the texts in some fields, each as it is read alone.

    None if a key says what its text is, or if texts are adjacent blocks.
    """
    found = Texts()
    free: list[Any] = []
    for fixed, waiting in ((FIXED, [fields]), (NO_KEYS, free)):
        while waiting:
            item = waiting.pop()
            if type(item) is list:
                if (
                    len(item) > 1
                    and sum(type(part) is dict and "text" in part for part in item) > 1
                ):
                    return None
                found.add_list(item)
                waiting += [part for part in item if type(part) is dict or type(part) is list]
            elif not _take(item, fixed, found, waiting, free):
                return None
    if len({*found.texts}) != len(found.texts):
        texts: list[str] = []
        lists: dict[int, list[str]] = {}
        known: set[str] = set()
        for number, text in enumerate(found.texts):
            lines = found.lists.get(number)
            if lines is None and text in known:
                continue
            if lines is not None:
                lists[len(texts)] = lines
            known.add(text)
            texts.append(text)
        found.texts, found.lists = texts, lists
    return found


NO_KEYS: frozenset[str] = frozenset()


def _take(
    item: dict[str, Any], fixed: frozenset[str], found: Texts, waiting: list[Any], free: list[Any]
) -> bool:
    """Take the texts directly in a dict and queue its containers; return False for revealing keys."""
    texts = found.texts
    quiet, known = _quiet_keys(), known_keys()
    found.keys += len(item)
    for key, part in item.items():
        kind = type(part)
        if key not in quiet:
            if kind is str and _is_loud(key):
                return False
            if key not in known:
                texts.append(key)
        if kind is str:
            is_dull = (key in fixed and is_usual(key, part)) or (
                key in PICTURES and is_picture(item, part)
            )
            if not is_dull:
                texts.append(part)
        elif kind is dict or kind is list:
            (free if key in FREE else waiting).append(part)
    return True


@lru_cache(4096)
def _is_loud(key: str) -> bool:
    return key in VALUES or is_revealing_key(key)


@cache
def _quiet_keys() -> frozenset[str]:
    return frozenset(key for key in known_keys() if not _is_loud(key))
