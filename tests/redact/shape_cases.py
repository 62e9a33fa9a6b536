"""Cases made of shapes, wrappings and value alphabets; the values are drawn when they are needed."""

import base64
import json
import re
import string
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Literal
from urllib.parse import quote

from tests.redact.letters import ALNUM, B64, DIGITS, HEX, LOWER, UPPER, URL
from tests.redact.shapes import HARMLESS, PERSONAL, SECRETS

Half = Literal["first", "second"]
Group = Literal["secret", "personal", "harmless"]
SIGNS, ODD_SIGNS, BRACELESS_SIGNS = (
    "!@#$%^&*-_+=?.",
    "{}[]()<>,;:|~^!#@&*",
    "[]()<>,:|~^!#@&*=",
)
GAP = re.compile(r"<<(\w+)>>")
UNQUOTED = re.compile(r"[^'\"]<<v>>")
COMMAND = re.compile(
    r"echo|curl|openssl|mysql|redis|htpasswd|docker|ldapsearch|keytool|7z|wget|helm|heroku|ipmitool|xfreerdp|az |http -a"
)
"""Commands in which a shell would read some signs itself."""
WORDS = {
    "first": "sunflower granite harbor velvet copper meadow lantern orchid thunder pebble",
    "second": "marble falcon juniper saffron glacier cobalt willow amber canyon raven",
}
USERS = {
    "first": "jdoe42 m.kowalski annalena tvdberg xiaoming o_brien rsantos",
    "second": "kmueller p.nguyen bjarne7 svc-lena mhaddad l_rossi wojtekk",
}
HOSTS = {
    "first": "thinkpad-x1c annas-mbp tuxbox7 wks-1182 gpu-node-3",
    "second": "desktop-4kq2r lenas-macbook buildfarm2 lab-pc-17 nas-keller",
}
DOMAINS = {
    "first": "acme-labs.io kessel-it.de norrland.se",
    "second": "bluefin.dev hartmann-gmbh.de vistula.pl",
}
PEOPLE = {
    "first": ("Anna Kowalski", "Tomasz Berglund", "Zoë Okonkwo"),
    "second": ("Lena Haddad", "Łukasz Nyström", "Marek Mueller"),
}
SENTENCES = {
    "first": (
        "at least eight characters",
        "be stored in a vault",
        "lorem ipsum dolor sit amet",
        "not be shared",
    ),
    "second": (
        "rotated every quarter",
        "kept out of the repository",
        "consectetur adipiscing elit",
        "long enough for everyone",
    ),
}
PLACEHOLDERS = {
    "first": (
        "<your-password>",
        "changeme",
        "your_api_key_here",
        "********",
        "xxxxxxxx",
        "YOUR_TOKEN",
    ),
    "second": (
        "<api-key>",
        "REPLACE_ME",
        "your-secret-here",
        "...",
        "<redacted>",
        "INSERT_KEY_HERE",
    ),
}
REFERENCES = {
    "first": ("$API_KEY", "${SECRET_TOKEN}", "$(cat key.txt)"),
    "second": ("${API_KEY:?}", "$TOKEN", "{{ secrets.TOKEN }}"),
}
TYPES = {
    "first": ("string", "str", "Optional[str]", "String!"),
    "second": ("text", "&str", "SecretStr", "string | null"),
}
FILLER = (
    "the deployment notes say that before we roll out anything we should check once more".split()
)
FULL_LINE, LEAST_BROKEN = 60, 16


