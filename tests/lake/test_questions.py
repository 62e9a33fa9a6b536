"""Saved queries: their results on small tables, and errors in own queries."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from plait.errors import ConfigError, UserError
from plait.lake.query import open_query_engine
from plait.lake.saved_queries import find_saved_query, load_saved_queries
from tests.lake.small import DAY, SmallLake

KNOWN = load_saved_queries()


def minutes(count: float) -> datetime:
    return DAY + timedelta(minutes=count)


def test_totals_over_several_sources() -> None:
    lake = SmallLake(
        sessions=[{"session": "a", "source": "one"}, {"session": "b", "source": "two"}],
        responses=[
            {"session": "a", "source": "one", "key": 1, "cost_usd": 2.0},
            {"session": "b", "source": "two", "key": 1, "cost_usd": 3.0},
            {"session": "a", "source": "one", "key": 2},
            {"session": "a", "source": "one", "key": 2},
            {"session": "a", "source": "one", "key": None},
            {"session": "b", "source": "two", "key": None},
        ],
    )
    asked = KNOWN["brought-twice"]
    found = open_query_engine(lake).query(asked.sql, asked.parse_values({}, said))
    told = [(row[0], row[3], row[4], row[5]) for row in found.rows()]
    assert told == [("one", "a", 1, 2.0), ("two", "b", 1, 3.0)]


def said(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def cost(session: str, project: str, model: str, usd: float | None, **more: Any) -> dict[str, Any]:
    whose = {"session": session, "project": project, "model": model, "cost_usd": usd}
    return {**whose, "time": DAY, "input": 1, "output": 10, **more}


LAKE = SmallLake(
    sessions=[
        {"session": "a", "person": "ann", "team": "core", "project": "shop", "started": DAY},
        {"session": "b", "person": "bob", "team": "core", "project": "shop", "started": DAY},
        {"session": "c", "person": "bob", "team": "core", "project": "Site", "started": DAY},
    ],
    responses=[
        cost("a", "shop", "opus", 3.0, again=100, cause="expired", again_usd=0.5),
        cost("b", "shop", "haiku", 1.0, again=50, cause="model", again_usd=0.75),
        cost("c", "Site", "opus", 2.0, time=DAY + timedelta(days=3), cache_write_1h=4),
        cost("c", "Site", "new", None),
        cost("a", "shop", "opus", 900.0, build=99),
    ],
    tool_calls=[
        {"session": "a", "tool": "Bash", "outcome": "failed", "before_rewind": True},
        {"session": "a", "tool": "Bash", "outcome": "ok"},
        {"session": "b", "tool": "Bash", "outcome": "ok", "before_rewind": True},
        {"session": "b", "tool": "Edit", "outcome": "rejected"},
        {"session": "b", "tool": "Read", "outcome": "ok"},
        {"session": "c", "tool": "Edit", "outcome": "failed", "counts": False},
    ],
    files=[
        {"session": "a", "action": "read", "time": minutes(1), "outcome": "ok"},
        {"session": "a", "action": "edited", "time": minutes(4), "outcome": "failed"},
        {"session": "a", "action": "edited", "time": minutes(6), "outcome": "ok"},
        {"session": "a", "action": "written", "time": minutes(9), "outcome": "ok"},
        {"session": "b", "action": "created", "time": minutes(2), "outcome": "ok"},
        {"session": "b", "action": "created", "time": minutes(0), "outcome": "ok", "counts": False},
    ],
)


ASKING, NOTHING = open_query_engine(LAKE), open_query_engine(SmallLake())


def answer(name: str, **given: str) -> list[tuple[Any, ...]]:
    question = find_saved_query(name, KNOWN)
    return list(ASKING.query(question.sql, question.parse_values(given, said)).rows())


def money(name: str, **given: str) -> list[tuple[Any, Any]]:
    question = find_saved_query(name, KNOWN)
    found = ASKING.query(question.sql, question.parse_values(given, said))
    at = next(place for place, one in enumerate(found.columns) if one.endswith("_usd"))
    return [(row[0], row[at]) for row in found.rows()]


def test_cost_by_project_model_and_person() -> None:
    assert money("cost") == [("shop", 4.0), ("Site", 2.0)]
    assert money("cost", by="model") == [("opus", 5.0), ("haiku", 1.0), ("new", 0.0)]
    assert money("cost", by="person") == [("ann", 3.0), ("bob", 3.0)]
    assert money("cost", by="team") == [("core", 6.0)]


def test_cost_has_tokens_and_unpriced_responses() -> None:
    assert answer("cost", by="project", project="site") == [("Site", 2, 2, 20, 4, 0, 2.0, 1)]


def test_cost_by_period_person_and_limit() -> None:
    assert money("cost", since="2026-11-05") == [("Site", 2.0)]
    assert money("cost", until="2026-11-05") == [("shop", 4.0), ("Site", 0.0)]
    assert money("cost", person="ann") == [("shop", 3.0)]
    assert money("cost", limit="1") == [("shop", 4.0)]
    assert money("cost", by="day") == [("2026-11-02", 4.0), ("2026-11-05", 2.0)]


def test_failing_and_rejected_tools() -> None:
    """What another session holds already is not counted again, what always works not told."""
    assert answer("failing-tools") == [("Bash", 3, 1, 0, 0, 33.3), ("Edit", 1, 0, 1, 0, 0.0)]
    assert answer("failing-tools", calls="2") == [("Bash", 3, 1, 0, 0, 33.3)]


def test_rewinds_after_a_tool() -> None:
    assert answer("rewinds") == [("Bash", 2, 3, 66.7, 2)]
    assert answer("rewinds", person="ann") == [("Bash", 1, 2, 50.0, 1)]


def test_cache_waste() -> None:
    assert answer("cache-waste") == [("model", 1, 50, 0.75), ("expired", 1, 100, 0.5)]
    assert money("cache-waste", by="project") == [("shop", 1.25)]


def test_time_to_the_first_edit() -> None:
    """Reading is none, nor is one that failed or that an earlier session holds."""
    assert answer("first-edit") == [("shop", 2, 2, 4.0, 5.6), ("Site", 1, 0, None, None)]
    assert answer("first-edit", person="ann")[0][:4] == ("shop", 1, 1, 6.0)


def test_most_expensive_sessions() -> None:
    found = answer("sessions", limit="2")
    assert [(row[0], row[1], row[-1]) for row in found] == [("a", "ann", 3.0), ("c", "bob", 2.0)]


def test_every_saved_query_runs_with_any_values() -> None:
    for name in KNOWN:
        """Alone, with each of its choices, and over no rows at all."""
        question = KNOWN[name]
        assert question.asks
        for one in question.parameters.values():
            assert one.says
        for by in question.parameters["by"].one_of if "by" in question.parameters else ("",):
            values = question.parse_values({"by": by} if by else {}, said)
            assert ASKING.query(question.sql, values).columns
            assert list(NOTHING.query(question.sql, values).rows()) == []


def test_parameter_values_are_never_sql() -> None:
    assert money("cost", project="shop' OR true --") == []


WRONG = {
    ("cost", "bye", "x"): ("no parameter named 'bye'", "did you mean 'by'?"),
    ("cost", "by", "planet"): ("'by' cannot be 'planet'", "use one of project, model"),
    ("cost", "limit", "many"): ("'many' is not a number", "for example limit=10"),
    ("cost", "limit", "inf"): ("'inf' is not a number", "for example limit=10"),
}


@pytest.mark.parametrize(("name", "parameter", "value"), WRONG)
def test_invalid_parameters_are_refused(name: str, parameter: str, value: str) -> None:
    with pytest.raises(UserError) as refused:
        KNOWN[name].parse_values({parameter: value}, said)
    message, hint = WRONG[name, parameter, value]
    assert refused.value.message == message and refused.value.hints[0].startswith(hint)


def test_an_unknown_query_is_refused() -> None:
    with pytest.raises(UserError, match="no query named 'costs'") as refused:
        find_saved_query("costs", KNOWN)
    assert refused.value.hints == ("did you mean 'cost'?",)


MINE = """
[mine]
asks = "how many turns a person has"
sql = "SELECT count(*) AS n FROM sessions WHERE person = $who AND started >= $from"
parameters.who = { default = "ann" }
parameters.from = { kind = "time", default = "2026-11-01" }

