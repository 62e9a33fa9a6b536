"""`plait trim` and `plait compress` end to end: output, files, refusals."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from examples.drawing import Drawing, draw
from plait.archive import Archive
from plait.cli.app import run
from plait.cli.trim import clip_item
from plait.settings import find_config_file

WORK = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z model=claude-opus-4-5
ai-title "A total that is right"
U1 "Make the total right."
A1< think "Where is it?" + Read(file_path="/home/dev/shop/cart.py") as first
R1< of first times=400
  | def total(items):
A2< Bash(command="pytest -q") as tests
R2< of tests times=900
  | one test failed, as it did before
A3< "Now I see."
U2< "Go on."
A4< Read(file_path="/home/dev/shop/cart.py") as second
R4< of second times=400
  | def total(items):
A5< "Done."
U3< "And the till?"
A6< Bash(command="make till") as till
R6< of till times=300
  | ok
A7< "It rings."
U4< "Thanks."
A8< "Gladly."
U5< "Once more."
A9< "Yes."
last-prompt leaf A9
"""


class Runner:
    """A folder with a session, and the command at hand."""

    def __init__(self, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.config = folder / "config"
        self.drawing: Drawing = draw(WORK)
        self.drawing.write(self.config)
        self._capfd = capfd
        then = time.time() - 3600
        for path in self.logs:
            os.utime(path, (then, then))

    @property
    def logs(self) -> list[Path]:
        """All logs that lie there."""
        return sorted((self.config / "projects").rglob("*.jsonl"))

    @property
    def files(self) -> dict[str, bytes]:
        """All that a client would see."""
        found = (path for path in self.config.rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in found if ".plait" not in path.parts}

    def run_text(self, *arguments: object, code: int = 0) -> tuple[str, str]:
        """Run a command; returns what it said, and what it complained of."""
        given = [str(argument) for argument in arguments]
        assert run([*given, "--root", str(self.config)]) == code, self._capfd.readouterr()
        captured = self._capfd.readouterr()
        return captured.out, captured.err

    def run_json(self, *arguments: object, code: int = 0) -> Any:
        """Run a command with `--json`; returns its object."""
        return json.loads(self.run_text(*arguments, "--json", code=code)[0])

    def prompts(self, session: str) -> list[str]:
        """Return what people asked in what is sent of a session."""
        found = Archive([self.config]).context(session)
        texts = [
            str(block.get("text"))
            for role, blocks in found.messages
            for block in blocks
            if role == "user" and block.get("type") == "text"
        ]
        return [text for text in texts if text in PROMPTS]


PROMPTS = ["Make the total right.", "Go on.", "And the till?", "Thanks.", "Once more."]


@pytest.fixture
def runner(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Runner:
    """Return a desk with a session of five turns."""
    return Runner(tmp_path, capfd)


def test_trim_without_options_shows_what_fills_the_context(runner: Runner) -> None:
    before = runner.files
    out, _ = runner.run_text("trim", "latest")
    assert "tool results" in out
    assert "Bash pytest -q" in out
    assert "repeated file reads" in out
    assert all(preset in out for preset in ("light", "standard", "heavy", "extreme"))
    assert f"standard --dry-run --root {runner.config}` shows what would be removed" in out
    assert runner.files == before
    report = runner.run_json("trim", "latest")
    assert report["fills"][0]["kind"] == "results"
    assert [item["preset"] for item in report["presets"]] == [
        "light",
        "standard",
        "heavy",
        "extreme",
    ]
    assert runner.files == before


def test_calls_of_a_tool_are_removed_in_a_new_session(runner: Runner) -> None:
    before = runner.files
    report = runner.run_json("trim", "latest", "--tool", "Read", "--thinking")
    assert (report["operation"], report["applied"]) == ("trim", True)
    assert report["after"]["tokens"] < report["before"]["tokens"]
    after = runner.files
    written = after.pop(report["path"])
    assert after == before
    assert b'"name":"Read"' not in written
    assert b'"name":"Bash"' in written
    assert runner.prompts(report["session"]) == PROMPTS
    runner.run_text("undo", report["undo"])
    assert runner.files == before


def test_saving_is_shown_in_tokens_and_percent(runner: Runner) -> None:
    out, _ = runner.run_text("trim", "latest", "--tool", "Bash", "--dry-run")
    assert "fewer tokens per request" in out
    assert "the prompt cache is lost" in out
    assert "nothing was changed; leave out `--dry-run` to apply the plan" in out


def test_in_place_needs_confirmation(runner: Runner) -> None:
    before = runner.files
    out, _ = runner.run_text("trim", "latest", "--tool", "Bash", "--in-place")
    assert "add `--yes` to apply the plan" in out
    assert runner.files == before
    report = runner.run_json("trim", "latest", "--tool", "Bash", "--in-place", "--yes")
    assert report["session"] == runner.drawing.session
    assert b'"name":"Bash"' not in runner.logs[0].read_bytes()
    runner.run_text("undo")
    assert runner.files == before


def test_selection_by_size_age_and_turn(runner: Runner) -> None:
    large = runner.run_json("trim", "latest", "--larger-than", "20k", "--dry-run")
    assert large["dropped"] + large["rewritten"] > 0
    none = runner.run_json("trim", "latest", "--larger-than", "1m", "--dry-run")
    assert none["dropped"] == 0
    old = runner.run_json("trim", "latest", "--tool", "Bash", "--older-than", "90000w", "--dry-run")
    assert old["dropped"] == 0
    spared = runner.run_json("trim", "latest", "--tool", "Bash", "--except-last", "5", "--dry-run")
    assert spared["dropped"] == 0


def test_cut_text_keeps_its_beginning(runner: Runner) -> None:
    report = runner.run_json("trim", "latest", "--tool", "Bash", "--keep", "40")
    written = Path(report["path"]).read_text()
    assert written.count('"name":"Bash"') == 2
    assert "one test failed" in written
    assert report["after"]["tokens"] < report["before"]["tokens"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--yes",), "nothing selected to remove"),
        (("--in-place",), "nothing selected to remove"),
        (("--except-last", "3"), "nothing selected to remove"),
        (("--way", "cut"), "nothing selected to remove"),
        (("--prove",), "nothing selected to remove"),
        (("--tool", "Bash", "--way", "empty", "--keep", "9"), "`--keep`"),
        (("--larger-than", "ten"), "is not a number of characters"),
        (("--larger-than", "-1"), "is not a number of characters"),
        (("--older-than", "2y"), "is not an age"),
        (("--older-than", "d"), "is not an age"),
        (("--older-than", "99999999d"), "is not an age"),
        (("mild",), "unknown preset 'mild'"),
        (("--way", "melt"), "not one of"),
    ],
)
def test_wrong_usage_is_an_error(runner: Runner, arguments: tuple[str, ...], words: str) -> None:
    before = runner.files
    _, err = runner.run_text("trim", "latest", *arguments, code=2)
    assert words in err
    assert "hint:" in err
    assert runner.files == before


def test_nothing_to_trim_says_so(runner: Runner) -> None:
    out, _ = runner.run_text("trim", "latest", "--tool", "NotebookEdit")
    assert out.endswith("nothing to trim\n")
    assert runner.run_json("trim", "latest", "--tool", "NotebookEdit")["undo"] is None


@pytest.mark.parametrize("command", ["context", "resume", "trim"])
def test_next_prompt_is_priced_with_own_prices(
    runner: Runner, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "prices.json"
    own = {"input": 1000, "output": 1000, "cache_read": 1000, "cache_write": 2000}
    path.write_text(json.dumps({"claude-opus-4-5": own}), encoding="utf-8")
    usual = runner.run_text(command, "latest")
    monkeypatch.setenv("PLAIT_PRICES", str(path))
    report = runner.run_text(command, "latest")
    assert any("if still cached" in item for item in usual)
    assert report != usual


def test_older_turns_are_compressed_and_prompts_stay(runner: Runner) -> None:
    before = runner.files
    report = runner.run_json("compress", "latest", "--keep-last", "2")
    assert (report["operation"], report["applied"]) == ("compress", True)
    assert report["after"]["tokens"] < report["before"]["tokens"]
    assert runner.prompts(report["session"]) == PROMPTS
    runner.run_text("undo", report["undo"])
    assert runner.files == before


def test_a_turn_says_where_compression_ends(runner: Runner) -> None:
    report = runner.run_json("compress", "latest", "--until", "3", "--in-place", "--yes")
    sent = json.dumps(Archive([runner.config]).context(runner.drawing.session).messages)
    assert "one test failed" not in sent
    assert "make till" in sent
    assert report["session"] == runner.drawing.session


def test_calls_are_summarised_or_left_out(runner: Runner) -> None:
    report = runner.run_json("compress", "latest", "--keep-last", "2")
    assert "pytest -q" in Path(report["path"]).read_text()
    gone = runner.run_json(
        "compress", runner.drawing.session, "--keep-last", "2", "--calls", "none"
    )
    sent = json.dumps(Archive([runner.config]).context(gone["session"]).messages)
    assert "pytest -q" not in sent


def test_command_summarises(runner: Runner) -> None:
    report = runner.run_json(
        "compress", "latest", "--keep-last", "2", "--summariser", "echo summed up by a command"
    )
    sent = json.dumps(Archive([runner.config]).context(report["session"]).messages)
    assert "summed up by a command" in sent


def test_failing_command_is_refused(runner: Runner) -> None:
    before = runner.files
    _, err = runner.run_text(
        "compress", "latest", "--keep-last", "2", "--summariser", "false", code=1
    )
    assert "error:" in err
    assert runner.files == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "use either `--until` or `--keep-last`"),
        (("--until", "2", "--keep-last", "2"), "use either `--until` or `--keep-last`"),
        (("--keep-last", "0"), "invalid value"),
        (("--until", "99"), "turn"),
        (("--keep-last", "2", "--calls", "some"), "not one of"),
    ],
)
def test_wrong_usage_of_compress_is_an_error(
    runner: Runner, arguments: tuple[str, ...], words: str
) -> None:
    before = runner.files
    _, err = runner.run_text("compress", "latest", *arguments, code=2)
    assert words in err
    assert "hint:" in err
    assert runner.files == before


