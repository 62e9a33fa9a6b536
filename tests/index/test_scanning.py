"""Texts and regexes found in raw bytes match a scan that decodes every line."""

import json
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plait.errors import UserError
from plait.index.expression import (
    Expression,
    ScanPattern,
    find_required_text,
    make_finder,
    pattern_for_regex,
    pattern_for_text,
    translate_to_raw,
)
from plait.index.passages import iter_texts
from plait.index.scanning import BLOCK, number_lines, scan_logs
from plait.line import iter_lines
from plait.line.discovery import find_session_folder
from plait.record.reader import parse_entry

LETTERS = st.sampled_from("abcIkKſ .,:;\"\\/<>&'\n\t\x7f0٣éß使😀\ud83d_-")
TEXTS = st.text(LETTERS, max_size=12)
ATOMS = st.sampled_from(
    r"""a b k I \. . \d \w \s \S \W [ab] [^a] [a使] [.-/] é 使 😀 " \\ / < & \n \t ^ $ \b (?i:k)
    (?=a) (?<!b) [k-m] [.] [\w.-] [^\s"] \x41 \u00e9 (?s:.) \( (?#no) ſ [ſ]""".split()
)
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda ways: f"(?:{'|'.join(ways)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "{20}", "+?"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=5,
)


def record(kind: str, content: object, **more: object) -> dict[str, object]:
    """Return a line of a log with a message."""
    message = {"role": kind, "content": content}
    place = {"uuid": "u", "timestamp": "2026-11-02T09:00:00.000Z"}
    return {"type": kind, "message": message, **place, **more}


def forms_of(text: str, other: str) -> Iterator[dict[str, object]]:
    """Yield lines of every common form, and of some others."""
    result = {"type": "tool_result", "tool_use_id": "t"}
    yield record("user", text)
    yield record("assistant", text)
    yield record("user", text, isMeta=True)
    yield record("user", [{"type": "text", "text": text}, {"type": "text", "text": other}])
    yield record("assistant", [{"type": "text", "text": text}])
    yield record("assistant", [{"type": "thinking", "thinking": other, "signature": text}])
    given = {"file_path": text, "more": [other, 3]}
    yield record("assistant", [{"type": "tool_use", "id": "t", "name": text, "input": given}])
    yield record("user", [{**result, "content": text}], toolUseResult={"stdout": other})
    parts = [{"type": "text", "text": text}, {"type": "text", "text": other}]
    yield record("user", [{**result, "content": parts}])
    yield record("user", [{**result, "content": text, "is_error": True}])
    tags = f"<command-name>/{text}</command-name>\n<command-args>{other}</command-args>"
    yield record("user", tags)
    yield record("user", f"<ide_opened_file>{text}</ide_opened_file>{other}")
    yield record("user", f"{other}<summary>{text}</summary>", origin={"kind": "task-notification"})
    yield record("user", f"Base directory for this skill: /{other}\n\n{text}", isMeta=True)
    yield {"type": "system", "content": text, "uuid": "u"}
    yield {"type": "attachment", "attachment": {"type": "x", "content": [text, other]}}


def log_of(folder: Path, texts: list[tuple[str, str]]) -> Path:
    """Write a log with texts in all forms, some of them escaped throughout, one line torn."""
    path = folder / "log.jsonl"
    rows = [
        json.dumps(line, ensure_ascii=number % 2 == 0)
        for text, other in texts
        for number, line in enumerate(forms_of(text, other))
    ]
    data = "\n".join(rows).encode("utf-8", "replace")
    path.write_bytes(data + b"\n" + data[:200] + b"\n")
    return path


def plainly(path: Path, sought: ScanPattern) -> list[tuple[int, int]]:
    """Return where a scan that decodes every line finds something: offsets and parts."""
    folder = find_session_folder(path)[0] or path.with_suffix("")
    is_in = make_finder(sought).matches
    return [
        (line.offset, part)
        for line in iter_lines(path)
        for part, text in enumerate(iter_texts(parse_entry(line), folder))
        if text and is_in(text)
    ]


def scanned(path: Path, sought: ScanPattern) -> list[tuple[int, int]]:
    return [(one.offset, one.part) for one in scan_logs([str(path)], [0], sought)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logs")


@settings(max_examples=80, deadline=None)
@given(texts=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=3), start=st.integers(0, 9))
def test_text_matches_a_plain_scan(folder: Path, texts: list[tuple[str, str]], start: int) -> None:
    path = log_of(folder, texts)
    for text in {texts[0][0][start:], texts[0][1][:start], "a"} - {""}:
        sought = pattern_for_text(text)
        assert scanned(path, sought) == plainly(path, sought), text


