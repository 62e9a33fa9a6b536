"""What agents used: on their rows, in Timeline, in a table, and as `plait usage` counts it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from examples.drawing import draw
from plait.archive import Archive
from plait.archive.live.session import open_live_session
from plait.cli.app import run
from plait.conversation.prices import Prices
from plait.sessions.model import Session
from plait.view.agents import AgentCost, sum_agent_costs
from plait.view.formats import format_tokens
from tests.web.reading_page import Reader, Served, reader, served

__all__ = ["reader"]
WITH_AGENTS = ("sub-agent", "teammates", "workflow")
FIGURES = ("input", "output", "cache_read")
BRANCHED = """
file branched cwd=/home/dev/tide pace=lifelike
U0 "Good morning."
A0< "Good morning."
U1< "Count the boats."
A1< Agent(description="Count", prompt="Count them") as count
R1< of count "Seven."
A2< "Seven."
U2<A0 "Begin again."
A3< Agent(description="Look", prompt="Look again", subagent_type="Explore") as look
R3< of look "Eight."
A4< "Eight."
agent counter of count
U11 "Count them"
A11< Grep(pattern="boat") as grep
R11< of grep "boat"
A12< "Seven."
agent looker of look
U21 "Look again"
A20< "Good morning."
A21< "Eight."
"""


@pytest.fixture(scope="module")
def root(gallery: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return sessions of the gallery, and one whose agents stand on two branches."""
    found = tmp_path_factory.mktemp("with-agents")
    for name in WITH_AGENTS:
        (found / name).symlink_to(gallery / name)
    draw(BRANCHED).write(found / "drawn")
    return found


@pytest.fixture(scope="module")
def at(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve them."""
    with served(root, tmp_path_factory.mktemp("with-agents-index")) as server:
        yield server


def used(root: Path, capfd: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    """Return what `plait usage` says of each session."""
    assert run(["usage", "session", "--json", "--root", str(root)]) == 0
    return {row["session"]: row for row in json.loads(capfd.readouterr().out)["rows"]}


def agents_of(session: Session) -> list[AgentCost]:
    """Return what the agents of a session took."""
    return list(open_live_session(session.id, session, Prices()).agents.values())


def test_agents_use_what_the_command_counts(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    counted, found = used(root, capfd), Archive([root]).sessions
    assert sum(row["agents"]["responses"] for row in counted.values()) > 10
    for session in found:
        for name, is_service in (("agents", False), ("service", True)):
            agents = [item for item in agents_of(session) if (item.type == "service") is is_service]
            sums, row = sum_agent_costs(agents), counted[session.id][name]
            assert sums.responses == row["responses"]
            assert [getattr(sums.tokens, part) for part in FIGURES] == [
                row[f"{part}_tokens"] for part in FIGURES
            ]
            assert sums.tokens.cache_write == row["cache_creation_tokens"]
            assert (sums.cost or 0) == pytest.approx(row["cost_usd"])


def test_agents_are_identified_by_type_task_and_branch(root: Path) -> None:
    (session,) = Archive([root / "drawn"]).sessions
    found = {item.prompt: item for item in agents_of(session)}
    assert {words: (item.type, item.who, item.calls) for words, item in found.items()} == {
        "Count": ("general-purpose", "abandoned", 1),
        "Look": ("Explore", "agents", 0),
    }


def test_records_repeated_from_the_conversation_are_not_counted_for_the_agent(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    draw(BRANCHED).write(tmp_path)
    (session,) = Archive([tmp_path]).sessions
    agents = [file.path for file in session.files if file != session.file]
    look = next(path for path in agents if b"Look again" in path.read_bytes())
    own, there = (re.findall(r"msg_\w+", path.read_text()) for path in (look, session.path))
    look.write_text(look.read_text().replace(own[0], there[0]))
    (session,) = Archive([tmp_path]).sessions
    assert {item.prompt: item.responses for item in agents_of(session)} == {"Look": 1, "Count": 2}
    assert used(tmp_path, capfd)[session.id]["agents"]["responses"] == 3


def numbers(html: str, row: str) -> list[str]:
    """Return the cells of a row of the table of agents, without markup."""
    table = html[html.index("agents-table") :]
    cells = table[table.index(row) :].partition("</tr>")[0]
    return [re.sub(r"<[^>]*>", "", item) for item in re.findall(r"<td.*?</td>", cells)]


def test_table_shows_usage_per_agent(at: Served) -> None:
    session = next(
        item for item in at.library.snapshot.names.values() if "sub-agent" in str(item.path)
    )
    found = agents_of(session)
    page = at.ask(f"/s/{session.id}/usage")[2].decode()
    for item in found:
        figures = numbers(page, item.prompt)
        assert figures[2:5] == [
            str(item.responses),
            format_tokens(item.tokens.total_input),
            format_tokens(item.tokens.output),
        ]
        assert figures[0].startswith("$")
        assert figures[6:] == [item.type, "timeline"]
    together = numbers(page, "Total")
    assert together[2] == str(sum(item.responses for item in found))


def test_rows_and_timeline_agree_on_agents(at: Served) -> None:
    session = next(
        first for first in at.library.snapshot.names.values() if "sub-agent" in str(first.path)
    )
    first = max(agents_of(session), key=lambda agent: agent.tokens.output)
    words = f"{first.tokens.output} out"
    assert len(re.findall(rf'class="res by-agents">[^<]*{words}', read_page(at, session))) == 2
    timeline = at.ask(f"/s/{session.id}/timeline")[2].decode()
    facts = r"</span> <span>".join((r"turn \d+", r"\d+ calls", r"[\d.k]+ in", words, r"\$"))
    assert re.search(facts, timeline)


def read_page(at: Served, session: Session) -> str:
    """Return the page that is read."""
    return at.ask(f"/s/{session.id}")[2].decode()


def test_turns_show_output_tokens(at: Served) -> None:
    session = next(
        item for item in at.library.snapshot.names.values() if "sub-agent" in str(item.path)
    )
    spent = re.findall(r'class="spent">([^<]*)', read_page(at, session))
    assert any(re.search(r"\b\d+ out\b", words) for words in spent)
    assert not any("token" in words for words in spent)


def test_table_row_links_to_the_agent(at: Served, reader: Reader) -> None:
    session = next(
        item for item in at.library.snapshot.names.values() if "sub-agent" in str(item.path)
    )
    page = reader(at, f"/s/{session.id}/usage")
    link = page.locator(".agents-table tbody th a").first
    name = link.inner_text()
    link.click()
    agent = page.locator("details.agent[open]").first
    agent.wait_for()
    assert name in agent.locator(":scope > .line").inner_text()


def test_background_requests_are_folded_and_are_not_agents(tmp_path: Path) -> None:
    drawing = (
        f'{BRANCHED}agent aprompt_suggestion-1a2b3c nometa\nU31 "Suggest a prompt"\nA31< "More"\n'
    )
    draw(drawing).write(tmp_path / "logs")
    with served(tmp_path / "logs", tmp_path / "index") as at:
        (name,) = at.library.snapshot.names
        page = at.ask(f"/s/{name}")[2].decode()
    below = page.partition('<section class="unplaced">')[2].partition("</section>")[0]
    assert "Agents without a call" not in below
    summary, _, folded = below.partition("</summary>")
    assert summary.endswith("<span>1 background request</span>")
    assert "Suggest a prompt" in folded
