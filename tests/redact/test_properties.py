"""Properties of redaction for every text and record."""

import json
from pathlib import Path
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from plait.record import parse_record, read
from plait.redact import Redactor, Rules, restore_text
from plait.redact.expression import Expression
from plait.redact.redactor import FAMILIES
from plait.redact.texts import unwrap
from tests.redact.planted import planted

SECRETS = [case.text for case in planted(seed=23)][::11]
WORDS = st.sampled_from(
    [
        *SECRETS,
        "password=",
        '"token": "',
        "/home/ana/",
        "ana@firm.io",
        "\x1b[31m",
        "\\u002d",
        "\\/",
        "%3A",
        "\n",
        "-----BEGIN PRIVATE" + " KEY-----",
        "‹secret 1: github token›",
        "‹",
        "\ud800",
        "sk-",
        "://a:",
        "@",
    ]
)
TEXTS = st.lists(WORDS | st.text(max_size=12), max_size=8).map("".join)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4)
    ),
    max_leaves=12,
)
SLOWLY = Rules(expressions=("never to be found",))  # with such a rule, every line is decoded
ENGINES = Expression(FAMILIES, engine="re2"), Expression(FAMILIES, engine="re")


@given(TEXTS)
@example('JWT_SECRET=61POdywMVeUAXGaEcDc3v00kpassword=/home/ana/<add key="service"/>')
def test_redaction_is_idempotent(text: str) -> None:
    once = Redactor().text(text)
    assert Redactor().text(once) == once


@given(TEXTS)
def test_everything_can_be_put_back(text: str) -> None:
    redactor = Redactor()
    redacted = redactor.text(text)
    if not any(stand_in in text for stand_in in redactor.key):
        assert restore_text(redacted, redactor.key) == text


@given(TEXTS)
def test_lines_stay_lines(text: str) -> None:
    assert Redactor().text(text).count("\n") == text.count("\n")


@given(TEXTS)
def test_both_engines_agree(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    hits = [list(engine.hits(data)) for engine in ENGINES]
    assert hits[0] == hits[1]


@given(TEXTS)
def test_decoded_positions_map_back_to_the_text(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    seen = unwrap(data)
    for piece in seen.pieces:
        if piece.is_copy:
            length = piece.source.end - piece.source.start
            assert seen.text[piece.start : piece.start + length] == data[slice(*piece.source)]


@given(VALUES)
def test_structure_is_kept(value: Any) -> None:
    redacted = Redactor().value(value)
    assert outline(redacted) == outline(value)


def outline(value: Any) -> Any:
    """Return a value with its texts left out."""
    if isinstance(value, dict):
        return [outline(one) for one in value.values()]
    if isinstance(value, list):
        return [outline(one) for one in value]
    return str if isinstance(value, str) else value


@given(st.dictionaries(st.sampled_from(["message", "toolUseResult", "cwd", "x"]), VALUES))
def test_records_and_fields_agree(fields: dict[str, Any]) -> None:
    raw = json.dumps(fields).encode("utf-8", "surrogatepass")
    record = parse_record(raw)
    redacted = Redactor().record(record)
    assert redacted.fields == Redactor(SLOWLY).record(record).fields
    if redacted is record:
        assert redacted.raw == raw
    else:
        again = Redactor().record(redacted)
        assert again is redacted


def test_bytes_and_fields_agree(shared: Path) -> None:
    """The short way over the bytes of a line gives what the long way gives; ids stay."""
    for path in sorted((shared / "corpus").rglob("*.jsonl"))[::5]:
        short, long = Redactor(), Redactor(SLOWLY)
        for record in read(path):
            one, other = short.record(record), long.record(record)
            assert one.fields == other.fields, (path, record.line)