@settings(max_examples=120, deadline=None)
@given(texts=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=3), pattern=PATTERNS)
def test_regex_matches_a_plain_scan(
    folder: Path, texts: list[tuple[str, str]], pattern: str
) -> None:
    path = log_of(folder, texts)
    for one in (pattern, f"(?i){pattern}"):
        sought = pattern_for_regex(one)
        assert scanned(path, sought) == plainly(path, sought), one


@pytest.mark.long
@settings(max_examples=5000, deadline=None)
@given(texts=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=3), pattern=PATTERNS)
def test_many_regexes_match_a_plain_scan(
    folder: Path, texts: list[tuple[str, str]], pattern: str
) -> None:
    path = log_of(folder, texts)
    sought = pattern_for_regex(pattern)
    assert scanned(path, sought) == plainly(path, sought)


OF_REAL_LOGS = [
    "error",
    r"(?i)import \w+",
    r"\w+\.py:\d+",
    r"^\s*$",
    "foo|bar|0x[0-9a-f]+",
    r"def \w+\(self",
    r"(?<=x)y",
    '": "',
    "é",
    r"https?://[^\s\"]+",
    r"[\u4e00-\u9fff]+",
    r"<[a-z-]+>.*?</",
]


@pytest.mark.parametrize("pattern", OF_REAL_LOGS)
def test_real_logs_match_a_plain_scan(shared: Path, pattern: str) -> None:
    check_real(shared / "corpus", pattern_for_regex(pattern), 12)


@pytest.mark.long
@pytest.mark.parametrize("pattern", OF_REAL_LOGS)
def test_all_real_logs_match_a_plain_scan(shared: Path, pattern: str) -> None:
    check_real(shared / "corpus", pattern_for_regex(pattern), 1 << 30)


def check_real(corpus: Path, sought: ScanPattern, most: int) -> None:
    logs = sorted(path for path in corpus.rglob("*.jsonl") if path.stat().st_size < 300_000)
    if most > len(logs):
        logs = sorted(corpus.rglob("*.jsonl"))
    for path in random.Random(sought.pattern).sample(logs, min(most, len(logs))):
        assert scanned(path, sought) == plainly(path, sought), path


@pytest.mark.parametrize("number", ["1e3", "2.50", "0.00001", "12345678901234567.5", "-4E-2"])
def test_a_number_is_found_as_it_is_shown(tmp_path: Path, number: str) -> None:
    given = {"type": "tool_use", "id": "t", "name": "Wait", "input": {"limits": [1, 0]}}
    line = json.dumps(record("assistant", [given])).replace("[1, 0]", f"[1, {number}]")
    path = tmp_path / "log.jsonl"
    path.write_text(f"{line}\n")
    sought = pattern_for_text(str(json.loads(number)))
    assert scanned(path, sought) == plainly(path, sought) == [(0, 0)]


def test_parallel_scan_equals_serial(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / str(number)).mkdir()
        log_of(tmp_path / str(number), [("needle", "hay")] * number)
    paths = [str(path) for path in sorted(tmp_path.rglob("*.jsonl"))]
    sought, sizes = pattern_for_regex("ne+dle"), [1 << 40] * 5
    alone = scan_logs(paths, sizes, sought)
    assert scan_logs(paths, sizes, sought, 2) == alone != []
    asked = Event()
    beside = Thread(target=asked.wait)
    beside.start()  # so that nothing is forked
    assert scan_logs(paths, sizes, sought, 2) == alone
    asked.set()
    beside.join()


