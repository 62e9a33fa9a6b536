"""Items as HTML: every kind of entry."""

import pytest

from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    BranchPoint,
    ClientNote,
    CompactionItem,
    Conversation,
    Enclosure,
    FoldedItems,
    Item,
    OtherBlock,
    Turn,
    UserMessage,
)
from plait.view.page import entries
from plait.view.page.blocks import PageOptions

TIME = "2026-11-02T09:00:00.000Z"
PICTURE = Enclosure("image", None, "image/png", None, 774)
BRANCH = Conversation(
    id="s@1",
    kind="branch",
    session="s",
    project="p",
    title=None,
    turns=(Turn(1, None, (), (), None, None),),
    responses=(),
    files=(),
)
SETTING = PageOptions({"s@1": BRANCH}, session_page_url={"other": "other.html"}.get)


def make_user_message(kind: str, text: str, **more: object) -> UserMessage:
    return UserMessage(kind=kind, text=text, uuid="u1", file=0, line=7, **more)  # type: ignore[arg-type]


def render_item(item: Item) -> str:
    """Return an item as its page shows it."""
    match item:
        case UserMessage():
            return entries.render_user_entry(item, SETTING)
        case AssistantText():
            is_error = item.text.startswith("API Error")
            return entries.render_answer(
                item, SETTING, is_error=is_error, is_synthetic=item.response == 1
            )
        case AssistantThinking():
            return entries.render_thinking(item, SETTING)
        case CompactionItem():
            return entries.render_compaction(item)
        case BranchPoint():
            return entries.render_branch(item, SETTING)
        case FoldedItems():
            return entries.render_fold(item, SETTING)
        case OtherBlock():
            return entries.render_block(item)
        case ClientNote():
            return entries.render_note(item)
        case _:
            raise AssertionError(item)


