"""Exports: which files are written, what they contain, and that nothing is missing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from examples.drawing import draw, session_id
from plait.archive import Archive
from plait.conversation.walk import Depth
from plait.export.plan import ExportPlan, export
from plait.export.transcripts import Family
from plait.graph.model import Node
from plait.record import Record
from plait.record.message import Text, Thinking, ToolResult, ToolUse, make_blocks
from plait.redact import Redactor
from plait.sessions.families import group_families
from plait.view.passages import RenderOptions
from plait.view.transcript.json_form import encode_transcript
from plait.view.transcript.markdown import iter_markdown, join_blocks
from plait.view.transcript.plain import WIDTH, iter_plain_text
from tests.sampling import EACH_AND_ALL, one_of
from tests.view.rendered import FORMATTING, HOSTILE, RENDER, elements, is_harmless
from tests.view.unescaped import squeezed

REWIND = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
ai-title "A search box"
U1 "What would a first version look like?"
A1< "Two ways."
U2< "Take LIKE"
A2< "It is done."
U3<A1 "Take the index"
A3< "It is better."
"""
COMPACTED = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
U1 "Begin"
A1< "Begun."
B1 after A1 {"compactMetadata":{"trigger":"manual","preTokens":115999}}
C1< "This session is being continued."
U2< "Go on"
A2< "Gone on."
"""


def exported(folder: Path, format_: str = "md", **changes: Any) -> dict[str, str]:
    """Return the files of an export by their names."""
    plan = ExportPlan(Archive([folder]).sessions, **changes)
    return {name: data.decode("utf-8", "replace") for name, data in export(plan, format_)}


def drawn(folder: Path, text: str) -> Path:
    draw(text).write(folder / "projects")
    return folder


def only(files: dict[str, str], ending: str) -> str:
    (found,) = (text for name, text in files.items() if name.endswith(ending))
    return found


def head_of(text: str) -> list[str]:
    return text.split("\n\n")[2].splitlines()


# checklist: S39, S46, S47, S56
def test_one_transcript_per_path(tmp_path: Path) -> None:
    session = draw(REWIND).session
    names = set(exported(drawn(tmp_path, REWIND)))
    assert names == {
        f"transcript_{session}_path1_abandoned.md",
        f"transcript_{session}_path2.md",
        "index.md",
        "manifest.json",
    }
    straight = exported(drawn(tmp_path / "other", "A B<A C<B"))
    assert [name for name in straight if "_path" in name] == []


# checklist: S48, S50
def test_header_names_the_path(tmp_path: Path) -> None:
    files = exported(drawn(tmp_path, REWIND))
    drawing = draw(REWIND)
    session, fork = drawing.session, drawing.uuid_of("A1")
    abandoned, active = only(files, "abandoned.md"), only(files, "path2.md")
    assert abandoned.startswith("# A search box\n\n## CLAUDE CODE SESSION TRANSCRIPT\n\n")
    assert head_of(abandoned) == [
        f"Session ID: {session}",
        "Path: 1 of 2",
        "Status: ABANDONED",
        f"Fork Point: {fork}",
        "Total Messages: 4",
    ]
    assert head_of(active) == [
        f"Session ID: {session}",
        "Path: 2 of 2",
        "Status: ACTIVE",
        "Total Messages: 4",
    ]


# checklist: D17, D68
def test_paths_link_to_their_fork(tmp_path: Path) -> None:
    files = exported(drawn(tmp_path, REWIND))
    drawing = draw(REWIND)
    names = {name[-8:]: name for name in files if name.endswith(".md")}
    abandoned, active = only(files, "abandoned.md"), only(files, "path2.md")
    assert f"({names['doned.md']}#{drawing.uuid_of('U2')})" in active
    assert f'<a id="{drawing.uuid_of("U2")}"></a>' in abandoned
    assert abandoned.count(f"({names['path2.md']}#{drawing.uuid_of('A1')})") == 2
    assert f'<a id="{drawing.uuid_of("A1")}"></a>' in active
    assert "Take LIKE" not in active.partition("↳ branch")[2].partition("→")[2]


# checklist: S42, S43, S44, S49, D81, D84
def test_compaction_is_shown_inline(tmp_path: Path) -> None:
    text = only(exported(drawn(tmp_path, COMPACTED)), f"{draw(COMPACTED).session}.md")
    line = "**Contains Compact Operation(s)** - Full conversation including compacted segments"
    assert head_of(text)[3] == line
    label = "**📦 Conversation compacted (115k tokens) • 2026-11-02 09:00:"
    assert text.index("Begun.") < text.index(label) < text.index("Gone on.")
    assert text.count("This session is being continued.") == 1
    assert "- [📦 Conversation compacted" in text
    assert line not in only(exported(drawn(tmp_path / "x", REWIND)), "path2.md")


LEFT_COMPACTED = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
U1 "Begin"
A1< "Begun."
U2< "This way"
A2< "Gone."
B1 after A2 {"compactMetadata":{"trigger":"manual","preTokens":115999}}
C1< "This session is being continued."
U3< "On"
A3< "Further."
B2 after A3 {"compactMetadata":{"trigger":"auto","preTokens":98000}}
C2< "It goes on."
U4< "And on"
A4< "Still."
U5<A1 "Another way"
A5< "Better."
U6< "Good"
A6< "Yes."
"""