def test_lines_longer_than_a_block_and_lines_without_an_end(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    long = json.dumps(record("user", "x" * 700_000 + " needle")).encode()
    last = json.dumps(record("user", "needle at the end")).encode()
    path.write_bytes(b"\n".join((last, long, last)))
    sought = pattern_for_text("needle")
    assert scanned(path, sought) == plainly(path, sought) != []
    assert len(scanned(path, sought)) == 3
    os.truncate(path, 0)
    assert scanned(path, sought) == []


def test_lines_are_numbered_in_one_pass(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    lines = [b"x" * size for size in (3, 0, BLOCK - 5, 1, 2 * BLOCK, 7, 0)]
    path.write_bytes(b"\n".join(lines))
    offsets = [sum(len(line) + 1 for line in lines[:number]) for number in range(len(lines))]
    numbers = list(range(1, len(lines) + 1))
    assert number_lines(path, offsets) == numbers
    for start, number in zip(offsets, numbers, strict=True):
        assert number_lines(path, offsets[number - 1 :], (start, number)) == numbers[number - 1 :]
    assert number_lines(path, [offsets[-1] + 9]) == [7]  # behind the end
    assert number_lines(path, []) == []


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        ("parser", "parser"),
        (r"foo\d+barbaz", "barbaz"),
        ("(abcd)+x", "abcd"),
        ("(abcd)?xy", "xy"),
        ("abc|def", ""),
        (r'a"bcd', "bcd"),
        ("(?i)task", "ta"),
        ("a.b", "a"),
        ("(?i:abcd)xy", "xy"),
        ("foo(?:ba)r", "foobar"),
        ("foobar|foobaz", "fooba"),
        ("a(?=bcd)e[.]f", "ae.f"),
        ("(?#bcd)ab", "ab"),
        (r"abc\x2edef", "abc.def"),
        ("abc{,2}", "ab"),
        ("a{bc", "a{bc"),
        ("(?P<name>ab)cd(?P=name)", "abcd"),
        (r"\pLabc", ""),
        (r"\Qabc\E", ""),
        ("(?x) abc", ""),
    ],
)
def test_required_literals_of_a_regex(pattern: str, needed: str) -> None:
    assert find_required_text(pattern)[0] == needed


@pytest.mark.parametrize(
    ("pattern", "form"),
    [
        ("a+b", "(?:a){1,}b"),
        (r"\d{4}:", "(?:[0123456789]){4,4}:"),
        ('"', r'(?:\\u0022|\\")'),
        ("é", r"(?:\\u00[eE]9|\xc3\xa9)"),
        ("x*", None),
        ("^$", None),
        ("a*b", "(?:a){0,}b"),
        ("a?b", "(?:a){0,1}b"),
        ("a{2}b", "(?:a){2,2}b"),
        ("a{2,3}b", "(?:a){2,3}b"),
        ("a{2,}b", "(?:a){2,}b"),
        ("a{,3}b", "(?:a){0,3}b"),
        ("a{12}b", "(?:a){12,12}b"),
        ("a{13}b", "(?:a){12,}b"),
        ("a((b)c)d", "abcd"),
        ("a(b(c|d)e)f", "ab(?:c|d)ef"),
        ("(?s)a.b", r"a[^\n]*b"),
        ("a(?s:.)b", r"a[^\n]*b"),
        ("a(?i:b)c", "a[bB]c"),
        ("(?i)a(?-i:b)c", "[aA]b[cC]"),
        ("a(?=b)c", "ac"),
        ("a(?#b)c", "ac"),
        (r"(a)\1", r"a[^\n]*"),
        ("(a", None),
        ("a)", None),
        ("*a", None),
    ],
)
def test_the_raw_form_of_an_expression(pattern: str, form: str | None) -> None:
    assert translate_to_raw(pattern) == form


@pytest.mark.parametrize("pattern", ["(?i)ſ", "(?i)[ſ]", "(?i)\u212a", "(?i)[é-使]"])
def test_unicode_variants_of_k_and_s(tmp_path: Path, pattern: str) -> None:
    path = log_of(tmp_path, [("s", "k"), ("K", "é"), ("ſ", "x")])
    sought = pattern_for_regex(pattern)
    assert scanned(path, sought) == plainly(path, sought) != []


@pytest.mark.parametrize("pattern", ["(a", "[", "*", "(?P<n>", "a" * 10_000 + "(", ""])
def test_invalid_regex_is_explained(pattern: str) -> None:
    with pytest.raises(UserError) as caught:
        pattern_for_regex(pattern)
    assert caught.value.hints


def test_catastrophic_regex_is_fast(tmp_path: Path) -> None:
    path = log_of(tmp_path, [("a" * 5000 + "!", "word " * 2000 + "!")])
    for pattern in (r"^(a+)+$", r"^(\w+\s?)*$", r"(.*)*x.*y.*z$", "(?:a?){500}a{500}b"):
        assert not isinstance(Expression(pattern).engine, re.Pattern)
        sought = pattern_for_regex(pattern)
        assert scanned(path, sought) == plainly(path, sought)
