"""Tool calls as HTML: the summary line of every known tool and its details."""

from typing import Any

import pytest

from plait.conversation.model import Enclosure, LateResult, Outcome, Result, ToolCall
from plait.view.page.blocks import PageOptions
from plait.view.page.call_entries import render_call, render_detached_result

SETTING = PageOptions(directory="/home/dev/shop")
PICTURE = Enclosure("image", None, "image/png", None, 774)


def render_call_of(
    name: str,
    given: Any,
    answer: str | None = "",
    detail: Any = None,
    outcome: Outcome = "ok",
    **more: Any,
) -> str:
    """Return a call with its result as its page shows it."""
    result = None if answer is None else Result(answer, outcome, detail=detail, **more)
    called = ToolCall(
        response=0,
        call="c1",
        name=name,
        input=given,
        outcome=outcome,
        result=result,
        answered_by="u2",
        answered_in=(0, 8),
        uuid="u1",
        line=7,
        time="2026-11-02T09:00:00.000Z",
        answered_at="2026-11-02T09:00:05.000Z",
    )
    return render_call(called, SETTING, has_result=True)


def make_answers(words: str) -> dict[str, Any]:
    return {"questions": [QUESTION], "answers": {"Which?": words}}


FILE = {"filePath": "/a.py", "content": "x\ny\n", "numLines": 2, "startLine": 4, "totalLines": 9}
QUESTION = {"question": "Which?", "options": [{"label": "Red"}, {"label": "Blue"}]}
HITS = [
    {
        "content": [
            {"title": "Okabe", "url": "https://example.org/o"},
            {"title": "x", "url": "data:x"},
        ]
    },
    "Two.",
]