# checklist: D79, D80
def test_compaction_is_a_landmark_of_its_path(tmp_path: Path) -> None:
    files, drawing = exported(drawn(tmp_path, LEFT_COMPACTED)), draw(LEFT_COMPACTED)
    abandoned, active = only(files, "abandoned.md"), only(files, "path2.md")
    contents = abandoned.partition("<summary>Contents")[2].partition("</details>")[0]
    places = [
        contents.index(f"  - [📦 Conversation compacted ({size} tokens) • ")
        for size in ("115k", "98k")
    ]
    assert places == sorted(places)
    for name in ("B1", "B2"):
        assert f"](#{drawing.uuid_of(name)})" in contents
        assert f'<a id="{drawing.uuid_of(name)}"></a>' in abandoned
    assert "<summary>Contents" in active
    assert "📦" not in active


TWO = "file one\nU1\nA1<\nfile two start=2026-11-03T09:00:00Z\nU2\nA2<\nU3<A2\nA3<\nU4<A2\nA4<"


# checklist: S55
@pytest.mark.parametrize(
    ("text", "count"), [(REWIND, 2), (COMPACTED, 1), (LEFT_COMPACTED, 2), (TWO, 3)]
)
def test_as_many_transcripts_as_paths(tmp_path: Path, text: str, count: int) -> None:
    files = exported(drawn(tmp_path, text))
    names = [name for name in files if name.startswith("transcript_")]
    assert len(names) == len(Archive([tmp_path]).paths()) == count


# checklist: D85
@pytest.mark.parametrize(
    ("tokens", "label"),
    [("115999", "(115k tokens) •"), ("999", "(999 tokens) •"), ("0", "compacted •")],
)
def test_label_uses_known_facts(tmp_path: Path, tokens: str, label: str) -> None:
    files = exported(drawn(tmp_path, COMPACTED.replace("115999", tokens)))
    assert label in files[f"transcript_{draw(COMPACTED).session}.md"]


# checklist: S40
def test_fully_continued_session_has_no_transcript_of_its_own(tmp_path: Path) -> None:
    text = """
    file first start=2026-11-02T09:00:00Z
    U1 "Begin"
    A1< "Begun."
    file second start=2026-11-02T10:00:00Z
    copy first
    U2<first:A1 "Go on"
    A2< "Gone on."
    """
    text = "\n".join(line.strip() for line in text.strip().splitlines())
    drawing = draw(text)
    files = exported(drawn(tmp_path, text))
    first, second = (session_id(file.name) for file in drawing.files)
    assert [name for name in files if first in name] == []
    report = files[f"transcript_{second}.md"]
    assert "Begun." in report and "Gone on." in report
    assert f"in session {first}" in report


