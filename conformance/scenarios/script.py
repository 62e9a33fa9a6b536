"""The answers of the model in the scenarios, by prompt."""

from pathlib import Path

from tests.standin import Answer, Json, Script, call, calls, failed, said, thought

REFUSED = {"type": "text", "text": "I cannot help with that."}


def script(directory: Path) -> Script:
    """Return the answers to all prompts of the scenarios."""
    turns = {
        "<task-notification>": [said("The agent is done.")],
        "[think]": [thought("Which one is it?", {"type": "text", "text": "The second."})],
        "[think and look]": [
            thought("First a look.", call("Read", file_path=str(directory / "notes.txt"))),
            thought("Three lines.", {"type": "text", "text": "It has three lines."}),
        ],
        "[files]": file_tools(directory),
        "[parallel]": parallel_tools(directory),
        "[failing]": failing_tools(directory),
        "[long output]": [calls(call("Bash", command="seq 1 20000")), said("Many numbers.")],
        "[many blocks]": [several_texts()],
        "[cut short]": [said("As much as fits", stop_reason="max_tokens"), said(" and the rest.")],
        "[object]": [calls(call("StructuredOutput", answer="yes")), said("Too late.")],
        "[refuse]": [{"blocks": [REFUSED], "stop_reason": "refusal"}],
        "[bad request]": [failed(400, "the request is made up")],
        "[slow]": [said("This takes a while. " * 12, hold=0.5, pause=0.25, chunk=60)],
        "[never]": [said("Too late.", hold=8)],
        "[odd chunks]": [thought("ä" * 40, {"type": "text", "text": "Größe: 3 µm — ✓"}, chunk=7)],
        **agents(),
    }
    rules = [{"when": when, "answers": answers} for when, answers in turns.items()]
    return {
        "rules": rules,
        "otherwise": said("Understood."),
        "object": {"title": "A made-up title"},
    }


def file_tools(directory: Path) -> list[Answer]:
    """Return a turn that uses every file tool, one after the other."""
    notes, fresh = str(directory / "notes.txt"), str(directory / "fresh.txt")
    book = str(directory / "book.ipynb")
    steps: list[Json] = [
        call("Read", file_path=notes),
        call("Read", file_path=notes, offset=2, limit=1),
        call("Edit", file_path=notes, old_string="two", new_string="zwei"),
        call("Write", file_path=fresh, content="new\n"),
        call("Write", file_path=fresh, content="newer\n"),
        call("Glob", pattern="*.txt"),
        call("Grep", pattern="zwei", output_mode="content"),
        call("ToolSearch", query="select:NotebookEdit"),
        call("Read", file_path=book),
        call("NotebookEdit", notebook_path=book, cell_id="a1", new_source="print(2)"),
        call("Read", file_path=str(directory / "dot.png")),
        call("Bash", command="ls"),
    ]
    return [*(calls(step, text="Next.") for step in steps), said("All done.")]


def parallel_tools(directory: Path) -> list[Answer]:
    """Return a turn with several calls at once, the slowest first."""
    together = calls(
        call("Bash", command="sleep 0.6; echo slow"),
        call("Read", file_path=str(directory / "notes.txt")),
        call("Bash", command="echo quick"),
        text="Three at once.",
    )
    return [together, thought("And two.", *together["blocks"][2:]), said("Five results.")]


def failing_tools(directory: Path) -> list[Answer]:
    """Return a turn whose calls fail, each in its own way."""
    steps: list[Json] = [
        call("Bash", command="echo wrong >&2; exit 3"),
        call("Read", file_path=str(directory / "nowhere.txt")),
        call("Edit", file_path=str(directory / "notes.txt"), old_string="none", new_string="x"),
        call("NoSuchTool", argument=1),
        call("Write", file_path=str(directory / "fresh.txt")),
        call("WebFetch", url="http://127.0.0.1:9/", prompt="read"),
    ]
    both = calls(steps[0], call("Bash", command="echo fine"))
    return [*(calls(step) for step in steps), both, said("Nothing worked.")]


def several_texts() -> Answer:
    """Return an answer of several blocks."""
    texts = [{"type": "text", "text": text} for text in ("First.", "Second.", "Third.")]
    return {"blocks": texts}


def agents() -> dict[str, list[Answer]]:
    """Return turns that start agents, and the turns of these agents."""
    return {
        "[one agent]": [calls(agent("Count", "[count]")), said("It counted.")],
        "[two agents]": [
            calls(agent("Count", "[count]"), agent("Think", "[think]")),
            said("Both are back."),
        ],
        "[nested agents]": [calls(agent("Delegate", "[delegate]")), said("The chain is back.")],
        "[background agent]": [
            calls(agent("Count", "[count]", run_in_background=True)),
            said("It works in the background."),
        ],
        "[delegate]": [calls(agent("Count", "[count]")), said("Delegated.")],
        "[count]": [calls(call("Bash", command="echo 1 2 3")), said("Three.")],
    }


def agent(description: str, prompt: str, **more: object) -> Json:
    """Return a call that starts an agent and waits for it."""
    arguments = {"run_in_background": False, **more}
    kind = "general-purpose"
    return call("Agent", description=description, prompt=prompt, subagent_type=kind, **arguments)
