"""Plans presented to the user, and their outcome."""

from textwrap import dedent

from plait.conversation.questions import plans_of
from tests.conversation.sketched import Talk, talk


def talked(text: str) -> Talk:
    return talk(dedent(text))


def test_plan_is_accepted_rejected_or_open() -> None:
    found = plans_of(
        talked("""
        U1 "plan it"
        T1< ExitPlanMode(plan="First try")
        R1< rejected "The user doesn't want to proceed with this tool use. the user said:\\nSmaller"
        T2< exit_plan_mode(plan="Second try")
        R2< {"toolUseResult": {"plan": "Second try", "isAgent": false, "filePath": "/p/a.md"}}
        A2< "on"
        U3< "again"
        T3< ExitPlanMode(plan="Third", planFilePath="/p/b.md")
        """).main
    )
    assert [(one.turn, one.text, one.verdict, one.path) for one in found] == [
        (1, "First try", "rejected", None),
        (1, "Second try", "accepted", "/p/a.md"),
        (2, "Third", "open", "/p/b.md"),
    ]
    assert found[0].feedback == "Smaller"
    assert found[1].answered_at is not None
    assert not found[1].is_edited


def test_accepted_text_wins_over_the_proposal() -> None:
    told = "User has approved your plan.\\n\\n## Approved Plan:\\nThe better one"
    found = plans_of(
        talked(f"""
        U1 "plan it"
        T1< ExitPlanMode(plan="One")
        R1< {{"toolUseResult": {{"plan": "One, edited", "isAgent": true}}}}
        T2< ExitPlanMode()
        R2< {{"toolUseResult": null}} "{told}"
        T3< ExitPlanMode(plan=[7])
        R3< {{"toolUseResult": ["odd"]}} "ok"
        A3< "on"
        """).main
    )
    assert [(one.text, one.is_edited, one.is_of_agent) for one in found] == [
        ("One, edited", True, True),
        ("The better one", False, False),
        ("", False, False),
    ]
