"""Parsing search queries and their errors."""

import pytest

from plait.errors import UserError
from plait.index.query import And, Field, Not, Or, Phrase, QueryNode, Word, parse_query


def words(*texts: str) -> tuple[Word, ...]:
    return tuple(Word(text) for text in texts)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("parser", Word("parser")),
        ("parser error", And(words("parser", "error"))),
        ("a AND b", And(words("a", "b"))),
        ("a OR b", Or(words("a", "b"))),
        ("a b OR c", Or((And(words("a", "b")), Word("c")))),
        ("a (b OR c)", And((Word("a"), Or(words("b", "c"))))),
        ("NOT a", Not(Word("a"))),
        ("NOT NOT a", Word("a")),
        ("NOT -a", Word("a")),
        ("-a", Not(Word("a"))),
        ("- a", And(words("-", "a"))),
        ("-(a b)", Not(And(words("a", "b")))),
        ('-"a b"', Not(Phrase("a b"))),
        ('"a b"', Phrase("a b")),
        ('"a b"~3', Phrase("a b", 3)),
        ('"a b"~99', Phrase("a b", 99)),
        ('"a b"~100', Phrase("a b", 0)),
        ('"a b"~x', Phrase("a b", 0)),
        ('"a b"*', Phrase("a b", 0, is_prefix=True)),
        ("pars*", Word("pars", is_prefix=True)),
        ("*arse*", Word("arse", is_inner=True)),
        ("*arse", Word("arse", is_inner=True)),
        ("*", Word("*")),
        ("**", Word("**")),
        ("parcer~", Word("parcer", distance=1)),
        ("parcer~2", Word("parcer", distance=2)),
        ("parcer~3", Word("parcer~3")),
        ("~", Word("~")),
        ("tool:Bash", Field("tool", "Bash")),
        ("TOOL:Bash", Field("tool", "Bash")),
        ("in:prompt", Field("kind", "prompt")),
        ("until:2026", Field("before", "2026")),
        ('project:"my shop"', Field("project", "my shop")),
        ("-tool:Bash", Not(Field("tool", "Bash"))),
        ("localhost:8080", Word("localhost:8080")),
        ("http://x.org", Word("http://x.org")),
        ("std::map", Word("std::map")),
        ("a:b", Word("a:b")),
        ('"OR"', Phrase("OR")),
        ("tool:OR x", And((Field("tool", "OR"), Word("x")))),
    ],
)
def test_parsed_queries(text: str, wanted: QueryNode) -> None:
    assert parse_query(text) == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the query is empty"),
        ("   ", "the query is empty"),
        ('"a', "a quotation mark is not closed in '\"a'"),
        ("a)", "a parenthesis is closed but never opened in 'a)'"),
        ("(a", "a parenthesis is not closed in '(a'"),
        ("()", "a word is missing next to an operator or in parentheses in '()'"),
        ("a OR", "a word is missing next to an operator or in parentheses in 'a OR'"),
        ("OR a", "a word is missing next to an operator or in parentheses in 'OR a'"),
        ("a NOT", "nothing follows NOT in 'a NOT'"),
        ('""', "the quotation marks are empty"),
        ("tool:", "'tool:' has no value"),
        ("tol:Bash", "no field named 'tol'"),
        ("(" * 31 + "a" + ")" * 31, "the query is nested too deeply"),
        (" ".join("a" * 257), "the query has 257 parts, more than 256"),
        (" ".join(["a*"] * 33), "the query has more than 32 words with `*` or `~`"),
        ("a" * 81 + ")", f"a parenthesis is closed but never opened in '{'a' * 79}…'"),
    ],
)
def test_query_errors(text: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_query(text)
    assert caught.value.message == said


@pytest.mark.parametrize(
    "text",
    [
        "(" * 30 + "a" + ")" * 30,
        " ".join("a" * 256),
        " ".join(["a*"] * 32),
    ],
    ids=["deep", "long", "open"],
)
def test_query_limits(text: str) -> None:
    assert parse_query(text)


def test_a_misspelt_field_is_guessed() -> None:
    with pytest.raises(UserError) as caught:
        parse_query("tol:Bash")
    assert caught.value.hints[0].startswith("did you mean 'tool:Bash'? fields are tool, in,")
    with pytest.raises(UserError) as caught:
        parse_query("zzz:Bash")
    assert caught.value.hints[0].startswith("fields are tool, in,")