CASES = [
    pytest.param(
        make_user_message("prompt", "Fix **it**\nnow"),
        '<div class="prompt prompt" id="u1" data-l="0.7"><div class="prose"><p>Fix '
        "<strong>it</strong><br />\nnow</p>\n</div></div>",
        id="prompt",
    ),
    pytest.param(
        make_user_message("prompt", "Look", enclosures=(PICTURE,)),
        '<div class="prompt prompt" id="u1" data-l="0.7"><div class="prose"><p>Look'
        '</p></div><button class="enclosed picture" data-l="0.7" data-p="block/0">'
        '<i class="i i-image"></i>image/png, 774 B</button></div>',
        id="prompt with a picture",
    ),
    pytest.param(
        make_user_message("prompt", "Look", context="a.py, lines 1-2"),
        '<div class="prompt prompt" id="u1" data-l="0.7"><div class="prose"><p>Look'
        '</p></div><p class="about">a.py, lines 1-2</p></div>',
        id="prompt with what the editor shows",
    ),
    pytest.param(
        make_user_message("queued", "and the tests"),
        '<div class="prompt queued" id="u1" data-l="0.7">'
        '<span class="tag">sent while Claude was working</span><div class="prose">'
        "<p>and the tests</p></div></div>",
        id="queued prompt",
    ),
    pytest.param(
        make_user_message("queued", "wait", is_only_queued=True),
        '<div class="prompt queued" id="u1" data-l="0.7">'
        '<span class="tag">queued, never sent to Claude</span>'
        '<div class="prose"><p>wait</p></div></div>',
        id="prompt that nobody saw",
    ),
    pytest.param(
        make_user_message("command", "/review the parser", name="/review", arguments="the parser"),
        '<div class="prompt command" id="u1" data-l="0.7"><span class="tag">command'
        '</span><div class="prose"><p><code>/review</code></p><p>the parser</p></div>'
        "</div>",
        id="command",
    ),
    pytest.param(
        make_user_message("command", "/clear", name="/clear"),
        '<div class="prompt command" id="u1" data-l="0.7"><span class="tag">command'
        '</span><div class="prose"><p><code>/clear</code></p></div></div>',
        id="command alone",
    ),
    pytest.param(
        make_user_message("command-output", "cleared"),
        '<div class="printed" id="u1" data-l="0.7"><pre class="out">cleared</pre></div>',
        id="output of a command",
    ),
    pytest.param(
        make_user_message("bash", "ls -l"),
        '<div class="prompt bash" id="u1" data-l="0.7"><span class="tag">shell</span>'
        '<div class="prose"><p><code>! ls -l</code></p></div></div>',
        id="shell line",
    ),
    pytest.param(
        make_user_message("bash-output", "\x1b[32mok\x1b[0m", errors="<bad>"),
        '<div class="printed" id="u1" data-l="0.7"><pre class="out">'
        '<span class="i2">ok</span></pre><pre class="out bad">&lt;bad&gt;</pre></div>',
        id="output of a shell line",
    ),
    pytest.param(
        make_user_message("skill", "Base directory", name="brainstorming"),
        '<details class="note" id="u1" data-l="0.7"><summary class="line">'
        '<i class="i i-note"></i><span class="kind">skill brainstorming</span> '
        '<span class="obj">Base directory</span></summary><div class="body">'
        '<pre class="out words">Base directory</pre></div></details>',
        id="skill",
    ),
    pytest.param(
        make_user_message("interruption", "[Request interrupted by user]"),
        '<div class="event interrupted" id="u1" data-l="0.7"><i class="i i-stop">'
        "</i>Request interrupted by user</div>",
        id="interruption",
    ),
    pytest.param(
        make_user_message("summary", "This session is being continued"),
        '<details class="note" id="u1" data-l="0.7"><summary class="line">'
        '<i class="i i-note"></i><span class="kind">summary</span> '
        '<span class="obj">This session is being continued</span></summary>'
        '<div class="body"><pre class="out words">This session is being continued'
        "</pre></div></details>",
        id="summary",
    ),
    pytest.param(
        make_user_message("notice", "Agent completed", name="b1", output="50 runs"),
        '<div class="prompt notice" id="u1" data-l="0.7"><span class="tag">notice'
        '</span><div class="prose"><p>Agent completed</p></div>'
        '<div class="prose report"><p>50 runs</p></div>'
        '<p class="about">task <code>b1</code></p></div>',
        id="notice",
    ),
    pytest.param(
        make_user_message(
            "notice", "Done", context="tool-use-id: c1\nSee: it\noutput_file: /tmp/<a>"
        ),
        '<div class="prompt notice" id="u1" data-l="0.7"><span class="tag">notice</span>'
        '<div class="prose"><p>Done</p></div><p class="about">tool use id <code>c1</code>'
        " · See <code>it</code> · output file <code>/tmp/&lt;a&gt;</code></p></div>",
        id="notice that names a call and a file",
    ),
    pytest.param(
        make_user_message("teammate", "I am done", name="alice"),
        '<div class="prompt teammate" id="u1" data-l="0.7">'
        '<span class="tag">teammate alice</span><div class="prose"><p>I am done</p>'
        "</div></div>",
        id="teammate",
    ),
    pytest.param(
        make_user_message("peer", "go on"),
        '<div class="prompt peer" id="u1" data-l="0.7">'
        '<span class="tag">from another session</span><div class="prose"><p>go on</p>'
        "</div></div>",
        id="peer",
    ),
    pytest.param(
        make_user_message("ide", "opened a.py"),
        '<details class="note" id="u1" data-l="0.7"><summary class="line">'
        '<i class="i i-note"></i><span class="kind">shown by the editor</span> '
        '<span class="obj">opened a.py</span></summary><div class="body">'
        '<pre class="out words">opened a.py</pre></div></details>',
        id="editor",
    ),
    pytest.param(
        make_user_message("reminder", "mind the tests"),
        '<details class="note" id="u1" data-l="0.7"><summary class="line">'
        '<i class="i i-note"></i><span class="kind">reminder</span> '
        '<span class="obj">mind the tests</span></summary><div class="body">'
        '<pre class="out words">mind the tests</pre></div></details>',
        id="reminder",
    ),
    pytest.param(
        make_user_message("hook", "formatted", name="PostToolUse"),
        '<details class="note" id="u1" data-l="0.7"><summary class="line">'
        '<i class="i i-note"></i><span class="kind">hook PostToolUse</span> '
        '<span class="obj">formatted</span></summary><div class="body">'
        '<pre class="out words">formatted</pre></div></details>',
        id="hook",
    ),
    pytest.param(
        make_user_message("document", "a page", enclosures=(PICTURE,)),
        '<details class="note" id="u1" data-l="0.7" open><summary class="line">'
        '<i class="i i-note"></i><span class="kind">document</span> '
        '<span class="obj">a page</span></summary><div class="body">'
        '<pre class="out words">a page</pre><button class="enclosed picture" data-l="0.7" '
        'data-p="block/0"><i class="i i-image"></i>image/png, 774 B</button></div></details>',
        id="document",
    ),
    pytest.param(
        make_user_message("meta", "Caveat: these are messages", name="caveat"),
        '<details class="note" id="u1" data-l="0.7"><summary class="line">'
        '<i class="i i-note"></i><span class="kind">client message</span> '
        '<span class="obj">Caveat: these are messages</span></summary>'
        '<div class="body"><pre class="out words">Caveat: these are messages</pre>'
        "</div></details>",
        id="client message",
    ),
    pytest.param(
        make_user_message("empty", ""),
        '<div class="note" id="u1" data-l="0.7"><div class="line"><i class="i i-note">'
        '</i><span class="kind">empty entry</span> <span class="obj"></span></div>'
        "</div>",
        id="empty",
    ),
    pytest.param(
        AssistantText(response=0, text="It is `done`.", uuid="u1", line=7),
        '<div class="say prose" id="u1" data-l="0.7"><p>It is <code>done</code>.</p>\n</div>',
        id="answer",
    ),
    pytest.param(
        AssistantText(response=0, text="It", is_intermediate=True, uuid="u1", line=7),
        '<span class="again" id="u1" data-l="0.7"></span>',
        id="answer that was said again",
    ),
    pytest.param(
        AssistantText(response=1, text="No response requested.", uuid="u1", line=7),
        '<div class="say prose" id="u1" data-l="0.7"><span class="tag">by Claude Code'
        "</span><p>No response requested.</p></div>",
        id="words that no model said",
    ),
    pytest.param(
        AssistantText(response=0, text="API Error: 529 <overloaded>", uuid="u1", line=7),
        '<div class="event bad" id="u1" data-l="0.7"><i class="i i-warn"></i>'
        "<span>API Error: 529 &lt;overloaded&gt;</span></div>",
        id="error of the API",
    ),
    pytest.param(
        AssistantThinking(response=0, text="Where is it?", uuid="u1", line=7),
        '<details class="think" id="u1" data-l="0.7"><summary class="line">'
        '<i class="i i-think"></i><span class="kind">thinking</span> '
        '<span class="obj">Where is it?</span></summary><div class="body">'
        '<div class="prose"><p>Where is it?</p></div></div></details>',
        id="thought",
    ),
    pytest.param(
        AssistantThinking(response=0, text="", uuid="u1", line=7),
        '<div class="think empty" id="u1" data-l="0.7"><div class="line">'
        '<i class="i i-think"></i>thinking, not recorded</div></div>',
        id="thought that was not recorded",
    ),
    pytest.param(
        AssistantThinking(response=0, text="", is_encrypted=True, uuid="u1", line=7),
        '<div class="think empty" id="u1" data-l="0.7"><div class="line">'
        '<i class="i i-think"></i>thinking, encrypted</div></div>',
        id="encrypted thought",
    ),
    pytest.param(
        CompactionItem(
            text="",
            trigger="auto",
            pre_tokens=115_000,
            post_tokens=9000,
            time=TIME,
            uuid="u1",
            line=7,
        ),
        '<div class="landmark" id="u1" data-l="0.7"><i class="i i-knot"></i>'
        "<span>Conversation compacted (115k tokens) • "
        '<time datetime="2026-11-02T09:00:00.000Z">2026-11-02 09:00</time>'
        "<small>9k left, auto</small></span></div>",
        id="compaction",
    ),
    pytest.param(
        BranchPoint(to="s@1", kind="branch", label="By the mole", line=7),
        '<div class="crossing"><a class="fork" href="#line-s@1" data-to="s@1">'
        '<i class="i i-fork"></i><span>Branch from here, abandoned: “By the mole”'
        "</span><small>1 turn</small></a></div>",
        id="branch",
    ),
    pytest.param(
        BranchPoint(to="other@1", kind="branch", label="By the mole", is_active=True, line=7),
        '<div class="crossing"><a class="fork" href="other.html#line-other@1" data-to="'
        'other@1"><i class="i i-fork"></i><span>Another session from here, continues: “By'
        " the mole”</span><small></small></a></div>",
        id="branch in another session",
    ),
    pytest.param(
        BranchPoint(to="other", kind="trunk", label="And back", is_active=True, line=7),
        '<div class="crossing"><a class="fork" href="other.html" data-to="other">'
        '<i class="i i-fork"></i><span>Another session from here, continues: “And back”'
        "</span><small></small></a></div>",
        id="session that goes on",
    ),
    pytest.param(
        FoldedItems(
            reason="retracted",
            under="u2",
            items=(make_user_message("prompt", "fix teh bug"),),
            line=7,
        ),
        '<details class="note folded" data-l="0.7"><summary class="line">'
        '<i class="i i-back"></i><span class="kind">retracted before an answer'
        '</span> <span class="obj">fix teh bug</span></summary><div class="body">'
        '<div class="prompt prompt" id="u1" data-l="0.7"><div class="prose">'
        "<p>fix teh bug</p></div></div></div></details>",
        id="retracted prompt",
    ),
    pytest.param(
        OtherBlock(response=0, enclosure=Enclosure("server_thing", {"a": 1}), uuid="u1", line=7),
        '<div class="note" id="u1" data-l="0.7"><button class="enclosed" data-l="0.7" d'
        'ata-p="raw"><i class="i i-image"></i>server_thing</button></div>',
        id="block of an unknown kind",
    ),
    pytest.param(
        ClientNote(kind="system", subtype="local_command", text="ran <it>", uuid="u1", line=7),
        '<div class="row" id="u1" data-l="0.7"><b>local_command</b> '
        '<span class="obj">ran &lt;it&gt;</span></div>',
        id="note",
    ),
    pytest.param(
        ClientNote(kind="permission-mode", value={"permissionMode": "plan"}, line=7),
        '<div class="row" data-l="0.7"><b>permission-mode</b> '
        '<span class="obj">permissionMode: plan</span></div>',
        id="note no text",
    ),
    pytest.param(
        ClientNote(
            kind="attachment",
            subtype="date_change",
            value={"attachment": {"type": "date_change", "newDate": "2026-11-03"}},
            line=7,
        ),
        '<div class="row" data-l="0.7"><b>date_change</b> '
        '<span class="obj">newDate: 2026-11-03</span></div>',
        id="note of an attachment",
    ),
    pytest.param(
        ClientNote(kind="<b>future</b>", uuid="u1", line=7),
        '<div class="row" id="u1" data-l="0.7"><b>&lt;b&gt;future&lt;/b&gt;</b> '
        '<span class="obj"></span></div>',
        id="unknown record",
    ),
]