def test_unrelated_sessions_are_read_separately(tmp_path: Path) -> None:
    text = 'file one\nU1 "a"\nA1< "b"\nfile two\nU2 "c"\nA2< "d"\nfile three\ncopy one\nU3< "e"\n'
    sessions = Archive([drawn(tmp_path, text)]).sessions
    found = [len(family) for family in group_families(sessions)]
    assert sorted(found) == [1, 2]


def test_agents_are_inline_or_in_their_own_files(gallery: Path) -> None:
    inline = exported(gallery / "sub-agent")
    apart = exported(gallery / "sub-agent", manner=RenderOptions(agents="files"))
    (full,) = (text for name, text in inline.items() if name.startswith("transcript_"))
    assert full.count("<summary>Agent ") >= 2
    assert full.count("<details>") == full.count("</details>")
    agents = [name for name in apart if "_agent_" in name]
    (main,) = (text for name, text in apart.items() if name not in agents and "transcript" in name)
    assert len(agents) >= 2
    assert all(any(f"({name})" in text for text in apart.values()) for name in agents)
    assert sum(f"({name})" in main for name in agents) == 2
    assert "CLAUDE CODE AGENT TRANSCRIPT" in apart[agents[0]]


def test_session_with_only_agents_is_reported(tmp_path: Path) -> None:
    text = 'file main\nU1 "go"\nA1< Task(prompt="look") as t\nR1< of t\n'
    text += 'agent x of t\nU2 "look"\nA2< "seen"\n'
    drawn(tmp_path, text)
    for path in (tmp_path / "projects").rglob("*.jsonl"):
        if "subagents" not in path.parts:
            path.unlink()
    files = exported(tmp_path)
    (report,) = (text for name, text in files.items() if name.startswith("transcript_"))
    assert "seen" in report and "without a call" in report


def test_content_of_broken_lines_is_listed(gallery: Path) -> None:
    files = exported(gallery / "glued-lines")
    (report,) = (text for name, text in files.items() if name.startswith("transcript_"))
    assert "<summary>Recovered from broken lines</summary>" in report
    assert report.count("<details>") == report.count("</details>")


def test_manifest_lists_all_files(tmp_path: Path) -> None:
    files = exported(drawn(tmp_path, REWIND))
    manifest = json.loads(files.pop("manifest.json"))
    assert manifest["format"] == "plait-export/1"
    assert manifest["files"] == {name: len(text.encode()) for name, text in files.items()}
    (session,) = manifest["sessions"]
    report = [
        (transcript["path"], transcript["status"], transcript["messages"])
        for transcript in session["transcripts"]
    ]
    assert report == [(1, "ABANDONED", 4), (2, "ACTIVE", 4)]
    assert all(transcript["file"] in files for transcript in session["transcripts"])
    assert f"[A search box]({session['transcripts'][0]['file']})" in files["index.md"]


def test_only_active_paths_on_request(tmp_path: Path) -> None:
    files = exported(drawn(tmp_path, REWIND), branches="active")
    assert sum(name.startswith("transcript") for name in files) == 1
    report = only(files, "path2.md")
    assert "Take the index" in report
    assert "(not exported)" in report and "abandoned.md" not in report


def test_all_in_one_file(tmp_path: Path) -> None:
    text = exported(drawn(tmp_path, REWIND), is_combined=True)["transcripts.md"]
    assert text.count("# CLAUDE CODE SESSION TRANSCRIPT") == 2
    assert text.startswith("# ")
    assert text.splitlines()[2].startswith('<a id="transcript_')
    anchors = [part.partition('"')[0] for part in text.split('<a id="')[1:]]
    assert len(anchors) == len(set(anchors))
    links = [part.partition(")")[0] for part in text.split("](#")[1:]]
    assert set(links) <= set(anchors)


