"""Agents and the calls that started them."""

import sys
from dataclasses import replace
from types import FrameType

import pytest

from examples.drawing import Drawing, DrawnFile, agent_id, draw, session_id
from plait.graph import build
from plait.graph import lines as joining
from plait.record import Record, parse_record
from plait.record.codec import encode
from plait.record.side_files import AgentMeta
from tests.graph.sketch import Sketch, sketch, sources_of

MAIN = """
U1
T1< Agent(prompt="look around", description="scout") as x
R1< of x
A1<
"""


def links(drawn: Sketch) -> list[tuple[str, str | None, str | None]]:
    """Return how each agent was joined, and where, in letters."""
    return [
        (drawn.title(link.line), link.by, drawn.names.get(link.node or ""))
        for link in drawn.graph.agents.values()
    ]


# checklist: D20, D21, D24, D25
def test_the_metadata_file_names_the_call() -> None:
    drawn = sketch(MAIN + 'agent x of x\nU5 "something else"\nA5<')
    assert links(drawn) == [("main#x", "meta", "T1")]
    (line,) = [line for line in drawn.graph.lines.values() if line.kind == "agent"]
    assert line.id.endswith(f"#agent-{line.agent}")
    assert drawn.graph.edge_of(line.nodes[0]).kind == "spawn"


def test_without_a_meta_file_the_result_names_the_agent() -> None:
    drawn = sketch(MAIN + 'agent x of x nometa\nU5 "something else"\nA5<')
    assert links(drawn) == [("main#x", "result", "T1")]


def test_background_agent_is_named_at_launch() -> None:
    drawn = sketch(
        MAIN.replace("R1< of x", "R1< of x async") + 'agent x of x nometa\nU5 "something else"\nA5<'
    )
    assert links(drawn) == [("main#x", "result", "T1")]


def test_without_ids_the_result_text_names_the_agent() -> None:
    drawn = sketch(MAIN + 'agent x of x nometa\nU5 "something else"\nA5<')
    sources = sources_of(drawn.drawing)
    records = [
        record.with_fields({k: v for k, v in record.fields.items() if k != "toolUseResult"})
        for record in sources[0].records
    ]
    words = "agentId: " + str(sources[1].file.agent) + " (use SendMessage)"
    block = {**records[2].fields["message"]["content"][0], "content": words}
    records[2] = records[2].replace(message={"role": "user", "content": [block]})
    graph = build([(sources[0].file, records), sources[1]])
    assert [link.by for link in graph.agents.values()] == ["text"]


def test_text_in_other_output_names_no_agent() -> None:
    drawn = sketch(
        'U1\nT1< Bash(command="echo")\nR1< "agentId: abc1234 (plain output)"\nA1<\n'
        'agent abc1234 nometa\nU5 "who am I"\nA5<'
    )
    assert links(drawn) == [("main#abc1234", None, None)]


def test_without_a_result_the_prompt_matches_the_agent() -> None:
    drawn = sketch(
        'U1\nT1< Task(prompt="look\\n  around", name="scout") as y\nA1<\n'
        'agent x nometa\nU5 "look around"\nA5<'
    )
    assert links(drawn) == [("main#x", "prompt", "T1")]


SIDE_BY_SIDE = """
U1
A1< Agent(prompt="look around", description="scout") as x + Fetch(url="a.example") as y together
R1< of x
R2< of y
A2<
"""


@pytest.mark.parametrize("other", ["tool_use", "server_tool_use"])
def test_a_call_next_to_one_that_starts_an_agent_keeps_its_result(other: str) -> None:
    drawing = draw(SIDE_BY_SIDE + 'agent x of x nometa\nU5 "look around"\nA5<')
    first, *agents = sources_of(drawing)
    records = list(first.records)
    content = records[1].fields["message"]["content"]
    message = {
        **records[1].fields["message"],
        "content": [content[0], {**content[1], "type": other}],
    }
    records[1] = records[1].replace(message=message)
    graph = build([(first.file, records), *agents])
    assert [finding.code for finding in graph.findings] == []
    assert [call.prompt is None for call in graph.nodes[records[1].uuid or ""].calls] == [
        False,
        True,
    ]
    assert graph.account.tool_results_reachable == 2


def test_a_call_next_to_an_invalid_block_keeps_its_result() -> None:
    drawing = draw('U1\nT1< Bash(command="ls")\nR1<\nA1<')
    (first,) = sources_of(drawing)
    records = list(first.records)
    for at in (1, 2):
        message = records[at].fields["message"]
        records[at] = records[at].replace(message={**message, "content": [*message["content"], 7]})
    graph = build([(first.file, records)])
    assert (graph.account.tool_results, graph.account.tool_results_orphaned) == (1, 0)


