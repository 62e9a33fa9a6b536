"""Agents of workflow runs to the runs, with the call and the journal of each."""

from collections.abc import Sequence

from plait.graph.agents import STARTED, Spawns
from plait.graph.drafts import Drafts
from plait.graph.index import Index
from plait.graph.model import DagLine, WorkflowRun


def runs_of(
    index: Index, spawns: Spawns, drafts: Drafts, lines: Sequence[DagLine]
) -> dict[str, WorkflowRun]:
    """Returns the workflow runs by their ids."""
    journals = {
        file.run: n for n, file in enumerate(index.files) if file.kind == "journal" and file.run
    }
    agents: dict[str, list[DagLine]] = {run: [] for run in (*journals, *spawns.by_run)}
    for draft, line in zip(drafts.lines, lines, strict=True):
        run = index.files[draft.walk.file].run
        if run and draft.kind == "agent":
            agents.setdefault(run, []).append(line)
    return {
        run: run_of(index, spawns, run, journals.get(run), found) for run, found in agents.items()
    }


def run_of(
    index: Index, spawns: Spawns, run: str, journal: int | None, agents: list[DagLine]
) -> WorkflowRun:
    """Returns one run, its agents in the order in which the journal started them."""
    started: list[str] = []
    if journal is not None:
        asides = index.facts[journal].asides
        started = [aside.agent or "" for aside in asides if aside.kind == STARTED]
    place = {agent: at for at, agent in reversed(list(enumerate(started)))}
    spawn = spawns.by_run.get(run)
    ordered = sorted(
        agents, key=lambda line: (place.get(line.agent or "", len(started)), line.started or "")
    )
    node = index.nodes[spawn.node] if spawn else None
    session = index.sessions[journal] if journal is not None else node.session if node else ""
    return WorkflowRun(
        run,
        agents[0].session if agents else session,
        journal,
        node.uuid if node else None,
        tuple(line.id for line in ordered),
    )
