"""Lines of a session to the same lines under other ids, byte for byte but for them.

Every string that is the id of a record of the session, or of the session itself, is replaced
wherever it stands, unless somebody said it: a pointer that is not known yet is still a pointer.
Ids that are no uuids, as other programs write them, are too easily a word: they are replaced in
the fields that hold ids alone.
"""

import re
from collections.abc import Iterable
from copy import copy
from hashlib import blake2b
from secrets import token_bytes

from plait.edit.model import Subject
from plait.graph.entries import CHAIN_TYPES
from plait.line import Line
from plait.record import Record, client_record, entry_of
from plait.record.strings import (
    SESSION_FIELD,
    USUAL,
    Spot,
    is_pointer_field,
    is_session_field,
    string_at,
    strings,
    with_origin,
)

UUID = re.compile(rb"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
QUOTED = re.compile(rb'"(%b)"' % UUID.pattern)
OWN_FOLDERS = rb"(?=(?:/|\\\\)(?:tool-results|subagents|workflows)(?:/|\\\\|\"))"
LINKS = CHAIN_TYPES | {"progress"}


class Ids:
    """The ids of a session, and what each is called in a copy of it.

    What an id becomes follows from the id and a secret of this copy alone, so that nothing has
    to be kept but which ids there are.
    """

    def __init__(self, subject: Subject, session: str, secret: bytes | None = None) -> None:
        self.session = session
        """The id of the copy."""
        self.source = subject.id
        self._secret = secret or token_bytes(32)
        self._own = frozenset({subject.id, subject.log.path.stem})
        self._known: set[bytes] = set()
        self._irregular: set[str] = set()
        self._instead: dict[bytes, bytes] = {}
        self._new_session = session.encode()
        plain = [name.encode() for name in self._own]
        self._folders = [name + end for name in plain for end in (b"/", b"\\\\")]
        names = b"|".join(map(re.escape, plain))
        self._folder = re.compile(rb"(?<=[/\\])(?:%b)%b" % (names, OWN_FOLDERS))
        self._is_regular = all(UUID.fullmatch(name) for name in plain)

    def within(self, session: str) -> "Ids":
        """Returns the same new ids of records for a copy that lies in another session."""
        found = copy(self)
        found.session, found._new_session = session, session.encode()
        return found

    def learn(self, uuid: str) -> None:
        """Takes an id of a record of the session."""
        data = uuid.encode("utf-8", "surrogatepass")
        self._known.add(data)
        if not UUID.fullmatch(data):
            self._irregular.add(uuid)

    def put_instead(self, gone: str, uuid: str) -> None:
        """Lets a record of the session be named wherever one is that the copy does not have."""
        self._instead[gone.encode("utf-8", "surrogatepass")] = uuid.encode("utf-8", "surrogatepass")
        self.learn(gone)

    def new(self, uuid: str) -> str:
        """Returns what an id becomes; one that names nothing of the session stays."""
        data = uuid.encode("utf-8", "surrogatepass")
        return self._made(data).decode() if data in self._known else uuid

    def _made(self, data: bytes) -> bytes:
        data = self._instead.get(data, data)
        digits = blake2b(data, key=self._secret, digest_size=16).hexdigest()
        variant = "89ab"[int(digits[16], 16) & 3]
        return (
            f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
        ).encode()

    def line(self, line: Line, *, is_main: bool = True) -> bytes:
        """Returns a line under new ids; of a broken one what the client reads of it."""
        entry = entry_of(line)
        if isinstance(entry, Record):
            return self.record(entry, is_main=is_main)
        begun = client_record(entry)
        if begun is None:
            return line.data
        start = begun.offset - line.offset
        end = start + len(begun.raw)
        return line.data[:start] + self.record(begun, is_main=False) + line.data[end:]

    def record(self, record: Record, *, is_main: bool = True) -> bytes:
        """Returns the line of a record under new ids; of the main log with where it is from."""
        renamed = self._usual(record)
        if renamed is None:
            renamed = self.text(record.raw)
        if record.type != "assistant":
            # what the model said is signed, or quoted by what follows: no path in it changes
            renamed = self.paths(renamed)
        if is_main and record.uuid and record.type in LINKS:
            renamed = with_origin(renamed, self.source, record.uuid)
        return renamed

    def _usual(self, record: Record) -> bytes | None:
        """Returns a line whose ids stand where they usually do, None for any other."""
        if self._irregular or not self._is_regular:
            return None
        data, found, parts, end = record.raw, set[bytes](), list[bytes](), 0
        for match in QUOTED.finditer(data):
            old = match[1]
            new = self._renamed(old)
            if new is None:
                continue
            if not data.endswith(USUAL, 0, match.start()):
                return None
            found.add(old)
            parts += data[end : match.start(1)], new
            end = match.end(1)
        return None if self._is_missing(record, found) else b"".join((*parts, data[end:]))

    def _renamed(self, old: bytes) -> bytes | None:
        if old in self._known:
            return self._made(old)
        return self._new_session if old.decode() in self._own else None

    def _is_missing(self, record: Record, found: set[bytes]) -> bool:
        """Tells that an id was not met in its plain form: it is escaped, or a foreign session's."""
        if record.session_id is not None and record.session_id not in self._own:
            return True
        named = (record.uuid, record.parent_uuid, record.session_id)
        plain = {name.encode("utf-8", "surrogatepass") for name in named if name}
        return any(one not in found and self._renamed(one) for one in plain)

    def text(self, data: bytes) -> bytes:
        """Returns a JSON text under new ids."""
        parts, end = list[bytes](), 0
        for spot in strings(data):
            new = None if spot.is_words else self._renamed_at(data, spot)
            if new is not None:
                parts += data[end : spot.start], b'"', new, b'"'
                end = spot.stop
        return b"".join((*parts, data[end:]))

    def _renamed_at(self, data: bytes, spot: Spot) -> bytes | None:
        if spot.field == SESSION_FIELD and spot.depth == 1 and not spot.is_name:
            return self._new_session  # also a line that came from another session
        said = string_at(data, spot)
        if said in self._own and (self._is_regular or is_session_field(spot)):
            return self._new_session
        plain = said.encode("utf-8", "surrogatepass")
        if plain not in self._known:
            return None
        is_pointer = said not in self._irregular or is_pointer_field(spot)
        return self._made(plain) if is_pointer else None

    def paths(self, data: bytes) -> bytes:
        """Returns a text whose paths into the session's own folder lead into that of the copy."""
        if not any(folder in data for folder in self._folders):
            return data
        return self._folder.sub(self._new_session, data)

    def learn_all(self, lines: Iterable[Line]) -> None:
        """Takes the ids of all records on some lines."""
        for line in lines:
            record = client_record(entry_of(line))
            if record and record.uuid:
                self.learn(record.uuid)