DEPTHS: list[tuple[Depth, bool, bool, bool]] = [
    ("prompts", False, False, False),
    ("answers", True, False, False),
    ("tools", True, True, False),
    ("all", True, True, True),
]


@pytest.mark.parametrize(("depth", "says", "calls", "notes"), DEPTHS)
@pytest.mark.parametrize("format_", ["md", "txt", "json"])
def test_depth_option(
    tmp_path: Path, format_: str, depth: Depth, says: bool, calls: bool, notes: bool
) -> None:
    text = 'U1 "ask"\nA1< think "hmm" + "say" + Bash(command="run")\nR1< "came back"\n'
    text += "S1< turn_duration\n"
    files = exported(drawn(tmp_path, text), format_, manner=RenderOptions(depth=depth))
    (report,) = (text for name, text in files.items() if name.startswith("transcript"))
    body = report.partition("turn")[2]
    assert "ask" in body
    assert ("say" in body) == says
    assert ("came back" in body) == calls
    assert ("durationMs" in body) == notes
    without = exported(
        tmp_path, format_, manner=RenderOptions(depth=depth, has_thinking=False, has_tools=False)
    )
    left = "".join(text for name, text in without.items() if name.startswith("transcript"))
    assert "hmm" not in left and "came back" not in left


def test_one_line_per_call(gallery: Path) -> None:
    for format_ in ("md", "txt"):
        files = exported(gallery / "rich-tools", format_, manner=RenderOptions(is_simple=True))
        (report,) = (text for name, text in files.items() if name.startswith("transcript_"))
        assert "* **Edit** `charts/bars.py` → +2 −2" in report or "* Edit charts/bars.py" in report
        assert "from itertools import cycle" not in report


def test_front_matter_is_yaml(tmp_path: Path) -> None:
    text = REWIND.replace("A search box", 'A: "search" # box')
    report = only(
        exported(drawn(tmp_path, text), manner=RenderOptions(has_front_matter=True)), "path2.md"
    )
    lines = report.split("---\n")[1].splitlines()
    values = dict(line.split(": ", 1) for line in lines)
    assert json.loads(values["tags"]) == ["claude-code"]
    assert json.loads(values["date"]) == "2026-11-02"
    assert values["status"] == '"active"'


