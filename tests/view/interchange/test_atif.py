"""Transcripts in ATIF: every document is valid, and every item is included or counted."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from examples.drawing import draw
from plait.archive import Archive
from plait.conversation.costs import keep_responses_on_path, make_cost_function, sum_conversations
from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    BranchPoint,
    ClientNote,
    Conversation,
    Enclosure,
    FoldedItems,
    Item,
    LateResult,
    ToolCall,
    UserMessage,
)
from plait.conversation.prices import Prices
from plait.export.atif import build_trajectory
from plait.export.plan import ExportPlan, export
from plait.export.steps import Pictures, get_item_kind, iter_items
from plait.export.transcripts import Family
from plait.redact import Redactor
from plait.view.passages import RenderOptions
from plait.view.transcript.heading import Transcript
from plait.view.transcript.json_form import list_agents
from tests.graph.generated import archives
from tests.view.interchange.sessions import (
    ALL,
    TOOLS,
    families_in,
    families_of_drawing,
    families_of_rows,
    plain,
)
from tests.view.interchange.trajectory_model import faults


def transcripts(families: Iterable[Family]) -> list[Transcript]:
    return [entry for family in families for entry in family.transcripts()]


def document(transcript: Transcript, manner: RenderOptions = ALL, folder: str | None = None) -> Any:
    """Return a transcript as who reads the file has it."""
    made = build_trajectory(transcript, manner, make_cost_function(Prices()), folder)
    return json.loads(json.dumps(made.document, default=plain))


def check(transcript: Transcript, manner: RenderOptions) -> None:
    """Every document is valid; what there is, is in it or counted; figures are those of totals."""
    told = document(transcript, manner)
    assert faults(told) == []
    below = {part["trajectory_id"]: part for part in told.get("subagent_trajectories", ())}
    parts = [transcript.conversation, *list_agents(transcript, manner)]
    check_items(transcript.conversation, told)
    for agent in parts[1:]:
        check_items(agent, below[agent.id])
    assert len(below) == len(parts) - 1
    if manner.depth == "all":
        for part in parts:
            check_words(part, told if part is parts[0] else below[part.id])
    check_figures(parts, told)


def check_items(conversation: Conversation, told: Any) -> None:
    account = told["extra"]["account"]
    items = list(iter_items(conversation.items()))
    assert account["items"] == len(items)
    assert account["held"] + sum(account["left_out"].values()) == len(items)
    held = {name for step in told["steps"] for name in step["extra"].get("records", ())}
    away = [entry for entry in items if entry.uuid and entry.uuid not in held]
    assert len(away) <= sum(account["left_out"].values())
    leaving = [
        entry
        for turn in conversation.turns
        for entry in turn.items
        if isinstance(entry, BranchPoint)
    ]
    assert len(told["extra"].get("branches", ())) == len(leaving)


def check_words(conversation: Conversation, told: Any) -> None:
    """All that was said, thought, called and answered in order stands in the step of its record."""
    steps = {name: entry for entry in told["steps"] for name in entry["extra"].get("records", ())}
    for item in conversation.items():
        if (
            item.uuid
            and not isinstance(item, BranchPoint | FoldedItems)
            and get_item_kind(item) != "again"
        ):
            check_item(item, steps[item.uuid])


def check_item(item: Item, step: Any) -> None:
    match item:
        case ToolCall():
            assert item.call in [entry["tool_call_id"] for entry in step["tool_calls"]]
            results = step.get("observation", {"results": ()})["results"]
            given = [
                (entry.get("source_call_id"), words(entry.get("content", ""))) for entry in results
            ]
            assert item.result is None or (item.call, item.result.text) in given
        case AssistantText() | ClientNote():
            assert item.text in words(step["message"])
        case UserMessage() if item.kind != "command":
            assert item.text in words(step["message"])
        case AssistantThinking():
            told = step.get("reasoning_content") or step["extra"].get("thoughts", "")
            assert item.text in told
        case LateResult(result=result):
            found = step["observation"]["results"]
            assert result.text in [words(entry.get("content", "")) for entry in found]
        case _:
            assert step


def words(content: Any) -> str:
    parts = content if isinstance(content, list) else [{"text": content}]
    return "".join(part.get("text", "") for part in parts)


def check_figures(parts: list[Conversation], told: Any) -> None:
    full = sum_conversations([keep_responses_on_path(parts[0]), *parts[1:]], Prices())
    found = Counter[str]()
    for entry in (told, *told.get("subagent_trajectories", ())):
        final = entry["final_metrics"]
        for step in entry["steps"]:
            for name in ("prompt_tokens", "completion_tokens", "cached_tokens"):
                found[name] += step.get("metrics", {}).get(name, 0)
                found[f"final {name}"] -= step.get("metrics", {}).get(name, 0)
        for name in ("prompt_tokens", "completion_tokens", "cached_tokens"):
            found[f"final {name}"] += final[f"total_{name}"]
        rest = final.get("extra", {}).get("not_in_steps", {})
        found["completion_tokens"] += rest.get("output_tokens", 0)
        found["cached_tokens"] += rest.get("cache_read_tokens", 0)
        found["prompt_tokens"] += rest.get("total_tokens", 0) - rest.get("output_tokens", 0)
        assert final["total_steps"] == len(entry["steps"])
    assert {name: found[name] for name in found if name.startswith("final")} == {
        f"final {name}": 0 for name in ("prompt_tokens", "completion_tokens", "cached_tokens")
    }
    assert found["prompt_tokens"] == full.tokens.total_input
    assert found["completion_tokens"] == full.tokens.output
    assert found["cached_tokens"] == full.tokens.cache_read


@pytest.mark.parametrize("manner", [ALL, TOOLS, RenderOptions(depth="prompts", has_tools=False)])
def test_examples_are_valid_and_complete(gallery: Path, manner: RenderOptions) -> None:
    found = transcripts(families_in(gallery))
    assert len(found) == 20
    for transcript in found:
        check(transcript, manner)


def test_real_sessions_are_valid_and_complete(real: list[Family]) -> None:
    assert len(real) > 10
    for transcript in transcripts(real):
        check(transcript, ALL)
        check(transcript, TOOLS)


@pytest.mark.long
def test_all_real_sessions_are_valid_and_complete(shared: Path) -> None:
    for transcript in transcripts(families_in(shared / "corpus")):
        check(transcript, ALL)
        check(transcript, TOOLS)


@given(archives)
@settings(max_examples=20)
def test_any_session_is_valid_and_complete(
    tmp_path_factory: pytest.TempPathFactory, archive: dict[str, list[dict[str, Any]]]
) -> None:
    for transcript in transcripts(families_of_rows(tmp_path_factory.mktemp("any"), archive)):
        check(transcript, ALL)
        check(transcript, TOOLS)


TALK = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
U1 "What is there?"
A1< think "A look will do." + "I will look." + Bash(command="ls")
R1<
  | a.py
A2< "One file."
S1< turn_duration
"""


