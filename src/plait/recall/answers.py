"""The five questions: recall, read, about, sessions, cost."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    CompactionItem,
    Conversation,
    ToolCall,
    Turn,
    UserMessage,
)
from plait.conversation.tools import get_tool
from plait.conversation.walk import unfold_items
from plait.errors import AmbiguousSession, PlaitError, UserError
from plait.index.freshness import load_stamps
from plait.index.model import Hit
from plait.index.query import Field, QueryNode
from plait.index.search import IndexReader, SharedReader
from plait.line import make_project_slug
from plait.recall.background import BackgroundIndex
from plait.recall.model import Answer, Item, Outcome, quote_title, single_line
from plait.recall.ranking import (
    KINDS,
    LEAST_SHARE,
    Wanted,
    find_turns,
    list_content_words,
    scan_newest,
    share_words,
)
from plait.recall.turns import read_outcome
from plait.record.codec import NotAnObject
from plait.record.reader import parse_record
from plait.record.time import parse_time as parse_stamp
from plait.search.search import place_summary, update_if_stale
from plait.sessions.names import resolve_conversation, shorten_name
from plait.sessions.project_folders import read_indexed_project_folders
from plait.view.formats import format_count, format_day, format_minute, format_money, format_tokens
from plait.view.summaries import format_prompt

if TYPE_CHECKING:
    from plait.archive import Archive
    from plait.redact import Redactor
    from plait.sessions.conversations import SessionConversations
    from plait.sessions.model import Facts, ProgressCallback, Session

HANDLE = re.compile(
    r"(?:plait://session/)?(?P<session>[^:@\s]+)(?:@(?P<branch>[^:\s]+))?(?::(?P<turn>-?\d+))?"
)
VIEWS = ("talk", "calls", "full", "raw")
MOST_LIMIT = 50
SHORT = 8
"""Characters that name a session or a branch; a beginning is enough."""
MOST_TURN_TEXT = 60_000
"""Characters of a turn that are redacted and shown: a budget holds fewer."""
MOST_LEARNED = 200_000
FILE_LIKE = re.compile(r"[\w.~-]*[/\\][^\s]+|[\w-]+\.[A-Za-z]\w{0,7}")
ParseTime = Callable[[str], datetime]


@dataclass
class Recall:
    """Answers questions about the sessions of an archive."""

    archive: "Archive"
    directory: Path
    """Where the one who asks works."""
    parse_time: ParseTime
    """Reads a day or time as people write it; raises `UserError`."""
    caller: str | None = None
    """The session that asks, where it is known."""
    is_redacted: bool = True
    index: BackgroundIndex | None = None
    """None where questions wait for the index to be brought up to date."""
    progress: "ProgressCallback | None" = None
    """Is told how much of the index is built while a question is answered."""
    _notes: list[str] = field(default_factory=list)
    _is_updated: bool = False

    def __post_init__(self) -> None:
        if self.index:
            self.index.watch = self._report

    def _report(self, done: int, total: int) -> None:
        if report := self.progress:
            report(done, total)

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
        limit = min(max(limit, 1), MOST_LIMIT)
        excluded = None if include_current else self.calling_session
        times = self._time_filters(since, until)
        if not self.has_index:
            return self._recall_from_logs(query, project, since, until, limit, excluded)
        kinds: tuple[QueryNode, ...] = KINDS.get(kind, ())
        if kind == "file":
            kinds, query = (Field("file", query),), ""
        elif kind not in KINDS:
            self._notes.append(f"no kind '{single_line(kind, 20)}', any was taken")
        name = self.find_project(project)
        where = (Field("project", name),) if name else ()
        state = () if branches == "all" else (Field("branch", "active,agent"),)
        # Rather something beside what was asked for than nothing.
        attempts: list[tuple[str, tuple[QueryNode, ...]]] = [
            ("", (*where, *times, *kinds, *state)),
            ("only abandoned branches have it", (*where, *times, *kinds)),
            ("nothing in this project, all were searched", (*times, *kinds)),
            ("nothing of that kind or time, all was searched", ()),
        ]
        hits: list[Hit] = []
        more = 0
        weak: tuple[list[Hit], int] = [], 0
        tried = set[tuple[QueryNode, ...]]()
        words = list_content_words(query)
        for note, filters in attempts:
            if filters in tried:
                continue
            tried.add(filters)
            wanted = Wanted(
                query=query,
                filters=filters,
                limit=limit,
                excluded=excluded,
                is_newest_first=kind == "file" and bool(filters),
            )
            try:
                with self._open_index() as reader:
                    hits, more = find_turns(reader, wanted)
                    weights = reader.weigh_words(words)
            except UserError as error:
                self._notes.append(single_line(error.message, 120))
                continue
            if any(share_words(hit, weights) >= LEAST_SHARE for hit in hits):
                self._notes += [note] if note else []
                break
            weak = weak if weak[0] else (hits, more)
        else:
            hits, more = weak
        return self._present_hits(hits, more, query or kind)

    def _recall_from_logs(
        self,
        query: str,
        project: str,
        since: str | None,
        until: str | None,
        limit: int,
        excluded: str | None,
    ) -> Answer:
        name = self.find_project(project)
        start, end = self._parse(since), self._parse(until)

        def passes(session: "Session", hit: Hit) -> bool:
            time = parse_stamp(hit.time)
            is_there = not name or self.archive.folding.project(session.project) == name
            return is_there and not (
                (start and not (time and time >= start)) or (end and not (time and time < end))
            )

        wanted = Wanted(query=query, limit=limit, excluded=excluded)
        hits, unread = scan_newest(self.archive, wanted, passes)
        if unread:
            self._notes.append(f"{format_count(unread, 'older session')} not searched yet")
        return self._present_hits(hits, 0, query)

    def _present_hits(self, hits: Sequence[Hit], more: int, query: str) -> Answer:
        items = tuple(self._present_hit(hit) for hit in hits)
        if not items:
            words = " ".join(list_content_words(query)[:2])
            return self._answer(
                f"Nothing found for {quote_title(query)}",
                (),
                f'recall("{words}", project="*") or sessions(text="{words}")',
            )
        found = f"{format_count(len(items), 'turn')} found for {quote_title(query)}"
        return self._answer(found, items, f'read("{items[0].handle}", view="calls")', more)

    def _present_hit(self, hit: Hit) -> Item:
        hit = place_summary(self.archive, hit)
        outcome, record = read_outcome(hit)
        if record:
            self._learn(record)
        title = quote_title(self.private(hit.title or ""), 70)
        state = hit.state if hit.state in ("abandoned", "recovered") else ""
        about = (_day(hit.time), _project_name(hit.project), title, hit.kind, state)
        prompt = single_line(self.private(format_prompt(outcome.prompt)), 100)
        asked = f"asked “{prompt}”" if prompt and hit.kind not in ("prompt", "title") else ""
        after = " · ".join(filter(None, (asked, self._describe(outcome))))
        return Item(
            handle=make_handle(hit),
            about=" · ".join(filter(None, about)),
            quote=self._quote(hit),
            after=f"→ {after}" if after else "",
        )

    def _quote(self, hit: Hit) -> str:
        """Return the words around a match; a word cut at an edge could be half a secret."""
        text = _drop_cut_word(hit.snippet)
        if text.startswith("…"):
            first, _, rest = text[1:].partition(" ")
            text = f"… {rest if len(first) > 20 else text[1:]}"
        return self.private(text)

    # ------------------------------------------------------------------ read

    def read(self, handle: str = "latest", *, around: int = 0, view: str = "talk") -> Answer:
        """Return turns of a session, or an overview of one."""
        self._refresh()
        if view not in VIEWS:
            self._notes.append(f"no view '{single_line(view, 20)}', talk was taken")
            view = "talk"
        found = HANDLE.fullmatch(handle.strip())
        name, branch, number = (
            found.group("session", "branch", "turn") if found else (handle.strip(), None, None)
        )
        try:
            session = self.archive.session(name or "latest", self.directory)
            conversations = self.archive.conversations(session)
            line = resolve_conversation(conversations, branch)
        except PlaitError as error:
            more = "; ".join(error.hints) if isinstance(error, AmbiguousSession) else ""
            text = single_line(". ".join(filter(None, (error.message, more))), 300)
            return self._answer(text[:1].upper() + text[1:], (), f'sessions(text="{name[:40]}")')
        if number is None:
            return self._overview(session, conversations, line)
        last = line.turns[-1].number if line.turns else 0
        wanted = int(number) if int(number) >= 0 else last + 1 + int(number)
        near = max(0, around)
        turns = [turn for turn in line.turns if abs(turn.number - wanted) <= near]
        if not any(turn.number == wanted for turn in turns):
            found_text = f"No turn {wanted} in {session.id[:8]}: it has turns 1 to {last}"
            return self._answer(found_text, (), f'read("{session.id[:8]}:{last}")')
        # The turn that was asked for comes first where a budget leaves others out.
        turns.sort(key=lambda turn: abs(turn.number - wanted))
        items = tuple(self._present_turn(session, line, branch, turn, view) for turn in turns)
        title = quote_title(self.private(self.archive.facts(session).title or ""))
        place = f"{session.id[:8]}{f'@{branch}' if branch else ''}"
        following = f'read("{place}:{min(wanted + 1, last)}")'
        deeper = VIEWS[min(VIEWS.index(view) + 1, 2)]
        after = following if wanted < last else f'read("{place}:{wanted}", view="{deeper}")'
        turns_text = f"Turn {wanted} of {last}" + (f" and {near} around it" if near else "")
        return self._answer(f"{turns_text} in {title}, view {view}", items, after)

    def _present_turn(
        self, session: "Session", line: Conversation, branch: str | None, turn: Turn, view: str
    ) -> Item:
        place = f"{session.id[:8]}{f'@{branch}' if branch else ''}:{turn.number}"
        if view == "raw":
            text = "\n".join(self._iter_raw(session, turn))
        else:
            text = "\n".join(_iter_turn_text(turn, view, self.private))
        calls = Counter(get_tool(call.name).kind for call in turn.calls)
        failed = sum(not call.succeeded for call in turn.calls)
        about = (
            _minute(turn.started),
            format_count(sum(calls.values()), "call") if calls else "",
            f"{failed} failed" if failed else "",
            "interrupted" if turn.is_interrupted else "",
        )
        return Item(
            handle=place,
            about=" · ".join(filter(None, about)),
            quote=self.private(text if len(text) <= MOST_TURN_TEXT else cut_at_word(text)),
        )

    def _iter_raw(self, session: "Session", turn: Turn) -> Iterator[str]:
        opened = self.archive.open(session)
        places = dict.fromkeys((item.file, item.line) for item in unfold_items(turn.items))
        for file, line in places:
            record = opened.record_at_line(file, line)
            if record:
                yield record.raw.decode("utf-8", "replace")

    def _overview(
        self, session: "Session", conversations: "SessionConversations", line: Any
    ) -> Answer:
        facts = self.archive.facts(session)
        prompts = [
            f"{turn.number}. {single_line(self.private(format_prompt(turn.prompt or '')), 160)}"
            for turn in line.turns
            if turn.opener
        ]
        short, title = session.id[:8], quote_title(self.private(facts.title or ""))
        head = (
            f"{_minute(facts.started)} to {_minute(facts.ended)}",
            single_line(facts.cwd or session.project, 60),
            format_money(line.cost),
        )
        items = [Item(handle=short, about=" · ".join(head), quote=self.private("\n".join(prompts)))]
        others = [
            f"{shorten_name(other.id)}: {format_count(len(other.turns), 'turn')}, "
            f"{single_line(format_prompt(other.label or (other.turns[0].prompt if other.turns else '') or ''), 80)}"
            for other in (*conversations.branches, *conversations.agents)
            if other.id != line.id
        ]
        if others:
            about = f'branches and agents, read("{short}@NAME:1")'
            items.append(Item(about=about, quote=self.private("\n".join(others))))
        changes = self.archive.session_files(session)
        if changes:
            rows = "\n".join(f"{c.path} +{c.added} -{c.removed}" for c in changes)
            items.append(Item(about="files changed", quote=self.private(rows)))
        last = line.turns[-1].number if line.turns else 0
        found = f"Session {title}: {format_count(len(prompts), 'prompt')}"
        return self._answer(found, items, f'read("{short}:{last}")')

    # ------------------------------------------------------------------ about

    def about(self, target: str = "", *, project: str = ".", limit: int = 8) -> Answer:
        """Return which turns wrote, ran, printed or read something, and why, newest first."""
        self._refresh()
        target = target.strip()
        if not target:
            return self._answer("Nothing was named", (), 'about("src/app.py")')
        if not self.has_index:
            return self.recall(target, project=project, limit=limit)
        name = self.find_project(project)
        where: tuple[QueryNode, ...] = (Field("project", name),) if name else ()
        is_file = bool(FILE_LIKE.fullmatch(target)) and "\n" not in target
        phrase = '"' + " ".join(target.replace('"', " ").split())[:200] + '"'
        attempts: list[tuple[str, tuple[QueryNode, ...]]] = []
        if is_file:
            own = target.removeprefix(f"{self.directory}/").lstrip("./~")
            attempts += [("", (Field("file", own), *where)), ("", (Field("file", own),))]
        attempts += [
            (phrase, (Field("kind", "tools"), *where)),
            (phrase, where),
            (phrase, ()),
        ]
        limit = min(max(limit, 1), MOST_LIMIT)
        for text, filters in attempts:
            wanted = Wanted(
                query=text,
                filters=filters,
                limit=limit,
                excluded=self.calling_session,
                is_newest_first=True,
            )
            try:
                with self._open_index() as reader:
                    hits, more = find_turns(reader, wanted)
            except UserError:
                continue
            if hits:
                items = tuple(self._present_hit(hit) for hit in hits)
                found = (
                    f"{format_count(len(items), 'turn')} about {quote_title(target)}, newest first"
                )
                return self._answer(found, items, f'read("{items[0].handle}", view="calls")', more)
        if len(list_content_words(target)) > 2:
            return self.recall(target, project="*", limit=limit)
        return self._present_hits((), 0, target)

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
        limit = min(max(limit, 1), 200)
        words = text.casefold().split()
        rows: list[tuple[Session, Facts]] = []
        more = 0
        project_of = self.archive.folding.project if self.has_index else str
        for session in sorted(self.archive.sessions, key=lambda session: -session.modified):
            if name and name not in (session.project, project_of(session.project)):
                continue
            if start and session.modified < start.timestamp():
                break
            if len(rows) == limit:
                more += 1
                continue
            facts = self.read_facts(session)
            own = f"{facts.title} {facts.first_prompt} {facts.cwd} {facts.git_branch} {session.id}"
            if all(word in own.casefold() for word in words):
                rows.append((session, facts))
        items = tuple(
            Item(
                handle=session.id[:8],
                about=" · ".join(
                    filter(
                        None,
                        (
                            _day(facts.ended),
                            _project_name(self.archive.folding.project(session.project))
                            if self.has_index
                            else _project_name(session.project),
                            facts.mark,
                            quote_title(self.private(facts.title or "")),
                        ),
                    )
                ),
            )
            for session, facts in rows
        )
        where = f" in {_project_name(name)}" if name else ""
        if not items and words:
            return self.recall(text, project="*")
        if not items:
            call = 'sessions(project="*")' if name or since else "the logs: `plait doctor`"
            return self._answer(f"No sessions{where}", (), call)
        found = f"{format_count(len(items), 'session')}{where}, newest first"
        return self._answer(found, items, f'read("{items[0].handle}")', more)

    # ------------------------------------------------------------------ cost

    def cost(self, *, session: str = "", project: str = "", since: str | None = None) -> Answer:
        """Return what a session, a project or a period cost, with the main causes."""
        self._refresh()
        if session:
            return self._session_cost(session)
        from plait.sessions.project_folders import assign_projects
        from plait.usage.spending import build_cross_table, filter_by_time

        start, name = self._parse(since), self.find_project(project or "*")
        responses = filter_by_time(self.archive.responses().responses, start, None)
        responses = assign_projects(responses, self.archive.folding)
        if name:
            responses = [r for r in responses if r.project == name]
        table = build_cross_table(responses, ("project", "session", "model"), self.archive.prices)
        if not table.cells:
            return self._answer("No token usage recorded there", (), 'cost(since="30d")')
        items = []
        for dimension in ("project", "model", "session"):
            sums = list(table.sums_by(dimension).items())
            lines = [
                f"{(key or 'unknown')[: 8 if dimension == 'session' else 60]} "
                f"{format_money(tally.cost)}, {format_tokens(tally.tokens.total)} tokens"
                for (key,), tally in sums[:8]
            ]
            if len(sums) > 8:
                lines.append(f"{len(sums) - 8} more")
            items.append(Item(about=f"by {dimension}", quote="\n".join(lines)))
        dearest = next(iter(table.sums_by("session")))[0] or ""
        where = f" in {_project_name(name)}" if name else ""
        when = f" since {format_day(start)}" if start else ""
        total = table.totals
        found = (
            f"{format_money(total.cost)}{where}{when}: {format_tokens(total.tokens.total)} tokens"
        )
        return self._answer(found, items, f'cost(session="{dearest[:8]}")')

    def _session_cost(self, name: str) -> Answer:
        from plait.insights.why import CAUSE_NAMES, CAUSE_REASONS, find_jumps, format_reason

        try:
            session = self.archive.session(name.partition(":")[0], self.directory)
        except PlaitError as error:
            text = single_line(error.message, 200)
            return self._answer(text[:1].upper() + text[1:], (), "sessions()")
        why = self.archive.why(session)
        totals = why.totals
        causes = [
            f"{CAUSE_NAMES[cause]}: {format_money(part.again_cost_usd)} again in "
            f"{format_count(part.requests, 'request')}, {CAUSE_REASONS[cause]}"
            for cause, part in sorted(
                totals.causes.items(), key=lambda pair: -pair[1].again_cost_usd
            )
        ]
        jumps = [
            f"turn {request.turn}: {format_money(request.cost_usd or 0)}, {format_reason(request)}"
            for request in sorted(find_jumps(why.requests), key=lambda r: -(r.cost_usd or 0))[:6]
        ]
        carried = [
            f"{format_tokens(item.tokens)} tokens since turn {item.turn or 0}: {_drop_cut_word(item.words)}"
            for item in why.carried[:6]
        ]
        parts = (("paid again", causes), ("dearest requests", jumps), ("carried along", carried))
        items = [
            Item(about=about, quote=self.private("\n".join(lines)))
            for about, lines in parts
            if lines
        ]
        found = (
            f"{session.id[:8]} cost {format_money(totals.cost_usd)}: "
            f"{format_count(totals.requests, 'request')}, {format_tokens(totals.read)} tokens from "
            f"the cache, {format_tokens(totals.new)} new, {format_tokens(totals.again)} written again"
        )
        turn = next((r.turn for r in why.requests if r.turn), 1)
        return self._answer(found, items, f'read("{session.id[:8]}:{turn}", view="calls")')

    # ------------------------------------------------------------------ what all share

    def add_notes(self, notes: Sequence[str]) -> None:
        """Add what the next answer says of how it was found."""
        self._notes += notes

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

    def _learn(self, data: bytes) -> None:
        """Let the redactor see all of a line: a quote may be cut off from what marks a secret."""
        if self.is_redacted and len(data) <= MOST_LEARNED:
            try:
                self._redactor.learn(parse_record(data))
            except NotAnObject:
                return

    def _describe(self, outcome: Outcome) -> str:
        commits = tuple(map(self.private, outcome.commits))
        return replace(outcome, commits=commits).describe()

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
        if name not in (None, "", "."):
            wanted = make_project_slug(str(name)).casefold()
            folders = {session.project for session in self.archive.sessions}
            projects = {self.archive.folding.project(folder) for folder in folders}
            found = [p for p in sorted(projects, key=len) if wanted in p.casefold()]
            if found:
                exact = [p for p in found if p.casefold().endswith(wanted)]
                return (exact or found)[0]
            self._notes.append(f"no project '{single_line(name, 40)}', all were searched")
            return None
        folders = {session.project for session in self.archive.sessions}
        for place in (self.directory, *self.directory.parents):
            if (slug := make_project_slug(str(place))) in folders:
                return self.archive.folding.project(slug)
        return None

    def _parse(self, text: str | None) -> datetime | None:
        if not text or not str(text).strip():
            return None
        try:
            return self.parse_time(str(text))
        except UserError:
            self._notes.append(f"{quote_title(str(text), 30)} is not a time and was ignored")
            return None

    def _time_filters(self, since: str | None, until: str | None) -> tuple[QueryNode, ...]:
        moments = (("after", self._parse(since)), ("before", self._parse(until)))
        return tuple(
            Field(name, time.astimezone(UTC).isoformat(timespec="seconds"))
            for name, time in moments
            if time
        )

    def _refresh(self) -> None:
        """Look at the folders again where it is time to, and keep the index up to date."""
        if self.index is None:
            if self.archive.index and not self._is_updated:
                self._is_updated = True
                update_if_stale(self.archive, self.archive.index)
        elif self.index.is_due:
            self.archive = self.archive.reopen()
            self.index.refresh(self.archive)

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
        notes, self._notes = tuple(dict.fromkeys(self._notes)), []
        if self.index and self.index.is_running:
            state = "updated" if self.index.exists else "built, so this is from the newest logs"
            notes = (*notes, f"The index is being {state}")
        return Answer(found=found, items=tuple(items), next=following, more=more, notes=notes)


def make_handle(hit: Hit) -> str:
    """Return what a turn is read by: the session, a branch where it is not the main one, the turn."""
    short = hit.session[:8]
    branch = ""
    if hit.branch and hit.branch != hit.session:
        branch = f"@{shorten_name(hit.branch)[:SHORT]}"
    elif hit.state == "abandoned":
        branch = f"@{short}"
    return f"{short}{branch}" + (f":{hit.turn}" if hit.turn is not None else "")


def _drop_cut_word(text: str) -> str:
    """Return a shortened text without the word that was cut."""
    return text[:-1].rpartition(" ")[0] + " …" if text.endswith("…") else text


def cut_at_word(text: str) -> str:
    """Return the beginning of a long text without its last word: half a secret is not recognised."""
    return text[:MOST_TURN_TEXT].rpartition(" ")[0] + " …"


def _iter_turn_text(turn: Turn, view: str, private: Callable[[str], str]) -> Iterator[str]:
    """Yield what was said in a turn, with its calls where they are wanted.

    What is shortened is redacted before.
    """
    for item in unfold_items(turn.items):
        if isinstance(item, UserMessage) and item.text and item.kind not in ("meta", "reminder"):
            yield f"[{item.kind}] {item.text}"
            if item.output and view != "talk":
                yield item.output
        elif isinstance(item, AssistantText) and not item.is_intermediate and item.text:
            yield f"[answer] {item.text}"
        elif isinstance(item, AssistantThinking) and view == "full" and item.text:
            yield f"[thinking] {item.text}"
        elif isinstance(item, CompactionItem):
            yield "[compaction] the conversation before was replaced by a summary"
        elif isinstance(item, ToolCall) and not item.is_intermediate and view != "talk":
            given = item.input if isinstance(item.input, dict) else {}
            values = [str(value) for value in given.values() if isinstance(value, str | int)]
            if view == "full":
                yield f"[{item.name}] " + "\n".join(f"{k}: {v}" for k, v in given.items())
                yield f"[{item.outcome}] {item.result.text if item.result else ''}"
            else:
                yield f"[{item.name}] {single_line(private(values[0]) if values else '', 160)} → {item.outcome}"
                if item.outcome == "failed" and item.result:
                    yield f"  {single_line(private(item.result.text[:MOST_TURN_TEXT]), 200)}"


def _day(stamp: str | None) -> str:
    time = parse_stamp(stamp)
    return format_day(time) if time else ""


def _minute(stamp: str | None) -> str:
    time = parse_stamp(stamp)
    return f"{format_minute(time)} UTC" if time else "unknown"


def _project_name(name: str | None) -> str:
    return single_line((name or "").strip("-"), 60)
