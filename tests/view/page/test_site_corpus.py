"""Real sessions as a site: every word is included, every line byte for byte."""

import json
import re
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from plait import Archive
from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    FoldedItems,
    Item,
    LateResult,
    ToolCall,
    UserMessage,
)
from plait.conversation.walk import Depth
from plait.export.site import Site
from plait.export.transcripts import Family, Names
from plait.sessions.families import group_families
from plait.sessions.open_session import open_sessions
from plait.view.text import COLOUR, clean_terminal_output
from tests.sampling import EACH_AND_ALL, one_of
from tests.view.page.packed import packed_in

LARGEST = 5_000_000
WORD = re.compile(r"[^\W_]+")
NAMED = re.compile(r"\[([^\]]*)\]\(\1\)")
MARKER = re.compile(r"^[\s>]*(?:\d+[.)]|[-*+] \[[ xX]\]|```)")


class Words(HTMLParser):
    """Collects the text of a page, the addresses of links and the languages of code with it."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.links: list[tuple[str, int]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the language of code, and remembers where a link begins."""
        result = dict(attrs)
        if tag == "code" and (result.get("class") or "").startswith("language-"):
            self.found.append((result["class"] or "").removeprefix("language-"))
        if tag == "a":
            address = result.get("href") or result.get("title") or ""
            self.links.append((address, len(self.found)))

    def handle_endtag(self, tag: str) -> None:
        """Keep the address of a link that says something else."""
        if tag == "a" and self.links:
            address, start = self.links.pop()
            words = "".join(self.found[start:])
            if not address.startswith(("#", "mailto:")) and words not in (
                address,
                unquote(address),
            ):
                self.found.append(unquote(address))

    def handle_data(self, data: str) -> None:
        """Keep a text."""
        self.found.append(data)


def families_of(root: Path, every: int) -> Iterator[Family]:
    """Yield sessions of an archive as they are exported, nothing redacted."""
    names = Names()
    for members in one_of(every, list(group_families(Archive([root]).sessions))):
        yield Family(open_sessions(members), str, names)


def words_in(html: str) -> str:
    """Return the words of a page in order."""
    parser = Words()
    parser.feed(html)
    return letters("\n".join(parser.found))


def letters(text: str) -> str:
    """Return the words of a text and nothing between them: colours and Markdown part them."""
    return "".join(WORD.findall(text))


def texts(items: tuple[Item, ...]) -> Iterator[str]:
    """Yield what was asked, said, thought and answered."""
    for item in items:
        match item:
            case UserMessage() | AssistantText() | AssistantThinking():
                yield item.text
            case ToolCall() if item.result:
                yield item.result.text
            case LateResult():
                yield item.result.text
            case FoldedItems():
                yield from texts(item.items)
            case _:
                pass


def pages(site: Site, family: Family) -> tuple[dict[str, bytes], str]:
    """Return the files of a family, and all their words."""
    files = dict(site.family_files(family))
    html = [data.decode() for name, data in files.items() if name.endswith(".html")]
    for name, data in files.items():
        for kind, _, packed in packed_in(data):
            if kind == "part":
                assert "part-" in name
                html += json.loads(packed)
    return files, "".join(map(words_in, html))


@pytest.fixture(scope="module", params=EACH_AND_ALL)
def corpus(request: pytest.FixtureRequest, shared: Path) -> list[Family]:
    """Return some of the real sessions, in the long run all of them, read once."""
    return list(families_of(shared / "corpus", request.param))


def test_every_word_is_in_the_pages(corpus: list[Family]) -> None:
    missing: list[tuple[str, str]] = []
    count = 0
    for family in corpus:
        site = Site(depth="all")
        _, result = pages(site, family)
        for entry in family.by_line.values():
            for text in texts(tuple(entry.items())):
                count += 1
                if not is_told(text, result):
                    missing.append((entry.id, text[:200]))
    assert missing == []
    assert count > 10 * len(corpus)


def is_told(text: str, told: str) -> bool:
    """Return whether a text is there, whole or line by line, as Markdown would write it."""
    is_printed = "\x1b" in text or "\r" in text
    shown = COLOUR.sub(" ", clean_terminal_output(text)) if is_printed else text
    if letters(shown) in told:
        return True
    return all(any(entry in told for entry in spellings_of(line)) for line in shown.split("\n"))


def spellings_of(line: str) -> Iterator[str]:
    """Yield the ways in which a line may stand in a page: numbers of lists are not text there."""
    for words in (line, unescape(line), unquote(line), NAMED.sub(r"\1", line)):
        yield letters(words)
        yield letters(MARKER.sub("", words))


@pytest.mark.parametrize("depth", [None, "tools", "prompts"])
def test_no_page_is_large(corpus: list[Family], depth: Depth | None) -> None:
    sizes = {
        name: len(data)
        for family in corpus
        for name, data in Site(depth=depth).family_files(family)
        if name.endswith(".html")
    }
    assert len(sizes) >= len(corpus) * 0.8 > 20
    assert {name: size for name, size in sizes.items() if size > LARGEST} == {}


def test_every_line_is_in_the_packed_parts(corpus: list[Family]) -> None:
    for family in corpus:
        packed: dict[tuple[int, int], bytes] = {}
        for data in dict(Site().family_files(family)).values():
            for kind, numbers, rows in packed_in(data):
                for row in rows.split(b"\n") if kind == "lines" else ():
                    row_number, _, line = row.partition(b"\t")
                    packed[numbers[0], int(row_number)] = line
        result = {entry.session for entry in family.by_line.values()}
        for session in family.graph.sessions.values():
            for number in session.files if session.id in result else ():
                path = family.graph.files[number].path
                for record in family.opened.records_of(path):
                    assert packed[number, record.line] == bytes(record.raw).rstrip(b"\n")