@pytest.mark.parametrize(("item", "html"), CASES)
def test_entry(item: Item, html: str) -> None:
    assert render_item(item) == html


def test_notes_are_summarised_by_kind() -> None:
    notes = [ClientNote(kind="system", subtype=name) for name in ("turn_duration", "b", "b")]
    html = entries.render_notes(notes)
    assert '<span class="kind">3 notes</span>' in html
    assert '<span class="obj">b ×2, turn duration</span>' in html
    assert html.count('class="row"') == 3


def test_unrecorded_thinking_is_mentioned_with_the_notes() -> None:
    thoughts = [AssistantThinking(response=0, text="", line=n) for n in (1, 2)]
    unseen = AssistantThinking(response=0, text="", is_encrypted=True)
    html = entries.render_notes(
        [*thoughts, ClientNote(kind="mode"), make_user_message("reminder", "Be brief"), unseen]
    )
    head = html[: html.index("</summary>")]
    assert "2 notes · thinking, not recorded ×2 · thinking, encrypted</span>" in head
    assert '<span class="obj">mode, reminder</span>' in head
    assert html.count("think empty") == 3
    alone = entries.render_notes(thoughts)
    assert '<i class="i i-think"></i><span class="kind">thinking, not recorded ×2</span><' in alone


def test_long_answer_is_cut_and_says_so() -> None:
    text = "\n\n".join(f"paragraph {number}" for number in range(600))
    html = render_item(AssistantText(response=0, text=text, uuid="u1", line=7))
    assert "paragraph 599" not in html
    assert '<button class="more" data-l="0.7" data-p="text">Show all: 1,199 lines' in html
