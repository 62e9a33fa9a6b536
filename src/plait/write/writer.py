r"""Writing a session, from its first line or from where the client would continue it.

    with plait.SessionWriter.new(".claude", cwd="app") as session:
        session.prompt("What is in the README?")
        with session.response() as response:
            call = response.call("Read", {"file_path": "README.md"})
        session.result(call, "1\\\\t# App")
        session.answer("A title and nothing else.")
        session.turn_ended(duration_ms=5500)

A line is in the file when its method returns. Several processes may write to one session: their
lines are interleaved but complete, and each continues from its own last one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from os.path import normpath
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, Literal, Self

from plait.errors import SourceError, UserError
from plait.graph.client.messages import (
    INTERRUPTED,
    NOTIFIED,
    TYPED_MEANWHILE,
    wrap_reminder,
)
from plait.line import iter_lines as read_lines
from plait.line import read_file_stamp, read_small
from plait.line.discovery import find_history_folder, get_session_file, read_git_branch
from plait.line.output import OutputFolder
from plait.record import Record, iter_client_records
from plait.record.codec import encode
from plait.record.message import NO_RESPONSE
from plait.write import lines, transcript
from plait.write.lines import (
    NEWEST,
    VERSIONS,
    Block,
    Clock,
    Content,
    Fields,
    IdSource,
    MessageContext,
    ResumedSession,
    Version,
    get_prompt_text,
    make_file_delta_line,
    make_snapshot_line,
    utc_now,
    wire_fields,
)
from plait.write.transcript import Transcript

MAX_ATTEMPTS = 5
"""Attempts to write a backup while another process writes the same."""


class FileHistory:
    """The contents of a session's files when its prompts were sent."""

    def __init__(
        self,
        folder: Path,
        setting: MessageContext,
        ids: IdSource,
        backups: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self._folder = folder
        self._setting = setting
        self._ids = ids
        self._root = Path(setting.cwd)
        self._backups: dict[str, Any] = {
            name: {**backup} for name, backup in (backups or {}).items()
        }
        self._fresh: set[str] = set()
        """Files whose backups belong to the last prompt."""

    def at_prompt(self, prompt: str) -> bytes:
        """Return the snapshot line of a prompt, after backing up files that have changed since."""
        for name in self._backups:
            self._back_up_if_changed(name)
        self._fresh = set(self._backups)
        return make_snapshot_line(prompt, self._backups, self._ids.time())

    def before_change(self, path: Path, message: str, prompt: str) -> bytes | None:
        """Return the line for a file that a call is about to change; None if it is backed up
        already.
        """
        full_path = Path(normpath(self._root / path))
        inside = full_path.is_relative_to(self._root)
        name = str(full_path.relative_to(self._root) if inside else full_path)
        if name in self._fresh:
            return None
        self._back_up_if_changed(name)
        self._fresh.add(name)
        if self._setting.is_older:
            return make_snapshot_line(prompt, self._backups, self._ids.time(), update_of=message)
        return make_file_delta_line(message, prompt, name, self._backups[name], self._ids.time())

    def _back_up_if_changed(self, name: str) -> None:
        """Back up a file if its content differs from the last backup."""
        path = self._root / name
        data = read_small(path)
        if self._setting.is_older:
            self._backups[name] = None if data is None else data.decode(errors="replace")
        else:
            last = self._backups.get(name, {})
            copy = last.get("backupFileName")
            kept = read_small(self._folder / copy) if copy else None
            if name not in self._backups or data != kept:
                self._backups[name] = self._make_backup(path, data, int(last.get("version", 0)) + 1)

    def _store_backup(self, copy: str, data: bytes) -> bool:
        """Store data under a name unless it is taken; return whether the stored data is equal."""
        place, failure = self._folder / copy, None
        for _ in range(MAX_ATTEMPTS):
            if (there := read_small(place)) is not None:
                return there == data
            try:
                OutputFolder(self._folder).write(copy, data)
            except SourceError as error:  # another process may have removed the draft
                failure = error
        if failure and read_small(place) is None:
            raise failure
        return read_small(place) == data

    def _make_backup(self, path: Path, data: bytes | None, version: int) -> Fields:
        name = sha256(str(path).encode()).hexdigest()[:16]
        while data is not None and not self._store_backup(f"{name}@v{version}", data):
            version += 1  # another process of the session has stored something else under that name
        copy = f"{name}@v{version}"
        return {
            "backupFileName": None if data is None else copy,
            "version": version,
            "backupTime": self._ids.time(),
            "realParentDir": str(path.parent.resolve()),
        }


NO_MESSAGE = "00000000-0000-0000-0000-000000000000"
CONTINUED = (
    "This session is being continued from a previous conversation that ran out of context. The"
    " summary below covers the earlier portion of the conversation.\n\n"
)


class SessionWriter(Transcript):
    """A session that is being written, line by line as things happen."""

    def __init__(
        self,
        path: Path,
        setting: MessageContext,
        ids: IdSource,
        past: ResumedSession | None = None,
        *,
        has_snapshots: bool = True,
        is_settled: bool = False,
    ) -> None:
        if setting.version not in VERSIONS:
            raise UserError(f"unsupported log version '{setting.version}'")
        state = past.state if past else None
        super().__init__(path, setting, ids, state, is_settled=is_settled)
        folder = find_history_folder(path) if has_snapshots else None
        backups = past.backups if past else {}
        self._history = FileHistory(folder, setting, ids, backups) if folder else None
        self.has_snapshots = folder is not None
        self._past = past
        self.leading: list[Callable[[], None]] = []
        """Writes what comes before the next prompt."""
        self._written_leaf = self._resumed_tip = self.tip
        self._is_led_elsewhere = past is not None and past.is_led_elsewhere
        """Whether the client would resume elsewhere without a pointer."""
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
        clock: Clock = utc_now,
        random: Random | None = None,
        uuid: Callable[[], str] | None = None,
    ) -> Self:
        """Begin a session in a working directory, in a configuration folder of the client.

        Missing values are generated or looked up: an id, a readable name (an empty one leaves it
        out), the branch of the directory. The file is created with the first line.
        """
        ids = IdSource(random, clock, uuid)
        place = Path(cwd).resolve()
        name = session or ids.uuid()
        path = get_session_file(Path(folder), place, name)
        if read_file_stamp(path):
            raise UserError(f"session '{name}' already exists", "`resume` continues it")
        setting = MessageContext(
            name, str(place), git_branch or read_git_branch(place) or "", version=version
        )
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
        clock: Clock = utc_now,
        random: Random | None = None,
        uuid: Callable[[], str] | None = None,
    ) -> Self:
        """Resume the session in a file, from the message that the client would choose."""
        from plait.write.resume import read_resumed_session

        log = Path(path)
        ids = IdSource(random, clock, uuid)
        past = read_resumed_session(*_read_log(log))
        place = str(Path(cwd).resolve()) if cwd else past.cwd
        if place is None:
            raise UserError(f"'{log}' does not name a working directory", "pass `cwd`")
        branch = git_branch or read_git_branch(Path(place)) or past.git_branch or ""
        setting = MessageContext(log.stem, place, branch, past.slug or ids.name(), version)
        setting.model = model or past.model or setting.model
        setting.permission_mode = permission_mode or past.permission_mode or "default"
        setting.entrypoint = entrypoint
        return cls(log, setting, ids, past, has_snapshots=has_snapshots, is_settled=is_settled)

    @classmethod
    def fork(
        cls, path: str | Path, folder: str | Path, *, session: str | None = None, **options: Any
    ) -> Self:
        """Begin a session with the messages of another, in the client's configuration folder.

        They are copied when the first message is added; until then there is no file. Options are
        those of `resume`.
        """
        from plait.write.resume import iter_forked_lines, list_name_lines, select_forked_chain

        source = cls.resume(path, **options)
        name = session or source.ids.uuid()
        place = get_session_file(Path(folder), Path(source.setting.cwd), name)
        if read_file_stamp(place):
            raise UserError(f"session '{name}' already exists", "a fork needs a new id")
        setting = replace(source.setting, session=name, slug=source.ids.name())
        past = source._past and replace(source._past, backups={}, cost={})
        own = cls(place, setting, source.ids, past, is_settled=source.is_settled)
        if source._history is None:
            own._history, own.has_snapshots = None, False
        own._is_new = True
        records, size = _read_log(Path(path))
        names, chain = list_name_lines(records, name), select_forked_chain(records, size)
        own.held = lambda: [*names, *iter_forked_lines(chain, name, own.prompt_id)]
        return own

    def announce(self) -> None:
        """Return the id of the next prompt, for those who need it before it is logged."""
        self.prompt_id, self._is_announced = self.ids.uuid(), True

    def _before_prompt(self, uuid: str) -> None:
        if self._past and self.tip == self._resumed_tip:
            denial = {} if self.setting.is_older else {"tool_denial_kind": "interrupted"}
            for call in dict.fromkeys(self._past.cut_off):  # format: an id may occur twice
                if call in self._state.calls:
                    self.result(call, INTERRUPTED, INTERRUPTED, is_error=True, **denial)
            if self._past.needs_answer:
                self._synthetic(NO_RESPONSE, {"isApiErrorMessage": False, "madeBy": "other"})
        if self._history:
            self.append(self._history.at_prompt(uuid))
        while self.leading:
            self.leading.pop(0)()

    def _after_prompt(self) -> None:
        if self._is_led_elsewhere:
            self.append(lines.make_last_prompt_line(self.session, NO_MESSAGE, is_explicit=True))
        self._is_led_elsewhere = self._is_rewound = False

    def before_change(self, path: str | Path, call: str | None = None) -> None:
        """Back up a file that a call is about to change, once for each prompt."""
        prompt, message = self._state.prompt, self._state.calls.get(call or "", self.tip)
        if self._history and prompt and message:
            line = self._history.before_change(Path(path), message, prompt)
            if line:
                self.append(line)

    def rewind(self, to: str | None, *, is_kept: bool = False) -> None:
        """Go back to a message of this conversation, None for its beginning.

        Nothing is written yet: the next message shows it, or (`is_kept`) the end.
        """
        self._require_no_response()
        if to not in self._state.positions:
            raise UserError(f"there is no message '{to}' on the active branch")
        self._state.tip = to
        self._state.calls.clear()
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
        """Write that a summary replaces the conversation, except for preserved messages.

        They are given in order, the last of them last. Return the message of the summary.
        """
        if preserved and self.setting.is_older:
            raise UserError(f"log version '{self.setting.version}' cannot preserve messages")
        if unknown := [uuid for uuid in preserved if uuid not in self._state.positions]:
            raise UserError(f"there is no message '{unknown[0]}' on the active branch")
        anchor = self.ids.uuid()
        metadata_fields = {"trigger": trigger, "preTokens": pre_tokens, **wire_fields(metadata)}
        fields: Fields = {"isVisibleInTranscriptOnly": True, "isCompactSummary": True}
        if not self.setting.is_older:
            before = self._state.positions[preserved[0]] if preserved else self._state.position
            is_prompt = bool(preserved) and preserved[0] == self._state.prompt
            fields["turnPosition"] = self._turn_position(before.prompts - is_prompt)
            if trigger == "manual":
                self.prompt_id = self.prompt_id if self._is_announced else self.ids.uuid()
                self._is_announced = False
            elif self._state.prompt:
                fields["turnOrigin"] = "sdk" if self.is_unseen else "human"
                fields["summarizedTurnPromptUuids"] = [self._state.prompt]
            fields |= self._turn_fields
        is_noted = self.setting.is_older or (trigger == "manual" and self.is_unseen)
        if preserved:
            uuids = [*preserved]
            metadata_fields["preservedSegment"] = {
                "headUuid": uuids[0],
                "anchorUuid": anchor,
                "tailUuid": uuids[-1],
            }
            metadata_fields["preservedMessages"] = {
                "anchorUuid": anchor,
                "uuids": uuids,
                "allUuids": uuids,
            }
        leaf = self.tip
        if self.setting.is_older and leaf:
            self.append(lines.make_summary_line(summary, leaf))
        given: Fields = {"compactMetadata": metadata_fields, "logicalParentUuid": leaf}
        if is_noted:
            given["isMeta"] = False
        kind = "system" if is_noted else None
        boundary = self._event("compact_boundary", given, kind, parent=None)
        text = summary if summary.startswith(CONTINUED[:40]) else CONTINUED + summary
        self._state.calls.clear()
        # format: as described for 2.1.29, what follows a boundary has no parent either
        return self._user(text, fields, anchor, parent=None if self.setting.is_older else boundary)

    def agent(
        self,
        call: str,
        *,
        kind: str = "general-purpose",
        description: str = "",
        agent: str | None = None,
        **meta: Any,
    ) -> "AgentWriter":
        """Begin the log of the agent that a call starts."""
        if call not in self.waiting_calls:
            raise UserError(f"no tool call '{call}' is waiting for an agent")
        agent = agent or self.ids.agent(6 if self.setting.is_older else 16)
        task = self._make_agent_task(call, kind, description)
        writer = AgentWriter(self, self._agent_folder / f"agent-{agent}.jsonl", agent, task)
        writer.add_metadata(**meta)
        return writer

    @property
    def _agent_folder(self) -> Path:
        own = self.path.with_suffix("") / SUBAGENTS
        return self.path.parent if self.setting.is_older else own

    def _make_agent_task(self, call: str, kind: str, description: str) -> "AgentTask":
        return AgentTask(call, kind, description)

    def queued_prompt(self, content: Content, *, time: str | None = None) -> str:
        """Write a queued prompt that is sent to the model within the turn.

        Both its line and its own time have the moment it was typed.
        """
        attachment = self._log_dequeued(content, transcript.PROMPT, time)
        attachment["humanTurn"] = True
        text = wrap_reminder(TYPED_MEANWHILE.format(get_prompt_text(content)))
        stamp = attachment["timestamp"]
        return self.attachment(attachment, text, role="system", timestamp=stamp)

    def queued_news(self, news: transcript.TaskNotification, *, time: str | None = None) -> str:
        """Write a notification about something that ended in the background, sent within the turn."""
        words, is_older = news.words, self.setting.is_older
        kind = transcript.NEWS if is_older else transcript.NEWS | news.fields
        attachment = self._log_dequeued(words, kind, time)
        attachment |= {} if is_older else news.late_fields
        used = [] if is_older or news.tools_text is None else [news.tools_text]
        texts = [*used, wrap_reminder(transcript.NOTIFICATION_AFTER_PROMPT.format(words))]
        rendered: Fields = {"rendered_in_human_turn": [{"content": text} for text in texts]}
        return self.attachment(
            attachment,
            [*used, wrap_reminder(NOTIFIED.format(words))],
            role="system",
            timestamp=attachment["timestamp"],
            **({} if is_older else rendered),
        )

    def queued_message(self, words: str, *, time: str | None = None) -> str:
        """Write a message from this agent's parent, sent within its turn."""
        kind = {"type": "queued_command", "prompt": words, "source_uuid": self.ids.uuid()}
        text = wrap_reminder(transcript.FROM_SENDER.format(words))
        stamp: Fields = {"timestamp": time} if time else {}
        return self.attachment(kind | transcript.MESSAGE, text, role="system", **stamp)

    def _log_dequeued(self, content: Content, kind: Fields, time: str | None) -> Fields:
        """Write that something left the queue; return the fields of its own line."""
        command, delivery = self.ids.uuid(), self.ids.uuid()
        reason = {"reason": "absorbed_mid_turn", "command_uuid": command, "delivery_id": delivery}
        self.queue("remove", get_prompt_text(content), **({} if self.setting.is_older else reason))
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
        """The cost in the log when the session was resumed."""
        return self._past.cost if self._past else {}

    def last_prompt(self) -> None:
        """Write where the session resumes, as the client does at the end of a turn."""
        is_back, words = self._is_rewound, self._state.words
        if (self.tip or is_back) and not self.setting.is_older:
            words_or_none = None if is_back else words
            self.append(
                lines.make_last_prompt_line(
                    self.session, self.tip, words_or_none, is_explicit=is_back
                )
            )
        self._written_leaf = self.tip

    def close(self) -> None:
        """Write where the session resumes, unless that was written."""
        if self._response:
            self._response.break_off()
        if self.tip != self._written_leaf:
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


