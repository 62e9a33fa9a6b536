"""Private keys to their lines, however a tool shows them: numbered, quoted, patched, in code."""

import re

from plait.redact.look_alikes import NOTHING
from plait.redact.model import Family, TextSpan

END_LINE = rb"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
END = re.compile(END_LINE)
BODY = re.compile(
    rb"[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]{1,15}={1,2}(?![A-Za-z0-9+/=])|=[A-Za-z0-9+/]{4}(?![A-Za-z0-9+/=])"
)
INFO = re.compile(
    rb"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Private-MAC|Subject)\s?: ?[^\x00-\x1f\"\\<]*"
)
SHORT = re.compile(rb"[A-Za-z0-9+/]{4,15}={0,2}(?=[\s\"'\\<,&%|\xe2]|\Z)")
# What may stand between two lines of a key: line breaks of all writings, and what tools put in the margin.
BREAKS = rb"\r?\n|\\{1,7}r|\\{1,7}n|\x1f|\0|<br ?/?>|&#(?:10|xa|xA);|%0[dD]|%0[aA]|\\\r?\n"
MARGIN = re.compile(
    rb"(?:(?:" + BREAKS + rb")|[ \t]|\x1b\[[0-9;]*m|\\{1,7}[tu]001b\[[0-9;]*m|[\"'`,+>|#*;:\\/-]"
    rb"|\xe2\x94\x82|\xe2\x86\x92|\xe2\x94\x83|&gt;)+"
)
# Words of a margin: numbers, times, file names with numbers, hashes and names of a blame, levels.
PREFIX = re.compile(
    rb"(?:[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.,]+(?:Z|[+-][0-9:]+)?|[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?"
    rb"|[A-Z][a-z]{2}[ \t]+[0-9]{1,2}[ \t]+[0-9:]{8}[ \t]+[A-Za-z0-9_.-]{1,40}|[0-9]{1,6}(?=[\s:|\t)\xe2.-])"
    rb"|\^?[0-9a-f]{7,12} \([^()\n]{1,80}\)|[A-Za-z0-9_./-]{1,80}[:-][0-9]{1,6}[:-]|[A-Za-z0-9_.-]{1,40}(?=[ \t]*\|)"
    rb"|[A-Za-z0-9_.-]{1,40}\[[0-9]+\]:|(?:INFO|DEBUG|WARN|ERROR|TRACE|info|debug|warn|error)\b|\[[A-Za-z0-9_.: -]{1,40}\])"
)
LEAST = 16
MOST_LINES = 2000
FURTHEST = 300


def _block(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes a private key from its first line to its last, or as far as it goes."""
    spans, letters, _ = _lines(text, match.end)
    return _joined(text, [match, *spans]) if letters >= LEAST else NOTHING


def _lines(text: bytes, place: int) -> tuple[list[TextSpan], int, int]:
    """Returns the lines of a key behind a place, how many letters they have, and where they end."""
    spans: list[TextSpan] = []
    letters = 0
    for _ in range(MOST_LINES):
        start = _behind_margin(text, place)
        if last := END.match(text, start):
            spans.append(TextSpan(*last.span()))
            return spans, letters, last.end()
        line = INFO.match(text, start) or BODY.match(text, start) or SHORT.match(text, start)
        if line is None or (start == place and spans):
            break
        spans.append(TextSpan(*line.span()))
        letters += len(line[0]) if line.re is not INFO else 0
        place = line.end()
    return spans, letters, place


def _behind_margin(text: bytes, place: int) -> int:
    """Returns where the next line of a key would begin."""
    limit = place + FURTHEST
    while place < limit:
        if END.match(text, place):
            return place
        margin = MARGIN.match(text, place, limit)
        behind = margin.end() if margin else place
        if (
            margin
            and text[max(place, behind - 5) : behind].strip(b"-") == b""
            and text[behind : behind + 4] == b" END"
        ):
            return behind - 5
        if margin and b"----" in margin[0] and (last := END.search(text, place, behind + 60)):
            return last.start()
        prefix = PREFIX.match(text, behind, limit) if margin or behind == place else None
        if prefix is None or (
            margin is None and prefix.start() == place and place != limit - FURTHEST
        ):
            return behind
        place = prefix.end()
    return place


def _joined(text: bytes, spans: list[TextSpan]) -> tuple[TextSpan, ...]:
    whole = [spans[0]]
    for span in spans[1:]:
        between = text[whole[-1].end : span.start]
        if b"\n" in between or b"\x1f" in between or b"\0" in between:
            whole.append(span)
        else:
            whole[-1] = TextSpan(whole[-1].start, span.end)
    return tuple(whole)


BODY_LINE = re.compile(rb"[A-Za-z0-9+/]{40,80}={0,2}")


def _tail(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the lines before the last one, where the first is not shown."""
    first = match.start
    for line in reversed(list(BODY_LINE.finditer(text, max(0, match.start - 20_000), match.start))):
        if first - line.end() > 120 or b"CERTIFICATE" in text[line.end() : first]:
            break
        first = line.start()
    if first == match.start:
        return NOTHING
    spans, letters, _ = _lines(text, first)
    return _joined(text, spans) if letters >= LEAST and spans[-1].end >= match.end else NOTHING


def _body(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the lines of a key whose first letters say what it is."""
    spans, letters, _ = _lines(text, match.start)
    return _joined(text, spans) if letters >= 48 and spans[0].start == match.start else NOTHING


BREAKS_AND_MARGINS = re.compile(rb"\\+[nr]|[\x00-\x20\x1f\\]")


def _letters_of(value: bytes) -> bytes:
    return BREAKS_AND_MARGINS.sub(b"", value)


def _wireguard(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    return (value,)


PRIVATE_KEYS: tuple[Family, ...] = (
    Family(
        "private-key",
        "private key",
        r"-{4,5} ?BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}",
        _block,
        canonical=_letters_of,
    ),
    Family("putty-key", "private key", r"Private-Lines: [0-9]{1,3}", _block, canonical=_letters_of),
    Family(
        "private-key-tail",
        "private key",
        r"-{4,5} ?END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}",
        _tail,
        canonical=_letters_of,
    ),
    Family(
        "private-key-body",
        "private key",
        r"(?:b3BlbnNzaC1rZXktdjEA|MII[CEJ][A-Za-z0-9+/]{2}IBA[AD]|MHcCAQEE|MIGkAgEBBD|MIGHAgEAMBMG|MC4CAQAwBQYDK2Vw|lQ[OPVdHEI][A-Z][BE])"
        r"[A-Za-z0-9+/]{20,}",
        _body,
        canonical=_letters_of,
    ),
    Family(
        "wireguard",
        "private key",
        r"(?:Private|PreShared|Preshared|private|preshared)[kK]ey[ \t]*[=:][ \t]*(?P<v>[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)",
        _wireguard,
    ),
    Family(
        "wireguard-generated",
        "private key",
        r"wg gen(?:key|psk)[^\x00-\x1f\\]{0,60}(?:\r?\n|\\{1,7}n)(?P<v>[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)",
        _wireguard,
        trigger=r"wg gen(?:key|psk)",
    ),
    Family(
        "web-key",
        "private key",
        r"\\{0,7}\"d\\{0,7}\"[ \t]*:[ \t]*\\{0,7}\"(?P<v>[A-Za-z0-9_+/-]{40,}={0,2})",
        _wireguard,
    ),
)
