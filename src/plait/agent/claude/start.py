"""How a session is held to the words that start the installed client."""

from dataclasses import dataclass, field
from pathlib import Path

from plait.agent.permission import Mode

STREAMS = (
    *("-p", "--input-format", "stream-json", "--output-format", "stream-json"),
    *("--verbose", "--include-partial-messages", "--replay-user-messages"),
    *("--permission-prompt-tool", "stdio"),
)
KEEPS_FILES = {"CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "true"}
HIDDEN = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT")
"""What would tell the client that it runs within another."""
UNASKED = "AskUserQuestion"
"""A tool whose questions nobody here can show: the model asks in words."""
CONFIGURATION = "CLAUDE_CONFIG_DIR"


@dataclass(frozen=True, slots=True)
class Start:
    """How the client is started."""

    executable: Path
    root: Path
    """The configuration folder that it logs in."""
    directory: Path
    environment: dict[str, str] = field(default_factory=dict, repr=False)
    model: str | None = None
    mode: Mode | None = None
    options: tuple[str, ...] = ()
    """Further options of the command line."""
    denied: tuple[str, ...] = ()
    """Tools that may not be used."""
    session: str | None = None
    """The id of a new session."""
    resumed: str | None = None
    """The session that it goes on with."""
    is_fork: bool = False
    title: str | None = None
    at: str | None = None
    """The message of that session that it goes on from; None for where it stands."""

    @property
    def command(self) -> list[str]:
        """The words that have it speak with a console."""
        return [str(self.executable), *STREAMS, *self._rest(UNASKED)]

    def printed(self, form: str, given: str, *, replays: bool = False) -> list[str]:
        """Returns the words that have it answer a program, in a form."""
        words = [str(self.executable), "-p", "--output-format", form, "--input-format", given]
        words += ["--verbose"] if form == "stream-json" else []
        words += ["--replay-user-messages"] if replays else []
        return [*words, *self._rest()]

    def _rest(self, *unasked: str) -> list[str]:
        """Returns the words that say how the session is held, and which it is."""
        words = [*self.options]
        if denied := (*unasked, *self.denied):
            words += ["--disallowedTools", *denied]
        for name, value in (("--model", self.model), ("--permission-mode", self.mode)):
            words += [name, value] if value else []
        if self.resumed:
            words += ["--resume", self.resumed, *(["--fork-session"] if self.is_fork else [])]
            words += ["--resume-session-at", self.at] if self.at else []
        is_new = self.is_fork or not self.resumed
        return [*words, *(["--session-id", self.session] if is_new and self.session else [])]

    @property
    def whole_environment(self) -> dict[str, str]:
        """What the client inherits: all that the person's own would, in the same folder."""
        kept = {name: one for name, one in self.environment.items() if name not in HIDDEN}
        usual = Path(kept.get("HOME", "/")) / ".claude"
        where = {} if self.root == usual else {CONFIGURATION: str(self.root)}
        return {**kept, **where, **KEEPS_FILES}