def only(folder: Path, text: str, manner: RenderOptions = TOOLS) -> Any:
    (transcript,) = transcripts(families_of_drawing(folder, text))
    return document(transcript, manner)


def test_response_is_one_step_with_its_calls_and_results(tmp_path: Path) -> None:
    told = only(tmp_path, TALK)
    assert [(entry["source"], entry["message"]) for entry in told["steps"]] == [
        ("user", "What is there?"),
        ("agent", "I will look."),
        ("agent", "One file."),
    ]
    step = told["steps"][1]
    (call,) = step["tool_calls"]
    assert step["reasoning_content"] == "A look will do."
    assert (call["function_name"], call["arguments"]) == ("Bash", {"command": "ls"})
    assert step["observation"]["results"] == [
        {
            "source_call_id": call["tool_call_id"],
            "content": "a.py",
            "extra": {"outcome": "ok"},
        }
    ]
    assert step["extra"]["blocks"] == ["thought", "said", "called"]
    assert len(step["extra"]["records"]) == 4
    assert (
        told["notes"] == "Not included in this ATIF document, only counted: 1 note by Claude Code."
    )
    assert told["extra"]["left_out"] == {"noted": 1}
    assert told["extra"]["account"] == {"items": 7, "held": 6, "left_out": {"noted": 1}}


def test_client_messages_are_system_steps(tmp_path: Path) -> None:
    told = only(tmp_path, TALK + 'K1< "/x"\nL1< "done"\nM1< "Mind this."\nA3< "Yes."', ALL)
    found = {
        (entry["source"], entry["extra"]["kind"])
        for entry in told["steps"]
        if "kind" in entry["extra"]
    }
    assert ("user", "prompt") in found
    assert ("user", "command") in found
    assert ("system", "command-output") in found
    assert ("system", "meta") in found
    assert ("system", "system") in found


def test_branches_and_misordered_items_are_counted(tmp_path: Path) -> None:
    text = """
    file work
    U1 "Begin"
    A1< "Begun."
    U2< "Fix teh bug"
    U3<A1 "Fix the bug"
    A3< "Fixed."
    U4<A1 "Another way"
    A4< "Gone."
    """
    first, second = (
        document(entry, TOOLS) for entry in transcripts(families_of_drawing(tmp_path, text))
    )
    for entry in (first, second):
        assert "Fix teh bug" not in [step["message"] for step in entry["steps"]]
    counts = first["extra"]["left_out"]
    assert counts["folded"] == 1
    assert {entry["after_step"] for entry in first["extra"]["branches"]} == {2}
    assert "1 item outside the reading order" in first["notes"]
    assert "1 other branch" in first["notes"]


