"""The commands of `plait`: name, group, summary, module and effect of each.

Help, the tables of subcommands, suggestions for mistyped names, the command reference and the man
page are generated from these rows. This is plain data, loaded at every start; a command itself is
imported when it is called.
"""

from typing import Literal, NamedTuple

EVERYDAY = ("ls", "show", "search", "usage", "serve", "resume", "export", "keep")
"""The commands that help lists first."""
Effect = Literal["reads", "writes", "network"]


class Command(NamedTuple):
    """One command: how it is listed, and its function."""

    name: str
    """Its full name: `keep status`."""
    summary: str
    home: str
    """A module of `plait.cli`, or `package.module:function`; by default the function is named after
    the last word of the command, with `_command`.
    """
    effect: Effect = "reads"
    """The most it affects: only logs are read, files are written, other machines are contacted."""
    is_hidden: bool = False
    """Whether only programs call it."""
    group: str = ""
    """The group that help lists it in."""

    @property
    def target(self) -> str:
        """The module and the function, as `module:function`."""
        module, _, function = self.home.partition(":")
        module = module if module.startswith("plait.") else f"plait.cli.{module}"
        return f"{module}:{function or self.name.rpartition(' ')[2] + '_command'}"


COMMANDS_BY_GROUP: dict[str, tuple[Command, ...]] = {
    "Read": (
        Command("ls", "List projects and sessions.", "ls"),
        Command("show", "Read a conversation: prompts, answers, tool calls, agents.", "show"),
        Command("ui", "Browse and read sessions in the terminal.", "plait.tui.command", "writes"),
        Command("serve", "Browse all sessions in your web browser.", "serve", "writes"),
        Command("open", "Open a session in your web browser.", "serve", "writes"),
        Command("log", "Draw a session as a graph of turns and branches.", "graph"),
        Command("tree", "Draw sessions with their branches and agents as a tree.", "graph"),
        Command("paths", "List every conversation path from first prompt to leaf.", "graph"),
        Command("diff", "Compare two branches of a session.", "diff"),
        Command("context", "Show what Claude will see when a session is resumed.", "resume"),
        Command("cat", "Print the lines of a session's log.", "cat"),
    ),
    "Search": (
        Command("search", "Search everything that was said, run or printed.", "search"),
        Command("files", "List or extract the files that a session changed.", "files", "writes"),
        Command("history", "Show the history of a file across sessions.", "files"),
        Command("blame", "Show which turn of which session wrote each line.", "files", "writes"),
        Command("recall", "Find earlier turns that answer a question.", "recall", "writes"),
        Command("about", "Find turns about a file, symbol or error.", "recall", "writes"),
        Command("standup", "Summarise recent work, by project.", "recall"),
        Command("star", "Star sessions and turns to find them again.", "stars", "writes"),
    ),
    "Cost": (
        Command("usage", "Show tokens and cost by day, session, model and more.", "usage"),
        Command("why", "Explain what a session cost, request by request.", "why"),
        Command("waste", "Find avoidable spending.", "why"),
        Command("stats", "Count prompts, tools, models, agents, files and hours.", "stats"),
        Command("insights", "Show trends, habits and outliers.", "insights"),
    ),
    "Share": (
        Command("export", "Export sessions as Markdown, HTML, text or JSON.", "export", "writes"),
        Command("redact", "Find or remove secrets and personal data.", "redact", "writes"),
        Command("port", "Pack sessions into a file, or unpack them here.", "edit", "writes"),
        Command("trace", "Show sessions as traces, or send them to a collector.", "trace"),
        Command("trace show", "Show the spans of a session as a waterfall.", "waterfall"),
        Command("trace send", "Send traces, or write them to a file.", "trace", "network"),
        Command("trace status", "Show what was sent and what is waiting.", "trace"),
        Command("trace flush", "Send waiting traces now.", "trace", "network"),
        Command("trace install", "Send traces while you work.", "hooks", "writes"),
        Command("trace uninstall", "Stop sending traces.", "hooks", "writes"),
        Command("trace hooks", "Show the hooks that send traces.", "hooks"),
        # Claude Code's settings call `hook`.
        Command("hook", "Send traces while you work.", "hooks", "network", is_hidden=True),
        Command("hook work", "Process the waiting jobs.", "hooks", "network", is_hidden=True),
    ),
    "Edit": (
        Command("fork", "Start a new session from any message.", "edit", "writes"),
        Command("clone", "Copy a session under a new id.", "edit", "writes"),
        Command("switch", "Choose the branch that Claude Code resumes.", "edit", "writes"),
        Command("trim", "Remove what a session's context no longer needs.", "trim", "writes"),
        Command("compress", "Summarise the older turns of a session.", "edit", "writes"),
        Command("repair", "Make a session resume with its full history.", "edit", "writes"),
        Command("rename", "Give a session a new title.", "edit", "writes"),
        Command("tag", "Tag a session, or remove its tag.", "edit", "writes"),
        Command("move", "Move a directory's sessions to another directory.", "edit", "writes"),
        Command("delete", "Delete sessions; `plait undo` restores them.", "edit", "writes"),
        Command("undo", "Undo an edit, or list edits.", "edit", "writes"),
    ),
    "Back up": (
        Command("keep", "Back up sessions before they are deleted.", "keep", "writes"),
        Command("restore", "Restore a session from the backup.", "keep", "writes"),
        Command("keep status", "Show what is backed up and what is at risk.", "keep"),
        Command("keep verify", "Check the backup for damage.", "keep"),
        Command("keep forget", "Delete sessions from the backup.", "keep", "writes"),
        Command("keep rescue", "Reconstruct deleted sessions.", "keep", "writes"),
        Command("keep pack", "Write the backup to one file.", "keep", "writes"),
        Command("keep unpack", "Merge a packed file into the backup.", "keep", "writes"),
    ),
    "Continue": (
        Command("resume", "Print the resume command and any warnings.", "resume", "writes"),
        Command("handoff", "Write a brief for handing over a session.", "recall", "writes"),
        Command("mcp", "Serve earlier sessions to agents.", "recall", "writes"),
        Command(
            "chat",
            "Chat with a model that can read, edit and run things here.",
            "plait.chat.console.command",
            "network",
        ),
    ),
    "Team": (
        Command("lake", "Collect sessions as tables and query them with SQL.", "lake", "network"),
        Command("lake ask", "Run a saved query, or list all of them.", "lake_query", "network"),
        Command("lake build", "Add new and changed sessions to a lake.", "lake", "network"),
        Command("lake forget", "Remove all sessions of a source.", "lake", "network"),
        Command("lake ls", "List the sources in a lake.", "lake", "network"),
        Command("lake ship", "Send what is new here to a remote lake.", "lake", "network"),
        Command("lake sql", "Query a lake with SQL.", "lake_query", "network"),
        Command("lake tables", "List the tables of a lake and their columns.", "lake"),
        Command("lake tidy", "Merge small files and delete unused ones.", "lake", "network"),
    ),
    "Set up": (
        Command("index", "Build or update the search index.", "index", "writes"),
        Command("doctor", "Account for every log line and list problems.", "doctor"),
        Command("self-check", "Check that Plait works here.", "self_check:self_check_command"),
        Command("config", "Show or change the settings.", "config"),
        Command("completion", "Print the completion script for your shell.", "config"),
        Command("config edit", "Edit the settings in your editor.", "config", "writes"),
        Command("config set", "Change a setting.", "config", "writes"),
        Command("config unset", "Remove a setting.", "config", "writes"),
    ),
}
GROUPS = tuple(COMMANDS_BY_GROUP)
ROWS = tuple(row._replace(group=group) for group, rows in COMMANDS_BY_GROUP.items() for row in rows)
COMMANDS = {row.name: row for row in ROWS if " " not in row.name}


def subcommands(name: str) -> dict[str, Command]:
    """Return the commands below a command, by their last word."""
    return {
        row.name.removeprefix(f"{name} "): row for row in ROWS if row.name.startswith(f"{name} ")
    }
