"""Sessions as Toolpath graphs: valid documents that include or count every record."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from examples.drawing import draw
from plait.archive import Archive
from plait.conversation.costs import sum_conversations
from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    Conversation,
    Response,
    ToolCall,
    UserMessage,
)
from plait.conversation.prices import Prices
from plait.export.formats import ExportSummary as ToldSoFar
from plait.export.formats import build_family_graph
from plait.export.plan import ExportPlan, export
from plait.export.steps import Step, get_item_kind, iter_items
from plait.export.toolpath import get_actor, get_artifact_name, move_figures_to_last_step
from plait.export.transcripts import Family
from plait.view.passages import RenderOptions
from tests.graph.generated import archives
from tests.view.interchange.graph_model import ancestors, faults
from tests.view.interchange.sessions import (
    ALL,
    TOOLS,
    families_in,
    families_of_drawing,
    families_of_rows,
    plain,
)


def document(family: Family, manner: RenderOptions = ALL) -> Any:
    """Return a family as who reads the file has it."""
    made = build_family_graph(family, manner, Prices(), ToldSoFar(), "x", set())
    return json.loads(json.dumps(made.document, default=plain))


def steps_in(told: Any) -> Iterator[Any]:
    for path in told["paths"]:
        yield from path["steps"]


def turn_of(step: Any) -> Any:
    """Return what a step says of the conversation."""
    return next(iter(step["change"].values()))["structural"]


def check(family: Family, manner: RenderOptions) -> None:
    """A document is valid; what there is, is in it or counted; figures are those of totals."""
    result = document(family, manner)
    assert faults(result) == []
    items = [item for entry in family.by_line.values() for item in iter_items(entry.items())]
    account = result["meta"]["account"]
    assert account["items"] == len(items)
    assert account["held"] + sum(account["left_out"].values()) == len(items)
    steps: dict[str, list[Any]] = {}
    for entry in steps_in(result):
        for name in entry["meta"]["records"]:
            steps.setdefault(name, []).append(turn_of(entry))
    left = Counter(
        get_item_kind(entry) for entry in items if entry.uuid and entry.uuid not in steps
    )
    assert left <= Counter(account["left_out"])
    if manner.depth == "all":
        assert set(steps) >= set(family.graph.nodes)
        for item in items:
            if item.uuid and get_item_kind(item) != "again":
                check_item(item, steps[item.uuid])
    check_figures(family, result)


def check_item(item: Any, found: list[Any]) -> None:
    match item:
        case ToolCall():
            uses = [use for entry in found for use in entry.get("tool_uses", ())]
            given = [(entry["id"], entry.get("result", {}).get("content")) for entry in uses]
            assert (item.call, item.result.text if item.result else None) in given
        case AssistantText():
            assert any(item.text in entry.get("text", "") for entry in found)
        case AssistantThinking():
            assert any(item.text in entry.get("thinking", "") for entry in found)
        case UserMessage() if item.kind != "command":
            assert any(item.text in (entry.get("text"), entry.get("summary")) for entry in found)
        case _:
            assert found


def check_figures(family: Family, told: Any) -> None:
    full = sum_conversations(family.by_line.values(), Prices()).tokens
    usages = [turn_of(entry).get("token_usage", {}) for entry in steps_in(told)]
    sums = Counter[str]()
    for entry in usages:
        sums.update(entry)
    rest = Counter(told["meta"].get("not_in_steps", {}))
    assert sums["input_tokens"] + rest["input_tokens"] == full.input
    assert sums["output_tokens"] + rest["output_tokens"] == full.output
    assert sums["cache_read_tokens"] + rest["cache_read_tokens"] == full.cache_read
    assert sums["cache_write_tokens"] + rest["cache_creation_tokens"] == full.cache_write


@pytest.mark.parametrize("manner", [ALL, TOOLS, RenderOptions(depth="prompts")])
def test_examples_are_valid_and_complete(gallery: Path, manner: RenderOptions) -> None:
    found = list(families_in(gallery))
    assert len(found) > 15
    for family in found:
        check(family, manner)


def test_real_sessions_are_valid_and_complete(real: list[Family]) -> None:
    assert len(real) > 10
    for family in real:
        check(family, ALL)
        check(family, TOOLS)


@pytest.mark.long
def test_all_real_sessions_are_valid_and_complete(shared: Path) -> None:
    for family in families_in(shared / "corpus"):
        check(family, ALL)
        check(family, TOOLS)


@given(archives)
@settings(max_examples=20)
def test_any_session_is_valid_and_complete(
    tmp_path_factory: pytest.TempPathFactory, archive: dict[str, list[dict[str, Any]]]
) -> None:
    for family in families_of_rows(tmp_path_factory.mktemp("any"), archive):
        check(family, ALL)
        check(family, TOOLS)


def only(folder: Path, text: str, manner: RenderOptions = TOOLS) -> Any:
    (family,) = families_of_drawing(folder, text)
    return document(family, manner)


def texts_of(path: Any, names: Iterable[str]) -> list[str]:
    """Return the words of some steps of a path, in their order."""
    wanted = set(names)
    return [
        turn_of(entry).get("text", "") for entry in path["steps"] if entry["step"]["id"] in wanted
    ]


def test_abandoned_branch_is_a_dead_end(tmp_path: Path) -> None:
    text = """
    file work cwd=/home/dev/shop
    U1 "Begin"
    A1< "Begun."
    U2< "Take LIKE"
    A2< "Done."
    U3<A1 "Fix teh index"
    U4<A1 "Take the index"
    A4< "Better."
    """
    (path,) = only(tmp_path, text)["paths"]
    route = ancestors(path, path["path"]["head"])
    assert texts_of(path, route) == ["Begin", "Begun.", "Take the index", "Better."]
    rest = [entry for entry in path["steps"] if entry["step"]["id"] not in route]
    assert {turn_of(entry)["text"] for entry in rest} == {"Take LIKE", "Done.", "Fix teh index"}
    (taken_back,) = [entry for entry in rest if "folded" in entry["meta"]]
    assert turn_of(taken_back)["text"] == "Fix teh index"
    assert texts_of(path, taken_back["step"]["parents"]) == ["Begun."]
    (abandoned,) = [entry for entry in rest if turn_of(entry)["text"] == "Take LIKE"]
    assert texts_of(path, abandoned["step"]["parents"]) == ["Begun."]


TALK = """
file work cwd=/home/dev/shop branch=main start=2026-11-02T09:00:00Z
U1 "What is there?"
A1< think "A look will do." + "I will look." + Bash(command="ls")
R1< error
  | no such folder
