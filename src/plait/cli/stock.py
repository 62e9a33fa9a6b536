"""The account of a graph to JSON, to lines on the screen, and its findings to their places."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from plait.cli.output import Output
from plait.cli.text import by_count, counted, in_words, number
from plait.graph import SessionGraph
from plait.line import Finding


def graph_object(graph: SessionGraph) -> dict[str, Any]:
    """Returns the account of a graph as `--json` prints it."""
    account = graph.account
    return {
        "nodes": account.nodes,
        "inline": account.inline,
        "folded": by_count(account.folded),
        "dag_lines": account.dag_lines,
        "branches": account.branches,
        "rungs": by_count(account.rungs),
        "tool_results": account.tool_results,
        "tool_results_reachable": account.tool_results_reachable,
        "tool_results_orphaned": account.tool_results_orphaned,
        "copies": account.copies,
        "loose": account.loose,
        "balanced": account.balanced,
    }


def graph_findings(graph: SessionGraph) -> Iterator[Finding]:
    """Yields the findings of a graph with the paths of their files."""
    for found in graph.findings:
        path = None if found.file is None else Path(graph.files[found.file].path)
        yield Finding(found.code, found.sentence, path, found.line, found.uuid)


def print_graph(output: Output, graph: SessionGraph) -> None:
    """Prints where every record and every tool result has gone."""
    account = graph.account
    if not account.nodes:
        return
    folded = sum(account.folded.values())
    output.print("")
    output.print(
        f"{counted(account.nodes, 'node')} on {counted(account.dag_lines, 'DAG-line')}",
        style="bold",
    )
    output.print(f"{number(account.inline)} inline + {number(folded)} folded")
    if folded:
        output.print(f"folded: {in_words(account.folded)}")
    if account.rungs:
        output.print(f"rungs: {in_words(account.rungs)}")
    results = counted(account.tool_results, "tool result")
    reached, orphaned = account.tool_results_reachable, account.tool_results_orphaned
    output.print(f"{results}: {number(reached)} with their call, {number(orphaned)} without one")
    if account.balanced:
        output.print("the graph balances: every node stands once", style="green")
    else:
        output.print("the graph does not balance: please report this", style="bold red")
