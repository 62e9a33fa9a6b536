"""Text in base64 or hex to what it says, so that the secrets in it are found."""

import base64
import binascii
import re

from plait.redact.look_alikes import NOTHING
from plait.redact.model import Family, TextSpan

LABEL = "in base64"
# Three letters of plain text in base64, the six bits of each sign in their order: what is no text fits by chance
# in one of fourteen signs of four.
PLAIN = "[I-Zabcdef][C-HS-Xi-nyz0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]"
WIDE = "[I-Za-f][AQgw][AB][A-Za-z0-9+/]A[C-H][AEIMQUYcgkosw048]A"
RUN = re.compile(rb"[A-Za-z0-9+/_-]+={0,2}")
HEX_RUN = re.compile(rb"(?:[0-9a-fA-F]{2})+")
BREAK = re.compile(rb"[ \t]*(?:\r?\n|\\{1,7}n)[ \t]{0,16}[+>|]?[ \t]{0,4}")
ROW = re.compile(rb"[0-9a-f]{6,8}:? {1,2}((?:[0-9a-f]{2,4} {1,2}){1,16})[ |]*([^\n]{1,18})?")
MOST = 4000
PRINTABLE = frozenset(range(32, 127)) | {9, 10, 13}
LEAST_PRINTABLE = 0.97


def _run(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes base64 from its first letter to its last, over the breaks of lines that are full."""
    spans: list[TextSpan] = []
    run = RUN.match(text, value.start)
    while run and len(spans) < MOST:
        spans.append(TextSpan(*run.span()))
        gap = BREAK.match(text, run.end())
        run = RUN.match(text, gap.end()) if gap else None
        if run and len(run[0]) > spans[0].end - spans[0].start:
            break
    whole = b"".join(text[span.start : span.end] for span in spans)
    is_token = whole.startswith(b"eyJ") and text[spans[-1].end : spans[-1].end + 1] == b"."
    return NOTHING if is_token or decoded(whole) is None else tuple(spans)


def _hex(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    run = HEX_RUN.match(text, value.start)
    return (TextSpan(*run.span()),) if run else NOTHING


def _dump(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the rows of a dump."""
    spans, place = [], match.start
    while row := ROW.match(text, place):
        spans.append(TextSpan(*row.span()))
        gap = BREAK.match(text, row.end())
        if gap is None:
            break
        place = gap.end()
    return tuple(spans)


def decoded(value: bytes) -> bytes | None:
    """Returns the text that an encoded value holds, None where it holds none."""
    if ROW.match(value):
        return _of_dump(value)
    if re.fullmatch(rb"(?:[0-9a-fA-F]{2})+", value):
        return _as_text(bytes.fromhex(value.decode()))
    plain = value.rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
    plain = plain[: len(plain) - (len(plain) % 4 == 1)]
    try:
        return _as_text(base64.b64decode(plain + b"=" * (-len(plain) % 4)))
    except (binascii.Error, ValueError):
        return None


def _of_dump(value: bytes) -> bytes | None:
    rows = [re.sub(rb"\s", b"", row[1]) for row in ROW.finditer(value)]
    try:
        return bytes.fromhex(b"".join(rows).decode())
    except ValueError:
        return None


def _as_text(data: bytes) -> bytes | None:
    if len(data) > 8 and data[1::2].count(0) * 2 >= len(data) - 2:
        data = data[0::2]
    printable = sum(one in PRINTABLE for one in data[:400])
    return data if data and printable >= LEAST_PRINTABLE * len(data[:400]) else None


EDGE = r"(?:\A|[^A-Za-z0-9+/_-]|\\[nrt])"
ENCODED: tuple[Family, ...] = (
    Family("base64", LABEL, rf"{EDGE}(?P<v>(?:{PLAIN}){{5}}|(?:{WIDE}){{3}})", _run),
    Family("hex-dump", LABEL, r"0{6,8}:? {1,2}(?:[0-9a-f]{2,4} {1,2}){4,}", _dump),
    Family("hex", LABEL, rf"{EDGE}(?P<v>(?:[2-7][0-9a-fA-F]){{12}})", _hex),
)
