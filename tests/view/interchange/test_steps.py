"""Conversations as steps: which items belong together."""

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
    """Return one turn with one answer."""
    usage = Usage(input_tokens=3, output_tokens=5)
    response = Response("m", None, "x", ("a1",), None, None, None, usage)
    turn = Turn(1, ASKED, (ASKED, *items), (0,), None, None)
    return Conversation("s", "trunk", "s", "p", None, (turn,), (response,), ("s.jsonl",))


def test_repeated_text_is_counted_once() -> None:
    made = build_steps(conversation(AGAIN, ANSWER), ALL)
    assert [step.items for step in made.steps] == [[ASKED], [ANSWER]]
    assert made.left_out == {"again": 1}


def test_folded_item_is_a_leaf_step() -> None:
    made = build_steps(conversation(ANSWER, COPY, LEFT), ALL)
    assert [bool(step.fold) for step in made.steps] == [False, False, True]
    assert made.inline == made.steps[:2]
    assert made.leaving == [(LEFT, made.steps[1])]
    assert made.at["c1"] is made.steps[2]


def test_usage_of_a_split_response_is_on_its_last_step() -> None:
    woven = GraphInput(
        {"s": conversation(ANSWER, COPY)}, {"s": SessionFacts(("s",))}, {"c1": "u1"}.get
    )
    made = build_graph(woven, ALL, lambda _: None, "x").document
    assert faults(made) == []
    (path,) = made["paths"]
    turns = [next(iter(item["change"].values()))["structural"] for item in path["steps"]]
    assert [item.get("token_usage", {}).get("output_tokens") for item in turns] == [None, None, 5]
    assert path["steps"][2]["step"]["parents"] == ["u1"]
    assert path["path"]["head"] == "a1"


def test_folded_item_below_a_later_step_moves_to_an_earlier_one() -> None:
    woven = GraphInput(
        {"s": conversation(COPY, ANSWER)}, {"s": SessionFacts(("s",))}, {"c1": "a1"}.get
    )
    (path,) = build_graph(woven, ALL, lambda _: None, "x").document["paths"]
    assert [item["step"].get("parents") for item in path["steps"]] == [None, ["u1"], ["u1"]]


def test_empty_values_are_omitted_but_zero_is_not() -> None:
    values = {"a": 0, "b": False, "c": "", "d": None, "e": (), "f": {}, "g": 0.0}
    assert drop_empty(values) == {"a": 0, "g": 0.0}
