"""The five questions: recall, read, about, sessions, cost."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    CompactionItem,
    ToolCall,
    Turn,
    UserMessage,
)
from plait.conversation.walk import unfold_items
from plait.errors import AmbiguousSession, PlaitError, UserError
from plait.index.freshness import load_stamps
from plait.index.model import Hit
from plait.index.query import Field, QueryNode
from plait.index.search import IndexReader, SharedReader
from plait.line import make_project_slug
from plait.recall.background import BackgroundIndex
from plait.recall.model import HANDLE, Answer, Item, quote_title, single_line
from plait.recall.ranking import (
    KINDS,
    LEAST_SHARE,
    SCAN_SECONDS,
    choose_newest,
    find_turns,
    list_content_words,
    scan_newest,
)
from plait.recall.spending import Spending
from plait.recall.turns import read_outcome
from plait.record.codec import NotAnObject
from plait.record.reader import parse_record
from plait.record.time import parse_time as parse_stamp
from plait.search.search import place_summary, update_if_stale
from plait.sessions.names import resolve_conversation, shorten_name
from plait.sessions.project_folders import read_indexed_project_folders
from plait.usage.responses import count_responses
from plait.view.formats import (
    format_count,
    format_day,
    format_minute,
    format_money,
    format_tokens,
    join_dotted,
)
from plait.view.summaries import format_prompt

if TYPE_CHECKING:
    from plait.archive import Archive
    from plait.redact import Redactor
    from plait.sessions.conversations import SessionConversation, SessionConversations
    from plait.sessions.model import Facts, Session

VIEWS = ("talk", "calls", "full", "raw")
MOST_TURNS, MOST_SESSIONS = 50, 200
MOST_GROUPS = 8
"""Projects, models or sessions that a sum of costs names."""
MOST_TURN_TEXT = 60_000
"""Characters of a turn that are redacted and shown: a budget holds fewer."""
MOST_LEARNED = 200_000
"""Bytes of a line that is searched for secrets before a quote from it is shown."""
FILE_LIKE = re.compile(r"[\w.~-]*[/\\][^\s]+|[\w-]+\.[A-Za-z]\w{0,7}")
Attempt = tuple[str, str, tuple[QueryNode, ...]]
"""A note for the reader, a query, and filters."""


@dataclass
class Recall:
    """Answers questions about the sessions of an archive."""

    archive: "Archive"
    directory: Path
    """Where whoever asks works."""
    parse_time: Callable[[str], datetime]
    """Reads a day or time as people write it; raises `UserError`."""
    caller: str | None = None
    """The session that asks, where it is known."""
    is_redacted: bool = True
    index: BackgroundIndex | None = None
    """None where questions wait for the index to be brought up to date."""
    notes: list[str] = field(default_factory=list)
    """What the next answer says of how it was found."""
    _is_updated: bool = False
    _spending: Spending = field(default_factory=Spending)

    # ------------------------------------------------------------------ recall

    def recall(
        self,
        query: str = "",
        *,
        project: str = ".",
        since: str | None = None,
        until: str | None = None,
        kind: str = "any",
        branches: str = "active",
        limit: int = 5,
        include_current: bool = False,
    ) -> Answer:
        """Return the turns that answer a question best, with what became of each."""
        self._refresh()
        query = query.strip()
        if not query:
            return self.sessions(project=project, since=since, limit=limit)
        limit = min(max(limit, 1), MOST_TURNS)
        excluded = None if include_current else self.calling_session
        name, start, end = self.find_project(project), self._parse(since), self._parse(until)
        if not self.has_index:
            hits, unread = scan_newest(self.archive, query, limit, excluded, name, start, end)
            if unread:
                self.notes.append(f"{format_count(unread, 'older session')} not searched yet")
            return self._present_hits(hits, 0, query)
        is_file = kind == "file"
        if kind not in KINDS and not is_file:
            self.notes.append(f"no kind '{single_line(kind, 20)}': searched all kinds")
        kinds = (Field("file", query),) if is_file else KINDS.get(kind, ())
        text = "" if is_file else query
        where = (Field("project", name),) if name else ()
        times = tuple(
            Field(bound, moment.astimezone(UTC).isoformat(timespec="seconds"))
            for bound, moment in (("after", start), ("before", end))
            if moment
        )
        active = () if branches == "all" else (Field("branch", "active,agent"),)
        # Rather something else than nothing.
        attempts: list[Attempt] = [
            ("", text, (*where, *times, *kinds, *active)),
            ("found only on abandoned branches", text, (*where, *times, *kinds)),
            ("nothing in this project: searched all projects", text, (*times, *kinds)),
            ("nothing of that kind or in that period: searched everything", query, ()),
        ]
        found = self._search(attempts, limit, excluded, least=LEAST_SHARE, is_newest_first=is_file)
        return self._present_hits(*found, query)

    def _search(
        self,
        attempts: Sequence[Attempt],
        limit: int,
        excluded: str | None,
        *,
        least: float = 0.0,
        is_newest_first: bool = False,
    ) -> tuple[Sequence[Hit], int]:
        """Return the hits of the first attempt that has good ones, else of the first that has any.

        Good is a hit with that share of the words. Returns how many other turns match, too.
        """
        weak: tuple[Sequence[Hit], int] = (), 0
        tried: list[tuple[str, tuple[QueryNode, ...]]] = []
        for note, query, filters in attempts:
            if (query, filters) in tried:
                continue
            tried.append((query, filters))
            try:
                with self._open_index() as reader:
                    hits, more, share = find_turns(
                        reader, query, filters, limit, excluded, is_newest_first=is_newest_first
                    )
            except UserError as error:
                self.notes.append(single_line(error.message, 120))
                continue
            if hits and share >= least:
                self.notes += [note] if note else []
                return hits, more
            weak = weak if weak[0] else (hits, more)
        return weak

    def _present_hits(
        self, hits: Sequence[Hit], more: int, query: str, found: str = "found for {}"
    ) -> Answer:
        if not hits:
            word = max(list_content_words(query), key=len, default="")
            following = f'recall("{word}", project="*", branches="all") or sessions(text="{word}")'
            return self._answer(f"Nothing found for {quote_title(query)}", (), following)
        items = [self._present_hit(hit) for hit in hits]
        found = f"{format_count(len(items), 'turn')} {found.format(quote_title(query))}"
        return self._answer(found, items, f'read("{items[0].handle}", view="calls")', more)

    def _present_hit(self, hit: Hit) -> Item:
        hit = place_summary(self.archive, hit)
        asked, outcome, record = read_outcome(hit)
        if self.is_redacted and record and len(record) <= MOST_LEARNED:
            # The quote may be cut off from what marks a secret.
            with suppress(NotAnObject):
                self._redactor.learn(parse_record(record))
        title = quote_title(self.private(hit.title or ""), 70)
        state = hit.state if hit.state in ("abandoned", "recovered") else ""
        prompt = ""
        if hit.kind not in ("prompt", "title"):
            prompt = single_line(self.private(format_prompt(asked)), 100)
        after = join_dotted(f"asked “{prompt}”" if prompt else "", outcome.describe(self.private))
        # A word cut at an edge could be half a secret.
        quote = _drop_cut_word(hit.snippet)
        if quote.startswith("…"):
            first, _, rest = quote[1:].partition(" ")
            quote = f"… {rest if len(first) > 20 else quote[1:]}"
        return Item(
            handle=make_handle(hit),
            about=join_dotted(_day(hit.time), _format_project(hit.project), title, hit.kind, state),
            quote=self.private(quote),
            after=f"→ {after}" if after else "",
        )

    # ------------------------------------------------------------------ read

    def read(self, handle: str = "latest", *, around: int = 0, view: str = "talk") -> Answer:
        """Return turns of a session, or an overview of one."""
        self._refresh()
        if view not in VIEWS:
            self.notes.append(f"no view '{single_line(view, 20)}': showing talk")
            view = "talk"
        found = HANDLE.fullmatch(handle.strip())
        name, branch, number = (
            found.group("session", "branch", "turn") if found else (handle.strip(), None, None)
        )
        try:
            session = self.archive.session(name or "latest", self.directory)
            conversations = self.archive.conversations(session)
            line = conversations.by_line[resolve_conversation(conversations, branch).id]
        except PlaitError as error:
            return self._answer_error(error, f'sessions(text="{single_line(name, 40)}")')
        if number is None:
            return self._present_session(session, conversations, line)
        place = f"{session.id[:8]}{f'@{branch}' if branch else ''}"
        last = line.turns[-1].number if line.turns else 0
        wanted = int(number) if int(number) >= 0 else last + 1 + int(number)
        near = max(0, around)
        turns = [turn for turn in line.turns if abs(turn.number - wanted) <= near]
        if not any(turn.number == wanted for turn in turns):
            text = f"No turn {wanted} in {place}: it has turns 1 to {last}"
            return self._answer(text, (), f'read("{place}:{last}")')
        # The turn that was asked for comes first where a budget leaves others out.
        turns.sort(key=lambda turn: abs(turn.number - wanted))
        items = []
        for turn in turns:
            failed = sum(not call.succeeded for call in turn.calls)
            about = join_dotted(
                _minute(turn.started),
                format_count(len(turn.calls), "call") if turn.calls else "",
                f"{failed} failed" if failed else "",
                "interrupted" if turn.is_interrupted else "",
            )
            text = "\n".join(self._iter_turn_text(session, turn, view))
            if len(text) > MOST_TURN_TEXT:  # half a secret is not recognised
                text = text[:MOST_TURN_TEXT].rpartition(" ")[0] + " …"
            quote = self.private(text)
            items.append(Item(handle=f"{place}:{turn.number}", about=about, quote=quote))
        title = quote_title(self.private(self.archive.facts(session).title or ""))
        shown = f"Turn {wanted} of {last}" + (f" and {near} around it" if near else "")
        deeper = VIEWS[min(VIEWS.index(view) + 1, 2)]
        after = f'read("{place}:{wanted + 1}")'
        if wanted >= last:
            after = f'read("{place}:{wanted}", view="{deeper}")'
        return self._answer(f"{shown} in {title}, view {view}", items, after)

    def _iter_turn_text(self, session: "Session", turn: Turn, view: str) -> Iterator[str]:
        """Yield what was said in a turn, with its calls where they are wanted.

        What is shortened is redacted before.
        """
        if view == "raw":
            opened = self.archive.open(session)
            for file, line in dict.fromkeys((i.file, i.line) for i in unfold_items(turn.items)):
                if record := opened.record_at_line(file, line):
                    yield record.raw.decode("utf-8", "replace")
            return
        for item in unfold_items(turn.items):
            if (
                isinstance(item, UserMessage)
                and item.text
                and item.kind not in ("meta", "reminder")
            ):
                yield f"[{item.kind}] {item.text}"
                if item.output and view != "talk":
                    yield item.output
            elif isinstance(item, AssistantText) and not item.is_intermediate and item.text:
                yield f"[answer] {item.text}"
            elif isinstance(item, AssistantThinking) and view == "full" and item.text:
                yield f"[thinking] {item.text}"
            elif isinstance(item, CompactionItem):
                yield "[compaction] the conversation before this was replaced by a summary"
            elif isinstance(item, ToolCall) and not item.is_intermediate and view != "talk":
                given = item.input if isinstance(item.input, dict) else {}
                result = item.result.text if item.result else ""
                if view == "full":
                    yield f"[{item.name}] " + "\n".join(f"{k}: {v}" for k, v in given.items())
                    yield f"[{item.outcome}] {result}"
                    continue
                first = next((str(v) for v in given.values() if isinstance(v, str | int)), "")
                yield f"[{item.name}] {single_line(self.private(first), 160)} → {item.outcome}"
                if item.outcome == "failed" and result:
                    yield f"  {single_line(self.private(result[:MOST_TURN_TEXT]), 200)}"

    def _present_session(
        self, session: "Session", conversations: "SessionConversations", line: "SessionConversation"
    ) -> Answer:
        facts, short = self.archive.facts(session), session.id[:8]
        about = join_dotted(
            f"{_minute(facts.started)} to {_minute(facts.ended)}",
            single_line(facts.cwd or session.project, 60),
            format_money(line.cost),
        )
        prompts = [
            f"{turn.number}. {single_line(self.private(format_prompt(turn.prompt or '')), 160)}"
            for turn in line.turns
            if turn.opener
        ]
        others = []
        for other in (*conversations.branches, *conversations.agents):
            if other.id != line.id:
                label = other.label or (other.turns[0].prompt if other.turns else "")
                turns = format_count(len(other.turns), "turn")
                text = single_line(format_prompt(label or ""), 80)
                others.append(f"{shorten_name(other.id)}: {turns}, {text}")
        changes = [f"{c.path} +{c.added} -{c.removed}" for c in self.archive.session_files(session)]
        parts = (
            (short, about, prompts),
            ("", f'branches and agents, read("{short}@NAME:1")', others),
            ("", "files changed", changes),
        )
        items = [
            Item(handle=handle, about=about, quote=self.private("\n".join(lines)))
            for handle, about, lines in parts
            if lines or handle
        ]
        title = quote_title(self.private(facts.title or ""))
        last = line.turns[-1].number if line.turns else 0
        found = f"Session {title}: {format_count(len(prompts), 'prompt')}"
        return self._answer(found, items, f'read("{short}:{last}")')

    # ------------------------------------------------------------------ about

    def about(self, target: str = "", *, project: str = ".", limit: int = 8) -> Answer:
        """Return which turns wrote, ran, printed or read something, and why, newest first."""
        self._refresh()
        target = target.strip()
        if not target:
            return self._answer("No path, symbol or error text given", (), 'about("src/app.py")')
        if not self.has_index:
            return self.recall(target, project=project, limit=limit)
        name = self.find_project(project)
        where = (Field("project", name),) if name else ()
        phrase = '"' + " ".join(target.replace('"', " ").split())[:200] + '"'
        attempts: list[Attempt] = [
            ("", phrase, (Field("kind", "tools"), *where)),
            ("", phrase, where),
            ("nothing in this project: searched all projects", phrase, ()),
        ]
        if FILE_LIKE.fullmatch(target):
            path = Field("file", target.removeprefix(f"{self.directory}/").lstrip("./~"))
            note = "nothing in this project: searched all projects" if where else ""
            attempts = [("", "", (path, *where)), (note, "", (path,)), *attempts]
        limit = min(max(limit, 1), MOST_TURNS)
        found = self._search(attempts, limit, self.calling_session, is_newest_first=True)
        if not found[0] and len(list_content_words(target)) > 2:
            return self.recall(target, project="*", limit=limit)
        return self._present_hits(*found, target, "about {}, newest first")

    # ------------------------------------------------------------------ sessions

    def sessions(
        self,
        *,
        project: str = ".",
        since: str | None = None,
        text: str = "",
        limit: int = 20,
    ) -> Answer:
        """Return sessions, the newest first."""
        self._refresh()
        start, name = self._parse(since), self.find_project(project)
        limit = min(max(limit, 1), MOST_SESSIONS)
        words = text.casefold().split()
        has_index, end = self.has_index, time.monotonic() + SCAN_SECONDS
        project_of = self.archive.folding.project if has_index else str

        def get_end(session: "Session") -> datetime:
            ended = parse_stamp(self.archive.facts(session).ended) if has_index else None
            return ended or datetime.fromtimestamp(session.modified, UTC)

        items: list[Item] = []
        more = 0
        for session in sorted(self.archive.sessions, key=get_end, reverse=True):
            own_project = project_of(session.project)
            if name and name not in (session.project, own_project):
                continue
            if start and get_end(session) < start:
                break
            if len(items) == limit and not words:
                more += 1
                continue
            if not has_index and time.monotonic() > end:
                self.notes.append("older sessions have not been searched yet")
                break
            facts = self.read_facts(session)
            own = f"{facts.title} {facts.first_prompt} {facts.cwd} {facts.git_branch} {session.id}"
            if not all(word in own.casefold() for word in words):
                continue
            if len(items) == limit:
                more += 1
            else:
                title = quote_title(self.private(facts.title or ""))
                about = (_day(facts.ended), _format_project(own_project), facts.mark, title)
                items.append(Item(handle=session.id[:8], about=join_dotted(*about)))
        where = f" in {_format_project(name)}" if name else ""
        where += f" since {format_day(start)}" if start else ""
        if not items and words:
            return self.recall(text, project="*")
        if not items:
            call = (
                'sessions(project="*")' if name or since else "check the logs with `plait doctor`"
            )
            return self._answer(f"No sessions{where}", (), call)
        found = f"{format_count(len(items), 'session')}{where}, newest first"
        return self._answer(found, items, f'read("{items[0].handle}")', more)

    # ------------------------------------------------------------------ cost

    def cost(
        self,
        *,
        session: str = "",
        project: str = "*",
        since: str | None = None,
        until: str | None = None,
    ) -> Answer:
        """Return what a session, a project or a period cost, with the main causes."""
        self._refresh()
        if session:
            try:
                opened = self.archive.session(session.partition(":")[0], self.directory)
            except PlaitError as error:
                return self._answer_error(error, "sessions()")
            return self._explain_cost(opened)
        start, end = self._parse(since), self._parse(until)
        name = self.find_project(project or "*")
        groups = self._count_spending().sum(start, end, name, self.archive.folding.project)
        if not groups:
            return self._answer("No token usage found", (), 'cost(since="30d")')
        items = []
        for dimension, width in (("project", 60), ("model", 60), ("session", 8)):
            sums: dict[str, tuple[float, int]] = {}
            for group, (dollars, tokens) in groups.items():
                key = getattr(group, dimension)
                known = sums.get(key, (0.0, 0))
                sums[key] = known[0] + dollars, known[1] + tokens
            ordered = sorted(sums.items(), key=lambda item: (-item[1][0], -item[1][1], item[0]))
            lines = [
                f"{(key.strip('-') or 'unknown')[:width]} {format_money(dollars)}, {format_tokens(tokens)} tokens"
                for key, (dollars, tokens) in ordered[:MOST_GROUPS]
            ]
            if len(ordered) > MOST_GROUPS:
                lines.append(f"{len(ordered) - MOST_GROUPS} more")
            items.append(Item(about=f"by {dimension}", quote="\n".join(lines)))
        if unpriced := {group.model: "" for group in groups if not group.is_priced}:
            self.notes.append(f"no price is known for {single_line(', '.join(unpriced), 120)}")
        found = format_money(sum(dollars for dollars, _ in groups.values()))
        found += f" in {_format_project(name)}" if name else ""
        found += f" since {format_day(start)}" if start else ""
        found += f" until {format_day(end)}" if end else ""
        found += f": {format_tokens(sum(tokens for _, tokens in groups.values()))} tokens"
        return self._answer(found, items, f'cost(session="{ordered[0][0][:8]}")')

    def _count_spending(self) -> Spending:
        """Return what was spent: a count of everything, then of what has changed."""
        if self.has_index:
            self._spending.update(self.archive, self.archive.sessions)
            return self._spending
        newest, older = choose_newest(self.archive.sessions)
        if older:
            self.notes.append(f"{format_count(older, 'older session')} not counted yet")
        spending = Spending()
        spending.update(self.archive, newest)
        return spending

    def _explain_cost(self, session: "Session") -> Answer:
        from plait.insights.why import (
            CAUSE_NAMES,
            CAUSE_REASONS,
            ResponsesByFile,
            explain_session,
            find_jumps,
            format_reason,
        )

        # Responses that several sessions hold are billed to one of them.
        paths = self._count_spending().find_related(session)
        related = [other for other in self.archive.sessions if other.path in paths]
        responses = ResponsesByFile(count_responses(related), related)
        now = datetime.now(UTC)
        why = explain_session(self.archive, session, self.archive.prices, now, responses=responses)
        totals = why.totals
        causes = sorted(totals.causes.items(), key=lambda pair: -pair[1].again_cost_usd)
        jumps = sorted(find_jumps(why.requests), key=lambda request: -(request.cost_usd or 0))
        parts = {
            "tokens paid for again": [
                f"{CAUSE_NAMES[cause]}: {format_money(part.again_cost_usd)} again in "
                f"{format_count(part.requests, 'request')}, {CAUSE_REASONS[cause]}"
                for cause, part in causes
            ],
            "most expensive requests": [
                f"turn {request.turn}: {format_money(request.cost_usd or 0)}, "
                f"{format_reason(request)}"
                for request in jumps[:6]
            ],
            "largest parts of the context": [
                f"{format_tokens(item.tokens)} tokens since turn {item.turn or 0}: "
                f"{_drop_cut_word(item.words)}"
                for item in why.carried[:6]
            ],
        }
        items = [
            Item(about=about, quote=self.private("\n".join(lines)))
            for about, lines in parts.items()
            if lines
        ]
        found = (
            f"{session.id[:8]} cost {format_money(totals.cost_usd)}: "
            f"{format_count(totals.requests, 'request')}, {format_tokens(totals.read)} tokens from "
            f"the cache, {format_tokens(totals.new)} new, {format_tokens(totals.again)} written to the cache again"
        )
        turn = next((r.turn for r in (*jumps, *why.requests) if r.turn), 1)
        return self._answer(found, items, f'read("{session.id[:8]}:{turn}", view="calls")')

    # ------------------------------------------------------------------ what all share

    @property
    def has_index(self) -> bool:
        """Return whether questions are answered from an index."""
        if self.index:
            return self.index.exists
        return self.archive.index is not None and bool(load_stamps(self.archive.index))

    @cached_property
    def _redactor(self) -> "Redactor":
        from plait.redact import Redactor, Rules

        return Redactor(Rules().only(("secrets", "rules")))

    def private(self, text: str) -> str:
        """Return recorded text without secrets."""
        return self._redactor.text(text) if self.is_redacted and text else text

    @cached_property
    def calling_session(self) -> str | None:
        """The session that asks: named by the client, else the one that runs in its directory."""
        if self.caller:
            return self.caller
        slug = make_project_slug(str(self.directory))
        running = self.archive.running
        here = [s for s in self.archive.sessions if s.id in running and s.project == slug]
        return here[-1].id if here and self.index else None

    def read_facts(self, session: "Session") -> "Facts":
        """Return the facts of a session: from the index where there is one, else its own log."""
        return self.archive.facts(session) if self.has_index else self.archive.read_facts(session)

    def find_project(self, name: str | None) -> str | None:
        """Return the project that is meant, None for all; `.` is that of the directory."""
        if name == "*":
            return None
        folders = {session.project for session in self.archive.sessions}
        if name in (None, "", "."):
            slugs = (make_project_slug(str(p)) for p in (self.directory, *self.directory.parents))
            own = next((slug for slug in slugs if slug in folders), None)
            return self.archive.folding.project(own) if own else None
        wanted = make_project_slug(str(name)).casefold()
        projects = {self.archive.folding.project(folder) for folder in folders}
        found = [p for p in sorted(projects, key=len) if wanted in p.casefold()]
        if not found:
            self.notes.append(f"no project '{single_line(name, 40)}': searched all projects")
            return None
        return next((p for p in found if p.casefold().endswith(wanted)), found[0])

    def _parse(self, text: str | None) -> datetime | None:
        if not text or not str(text).strip():
            return None
        try:
            return self.parse_time(str(text))
        except UserError:
            self.notes.append(f"{quote_title(str(text), 30)} is not a time and was ignored")
            return None

    def _refresh(self) -> None:
        """Look at the folders again where it is time to, and keep the index up to date."""
        if self.index is None:
            if self.archive.index and not self._is_updated:
                self._is_updated = True
                update_if_stale(self.archive, self.archive.index)
        else:
            self.archive = self.index.refresh(self.archive, self.calling_session)

    @contextmanager
    def _open_index(self) -> Iterator[IndexReader]:
        """Lend the index, with the projects that folders belong to."""
        with self._reader.open() as reader:
            if reader.catalogue.project_of is str:
                folders = read_indexed_project_folders(self.archive, reader.catalogue)
                reader.catalogue.project_of = folders.project
            yield reader

    @cached_property
    def _reader(self) -> SharedReader:
        assert self.archive.index is not None
        return SharedReader(self.archive.index)

    def _answer(self, found: str, items: Sequence[Item], following: str, more: int = 0) -> Answer:
        notes, self.notes = tuple(dict.fromkeys(self.notes)), []
        if self.index and self.index.is_running:
            state = "updated" if self.index.exists else "built: only the newest logs were searched"
            notes = (*notes, f"the index is being {state}")
        elif self.index and self.index.problem:
            notes = (*notes, f"newer messages are missing: {single_line(self.index.problem, 200)}")
        return Answer(found=found, items=tuple(items), next=following, more=more, notes=notes)

    def _answer_error(self, error: PlaitError, following: str) -> Answer:
        hints = error.hints if isinstance(error, AmbiguousSession) else ()
        text = single_line(". ".join(filter(None, (error.message, "; ".join(hints)))), 300)
        return self._answer(text[:1].upper() + text[1:], (), following)


def make_handle(hit: Hit) -> str:
    """Return what a turn is read by: the session, a branch where it is not the main one, the turn."""
    short = hit.session[:8]
    branch = ""
    if hit.branch and hit.branch != hit.session:
        branch = f"@{shorten_name(hit.branch)[:8]}"
    elif hit.state == "abandoned":
        branch = f"@{short}"
    return f"{short}{branch}" + (f":{hit.turn}" if hit.turn is not None else "")


def _drop_cut_word(text: str) -> str:
    """Return a shortened text without the word that was cut."""
    return text[:-1].rpartition(" ")[0] + " …" if text.endswith("…") else text


def _day(stamp: str | None) -> str:
    moment = parse_stamp(stamp)
    return format_day(moment) if moment else ""


def _minute(stamp: str | None) -> str:
    moment = parse_stamp(stamp)
    return f"{format_minute(moment)} UTC" if moment else "unknown"


def _format_project(name: str | None) -> str:
    return single_line((name or "").strip("-"), 60)
