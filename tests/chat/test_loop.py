"""The agent loop, played from scripts: what it logs, sends and how it ends."""

from pathlib import Path

from plait.chat.events import TextDelta, ToolFinished, TurnEnded
from plait.chat.runtime import Limits
from plait.chat.tools.base import Outcome, ProgressCallback, Proposal, Workplace
from tests.chat.scripted_client import Echo, Permissive, ScriptedClient


def echo(text: str) -> dict[str, object]:
    return {"name": "Echo", "input": {"text": text}}


def test_turn_is_prompt_answer_results_answer(tmp_path: Path) -> None:
    script = {
        "answers": [
            {"text": "I look.", "calls": [echo("a"), echo("b"), {"name": "Nope", "input": {}}]},
            {"thinking": "hm", "text": "Two."},
        ]
    }
    session = ScriptedClient(tmp_path, script, tools=[Echo()])
    events = session.ask("look")
    assert (
        session.picture()
        == """\
     file-history-snapshot
A<·  user look
B<A  assistant I look.
C<B  assistant Echo(a)
D<C  assistant Echo(b)
E<D  assistant Nope({})
F<E  user → <tool_use_error>Error: No such tool available: Nope</tool_us
G<C  user → a
H<D  user → b
I<H  assistant thinking
J<I  assistant Two.
K<J  system turn_duration
     last-prompt"""
    )
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["I look.", "Two."]
    ended = events[-1]
    assert isinstance(ended, TurnEnded)
    assert (ended.ending, ended.text, ended.responses) == ("done", "Two.", 2)
    assert [message["role"] for message in session.sent] == ["user", "assistant"] * 2


def test_older_version_chains_results(tmp_path: Path) -> None:
    script = {"answers": [{"calls": [echo("a"), echo("b")]}, {"text": "Two."}]}
    session = ScriptedClient(tmp_path, script, tools=[Echo()], version="2.1.29")
    session.ask("look")
    assert (
        session.picture()
        == """\
     file-history-snapshot
A<·  user look
B<A  assistant Echo(a)
C<B  assistant Echo(b)
D<C  progress bash_progress
E<C  progress bash_progress
F<C  user → a
G<F  user → b
H<G  assistant Two.
I<H  system turn_duration"""
    )


def test_read_only_calls_run_in_parallel(tmp_path: Path) -> None:
    looking, changing = Echo(), Echo("Change", "write")
    calls = [echo("a"), echo("b"), {"name": "Change", "input": {"text": "c"}}, echo("d")]
    session = ScriptedClient(
        tmp_path, {"answers": [{"calls": calls}, {}]}, tools=[looking, changing]
    )
    session.ask("look")
    assert looking.most_running == 2
    assert looking.started == ["a", "b", "d"]
    assert changing.most_running == 1


def test_writing_calls_run_alone(tmp_path: Path) -> None:
    tool = Echo(effect="execute")
    session = ScriptedClient(
        tmp_path, {"answers": [{"calls": [echo("a"), echo("b")]}, {}]}, tools=[tool]
    )
    session.ask("do")
    assert (tool.most_running, tool.started) == (1, ["a", "b"])


def test_tool_crash_is_reported_to_the_model(tmp_path: Path) -> None:
    calls = [echo("broken"), echo("impossible"), {"name": "Echo", "input": {"text": 5}}]
    session = ScriptedClient(
        tmp_path, {"answers": [{"calls": calls}, {"text": "Oh."}]}, tools=[Echo()]
    )
    found = {
        event.outcome.content: event.outcome.is_error
        for event in session.ask("do")
        if isinstance(event, ToolFinished)
    }
    assert found == {
        "RuntimeError: the tool broke": True,
        "it cannot be done": True,
        "<tool_use_error>InputValidationError: Echo needs `text`</tool_use_error>": True,
    }


def test_rejection_with_stop_ends_the_turn(tmp_path: Path) -> None:
    session = ScriptedClient(
        tmp_path,
        {"answers": [{"calls": [echo("a"), echo("b")]}, {"text": "never"}]},
        tools=[Echo(effect="write")],
        permissions=Permissive("Echo", stops=True),
    )
    *_, ended = session.ask("do")
    assert isinstance(ended, TurnEnded)
    assert ended.ending == "interrupted"
    assert (
        session.picture()
        == """\
     file-history-snapshot
A<·  user do
B<A  assistant Echo(a)
C<B  assistant Echo(b)
D<B  user → No.
E<C  user → The user doesn't want to proceed with this tool use. The too
F<E  user [Request interrupted by user for tool use]
G<F  system turn_duration
     last-prompt"""
    )
    assert not any("interruptedMessageId" in line for line in session.lines)


def test_response_limit_ends_the_turn(tmp_path: Path) -> None:
    script = {"answers": [{"calls": [echo("a")]}, {"text": "never"}]}
    session = ScriptedClient(tmp_path, script, tools=[Echo()], limits=Limits(responses=1))
    *_, ended = session.ask("look")
    assert isinstance(ended, TurnEnded)
    assert ended.ending == "max_turns"
    [reached] = [line for line in session.lines if line["type"] == "attachment"]
    assert reached["attachment"] == {
        "type": "max_turns_reached",
        "maxTurns": 1,
        "turnCount": 2,
        "exitCommitted": False,
    }


def test_cost_limit_ends_the_turn(tmp_path: Path) -> None:
    script = {"answers": [{"calls": [echo("a")]}, {"text": "never"}]}
    session = ScriptedClient(tmp_path, script, tools=[Echo()], limits=Limits(dollars=1e-9))
    *_, ended = session.ask("look")
    assert isinstance(ended, TurnEnded)
    assert (ended.ending, ended.responses) == ("max_budget", 1)