@pytest.mark.parametrize(
    ("words", "room", "shown"),
    [
        ("Read /home/dev/shop/src/cart.py", 40, "Read /home/dev/shop/src/cart.py"),
        ("Read /home/dev/shop/src/cart.py", 20, "Read /…p/src/cart.py"),
        ("/home/dev/shop/src/cart.py", 20, "/home…op/src/cart.py"),
        ("Bash git add cart.py order.py", 20, "Bash git add…"),
        ("Read /home/dev/läden/src/cart.py", 20, "Read /home/dev/läde…"),
        ("Read /home/dev/shop/src/cart.py", 8, "Read /h…"),
    ],
)
def test_long_path_keeps_its_end(words: str, room: int, shown: str) -> None:
    assert clip_item(words, room) == shown


def test_reason_for_nothing_to_compress_is_shown(runner: Runner) -> None:
    out, _ = runner.run_text("compress", "latest", "--keep-last", "99")
    assert "nothing to compress: there are no older turns" in out


@pytest.fixture
def configure(nobodys_home: Path) -> Callable[[str], None]:
    """Return a function that writes `config.toml`."""

    def write(text: str) -> None:
        path = find_config_file()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    return write


RECENT = """
trim_preset = "recent"
[trim_presets.recent]
keep_turns_with_tools = 1
"""


