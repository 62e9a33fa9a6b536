"""Words of a log to whether everybody knows them: tools, agents, models, kinds of the client.

What only figures are kept of may say these, because they tell nothing of whoever used them. A
word that is on no list is taken for a name that somebody gave.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache

from plait.conversation.prices.table import model_prices, price_table
from plait.conversation.tools import TOOLS
from plait.record.account import SUBTYPES
from plait.record.types import KINDS
from plait.record.types.fields import ATTACHMENTS, PROGRESS

CLIENT_TOOLS = frozenset(TOOLS) | frozenset(
    """
    Artifact CronCreate CronDelete CronList EnterWorktree ExitWorktree KillBash ListAgents
    ListMcpResourcesTool Monitor PushNotification ReadMcpResourceDirTool ReadMcpResourceTool
    RemoteTrigger ReportFindings ScheduleWakeup SendUserFile SlashCommand StructuredOutput
    TaskStop TeamCreate TeamDelete WaitForMcpServers web_fetch web_search
    """.split()
)
CLIENT_AGENTS = frozenset(
    "Bash Explore Plan claude-code-guide fork general-purpose output-style-setup statusline-setup"
    " worker".split()
)
ENTRYPOINTS = frozenset(
    "claude-desktop claude-vscode cli local-agent mcp remote sdk-cli sdk-py sdk-ts".split()
)
SERVICES = frozenset("batch eu fast flex global not_available priority standard us".split())
"""How and where the provider answers."""
NO_MODEL = "<synthetic>"
BESIDE_MODELS = frozenset("anthropic apac au eu global jp latest m us v".split())
"""What stands around the names of models: regions, versions, the size of the context."""
WORD = re.compile(r"[^\W\d_]+")
VERSION = re.compile(r"\d{1,5}(?:\.\d{1,6}){1,3}(?:-(?:alpha|beta|dev|rc)[.\d]{0,9})?")
MONTH = re.compile(r"\d{4}-\d\d|none")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z|~")

UUID = r"(?i:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})"
HEX = r"(?=[a-f]*[0-9])[0-9a-f]{7,64}"
CALL = r"(?:srv)?toolu_(?:bdrk_|vrtx_)?01[0-9A-Za-z]{22}"
NUMBER = r"[0-9]{1,9}"
ID = re.compile(rf"(?:{UUID}|{HEX}|{CALL}|{NUMBER})")
JOINT = re.compile(r"(#agent-|@|~)")
"""What the names of DAG-lines are joined by."""


@lru_cache(maxsize=1024)
def is_public_model(name: str) -> bool:
    """Tells whether a model is one that the price lists name, and named as they do."""
    if name == NO_MODEL:
        return True
    words = {one.lower() for one in WORD.findall(name)}
    return words <= _words_of_models() and model_prices(name) is not None


@cache
def _words_of_models() -> frozenset[str]:
    """Returns all words that names of models are made of in the price lists."""
    providers = price_table().providers
    ways = [way for one in providers for model in one.listed for way in model.names]
    plain = (way[1:] for way in ways if way[0] in "=^$*")
    return BESIDE_MODELS.union(word for way in plain for word in WORD.findall(way))


KNOWN: Mapping[str, Callable[[str], object]] = {
    "agent_type": CLIENT_AGENTS.__contains__,
    "began": TIME.fullmatch,
    "entrypoint": ENTRYPOINTS.__contains__,
    "geo": SERVICES.__contains__,
    "kind": frozenset(KINDS).__contains__,
    "model": is_public_model,
    "month": MONTH.fullmatch,
    "speed": SERVICES.__contains__,
    "subtype": (SUBTYPES | frozenset(ATTACHMENTS) | frozenset(PROGRESS)).__contains__,
    "tier": SERVICES.__contains__,
    "tool": CLIENT_TOOLS.__contains__,
    "version": VERSION.fullmatch,
}
"""What tells a word of a column that everybody knows; a column without one has none."""