[cost]
asks = "mine goes first"
sql = "SELECT 1 AS one"
"""


def test_own_queries_override_built_in_ones(tmp_path: Path) -> None:
    file = tmp_path / "questions.toml"
    file.write_text(MINE)
    known = load_saved_queries(file)
    assert list(known)[-1] == "mine" and known["mine"].is_own and known["cost"].is_own
    assert not known["rewinds"].is_own
    own = known["mine"]
    assert list(ASKING.query(own.sql, own.parse_values({}, said)).rows()) == [(1,)]
    assert list(ASKING.query(own.sql, own.parse_values({"who": "bob"}, said)).rows()) == [(2,)]


def test_a_missing_file_means_no_own_queries(tmp_path: Path) -> None:
    assert load_saved_queries(tmp_path / "none.toml") == KNOWN


BROKEN = {
    "x = 1": "is not valid: it is not a table",
    "[x]\nasks = 'a'": "is not valid: object missing required field `sql`",
    "[x]\nasks = 'a'\nsql = 'SELECT $n'": "'n' in the query 'x' in",
    "[x]\nasks = 'a'\nsql = 'SELECT 1'\nparameters.n = {}": "is not used",
    "[x]\nasks = 'a'\nsql = '$n'\nparameters.n = { kind = 'planet' }": "is not valid: invalid",
    "[x]\nasks = 'a'\nsql = '$n'\nparameters.n = { kind = 'number', default = 'x' }": "not a number",
    "[x]\nasks = 'a'\nsql = '$n'\nparameters.n = { default = 'x', one_of = ['y'] }": "its choices",
    "[x]\nasks = 'a'\nsql = 'SELECT 1'\nother = 1": "unknown field `other`",
    "[": "cannot read the queries in",
    "\udcff": "cannot read the queries in",
}


@pytest.mark.parametrize("text", BROKEN)
def test_problems_of_own_queries_are_reported(text: str, tmp_path: Path) -> None:
    file = tmp_path / "questions.toml"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigError) as refused:
        load_saved_queries(file)
    assert BROKEN[text] in refused.value.message and "questions.toml" in refused.value.message