def test_trim_in_place_of_a_running_session_names_the_commands_for_a_fork(runner: Runner) -> None:
    for log in runner.logs:
        os.utime(log)
    before = runner.files
    _, err = runner.run_text("trim", "latest", "standard", "--in-place", "--yes", code=1)
    short = runner.drawing.session[:8]
    assert f"`plait trim {short} standard --root" in " ".join(err.split())
    assert "`plait resume FORK --run --root" in " ".join(err.split())
    assert "`--force` edits it anyway" in err
    assert runner.files == before
    fork = runner.run_json("trim", "latest", "standard")
    assert fork["applied"]
    assert runner.run_json("resume", fork["session"])["why_not"] is None


def test_a_custom_preset_keeps_the_tools_of_the_last_turns(
    runner: Runner, configure: Callable[[str], None]
) -> None:
    configure(RECENT)
    plan = runner.run_json("trim", "latest", "recent", "--dry-run")
    assert (plan["applied"], plan["violations"]) == (False, [])
    made = runner.run_json("trim", "latest", "recent")
    (log,) = (log for log in runner.logs if log.stem == made["session"])
    text = log.read_text(encoding="utf-8")
    assert [name in text for name in ("cart.py", "pytest -q", "make till")] == [False, False, True]


def read_results(log: Path) -> list[str]:
    """Return the texts of the tool results of a log."""
    records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    contents = [r["message"]["content"] for r in records if r["type"] == "user"]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    return [block["content"] for block in blocks if block["type"] == "tool_result"]