def test_equal_prompts_are_distinguished_by_name_and_used_once() -> None:
    drawn = sketch(
        'U1\nT1< Task(prompt="go", name="ann") as y\nT2<T1~T1 Task(prompt="go", name="bob") as z\n'
        'agent abob-123456 nometa\nU5 "go"\nagent aann-123456 nometa\nU6 "go"\nA6<'
    )
    assert sorted(links(drawn)) == [
        ("main#aann-123456", "prompt", "T1"),
        ("main#abob-123456", "prompt", "T2"),
    ]


def calls_made(count: int) -> int:
    """Return how many functions run to join so many agents of one prompt, none of them named."""
    calls = "".join(
        f'T{n}< Agent(prompt="look around", description="scout") as x{n}\n' for n in range(1, count)
    )
    agents = "".join(
        f'agent x{n} nometa\nU{n + count} "look around"\nA{n + count}<\n' for n in range(1, count)
    )
    sources = sources_of(sketch("U0\n" + calls + agents).drawing)
    made = 0

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal made
        made += event == "call" and frame.f_code.co_filename == joining.__file__

    sys.setprofile(note)
    try:
        build(sources)
    finally:
        sys.setprofile(None)
    return made


def test_indistinguishable_agents_are_joined_in_linear_time() -> None:
    assert calls_made(81) < 2.2 * calls_made(41)


def test_teammate_is_matched_by_name() -> None:
    drawn = sketch(
        'U1\nT1< Agent(prompt="map the shop", name="ann") as y\n'
        'R1< of y {"toolUseResult": {"status": "teammate_spawned", "teammate_id": "ann@shop", '
        '"agent_id": "ann@shop", "name": "ann"}}\nA1<\n'
        "agent aann-12345678 nometa\n"
        "U5 \"<teammate-message teammate_id='lead'>hello</teammate-message>\"\nA5<"
    )
    assert links(drawn) == [("main#aann-12345678", "name", "T1")]


# checklist: D22
def test_agents_nest_to_any_depth() -> None:
    depth = 60
    text = MAIN.replace("as x", "as x0").replace("of x", "of x0")
    for level in range(depth):
        home = f"n{level - 1}:" if level else ""
        text += (
            f'agent n{level} of {home}x{level}\nU{level + 10} "go"\n'
            f'T{level + 10}< Agent(prompt="go {level}") as x{level + 1}\n'
            f"R{level + 10}< of x{level + 1}\n"
        )
    drawn = sketch(text)
    found, steps = drawn.graph.lines[deepest(drawn)], 0
    while found.parent:
        found, steps = drawn.graph.lines[found.parent], steps + 1
    assert steps == depth
    assert drawn.codes() == []


def deepest(drawn: Sketch) -> str:
    """Return the line that nothing leaves."""
    tree = drawn.graph.tree
    return next(name for name in drawn.graph.lines if name not in tree.children)


# checklist: D23
def test_agent_is_never_its_own_parent() -> None:
    drawn = sketch(MAIN + 'agent z nometa\nU5 "go"\nT5< Task(prompt="go") as w\nR5< of w\nA5<')
    assert links(drawn) == [("main#z", None, None)]
    assert "unnamed-agent" in drawn.codes()


# checklist: D23
def test_an_agent_that_names_itself_is_joined_to_another_call() -> None:
    own = '{"toolUseResult": {"status": "completed", "agentId": "$(agent z)"}}'
    drawn = sketch(
        'U1\nT1< Agent(prompt="look around") as x\n'
        'R1< of x "agentId: $(agent z) (use SendMessage)" -toolUseResult\nA1<\n'
        f'agent z nometa\nU5 "go"\nT5< Task(prompt="more") as w\nR5< of w {own}\nA5<'
    )
    assert links(drawn) == [("main#z", "text", "T1")]


def test_agents_that_claim_each_other_give_a_finding() -> None:
    drawn = sketch(
        'U1\nA1<\nagent x nometa\nU5 "a"\nT5< Task(prompt="b") as p\n'
        'agent y nometa\nU6 "b"\nT6< Task(prompt="a") as q'
    )
    assert drawn.codes().count("unnamed-agent") == 2
    assert drawn.graph.account.balanced


@pytest.mark.parametrize("name", ["acompact-1a2b3c", "aprompt_suggestion-1a2b3c"])
def test_background_requests_are_separate(name: str) -> None:
    drawn = sketch(MAIN + f'agent {name} nometa\nU5<main:A1 "sum it up"\nA5<')
    (line,) = [line for line in drawn.graph.lines.values() if line.kind == "service"]
    assert drawn.names[line.attachment or ""] == "A1"
    assert drawn.codes() == []


def test_warm_up_is_a_background_request() -> None:
    drawn = sketch(MAIN + 'agent w nometa\nU5 "Warmup"\nA5<')
    assert [line.kind for line in drawn.graph.lines.values()].count("service") == 1
    assert drawn.codes() == []


def test_agents_have_no_branches() -> None:
    drawn = sketch(MAIN + 'agent x of x\nU5 "go"\nA5<\nU6<A5\nA6<\nU7<A5\nA7<\nA8<U5')
    assert "main#x: U5 A5 U6 A6 U7 A7 A8" in drawn.picture