A2< "Nothing." + Write(file_path="/home/dev/shop/a.py", content="pass")
  Write(file_path="/etc/b c", content="x")
R2<
R3<
S1< turn_duration
"""


def test_response_is_one_step_with_calls_usage_and_files(tmp_path: Path) -> None:
    result = only(tmp_path, TALK)
    (path,) = result["paths"]
    first, second, third = path["steps"]
    assert path["path"]["base"] == {"uri": "file:///home/dev/shop", "branch": "main"}
    assert path["path"]["head"] == third["step"]["id"]
    assert [entry["step"]["actor"] for entry in path["steps"]] == [
        "human:user",
        "agent:claude-opus-5-5",
        "agent:claude-opus-5-5",
    ]
    turn = turn_of(second)
    assert (turn["role"], turn["text"], turn["thinking"]) == (
        "assistant",
        "I will look.",
        "A look will do.",
    )
    (use,) = turn["tool_uses"]
    assert (use["name"], use["category"], use["input"]) == ("Bash", "shell", {"command": "ls"})
    assert use["result"]["is_error"] is True
    assert turn["token_usage"]["output_tokens"] > 0
    assert [name for name in third["change"] if "://" not in name] == ["a.py"]
    assert "file:///etc/b%20c" in third["change"]
    file = third["change"]["a.py"]
    assert file["structural"]["tool"] == "Write"
    assert file["raw"].startswith("--- /dev/null\n+++ b/home/dev/shop/a.py\n")
    assert path["meta"]["files_changed"] == ["a.py", "file:///etc/b%20c"]
    assert result["meta"]["left_out"] == {"noted": 1}
    assert result["meta"]["description"].endswith("only counted: 1 note by Claude Code.")
    assert first["meta"]["turn"] == 1


def test_agents_are_paths_from_their_call(gallery: Path) -> None:
    (family,) = families_in(gallery / "sub-agent")
    main, *agents = document(family, TOOLS)["paths"]
    sent = {
        agent["path"]: step["step"]["id"]
        for step in main["steps"]
        for agent in turn_of(step).get("delegations", ())
    }
    bases = {agent["path"]["id"]: agent["path"]["base"]["uri"] for agent in agents}
    assert len(bases) == 3
    for name, step in sent.items():
        assert bases[name] == f"toolpath:{main['path']['id']}/{step}"
    (nested,) = bases.keys() - sent.keys()
    assert any(bases[nested].startswith(f"toolpath:{name}/") for name in sent)
    assert {agent["steps"][0]["step"]["actor"] for agent in agents} == {"agent:claude-code"}


def test_continued_session_names_its_base(gallery: Path) -> None:
    (family,) = families_in(gallery / "resumed-in-a-second-file")
    first, *others = document(family, TOOLS)["paths"]
    last = first["steps"][-1]["step"]["id"]
    assert len(others) == 2
    for other in others:
        assert other["path"]["base"] == {"uri": f"toolpath:{first['path']['id']}/{last}"}
        assert "refs" not in other["steps"][0]["meta"]


def test_branch_from_another_session_names_its_origin(tmp_path: Path) -> None:
    text = """
    file one
    U1 "Begin"
    A1< "Begun."
    U2< "Here"
    A2< "Yes."
    file two
    copy one:U1 one:A1
    U3<one:A1 "There"
    A3< "Well."
    U4<one:A1 "Or there"
    A4< "Better."
    """
    first, second = only(tmp_path, text)["paths"]
    begun = next(
        entry["step"]["id"] for entry in first["steps"] if turn_of(entry)["text"] == "Begun."
    )
    address = f"toolpath:{first['path']['id']}/{begun}"
    assert second["path"]["base"] == {"uri": address}
    (branch,) = [entry for entry in second["steps"] if "refs" in entry["meta"]]
    assert branch["meta"]["refs"] == [{"rel": "continues", "href": address}]


def test_compaction_step_names_preserved_records(tmp_path: Path) -> None:
    text = """
    file work
    U1 "Begin"
    A1< "Begun."
    U2< "And?"
    A2< "Well."
    B1 after A2 keep=["U2","A2"] anchor=C1 trigger=auto
    C1< "Sums were asked for."
    U3< "Go on"
    A3< "Gone on."
    """
    for manner in (TOOLS, ALL):
        (path,) = only(tmp_path, text, manner)["paths"]
        found = [
            entry for entry in path["steps"] if turn_of(entry)["type"] == "conversation.compact"
        ]
        (point,) = found
        result = turn_of(point)
        assert (result["trigger"], point["step"]["actor"]) == ("auto", "tool:claude-code")
        assert result["summary"].endswith("Sums were asked for.")
        assert texts_of(path, result["kept"]) == ["And?", "Well."]
        assert point["step"]["id"] in ancestors(path, path["path"]["head"])


def test_only_active_paths_on_request(gallery: Path) -> None:
    (full,) = families_in(gallery / "rewind")
    (active,) = families_in(gallery / "rewind", branches="active")
    left_out = document(active, TOOLS)["meta"]["left_out"]
    assert left_out["branches"] == 1
    assert "branches" not in document(full, TOOLS)["meta"]["left_out"]
    (path,) = document(active, TOOLS)["paths"]
    assert len(ancestors(path, path["path"]["head"])) == len(path["steps"])


def test_agents_are_counted_without_tools(gallery: Path) -> None:
    (family,) = families_in(gallery / "sub-agent")
    result = document(family, RenderOptions(has_tools=False))
    assert len(result["paths"]) == 1
    assert result["meta"]["left_out"]["agents"] == 3


def test_missing_times_are_taken_from_the_step_before(tmp_path: Path) -> None:
    (file,) = draw(TALK).write(tmp_path)
    file.write_bytes(re.sub(rb'"timestamp":"[^"]*"', b'"timestamp":"noon"', file.read_bytes()))
    (family,) = families_in(tmp_path)
    result = document(family, TOOLS)
    assert faults(result) == []
    times = [entry["step"]["timestamp"] for entry in steps_in(result)]
    assert set(times) == {"1970-01-01T00:00:00.000Z"}
    assert result["meta"]["left_out"]["times"] == len(times)
    assert result["paths"][0]["steps"][0]["meta"]["time"] == "noon"


def test_images_are_counted(tmp_path: Path) -> None:
    result = only(tmp_path, 'file work\nU1 image="red" "What is this?"\nA1< "Red."')
    assert result["meta"]["left_out"] == {"pictures": 1}
    step = result["paths"][0]["steps"][0]
    assert turn_of(step)["enclosures"][0]["kind"] == "image"


@pytest.mark.parametrize(
    ("path", "directory", "name"),
    [
        ("/a/b.py", "/a", "b.py"),
        ("/ab/c.py", "/a", "file:///ab/c.py"),
        ("c.py", "/a", "c.py"),
        ("/a/b.py", None, "file:///a/b.py"),
        ("C:\\a\\b.py", "C:\\a", "b.py"),
        ("C:\\x y\\b.py", "C:\\a", "file:///C:/x%20y/b.py"),
    ],
)
def test_files_are_named_relative_to_the_base(path: str, directory: str | None, name: str) -> None:
    assert get_artifact_name(path, directory) == name


@pytest.mark.parametrize(
    ("model", "actor"),
    [
        ("claude-opus-5-5", "agent:claude-opus-5-5"),
        ("anthropic/claude opus", "agent:anthropic/claude-opus"),
        ("a/b/c", "agent:a-b/c"),
        ("<<>>", "agent:unknown"),
        ("<synthetic>", "tool:claude-code"),
        (None, "agent:unknown"),
    ],
)
def test_models_are_actors_with_plain_names(tmp_path: Path, model: str | None, actor: str) -> None:
    said = AssistantText(response=0, text="x")
    response = Response(None, None, model, (), None, None, None, None, model == "<synthetic>")
    result = Conversation("s", "trunk", "s", "p", None, (), (response,), ())
    assert get_actor(result, Step(1, [said]), is_agent=False) == actor


def test_several_families_are_one_graph(gallery: Path) -> None:
    plan = ExportPlan(Archive([gallery]).sessions, is_combined=True)
    files = dict(export(plan, "toolpath"))
    report = json.loads(files["transcripts.path.json"])
    assert faults(report) == []
    assert len(report["paths"]) > 20
    assert report["meta"]["left_out"] == dict(plan.summary.left_out)
    assert json.loads(files["manifest.json"])["left_out"] == report["meta"]["left_out"]


def test_step_usage_adds_up(gallery: Path) -> None:
    archive = Archive([gallery])
    used = archive.usage().totals.total.tokens
    report = json.loads(
        dict(export(ExportPlan(archive.sessions, is_combined=True), "toolpath"))[
            "transcripts.path.json"
        ]
    )
    sums = Counter[str]()
    for entry in steps_in(report):
        sums.update(turn_of(entry).get("token_usage", {}))
    assert sums == {
        "input_tokens": used.input,
        "output_tokens": used.output,
        "cache_read_tokens": used.cache_read,
        "cache_write_tokens": used.cache_write,
    }


def test_same_session_twice_is_two_paths(tmp_path: Path, gallery: Path) -> None:
    (log,) = (gallery / "straight-line").rglob("*.jsonl")
    for project in ("-one", "-two"):
        folder = tmp_path / "projects" / project
        folder.mkdir(parents=True)
        text = log.read_text().replace("msg_01", f"msg_{project}").replace("toolu_", project)
        (folder / log.name).write_text(re.sub(r'[uU]uid":"(.{8})', rf"\g<0>{project}", text))
    plan = ExportPlan(Archive([tmp_path]).sessions, is_combined=True)
    report = json.loads(dict(export(plan, "toolpath"))["transcripts.path.json"])
    assert faults(report) == []
    assert len(report["paths"]) == 2


def test_two_changes_to_a_file_in_a_response_are_one_patch(tmp_path: Path) -> None:
    text = """
    file work cwd=/shop
    U1 "Go"
    A1< Write(file_path="/shop/a.py", content="x")
    R1<
    A2< Edit(file_path="/shop/a.py", old_string="x", new_string="y")
      Edit(file_path="/shop/a.py", old_string="y", new_string="z")
    R2<
    R3<
    """
    new, changed = [
        entry["change"]["a.py"]
        for entry in steps_in(only(tmp_path, text))
        if "a.py" in entry["change"]
    ]
    assert new["structural"]["operation"] == "add"
    assert changed["structural"]["operation"] == "update"
    assert len(changed["structural"]["tool_ids"]) == 2
    assert changed["raw"].count("+++ b/shop/a.py") == 2


def test_invalid_time_is_taken_from_the_step_before(tmp_path: Path) -> None:
    (file,) = draw(TALK).write(tmp_path)
    first, *rest = file.read_bytes().splitlines(keepends=True)
    rest = [re.sub(rb'"timestamp":"[^"]*"', b'"timestamp":"noon"', line) for line in rest]
    file.write_bytes(b"".join([first, *rest]))
    (family,) = families_in(tmp_path)
    times = [entry["step"]["timestamp"] for entry in steps_in(document(family, TOOLS))]
    assert set(times) == {"2026-11-02T09:00:00.000Z"}


def test_client_view_of_results_is_included_at_full_depth(gallery: Path) -> None:
    (family,) = families_in(gallery / "straight-line")
    for manner, is_there in ((ALL, True), (TOOLS, False)):
        uses = [
            use
            for entry in steps_in(document(family, manner))
            for use in turn_of(entry).get("tool_uses", ())
        ]
        assert any("detail" in entry.get("result", ()) for entry in uses) is is_there


def test_records_not_sent_on_resume_are_marked(tmp_path: Path) -> None:
    text = 'file work\nU1 "Begin"\nS1< api_error\nA1<U1 "Begun."\nU2<S1 "Go on"\nA2< "Gone on."'
    (family,) = families_of_drawing(tmp_path, text)
    unseen = {
        uuid for entry in family.by_line.values() for turn in entry.turns for uuid in turn.unseen
    }
    assert unseen
    marked = {
        name
        for entry in steps_in(document(family, TOOLS))
        for name in entry["meta"]["records"]
        if entry["meta"].get("is_unseen")
    }
    assert marked == unseen


def test_head_is_the_resume_point(tmp_path: Path) -> None:
    text = """
    file work
    U1 "Begin"
    A1< "Begun."
    U2< "Here"
    A2< "Yes."
    U3<A1 "There"
    A3< "Well."
    last-prompt leaf A2
    """
    (path,) = only(tmp_path, text)["paths"]
    assert texts_of(path, [path["path"]["head"]]) == ["Yes."]


def answer(group: str | None, output: int | None, cost: float | None = None) -> dict[str, Any]:
    """Return a step with an answer, and what it took."""
    usage = {"input_tokens": 1, "output_tokens": output} if output is not None else None
    result = {"group_id": group, "token_usage": usage, "cost_usd": cost}
    return {"change": {"x": {"structural": {k: v for k, v in result.items() if v is not None}}}}


def test_usage_is_on_the_last_step_of_a_response() -> None:
    steps = [answer("a", 5, 0.5), answer(None, 3), answer("b", 7), answer("a", None)]
    move_figures_to_last_step(steps)
    assert steps == [answer("a", None), answer(None, 3), answer("b", 7), answer("a", 5, 0.5)]


def test_figures_with_the_same_name_are_added() -> None:
    steps = [answer("a", 5, 0.5), answer("a", 7, 0.25), answer("a", 1)]
    move_figures_to_last_step(steps)
    (*others, last) = steps
    assert others == [answer("a", None)] * 2
    result = last["change"]["x"]["structural"]
    assert result["token_usage"] == {"input_tokens": 3, "output_tokens": 13}
    assert result["cost_usd"] == 0.75
