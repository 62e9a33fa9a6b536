"""Write records as lines of one file, with parents, times and usage."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import BinaryIO

from bench import lines
from bench.lines import Frame

DAY = 86_400_000  # milliseconds
COPIED = 400_000  # bytes of a session that are kept for a copy in another file
SYSTEM_TOKENS = 14_000


@dataclass(slots=True)
class Sink:
    """A file that is written, its size, and its first lines where a copy will need them."""

    handle: BinaryIO
    size: int = 0
    kept: list[bytes] | None = None

    def write(self, text: str) -> None:
        """Write lines."""
        self.write_bytes(text.encode())

    def write_bytes(self, data: bytes) -> None:
        """Write lines that are encoded already."""
        if self.kept is not None and self.size < COPIED:
            self.kept.append(data)
        self.handle.write(data)
        self.size += len(data)


@dataclass(slots=True)
class Page:
    """One file while records are written to it; each hangs on the tip and becomes the tip."""

    frame: Frame
    rng: Random
    sink: Sink
    shapes: Counter[str]
    time: int
    tip: str = ""
    prompt_id: str = ""
    context: int = 0
    fresh: int = SYSTEM_TOKENS
    is_old: bool = False
    _edges: tuple[str, str] = ("", "")
    _day: tuple[int, str] = field(default=(-1, ""))

    def __post_init__(self) -> None:
        self._edges = self.frame.edges()
        self.is_old = self.frame.is_old

    def prompt(self, text: str, flags: str = "", pause: int = 20) -> str:
        """Write a user's text and return its uuid."""
        self.fresh += len(text) // 4
        message = f'{{"role":"user","content":"{text}"}}'
        return self.record(
            f'{self._prompt_id()}"type":"user","message":{message}{flags}', "", pause
        )

    def respond(self, blocks: list[str], stop: str) -> list[str]:
        """Write a response, one block a line, and return the uuids of the lines."""
        id_, request = lines.token(self.rng, "msg_01"), lines.token(self.rng, "req_011C")
        output = 20 + sum(map(len, blocks)) // 4
        places = []
        for index, block in enumerate(blocks):
            is_known = not self.is_old or index == len(blocks) - 1
            rendered = output if is_known else 3
            figures = lines.usage(self.fresh, self.context, rendered, is_old=self.is_old)
            reason = f'"{stop}"' if is_known else "null"
            message = lines.message(self.frame.model, id_, block, reason, figures)
            body = f'"message":{message},"requestId":"{request}","type":"assistant"'
            places.append(self.record(body, pause=1_500 if index == 0 else 40))
        self.context += self.fresh + output
        self.fresh = 0
        self.shapes["response"] += 1
        return places

    def result(self, call: str, place: str, shown: bytes, *detail: bytes) -> None:
        """Write the result of a call below its line; `detail` is its toolUseResult, in pieces."""
        self.tip = place
        block = f'{{"tool_use_id":"{call}","type":"tool_result","content":"'
        body = f'{self._prompt_id()}"type":"user","message":{{"role":"user","content":[{block}'
        before, behind = self._around(body, pause=300)
        # format: the results of sub-agents have no toolUseResult
        own = (b',"toolUseResult":', *detail) if not self.frame.agent else ()
        source = f',"sourceToolAssistantUUID":"{place}"{self._edges[1]}'
        pieces = (before.encode(), shown, b'"}]}', behind.encode(), *own, source.encode())
        self.sink.write_bytes(b"".join(pieces))
        self.fresh += len(shown) // 4
        self.shapes["result"] += 1

    def hook(self, name: str, call: str = "") -> None:
        """Write that a hook ran: as progress in old sessions, as an attachment in newer ones."""
        event = name.partition(":")[0]
        about = call or lines.uuid(self.rng)
        if self.is_old:
            hook = f'"hookEvent":"{event}","hookName":"{name}","command":"callback"'
            ids = f'"parentToolUseID":"{about}","toolUseID":"{about}"'
            self.record(f'"type":"progress","data":{{"type":"hook_progress",{hook}}},{ids}')
            self.shapes["progress"] += 1
            return
        self.attach(
            f'{{"type":"hook_success","hookName":"{name}","toolUseID":"{about}",'
            f'"hookEvent":"{event}","content":"","stdout":"","stderr":"","exitCode":0,'
            '"command":"./scripts/lint.sh","durationMs":31}'
        )

    def attach(self, attachment: str) -> None:
        """Write an attachment."""
        self.record(f'"attachment":{attachment},"type":"attachment"')
        self.shapes["attachment"] += 1

    def system(self, subtype: str, body: str, before: str = "") -> None:
        """Write a system record."""
        self.record(f'{before}"type":"system","subtype":"{subtype}",{body}', ',"isMeta":false')

    def record(self, body: str, behind: str = "", pause: int = 20) -> str:
        """Write a record and return its uuid."""
        before, after = self._around(body, pause)
        self.sink.write(f"{before}{after}{behind}{self._edges[1]}")
        return self.tip

    def now(self, pause: int) -> str:
        """Let some time pass and return the moment it is then."""
        self.time += pause + int(self.rng.random() * pause)
        day, rest = divmod(self.time, DAY)
        if day != self._day[0]:
            self._day = (day, f"{datetime.fromtimestamp(day * 86_400, UTC):%Y-%m-%d}")
        second = rest // 1000
        clock = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.{rest % 1000:03}"
        return f"{self._day[1]}T{clock}Z"

    def _prompt_id(self) -> str:
        return "" if self.is_old else f'"promptId":"{self.prompt_id}",'

    def _around(self, body: str, pause: int) -> tuple[str, str]:
        """Return a record up to the end of its body, and its place and time; it is the tip."""
        parent = f'"{self.tip}"' if self.tip else "null"
        self.tip = lines.uuid(self.rng)
        place = f',"uuid":"{self.tip}","timestamp":"{self.now(pause)}"'
        return f'{{"parentUuid":{parent}{self._edges[0]}{body}', place
