"""A session to its log, from its first line or from where the client would go on.

    with plait.SessionWriter.new(".claude", cwd="app") as session:
        session.prompt("What is in the README?")
        with session.response() as response:
            call = response.call("Read", {"file_path": "README.md"})
        session.result(call, "1\\t# App")
        session.answer("A title and nothing else.")
        session.turn_ended(duration_ms=5500)

A line is in the file when its verb returns. Several processes may write to one session: their
lines lie between each other, whole, and each goes on from its own last one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from plait.errors import UserError
from plait.line import lines as read_lines
from plait.line import stamp_of
from plait.record import Record, client_records
from plait.record.message import NO_RESPONSE
from plait.write import lines, queued
from plait.write.history import FileHistory
from plait.write.ids import Clock, Ids, now
from plait.write.model import Content, Fields, Past, Setting, wire_fields
from plait.write.order import NEWEST, VERSIONS, Version
from plait.write.place import branch_of, history_folder, session_file
from plait.write.prompts import words_of
from plait.write.state import StateLog

if TYPE_CHECKING:
    from plait.write.agents import AgentWriter

NOWHERE = "00000000-0000-0000-0000-000000000000"
CONTINUED = (
    "This session is being continued from a previous conversation that ran out of context. The"
    " summary below covers the earlier portion of the conversation.\n\n"
)


class SessionWriter(StateLog):
    """A session that is being written, line by line as it happens."""

    def __init__(
        self,
        path: Path,
        setting: Setting,
        ids: Ids,
        past: Past | None = None,
        *,
        has_snapshots: bool = True,
        is_settled: bool = False,
    ) -> None:
        if setting.version not in VERSIONS:
            raise UserError(f"lines of version '{setting.version}' are not written")
        standing = past.standing if past else None
        super().__init__(path, setting, ids, standing, is_settled=is_settled)
        folder = history_folder(path) if has_snapshots else None
        backups = past.backups if past else {}
        self._history = FileHistory(folder, setting, ids, backups) if folder else None
        self.has_snapshots = folder is not None
        self._past = past
        self.leading: list[Callable[[], None]] = []
        """Writes what stands before the next prompt."""
        self._told_leaf = self._resumed_tip = self.tip
        self._is_led_elsewhere = past is not None and past.is_led_elsewhere
        """Whether the client would go on elsewhere, unless it is told."""
        self._is_rewound = False

    @classmethod
    def new(
        cls,
        folder: str | Path,
        *,
        cwd: str | Path,
        session: str | None = None,
        version: Version = NEWEST,
        git_branch: str | None = None,
        slug: str | None = None,
        model: str | None = None,
        permission_mode: str | None = "default",
        entrypoint: str = "cli",
        has_snapshots: bool = True,
        is_settled: bool = False,
        clock: Clock = now,
        random: Random | None = None,
        uuid: Callable[[], str] | None = None,
    ) -> Self:
        """Begins a session of a working directory, in a configuration folder of the client.

        What is not told is made up or looked up: an id, a readable name (an empty one leaves it
        out), the branch of the directory. The file is there with the first line.
        """
        ids = Ids(random, clock, uuid)
        place = Path(cwd).resolve()
        name = session or ids.uuid()
        path = session_file(Path(folder), place, name)
        if stamp_of(path):
            raise UserError(f"there is a session '{name}' already", "`resume` goes on with it")
        setting = Setting(name, str(place), git_branch or branch_of(place) or "", version=version)
        if not setting.git_branch and version == NEWEST:
            setting.git_branch = "HEAD"
        setting.slug = ids.name() if slug is None else slug or None
        setting.model = model or setting.model
        setting.permission_mode, setting.entrypoint = permission_mode, entrypoint
        return cls(path, setting, ids, has_snapshots=has_snapshots, is_settled=is_settled)

    @classmethod
    def resume(
        cls,
        path: str | Path,
        *,
        cwd: str | Path | None = None,
        version: Version = NEWEST,
        git_branch: str | None = None,
        model: str | None = None,
        permission_mode: str | None = None,
        entrypoint: str = "cli",
        has_snapshots: bool = True,
        is_settled: bool = False,
        clock: Clock = now,
        random: Random | None = None,
        uuid: Callable[[], str] | None = None,
    ) -> Self:
        """Goes on with the session of a file, from the message that the client would choose."""
        from plait.write.resume import past_of

        log = Path(path)
        ids = Ids(random, clock, uuid)
        past = past_of(*_read(log))
        place = str(Path(cwd).resolve()) if cwd else past.cwd
        if place is None:
            raise UserError(f"'{log}' does not say its working directory", "`cwd` tells it")
        branch = git_branch or branch_of(Path(place)) or past.git_branch or ""
        setting = Setting(log.stem, place, branch, past.slug or ids.name(), version)
        setting.model = model or past.model or setting.model
        setting.permission_mode = permission_mode or past.permission_mode or "default"
        setting.entrypoint = entrypoint
        return cls(log, setting, ids, past, has_snapshots=has_snapshots, is_settled=is_settled)

    @classmethod
    def fork(
        cls, path: str | Path, folder: str | Path, *, session: str | None = None, **options: Any
    ) -> Self:
        """Begins a session with the messages of another, in the client's configuration folder.

        They are copied with the first message that is added; till then there is no file.
        Options are those of `resume`.
        """
        from plait.write.fork import forked_chain, forked_lines, names_in

        source = cls.resume(path, **options)
        name = session or source.ids.uuid()
        place = session_file(Path(folder), Path(source.setting.cwd), name)
        if stamp_of(place):
            raise UserError(f"there is a session '{name}' already", "a fork is a new one")
        setting = replace(source.setting, session=name, slug=source.ids.name())
        past = source._past and replace(source._past, backups={}, cost={})
        own = cls(place, setting, source.ids, past, is_settled=source.is_settled)
        if source._history is None:
            own._history, own.has_snapshots = None, False
        own._is_new = True
        records, size = _read(Path(path))
        names, chain = names_in(records, name), forked_chain(records, size)
        own.held = lambda: [*names, *forked_lines(chain, name, own.prompt_id)]
        return own

    def announce(self) -> None:
        """Gives the next prompt its id, for whoever is told of it before it is logged."""
        self.prompt_id, self._is_announced = self.ids.uuid(), True

    def _before_prompt(self, uuid: str) -> None:
        if self._past and self.tip == self._resumed_tip:
            self._close_past(self._past)
        if self._history:
            self.append(self._history.at_prompt(uuid))
        while self.leading:
            self.leading.pop(0)()

    def _close_past(self, past: Past) -> None:
        """Writes what the client makes up before it goes on with what was cut off."""
        from plait.graph.client.speech import INTERRUPTED

        denial = {} if self.setting.is_older else {"tool_denial_kind": "interrupted"}
        for call in dict.fromkeys(past.cut_off):  # format: an id may stand twice
            if call in self._standing.calls:
                self.result(call, INTERRUPTED, INTERRUPTED, is_error=True, **denial)
        if past.needs_answer:
            self._synthetic(NO_RESPONSE, {"isApiErrorMessage": False, "madeBy": "other"})

    def _after_prompt(self) -> None:
        if self._is_led_elsewhere:
            self.append(lines.last_prompt(self.session, NOWHERE, is_explicit=True))
        self._is_led_elsewhere = self._is_rewound = False

    def before_change(self, path: str | Path, call: str | None = None) -> None:
        """Keeps a file that a call is about to change, once for each prompt."""
        prompt, message = self._standing.prompt, self._standing.calls.get(call or "", self.tip)
        if self._history and prompt and message:
            line = self._history.before_change(Path(path), message, prompt)
            if line:
                self.append(line)

    def rewind(self, to: str | None, *, is_kept: bool = False) -> None:
        """Goes back to a message of this conversation, None for its beginning.

        Nothing is written yet: the next message shows it, or (`is_kept`) the end.
        """
        self._needs_no_response()
        if to not in self._standing.positions:
            raise UserError(f"no message '{to}' leads to where this session stands")
        self._standing.tip = to
        self._standing.calls.clear()
        self._is_led_elsewhere = not self.setting.is_older
        self._is_rewound = is_kept

    def compact(
        self,
        summary: str,
        *,
        trigger: Literal["auto", "manual"] = "auto",
        pre_tokens: int = 0,
        preserved: Sequence[str] = (),
        **metadata: Any,
    ) -> str:
        """Writes that a summary stands for what was said, but for messages that are preserved.

        They are named in order, the last of them last. Returns the message of the summary.
        """
        if preserved and self.setting.is_older:
            raise UserError(f"version '{self.setting.version}' preserves no messages")
        if unknown := [uuid for uuid in preserved if uuid not in self._standing.positions]:
            raise UserError(f"no message '{unknown[0]}' leads to where this session stands")
        anchor = self.ids.uuid()
        told = {"trigger": trigger, "preTokens": pre_tokens, **wire_fields(metadata)}
        fields: Fields = {"isVisibleInTranscriptOnly": True, "isCompactSummary": True}
        if not self.setting.is_older:
            fields |= self._of_a_summary(trigger, preserved)
        is_noted = self.setting.is_older or (trigger == "manual" and self.is_unseen)
        told |= _preserved(preserved, anchor)
        boundary = self._boundary(summary, {"compactMetadata": told}, is_noted=is_noted)
        text = summary if summary.startswith(CONTINUED[:40]) else CONTINUED + summary
        self._standing.calls.clear()
        # format: as 2.1.29 is described, what follows a boundary has no parent either
        return self._user(text, fields, anchor, parent=None if self.setting.is_older else boundary)

    def _of_a_summary(self, trigger: str, preserved: Sequence[str]) -> Fields:
        """What a summary says of the turns that it stands for."""
        before = self._standing.positions[preserved[0]] if preserved else self._standing.position
        is_prompt = bool(preserved) and preserved[0] == self._standing.prompt
        told: Fields = {"turnPosition": self._turn_position(before.prompts - is_prompt)}
        if trigger == "manual":
            self.prompt_id = self.prompt_id if self._is_announced else self.ids.uuid()
            self._is_announced = False
        elif self._standing.prompt:
            told["turnOrigin"] = "sdk" if self.is_unseen else "human"
            told["summarizedTurnPromptUuids"] = [self._standing.prompt]
        return told | self._of_a_turn

    def _boundary(self, summary: str, told: Fields, *, is_noted: bool) -> str:
        """Writes where a compaction begins, as a note where the client does."""
        leaf = self.tip
        if self.setting.is_older and leaf:
            self.append(lines.summary(summary, leaf))
        told |= {"logicalParentUuid": leaf, **({"isMeta": False} if is_noted else {})}
        kind = "system" if is_noted else None
        return self._event("compact_boundary", told, kind, parent=None)

    def agent(
        self,
        call: str,
        *,
        kind: str = "general-purpose",
        description: str = "",
        agent: str | None = None,
        **meta: Any,
    ) -> "AgentWriter":
        """Begins the log of the agent that a call sends out."""
        from plait.write.agents import SUBAGENTS, Errand, sent_out

        own = self.path.with_suffix("") / SUBAGENTS
        folder = self.path.parent if self.setting.is_older else own
        return sent_out(self, folder, Errand(call, kind, description), agent, meta)

    def queued_prompt(self, content: Content, *, time: str | None = None) -> str:
        """Writes a prompt that waited in the queue and is told to the model within the turn.

        Both its line and what it says of itself bear the time when it was typed.
        """
        attachment, words = self._unqueued(content, queued.PROMPT, time), words_of(content)
        attachment["humanTurn"] = True
        stamp = attachment["timestamp"]
        return self.attachment(
            attachment, queued.prompt_told(words), role="system", timestamp=stamp
        )

    def queued_news(self, news: queued.News, *, time: str | None = None) -> str:
        """Writes what ended in the background, and is told to the model within the turn."""
        words, is_older = news.words, self.setting.is_older
        kind = queued.NEWS if is_older else queued.NEWS | news.fields
        attachment = self._unqueued(words, kind, time)
        attachment |= {} if is_older else news.late_fields
        used = [] if is_older or news.used_told is None else [news.used_told]
        told = [*used, queued.news_beside_words(words)]
        beside: Fields = {"rendered_in_human_turn": [{"content": text} for text in told]}
        return self.attachment(
            attachment,
            [*used, queued.news_told(words)],
            role="system",
            timestamp=attachment["timestamp"],
            **({} if is_older else beside),
        )

    def queued_message(self, words: str, *, time: str | None = None) -> str:
        """Writes what whoever sent out this agent told it within its turn."""
        kind = {"type": "queued_command", "prompt": words, "source_uuid": self.ids.uuid()}
        told = queued.message_told(words)
        stamp: Fields = {"timestamp": time} if time else {}
        return self.attachment(kind | queued.MESSAGE, told, role="system", **stamp)

    def _unqueued(self, content: Content, kind: Fields, time: str | None) -> Fields:
        """Writes that something left the queue; returns what its own line says."""
        command, delivery = self.ids.uuid(), self.ids.uuid()
        reason = {"reason": "absorbed_mid_turn", "command_uuid": command, "delivery_id": delivery}
        self.queue("remove", words_of(content), **({} if self.setting.is_older else reason))
        return {
            "type": "queued_command",
            "prompt": content,
            "source_uuid": command,
            "delivery_id": delivery,
            **kind,
            "timestamp": time or self.ids.time(),
        }

    @property
    def cost_before(self) -> Mapping[str, Any]:
        """What the session said that it cost, when it was gone on with."""
        return self._past.cost if self._past else {}

    def last_prompt(self) -> None:
        """Writes where the session goes on, as the client does when a turn is over."""
        is_back, words = self._is_rewound, self._standing.words
        if (self.tip or is_back) and not self.setting.is_older:
            told = None if is_back else words
            self.append(lines.last_prompt(self.session, self.tip, told, is_explicit=is_back))
        self._told_leaf = self.tip

    def close(self) -> None:
        """Writes where the session goes on, unless that was said."""
        if self._response:
            self._response.break_off()
        if self.tip != self._told_leaf:
            self.last_prompt()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _read(log: Path) -> tuple[list[Record], int]:
    """Returns what the client reads of a file, and how many bytes it has."""
    stamp = stamp_of(log)
    return list(client_records(read_lines(log))), stamp.size if stamp else 0


def _preserved(uuids: Sequence[str], anchor: str) -> Fields:
    if not uuids:
        return {}
    ends = {"headUuid": uuids[0], "anchorUuid": anchor, "tailUuid": uuids[-1]}
    named = {"anchorUuid": anchor, "uuids": [*uuids], "allUuids": [*uuids]}
    return {"preservedSegment": ends, "preservedMessages": named}