def test_a_custom_preset_truncates_older_turns_to_a_share(
    runner: Runner, configure: Callable[[str], None]
) -> None:
    configure(RECENT + "older_percent = 25\n")
    originals = read_results(runner.logs[0])
    made = runner.run_json("trim", "latest", "recent")
    (log,) = (log for log in runner.logs if log.stem == made["session"])
    results = read_results(log)
    assert len(results) == 4
    for result, original in zip(results[:3], originals, strict=False):
        kept = result.rpartition("\n[")[0]
        assert len(kept) == len(original) // 4
        assert original.startswith(kept)
    assert results[3] == originals[3]
    again = runner.run_json("trim", made["session"], "recent", "--dry-run")
    assert again["after"]["tokens"] == again["before"]["tokens"]


def test_custom_preset_truncates_the_oldest_kept_turns(
    runner: Runner, configure: Callable[[str], None]
) -> None:
    configure("[trim_presets.half]\nkeep_turns_with_tools = 2\ntruncate_percent = 50\n")
    made = runner.run_json("trim", "latest", "half")
    (log,) = (log for log in runner.logs if log.stem == made["session"])
    text = log.read_text(encoding="utf-8")
    assert "pytest -q" not in text
    assert "cart.py" in text
    assert text.count("def total(items):") < 60
    assert text.count("ok\\n") > 290


def test_a_custom_preset_leaves_a_share(runner: Runner, configure: Callable[[str], None]) -> None:
    configure("[trim_presets.slim]\nleave_percent = 40\nexcept_last = 1\n")
    before, after = (
        runner.run_json("trim", "latest", "slim", "--dry-run")[at] for at in ("before", "after")
    )
    assert after["tokens"] < before["tokens"]
    names = [effect["preset"] for effect in runner.run_json("trim", "latest")["presets"]]
    assert names == ["light", "standard", "heavy", "extreme", "slim"]


def test_default_preset_is_used(runner: Runner, configure: Callable[[str], None]) -> None:
    configure(RECENT)
    assert "presets" in runner.run_json("trim", "latest")
    assert runner.run_json("trim", "latest", "--yes")["applied"]
    named = runner.run_json("trim", "latest", "recent", "--dry-run")
    assert runner.run_json("trim", "latest", "--dry-run")["after"] == named["after"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[trim_presets.light]\nleave_percent = 5", "'light' is a built-in preset"),
        ("[trim_presets]\nx = 5", "trim preset 'x' is not a table"),
        ("[trim_presets.x]\nleave = 5", "unknown setting 'leave'"),
        ("[trim_presets.x]\nleave_percent = 101", "a whole number up to 100"),
        ("[trim_presets.x]\nthinking = 1\nleave_percent = 1", "must be true or false"),
        ("[trim_presets.x]\nthinking = true", "needs either `leave_percent` or"),
        ("trim_presets = 5", "'trim_presets' must be a table in"),
    ],
)
def test_a_wrong_preset_in_the_configuration_is_reported(
    runner: Runner, configure: Callable[[str], None], text: str, words: str
) -> None:
    configure(text)
    _, err = runner.run_text("trim", "latest", "--dry-run", code=4)
    assert words in " ".join(err.split())


def test_clone_writes_to_a_path(runner: Runner, tmp_path: Path) -> None:
    file = tmp_path / "elsewhere" / "copy.jsonl"
    file.parent.mkdir()
    before = runner.logs
    made = runner.run_json("clone", "latest", "-o", file)
    assert (made["applied"], made["path"]) == (True, str(file))
    assert runner.logs == before
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert {record["sessionId"] for record in records} == {made["session"]}
    into_folder = runner.run_json("clone", "latest", "-o", file.parent)
    assert into_folder["path"] == str(file.parent / f"{into_folder['session']}.jsonl")
    _, err = runner.run_text("clone", "latest", "-o", tmp_path / "copy.txt", code=2)
    assert "is not the name of a log" in err
    _, err = runner.run_text("clone", "latest", "-o", runner.config, code=1)
    assert "sessions cannot be written to" in err
    kept = file.read_bytes()
    assert run(["clone", "latest", "-o", str(file), "--root", str(runner.config)]) != 0
    assert file.read_bytes() == kept
