"""Profiles: how much of a session a lake may contain.

    counts    tables as they were read, names replaced by pseudonyms, text removed
    redacted  sessions are read through one redactor, and tables are made of the result
    full      everything as it is

A pseudonym is a keyed digest: the same name has the same one in all tables and at all times, and
nobody without the key can find out which name it is by trying names. Public words (tools, models,
kinds of records) reveal nothing about their users and stay; a word that is on no list is treated as
a name.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from plait.conversation.prices.table import find_model_prices, load_price_table
from plait.conversation.tools import TOOLS
from plait.lake.schema import TABLES, Column, Labels, Profile, tables_for_profile
from plait.record.counts import SUBTYPES
from plait.record.fields import ATTACHMENT_FIELDS, PROGRESS_FIELDS
from plait.record.types import RECORD_CLASSES
from plait.redact.rules import Rules
from plait.sessions.model import Session
from plait.sessions.redaction import Redaction

if TYPE_CHECKING:
    import pyarrow as pa


PUBLIC_TOOLS = frozenset(TOOLS) | frozenset(
    """
    Artifact CronCreate CronDelete CronList EnterWorktree ExitWorktree KillBash ListAgents
    ListMcpResourcesTool Monitor PushNotification ReadMcpResourceDirTool ReadMcpResourceTool
    RemoteTrigger ReportFindings ScheduleWakeup SendUserFile SlashCommand StructuredOutput
    TaskStop TeamCreate TeamDelete WaitForMcpServers web_fetch web_search
    """.split()
)
PUBLIC_AGENTS = frozenset(
    "Bash Explore Plan claude-code-guide fork general-purpose output-style-setup statusline-setup"
    " worker".split()
)
ENTRYPOINTS = frozenset(
    "claude-desktop claude-vscode cli local-agent mcp remote sdk-cli sdk-py sdk-ts".split()
)
SERVICE_WORDS = frozenset("batch eu fast flex global not_available priority standard us".split())
"""Public words for how and where the API answers."""
NO_MODEL = "<synthetic>"
MODEL_AFFIXES = frozenset("anthropic apac au eu global jp latest m us v".split())
"""Words around the names of models: regions, versions, the size of the context."""
WORD = re.compile(r"[^\W\d_]+")
VERSION = re.compile(r"\d{1,5}(?:\.\d{1,6}){1,3}(?:-(?:alpha|beta|dev|rc)[.\d]{0,9})?")
MONTH = re.compile(r"\d{4}-\d\d|none")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z|~")

UUID = r"(?i:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})"
HEX = r"(?=[a-f]*[0-9])[0-9a-f]{7,64}"
CALL = r"(?:srv)?toolu_(?:bdrk_|vrtx_)?01[0-9A-Za-z]{22}"
NUMBER = r"[0-9]{1,9}"
ID = re.compile(rf"(?:{UUID}|{HEX}|{CALL}|{NUMBER})")
ID_SEPARATOR = re.compile(r"(#agent-|@|~)")
"""What joins the parts of the ids of DAG-lines."""
ALL_UUIDS = rf"^(?:{UUID})?$"
PSEUDONYM_BYTES = 8
"""Of a billion names, hardly any two share a pseudonym."""
PSEUDONYM_LABELS = {"file": "log", "git_branch": "branch", "path": "file", "agent_type": "agent"}
"""What pseudonyms begin with, if not with the name of their column."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Sessions that share records and so must be read together; nearly always a single one."""

    sessions: tuple[Session, ...]
    """In the order in which they began."""
    builds: tuple[int, ...]
    """A number for the rows of each session, different in every build."""
    fingerprint: str
    labels: Labels
    profile: Profile
    roots: tuple[Path, ...]
    """The folders that their files are below: tables name files relative to these."""
    key: bytes = field(default=b"", repr=False)
    """The key of pseudonyms in counts, and of digests of sessions wherever names are hidden."""
    rules: Rules | None = None
    """What else to redact, if sessions are redacted."""

    @property
    def family(self) -> str:
        """The id of the first session."""
        return self.sessions[0].id

    @property
    def size(self) -> int:
        """The size of all log files in bytes."""
        return sum(file.size for session in self.sessions for file in session.files)


