"""Conversations to steps: what stands together, what stands in none."""

from plait.conversation.model import (
    AssistantText,
    BranchPoint,
    Conversation,
    FoldedItems,
    Item,
    Response,
    Turn,
    UserMessage,
)
from plait.export.steps import build_steps, drop_empty
from plait.export.toolpath import GraphInput, SessionFacts, build_graph
from plait.record.message import Usage
from tests.view.interchange.graph_model import faults
from tests.view.interchange.sessions import ALL

ASKED = UserMessage(kind="prompt", text="Go", uuid="u1")
ANSWER = AssistantText(response=0, text="Yes.", uuid="a1")
AGAIN = AssistantText(response=0, text="Ye", uuid="a0", is_intermediate=True)
COPY = FoldedItems(
    reason="replay", under="a1", items=(AssistantText(response=0, text="Yes.", uuid="c1"),)
)
LEFT = BranchPoint(to="s@b", kind="branch")


def conversation(*items: Item) -> Conversation:
    """Returns one turn with one answer."""
    usage = Usage(input_tokens=3, output_tokens=5)
    response = Response("m", None, "x", ("a1",), None, None, None, usage)
    turn = Turn(1, ASKED, (ASKED, *items), (0,), None, None)
    return Conversation("s", "trunk", "s", "p", None, (turn,), (response,), ("s.jsonl",))


def test_what_is_said_again_in_full_is_counted_once() -> None:
    made = build_steps(conversation(AGAIN, ANSWER), ALL)
    assert [step.items for step in made.steps] == [[ASKED], [ANSWER]]
    assert made.left_out == {"again": 1}


def test_what_is_folded_is_a_step_of_its_own_and_nothing_follows_it() -> None:
    made = build_steps(conversation(ANSWER, COPY, LEFT), ALL)
    assert [bool(step.fold) for step in made.steps] == [False, False, True]
    assert made.inline == made.steps[:2]
    assert made.leaving == [(LEFT, made.steps[1])]
    assert made.at["c1"] is made.steps[2]


def test_an_answer_in_two_steps_has_its_figures_on_the_last() -> None:
    woven = GraphInput(
        {"s": conversation(ANSWER, COPY)}, {"s": SessionFacts(("s",))}, {"c1": "u1"}.get
    )
    made = build_graph(woven, ALL, lambda _: None, "x").document
    assert faults(made) == []
    (path,) = made["paths"]
    turns = [next(iter(one["change"].values()))["structural"] for one in path["steps"]]
    assert [one.get("token_usage", {}).get("output_tokens") for one in turns] == [None, None, 5]
    assert path["steps"][2]["step"]["parents"] == ["u1"]
    assert path["path"]["head"] == "a1"


def test_a_fold_that_hangs_on_what_comes_later_hangs_on_what_is_before() -> None:
    woven = GraphInput(
        {"s": conversation(COPY, ANSWER)}, {"s": SessionFacts(("s",))}, {"c1": "a1"}.get
    )
    (path,) = build_graph(woven, ALL, lambda _: None, "x").document["paths"]
    assert [one["step"].get("parents") for one in path["steps"]] == [None, ["u1"], ["u1"]]


def test_what_says_nothing_is_not_written_but_nought_is() -> None:
    values = {"a": 0, "b": False, "c": "", "d": None, "e": (), "f": {}, "g": 0.0}
    assert drop_empty(values) == {"a": 0, "g": 0.0}
