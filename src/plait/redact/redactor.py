"""Texts, values and records to the same without secrets, and a report of what was there."""

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from typing import Any, Literal, NamedTuple, TypeVar

from plait.record import Record
from plait.record.codec import envelope_of, object_of
from plait.redact.expression import BEST, Engine
from plait.redact.first_look import texts_at_once
from plait.redact.known_values import KnownValues, is_telling
from plait.redact.lessons import Lesson, Outcome
from plait.redact.model import GROUP_OF, Found, Hit, Place, Report, TextSpan
from plait.redact.owners import Owners
from plait.redact.rules import CustomRules, Rules
from plait.redact.scan import Scanner, apart, stand_ins_in
from plait.redact.stand_ins import Ledger
from plait.redact.strict import is_worth_remembering
from plait.redact.tree import Joined, Tree, holds_more
from plait.redact.wrapped import is_wrapped, unwrap

R = TypeVar("R", bound=Record)
NOWHERE = Place()
MOST_QUIET = 250_000


Told = Literal["nothing", "copies", "something"]
"""Whether texts hold nothing to hide, only copies of what is known, or perhaps more."""


class Cut(NamedTuple):
    """A stretch of a text and what stands in for it."""

    span: TextSpan
    stand_in: str


class Redactor:
    """Replaces what should not be shared; the same value by the same stand-in everywhere.

    What one place tells, such as `API_KEY=…`, is replaced in all that follows. To have it
    replaced in what came before too, let `learn` see everything first.
    """

    def __init__(self, rules: Rules | None = None, *, engine: Engine = BEST) -> None:
        self.rules = rules or Rules()
        self.report = Report(groups=self.rules.groups, is_strict=self.rules.strict)
        self._scanner = Scanner(self.rules.groups, engine, strict=self.rules.strict)
        self._ledger = Ledger()
        self._known = KnownValues(engine)
        self._custom = CustomRules(self.rules)
        self._kept = frozenset(one.encode("utf-8", "surrogatepass") for one in self.rules.keep)
        self._seen: set[str] = set()
        self._quiet: set[int] = set()
        """Texts that tell nothing by themselves, by their hash: they are not read twice."""
        self._quiet_lines: set[int] = set()
        """Lines that do, by a hash that is the same in every process."""
        self._owners = Owners()
        self._is_numbering = False
        if "rules" in self.rules.groups:
            for word in self.rules.words:
                self._known.add_word(word.encode("utf-8", "surrogatepass"), "word")
        for kind, name in self.rules.own:
            value = name.encode("utf-8", "surrogatepass")
            if GROUP_OF[kind] in self.rules.groups and is_telling(value):
                self._known.add_word(value, kind)

    @property
    def key(self) -> dict[str, str]:
        """What each stand-in stands for: whoever has it can put everything back."""
        return self._ledger.key

    @property
    def values(self) -> frozenset[str]:
        """All that was replaced, as it is and as it was written."""
        plain = (value.decode("utf-8", "replace") for _, value in self._ledger.numbers)
        return frozenset((*plain, *self.key.values()))

    @property
    def learnt(self) -> int:
        """How much it looks for by now: what adds nothing to it has taught nothing."""
        return len(self._known.strings) + len(self._owners.names)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_scanner": self._scanner.engine, "_custom": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        rules, engine = self.rules, state["_scanner"]
        self._scanner = Scanner(rules.groups, engine, strict=rules.strict)
        self._custom = CustomRules(rules)

    @property
    def has_own_rules(self) -> bool:
        """Whether it goes by expressions, fields or files of the user: those look across texts."""
        return bool(self._custom)

    def apprentice(self) -> "Redactor":
        """Returns one with the same rules that knows nothing yet, for a lesson of its own."""
        found = Redactor(self.rules, engine=self._scanner.engine)
        found._is_numbering = True
        return found

    @property
    def lesson(self) -> Lesson:
        """What it has learnt, for another with the same rules to take."""
        quiet = array("Q", sorted(self._quiet_lines)).tobytes()
        named = tuple(
            Hit(kind, self._ledger.labels[kind, number], value, ())
            for (kind, value), number in self._ledger.numbers.items()
        )
        return Lesson(named, tuple(self._known.told), tuple(self._owners.hits()), quiet)

    def take(self, lesson: Lesson) -> None:
        """Learns what another has learnt."""
        for hit in lesson.named:
            self._ledger.number(hit)
        for hit in lesson.told:
            self._known.add(hit)
        for name, hit in lesson.owners:
            self._owners.add(hit, name, self._known)

    def settle(self) -> None:
        """Has all that follows go by what was learnt so far, wherever it is redacted."""
        self._ledger.settle()

    def twin(self, lesson: Lesson | None = None) -> "Redactor":
        """Returns one that knows the same, and tells nothing of what it finds to this one.

        Lines that taught nothing in a lesson are not read a second time.
        """
        found = Redactor.__new__(Redactor)
        found.__dict__.update(self.__dict__)
        found.report = Report(groups=self.rules.groups, is_strict=self.rules.strict)
        found._known, found._ledger = self._known.copied(), self._ledger.copied()
        found._seen, found._owners = {*self._seen}, self._owners.copied()
        found._quiet, found._quiet_lines = set(), set()
        if lesson:
            found._quiet_lines.update(array("Q", lesson.quiet))
        return found

    @property
    def outcome(self) -> Outcome:
        """What a twin has found, for the one that it was made of."""
        return Outcome(tuple(self.report.found.values()), tuple(self._ledger.unsettled))

    def absorb(self, outcome: Outcome) -> bool:
        """Takes what a twin has found, or declines: it named something as others did before."""
        ledger = self._ledger.copied() if outcome.unsettled else self._ledger
        if not ledger.agrees(list(outcome.unsettled)):
            return False
        self._ledger = ledger
        for one in outcome.found:
            known = self.report.found.get(one.stand_in)
            if known is None:
                known = self.report.found[one.stand_in] = Found(
                    one.stand_in, one.kind, one.label, one.hint
                )
            known.join(one)
        return True

    def text(self, text: str, place: Place = NOWHERE) -> str:
        """Returns a text without what should not be shared; the same object if nothing is."""
        data = text.encode("utf-8", "surrogatepass")
        hits = self._hits(data)
        if not hits:
            return text
        return self._replaced(data, hits, place).decode("utf-8", "surrogatepass")

    def value(self, value: Any, place: Place = NOWHERE) -> Any:
        """Returns a value of any shape without what should not be shared in its texts.

        What holds nothing of the kind stays the very object it was. Ids, kinds and times of
        records, signatures and pictures are left alone.
        """
        if isinstance(value, str):
            return self.text(value, place)
        if isinstance(value, Record):
            return self.record(value, place.file)
        return self._of_tree(Tree(value), place)

    def _of_tree(self, tree: Tree, place: Place, *, has_only_copies: bool = False) -> Any:
        joined = Joined(tree)
        texts = self._whole_texts(tree, place)
        cuts: defaultdict[int, list[Cut]] = defaultdict(list)
        hits = self._with_known(joined.data, []) if has_only_copies else self._hits_in(joined)
        for hit in hits:
            found = [one for span in hit.spans if (one := joined.leaf_at(span))]
            if not found or found[0][0] in texts:
                continue
            leaf = tree.leaves[found[0][0]]
            self._count(hit, _place_in(place, tree.place(leaf)))
            for part, (number, span) in enumerate(found):
                stand_in = self._stand_in(hit, joined.texts[number], span, is_rest=part > 0)
                cuts[number].append(Cut(span, stand_in))
        for number, made in cuts.items():
            texts[number] = _with_cuts(joined.texts[number], made).decode("utf-8", "surrogatepass")
        return tree.changed(texts) if texts else tree.nodes[0].value

    def record(self, record: R, file: str | None = None) -> R:
        """Returns a record without what should not be shared; the record itself if nothing is.

        What a text of it becomes is what the text alone becomes, or less where its neighbours or
        its key tell more. The owner's name in paths is replaced in the bytes of the line.
        """
        place = Place(file, record.line or None, record.uuid)
        self._learn_owner(record)
        raw, owners = self._without_owners(record.raw)
        plain = _of_bytes(record, raw) if owners else record
        for hit in owners:
            self._count(hit, place)
        is_quiet = self._is_quiet(record.raw, raw)
        told = "nothing" if is_quiet else self._told_at_once(raw, plain.fields)
        if told == "nothing":
            return plain
        tree = Tree(plain.fields)
        fields = self._of_tree(tree, place, has_only_copies=told == "copies")
        if fields is plain.fields and not holds_more(plain.raw, tree.count_of_keys):
            return plain
        return record.with_fields(fields)

    def records(self, records: Iterable[R], file: str | None = None) -> Iterator[R]:
        """Yields records without what should not be shared, one by one."""
        for record in records:
            yield self.record(record, file)

    def learn(self, source: Any) -> None:
        """Looks for values that are to be replaced wherever they stand; changes nothing.

        The source is a text, a record, any value, or an iterable of them.
        """
        if isinstance(source, str):
            self._found(source.encode("utf-8", "surrogatepass"))
        elif isinstance(source, Record):
            self._learn_owner(source)
            raw, _ = self._without_owners(source.raw)
            fields = source.fields if raw is source.raw else object_of(raw)
            if self._told_at_once(raw, fields, learnt=source.raw) == "something":
                self.learn(fields)
        elif isinstance(source, dict):
            tree = Tree(source)
            self._custom.whole_texts(tree)
            self._found_in(Joined(tree))
        elif isinstance(source, Iterable):
            for one in source:
                self.learn(one)
        else:
            self.learn({"": source})

    def _replaced(self, data: bytes, hits: list[Hit], place: Place) -> bytes:
        """Returns a text with the stand-ins of what was found in it."""
        cuts: list[Cut] = []
        line, last = place.line or 1, 0
        for hit in hits:
            if place.line is None:
                line += data.count(b"\n", last, hit.start)
                last = hit.start
            self._count(hit, Place(place.file, line, place.uuid))
            for part, span in enumerate(hit.spans):
                cuts.append(Cut(span, self._stand_in(hit, data, span, is_rest=part > 0)))
        return _with_cuts(data, cuts)

    def _hits(self, data: bytes) -> list[Hit]:
        """Returns what a text holds, in order and nothing twice, and remembers it."""
        return self._with_known(data, self._found(data) + list(self._custom.hits(data)))

    def _hits_in(self, joined: Joined) -> list[Hit]:
        """Returns what joined texts hold, in order and nothing twice, and remembers it."""
        custom = self._custom.hits_in(joined.data, joined.islands)
        return self._with_known(joined.data, [*self._found_in(joined), *custom])

    def _told_at_once(self, raw: bytes, fields: Any, *, learnt: bytes | None = None) -> Told:
        """Tells what is to be hidden in a line, as far as that can be told at once."""
        texts = None if self._custom else texts_at_once(fields)
        if texts is None or holds_more(raw, texts.keys):
            return "something"
        data = texts.data
        mark = hash(data)
        if mark not in self._quiet:
            if any(self._scanner.hits_in(texts)):
                return "something"
            self._note_quiet(mark)
        if learnt is not None:
            if not is_wrapped(data) and len(self._quiet_lines) < MOST_QUIET:
                self._quiet_lines.add(_mark(learnt))
            return "nothing"
        is_known = any(self._known.hits(data)) or (
            is_wrapped(data) and any(_as_read(data, self._known))
        )
        return "copies" if is_known else "nothing"

    def _is_quiet(self, line: bytes, left: bytes) -> bool:
        """Tells whether a line told nothing when it was learnt, and what is left holds no copy."""
        is_known = bool(self._quiet_lines) and _mark(line) in self._quiet_lines
        return is_known and not self._known.may_stand_in(left)

    def _with_known(self, data: bytes, found: list[Hit]) -> list[Hit]:
        found += self._known.hits(data)
        if is_wrapped(data):
            found += _as_read(data, self._known)
        return apart(found, stand_ins_in(data)) if found else found

    def _found(self, data: bytes) -> list[Hit]:
        """Returns what a text tells by itself, and remembers it."""
        return self._remembered(data, lambda: self._scanner.hits(data))

    def _found_in(self, joined: Joined) -> list[Hit]:
        return self._remembered(joined.data, lambda: list(self._scanner.hits_in(joined)))

    def _remembered(self, data: bytes, look: Callable[[], list[Hit]]) -> list[Hit]:
        mark = hash(data)
        if mark in self._quiet:
            return []
        found = look()
        if not found:
            self._note_quiet(mark)
        if self._kept:
            found = [hit for hit in found if hit.value not in self._kept]
        if self._is_numbering:
            for hit in apart(found, stand_ins_in(data)):
                self._ledger.number(hit)
        for hit in filter(is_worth_remembering, found):
            self._known.add(hit)
        return found

    def _note_quiet(self, mark: int) -> None:
        if len(self._quiet) < MOST_QUIET:
            self._quiet.add(mark)

    def _learn_owner(self, record: Record) -> None:
        """Remembers the name of the user whose log this is."""
        cwd = record.cwd
        if cwd and cwd not in self._seen:
            self._seen.add(cwd)
            data = cwd.encode("utf-8", "surrogatepass")
            for hit in self._scanner.hits(data):
                if hit.kind == "user" and hit.value not in self._kept:
                    self._owners.add(hit, data[: hit.end], self._known)

    def _without_owners(self, raw: bytes) -> tuple[bytes, list[Hit]]:
        return (raw, []) if self._custom else self._owners.replaced(raw, self._ledger)

    def _whole_texts(self, tree: Tree, place: Place) -> dict[int, str]:
        """Returns the stand-ins of texts that the user's rules hide as a whole."""
        texts: dict[int, str] = {}
        for number, kind in self._custom.whole_texts(tree).items() if self._custom else ():
            leaf = tree.leaves[number]
            data = leaf.text.encode("utf-8", "surrogatepass")
            if data and not stand_ins_in(data):
                hit = Hit(kind, "", data, (TextSpan(0, len(data)),))
                self._count(hit, _place_in(place, tree.place(leaf)))
                texts[number] = self._stand_in(hit, data, hit.spans[0])
        return texts

    def _stand_in(self, hit: Hit, data: bytes, span: TextSpan, *, is_rest: bool = False) -> str:
        return self._ledger.stand_in(hit, data[span.start : span.end], is_rest=is_rest)

    def _count(self, hit: Hit, place: Place) -> None:
        """Notes in the report what was found, and where."""
        name = self._ledger.name(hit)
        found = self.report.found.get(name)
        if found is None:
            label = self._ledger.labels[hit.kind, self._ledger.number(hit)]
            found = self.report.found[name] = Found(name, hit.kind, label, hit.hint)
        found.add(place)


def _place_in(place: Place, field: str) -> Place:
    return Place(place.file, place.line, place.uuid, field)


def _as_read(data: bytes, known: KnownValues) -> Iterator[Hit]:
    """Yields the copies that only a reader sees, because letters of them are written as codes."""
    seen = unwrap(data)
    for hit in known.hits(seen.text):
        yield hit._replace(spans=tuple(seen.source(span) for span in hit.spans))


def _mark(data: bytes) -> int:
    """Returns a number for a line that is the same in every process."""
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def _of_bytes(record: R, raw: bytes) -> R:
    return type(record)(envelope_of(raw), raw, record.line, record.offset)


def _with_cuts(data: bytes, cuts: list[Cut]) -> bytes:
    parts: list[bytes] = []
    last = 0
    for span, stand_in in sorted(cuts):
        parts += (data[last : span.start], stand_in.encode())
        last = span.end
    parts.append(data[last:])
    return b"".join(parts)
