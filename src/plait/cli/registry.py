"""The commands of `plait`: name, group, summary, module and effect of each.

Help, the tables of subcommands, suggestions for mistyped names, the command reference and the man
page are generated from these rows. This is plain data, loaded at every start; a command itself is
imported when it is called.
"""

from typing import Literal, NamedTuple

GROUPS = (
    *("Read", "Search", "Cost", "Share", "Edit", "Back up", "Continue", "Team"),
    "Set up",
)
EVERYDAY = ("ls", "show", "search", "usage", "serve", "resume", "export", "keep")
"""The commands that help lists first."""
Effect = Literal["reads", "writes", "network"]


class Command(NamedTuple):
    """One command: how it is listed, and its function."""

    name: str
    """Its full name: `keep status`."""
    group: str
    summary: str
    home: str
    """A module of `plait.cli`, or `package.module:function`; by default the function is named after
    the last word of the command, with `_command`.
    """
    effect: Effect = "reads"
    """The most it affects: only logs are read, files are written, other machines are contacted."""
    is_hidden: bool = False
    """Whether only programs call it."""

    @property
    def target(self) -> str:
        """The module and the function, as `module:function`."""
        module, _, function = self.home.partition(":")
        module = module if module.startswith("plait.") else f"plait.cli.{module}"
        return f"{module}:{function or self.name.rpartition(' ')[2] + '_command'}"