def _read_log(log: Path) -> tuple[list[Record], int]:
    """Return what the client reads of a file, and its size."""
    stamp = read_file_stamp(log)
    return list(iter_client_records(read_lines(log))), stamp.size if stamp else 0


# Agents have logs of their own:
#
#     2.1.325  <session>/subagents/agent-<a and 16 hex>.jsonl and .meta.json
#     2.1.29   agent-<7 hex>.jsonl beside the session


SUBAGENTS = "subagents"
METADATA_FIELDS = """
    agentType isBuiltIn launchedWithDefaults description toolUseId parentAgentId spawnDepth
    requestShape requestNonInteractive pickedEffortModel
""".split()
"""Fields of the metadata beside a log, in the client's order; others follow."""


@dataclass(frozen=True, slots=True)
class AgentTask:
    """The task of an agent."""

    call: str
    kind: str
    description: str
    depth: int = 1
    sender: str | None = None
    """The agent that started it; None if the session did."""

    @property
    def fields(self) -> Fields:
        """The metadata beside its log."""
        fields = {
            "agentType": self.kind,
            "description": self.description,
            "toolUseId": self.call,
            "parentAgentId": self.sender,
            "spawnDepth": self.depth,
        }
        return {name: value for name, value in fields.items() if value is not None}


class AgentWriter(SessionWriter):
    """The log of an agent: a conversation of its own, in the session that started it.

    Lines about the whole session go to the session's log.
    """

    def __init__(self, sender: SessionWriter, log: Path, agent: str, task: AgentTask) -> None:
        setting = replace(sender.setting, agent=agent)
        super().__init__(
            log, setting, sender.ids, has_snapshots=False, is_settled=sender.is_settled
        )
        self.task = task
        self.sender = sender
        self._metadata = task.fields
        self.prompt_id = sender.prompt_id

    @property
    def id(self) -> str:
        """The id of the agent."""
        return self.setting.agent or ""

    def say(self, line: bytes) -> None:
        """Append a line about the whole session."""
        self.sender.say(line)

    def before_change(self, path: str | Path, call: str | None = None) -> None:
        """Back up a file that a call is about to change, for the prompt of the session."""
        self.sender.before_change(path)

    def result(
        self,
        call: str,
        content: str | Sequence[Block],
        output: Any = None,
        *,
        is_error: bool | None = None,
        **fields: Any,
    ) -> str:
        """Write the result of a call; 2.1.325 leaves out the client's own view."""
        kept = output if self.setting.is_older or isinstance(output, str) else None
        return super().result(call, content, kept, is_error=is_error, **fields)

    def add_metadata(self, **fields: Any) -> None:
        """Add to the metadata beside the log; the older version has none."""
        if self.setting.is_older:
            return
        self._metadata |= wire_fields(fields)
        names = (
            *METADATA_FIELDS,
            *(name for name in self._metadata if name not in METADATA_FIELDS),
        )
        fields = {name: self._metadata[name] for name in names if name in self._metadata}
        OutputFolder(self.path.parent).write(f"{self.path.stem}.meta.json", encode(fields))

    def last_prompt(self) -> None:
        """Write nothing: agents are not resumed by a line of their log."""

    def _response_fields(self) -> Fields:
        return {"attributionAgent": self.task.kind}

    @property
    def _agent_folder(self) -> Path:
        return self.path.parent

    def _make_agent_task(self, call: str, kind: str, description: str) -> AgentTask:
        return AgentTask(call, kind, description, self.task.depth + 1, self.id)
