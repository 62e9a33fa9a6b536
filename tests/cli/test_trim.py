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


class Desk:
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

    def said(self, *arguments: object, code: int = 0) -> tuple[str, str]:
        """Run a command; returns what it said, and what it complained of."""
        given = [str(argument) for argument in arguments]
        assert run([*given, "--root", str(self.config)]) == code, self._capfd.readouterr()
        captured = self._capfd.readouterr()
        return captured.out, captured.err

    def told(self, *arguments: object, code: int = 0) -> Any:
        """Run a command with `--json`; returns its object."""
        return json.loads(self.said(*arguments, "--json", code=code)[0])

    def prompts(self, session: str) -> list[str]:
        """Return what people asked in what is sent of a session."""
        found = Archive([self.config]).context(session)
        texts = [
            str(block.get("text"))
            for role, blocks in found.messages
            for block in blocks
            if role == "user" and block.get("type") == "text"
        ]
        return [one for one in texts if one in PROMPTS]


PROMPTS = ["Make the total right.", "Go on.", "And the till?", "Thanks.", "Once more."]


@pytest.fixture
def desk(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Desk:
    """Return a desk with a session of five turns."""
    return Desk(tmp_path, capfd)


def test_trim_without_options_shows_what_fills_the_context(desk: Desk) -> None:
    before = desk.files
    out, _ = desk.said("trim", "latest")
    assert "tool results" in out
    assert "Bash pytest -q" in out
    assert "repeated file reads" in out
    assert all(preset in out for preset in ("light", "standard", "heavy", "extreme"))
    assert f"standard --dry-run --root {desk.config}` shows what would be removed" in out
    assert desk.files == before
    told = desk.told("trim", "latest")
    assert told["fills"][0]["kind"] == "results"
    assert [one["preset"] for one in told["presets"]] == ["light", "standard", "heavy", "extreme"]
    assert desk.files == before


def test_calls_of_a_tool_are_removed_in_a_new_session(desk: Desk) -> None:
    before = desk.files
    told = desk.told("trim", "latest", "--tool", "Read", "--thinking")
    assert (told["operation"], told["applied"]) == ("trim", True)
    assert told["after"]["tokens"] < told["before"]["tokens"]
    after = desk.files
    written = after.pop(told["path"])
    assert after == before
    assert b'"name":"Read"' not in written
    assert b'"name":"Bash"' in written
    assert desk.prompts(told["session"]) == PROMPTS
    desk.said("undo", told["undo"])
    assert desk.files == before


def test_saving_is_shown_in_tokens_and_percent(desk: Desk) -> None:
    out, _ = desk.said("trim", "latest", "--tool", "Bash", "--dry-run")
    assert "fewer tokens per request" in out
    assert "the prompt cache is lost" in out
    assert "nothing was changed; leave out `--dry-run` to apply the plan" in out


def test_in_place_needs_confirmation(desk: Desk) -> None:
    before = desk.files
    out, _ = desk.said("trim", "latest", "--tool", "Bash", "--in-place")
    assert "add `--yes` to apply the plan" in out
    assert desk.files == before
    told = desk.told("trim", "latest", "--tool", "Bash", "--in-place", "--yes")
    assert told["session"] == desk.drawing.session
    assert b'"name":"Bash"' not in desk.logs[0].read_bytes()
    desk.said("undo")
    assert desk.files == before


def test_selection_by_size_age_and_turn(desk: Desk) -> None:
    large = desk.told("trim", "latest", "--larger-than", "20k", "--dry-run")
    assert large["dropped"] + large["rewritten"] > 0
    none = desk.told("trim", "latest", "--larger-than", "1m", "--dry-run")
    assert none["dropped"] == 0
    old = desk.told("trim", "latest", "--tool", "Bash", "--older-than", "90000w", "--dry-run")
    assert old["dropped"] == 0
    spared = desk.told("trim", "latest", "--tool", "Bash", "--except-last", "5", "--dry-run")
    assert spared["dropped"] == 0


def test_cut_text_keeps_its_beginning(desk: Desk) -> None:
    told = desk.told("trim", "latest", "--tool", "Bash", "--keep", "40")
    written = Path(told["path"]).read_text()
    assert written.count('"name":"Bash"') == 2
    assert "one test failed" in written
    assert told["after"]["tokens"] < told["before"]["tokens"]


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
def test_wrong_usage_is_an_error(desk: Desk, arguments: tuple[str, ...], words: str) -> None:
    before = desk.files
    _, err = desk.said("trim", "latest", *arguments, code=2)
    assert words in err
    assert "hint:" in err
    assert desk.files == before


def test_nothing_to_trim_says_so(desk: Desk) -> None:
    out, _ = desk.said("trim", "latest", "--tool", "NotebookEdit")
    assert out.endswith("nothing to trim\n")
    assert desk.told("trim", "latest", "--tool", "NotebookEdit")["undo"] is None


@pytest.mark.parametrize("command", ["context", "resume", "trim"])
def test_next_prompt_is_priced_with_own_prices(
    desk: Desk, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "prices.json"
    own = {"input": 1000, "output": 1000, "cache_read": 1000, "cache_write": 2000}
    path.write_text(json.dumps({"claude-opus-4-5": own}), encoding="utf-8")
    usual = desk.said(command, "latest")
    monkeypatch.setenv("PLAIT_PRICES", str(path))
    told = desk.said(command, "latest")
    assert any("if still cached" in one for one in usual)
    assert told != usual


def test_older_turns_are_compressed_and_prompts_stay(desk: Desk) -> None:
    before = desk.files
    told = desk.told("compress", "latest", "--keep-last", "2")
    assert (told["operation"], told["applied"]) == ("compress", True)
    assert told["after"]["tokens"] < told["before"]["tokens"]
    assert desk.prompts(told["session"]) == PROMPTS
    desk.said("undo", told["undo"])
    assert desk.files == before


def test_a_turn_says_where_compression_ends(desk: Desk) -> None:
    told = desk.told("compress", "latest", "--until", "3", "--in-place", "--yes")
    sent = json.dumps(Archive([desk.config]).context(desk.drawing.session).messages)
    assert "one test failed" not in sent
    assert "make till" in sent
    assert told["session"] == desk.drawing.session


def test_calls_are_summarised_or_left_out(desk: Desk) -> None:
    told = desk.told("compress", "latest", "--keep-last", "2")
    assert "pytest -q" in Path(told["path"]).read_text()
    gone = desk.told("compress", desk.drawing.session, "--keep-last", "2", "--calls", "none")
    sent = json.dumps(Archive([desk.config]).context(gone["session"]).messages)
    assert "pytest -q" not in sent


def test_command_summarises(desk: Desk) -> None:
    told = desk.told(
        "compress", "latest", "--keep-last", "2", "--summariser", "echo summed up by a command"
    )
    sent = json.dumps(Archive([desk.config]).context(told["session"]).messages)
    assert "summed up by a command" in sent


def test_failing_command_is_refused(desk: Desk) -> None:
    before = desk.files
    _, err = desk.said("compress", "latest", "--keep-last", "2", "--summariser", "false", code=1)
    assert "error:" in err
    assert desk.files == before


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
    desk: Desk, arguments: tuple[str, ...], words: str
) -> None:
    before = desk.files
    _, err = desk.said("compress", "latest", *arguments, code=2)
    assert words in err
    assert "hint:" in err
    assert desk.files == before


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


def test_reason_for_nothing_to_compress_is_shown(desk: Desk) -> None:
    out, _ = desk.said("compress", "latest", "--keep-last", "99")
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


def test_trim_in_place_of_a_running_session_names_the_commands_for_a_fork(desk: Desk) -> None:
    for log in desk.logs:
        os.utime(log)
    before = desk.files
    _, err = desk.said("trim", "latest", "standard", "--in-place", "--yes", code=1)
    short = desk.drawing.session[:8]
    assert f"`plait trim {short} standard --root" in " ".join(err.split())
    assert "`plait resume FORK --run --root" in " ".join(err.split())
    assert "`--force` edits it anyway" in err
    assert desk.files == before
    fork = desk.told("trim", "latest", "standard")
    assert fork["applied"]
    assert desk.told("resume", fork["session"])["why_not"] is None


def test_a_custom_preset_keeps_the_tools_of_the_last_turns(
    desk: Desk, configure: Callable[[str], None]
) -> None:
    configure(RECENT)
    plan = desk.told("trim", "latest", "recent", "--dry-run")
    assert (plan["applied"], plan["violations"]) == (False, [])
    made = desk.told("trim", "latest", "recent")
    (log,) = (log for log in desk.logs if log.stem == made["session"])
    text = log.read_text(encoding="utf-8")
    assert [name in text for name in ("cart.py", "pytest -q", "make till")] == [False, False, True]


def read_results(log: Path) -> list[str]:
    """Return the texts of the tool results of a log."""
    records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    contents = [r["message"]["content"] for r in records if r["type"] == "user"]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    return [block["content"] for block in blocks if block["type"] == "tool_result"]


def test_a_custom_preset_truncates_older_turns_to_a_share(
    desk: Desk, configure: Callable[[str], None]
) -> None:
    configure(RECENT + "older_percent = 25\n")
    originals = read_results(desk.logs[0])
    made = desk.told("trim", "latest", "recent")
    (log,) = (log for log in desk.logs if log.stem == made["session"])
    results = read_results(log)
    assert len(results) == 4
    for result, original in zip(results[:3], originals, strict=False):
        kept = result.rpartition("\n[")[0]
        assert len(kept) == len(original) // 4
        assert original.startswith(kept)
    assert results[3] == originals[3]
    again = desk.told("trim", made["session"], "recent", "--dry-run")
    assert again["after"]["tokens"] == again["before"]["tokens"]


def test_custom_preset_truncates_the_oldest_kept_turns(
    desk: Desk, configure: Callable[[str], None]
) -> None:
    configure("[trim_presets.half]\nkeep_turns_with_tools = 2\ntruncate_percent = 50\n")
    made = desk.told("trim", "latest", "half")
    (log,) = (log for log in desk.logs if log.stem == made["session"])
    text = log.read_text(encoding="utf-8")
    assert "pytest -q" not in text
    assert "cart.py" in text
    assert text.count("def total(items):") < 60
    assert text.count("ok\\n") > 290


def test_a_custom_preset_leaves_a_share(desk: Desk, configure: Callable[[str], None]) -> None:
    configure("[trim_presets.slim]\nleave_percent = 40\nexcept_last = 1\n")
    before, after = (
        desk.told("trim", "latest", "slim", "--dry-run")[at] for at in ("before", "after")
    )
    assert after["tokens"] < before["tokens"]
    names = [effect["preset"] for effect in desk.told("trim", "latest")["presets"]]
    assert names == ["light", "standard", "heavy", "extreme", "slim"]


def test_default_preset_is_used(desk: Desk, configure: Callable[[str], None]) -> None:
    configure(RECENT)
    assert "presets" in desk.told("trim", "latest")
    assert desk.told("trim", "latest", "--yes")["applied"]
    named = desk.told("trim", "latest", "recent", "--dry-run")
    assert desk.told("trim", "latest", "--dry-run")["after"] == named["after"]


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
    desk: Desk, configure: Callable[[str], None], text: str, words: str
) -> None:
    configure(text)
    _, err = desk.said("trim", "latest", "--dry-run", code=4)
    assert words in " ".join(err.split())


def test_clone_writes_to_a_path(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "elsewhere" / "copy.jsonl"
    file.parent.mkdir()
    before = desk.logs
    made = desk.told("clone", "latest", "-o", file)
    assert (made["applied"], made["path"]) == (True, str(file))
    assert desk.logs == before
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert {record["sessionId"] for record in records} == {made["session"]}
    into_folder = desk.told("clone", "latest", "-o", file.parent)
    assert into_folder["path"] == str(file.parent / f"{into_folder['session']}.jsonl")
    _, err = desk.said("clone", "latest", "-o", tmp_path / "copy.txt", code=2)
    assert "is not the name of a log" in err
    _, err = desk.said("clone", "latest", "-o", desk.config, code=1)
    assert "sessions cannot be written to" in err
    kept = file.read_bytes()
    assert run(["clone", "latest", "-o", str(file), "--root", str(desk.config)]) != 0
    assert file.read_bytes() == kept
