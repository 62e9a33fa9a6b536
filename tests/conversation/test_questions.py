"""Questions of the model, and the user's choice."""

import json
from textwrap import dedent

import pytest

from plait.conversation.questions import Question, questions_of
from tests.conversation.sketched import Talk, talk


def talked(text: str) -> Talk:
    return talk(dedent(text))


OPTIONS = [{"label": "Red", "description": "warm"}, {"label": "Blue"}, {"label": "Red, dark"}]
ASKED = {"question": "Which?", "header": "Colour", "options": OPTIONS, "multiSelect": True}


def asked(question: object, detail: object, *flags: str) -> list[Question]:
    given = json.dumps([question])
    result = json.dumps({"toolUseResult": detail})
    found = talked(f"""
    U1 "go"
    T1< AskUserQuestion(questions={given})
    R1< {" ".join(flags)} {result}
    A1< "ok"
    """)
    return list(questions_of(found.main))


@pytest.mark.parametrize(
    ("answer", "chosen"),
    [
        ("Red", ("Red",)),
        ("Red, Blue", ("Red", "Blue")),
        ("Red, dark", ("Red, dark",)),
        ("Blue, Red, dark", ("Blue", "Red, dark")),
        (["Blue", "Green"], ("Blue",)),
        ("Something else", ()),
        (None, ()),
        (7, ()),
    ],
)
def test_answer_names_an_option(answer: object, chosen: tuple[str, ...]) -> None:
    detail = {
        "questions": [ASKED],
        "answers": {"Which?": answer},
        "annotations": {"Which?": {"notes": "for now"}},
    }
    (found,) = asked(ASKED, detail)
    assert found.chosen == chosen
    assert (found.text, found.header, found.is_multiple) == ("Which?", "Colour", True)
    assert [option.label for option in found.options] == ["Red", "Blue", "Red, dark"]
    assert found.options[0].description == "warm"
    assert found.notes == "for now"


def test_rejected_question_has_no_answer() -> None:
    (found,) = asked(ASKED, "User rejected tool use", "rejected")
    assert (found.outcome, found.answer, found.chosen) == ("rejected", None, ())


@pytest.mark.parametrize("odd", [7, "which", None, ["which"]])
def test_odd_questions_are_left_out(odd: object) -> None:
    assert asked(odd, {"questions": odd, "answers": odd}) == []


def test_bare_options_are_labels() -> None:
    (found,) = asked({"question": "Which?", "options": ["A", {"label": 7}, 7]}, {"answers": {}})
    assert [option.label for option in found.options] == ["A", ""]
