"""Generate one session within a size budget, with all the shapes of real sessions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from bench import lines
from bench.page import COPIED, SYSTEM_TOKENS, Page
from bench.texts import Texts
from bench.tools import outcome, some_call

COMPACT_AT = 150_000  # tokens in the context, at which a session sums itself up


@dataclass(frozen=True, slots=True)
class Mark:
    """The end of a turn: how many pieces and bytes were kept up to it, and the tip."""

    count: int
    size: int
    tip: str


@dataclass(slots=True)
class Session:
    """One session while it is written: `wants` are the shapes that it has to show."""

    page: Page
    texts: Texts
    budget: int
    wants: set[str] = field(default_factory=set)
    spawn: Callable[[Session, str, str, str], str] | None = None
    prompt: str = ""
    begun: int = 0
    base: str = ""
    ends: list[str] = field(default_factory=list)
    files: dict[str, int] = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)

    @property
    def left(self) -> int:
        """Bytes that the budget has left."""
        return self.budget - self.page.sink.size

    def run(self) -> None:
        """Write turns until the budget is used up."""
        self._open()
        while self.left > 0:
            self._turn()

    def answer(self, prompt: str) -> None:
        """Write what a sub-agent does with the prompt it was given."""
        self.page.prompt_id = lines.uuid(self.page.rng)
        self.page.prompt(prompt)
        while self.left > 0:
            self._step()
        self._conclude()

    def _open(self) -> None:
        session, sink = self.page.frame.session, self.page.sink
        title = self.texts.sentence(self.page.rng)
        if self.page.is_old:
            leaf = lines.uuid(self.page.rng)
            sink.write(f'{{"type":"summary","summary":"{title}","leafUuid":"{leaf}"}}\n')
            return
        sink.write(lines.state("permission-mode", "permissionMode", "acceptEdits", session))
        sink.write(lines.state("ai-title", "aiTitle", title, session))

    def _turn(self) -> None:
        page = self.page
        if page.tip and (page.context > COMPACT_AT or self._is_due("compaction", 0.0)):
            self._compact()
        if len(self.ends) > 1 and self._is_due("rewind", 0.03):
            page.tip = page.rng.choice(self.ends[-7:-1])
            page.shapes["rewind"] += 1
        self._begin()
        if self._is_due("retracted", 0.04):
            self._retract()
        self._work()
        self._conclude()
        self._end()

    def _begin(self) -> None:
        """Write the queue, the prompt, the snapshot and what hangs on the prompt."""
        page, rng = self.page, self.page.rng
        self.prompt, page.prompt_id, self.base = self.texts.sentence(rng), lines.uuid(rng), page.tip
        if rng.random() < 0.3:
            self._queue()
        uuid = page.prompt(self.prompt, pause=20_000 + int(rng.random() ** 4 * 3_600_000))
        self.begun = page.time
        page.sink.write(lines.snapshot(uuid, page.now(1), dict(list(self.files.items())[-8:])))
        page.shapes["prompt"] += 1
        if page.is_old:
            page.hook("UserPromptSubmit")
        elif rng.random() < 0.5:
            page.attach('{"type":"task_reminder","content":[],"itemCount":0}')

    def _queue(self) -> None:
        page, session = self.page, self.page.frame.session
        now = page.now(30)
        page.sink.write(lines.queue_operation("enqueue", now, session, self.prompt))
        page.sink.write(lines.queue_operation("dequeue", now, session))
        page.shapes["queue-operation"] += 1

    def _retract(self) -> None:
        """Take the prompt back before any answer came, and write it anew beside it."""
        self.page.tip = self.base
        self.prompt = self.texts.sentence(self.page.rng)
        self.page.prompt(self.prompt, pause=4_000)
        self.page.shapes["retracted"] += 1

    def _work(self) -> None:
        for _ in range(1 + int(self.page.rng.random() ** 2 * 14)):
            if self.left <= 0:
                break
            self._step()
        if self.spawn and self.left > 60_000 and self._is_due("agent", 0.08):
            self._delegate()

    def _end(self) -> None:
        """Write how long the turn took, and what the client notes behind it."""
        page, sink, session = self.page, self.page.sink, self.page.frame.session
        page.system("turn_duration", f'"durationMs":{page.time - self.begun}')
        self.ends.append(page.tip)
        if sink.kept is not None and sink.size < COPIED:
            self.marks.append(Mark(len(sink.kept), sink.size, page.tip))
        sink.write(lines.last_prompt(self.prompt, page.tip, session))
        if page.rng.random() < 0.05:
            title = self.texts.sentence(page.rng)
            sink.write(lines.state("custom-title", "customTitle", title, session))

    def _step(self) -> None:
        """Write a response with its calls, and their results in the order they come back."""
        page, rng = self.page, self.page.rng
        count = 2 + int(rng.random() * 3) if self._is_due("parallel", 0.2) else 1
        calls = [some_call(self.texts, rng, page.frame.cwd) for _ in range(count)]
        blocks = [lines.call_block(call.id, call.tool, call.given) for call in calls]
        places = page.respond(self._preface() + blocks, "tool_use")
        answered = list(zip(calls, places[-count:], strict=True))
        if count > 1:
            page.shapes["parallel"] += 1
            rng.shuffle(answered)
        for call, place in answered:
            size = 1_000 + int(rng.random() ** 4 * 29_000)
            found = outcome(call, self.texts, rng, min(size, max(600, self.left // 4)))
            if page.is_old and rng.random() < 0.6:
                page.tip = place
                page.hook(f"PostToolUse:{call.tool}", call.id)
            page.result(call.id, place, *found)
            if call.tool == "Edit":
                self.files[call.path] = self.files.get(call.path, 0) + 1
            if not page.is_old and rng.random() < 0.5:
                page.hook(f"PostToolUse:{call.tool}", call.id)

    def _preface(self) -> list[str]:
        """Return what a response says before it calls: thoughts, a sentence, or nothing."""
        rng, blocks = self.page.rng, []
        if rng.random() < 0.35:
            text = "" if rng.random() < 0.4 else self.texts.essay(rng, 200)
            blocks.append(lines.thinking_block(text, self.texts.signature(rng)))
            self.page.shapes["thinking"] += 1
        if rng.random() < 0.4:
            blocks.append(lines.text_block(self.texts.sentence(rng)))
        return blocks

    def _conclude(self) -> None:
        """Write what the model says at the end of a turn."""
        size = 200 + int(self.page.rng.random() ** 2 * 2_500)
        text = self.texts.essay(self.page.rng, min(size, max(200, self.left)))
        self.page.respond([lines.text_block(text)], "end_turn")

    def _delegate(self) -> None:
        """Send a sub-agent, whose file is written at once."""
        page, rng = self.page, self.page.rng
        call, label = lines.token(rng, "toolu_01"), self.texts.sentence(rng)
        prompt = self.texts.essay(rng, 300)
        given = f'{{"description":"{label}","prompt":"{prompt}","subagent_type":"Explore"}}'
        tool = "Task" if page.is_old else "Agent"
        places = page.respond([lines.call_block(call, tool, given)], "tool_use")
        agent = self.spawn(self, call, label, prompt) if self.spawn else ""
        text = f"{self.texts.essay(rng, 900)}\\nagentId: {agent}".encode()
        before = f'{{"status":"completed","prompt":"{prompt}","agentId":"{agent}","content":"'
        page.result(call, places[-1], text, before.encode(), text, b'"}')
        page.shapes["agent"] += 1

    def _compact(self) -> None:
        """Sum the session up: a new root, and a summary below it."""
        page, before = self.page, f'"logicalParentUuid":"{self.page.tip}",'
        tokens = page.context + page.fresh
        page.tip, page.context, page.fresh = "", 0, SYSTEM_TOKENS
        self.ends.clear()
        metadata = f'"compactMetadata":{{"trigger":"auto","preTokens":{tokens}}}'
        body = f'"content":"Conversation compacted","level":"info",{metadata}'
        page.system("compact_boundary", body, before)
        summary = self.texts.essay(page.rng, min(4_000, max(400, self.left // 4)))
        flags = ',"isVisibleInTranscriptOnly":true,"isCompactSummary":true'
        page.prompt(f"This session is being continued.\\n{summary}", flags)
        page.shapes["compaction"] += 1

    def _is_due(self, shape: str, chance: float) -> bool:
        """Return whether a shape is due: because it is wanted, else by chance."""
        if shape in self.wants:
            self.wants.discard(shape)
            return True
        return self.page.rng.random() < chance
