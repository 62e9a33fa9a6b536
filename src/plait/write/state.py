"""What is said of a whole session, beside what happens in it, to lines of its log."""

from collections.abc import Mapping
from typing import Any

from plait.write import lines
from plait.write.commands import CommandLog
from plait.write.lines import QueueOperation
from plait.write.model import wire_fields


class StateLog(CommandLog):
    """A log with lines that no message follows: names, modes, prompts that wait."""

    def say(self, line: bytes) -> None:
        """Adds a line that is said of the whole session."""
        self.append(line)

    def queue(self, operation: QueueOperation, content: str | None = None, **fields: Any) -> None:
        """Writes what happened to a prompt that was typed while the model worked."""
        told, time = wire_fields(fields), self.ids.time()
        self.say(lines.queue_operation(self.session, time, operation, content, told))

    def title(self, title: str) -> None:
        """Writes the name that a person gave the session."""
        self.say(lines.custom_title(self.session, title))

    def ai_title(self, title: str) -> None:
        """Writes the name that the model gave the session."""
        self.say(lines.ai_title(self.session, title))

    def tag(self, word: str) -> None:
        """Writes a tag; an empty word takes it away."""
        self.say(lines.tag(self.session, word))

    def mode(self, mode: str) -> None:
        """Writes the mode of the editor, such as `normal`."""
        self.state("mode", mode=mode)

    def permission_mode(self, mode: str) -> None:
        """Writes which permissions are given from now on; prompts say it too."""
        self.setting.permission_mode = mode
        self.state("permission-mode", permission_mode=mode)

    def summary(self, text: str, leaf: str | None = None) -> None:
        """Writes a line that sums up what leads to a message, as older versions did."""
        if target := leaf or self.tip:
            self.say(lines.summary(text, target))

    def pull_request(self, number: int, url: str, repository: str) -> None:
        """Writes that a pull request came of the session."""
        time = self.ids.time()
        self.say(lines.pull_request(self.session, time, number, url, repository))

    def cost_state(self, fields: Mapping[str, Any]) -> None:
        """Writes what the session cost in all, by the names in the log."""
        self.say(lines.cost_state(self.session, fields))

    def state(self, kind: str, **fields: Any) -> None:
        """Writes a line of any other kind that is said of the whole session."""
        self.say(lines.state(self.session, kind, wire_fields(fields)))
