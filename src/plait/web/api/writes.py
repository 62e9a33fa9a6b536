"""Requests that change something to their answers: sent on purpose, by POST alone.

A page of others can send no such request: its origin is refused, the cookie is not sent with it,
and no form can set the header that says it is meant.
"""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Struct
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plait.errors import UserError
from plait.view.edits import EditEntry
from plait.web.answers import SessionRequest, json, library_in
from plait.web.api import edit_model, edits, keeping, marks

HEADER = "plait-edit"
MEANT = "yes"
MOST = 16_384
"""Bytes that a request to change something may have."""


@dataclass(frozen=True)
class WriteEntry:
    """One address at which something is changed."""

    path: str
    summary: str
    asked: type[Struct]
    answer: type[Struct]
    answers: Callable[[Request, Any], Struct]

    @property
    def name(self) -> str:
        """What it is called in the document."""
        parts = [part for part in self.path.split("/") if part and not part.startswith("{")]
        return "_".join(["write", *parts])

    @property
    def parameters(self) -> Iterator[str]:
        """The names in its address."""
        yield from (part[1:-1] for part in self.path.split("/") if part.startswith("{"))


def _plan(request: Request, asked: edit_model.Wanted) -> edit_model.Planned:
    return edits.plan(SessionRequest(request), asked, _held(request))


def _apply(request: Request, asked: edit_model.Sure) -> edit_model.Applied:
    plan = _held(request).taken(request.path_params["plan"])
    return edits.apply(library_in(request), asked, plan)


def _undo(request: Request, asked: edit_model.Sure) -> EditEntry:
    return edits.undo(library_in(request), asked, request.path_params["edit"])


def _keep(request: Request, asked: keeping.ToKeep) -> keeping.NowKept:
    return keeping.keep(library_in(request), asked)


def _restore(request: Request, asked: keeping.ToRestore) -> keeping.NowRestored:
    return keeping.restore(SessionRequest(request), asked)


def _star(request: Request, asked: marks.ToStar) -> marks.NowStarred:
    return marks.star(library_in(request), asked)


def _pin(request: Request, asked: marks.ToPin) -> marks.NowPinned:
    return marks.pin(library_in(request), asked)


def _held(request: Request) -> edits.HeldPlans:
    found: edits.HeldPlans = request.app.state.plans
    return found


WRITES = (
    WriteEntry(
        "/sessions/{name}/plan",
        "Plan a change; nothing is done",
        edit_model.Wanted,
        edit_model.Planned,
        _plan,
    ),
    WriteEntry(
        "/plans/{plan}/apply", "Do what was planned", edit_model.Sure, edit_model.Applied, _apply
    ),
    WriteEntry(
        "/edits/{edit}/undo", "Bring back what was there", edit_model.Sure, EditEntry, _undo
    ),
    WriteEntry(
        "/keep/now", "Keep sessions beyond the cleanup", keeping.ToKeep, keeping.NowKept, _keep
    ),
    WriteEntry(
        "/sessions/{name}/restore",
        "Put a kept session back where it was",
        keeping.ToRestore,
        keeping.NowRestored,
        _restore,
    ),
    WriteEntry(
        "/marks/star",
        "Star a session, or take its star away",
        marks.ToStar,
        marks.NowStarred,
        _star,
    ),
    WriteEntry(
        "/marks/pin", "Pin a turn, or take its pin away", marks.ToPin, marks.NowPinned, _pin
    ),
)


def write_routes(base: str) -> Iterator[Route]:
    """Yields the addresses."""
    for entry in WRITES:
        yield Route(f"{base}{entry.path}", _serving(entry), methods=["POST"])


def _serving(entry: WriteEntry) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        _check(request)
        asked = _question(entry, await _small_body(request))

        def answer() -> Response:
            return json(request, entry.answers(request, asked))

        return await run_in_threadpool(answer)

    return serve


def _check(request: Request) -> None:
    if library_in(request).is_read_only:
        raise HTTPException(403, "nothing can be changed here: this server only reads")
    if request.headers.get(HEADER) != MEANT:
        raise HTTPException(403, f"a change is asked for with the header `{HEADER}: {MEANT}`")


async def _small_body(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST:
            raise HTTPException(413, "the request is too long")
    return body


def _question(entry: WriteEntry, body: bytes) -> Struct:
    try:
        return msgspec.json.decode(body or b"{}", type=entry.asked)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        known = ", ".join(entry.asked.__struct_fields__)
        told = str(error)
        raise UserError(f"{told[:1].lower()}{told[1:]}", f"this address takes: {known}") from None


def write_operation(
    entry: WriteEntry, asked: dict[str, Any], answer: dict[str, Any], troubles: dict[str, Any]
) -> dict[str, Any]:
    """Returns what the document says of an address at which something is changed."""
    parameters = [
        {"name": one, "in": "path", "required": True, "schema": {"type": "string"}}
        for one in entry.parameters
    ]
    meant = {"type": "string", "enum": [MEANT]}
    parameters.append({"name": HEADER, "in": "header", "required": True, "schema": meant})
    return {
        "operationId": entry.name,
        "summary": entry.summary,
        "parameters": parameters,
        "requestBody": {"required": True, "content": {"application/json": {"schema": asked}}},
        "responses": {
            "200": {
                "description": entry.summary,
                "content": {"application/json": {"schema": answer}},
            },
            **troubles,
        },
    }