# checklist: D78
def test_sidechains_in_a_session_file_are_agents() -> None:
    drawn = sketch(
        'U1\nT1< Task(prompt="go") as x\nU5!side "go"\nA5<U5!side\nU6!side "other"\nR1<T1 of x\nA1<'
    )
    assert drawn.picture.startswith("main: U1 T1 R1 A1\n")
    assert sorted(letters.partition(": ")[2] for letters in drawn.picture.split("\n")) == [
        "U1 T1 R1 A1",
        "U5 A5",
        "U6",
    ]
    assert [by for _, by, _ in links(drawn)] == ["prompt", None]


def test_a_forked_agent_is_attached_to_the_last_shared_record() -> None:
    drawn = sketch(
        MAIN + "agent f nometa\n"
        'line {"type": "fork-context-ref", "agentId": "f", "parentLastUuid": "$(uuid main:A1)"}\n'
        'U5 "go on"\nA5<'
    )
    assert links(drawn) == [("main#f", "context", "A1")]


# checklist: D12
def test_workflow_run_has_call_journal_and_agents() -> None:
    drawn = sketch(
        'U1\nT1< Workflow(script="x") as w\n'
        'R1< of w {"toolUseResult": {"runId": "wf_1", "scriptPath": "s"}}\nA1<\n'
        'agent p nometa run=wf_1\nU5 "one"\nA5<\nagent q nometa run=wf_1\nU6 "two"\nA6<'
    )
    sources = sources_of(drawn.drawing)
    agents = [source.file.agent for source in sources if source.file.agent]
    home = next(source.file.path for source in sources if source.file.agent)
    (run,) = drawn.graph.workflows.values()
    assert drawn.names[run.node or ""] == "T1"
    assert len(run.agents) == 2
    assert home.endswith(f"subagents/workflows/wf_1/agent-{agents[0]}.jsonl")
    assert [by for _, by, _ in links(drawn)] == ["workflow", "workflow"]


def test_agents_of_a_run_are_in_the_order_of_its_journal() -> None:
    folder = "p/s1/subagents/workflows/wf_1"

    def log(agent: str, second: int) -> tuple[str, list[Record]]:
        line = {"type": "user", "uuid": agent, "timestamp": f"2026-11-02T09:00:0{second}.000Z"}
        message = {"role": "user", "content": "look"}
        return f"{folder}/agent-{agent}.jsonl", [parse_record(encode({**line, "message": message}))]

    begun = [parse_record(encode({"type": "started", "agentId": agent})) for agent in ("b", "a")]
    graph = build([log("a", 1), log("b", 2), (f"{folder}/journal.jsonl", begun)])
    (run,) = graph.workflows.values()
    assert [graph.lines[name].agent for name in run.agents] == ["b", "a"]


@pytest.mark.parametrize("name", ["acompact-1a2b3c", "z"])
def test_an_unnamed_agent_belongs_to_its_session(name: str) -> None:
    drawn = sketch(MAIN + f'agent {name} nometa\nU5 "something else"\nA5<')
    (line,) = [line for line in drawn.graph.lines.values() if line.agent]
    assert (drawn.title(line.parent or ""), line.attachment) == ("main", None)
    assert line.id in drawn.graph.tree.children[line.parent or ""]


def test_an_agent_belongs_to_the_agent_that_its_metadata_names() -> None:
    drawing = draw(
        MAIN + 'agent x of x\nU5 "go"\nA5<\nagent y nometa\nU6 "deeper"\nA6<\n'
        'agent z nometa\nU7 "deepest"\nA7<'
    )
    x, y = agent_id("x", "main"), agent_id("y", "main")
    notes = {"y": AgentMeta(parent_agent_id=x), "z": AgentMeta(parent_agent_id=y)}
    given = [
        replace(source, meta=notes.get(file.name, source.meta))
        for source, file in zip(sources_of(drawing), logs_of(drawing), strict=True)
    ]
    parents = {line.agent: line.parent for line in build(given).lines.values()}
    session = session_id("main")
    assert parents[y] == f"{session}#agent-{x}"
    assert parents[agent_id("z", "main")] == f"{session}#agent-{y}"


def test_agents_whose_metadata_name_each_other_are_roots() -> None:
    drawing = draw('U1\nA1<\nagent y nometa\nU6 "b"\nA6<\nagent z nometa\nU7 "c"\nA7<')
    y, z = agent_id("y", "main"), agent_id("z", "main")
    notes = {"y": AgentMeta(parent_agent_id=z), "z": AgentMeta(parent_agent_id=y)}
    given = [
        replace(source, meta=notes.get(file.name))
        for source, file in zip(sources_of(drawing), logs_of(drawing), strict=True)
    ]
    assert [line.parent for line in build(given).lines.values()] == [None, None, None]


def logs_of(drawing: Drawing) -> list[DrawnFile]:
    return [file for file in drawing.files if str(file.path).endswith(".jsonl")]