def test_redacted_values_are_in_no_file(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    text = f"""
file work cwd=/Users/mallory/shop start=2026-11-02T09:00:00Z
ai-title "Key {token}"
U1 "use {token} of mallory"
A1< Bash(command="GITHUB_TOKEN={token} ls /Users/mallory/shop")
R1< "ok {token}"
"""
    for format_ in ("md", "txt", "json", "jsonl", "atif", "toolpath"):
        plan = ExportPlan(Archive([drawn(tmp_path, text)]).sessions, redactor=Redactor())
        files = dict(export(plan, format_))
        assert "redaction-report.json" in files
        for name, data in files.items():
            assert token.encode() not in data, name
            assert b"mallory" not in data, name
        report = json.loads(files["redaction-report.json"])
        assert report["kinds"]["github token"] >= 4
        assert report["records_changed"] >= 3


def test_records_are_exported_byte_by_byte(tmp_path: Path) -> None:
    drawn(tmp_path, REWIND)
    (source,) = (tmp_path / "projects").rglob("*.jsonl")
    lines = source.read_bytes().splitlines(keepends=True)
    files = exported(tmp_path, "jsonl")
    uuids = draw(REWIND).uuid_of
    for name, letters in (("abandoned", "U1 A1 U2 A2"), ("path2", "U1 A1 U3 A3")):
        (text,) = (text for file, text in files.items() if name in file)
        kept = text.encode().splitlines(keepends=True)
        assert all(line in lines for line in kept)
        named = [json.loads(line).get("uuid") for line in kept]
        assert [uuid for uuid in named if uuid] == [uuids(letter) for letter in letters.split()]


def test_agent_records_are_in_their_own_files(gallery: Path) -> None:
    files = exported(gallery / "sub-agent", "jsonl", manner=RenderOptions(agents="files"))
    agents = {name: text for name, text in files.items() if "_agent_" in name}
    sources = [path.read_text() for path in gallery.glob("sub-agent/**/agent-*.jsonl")]
    assert len(agents) == len(sources)
    assert all(any(text in source for source in sources) for text in agents.values())


# checklist: S39
def test_gallery_exports_are_complete(gallery: Path) -> None:
    assert checked(gallery) > 300


@pytest.mark.parametrize("every", EACH_AND_ALL)
def test_real_exports_are_complete(shared: Path, every: int) -> None:
    cases = [item for item in sorted((shared / "resume-cases").iterdir()) if item.is_dir()]
    counts = [checked(shared / name, every) for name in ("corpus", "produced")]
    counts += [checked(item) for item in one_of(every, cases)]
    assert sum(counts) > (50_000 if every == 1 else 2_000)


def checked(root: Path, every: int = 1) -> int:
    """Looks up the words of every record in what is written of its family; returns how many."""
    found = one_of(every, list(group_families(Archive([root]).sessions)))
    plan = ExportPlan(tuple(item for members in found for item in members))
    count = 0
    for family in plan.families():
        written = Written(family)
        for node in family.graph.nodes.values():
            record = family.opened.record_at(node.place)
            assert record is not None
            count += written.check(node, record)
    return count


class Written:
    """All that is written of a family, squeezed for looking things up in the order of the log."""

    def __init__(self, family: Family) -> None:
        manner = RenderOptions(depth="all")
        found = list(family.transcripts())
        self.texts = [
            squeezed("\n".join(join_blocks(iter_markdown(item, manner)) for item in found)),
            squeezed("\n".join(line for item in found for line in iter_plain_text(item, manner))),
        ]
        self.places = [0, 0]
        self.json = b"\n".join(encode_transcript(item, manner) for item in found)

    def check(self, node: Node, record: Record) -> int:
        assert node.uuid.encode() in self.json
        pieces = [piece for piece in map(squeezed, words_of(record)) if piece]
        for piece in pieces:
            for number, text in enumerate(self.texts):
                at = text.find(piece, self.places[number])
                at = text.find(piece) if at < 0 else at
                assert at >= 0, (record, number, piece[:300])
                self.places[number] = at
        return len(pieces)


def words_of(record: Record) -> Iterator[str]:
    """Yield what was said, called and answered; of prompts those without machine tags."""
    message = record.message
    for block in message.content if message and record.kind in ("user", "assistant") else ():
        match block:
            case Text(text) if record.kind == "assistant" or not text.lstrip().startswith("<"):
                yield text
            case Thinking(text):
                yield text
            case ToolUse(input=given):
                yield from lines_in(given)
            case ToolResult(content=content):
                yield from (item.text for item in make_blocks(content) if isinstance(item, Text))


def lines_in(value: object) -> Iterator[str]:
    """Yield the lines of all texts in a value."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield from item.replace("\t", "\n").replace("\r", "\n").split("\n")
        elif isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item


def hostile_lines(word: str) -> Iterator[dict[str, Any]]:
    """Yield a session that says a word wherever something can be said."""
    common = {"sessionId": "s", "cwd": f"/{word}", "gitBranch": word, "version": word}
    stamp = {"timestamp": "2026-11-02T09:00:00.000Z"}
    call = {
        "type": "tool_use",
        "id": "t1",
        "name": word,
        "input": {word: word, "long": f"{word}\n" * 9},
    }
    answer = {"id": "m1", "role": "assistant", "model": word}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": word, "is_error": True}
    yield {"type": "custom-title", "customTitle": word, "sessionId": "s"}
    for number, (kind, message) in enumerate(
        [
            ("user", {"role": "user", "content": word}),
            ("assistant", {**answer, "content": [{"type": "thinking", "thinking": word}]}),
            ("assistant", {**answer, "content": [{"type": "text", "text": word}]}),
            ("assistant", {**answer, "content": [call, {"type": word, "text": word}]}),
            ("user", {"role": "user", "content": [result]}),
            ("user", {"role": "user", "content": f"<command-name>{word}</command-name>"}),
            ("user", {"role": "user", "content": f"<bash-input>{word}</bash-input>"}),
            ("user", {"role": "user", "content": f"{word}\n\n{word}"}),
            (word, {"role": "user", "content": word}),
        ]
    ):
        parent = f"u{number - 1}" if number else None
        line = {"type": kind, "uuid": f"u{number}", "parentUuid": parent, "message": message}
        yield {**line, **common, **stamp}
    yield {"type": "system", "subtype": "compact_boundary", "content": word, "uuid": word} | common


@pytest.mark.parametrize("depth", ["tools", "all"])
@pytest.mark.parametrize("word", ["".join(HOSTILE), *HOSTILE])
def test_hostile_text_is_inert(tmp_path: Path, word: str, depth: Depth) -> None:
    folder = tmp_path / "projects" / "-p"
    folder.mkdir(parents=True)
    lines = [json.dumps(line) for line in hostile_lines(word)]
    (folder / "s.jsonl").write_text("\n".join(lines) + "\n")
    for is_simple in (False, True):
        manner = RenderOptions(depth=depth, is_simple=is_simple)
        for name, text in exported(tmp_path, manner=manner).items():
            if name.endswith(".md"):
                found = elements(text)
                assert found.names <= FORMATTING | {"details", "summary", "i"}, name
                assert all(map(is_harmless, found.links))
                page = RENDER.render(text)
                assert page.count("<details") == page.count("</details>")
                assert "\x1b" not in text


def test_shared_turns_are_written_alike(tmp_path: Path) -> None:
    letters = "A B<A C<B D<C E<D F<E G<B H<G I<D J<I K<J L<K M<J N<M"
    plan = ExportPlan(Archive([drawn(tmp_path, letters)]).sessions)
    files = dict(export(plan, "md"))
    found = list(ExportPlan(plan.sessions).transcripts())
    assert len(found) > 3
    for item in found:
        assert files[f"{item.name}.md"].decode() == join_blocks(iter_markdown(item, plan.manner))


def test_plain_text_is_wrapped(gallery: Path) -> None:
    for name, text in exported(gallery, "txt", manner=RenderOptions(depth="all")).items():
        if name.endswith(".txt"):
            assert max(map(len, text.splitlines())) <= WIDTH


def test_index_lists_files_without_a_conversation(tmp_path: Path) -> None:
    drawn(tmp_path, REWIND)
    lone = next(tmp_path.rglob("*.jsonl")).with_name("summaries.jsonl")
    lone.write_text('{"type":"summary","summary":"About a box","leafUuid":"gone"}\n')
    index = exported(tmp_path)["index.md"]
    assert index.endswith(
        "## Sessions without a conversation\n\n- summaries only: About a box (summaries)\n"
    )
    assert json.loads(exported(tmp_path)["manifest.json"])["copies"] == []


@pytest.mark.parametrize("format_", ["md", "txt", "json", "html"])
@pytest.mark.parametrize(
    ("directory", "is_kept"), [("/home/marlene/shop", False), ("/srv/shop", True)]
)
def test_only_resumable_paths_show_a_resume_command(
    tmp_path: Path, format_: str, directory: str, is_kept: bool
) -> None:
    drawn(tmp_path, f'file work cwd={directory} start=2026-11-02T09:00:00Z\nU1 "go"\nA1< "done"\n')
    line = f"cd {directory} &amp;&amp; claude" if format_ == "html" else f"cd {directory} && claude"
    for redactor in (None, Redactor()):
        files = exported(tmp_path, format_, redactor=redactor)
        output = [name for name, text in files.items() if "claude --resume" in text]
        assert bool(output) is (redactor is None or is_kept)
        assert all(line in files[name] for name in output)
