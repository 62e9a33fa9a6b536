"""What Plait makes of session files: context, accounting, list."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from conformance.compare import comparable
from conformance.model import Listed, Resumed
from conformance.whole import unsigned
from plait.archive import Archive
from plait.graph.client import Reason, build_context
from plait.record import read
from plait.record.counts import LogCounts


def resumed(file: Path, as_: Literal["client", "sdk"] = "client") -> Resumed:
    """Return what Plait says that a reader makes of a file."""
    found = build_context(list(read(file)), size=file.stat().st_size, as_=as_)
    said = comparable({"role": role, "content": blocks} for role, blocks in found.messages)
    full = [(role, unsigned(blocks)) for role, blocks in found.request]
    own_words = sum(one.reason is Reason.OWN_WORDS for one in found.left_out)
    why_not = found.why_not or ""
    return Resumed(found.resumes, found.leaf, found.chain, said, full, why_not, own_words=own_words)


def is_balanced(file: Path) -> bool:
    """Whether nothing of a session is lost: every line, every node, every result is somewhere."""
    archive = Archive([file])
    session = archive.session_at(file)
    account = LogCounts()
    for one in session.files:
        account.add_file(one.path)
    return account.is_balanced and archive.graph(session).account.balanced


def listed(config: Path) -> Iterator[Listed]:
    """Yield the sessions of a configuration folder as a list shows them."""
    archive = Archive([config])
    for session in archive.sessions:
        if session.file:
            facts = archive.facts(session)
            yield Listed(session.id, facts.title, facts.first_prompt)