def test_compaction_is_a_step_with_its_summary(tmp_path: Path) -> None:
    text = """
    file work
    U1 "Begin"
    A1< "Begun."
    B1 after A1 {"compactMetadata":{"trigger":"manual","preTokens":115999}}
    C1< "Sums were asked for."
    U2< "Go on"
    A2< "Gone on."
    """
    for manner in (TOOLS, ALL):
        told = only(tmp_path, text, manner)
        (point,) = [entry for entry in told["steps"] if entry["extra"].get("kind") == "compaction"]
        assert point["source"] == "system"
        assert point["message"].endswith("Sums were asked for.")
        assert point["extra"]["pre_tokens"] == 115999
        assert len(point["extra"]["records"]) == 2


@pytest.mark.parametrize("agents", ["inline", "files"])
def test_agents_are_separate_trajectories(gallery: Path, agents: Any) -> None:
    plan = ExportPlan(
        Archive([gallery / "sub-agent"]).sessions, manner=RenderOptions(agents=agents)
    )
    files = {name: data for name, data in export(plan, "atif") if name.endswith(".atif.json")}
    main = json.loads(files.pop(min(files, key=len)))
    below = {entry["trajectory_id"] for entry in main.get("subagent_trajectories", ())}
    refs = [
        ref
        for step in main["steps"]
        for result in step.get("observation", {"results": ()})["results"]
        for ref in result.get("subagent_trajectory_ref", ())
    ]
    assert len(refs) == 2
    if agents == "inline":
        assert files == {}
        assert len(below) == 3
        assert {entry["trajectory_id"] for entry in refs} < below
    else:
        assert below == set()
        assert {entry["trajectory_path"] for entry in refs} < set(files)
        assert all(faults(json.loads(data)) == [] for data in files.values())


def test_agents_without_a_call_are_at_the_end(tmp_path: Path) -> None:
    text = 'file work\nU1 "Begin"\nA1< "Begun."\nagent lost nometa\nU1 "Look"\nA1< "Seen."'
    told = only(tmp_path, text)
    last = told["steps"][-1]
    (result,) = last["observation"]["results"]
    (agent,) = told["subagent_trajectories"]
    assert last["source"] == "system"
    assert result["subagent_trajectory_ref"][0]["trajectory_id"] == agent["trajectory_id"]
    assert [entry["message"] for entry in agent["steps"]] == ["Look", "Seen."]


PICTURE = 'file work\nU1 image="red" "What is this?"\nA1< "Red."\nU2< image="red" "And this?"'


def test_images_are_stored_beside_a_document_or_counted(tmp_path: Path) -> None:
    draw(PICTURE).write(tmp_path)
    plan = ExportPlan(Archive([tmp_path]).sessions)
    files = dict(export(plan, "atif"))
    (name,) = [file for file in files if file.endswith(".png")]
    (told,) = [json.loads(data) for file, data in files.items() if file.endswith("atif.json")]
    parts = told["steps"][0]["message"]
    assert [file["type"] for file in parts] == ["text", "image"]
    assert parts[1]["source"] == {"media_type": "image/png", "path": name}
    assert files[name].startswith(b"\x89PNG")
    assert "pictures" not in plan.summary.left_out
    full = ExportPlan(Archive([tmp_path]).sessions, is_combined=True)
    alone = json.loads(dict(export(full, "atif"))["transcripts.atif.json"])
    assert alone["steps"][0]["message"] == "What is this?"
    assert alone["steps"][0]["extra"]["enclosures"][0]["kind"] == "image"
    assert alone["extra"]["left_out"]["pictures"] == full.summary.left_out["pictures"] == 2


def test_non_image_data_is_counted(tmp_path: Path) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "no base64!"}
    missing = Pictures("x")
    assert missing.place(Enclosure("image", source, "image/png")) is None
    assert missing.place(Enclosure("image", {**source, "data": "AAAA"}, "image/tiff")) is None
    assert missing.place(Enclosure("document", {"data": "AAAA"}, "application/pdf")) is None
    assert missing.place(Enclosure("tool_reference", {"tool_name": "x"})) is None
    assert missing.lost == {"pictures": 2, "documents": 1}
    assert (
        missing.place(Enclosure("image", {"url": "https://x/y.png"}, "image/png"))
        == "https://x/y.png"
    )
    assert missing.files == {}


