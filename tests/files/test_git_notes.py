"""Notes of git-ai: reading all forms, and writing them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.files.blame import Claim, add_claims, format_note, parse_note, session_key

MIXED = """src/main.rs
  s_c9883b05a2487d::t_9f8e7d6c5b4a32 1-3,15
  h_31dce776f88375 16
"src/my file.rs"
  abcd1234abcd1234 1-2
---
{
  "schema_version": "authorship/3.0.0",
  "base_commit_sha": "7734",
  "prompts": {"abcd1234abcd1234": {"agent_id": {"tool": "cursor", "id": "old", "model": "m"}}},
  "humans": {"h_31dce776f88375": {"author": "Dev <dev@example.com>"}},
  "sessions": {"s_c9883b05a2487d": {"agent_id": {"tool": "claude", "id": "conv", "model": "m"}}}
}
"""


def test_a_note_names_sessions_people_and_older_prompts() -> None:
    note = parse_note(MIXED)
    assert note
    session, person, older = (
        note.find_author(path, line)
        for path, line in (("src/main.rs", 2), ("src/main.rs", 16), ("src/my file.rs", 2))
    )
    assert session
    assert (session.tool, session.id, session.model) == ("claude", "conv", "m")
    assert person
    assert (person.person, person.tool) == ("Dev <dev@example.com>", None)
    assert older
    assert (older.tool, older.id) == ("cursor", "old")
    assert note.find_author("src/main.rs", 4) is None
    assert note.find_author("elsewhere", 1) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "words",
        "a\n---\nno json",
        "a\n---\n[]",
        'a\n---\n{"schema_version": "other/1"}',
    ],
)
def test_unknown_form_is_ignored(text: str) -> None:
    assert parse_note(text) is None


def test_invalid_ranges_are_ignored() -> None:
    note = parse_note(
        'a\n  abcd 1-x,7,3-99999999999,-2\n---\n{"schema_version": "authorship/3.0.0"}'
    )
    assert note
    assert note.files == {"a": {"abcd": [7]}}


def test_other_content_of_a_note_stays() -> None:
    note = parse_note(MIXED)
    claims = [Claim("src/main.rs", 9, "mine", "c"), Claim("new.py", 1, "mine", "c", "opus")]
    made = parse_note(format_note(add_claims(note, "abc", "Dev", claims)))
    assert made
    assert note
    assert made.files["src/main.rs"] == note.files["src/main.rs"]
    result = made.find_author("new.py", 1)
    assert result
    assert (result.id, result.model) == ("mine", "opus")
    assert made.facts["humans"] == note.facts["humans"]
    assert made.facts["base_commit_sha"] == "abc"


def test_session_key_matches_git_ai() -> None:
    # printf 'claude:conv' | sha256sum
    assert session_key("conv") == "s_b3cef98c3a71f7"


LINES = st.sets(st.integers(1, 60), min_size=1)


@given(st.dictionaries(st.sampled_from(["a.py", "b c.py", "d"]), LINES, min_size=1))
def test_note_round_trips(claimed: dict[str, set[int]]) -> None:
    claims = [Claim(path, line, "s", "c") for path, lines in claimed.items() for line in lines]
    note = parse_note(format_note(add_claims(None, "abc", "Dev", claims)))
    assert note
    found = {path: {n for item in keys.values() for n in item} for path, keys in note.files.items()}
    assert found == claimed
