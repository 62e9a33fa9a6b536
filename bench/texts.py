"""Generate texts that look like work from a seed: prose, code and logs, escaped for JSON."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from random import Random

_SYLLABLES = (
    "ba be bi bo bra bri ca ce co cra da de di do dra el en fa fe fi fo ga ge go gra ha he in ka "
    "ke ko la le li lo lu ma me mi mo mu na ne ni no nor o pa pe pi po pra pre ra re ri ro ru sa "
    "se si so sta ste sto ta te ti to tra tri tu u va ve vi vo wa we xa ya za zo"
).split()

_COMMON = (
    "the a of to in is that it for on with as this are be not by from or an at which one all can "
    "has when but if then so what there use used file line test value function class list data "
    "name key type error return call result path text user session record request response cache "
    "index query table column row server client token order price cart total import module "
    "package version build branch commit merge change fix check run read write parse render load "
    "save open close start stop first last next previous new old same other each every only more "
    "less than after before between because where while without within should would could must "
    "may might will does did done make makes made take takes took give gives gave find finds "
    "found keep keeps kept look looks see sees seen show shows shown work works worked need needs "
    "needed add adds added remove removed update updated create created delete deleted number "
    "string bytes object array field property method argument option flag default setting config "
    "page view template style layout button form input output stream buffer queue thread process "
    "worker task job event signal timer clock time date day week month year second minute"
).split()

_FOREIGN = "Größe café naïve Übergabe señal 東京 данные → … “so” résumé façade Zürich λ".split()
_PATHS = ("src", "tests", "app", "lib", "core", "web", "tools", "docs")
_ENDINGS = ("py", "ts", "go", "rs", "md", "toml", "sql", "css")
_LEVELS = ("INFO", "INFO", "INFO", "DEBUG", "WARN", "ERROR")


# What stands before each line of a file that is shown; more lines than a result ever has.
_NUMBERS = [b"\\n%d\\t" % number for number in range(1, 5_001)]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A few lines, escaped and encoded, whole and one by one."""

    data: bytes
    lines: list[bytes]


def _paragraph(texts: list[str]) -> Paragraph:
    found = [json.dumps(text, ensure_ascii=False)[1:-1].encode() for text in texts]
    return Paragraph(b"\\n".join(found), found)