def test_steps_not_by_a_model_have_no_usage(tmp_path: Path) -> None:
    told = only(tmp_path, 'file work\nU1 "Begin"\nE1< "API Error: 500"\nU2< "Again"\nA2< "Yes."')
    error, answer = [entry for entry in told["steps"] if entry["source"] == "agent"]
    assert error["llm_call_count"] == 0
    assert "metrics" not in error
    assert "model_name" not in error
    assert answer["llm_call_count"] == 1
    assert answer["metrics"]["completion_tokens"] > 0


def test_odd_times_and_inputs_are_kept_in_extra_fields(tmp_path: Path) -> None:
    (path,) = draw(TALK).write(tmp_path)
    data = path.read_bytes().replace(b'{"command":"ls"}', b'"ls"')
    path.write_bytes(re.sub(rb'"timestamp":"[^"]*"', b'"timestamp":"noon"', data, count=1))
    (transcript,) = transcripts(families_in(tmp_path))
    told = document(transcript)
    assert "timestamp" not in told["steps"][0]
    assert told["steps"][0]["extra"]["time"] == "noon"
    (call,) = told["steps"][1]["tool_calls"]
    assert (call["arguments"], call["extra"]["input"]) == ({}, "ls")
    assert faults(told) == []


def test_result_without_a_call_is_its_own_step(tmp_path: Path) -> None:
    (path,) = draw(TALK).write(tmp_path)
    lines = [byte for byte in path.read_bytes().split(b"\n") if b'"tool_use"' not in byte]
    path.write_bytes(b"\n".join(lines))
    (transcript,) = transcripts(families_in(tmp_path))
    told = document(transcript, TOOLS)
    (step,) = [byte for byte in told["steps"] if "observation" in byte]
    assert step["source"] == "system"
    assert step["observation"]["results"] == [{"content": "a.py", "extra": {"outcome": "ok"}}]
    assert step["extra"]["standing"] == "orphan"


def test_several_trajectories_in_one_file_are_a_list(gallery: Path) -> None:
    plan = ExportPlan(Archive([gallery / "rewind"]).sessions, is_combined=True)
    found = json.loads(dict(export(plan, "atif"))["transcripts.atif.json"])
    assert [faults(entry) for entry in found] == [[], []]


def test_empty_conversation_is_a_valid_document(tmp_path: Path) -> None:
    told = only(tmp_path, 'file work\nM1 "Mind this."', RenderOptions(depth="prompts"))
    assert [entry["extra"]["kind"] for entry in told["steps"]] == ["empty"]
    assert told["extra"]["left_out"] == {"told": 1}


def test_secrets_are_replaced(tmp_path: Path) -> None:
    key = "AKIA" + "Q3EGRIU7YTRW2LKD"
    draw(f'file work cwd=/home/dorothea/shop\nU1 "Use {key}"\nA1< "No."').write(tmp_path)
    plan = ExportPlan(Archive([tmp_path]).sessions, redactor=Redactor())
    files = dict(export(plan, "atif"))
    assert not any(key.encode() in data or b"dorothea" in data for data in files.values())
    report = json.loads(files["redaction-report.json"])
    assert report["count"] >= 2


def test_manifest_counts_what_is_left_out(gallery: Path) -> None:
    plan = ExportPlan(Archive([gallery]).sessions)
    files = dict(export(plan, "atif"))
    manifest = json.loads(files["manifest.json"])
    documents = [json.loads(data) for name, data in files.items() if name.endswith("atif.json")]
    counts = Counter[str]()
    for entry in documents:
        counts.update(entry["extra"].get("left_out", {}))
    assert manifest["left_out"] == dict(counts)
    assert counts["noted"] > 100


def test_content_of_broken_lines_is_included(gallery: Path) -> None:
    for agents in ("inline", "files"):
        (transcript,) = transcripts(families_in(gallery / "glued-lines"))
        told = document(transcript, RenderOptions(agents=agents))
        (below,) = told["subagent_trajectories"]
        assert below["trajectory_id"].endswith("~recovered")
    told = document(transcript, RenderOptions(has_tools=False))
    assert told["extra"]["left_out"]["agents"] == 1
    assert "observation" not in told["steps"][-1]


def test_cost_matches_the_transcript(gallery: Path) -> None:
    (transcript,) = transcripts(families_in(gallery / "sub-agent"))
    told = document(transcript, TOOLS)
    assert told["final_metrics"]["total_cost_usd"] == transcript.heading.totals.cost_usd
    assert all(
        entry["final_metrics"]["total_cost_usd"] > 0 for entry in told["subagent_trajectories"]
    )


def test_continuing_sessions_are_not_branches(gallery: Path) -> None:
    told = [
        document(entry) for entry in transcripts(families_in(gallery / "resumed-in-a-second-file"))
    ]
    assert any(entry["extra"].get("branches") for entry in told)
    assert all("branches" not in entry["extra"].get("left_out", {}) for entry in told)
