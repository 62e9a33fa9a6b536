"""What a person sees of a lake: rows, text, and totals of the rest that identify nobody."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from plait.lake.access import (
    CACHE_SECONDS,
    OWNER,
    HiddenMonth,
    Policy,
    RestrictedQueryEngine,
    ServedLake,
    parse_policy,
)
from plait.lake.query import (
    find_session,
    list_passages,
    list_people_and_projects,
    list_sessions,
    search_passages,
    sum_usage,
)
from tests.lake.small import DAY, SmallLake

POLICY = parse_policy(
    """
fewest = 2
[people.ann]
[people.bob]
[[see]]
who = ["ann"]
of = ["project:shop"]
what = "sessions"
""",
    "policy.toml",
)
SECRETS = {"a": "apricot", "b": "banana", "c": "cherry", "d": "damson", "e": "elder"}


def lake_of(*sessions: tuple[str, str, str, str]) -> SmallLake:
    """Make a lake of sessions: id, person, project, month; each with a word of its own."""
    whose: list[dict[str, Any]] = [
        {"session": one, "person": person, "project": project, "month": month, "started": DAY}
        for one, person, project, month in sessions
    ]
    worded = [{**one, "title": SECRETS[one["session"]], "family": "a"} for one in whose]
    return SmallLake(
        sessions=worded,
        responses=[{**one, "model": "opus", "output": 10, "cost_usd": 1.5} for one in whose],
        turns=[{**one, "typed": True} for one in whose],
        tool_calls=[{**one, "tool": "Bash", "outcome": "ok"} for one in whose],
        findings=[{**one, "code": "odd", "sentence": SECRETS[one["session"]]} for one in whose],
        text=[
            {**one, "kind": "prompt", "state": "active", "text": f"a {SECRETS[one['session']]}"}
            for one in whose
        ],
        raw=[{**one, "data": SECRETS[one["session"]].encode()} for one in whose],
    )


LAKE = lake_of(
    ("a", "ann", "home", "2026-09"),
    ("b", "bob", "shop", "2026-09"),
    ("c", "bob", "site", "2026-09"),
    ("d", "cat", "site", "2026-09"),
    ("e", "cat", "site", "2026-10"),
)
ANN, BOB = RestrictedQueryEngine(LAKE, POLICY, "ann"), RestrictedQueryEngine(LAKE, POLICY, "bob")
NOW = datetime(2026, 11, 16, tzinfo=UTC)


def column(sight: RestrictedQueryEngine, table: str, name: str = "session") -> list[Any]:
    rows = sight.query(f"SELECT {name} FROM {table} ORDER BY ALL").rows()
    return [row[0] for row in rows]


def test_rows_of_visible_sessions() -> None:
    """Ann sees her own, and those of the shop; Bob his own."""
    for table in ("sessions", "responses", "turns", "tool_calls", "findings"):
        assert column(ANN, table) == ["a", "b"]
        assert column(BOB, table) == ["b", "c"]


def test_text_is_visible_where_the_policy_allows() -> None:
    assert column(ANN, "text", "text") == ["a apricot"]
    assert column(ANN, "raw", "data") == [b"apricot"]
    assert column(ANN, "sessions", "title") == ["apricot", None]
    assert column(ANN, "findings", "sentence") == ["apricot", None]
    assert column(BOB, "text", "text") == ["a banana", "a cherry"]


def test_a_family_is_not_named_after_a_hidden_session() -> None:
    assert column(ANN, "sessions", "family") == ["a", "a"]
    assert column(BOB, "sessions", "family") == ["b", "c"]


def test_hidden_totals_are_complete_months_of_several_people() -> None:
    """In September c of Bob and d of Cat; in October Cat alone, of whom nothing is told."""
    assert list(ANN.hidden_totals(NOW)) == [HiddenMonth("2026-09", 2, 2, 2, 20, 3.0)]


def test_the_current_month_is_left_out() -> None:
    during = datetime(2026, 9, 30, tzinfo=UTC)
    assert list(ANN.hidden_totals(during)) == []


def test_sessions_without_a_person_count_by_source() -> None:
    lake = lake_of(("a", "", "x", "2026-09"), ("b", "", "x", "2026-09"))
    assert list(RestrictedQueryEngine(lake, POLICY, "ann").hidden_totals(NOW)) == []


def test_unknown_people_see_only_totals_of_many() -> None:
    nobody = RestrictedQueryEngine(LAKE, POLICY, "mallory")
    assert column(nobody, "sessions") == [] and column(nobody, "text") == []
    assert [one.people for one in nobody.hidden_totals(NOW)] == [3]


PEOPLE = ("ann", "bob", "cat", "dan")
SESSIONS = st.lists(
    st.tuples(st.sampled_from(PEOPLE), st.sampled_from(["shop", "site", "home"])), max_size=5
)


@settings(max_examples=15)
@given(SESSIONS, st.sampled_from(PEOPLE), st.integers(2, 3))
def test_visible_and_hidden_sessions_add_up(
    whose: list[tuple[str, str]], name: str, fewest: int
) -> None:
    """What is not told of the rest is of too few people; nothing is in both."""
    policy = Policy(dict.fromkeys(PEOPLE, POLICY.people["bob"]), POLICY.see, fewest)
    names = "abcde"
    lake = lake_of(*((names[at], *one, "2026-09") for at, one in enumerate(whose)))
    sight = RestrictedQueryEngine(lake, policy, name)
    seen = [
        names[at]
        for at, (person, project) in enumerate(whose)
        if person == name or (name == "ann" and project == "shop")
    ]
    assert column(sight, "sessions") == seen
    others = [one for at, one in enumerate(whose) if names[at] not in seen]
    people = {person for person, _ in others}
    expected = [(len(people), len(others))] if len(people) >= fewest else []
    assert [(one.people, one.sessions) for one in sight.hidden_totals(NOW)] == expected


def test_lists_and_sums_cover_visible_sessions() -> None:
    total, rows = list_sessions(ANN, person=None, project=None, start=0, limit=10)
    assert (total, [(row["session"], row["title"], row["cost_usd"]) for row in rows]) == (
        2,
        [("a", "apricot", 1.5), ("b", None, 1.5)],
    )
    assert list_people_and_projects(ANN) == (["ann", "bob"], ["home", "shop"])
    assert sum_usage(ANN, person=None, project=None, since=None)["cost_usd"] == 3.0
    assert sum_usage(ANN, person="cat", project=None, since=None)["responses"] == 0


def test_a_list_continues_on_the_next_page() -> None:
    total, rows = list_sessions(ANN, person=None, project=None, start=1, limit=1)
    assert (total, [row["session"] for row in rows]) == (2, ["b"])


def test_a_hidden_session_looks_like_a_missing_one() -> None:
    for session in ("c", "d", "nowhere", "' OR true --"):
        assert find_session(ANN, "home", session) is None
        assert list_passages(ANN, "home", session, "active", limit=10) == []
    told = find_session(ANN, "home", "b")
    assert told is not None and told["states"] == [] and told["title"] is None
    assert told["tools"] == [{"tool": "Bash", "calls": 1, "failed": 0}]
    assert find_session(ANN, "elsewhere", "a") is None


def test_search_finds_only_visible_text() -> None:
    for word in SECRETS.values():
        total, rows = search_passages(ANN, [word.upper()], limit=5)
        assert (total, [row["session"] for row in rows]) == (
            (1, ["a"]) if word == "apricot" else (0, [])
        )


def test_search_matches_all_words_literally() -> None:
    assert search_passages(BOB, ["a", "BAN"], limit=5)[0] == 1
    assert search_passages(BOB, ["banana", "cherry"], limit=5)[0] == 0
    assert search_passages(BOB, ["%"], limit=5)[0] == search_passages(BOB, ["_"], limit=5)[0] == 0
    assert search_passages(BOB, ["a"], kind="answer", limit=5)[0] == 0
    assert search_passages(BOB, [], limit=5) == (0, [])


def test_a_counts_lake_has_no_text_to_search() -> None:
    lake = LAKE
    counts = SmallLake("counts")
    counts.tables = {**lake.tables}
    sight = RestrictedQueryEngine(counts, POLICY, "ann")
    assert search_passages(sight, ["a"], limit=5) == (0, [])
    told = find_session(sight, "home", "a")
    assert told is not None and told["states"] == []


def test_visibility_follows_the_policy_at_once_and_the_lake_soon() -> None:
    clock, policy, lake = [0.0], [POLICY], lake_of(("a", "ann", "home", "2026-09"))
    served = ServedLake(lake, lambda: policy[0], lambda: clock[0])
    assert column(_sight(served), "sessions") == ["a"]
    lake.tables = LAKE.tables
    assert served.engine_for("ann") is served.engine_for("ann")
    clock[0] = CACHE_SECONDS
    assert column(_sight(served), "sessions") == ["a", "b"]
    policy[0] = Policy()
    assert column(_sight(served), "sessions") == []


def _sight(served: ServedLake) -> RestrictedQueryEngine:
    found = served.engine_for("ann")
    assert isinstance(found, RestrictedQueryEngine)
    return found


def test_without_a_policy_the_owner_sees_everything() -> None:
    whole = ServedLake(LAKE).engine_for(OWNER)
    assert list(whole.query("SELECT count(*) FROM text").rows()) == [(5,)]
    assert list(ServedLake(LAKE).hidden_totals(OWNER)) == []
    ruled = ServedLake(LAKE, lambda: POLICY).engine_for(OWNER)
    assert list(ruled.query("SELECT count(*) FROM sessions").rows()) == [(0,)]
