"""Days, models and tokens are formatted by one module each."""

import ast
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from plait.view import formats

SOURCE = Path(formats.__file__).parents[1]
FACES = ("cli", "terminal", "view", "web")
OWN = SOURCE / "view" / "formats.py"
SCRIPTS = SOURCE / "view" / "page" / "assets" / "script"
MODULES = [path for face in FACES for path in sorted((SOURCE / face).rglob("*.py")) if path != OWN]
NAMES_OF_FILES = {SOURCE / "automation.py"}
"""Modules whose times are part of a file's name."""
TIME = re.compile(r"%[-#]?[aAbBcdDeFGgHIjklmMpsSTuUVwWxXyYZ]")
MODEL = re.compile(r"20\\d\{6\}|^claude-$|anthropic\.$")
TOKENS = re.compile(
    r"(?:read from|written to|from) (?:the )?cache\b|cache[ -]?(?:creation|hits?|reads|writes)\b"
    r"|cached (?:input|tokens)|(?:prompt|completion|reasoning) tokens",
    re.IGNORECASE,
)
KINDS = {formats.CACHE_WRITE, formats.CACHE_READ}
SCRIPTED = re.compile(r"toLocale(?:Date|Time)String|DateTimeFormat|getMonth\(|getFullYear\(")


def strings(tree: ast.AST) -> Iterator[str]:
    """Yield the texts of a module, without what it says of itself."""
    result = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in result
        ):
            yield node.value


def wordings(text: str) -> list[str]:
    """Return what a module words by itself of what has one form."""
    tree = ast.parse(text)
    found = [
        string
        for node in ast.walk(tree)
        if isinstance(node, ast.FormattedValue) and node.format_spec
        for string in strings(node.format_spec)
        if TIME.search(string)
    ]
    calls = [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    found += [name for name in calls if name in ("strftime", "ctime")]
    return found + [
        string
        for string in strings(tree)
        if MODEL.search(string) or TOKENS.search(string) or string.casefold() in KINDS
    ]


def test_only_one_module_formats_days_models_and_tokens() -> None:
    for path in MODULES:
        found = [] if path in NAMES_OF_FILES else wordings(path.read_text(encoding="utf-8"))
        assert not found, f"{path}: {found} has a form of its own: see plait/view/formats.py"


def test_only_one_script_formats_days() -> None:
    for path in SCRIPTS.glob("*.js"):
        if path.name != "time.js":
            assert not SCRIPTED.search(path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize(
    "text",
    [
        'f"{time:%Y-%m-%d}"',
        'f"{time:{width}%b}"',
        "time.strftime(form)",
        're.compile(r"-20\\d{6}$")',
        'name.removeprefix("claude-")',
        'say("read from the cache")',
        'HEADS = ("input", "cache write")',
        'HEADS = ("Input", "Cache read")',
        'f"{count} cached tokens"',
    ],
)
def test_separate_formatting_is_found(text: str) -> None:
    assert wordings(text)


@pytest.mark.parametrize(
    "text", ['f"{share:.0%}"', 'f"{count:>6}"', '"claude-code"', '"""Read from the cache."""']
)
def test_other_words_are_ignored(text: str) -> None:
    assert not wordings(text)


MORNING = datetime(2026, 11, 5, 9, 4, 7, tzinfo=timezone(timedelta(hours=2)))


def test_times_have_one_format() -> None:
    assert formats.format_day(MORNING) == formats.format_day(date(2026, 11, 5)) == "2026-11-05"
    assert formats.format_minute(MORNING) == "2026-11-05 09:04"
    assert formats.format_second(MORNING) == "2026-11-05 09:04:07"
    assert formats.format_clock(MORNING) == "09:04"
    assert formats.format_month_name(MORNING) == "Nov"
    assert formats.format_weekday(MORNING) == "Thu 2026-11-05"
    assert formats.format_utc(MORNING) == "2026-11-05T07:04:07Z"


@pytest.mark.parametrize(
    ("minutes", "words"),
    [
        (0, "2026-11-05 09:04"),
        (30, "2026-11-05 09:04–09:34"),
        (1440, "2026-11-05 09:04 – 2026-11-06 09:04"),
    ],
)
def test_period_omits_repeated_parts(minutes: int, words: str) -> None:
    assert formats.format_time_range(MORNING, MORNING + timedelta(minutes=minutes)) == words


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("claude-opus-4-5-20251101", "opus-4-5"),
        ("claude-3-5-haiku@20241022", "3-5-haiku"),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", "sonnet-4"),
        ("anthropic/claude-opus-5-5", "opus-5-5"),
        ("claude-opus-5-5[1m]", "opus-5-5"),
        ("gpt-9", "gpt-9"),
        ("claude-", "claude-"),
        ("", ""),
    ],
)
def test_models_have_one_format(name: str, short: str) -> None:
    assert formats.format_model(name) == short


def test_ambiguous_model_names_are_distinguished() -> None:
    names = ["claude-a-20250101", "claude-b-20250101", "claude-b-20250202", "other"]
    assert list(formats.format_models_distinctly(names).values()) == [
        "a",
        "b-20250101",
        "b-20250202",
        "other",
    ]
    assert formats.format_models(names) == "a, b, other"
    assert formats.format_first_models(names) == "a, b +1"
    assert formats.format_first_models(names[:2]) == "a, b"


def test_tokens_in_a_row() -> None:
    assert (formats.format_input_tokens(43_000), formats.format_output_tokens(946)) == (
        "43k in",
        "946 out",
    )
    assert (formats.format_input_tokens(0), formats.format_output_tokens(0)) == ("", "")


@given(some.datetimes(timezones=some.just(UTC)))
def test_days_sort_as_text(time: datetime) -> None:
    later = min(time, datetime(9999, 12, 30, tzinfo=UTC)) + timedelta(days=1)
    if time.year >= 1000:
        assert formats.format_day(min(time, later)) <= formats.format_day(later)