CASES = [
    pytest.param(
        render_call_of("Bash", {"command": "make", "description": "Build"}, "\x1b[31mred\x1b[0m"),
        '<details class="call ok" id="u1" data-l="0.7" data-out="0.8" data-call="c1">'
        '<summary class="line">'
        '<i class="i i-shell"></i><b>Bash</b> <span class="obj">make</span>'
        '<span class="res">1 line</span><span class="took">5 s</span></summary>'
        '<div class="body"><p class="about">Build</p><pre class="out">'
        '<span class="i1">red</span></pre></div></details>',
        id="a command",
    ),
    pytest.param(
        render_call_of("Bash", {"command": "make"}, "Exit 2", outcome="failed", exit_code=2),
        '<details class="call failed" id="u1" data-l="0.7" data-out="0.8" data-call="c1">'
        '<summary class="line">'
        '<i class="i i-shell"></i><b>Bash</b> <span class="obj">make</span>'
        '<span class="res">exit 2</span><span class="took">5 s</span></summary>'
        '<div class="body"><pre class="out bad">Exit 2</pre></div></details>',
        id="a command that failed",
    ),
    pytest.param(
        render_call_of("Bash", {"command": "true"}, ""),
        '<div class="call ok" id="u1" data-l="0.7" data-out="0.8" data-call="c1"><div class="line">'
        '<i class="i i-shell"></i><b>Bash</b> <span class="obj">true</span>'
        '<span class="res">no output</span><span class="took">5 s</span></div></div>',
        id="a command without output",
    ),
    pytest.param(
        render_call_of(
            "Read",
            {"file_path": "/home/dev/shop/a.py"},
            "",
            {"type": "text", "file": FILE},
        ),
        '<details class="call ok" id="u1" data-l="0.7" data-out="0.8" data-call="c1">'
        '<summary class="line">'
        '<i class="i i-file"></i><b>Read</b> <span class="obj">a.py (lines 4–5)</span>'
        '<span class="took">5 s</span></summary><div class="body">'
        '<ol class="code" start="4"><li>x<li>y</ol></div></details>',
        id="a read",
    ),
    pytest.param(
        render_call_of(
            "Edit",
            {"file_path": "/home/dev/shop/a.py", "old_string": "a = 1", "new_string": "a = 2"},
            "done",
        ),
        '<details class="call ok" id="u1" data-l="0.7" data-out="0.8" data-call="c1">'
        '<summary class="line">'
        '<i class="i i-pen"></i><b>Edit</b> <span class="obj">a.py</span>'
        '<span class="res">+1 −1</span><span class="took">5 s</span></summary>'
        '<div class="body"><table class="diff"><tbody><tr class="del"><td></td>'
        '<td>a = <del>1</del></td></tr><tr class="ins"><td></td><td>a = <ins>2</ins>'
        "</td></tr></tbody></table></div></details>",
        id="an edit",
    ),
    pytest.param(
        render_call_of("Write", {"file_path": "/home/dev/shop/b.py", "content": "x\n"}, "done"),
        '<details class="call ok" id="u1" data-l="0.7" data-out="0.8" data-call="c1">'
        '<summary class="line">'
        '<i class="i i-pen"></i><b>Write</b> <span class="obj">b.py</span>'
        '<span class="res">+1</span><span class="took">5 s</span></summary>'
        '<div class="body"><table class="diff"><tbody><tr class="ins"><td>1</td><td>x'
        "</td></tr></tbody></table></div></details>",
        id="a file that was written",
    ),
    pytest.param(
        render_call_of("Grep", {"pattern": "x<y"}, "a.py\nb.py"),
        '<details class="call ok" id="u1" data-l="0.7" data-out="0.8" data-call="c1">'
        '<summary class="line">'
        '<i class="i i-find"></i><b>Grep</b> <span class="obj">“x&lt;y”</span>'
        '<span class="res">2 lines</span><span class="took">5 s</span></summary>'
        '<div class="body"><pre class="out">a.py\nb.py</pre></div></details>',
        id="a search",
    ),
    pytest.param(
        render_call_of("Glob", {"pattern": "*.py"}, "a.py"),
        '<details class="call ok" id="u1" data-l="0.7" data-out="0.8" data-call="c1">'
        '<summary class="line">'
        '<i class="i i-find"></i><b>Glob</b> <span class="obj">*.py</span>'
        '<span class="res">1 line</span><span class="took">5 s</span></summary>'
        '<div class="body"><pre class="out">a.py</pre></div></details>',
        id="a search for files",
    ),
    pytest.param(
        render_call_of(
            "TodoWrite",
            {
                "todos": [
                    {"content": "tests", "status": "completed"},
                    {"content": "docs", "status": "odd<"},
                ]
            },
        ),
        '<details class="call ok" id="u1" data-l="0.7" data-out="0.8" data-call="c1" open>'
        '<summary class="line">'
        '<i class="i i-list"></i><b>TodoWrite</b> <span class="obj">1/2 done</span>'
        '<span class="took">5 s</span></summary><div class="body"><ul class="todos">'
        '<li class="completed"><span class="state">done: </span>tests</li>'
        '<li class="pending"><span class="state">to do: </span>docs</li></ul></div>'
        "</details>",
        id="a list",
    ),
    pytest.param(
        render_call_of("AskUserQuestion", {"questions": [QUESTION]}, "", make_answers("Red")),
        '<details class="call ok" id="u1" data-l="0.7" data-out="0.8" data-call="c1" open>'
        '<summary class="line">'
        '<i class="i i-ask"></i><b>AskUserQuestion</b> <span class="obj"></span>'
        '<span class="took">5 s</span></summary><div class="body"><div class="ask">'
        '<p>Which?</p><ul><li class="chosen">Red</li><li>Blue</li></ul></div></div>'
        "</details>",
        id="a question",
    ),
    pytest.param(
        render_call_of("AskUserQuestion", {"questions": [QUESTION]}, "", make_answers("Both")),
        '<details class="call ok" id="u1" data-l="0.7" data-out="0.8" data-call="c1" open>'
        '<summary class="line">'
        '<i class="i i-ask"></i><b>AskUserQuestion</b> <span class="obj"></span>'
        '<span class="took">5 s</span></summary><div class="body"><div class="ask">'
        '<p>Which?</p><ul><li>Red</li><li>Blue</li></ul><p class="chosen">Both</p>'
        "</div></div></details>",
        id="a question with an own answer",
    ),
    pytest.param(
        render_call_of("ExitPlanMode", {"plan": "1. go"}),
        '<details class="call ok" id="u1" data-l="0.7" data-out="0.8" data-call="c1" open>'
        '<summary class="line">'
        '<i class="i i-plan"></i><b>ExitPlanMode</b> <span class="obj"></span>'
        '<span class="res">accepted</span><span class="took">5 s</span></summary>'
        '<div class="body"><div class="prose plan"><ol>\n<li>go</li>\n</ol>\n</div></div>'
        "</details>",
        id="a plan",
    ),
    pytest.param(
        render_call_of(
            "ExitPlanMode", {"plan": "go"}, "no", None, "rejected", feedback="<not> yet"
        ),
        '<details class="call rejected" id="u1" data-l="0.7" data-out="0.8" data-call="c1" open>'
        '<summary class="line"><i class="i i-plan"></i><b>ExitPlanMode</b> '
        '<span class="obj"></span><span class="res">rejected</span>'
        '<span class="took">5 s</span></summary><div class="body">'
        '<div class="prose plan"><p>go</p></div><div class="feedback">'
        '<i class="i i-note"></i>&lt;not&gt; yet</div></div></details>',
        id="a plan that was rejected",
    ),
    pytest.param(
        render_call_of("WebFetch", {"url": "https://example.com/a", "prompt": "What?"}, "Words"),
        '<details class="call ok" id="u1" data-l="0.7" data-out="0.8" data-call="c1">'
        '<summary class="line">'
        '<i class="i i-web"></i><b>WebFetch</b> <span class="obj">https://example.com/a'
        '</span><span class="res">1 line</span><span class="took">5 s</span></summary>'
        '<div class="body"><p class="about"><a href="https://example.com/a" rel="norefe'
        'rrer noopener" target="_blank">https://example.com/a</a></p>'
        '<p class="about">What?</p><pre class="out">Words</pre></div></details>',
        id="a page of the web",
    ),
    pytest.param(
        render_call_of("WebFetch", {"url": "javascript:alert(1)"}, "Words"),
        '<details class="call ok" id="u1" data-l="0.7" data-out="0.8" data-call="c1">'
        '<summary class="line">'
        '<i class="i i-web"></i><b>WebFetch</b> <span class="obj">javascript:alert(1)'
        '</span><span class="res">1 line</span><span class="took">5 s</span></summary>'
        '<div class="body"><p class="about">javascript:alert(1)</p>'
        '<pre class="out">Words</pre></div></details>',
        id="an odd address",
    ),
    pytest.param(
        render_call_of(
            "WebSearch", {"query": "colours"}, "", {"query": "colours", "results": HITS}
        ),
        '<details class="call ok" id="u1" data-l="0.7" data-out="0.8" data-call="c1">'
        '<summary class="line">'
        '<i class="i i-web"></i><b>WebSearch</b> <span class="obj">“colours”</span>'
        '<span class="res">2 results</span><span class="took">5 s</span></summary>'
        '<div class="body"><ul class="links"><li>'
        '<a href="https://example.org/o" rel="noreferrer noopener" target="_blank">Okab'
        'e</a></li><li>x</li></ul><pre class="out">Two.</pre></div></details>',
        id="a search of the web",
    ),
    pytest.param(
        render_call_of(
            "Task",
            {"description": "Look", "prompt": "Look at it", "subagent_type": "Explore"},
            "Two.",
        ),
        '<details class="call ok" id="u1" data-l="0.7" data-out="0.8" data-call="c1">'
        '<summary class="line">'
        '<i class="i i-agent"></i><b>Task</b> <span class="obj">“Look”</span>'
        '<span class="res">Explore</span><span class="took">5 s</span></summary>'
        '<div class="body"><div class="prose task"><p>Look at it</p></div>'
        '<pre class="out words">Two.</pre></div></details>',
        id="an agent",
    ),
    pytest.param(
        render_call_of("mcp__browser__screenshot", {"page": "x"}, "saved", enclosures=(PICTURE,)),
        '<details class="call ok" id="u1" data-l="0.7" data-out="0.8" data-call="c1" open>'
        '<summary class="line">'
        '<i class="i i-plug"></i><b>browser › screenshot</b> <span class="obj">x'
        '</span><span class="res">1 line</span><span class="took">5 s</span></summary>'
        '<div class="body"><pre class="json">{\n  &quot;page&quot;: &quot;x&quot;\n}'
        '</pre><pre class="out">saved</pre><button class="enclosed picture" data-l="0.8" '
        'data-p="enclosed/c1/0"><i class="i i-image"></i>image/png, 774 B</button></div>'
        "</details>",
        id="a tool of a server",
    ),
    pytest.param(
        render_call_of("Future", {"a": ["<b>"]}, "ok"),
        '<details class="call ok" id="u1" data-l="0.7" data-out="0.8" data-call="c1">'
        '<summary class="line">'
        '<i class="i i-tool"></i><b>Future</b> <span class="obj">&lt;b&gt;</span>'
        '<span class="res">1 line</span><span class="took">5 s</span></summary>'
        '<div class="body"><pre class="json">{\n  &quot;a&quot;: [\n    &quot;&lt;b&gt;&q'
        'uot;\n  ]\n}</pre><pre class="out">ok</pre></div></details>',
        id="an unknown tool",
    ),
    pytest.param(
        render_call_of("Bash", {"command": "sleep"}, None, outcome="missing"),
        '<div class="call missing" id="u1" data-l="0.7"><div class="line">'
        '<i class="i i-shell"></i><b>Bash</b> <span class="obj">sleep</span>'
        '<span class="res">no result in the log</span><span class="took">5 s</span>'
        "</div></div>",
        id="a call without a result",
    ),
    pytest.param(
        render_call_of("Bash", {"command": "rm"}, "", None, "rejected", feedback="do not"),
        '<details class="call rejected" id="u1" data-l="0.7" data-out="0.8" data-call="c1">'
        '<summary class="line">'
        '<i class="i i-shell"></i><b>Bash</b> <span class="obj">rm</span>'
        '<span class="res">rejected</span><span class="took">5 s</span></summary>'
        '<div class="body"><div class="feedback"><i class="i i-note"></i>do not</div>'
        "</div></details>",
        id="a call that was rejected",
    ),
    pytest.param(
        render_call_of("Read", "odd", "text"),
        '<details class="call ok" id="u1" data-l="0.7" data-out="0.8" data-call="c1">'
        '<summary class="line">'
        '<i class="i i-file"></i><b>Read</b> <span class="obj"></span>'
        '<span class="took">5 s</span></summary><div class="body">'
        '<pre class="out">text</pre></div></details>',
        id="an input that is no object",
    ),
]


@pytest.mark.parametrize(("drawing", "html"), CASES)
def test_tool_call(drawing: str, html: str) -> None:
    assert drawing == html


def test_late_result_is_separate() -> None:
    answered = LateResult(call="c1", name="Bash", result=Result("late", "ok"), uuid="u3", line=9)
    assert render_detached_result(answered, SETTING) == (
        '<details class="call ok apart" id="u3" data-l="0.9" data-out="0.9" data-call="c1" open>'
        '<summary class="line">'
        '<i class="i i-shell"></i><b>Bash</b> <span class="res">arrived late</span></summary>'
        '<div class="body"><pre class="out">late</pre></div></details>'
    )


def test_call_shows_its_agents() -> None:
    called = ToolCall(
        response=0, call="c1", name="Task", input={"prompt": "x"}, agents=("a",), line=7
    )
    html = render_call(called, SETTING, has_result=True, inner="<p>inside</p>")
    assert html.endswith("<p>inside</p></div></details>")
    assert "task" not in html.partition("body")[2]
