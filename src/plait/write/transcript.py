"""What happens in a conversation to lines at the end of its log, chained as the client does."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from plait.errors import UserError
from plait.line.append import append
from plait.record.codec import encode
from plait.write.events import event_fields
from plait.write.ids import Ids
from plait.write.model import Block, Content, Fields, Setting, Standing, wire_fields
from plait.write.order import ordered
from plait.write.prompts import in_short
from plait.write.response import Response, made_up_message, result_block

INTERRUPTED = "[Request interrupted by user]"
INTERRUPTED_AT_TOOLS = "[Request interrupted by user for tool use]"
REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it"
    " was a file edit, the new_string was NOT written to the file). STOP what you are doing and"
    " wait for the user to tell you how to proceed."
)


class Transcript:
    """A log to which messages are added as they happen, each on the one before."""

    def __init__(
        self,
        path: Path,
        setting: Setting,
        ids: Ids,
        standing: Standing | None = None,
        *,
        is_settled: bool = False,
    ) -> None:
        self.path = path
        self.setting = setting
        self.ids = ids
        self._standing = standing or Standing()
        self._is_new: bool | None = standing is None
        self.is_settled = is_settled
        self._response: Response | None = None
        self.prompt_id: str | None = None
        self.attribution: Fields = {}
        """What answers say of the skill or the server that they come of."""
        self.on_line: Callable[[bytes], None] | None = None
        """Told of every line that is in the log."""
        self.held: Callable[[], list[bytes]] | None = None
        """Gives the lines that go before the first message."""
        self._is_announced = False

    @property
    def session(self) -> str:
        """The id of the session."""
        return self.setting.session

    @property
    def tip(self) -> str | None:
        """The message that the next one follows."""
        return self._standing.tip

    @property
    def is_unseen(self) -> bool:
        """Whether nobody sits at a terminal."""
        return self.setting.entrypoint != "cli"

    @property
    def last_response(self) -> str | None:
        """The id of the last response."""
        return self._standing.response

    @property
    def waiting_calls(self) -> tuple[str, ...]:
        """The calls that no result has answered."""
        return tuple(self._standing.calls)

    def prompt(
        self,
        content: Content,
        *,
        is_beside: bool = False,
        companion: str | None = None,
        uuid: str | None = None,
        **fields: Any,
    ) -> str:
        """Writes what a person asked and returns its message, `uuid` where that is given.

        What waited and is asked together is one turn: all but the first stand beside it. What
        the client has to say of it (`companion`) stands before it.
        """
        self._needs_no_response()
        if not (self.setting.agent or self._is_announced):
            self.prompt_id = self.ids.uuid()
        self._is_announced = False
        uuid = uuid or self.ids.uuid()
        self._before_prompt(uuid)
        if companion:
            self.note(companion, queue_skip_attachments=True)
        count = self._standing.position.prompts + (not is_beside)
        told = self._of_a_prompt(count) | wire_fields(fields)
        self._user(content, {name: x for name, x in told.items() if x is not None}, uuid)
        position = self._standing.position
        self._standing.positions[uuid] = position._replace(prompts=count)
        self._standing.prompt = uuid
        self._standing.words = in_short(content)
        self._after_prompt()
        return uuid

    def _before_prompt(self, uuid: str) -> None:
        """Has what stands before a prompt written."""

    def _after_prompt(self) -> None:
        """Has what stands behind a prompt written."""

    def _of_a_prompt(self, count: int) -> Fields:
        setting = self.setting
        if setting.agent:
            return {}
        mode = {"permissionMode": setting.permission_mode} if setting.permission_mode else {}
        if setting.is_older:
            return {"isMeta": False, **mode}
        is_typed = setting.entrypoint == "cli"
        return {
            **mode,
            **({"origin": {"kind": "human"}} if is_typed else {}),
            "promptSource": "typed" if is_typed else "sdk",
            "turnOrigin": "human" if is_typed else "sdk",
            "turnPosition": self._turn_position(count),
        }

    def _turn_position(self, prompts: int) -> Fields:
        is_typed = self.setting.entrypoint == "cli"
        return {"promptIndex": prompts if is_typed else 0, "turnIndex": prompts}

    def expansion(self, content: Content, *, call: str | None = None, **fields: Any) -> str:
        """Writes what a command or a skill makes of a prompt, or what else the client adds."""
        blocks: Content = (
            [{"type": "text", "text": content}] if isinstance(content, str) else content
        )
        source = {"sourceToolUseID": call} if call else {}
        return self._user(blocks, {"isMeta": True} | source | wire_fields(fields))

    def note(self, text: str, *, is_companion: bool = True, **fields: Any) -> str:
        """Writes what the client tells the model within a turn, in the person's place."""
        companion = self.companion if is_companion else {}
        return self._user(text, {"isMeta": True} | wire_fields(companion | fields))

    @property
    def companion(self) -> Fields:
        """What words of the client say that stand in a turn, by names in Python."""
        return {} if self.setting.is_older else {"turn_companion": True}

    def response(
        self,
        *,
        message: str | None = None,
        request: str | None = None,
        model: str | None = None,
        usage: Mapping[str, Any] | None = None,
    ) -> Response:
        """Begins a response; what else is chained waits until it has ended."""
        self._needs_no_response()
        self._response = Response(
            self,
            message or self.ids.message(),
            request or self.ids.request(),
            model or self.setting.model,
            usage,
        )
        return self._response

    def answer(
        self,
        *blocks: Block | str,
        stop_reason: str | None = None,
        usage: Mapping[str, Any] | None = None,
        **named: Any,
    ) -> Response:
        """Writes a response that is there as a whole: blocks, words alone as they are."""
        with self.response(usage=usage, **named) as response:
            for block in blocks:
                response.add({"type": "text", "text": block} if isinstance(block, str) else block)
            response.end(stop_reason)
        return response

    def answered(self, message: str, calls: Mapping[str, str]) -> None:
        """Takes note of a response that has ended."""
        self._response = None
        self._standing.response = message
        self._standing.calls |= calls

    def discarded(self, tip: str | None) -> None:
        """Goes back to where a response began that failed."""
        self._response = None
        self._standing.tip = tip

    def recover(self) -> None:
        """Drops a response that could not be written to its end: what follows stands before it."""
        if self._response:
            self._response.discard()

    def result(
        self,
        call: str,
        content: str | Sequence[Block],
        output: Any = None,
        *,
        is_error: bool | None = None,
        **fields: Any,
    ) -> str:
        """Writes what became of a call: what the model is told, and what the client shows.

        2.1.325 puts it under its own call, 2.1.29 behind whatever came last.
        """
        source = self._standing.calls.get(call)
        if source is None:
            raise UserError(f"no call '{call}' waits for a result")
        if output is None and is_error and isinstance(content, str):
            output = f"Error: {content}"
        told = {"toolUseResult": output} if output is not None else {}
        older = {"isMeta": False} if self.setting.is_older else self._of_a_turn
        uuid = self._user(
            [result_block(call, content, is_error)],
            {**older, **told, "sourceToolAssistantUUID": source, **wire_fields(fields)},
            parent=self.tip if self.setting.is_older else source,
        )
        del self._standing.calls[call]
        return uuid

    def interrupt(self, *, is_at_tools: bool = False) -> str:
        """Writes that the person stopped the response or its calls, which are then rejected.

        Where they refused a call (`is_at_tools`), no response was cut off that could be named.
        """
        if self._response:
            self._response.break_off()
        text = INTERRUPTED_AT_TOOLS if is_at_tools or self._standing.calls else INTERRUPTED
        denial = {} if self.setting.is_older else {"tool_denial_kind": "user-rejected"}
        for call in self.waiting_calls:
            self.result(call, REJECTED, "User rejected tool use", is_error=True, **denial)
        fields: Fields = {} if self.setting.is_older else self._of_a_turn
        is_typed = self.setting.entrypoint == "cli" and not self.setting.is_older
        if self._standing.response and is_typed and not is_at_tools:
            fields["interruptedMessageId"] = self._standing.response
        return self._user([{"type": "text", "text": text}], fields)

    def attachment(
        self,
        attachment: Mapping[str, Any],
        rendered: str | Sequence[str] | None = None,
        *,
        role: Literal["user", "system"] = "user",
        is_of_turn: bool = False,
        **fields: Any,
    ) -> str:
        """Writes something that goes along: a file, what a hook said, a reminder.

        What the model is told of it stands in `rendered`; without it, nothing. What a turn brings
        about (`is_of_turn`) says so, what goes along with a prompt does not.
        """
        told: Fields = {"type": "attachment", "attachment": {**attachment}}
        if rendered is not None:
            texts = [rendered] if isinstance(rendered, str) else rendered
            told |= {"rendered": [{"content": text} for text in texts], "renderedRole": role}
        is_prompt = attachment.get("commandMode") == "prompt"
        if is_of_turn or (attachment.get("type") == "queued_command" and is_prompt):
            told |= self._of_a_turn
        return self._chained("attachment", told | wire_fields(fields))

    def system(self, subtype: str, **fields: Any) -> str:
        """Writes an event of the client, by the names of its fields in Python."""
        if subtype == "compact_boundary":
            raise UserError("a boundary is written by `compact`")
        return self._event(subtype, wire_fields(fields))

    def _event(self, subtype: str, told: Fields, kind: str | None = None, **link: Any) -> str:
        told = self._defaults(subtype) | told
        fields = event_fields(subtype, told, is_older=self.setting.is_older)
        head = {"type": "system", "subtype": subtype}
        return self._chained(kind or f"system/{subtype}", head | fields, **link)

    def _defaults(self, subtype: str) -> Fields:
        """What an event says of this conversation unless it is told otherwise."""
        match subtype:
            case "stop_hook_summary":
                return {"toolUseID": self.ids.uuid()}
            case "model_refusal_no_fallback":
                return {"refusedUserMessageUuid": self._standing.prompt}
        return {}

    def turn_ended(self, duration_ms: int, *, agents: int = 0) -> str:
        """Writes how long a turn took, once it is over, and how many agents work on."""
        told: Fields = {"message_count": self._standing.position.messages}
        if agents and not self.setting.is_older:
            told["pending_background_agent_count"] = agents
        return self.system("turn_duration", duration_ms=duration_ms, **told)

    def api_error(
        self,
        text: str,
        *,
        error: str = "unknown",
        request: str | None = None,
        stop_reason: str = "stop_sequence",
        **fields: Any,
    ) -> str:
        """Writes what the person is told when the API does not answer; the model is not."""
        told = {"error": error, "isApiErrorMessage": True, **wire_fields(fields)}
        told["requestId"] = request or self.ids.request()
        return self._synthetic(text, told, stop_reason)

    def _synthetic(self, text: str, fields: Fields, stop_reason: str = "stop_sequence") -> str:
        """Writes words of the client in the model's place."""
        is_older = self.setting.is_older
        message = made_up_message(self.ids.uuid(), text, stop_reason, is_older=is_older)
        told: Fields = {"type": "assistant", "message": message}
        if is_older:
            told["requestId"] = self.ids.request()  # format: required, as it is described
        return self._chained("api error", told | fields)

    def progress(
        self, data: Mapping[str, Any], *, call: str | None = None, label: str | None = None
    ) -> str | None:
        """Writes how far a call has come, beside the chain; 2.1.325 writes nothing of it."""
        if not self.setting.is_older:
            return None
        named = {"toolUseID": label or call, "parentToolUseID": call}
        told = {"type": "progress", "data": {**data}}
        told |= {name: value for name, value in named.items() if value is not None}
        return self._chained("progress", told, is_tip=False)

    @property
    def _of_a_turn(self) -> Fields:
        """What messages say that a turn brings about, where somebody sits at the terminal."""
        setting = self.setting
        is_told = not (setting.is_older or setting.agent) and setting.entrypoint == "cli"
        return {"session_id": setting.first or setting.session} if is_told else {}

    def _of_a_response(self) -> Fields:
        """What lines of the model say beyond."""
        return self.attribution

    def _user(self, content: Content, fields: Fields, uuid: str | None = None, **link: Any) -> str:
        told: Fields = {"type": "user", "message": {"role": "user", "content": content}}
        if self.prompt_id and not self.setting.is_older:
            told["promptId"] = self.prompt_id
        return self._chained("user", told | fields, uuid, **link)

    def _chained(
        self,
        kind: str,
        fields: Fields,
        uuid: str | None = None,
        *,
        is_tip: bool = True,
        **link: Any,
    ) -> str:
        self._needs_no_response()
        entry = self.stamped(link.get("parent", self.tip), uuid) | fields
        self.written(kind, entry, is_tip=is_tip)
        return str(entry["uuid"])

    def _needs_no_response(self) -> None:
        if self._response:
            raise UserError(f"the response '{self._response.id}' has not ended")

    def stamped(self, parent: str | None, uuid: str | None = None) -> Fields:
        """Returns what every message begins with: its id, its time, what it follows, where."""
        return {
            "parentUuid": parent,
            "uuid": uuid or self.ids.uuid(),
            "timestamp": self.ids.time(),
            **self.setting.fields,
        }

    def written(self, kind: str, entry: Fields, *, is_tip: bool = True) -> None:
        """Appends a message; the next one follows it."""
        held, self.held = self.held, None
        for line in held() if held else ():
            self.append(line)
        if kind in ("assistant", "api error") and not self.setting.is_older:
            own = self._of_a_response() if kind == "assistant" else {}
            entry = {"madeBy": "model", **self._of_a_turn, **own, **entry}
        self.append(encode(ordered(kind, entry, self.setting.version)))
        if is_tip:
            self._moved_to(entry["uuid"])

    def _moved_to(self, uuid: str) -> None:
        position = self._standing.position
        self._standing.positions[uuid] = position._replace(messages=position.messages + 1)
        self._standing.tip = uuid

    def append(self, line: bytes) -> None:
        """Adds a line to the log as it is."""
        append(self.path, line, is_new=self._is_new, is_settled=self.is_settled)
        self._is_new = None
        if self.on_line:
            self.on_line(line)