@dataclass(frozen=True)
class ShapeCase:
    """A text, what in it is to go or to stay, and how it is wrapped."""

    group: Group
    kind: str
    wrapping: str
    text: str
    values: tuple[str, ...]

    def normalise(self, text: str) -> str:
        """Return a text without the escapes and the line breaks that a wrapping has added."""
        text = re.sub(r"\\+u003c", "<", text).replace("\\", "")
        return text.replace("\n", "") if self.wrapping == "hard" else text

    def leaks(self, redacted: str) -> bool:
        """Return whether half of a secret, or all of a personal value, is still there."""
        shown = self.normalise(redacted)
        for value in map(self.normalise, self.values):
            size = max(5, len(value) // 2) if self.group == "secret" else len(value)
            if any(value[at : at + size] in shown for at in range(len(value) - size + 1)):
                return True
        return False

    def is_changed(self, redacted: str) -> bool:
        """Return whether a harmless value was replaced."""
        shown = redacted.replace("\\", "")
        return any(value.replace("\\", "") not in shown for value in self.values)


def _draw(rng: Random, letters: str, count: int) -> str:
    return "".join(rng.choice(letters) for _ in range(count))


def _mix(rng: Random, count: int, signs: str, least_signs: int = 3) -> str:
    """Return letters of every class in any order, with no sign at its beginning."""
    letters = [rng.choice(LOWER), rng.choice(UPPER), rng.choice(DIGITS)]
    letters += [rng.choice(signs) for _ in range(least_signs)]
    letters += [rng.choice(ALNUM) for _ in range(count - len(letters))]
    rng.shuffle(letters)
    value = "".join(letters)
    if not value[0].isalnum() or value[-1] in ".,;:>)":
        value = rng.choice(string.ascii_letters) + value[1:-1] + rng.choice(string.ascii_letters)
    return value


def _encode(rng: Random, size: int) -> str:
    return base64.b64encode(rng.randbytes(size)).decode()


def _draw_value(rng: Random, alphabet: str, half: Half) -> str:
    word = partial(rng.choice, WORDS[half].split())
    match alphabet:
        case "token" | "token24":
            return _mix(rng, 24 if alphabet == "token24" else rng.randint(20, 40), DIGITS)
        case "hex" | "hex32":
            return _draw(rng, HEX, 32 if alphabet == "hex32" else rng.choice((32, 40, 64)))
        case "b64":
            return _encode(rng, rng.choice((30, 32)))
        case "b64url":
            return _draw(rng, URL, 43)
        case "b64long":
            return _draw(rng, B64, 64)
        case "b64short" | "bc53":
            return _draw(rng, ALNUM + "./", 53 if alphabet == "bc53" else 22)
        case "tg35":
            return "AA" + _draw(rng, URL, 33)
        case "b32":
            return _draw(rng, UPPER + "234567", 32)
        case "pass":
            return _mix(rng, rng.randint(10, 15), SIGNS)
        case "odd":
            return _mix(rng, rng.randint(11, 18), ODD_SIGNS, 4)
        case "braceless":
            return _mix(rng, rng.randint(11, 16), BRACELESS_SIGNS, 4)
        case "quote":
            return _mix(rng, 14, "'\"\\")
        case "short":
            return _mix(rng, rng.randint(8, 10), DIGITS, 1)
        case "words":
            ending = rng.choice(("", "!", "x"))
            return f"{word().capitalize()}{rng.choice('-_!')}{rng.randint(100, 9999)}{ending}"
        case "spaced":
            return f"{word()} {word()} {rng.randint(2, 99)} {word()}"
        case "at":
            return f"{_draw(rng, ALNUM, 5)}@{_mix(rng, 6, '!#', 1)}"
        case "recovery":
            return f"{_draw(rng, HEX, 5)}-7{_draw(rng, HEX, 4)}"
        case "nonascii":
            return f"{word()}é{rng.randint(10, 99)}ß{_draw(rng, ALNUM, 4)}"
        case _:
            raise ValueError(alphabet)


def _fill(shape: str, values: dict[str, Callable[[], str]]) -> tuple[str, list[tuple[str, str]]]:
    """Return a text with values in its gaps, and these with their names."""
    found: list[tuple[str, str]] = []

    def replace_gap(gap: re.Match[str]) -> str:
        found.append((gap[1], values[gap[1]]()))
        return found[-1][1]

    return GAP.sub(replace_gap, shape), found


def _fill_secret(
    rng: Random, shape: str, alphabets: tuple[str, ...], half: Half
) -> tuple[str, list[str]]:
    alphabet = rng.choice(alphabets)
    value = _draw_value(rng, alphabet, half)
    other = _draw_value(rng, alphabet, half)
    if UNQUOTED.search(shape) and COMMAND.match(shape):
        value = re.sub(r"[&!?*#$]", "_", value)
    forms = {
        "v": value,
        "v2": other,
        "json": json.dumps(value)[1:-1],
        "url": quote(value, safe=""),
        "sig": quote(value, safe=""),
        "b64v": base64.b64encode(value.encode()).decode(),
        "basic": base64.b64encode(f"bob:{value}".encode()).decode(),
        "b32": value,
    }
    public = {
        "pub": lambda: _draw(rng, URL, 43),
        "up": lambda: _draw(rng, UPPER + "234567", 16),
        "hex40": lambda: _draw(rng, HEX, 40),
    }
    drawn = {name: partial(str, form) for name, form in forms.items()}
    text, found = _fill(shape, {**drawn, **public})
    return text, [form for name, form in found if name in forms]


def _fill_personal(rng: Random, shape: str, half: Half) -> tuple[str, list[str]]:
    user, host = rng.choice(USERS[half].split()), rng.choice(HOSTS[half].split())
    domain, name = rng.choice(DOMAINS[half].split()), rng.choice(PEOPLE[half])
    dotted = name.replace(" ", ".").lower().encode("ascii", "ignore").decode()
    mail = rng.choice((f"{dotted}@{domain}", f"{user}+ci@{domain}", f"{user}@mail.{domain}"))
    text, found = _fill(
        shape,
        {
            "user": lambda: user,
            "host": lambda: host,
            "fq": lambda: f"{host}.{domain}",
            "mail": lambda: mail,
            "mailurl": lambda: quote(mail, safe=""),
            "name": lambda: name,
            "spelled": lambda: mail.replace("@", " [at] ").replace(".", " [dot] "),
            "n": lambda: str(rng.randint(2, 250)),
            **{f"d{n}": partial(_draw, rng, DIGITS, n) for n in (4, 6, 7)},
        },
    )
    if re.fullmatch(r"[\d.]+", text):
        return text, [text]
    if "<<d" in shape:
        number = re.search(r"[+(]?\d[\d() -]{7,}\d", text)
        return text, [number[0]] if number else []
    return text, [value for gap, value in found if gap != "n"]


def _fill_harmless(rng: Random, shape: str, half: Half) -> tuple[str, list[str]]:
    words = WORDS[half].split()
    text, found = _fill(
        shape,
        {
            "uuid": lambda: str(uuid.UUID(int=rng.getrandbits(128), version=4)),
            "ver": lambda: f"{rng.randint(0, 30)}.{rng.randint(0, 20)}.{rng.randint(0, 99)}",
            "b64text": lambda: base64.b64encode(
                " ".join(rng.choices(words, k=6)).encode()
            ).decode(),
            "ph": lambda: rng.choice(PLACEHOLDERS[half]),
            "envref": lambda: rng.choice(REFERENCES[half]),
            "lorem": lambda: rng.choice(SENTENCES[half]),
            "b64bin": lambda: _encode(rng, 64),
            "alnum": lambda: "01" + _draw(rng, ALNUM, 22),
            "typ": lambda: rng.choice(TYPES[half]),
            "none": lambda: rng.choice(("None", "null", "undefined", "nil")),
            "word": lambda: rng.choice(words),
            "camel": lambda: rng.choice(words).capitalize(),
            "num": lambda: str(rng.randint(2, 99999)),
            "n2": lambda: str(rng.randint(10, 28)),
            "port": lambda: str(rng.randint(1024, 9999)),
            **{f"hex{n}": partial(_draw, rng, HEX, n) for n in (6, 7, 16, 32, 40, 64)},
        },
    )
    return text, [value for _, value in found]


Wrap = Callable[[Random, str, list[str]], str | None]


def _by_line(wrap: Callable[[int, str], str]) -> Wrap:
    return lambda _, text, __: "\n".join(wrap(*item) for item in enumerate(text.split("\n")))


def _wrap_text(wrap: Callable[[str], str], without: str = "\n") -> Wrap:
    """Return a wrapping for texts that have none of some signs."""
    return lambda _, text, __: None if set(without) & set(text) else wrap(text)


def _break_lines(rng: Random, text: str, values: list[str]) -> str | None:
    """Return a text whose longest value is cut by the end of a full line."""
    value = max(values, key=len)
    if len(value) < LEAST_BROKEN:
        return None
    place = text.index(value)
    number = text.count("\n", 0, place)
    column = place - (text.rfind("\n", 0, place) + 1) + len(value) // 2
    width = max(FULL_LINE, column)
    lines = text.split("\n")
    if lines[number][:1].isspace():
        return None
    lead = ""
    while len(lead) < width - column:
        lead += rng.choice(FILLER) + " "
    lines[number] = (lead[: width - column - 1] + " " if width > column else "") + lines[number]
    pieces = [line[at : at + width] for line in lines for at in range(0, len(line) or 1, width)]
    return "\n".join(pieces)


WRAPPINGS: dict[Half, dict[str, Wrap]] = {
    "first": {
        "json": _wrap_text(lambda text: json.dumps({"type": "text", "text": text}), ""),
        "json in json": _wrap_text(
            lambda text: json.dumps({"body": json.dumps({"content": text, "n": 1}), "ok": True}), ""
        ),
        "hard": _break_lines,
        "read": _by_line(lambda number, line: f"{number + 12:>6}→{line}"),
        "added": _by_line(lambda _, line: f"+{line}"),
        "removed": lambda _, text, __: "@@ -3,4 +3,2 @@\n ctx\n-" + text.replace("\n", "\n-"),
        "table": _wrap_text(
            lambda text: f"| setting | value |\n| --- | --- |\n| cfg | `{text}` |", "\n|`"
        ),
        "heredoc": _wrap_text(lambda text: f"cat > f.txt <<'EOF'\n{text}\nEOF\n", ""),
        "log": _by_line(
            lambda number, line: f"2026-03-0{number % 9 + 1}T10:11:12.123Z INFO  [worker-2] {line}"
        ),
    },
    "second": {
        "json": _wrap_text(lambda text: json.dumps({"stdout": text, "interrupted": False}), ""),
        "json thrice": _wrap_text(
            lambda text: json.dumps({"a": json.dumps({"b": json.dumps({"c": text})})}), ""
        ),
        "hard": _break_lines,
        "numbered": _by_line(lambda number, line: f"{number + 118:>6}\t{line}"),
        "read": _by_line(lambda number, line: f"{number + 7}→{line}"),
        "patch": lambda _, text, __: (
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,5 @@\n first\n"
            + (" " if "\n" in text else "+")
            + text.replace("\n", "\n+")
        ),
        "quote": _by_line(lambda _, line: f"> {line}"),
        "service": _by_line(lambda _, line: f"web-1  | {line}"),
        "repr": _wrap_text(repr, ""),
        "grep": _by_line(lambda number, line: f"conf/app.txt:{number + 3}:{line}"),
        "table": _wrap_text(lambda text: f"| {text} | first try |\n| other | second |", "\n|"),
        "heredoc": lambda _, text, __: (
            "ssh h bash <<EOF\n\t" + text.replace("\n", "\n\t") + "\nEOF"
        ),
        "box": _by_line(lambda _, line: f"│ {line:<70} │"),
        "list": _by_line(lambda number, line: ("  " if number else "- ") + line),
        "time": _by_line(lambda number, line: f"[10:11:{number + 10}] app[12]: {line}"),
    },
}


def iter_shape_cases(half: Half, seed: int, wrapped: int) -> Iterator[ShapeCase]:
    """Yield each shape of a half plain, and with other values in some wrappings."""
    rng = Random(f"{half} {seed}")
    rows: list[tuple[Group, str, Callable[[], tuple[str, list[str]]]]] = [
        *(
            ("secret", kind, partial(_fill_secret, rng, shape, names, half))
            for kind, shape, names in SECRETS[half]
        ),
        *(
            ("personal", kind, partial(_fill_personal, rng, shape, half))
            for kind, shape in PERSONAL[half]
        ),
        *(
            ("harmless", "harmless", partial(_fill_harmless, rng, shape, half))
            for shape in HARMLESS[half]
        ),
    ]
    for group, kind, fill in rows:
        names = [name for name in WRAPPINGS[half] if group != "harmless" or name != "hard"]
        for name in ("plain", *rng.sample(names, wrapped)):
            text, values = fill()
            written = text if name == "plain" else WRAPPINGS[half][name](rng, text, values)
            if written is not None:
                yield ShapeCase(group, kind, name, written, tuple(values))