def test_truncated_answer_is_continued(tmp_path: Path) -> None:
    script = {"answers": [{"text": "Half", "stop_reason": "max_tokens"}, {"text": "an hour."}]}
    session = ScriptedClient(tmp_path, script)
    session.ask("tell")
    assert (
        session.picture()
        == """\
     file-history-snapshot
A<·  user tell
B<A  assistant Half
C<B  user Output token limit hit. Resume directly — no apo
D<C  assistant an hour.
E<D  system turn_duration
     last-prompt"""
    )


def test_lines_have_cwd_and_git_branch(tmp_path: Path) -> None:
    class Moving(Echo):
        """Goes where it is told to."""

        async def run(
            self, proposal: Proposal, place: Workplace, report: ProgressCallback
        ) -> Outcome:
            place.cwd = place.root / proposal.title
            return Outcome("moved")

    script = {"answers": [{"calls": [echo("sub")]}, {"text": "There."}, {"text": "Still."}]}
    session = ScriptedClient(tmp_path, script, tools=[Moving(effect="execute")])
    (session.work / "sub" / ".git").mkdir(parents=True)
    (session.work / "sub" / ".git" / "HEAD").write_text("ref: refs/heads/feature\n")
    session.ask("go", "and then?")
    seen = [(Path(line["cwd"]).name, line["gitBranch"]) for line in session.lines if "cwd" in line]
    assert seen == [("work", "HEAD")] * 2 + [("sub", "HEAD")] * 3 + [("sub", "feature")] * 3


def test_calls_sharing_an_id_have_one_result(tmp_path: Path) -> None:
    call = {"name": "Echo", "input": {"text": "a"}, "id": "toolu_1"}
    script = {"answers": [{"calls": [call, call]}, {"text": "Done."}]}
    session = ScriptedClient(tmp_path, script, tools=[Echo()])
    *_, ended = session.ask("go")
    assert isinstance(ended, TurnEnded)
    assert ended.ending == "done"
    assert session.picture().count("→ a") == 1


def refused(text: str, *calls: dict[str, object]) -> dict[str, object]:
    return {"text": text, "calls": list(calls), "stop_reason": "refusal"}


def test_model_refusal_is_retried_once(tmp_path: Path) -> None:
    tool = Echo()
    script = {"answers": [refused("I can", echo("a")), {"text": "Then so."}]}
    session = ScriptedClient(tmp_path, script, tools=[tool])
    *_, ended = session.ask("go")
    assert isinstance(ended, TurnEnded)
    assert (ended.ending, ended.text, tool.started) == ("done", "Then so.", [])
    assert (
        session.picture()
        == """\
     file-history-snapshot
A<·  user go
B<A  assistant I can
C<B  assistant Echo(a)
D<C  user → <tool_use_error>Not run: the response was stopped by a safet
E<D  system informational
F<E  user Your response above was stopped by a safety clas
G<F  assistant Then so.
H<G  system turn_duration
     last-prompt"""
    )
    found = {line["type"]: line for line in session.lines if "refusedMessageId" in line}
    assert found["user"]["refusedMessageId"] == session.lines[2]["message"]["id"]


def test_second_model_refusal_ends_the_turn(tmp_path: Path) -> None:
    session = ScriptedClient(
        tmp_path, {"answers": [refused("I"), refused("I will"), {"text": "never"}]}
    )
    *_, ended = session.ask("go")
    assert isinstance(ended, TurnEnded)
    assert ended.ending == "refused"
    assert ended.text.startswith("API Error: Opus 5.5's safeguards flagged this message")
    kinds = [line.get("subtype") or line["type"] for line in session.lines]
    results = ["user", "assistant", "model_refusal_no_fallback", "assistant", "turn_duration"]
    assert kinds[4:9] == results
    [last] = [line for line in session.lines if line.get("isApiErrorMessage")]
    assert (last["error"], last["refusingModel"]) == ("invalid_request", "claude-opus-5-5")
    assert last["message"]["stop_reason"] == "refusal"


def test_pause_turn_continues(tmp_path: Path) -> None:
    script = {"answers": [{"text": "One", "stop_reason": "pause_turn"}, {"text": "two."}]}
    session = ScriptedClient(tmp_path, script)
    *_, ended = session.ask("go")
    assert isinstance(ended, TurnEnded)
    assert (ended.ending, ended.text, ended.responses) == ("done", "two.", 2)
    assert "user" not in session.picture().split("user go")[1]


def test_empty_answer_is_retried_once(tmp_path: Path) -> None:
    session = ScriptedClient(tmp_path, {"answers": [{}, {}, {"text": "never"}]})
    *_, ended = session.ask("go")
    assert isinstance(ended, TurnEnded)
    assert (ended.ending, ended.responses) == ("done", 2)
    assert "user [Your previous response had no visible output." in session.picture()


def test_continuations_are_limited(tmp_path: Path) -> None:
    session = ScriptedClient(tmp_path, {"otherwise": {"text": "and", "stop_reason": "max_tokens"}})
    *_, ended = session.ask("go")
    assert isinstance(ended, TurnEnded)
    assert (ended.ending, ended.responses) == ("done", 4)


def test_answer_without_a_stop_reason_ends_the_turn(tmp_path: Path) -> None:
    session = ScriptedClient(
        tmp_path, {"answers": [{"text": "So.", "stop_reason": None}, {"text": "never"}]}
    )
    *_, ended = session.ask("go")
    assert isinstance(ended, TurnEnded)
    assert (ended.ending, ended.text) == ("done", "So.")
    [answer] = [line for line in session.lines if line["type"] == "assistant"]
    assert answer["message"]["stop_reason"] is None