class Texts:
    """Pools of paragraphs, drawn from without end.

    Every text is already escaped for JSON, so that quoting it costs a copy and no more.
    """

    def __init__(self, seed: int, paragraphs: int = 4_000) -> None:
        self.rng = Random(f"texts/{seed}")
        self.words = self._vocabulary()
        self._weights = list(accumulate(1.0 / (rank + 8) for rank in range(len(self.words))))
        share = paragraphs // 4
        self.prose = self._pool(self._sentences, share)
        self.code = self._pool(self._function, share * 2)
        self.logs = self._pool(self._log, share)
        self.mixed = self.code + self.logs + self.prose
        self._phrases = [" ".join(self._some(3 + index % 7)) for index in range(3_000)]
        self._noise = base64.b64encode(self.rng.randbytes(120_000)).decode()

    def body(self, rng: Random, size: int, pool: Sequence[Paragraph]) -> bytes:
        """Return about `size` bytes, paragraph upon paragraph."""
        parts: list[bytes] = []
        length, random, count = 0, rng.random, len(pool)
        while length < size:
            part = pool[int(random() * count)].data
            parts.append(part)
            length += len(part) + 2
        return b"\\n".join(parts)

    def essay(self, rng: Random, size: int) -> str:
        """Return about `size` letters of prose."""
        return self.body(rng, size, self.prose).decode()

    def numbered(self, rng: Random, size: int) -> tuple[bytes, bytes, int]:
        """Return a file as it is, as a tool shows it (with numbers), and how many lines it has."""
        found: list[bytes] = []
        length, random, count = 0, rng.random, len(self.code)
        while length < size:
            paragraph = self.code[int(random() * count)]
            found += paragraph.lines
            length += len(paragraph.data)
        rendered = b"".join(chain.from_iterable(zip(_NUMBERS, found, strict=False)))
        return b"\\n".join(found), rendered[2:], len(found)

    def sentence(self, rng: Random) -> str:
        """Return a few words, as a prompt or a title has them."""
        phrases, count = self._phrases, len(self._phrases)
        return f"{phrases[int(rng.random() * count)]} {phrases[int(rng.random() * count)]}"

    def path(self, rng: Random) -> str:
        """Return the path of a file within a project."""
        words, count = self.words, 900  # the common ones: files are met again and again
        folder, name = words[int(rng.random() ** 2 * 40)], words[int(rng.random() ** 2 * count)]
        place = int(rng.random() * len(_PATHS))
        return f"{_PATHS[place]}/{folder}/{name}.{_ENDINGS[place]}"

    def signature(self, rng: Random) -> str:
        """Return the signature of a thinking block."""
        start = int(rng.random() * (len(self._noise) - 900))
        return "Er" + self._noise[start : start + 180 + int(rng.random() * 700)]

    def _vocabulary(self) -> list[str]:
        """Common words first, then rarer and rarer ones."""
        rng, known = self.rng, dict.fromkeys(_COMMON)
        while len(known) < 12_000:
            syllables = rng.choices(_SYLLABLES, k=2 + int(rng.random() * 3))
            known["".join(syllables)] = None
        words = list(known)
        for place, word in enumerate(_FOREIGN):
            words.insert(300 + place * 40, word)
        return words

    def _pool(self, make: Callable[[], list[str]], count: int) -> list[Paragraph]:
        return [_paragraph(make()) for _ in range(count)]

    def _some(self, count: int) -> list[str]:
        return self.rng.choices(self.words, cum_weights=self._weights, k=count)

    def _name(self) -> str:
        return "_".join(self._some(2)).lower()

    def _sentences(self) -> list[str]:
        lines = []
        for _ in range(2 + int(self.rng.random() * 4)):
            words = self._some(9 + int(self.rng.random() * 14))
            if self.rng.random() < 0.3:
                words[2] = f"`{words[2]}`"
            lines.append(" ".join(words).capitalize() + ".")
        return lines if self.rng.random() < 0.7 else [f"- {line}" for line in lines]

    def _function(self) -> list[str]:
        names = [self._name() for _ in range(6)]
        lines = [f"def {names[0]}({names[1]}: str, {names[2]}: int = {self._number()}) -> bool:"]
        lines.append(f'    """{" ".join(self._some(8)).capitalize()}."""')
        lines += [self._statement(names) for _ in range(3 + int(self.rng.random() * 7))]
        lines += [f"    return {names[3]} != {names[1]}", ""]
        return lines

    def _statement(self, names: list[str]) -> str:
        left, right = self.rng.choice(names), self.rng.choice(names)
        kind = int(self.rng.random() * 5)
        if kind == 0:
            return f'    if {left}.get("{right}") is None and {self._number()} < len({right}):'
        if kind == 1:
            return f'        raise ValueError(f"{" ".join(self._some(5))}: {{{left}!r}}")'
        if kind == 2:
            return f"    {left} = [{right}(item) for item in {self._name()} if item]"
        if kind == 3:
            return f"    # {' '.join(self._some(9))}"
        return f"    {left}, {right} = {right}[{self._number()}:], {left}.{self._name()}()"

    def _log(self) -> list[str]:
        return [self._log_line() for _ in range(3 + int(self.rng.random() * 5))]

    def _log_line(self) -> str:
        rng, number = self.rng, self._number()
        day = f"2026-{1 + number % 12:02}-{1 + number % 28:02}"
        time = f"{number % 24:02}:{number % 60:02}:{number % 59:02}.{number % 1000:03}Z"
        token, words = f"{rng.getrandbits(64):016x}", " ".join(self._some(6))
        return f"{day}T{time} {rng.choice(_LEVELS):5} {token} {words} took={number}ms"

    def _number(self) -> int:
        return int(self.rng.random() ** 3 * 5_000)
