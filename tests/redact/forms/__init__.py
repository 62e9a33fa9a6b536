"""Forms to cases: program × flag × notation × place × encoding, in two halves.

A form is a text with a hole. Its name decides by its digest whether it belongs to the half that
rules are built for or to the half that is only measured; nobody writes a rule for what the second
half misses.

    for case in cases("measured", seed=1):
        case.leaks(redactor.text(case.text))
"""

import base64
import hashlib
import html
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from random import Random
from typing import Literal
from urllib.parse import quote

from tests.redact.forms import commands, draw, keys, people, prose, settings
from tests.redact.planted import IRREGULAR, KEYS, key

Half = Literal["built", "measured", "all"]
HOLE = "§"


@dataclass(frozen=True, slots=True)
class Case:
    """A text, and what must not be left of it."""

    form: "Form"
    text: str
    parts: tuple[str, ...]

    def leaks(self, redacted: str) -> bool:
        """Return whether half of a part, or six letters of a short one, is left."""
        return any(_is_left(part, redacted) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Form:
    """One way in which a value is written down."""

    kind: Literal["secret", "personal"]
    family: str
    name: str
    make: Callable[[Random], tuple[str, tuple[str, ...]]]

    @property
    def is_measured(self) -> bool:
        """Whether no rule is built for it."""
        return bool(hashlib.sha256(f"{self.family}: {self.name}".encode()).digest()[0] & 1)

    def case(self, seed: int) -> Case:
        """Return a case that chance draws from the form."""
        rng = Random(f"{seed} {self.family} {self.name}")
        return Case(self, *self.make(rng))


def _is_left(part: str, text: str) -> bool:
    width = min(len(part), max(6, -(-len(part) // 2)))
    return any(part[at : at + width] in text for at in range(len(part) - width + 1))


def cases(half: Half = "all", seed: int = 1, each: int = 1) -> Iterator[Case]:
    """Yield cases of one half of the forms, some of each form."""
    for form in forms():
        if half == "all" or form.is_measured == (half == "measured"):
            for number in range(each):
                yield form.case(seed * 1000 + number)


@lru_cache
def forms() -> tuple[Form, ...]:
    """Return all forms."""
    tables = {
        "command": (*commands.TYPED, *_flags()),
        "environment": settings.ENVIRONMENT,
        "config": settings.CONFIG,
        "header": settings.HEADERS,
        "url": settings.URLS,
        "connection": settings.CONNECTIONS,
        "prose": prose.SENTENCES,
    }
    found = [
        Form("secret", family, text, _filled(text, _shown(family, text)))
        for family, texts in tables.items()
        for text in dict.fromkeys(texts)
    ]
    found += (*_wrapped(), *_copies(), *_tokens(), *_private_keys(), *_personal())
    return tuple(found)


def _flags() -> Iterator[str]:
    """Yield a third of programs × flags × joins, spread over all."""
    every = [
        f"{program} {flag}{join} --verbose"
        for program in commands.PROGRAMS
        for flag in commands.FLAGS
        for join in commands.JOINS
    ]
    yield from every[::11]


def _filled(
    text: str, shown: Callable[[str], str] = str
) -> Callable[..., tuple[str, tuple[str, ...]]]:
    def make(rng: Random) -> tuple[str, tuple[str, ...]]:
        value = draw.secret(rng)
        return shown(text.replace(HOLE, value)), (value,)

    return make


def _each_line(form: str) -> Callable[[str], str]:
    def shown(text: str) -> str:
        return "\n".join(form.format(n=n, line=line) for n, line in enumerate(text.split("\n"), 41))

    return shown


PLACES: dict[str, Callable[[str], str]] = {
    "alone": str,
    "between": lambda text: f"some words before\n{text}\nand some behind\n",
    "fenced": lambda text: f"```\n{text}\n```",
    "ticked": lambda text: f"run `{text}` again" if "\n" not in text and "`" not in text else text,
    "numbered": _each_line("{n:>6}\t{line}"),
    "read": _each_line("{n:>6}→{line}"),
    "added": _each_line("+{line}"),
    "quoted": _each_line("> {line}"),
    "as json": lambda text: json.dumps({"command": text, "n": 1}),
    "as json in json": lambda text: json.dumps({"input": json.dumps({"text": text})}),
    "prompted": lambda text: f"$ {text}\n",
    "indented": _each_line("    {line}"),
}


def _shown(family: str, name: str) -> Callable[[str], str]:
    """Return the place of a form: half of all stand alone."""
    digest = hashlib.sha256(f"place {family} {name}".encode()).digest()
    places = list(PLACES.values())
    return str if digest[0] < 128 else places[digest[1] % len(places)]


Encoding = Callable[[str], str]


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _escaped(text: str) -> str:
    return json.dumps(text)[1:-1]


ENCODINGS: dict[str, Encoding] = {
    "base64": _base64,
    "base64 for addresses": lambda text: (
        base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
    ),
    "base64 twice": lambda text: _base64(_base64(text)),
    "base64 in lines": lambda text: "\n".join(
        _base64(text)[at : at + 24] for at in range(0, len(_base64(text)), 24)
    ),
    "percent": lambda text: quote(text, safe=""),
    "percent twice": lambda text: quote(quote(text, safe=""), safe=""),
    "html": html.escape,
    "html by number": lambda text: "".join(c if c.isalnum() else f"&#{ord(c)};" for c in text),
    "html twice": lambda text: html.escape(html.escape(text)),
    "json": _escaped,
    "json twice": lambda text: _escaped(_escaped(text)),
    "json four times": lambda text: _escaped(_escaped(_escaped(_escaped(text)))),
    "codes": lambda text: "".join(c if c.isalnum() else f"\\u{ord(c):04x}" for c in text),
    "codes of python": lambda text: "".join(c if c.isalnum() else f"\\x{ord(c):02x}" for c in text),
    "hex": lambda text: text.encode().hex(),
    "quoted printable": lambda text: text.replace("=", "=3D"),
    "utf-16 in base64": lambda text: base64.b64encode(text.encode("utf-16-le")).decode(),
    "percent in base64": lambda text: _base64(quote(text, safe="")),
    "base64 in percent": lambda text: quote(_base64(text), safe=""),
    "json in base64": lambda text: _base64(json.dumps({"x": text})),
}
TOLD = (
    "DB_PASSWORD=§",
    "password: §",
    '{"user": "app", "password": "§"}',
    "postgres://app:§@db.example.com:5432/shop",
    "Authorization: Bearer §",
    "api_key=§&page=2",
    "mysql -u root -p§ shop",
    "<password>§</password>",
    "client_secret = '§'",
    "https://api.example.com/v1?access_token=§",
)


def _wrapped() -> Iterator[Form]:
    for encoding, encode in ENCODINGS.items():
        for told in TOLD:
            yield Form("secret", "wrapped", f"{encoding}: {told}", _encoded(told, encode))


def _encoded(told: str, encode: Encoding) -> Callable[[Random], tuple[str, tuple[str, ...]]]:
    def make(rng: Random) -> tuple[str, tuple[str, ...]]:
        value = draw.secret(rng)
        before, behind = told.split(HOLE)
        whole = encode(before + value + behind)
        first, last = len(encode(before)), len(encode(before + value))
        core = whole[first + 3 : max(first + 11, last - 4)]
        return f"got data: {whole} end", (core if core not in value else value,)

    return make


def _copies() -> Iterator[Form]:
    """Yield values that one place tells and another shows in another way."""
    for encoding, encode in ENCODINGS.items():
        if "twice" not in encoding and "in lines" not in encoding:
            yield Form("secret", "copy", encoding, _copied(encode))
    yield Form("secret", "copy", "cut at its end", _copied(lambda text: text[: len(text) * 3 // 4]))
    yield Form("secret", "copy", "upper case", _copied(str.upper))
    yield Form("secret", "copy", "over two lines", _copied(lambda t: t[:9] + "\n" + t[9:]))
    yield Form("secret", "copy", "over two lines, added", _copied(lambda t: t[:9] + "\n+" + t[9:]))
    yield Form("secret", "copy", "plain", _copied(str))
    yield Form("secret", "copy", "in a name", _copied(lambda text: f"x{text}y"))


def _copied(encode: Encoding) -> Callable[[Random], tuple[str, tuple[str, ...]]]:
    def make(rng: Random) -> tuple[str, tuple[str, ...]]:
        value = draw.secret(rng, 0)
        whole = encode(value)
        text = f"DB_PASSWORD={value}\nlater it said [{whole}] and went on\n"
        return text, (value, whole.replace("+", "").split("\n")[0].rstrip("=")[:-2])

    return make


TOKEN_PLACES = (
    "use § for the calls",
    'Client("§", timeout=30)',
    "https://api.example.com/§/x",
    "+  - §",
    "failed with §: 401",
    "    41→x = [§]",
    "| it | § |",
    '{\\"v\\":\\"§\\"}',
    "\x1b[33m§\x1b[0m",
)


def _tokens() -> Iterator[Form]:
    for row in KEYS:
        yield Form(
            "secret",
            "known token",
            f"{row[0]} {row[1]}",
            _token(partial(key, row=row)),
        )
    for name, make in IRREGULAR.items():
        yield Form("secret", "known token", name, _token(make))


def _token(draw_one: Callable[[Random], str]) -> Callable[[Random], tuple[str, tuple[str, ...]]]:
    def make(rng: Random) -> tuple[str, tuple[str, ...]]:
        value = draw_one(rng)
        part = value.rpartition("/")[2] if "://" in value else value
        return rng.choice(TOKEN_PLACES).replace(HOLE, value), (part,)

    return make


def _private_keys() -> Iterator[Form]:
    kinds = list(keys.KINDS)
    for number, shown in enumerate(keys.SHOWN):
        for step in (0, 3):
            kind = kinds[(number + step) % len(kinds)]
            yield Form("secret", "private key", f"{kind}: {shown}", _private_key(kind, shown))
    for name in keys.single(Random(0)):
        yield Form("secret", "private key", name, _single_key(name))


def _private_key(kind: str, shown: str) -> Callable[[Random], tuple[str, tuple[str, ...]]]:
    def make(rng: Random) -> tuple[str, tuple[str, ...]]:
        lines = keys.KINDS[kind](rng)
        text = keys.SHOWN[shown](lines)
        if shown in keys.ENCODED:
            return text, keys.encoded_parts(shown, lines, text)
        left = lines[2:] if "head" in shown else lines[:-2] if "its end" in shown else lines
        return text, tuple(part for part in keys.body_of(left))

    return make


def _single_key(name: str) -> Callable[[Random], tuple[str, tuple[str, ...]]]:
    def make(rng: Random) -> tuple[str, tuple[str, ...]]:
        text, value = keys.single(rng)[name]
        return text, (value,)

    return make


def _personal() -> Iterator[Form]:
    for family, texts, make in (
        ("user", people.USERS, draw.user),
        ("host", people.HOSTS, draw.host),
        ("ip", people.IPS, draw.address),
        ("phone", people.PHONES, draw.phone),
        ("email", people.EMAILS, draw.email),
    ):
        for text in dict.fromkeys(texts):
            yield Form("personal", family, text, _person(text, make))
    for text in people.ACCOUNTS:
        yield Form("personal", "account", text, _account(text))


def _person(
    text: str, draw_one: Callable[[Random], str]
) -> Callable[[Random], tuple[str, tuple[str, ...]]]:
    def make(rng: Random) -> tuple[str, tuple[str, ...]]:
        value = draw_one(rng)
        return text.replace(HOLE, value).replace("¤", "x.example.com"), (value,)

    return make


def _account(text: str) -> Callable[[Random], tuple[str, tuple[str, ...]]]:
    def make(rng: Random) -> tuple[str, tuple[str, ...]]:
        place = text.index(HOLE)
        value = draw.account(rng, text[place + 1])
        return text[:place] + value + text[place + 2 :], (value,)

    return make