ROWS = (
    Command("ls", "Read", "List projects and sessions.", "ls"),
    Command("show", "Read", "Read a conversation: prompts, answers, tool calls, agents.", "show"),
    Command(
        "ui",
        "Read",
        "Browse, read and resume sessions in the terminal.",
        "plait.tui.command",
        "writes",
    ),
    Command("serve", "Read", "Browse all sessions in your web browser.", "serve", "writes"),
    Command("open", "Read", "Open a session in your web browser.", "serve", "writes"),
    Command("log", "Read", "Draw a session as a graph of turns and branches.", "graph"),
    Command("tree", "Read", "Draw sessions with their branches and agents as a tree.", "graph"),
    Command("paths", "Read", "List every conversation path from first prompt to leaf.", "graph"),
    Command("diff", "Read", "Compare two branches of a session.", "diff"),
    Command("context", "Read", "Show what Claude will see when a session is resumed.", "resume"),
    Command("cat", "Read", "Print the lines of a session's log.", "cat"),
    Command("search", "Search", "Search everything that was said, run or printed.", "search"),
    Command(
        "files", "Search", "List or extract the files that a session changed.", "files", "writes"
    ),
    Command("history", "Search", "Show the history of a file across sessions.", "files"),
    Command(
        "blame", "Search", "Show which turn of which session wrote each line.", "files", "writes"
    ),
    Command("recall", "Search", "Find earlier turns that answer a question.", "recall", "writes"),
    Command(
        "about",
        "Search",
        "Show which turns wrote or mentioned a file, symbol or error.",
        "recall",
        "writes",
    ),
    Command("standup", "Search", "Write what was done lately, by project.", "recall"),
    Command("star", "Search", "Star sessions and turns to find them again.", "stars", "writes"),
    Command("usage", "Cost", "Show tokens and cost by day, session, model and more.", "usage"),
    Command("why", "Cost", "Explain what a session cost, request by request.", "why"),
    Command("waste", "Cost", "Find avoidable spending.", "why"),
    Command("stats", "Cost", "Count prompts, tools, models, agents, files and hours.", "stats"),
    Command("insights", "Cost", "Show trends, habits and outliers.", "insights"),
    Command(
        "export", "Share", "Export transcripts as Markdown, HTML, text or JSON.", "export", "writes"
    ),
    Command("redact", "Share", "Find or remove secrets and personal data.", "redact", "writes"),
    Command("port", "Share", "Pack sessions into a file, or unpack them here.", "edit", "writes"),
    Command("trace", "Share", "Show sessions as traces, or send them to a collector.", "trace"),
    Command("fork", "Edit", "Start a new session from any message.", "edit", "writes"),
    Command("clone", "Edit", "Copy a session under a new id.", "edit", "writes"),
    Command("switch", "Edit", "Choose the branch that Claude Code resumes.", "edit", "writes"),
    Command("trim", "Edit", "Remove what fills a session's context needlessly.", "trim", "writes"),
    Command("compress", "Edit", "Summarise the older turns of a session.", "edit", "writes"),
    Command("repair", "Edit", "Make a session resume with its full history.", "edit", "writes"),
    Command("rename", "Edit", "Give a session a new title.", "edit", "writes"),
    Command("tag", "Edit", "Tag a session, or remove its tag.", "edit", "writes"),
    Command("move", "Edit", "Move a directory's sessions to another directory.", "edit", "writes"),
    Command("delete", "Edit", "Delete sessions; `plait undo` restores them.", "edit", "writes"),
    Command("undo", "Edit", "Undo an edit, or list edits.", "edit", "writes"),
    Command("keep", "Back up", "Back up sessions before they are deleted.", "keep", "writes"),
    Command("restore", "Back up", "Restore a session from the backup.", "keep", "writes"),
    Command("resume", "Continue", "Print the resume command and any warnings.", "resume", "writes"),
    Command(
        "handoff", "Continue", "Write a brief for whoever continues a session.", "recall", "writes"
    ),
    Command("mcp", "Continue", "Serve earlier sessions to agents.", "recall", "writes"),
    Command(
        "chat",
        "Continue",
        "Chat with a model that can read, edit and run things here.",
        "plait.chat.console.command",
        "network",
    ),
    Command(
        "lake", "Team", "Collect sessions as tables and query them with SQL.", "lake", "network"
    ),
    Command("index", "Set up", "Build or update the search index.", "index", "writes"),
    Command("doctor", "Set up", "Account for every log line and list problems.", "doctor"),
    Command(
        "self-check", "Set up", "Check that Plait works here.", "self_check:self_check_command"
    ),
    Command("config", "Set up", "Show or change the settings.", "config"),
    Command("completion", "Set up", "Print the completion script for your shell.", "config"),
    Command("config edit", "Set up", "Edit the settings in your editor.", "config", "writes"),
    Command("config set", "Set up", "Change a setting.", "config", "writes"),
    Command("config unset", "Set up", "Remove a setting.", "config", "writes"),
    Command("keep status", "Back up", "Show what is backed up and what is at risk.", "keep"),
    Command("keep verify", "Back up", "Check the backup for damage.", "keep"),
    Command("keep forget", "Back up", "Delete sessions from the backup.", "keep", "writes"),
    Command("keep rescue", "Back up", "Reconstruct deleted sessions.", "keep", "writes"),
    Command("keep pack", "Back up", "Write the backup to one file.", "keep", "writes"),
    Command("keep unpack", "Back up", "Merge a packed file into the backup.", "keep", "writes"),
    Command("lake ask", "Team", "Run a saved query, or list them.", "lake_query", "network"),
    Command("lake build", "Team", "Add new and changed sessions to a lake.", "lake", "network"),
    Command("lake forget", "Team", "Remove what came from one source.", "lake", "network"),
    Command("lake ls", "Team", "List the sources in a lake.", "lake", "network"),
    Command("lake ship", "Team", "Send what is new here to a remote lake.", "lake", "network"),
    Command("lake sql", "Team", "Query a lake with SQL.", "lake_query", "network"),
    Command("lake tables", "Team", "List the tables of a lake and their columns.", "lake"),
    Command("lake tidy", "Team", "Merge small files and delete unused ones.", "lake", "network"),
    Command("trace show", "Share", "Show the spans of a session as a waterfall.", "waterfall"),
    Command("trace send", "Share", "Send traces, or write them to a file.", "trace", "network"),
    Command("trace status", "Share", "Show what was sent and what is waiting.", "trace"),
    Command("trace flush", "Share", "Send waiting traces now.", "trace", "network"),
    Command("trace install", "Share", "Send traces while you work.", "hook.commands", "writes"),
    Command("trace uninstall", "Share", "Stop sending them.", "hook.commands", "writes"),
    Command("trace hooks", "Share", "Show the hooks that send traces.", "hook.commands"),
    # Claude Code's settings call `hook`.
    Command("hook", "Share", "Send traces while you work.", "hook.commands", "network", True),
    Command("hook work", "Share", "Process the waiting jobs.", "hook.commands", "network", True),
)
COMMANDS = {row.name: row for row in ROWS if " " not in row.name}


def subcommands(name: str) -> dict[str, Command]:
    """Return the commands below a command, by their last word."""
    return {
        row.name.removeprefix(f"{name} "): row for row in ROWS if row.name.startswith(f"{name} ")
    }
