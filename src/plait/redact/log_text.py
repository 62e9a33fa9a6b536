"""The text of a log to the same without what should not be shared, line by line, and back.

A log on stdin is no plain text: what its lines say is written in JSON there. So each line is read
as a record is read anywhere else, and becomes what it becomes there.
"""

from collections.abc import Callable, Iterator

from plait.record import Record, record_of
from plait.record.codec import NotAnObject
from plait.redact.redactor import Redactor
from plait.redact.stand_ins import restored
from plait.redact.tree import Tree


def is_log(text: str) -> bool:
    """Tells whether a text is a log: its first line is an object that says its type."""
    first = text.lstrip("\ufeff \t\r\n").partition("\n")[0]
    record = _record_in(first)
    return record is not None and record.type is not None


def redacted_log(redactor: Redactor, text: str) -> str:
    """Returns a log without what should not be shared; what one line tells is replaced in all."""
    redactor.learn(_record_in(line) or line for line in text.split("\n"))
    return _each(text, redactor.record, redactor.text)


def restored_log(text: str, key: dict[str, str]) -> str:
    """Returns a log with the values back in the place of their stand-ins."""

    def whole(record: Record) -> Record:
        tree = Tree(record.fields)
        found = {n: restored(leaf.text, key) for n, leaf in enumerate(tree.leaves)}
        changed = {n: new for n, new in found.items() if new != tree.leaves[n].text}
        return record.with_fields(tree.changed(changed)) if changed else record

    return _each(text, whole, lambda line: restored(line, key))


def _each(text: str, of_record: Callable[[Record], Record], of_text: Callable[[str], str]) -> str:
    return "\n".join(_lines(text, of_record, of_text))


def _lines(
    text: str, of_record: Callable[[Record], Record], of_text: Callable[[str], str]
) -> Iterator[str]:
    for line in text.split("\n"):
        record = _record_in(line)
        if record is None:
            yield of_text(line)
            continue
        changed = of_record(record)
        end = "\r" if line.endswith("\r") else ""
        yield line if changed is record else changed.raw.decode("utf-8", "surrogateescape") + end


def _record_in(line: str) -> Record | None:
    if not line.lstrip("\ufeff \t").startswith("{"):
        return None
    try:
        return record_of(line.strip().encode("utf-8", "surrogateescape"))
    except (NotAnObject, UnicodeEncodeError):
        return None