def create_redaction(unit: Unit) -> Redaction | None:
    """Return what a unit is read through, if its profile needs it; it has learned nothing yet."""
    if unit.profile != "redacted":
        return None
    from plait.redact import Redactor

    return Redaction(Redactor(unit.rules))


@lru_cache(maxsize=1024)
def is_public_model(name: str) -> bool:
    """Return whether a model is in the price lists, and all words of its name are."""
    if name == NO_MODEL:
        return True
    words = {word.lower() for word in WORD.findall(name)}
    return words <= _list_model_words() and find_model_prices(name) is not None


@cache
def _list_model_words() -> frozenset[str]:
    """Return all words in the names of models in the price lists."""
    patterns = [
        pattern
        for provider in load_price_table().providers
        for model in provider.known_models
        for pattern in model.names
    ]
    plain_patterns = [pattern[1:] for pattern in patterns if pattern[0] in "=^$*"]
    return MODEL_AFFIXES.union(word for text in plain_patterns for word in WORD.findall(text))


IS_PUBLIC: Mapping[str, Callable[[str], object]] = {
    "agent_type": PUBLIC_AGENTS.__contains__,
    "began": TIME.fullmatch,
    "entrypoint": ENTRYPOINTS.__contains__,
    "geo": SERVICE_WORDS.__contains__,
    "kind": frozenset(RECORD_CLASSES).__contains__,
    "model": is_public_model,
    "month": MONTH.fullmatch,
    "speed": SERVICE_WORDS.__contains__,
    "subtype": (SUBTYPES | frozenset(ATTACHMENT_FIELDS) | frozenset(PROGRESS_FIELDS)).__contains__,
    "tier": SERVICE_WORDS.__contains__,
    "tool": PUBLIC_TOOLS.__contains__,
    "version": VERSION.fullmatch,
}
"""By column, whether a word is public; columns that are not here have no such words."""


def reduce_to_counts(tables: "Mapping[str, pa.Table]", key: bytes) -> "dict[str, pa.Table]":
    """Return tables without text, paths and names: names become pseudonyms, text null."""
    reduced = {}
    for described in tables_for_profile("counts"):
        if described.name not in tables:
            continue
        table = tables[described.name]
        for position, column in enumerate(TABLES[described.name].columns):
            values = table.column(column.name)
            masked = _mask_column(values, column, key)
            if masked is not values:
                table = table.set_column(position, table.schema.field(column.name), masked)
        reduced[described.name] = table
    return reduced


def _mask_column(
    values: "pa.ChunkedArray", column: Column, key: bytes
) -> "pa.ChunkedArray | pa.Array":
    """Return the values of a column for the profile `counts`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    match column.sensitivity:
        case "plain":
            return values
        case "worded":
            return pa.nulls(len(values), values.type)
        case "id":
            if pc.all(pc.match_substring_regex(values, ALL_UUIDS)).as_py() is not False:
                return values
            mask: Callable[[str], str] = partial(mask_id, key)
        case "listed" | "named":
            is_public = IS_PUBLIC.get(column.name)
            label = PSEUDONYM_LABELS.get(column.name, column.name)

            def mask_unknown(value: str) -> str:
                is_shown = is_public is not None and is_public(value)
                return value if is_shown else make_pseudonym(key, label, value)

            mask = mask_unknown

    chunks = []
    for chunk in values.dictionary_encode().chunks:  # each different value is masked once
        texts = [mask(text) if text else text for text in chunk.dictionary.to_pylist()]
        chunks.append(pa.array(texts, values.type).take(chunk.indices))
    return pa.chunked_array(chunks, values.type)


def mask_id(key: bytes, value: str) -> str:
    """Return an id for the profile `counts`: parts that do not look like ids become pseudonyms."""
    parts = ID_SEPARATOR.split(value)
    for position in range(0, len(parts), 2):  # the others are separators
        if parts[position] and not ID.fullmatch(parts[position]):
            parts[position] = make_pseudonym(key, "id", parts[position])
    return "".join(parts)


def make_pseudonym(key: bytes, label: str, value: str) -> str:
    """Return the pseudonym of a name."""
    text = f"{label}\0{value}".encode("utf-8", "surrogatepass")
    secret = key if len(key) <= blake2b.MAX_KEY_SIZE else blake2b(key).digest()
    return f"{label}-{blake2b(text, digest_size=PSEUDONYM_BYTES, key=secret).hexdigest()}"
