"""Addresses and questions to what the web says, where that is allowed."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from plait.agent.tools.addresses import Answer, MayReach, fetched, is_public, parts_of
from plait.agent.tools.arguments import Field, checked, definition, refused
from plait.agent.tools.model import (
    Arguments,
    Effect,
    Outcome,
    Proposal,
    Report,
    ToolError,
    Workplace,
)
from plait.agent.tools.page_text import page_text

MOST_TEXT = 100_000
MOST_SEARCHES = 8
TEXTS = {"items": {"type": "string"}}
FETCHED = (
    Field("url", "string", "The address to fetch", is_needed=True, more={"format": "uri"}),
    Field("prompt", "string", "What to find out from the page", is_needed=True),
)
SEARCHED = (
    Field("query", "string", "What to search for", is_needed=True, more={"minLength": 2}),
    Field("allowed_domains", "array", "Only results of these domains", more=TEXTS),
    Field("blocked_domains", "array", "No results of these domains", more=TEXTS),
)
ABOUT_FETCH = (
    "Fetches a page of the public web and returns its text, or what it says to a prompt. A page"
    " that moved to another host is not followed: fetch the new address if it is the right one."
)
ABOUT_SEARCH = "Searches the web and returns links with a summary. Name the sources in the answer."
REMINDER = (
    "REMINDER: You MUST include the sources above in your response to the user using markdown"
    " hyperlinks."
)
OFF = "The network is off in this session."


@dataclass(frozen=True, slots=True)
class WebFetch:
    """The tool that fetches a page."""

    name: str = "WebFetch"
    effect: Effect = "network"
    may_reach: MayReach = is_public

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its name, description and schema."""
        return definition(self.name, ABOUT_FETCH, FETCHED)

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Checks the address."""
        taken = checked(self.name, FETCHED, arguments)
        try:
            parts_of(taken["url"])
        except ToolError as error:
            if error.text.startswith("Invalid URL"):
                raise _no_address() from error
            raise
        if not place.has_network:
            raise ToolError(OFF, is_misuse=True)
        return Proposal(self.name, taken, self.effect, taken["url"])

    async def run(self, proposal: Proposal, place: Workplace, report: Report) -> Outcome:
        """Fetches it; a host that does not answer is not waited for long."""
        began, taken = monotonic(), proposal.arguments
        answer = await asyncio.to_thread(fetched, taken["url"], self.may_reach)
        if answer.moved_to is None and answer.code >= 400:
            raise ToolError(f"Request failed with status code {answer.code}")
        result = _moved(answer, taken) if answer.moved_to else await _result(answer, taken, place)
        output = {
            "bytes": len(answer.data),
            "code": answer.code,
            "codeText": answer.words,
            "result": result,
            "durationMs": round((monotonic() - began) * 1000),
            "url": taken["url"],
        }
        return Outcome(result, output)


def _no_address() -> ToolError:
    told = {"code": "invalid_format", "format": "url", "path": ["url"], "message": "Invalid URL"}
    return refused(told)


def _moved(answer: Answer, taken: Arguments) -> str:
    return (
        "REDIRECT DETECTED: The URL redirects to a different host.\n\n"
        f"Original URL: {taken['url']}\nRedirect URL: {answer.moved_to}\n"
        f"Status: {answer.code} {answer.words}\n\n"
        "To complete your request, I need to fetch content from the redirected URL. Please use"
        f' WebFetch again with these parameters:\n- url: "{answer.moved_to}"\n'
        f'- prompt: "{taken["prompt"]}"'
    )


async def _result(answer: Answer, taken: Arguments, place: Workplace) -> str:
    if b"\0" in answer.data[:8192] or not _is_text(answer.kind):
        return f"[Binary content ({answer.kind}, {len(answer.data)} bytes) is not shown.]"
    told = answer.data.decode("utf-8", "replace")
    text = page_text(told) if "html" in answer.kind else told
    if len(text) > MOST_TEXT:
        text = text[:MOST_TEXT] + "\n\n[Content truncated due to length...]"
    if place.ask is None:
        return text or "(The page holds no text.)"
    blocks = await place.ask(f"Web page content:\n---\n{text}\n---\n\n{taken['prompt']}", ())
    return "\n".join(_words(blocks)) or text


def _is_text(kind: str) -> bool:
    return kind.startswith("text/") or kind.endswith(("json", "xml", "javascript", "yaml"))


def _words(blocks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    return (str(block["text"]) for block in blocks if block.get("type") == "text")


@dataclass(frozen=True, slots=True)
class WebSearch:
    """The tool that searches the web, through the API's own tool for that."""

    name: str = "WebSearch"
    effect: Effect = "network"

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its name, description and schema."""
        return definition(self.name, ABOUT_SEARCH, SEARCHED)

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Checks the question."""
        taken = checked(self.name, SEARCHED, arguments)
        if len(taken["query"]) < 2:
            raise _too_short()
        if taken.get("allowed_domains") and taken.get("blocked_domains"):
            told = "Cannot specify both allowed_domains and blocked_domains in the same request"
            raise ToolError(f"Error: {told}", is_misuse=True)
        if not place.has_network or place.ask is None:
            raise ToolError(OFF, is_misuse=True)
        return Proposal(self.name, taken, self.effect, taken["query"])

    async def run(self, proposal: Proposal, place: Workplace, report: Report) -> Outcome:
        """Has the model search, and tells what it found."""
        if place.ask is None:
            raise ToolError(OFF)
        began, taken = monotonic(), proposal.arguments
        query = taken["query"]
        report({"type": "query_update", "query": query})
        asked = f"Perform a web search for the query: {query}"
        results = list(_results(await place.ask(asked, (_server_tool(taken),))))
        count = sum(len(one["content"]) for one in results if isinstance(one, dict))
        report({"type": "search_results_received", "resultCount": count, "query": query})
        output = {"query": query, "results": results, "durationSeconds": monotonic() - began}
        return Outcome(_told(query, results), output)


def _too_short() -> ToolError:
    told = "Too small: expected string to have >=2 characters"
    issue = {"origin": "string", "code": "too_small", "minimum": 2, "inclusive": True}
    return refused(issue | {"path": ["query"], "message": told})


def _server_tool(taken: Arguments) -> dict[str, Any]:
    domains = {key: taken[key] for key in ("allowed_domains", "blocked_domains") if taken.get(key)}
    tool = {"type": "web_search_20250305", "name": "web_search", "max_uses": MOST_SEARCHES}
    return tool | domains


def _results(blocks: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any] | str]:
    """Yields links and words in their order; words that follow each other are one."""
    words = ""
    for block in blocks:
        if block.get("type") == "text":
            words += str(block["text"])
        elif block.get("type") == "web_search_tool_result":
            if words.strip():
                yield words.strip()
            words = ""
            yield {"tool_use_id": block.get("tool_use_id"), "content": _links(block)}
    if words.strip():
        yield words.strip()


def _links(block: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = block.get("content")
    if not isinstance(found, list):
        return []
    keys = ("title", "url")
    return [{key: one.get(key) for key in keys} for one in found if isinstance(one, Mapping)]


def _told(query: str, results: list[dict[str, Any] | str]) -> str:
    parts = [f'Web search results for query: "{query}"']
    for one in results:
        if isinstance(one, str):
            parts.append(one)
        elif one["content"]:
            links = json.dumps(one["content"], ensure_ascii=False, separators=(",", ":"))
            parts.append(f"Links: {links}")
        else:
            parts.append("No links found.")
    return "\n\n".join([*parts, "\n" + REMINDER])
