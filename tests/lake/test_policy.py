"""Policies: who may sign in, who sees what, and errors in a policy."""

from pathlib import Path

import pytest

from plait.errors import ConfigError
from plait.lake.access import Policy, PolicyFile, SessionOwner, hash_key, parse_policy, read_policy

ROOT = Path(__file__).resolve().parents[2]
TEXT = f"""
[people.ann]
key = "{hash_key("ann-key")}"
teams = ["core"]

[people.bob]
key = "{hash_key("bob-key")}"

[people.eve]

[[see]]
who = ["team:core"]
of = ["team:core", "project:-work-shop*"]
what = "sessions"

[[see]]
who = ["ann"]
of = ["person:bob"]
what = "text"

[[see]]
who = ["everyone"]
of = ["project:open"]
"""
POLICY = parse_policy(TEXT, "policy.toml")
LEVELS = {
    ("ann", "ann", "", "x"): "text",
    ("ann", "bob", "", "x"): "text",
    ("ann", "cat", "core", "x"): "sessions",
    ("ann", "cat", "other", "-work-shop-2"): "sessions",
    ("ann", "bob", "core", "-work-shop"): "text",
    ("ann", "cat", "other", "-work-site"): None,
    ("ann", "", "", ""): None,
    ("bob", "ann", "core", "-work-shop"): None,
    ("bob", "bob", "core", "x"): "text",
    ("bob", "ann", "core", "open"): "sessions",
    ("bob", "ann", "core", "OPEN"): None,
    ("eve", "ann", "core", "open"): "sessions",
    ("nobody", "ann", "core", "open"): None,
    ("nobody", "nobody", "core", "x"): None,
    ("", "", "", "open"): None,
}


def test_visibility_per_person() -> None:
    for case in LEVELS:
        name, *whose = case
        assert POLICY.level(name, SessionOwner(*whose)) == LEVELS[case]


def test_everything_includes_all_sessions() -> None:
    policy = parse_policy("[people.root]\n[[see]]\nwho=['root']\nof=['everything']", "p")
    assert policy.level("root", SessionOwner("", "", "")) == "sessions"


def test_a_project_pattern_needs_a_project() -> None:
    policy = parse_policy("[people.ann]\n[[see]]\nwho=['ann']\nof=['project:*']", "p")
    assert policy.level("ann", SessionOwner("bob", "", "shop")) == "sessions"
    assert policy.level("ann", SessionOwner("bob", "core", "")) is None


def test_keys_are_compared_by_their_digest() -> None:
    assert POLICY.find_person("ann-key") == "ann" and POLICY.find_person(" ANN-KEY\n") == "ann"
    assert POLICY.find_person("bob-key") == "bob"
    for wrong in ("", "eve", hash_key("ann-key"), "ann", "ann-key2"):
        assert POLICY.find_person(wrong) is None


def test_without_rules_people_see_only_their_own_sessions() -> None:
    assert Policy().level("ann", SessionOwner("ann", "", "")) is None
    assert parse_policy("[people.ann]", "p").level("ann", SessionOwner("bob", "", "")) is None


WRONG = {
    "fewest = 1": "'fewest' must be at least 2",
    "[people.everyone]": "'everyone' cannot be the name of a person",
    "[people.'team:x']": "'team:x' cannot be the name of a person",
    "[people.'']": "'' cannot be the name of a person",
    "[people.ann]\nkey = 'ann-key'": "the key of 'ann' is not a hash",
    f"[people.ann]\nkey = '{hash_key('x').upper()}'": "the key of 'ann' is not a hash",
    f"people.a.key = '{hash_key('x')}'\npeople.b.key = '{hash_key('x')}'": "the same key",
    "[[see]]\nwho = ['ann']\nof = ['everything']": "no person named 'ann'",
    "[[see]]\nwho = ['everyone']\nof = ['shop']": "'shop' is not a person, team or project",
    "[[see]]\nwho = ['everyone']\nof = ['team:']": "'team:' is not a person",
    "[[see]]\nwho = ['everyone']\nof = ['everything']\nwhat = 'all'": "invalid enum value",
    "[[see]]\nwho = ['everyone']": "missing required field `of`",
    "see = 1": "expected `array`",
    "sea = 1": "unknown field `sea`",
    "[": "invalid",
}


def test_problems_of_a_policy_are_reported() -> None:
    for text in WRONG:
        with pytest.raises(ConfigError) as refused:
            parse_policy(text, "policy.toml")
        assert refused.value.message.startswith("the policy in 'policy.toml' is not valid: ")
        assert WRONG[text].lower() in refused.value.message.lower()
        (example,) = refused.value.hints
        assert "[[see]]" in (ROOT / example.split()[0]).read_text(encoding="utf-8")


def test_a_missing_or_binary_policy_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        read_policy(tmp_path / "none.toml")
    (tmp_path / "odd.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not a text file"):
        read_policy(tmp_path / "odd.toml")


def test_a_changed_policy_is_reloaded_and_an_invalid_one_denies_all(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(TEXT)
    policy = PolicyFile(file)
    assert policy().find_person("bob-key") == "bob"
    file.write_text(TEXT.replace(hash_key("bob-key"), hash_key("another")))
    assert policy().find_person("bob-key") is None and policy().find_person("another") == "bob"
    file.write_text(f"{TEXT}\n[[see]]")
    assert policy() == Policy()
    file.unlink()
    assert policy() == Policy()
    file.write_text(TEXT)
    assert policy() == POLICY
