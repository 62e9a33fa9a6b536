"""Wrap the body of a record in its envelope, as each version does."""

from __future__ import annotations

from .model import Json
from .sheet import Sheet


def wrap(sheet: Sheet, parent: str | None, body: Json, *, side: bool) -> Json:
    """Return a record with its keys in the order of its version.

    Before 2.1.92 the context (cwd, session, version…) comes before the body, later after it.
    """
    head: Json = {"parentUuid": parent}
    if "logicalParentUuid" in body:
        head["logicalParentUuid"] = body.pop("logicalParentUuid")
    head["isSidechain"] = side
    if sheet.settings.team:
        head["teamName"] = sheet.settings.team
    if sheet.settings.is_before(2, 1, 92):
        agent = {"agentId": sheet.agent} if sheet.agent else {}
        return {**head, **_context(sheet), **agent, **_slug(sheet), **body}
    return {**head, **_with_agent(sheet, body), **_context(sheet), **_slug(sheet)}


def _context(sheet: Sheet) -> Json:
    found: Json = {"userType": "external"}
    if not sheet.settings.is_before(2, 1, 92):
        found["entrypoint"] = sheet.settings.entrypoint
    return {
        **found,
        "cwd": sheet.settings.cwd,
        "sessionId": sheet.session,
        "version": sheet.settings.version,
        "gitBranch": sheet.settings.branch,
    }


def _slug(sheet: Sheet) -> Json:
    return {"slug": sheet.settings.slug} if sheet.settings.slug else {}


def _with_agent(sheet: Sheet, body: Json) -> Json:
    """Put `agentId` where newer versions have it: first, but after `promptId`."""
    if not sheet.agent:
        return body
    prompt = {"promptId": body["promptId"]} if "promptId" in body else {}
    return {**prompt, "agentId": sheet.agent, **body}


def is_side(sheet: Sheet, flags: frozenset[str]) -> bool:
    """Return whether a record is not part of the main conversation: an agent's, or marked as a sidechain."""
    return bool(sheet.agent) or "side" in flags
