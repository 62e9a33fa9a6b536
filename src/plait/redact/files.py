"""Files with a form of their own to the secrets in them: netrc, pgpass, tables, sections."""

import re

from plait.redact.look_alikes import NOTHING, anywhere, is_placeholder, is_reference
from plait.redact.model import Family, TextSpan
from plait.redact.nouns import QUOTE
from plait.redact.shell import line_start
from plait.redact.strength import is_chosen, is_likely, is_plain_word, is_random

BREAK = r"(?:[ \t]*\r?\n(?:[ \t]*[0-9]+(?:\t|→))?[ \t+>|]{0,16}|[ \t]*\\{1,7}n[ \t+>|]{0,16})"
GAP = rf"(?:[ \t]+|{BREAK})"


def _is_worth(found: bytes) -> bool:
    if len(found) < 5 or is_placeholder(found) or is_reference(found) or is_plain_word(found):
        return False
    return is_likely(found)


def _value(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    return (value,) if _is_worth(text[value.start : value.end]) else NOTHING


HEAD = re.compile(
    rb"(?i)pass|secret|token|api_?key|credential|kennwort|contrase|senha|mot de passe|\bpw\b|\bpwd\b"
)
CELL = re.compile(rb"[^,;\t|\n\r\\]+|(?<=[,;\t|])(?=[,;\t|])")


def _column(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the cells of a table below the head that says `password`."""
    sign = text[value.start : value.end]
    start = line_start(text, match.start)
    end = _end_of_line(text, match.start)
    heads = [one.strip(b" \t\"'`*") for one in text[start:end].split(sign)]
    columns = [n for n, head in enumerate(heads) if HEAD.search(head) and len(head) < 30]
    found: list[TextSpan] = []
    for _ in range(50):
        start = _next_line(text, end)
        end = _end_of_line(text, start)
        cells = text[start:end].split(sign)
        if start >= len(text) or len(cells) != len(heads):
            break
        for column in columns:
            place = start + sum(len(cell) + 1 for cell in cells[:column])
            cell = cells[column]
            bare = cell.strip(b" \t\"'`*")
            place += cell.find(bare)
            if _is_worth(bare) and b" " not in bare and bare.strip(b"-:"):
                found.append(TextSpan(place, place + len(bare)))
    return tuple(found)


def _end_of_line(text: bytes, place: int) -> int:
    ends = [end for sign in (b"\n", b"\\n", b"\0") if (end := text.find(sign, place)) >= 0]
    return min(ends, default=len(text))


def _next_line(text: bytes, end: int) -> int:
    return end + (2 if text[end : end + 1] == b"\\" else 1)


SECTION_LINE = re.compile(
    rb"(?:\n|\\{1,7}n)(?:[ \t]*[0-9]+(?:\t|\xe2\x86\x92))?[+>|]?([ \t]+)[\"']?[A-Za-z0-9_.-]+[\"']?[ \t]*[:=][ \t]*[\"']?"
    rb"([^\x00-\x20\"'\\,{}\[\]]{5,400})"
)


def _section(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the values of a section whose name says that all of them are secret."""
    found: list[TextSpan] = []
    place, margin = match.end, None
    while line := SECTION_LINE.match(text, place):
        margin = margin or line[1]
        if line[1] != margin:
            break
        if (is_random(line[2]) or is_chosen(line[2])) and not is_reference(line[2]):
            found.append(TextSpan(*line.span(2)))
        place = line.end()
        place += 1 if text[place : place + 1] in (b'"', b"'") else 0
    return tuple(found)


COLUMNS = re.compile(
    rb"\(([^()]{1,400})\)[ \t\n\\]*n?[ \t]*(?:VALUES|values)[ \t\n\\]*n?[ \t]*\(([^()]{1,400})\)"
)
QUOTED_CELL = re.compile(rb"[ \t]*\\{0,7}['\"]([^'\"\\]*)\\{0,7}['\"][ \t]*|[^,]*")


def _inserted(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the value that a statement writes into a column whose name says that it is secret."""
    found = COLUMNS.search(text, match.end, match.end + 500)
    if found is None:
        return NOTHING
    heads = found[1].split(b",")
    place, spans = found.start(2), []
    for head in heads:
        cell = QUOTED_CELL.match(text, place, found.end(2))
        if cell is None:
            break
        if cell[1] and HEAD.search(head) and _is_worth(cell[1]):
            spans.append(TextSpan(*cell.span(1)))
        place = cell.end() + 1
    return tuple(spans)


def _aligned(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the words below a head of a table whose columns stand below each other."""
    column = value.start - line_start(text, value.start)
    found: list[TextSpan] = []
    end = _end_of_line(text, value.end)
    for _ in range(50):
        start = _next_line(text, end)
        end = _end_of_line(text, start)
        word = re.compile(rb"[^ \t\n\\]{5,}").match(text, start + column, end)
        if start >= len(text) or word is None or text[word.start() - 1 : word.start()] != b" ":
            break
        if _is_worth(word[0]):
            found.append(TextSpan(*word.span()))
    return tuple(found)


SECRET = r"[^\x00-\x20\"'`\\<>]{5,}"
FILES: tuple[Family, ...] = (
    Family(
        "netrc",
        "password of netrc",
        rf"(?:login|account|default login|user){GAP}[^\x00-\x20\"'\\]+{GAP}(?:password|passwd){GAP}(?:{QUOTE})?"
        rf"(?P<v>{SECRET})",
        _value,
        trigger=rf"(?:login|account|user){GAP}[^\x00-\x20\"'\\]+{GAP}passw",
    ),
    Family(
        "pgpass",
        "secret in a setting",
        r":(?:[0-9]{2,5}|\*):[A-Za-z0-9_*-]+:[A-Za-z0-9_.-]+:(?P<v>[^\x00-\x20\"'`\\:]{5,})",
        _value,
    ),
    Family(
        "mail-map",
        "secret in a setting",
        rf"\]:[0-9]{{2,5}}[ \t]+[A-Za-z0-9_.@-]+:(?P<v>{SECRET})",
        _value,
    ),
    Family(
        "hash",
        "secret in a setting",
        r":(?P<v>\$(?:1|2[aby]|5|6|7|y|apr1|argon2id?)\$[A-Za-z0-9./$=,+]{20,})",
        anywhere,
    ),
    Family(
        "acl",
        "secret in a setting",
        rf"user[ \t]+[A-Za-z0-9_-]+[ \t]+on[ \t]+>(?P<v>{SECRET})",
        _value,
    ),
    Family(
        "ppp",
        "secret in a setting",
        rf"[ \t]\*[ \t]+{QUOTE}(?P<v>[^\x00-\x20\"'`\\]{{5,}}){QUOTE}[ \t]+\*",
        _value,
    ),
    Family(
        "bundle",
        "secret in a setting",
        rf"(?:BUNDLE_[A-Z0-9_]+|npmAuthIdent|rpcauth)(?:{QUOTE})?[ \t]*[:=][ \t]*(?:{QUOTE})?[A-Za-z0-9_.-]+:(?P<v>{SECRET})",
        _value,
    ),
    Family(
        "oauth-map",
        "secret in a setting",
        rf"(?:github-oauth|gitlab-token|bearer|http-bearer){QUOTE}[ \t]*:[ \t]*\{{[ \t]*{QUOTE}[^\"'\\]+{QUOTE}[ \t]*:[ \t]*"
        rf"{QUOTE}(?P<v>{SECRET})",
        _value,
        trigger=rf"(?:github-oauth|gitlab-token|bearer|http-bearer){QUOTE}[ \t]*:[ \t]*\{{",
    ),
    Family(
        "column",
        "secret in a setting",
        r"(?P<v>[,;\t|])[ \"'`*]{0,3}(?:[pP]assword|PASSWORD|[pP]asswd|[sS]ecret|[tT]oken|[aA]pi_?[kK]ey|[pP]asswort|[pP]wd|[pP]ass)"
        r"[ \"'`*]{0,3}(?:[,;\t|][^\x00-\x1f\\]*)?(?:\r?\n|\\{1,7}n)",
        _column,
        is_many=True,
        trigger=r"[,;\t|][ \"'`*]{0,3}(?:[pP]assword|PASSWORD|[pP]asswd|[sS]ecret|[tT]oken|[aA]pi_?[kK]ey|[pP]asswort|[pP]wd|[pP]ass)"
        r"[ \"'`*]{0,3}(?:[,;\t|]|\r?\n|\\{1,7}n)",
    ),
    Family(
        "inserted",
        "secret in a setting",
        r"(?:INSERT INTO|insert into|Insert into)[ \t]",
        _inserted,
        is_many=True,
    ),
    Family(
        "aligned",
        "secret in a setting",
        r"[ ]{2,}(?P<v>(?:PASSWORD|[pP]assword|[sS]ecret|SECRET|[tT]oken|TOKEN|API KEY|Api key))[ \t]*(?:\r?\n|\\{1,7}n|[ ]{2})",
        _aligned,
        is_many=True,
    ),
    Family(
        "section",
        "secret in a setting",
        r"(?:[sS]ecrets?|stringData|SECRETS|[cC]redentials|[vV]ault)(?:\"|')?[ \t]*[:\]](?:[ \t]*\{)?",
        _section,
        is_many=True,
    ),
)
