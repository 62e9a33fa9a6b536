"""Commands that the client does by itself, and what they print, to lines of the log.

terminal   local_command /rename ── local_command <stdout>
print      caveat (meta) ── /rename as a prompt ── local_command <stdout>
/compact   caveat (meta) ── /compact as a prompt ── <stdout> as a prompt, so that the model hears it
2.1.29     local_command ── local_command, as it is described
"""

from plait.write.model import Content, Fields
from plait.write.prompts import in_short
from plait.write.transcript import Transcript

CAVEAT = (
    "<local-command-caveat>The command below was run directly in Claude Code, not sent to you as a"
    " request, and its output goes straight to the user. It's recorded here as context for later"
    " messages.</local-command-caveat>"
)
COMMAND = (
    "<command-name>/{name}</command-name>\n            <command-message>{name}</command-message>\n"
    "            <command-args>{arguments}</command-args>"
)

CALLED = "<command-message>{name}</command-message>\n<command-name>/{name}</command-name>"
GIVEN = "\n<command-args>{}</command-args>"

OF_WORDS = {"permission_mode": None, "prompt_source": None}
"""What prompts say of themselves that are words, and commands do not."""


class CommandLog(Transcript):
    """A log of a session that has commands beside prompts."""

    def command(
        self,
        name: str,
        arguments: str = "",
        printed: str = "",
        *,
        is_failed: bool = False,
        is_asked: bool | None = None,
        is_heard: bool = False,
    ) -> str:
        """Writes a command that the client did by itself, and what it printed.

        On a screen both are notes; where nobody sits there (or `is_asked`) the command stands
        in a prompt's place, and what it printed too if the model is to hear it (`is_heard`).
        """
        called = COMMAND.format(name=name, arguments=arguments)
        tag = "local-command-stderr" if is_failed else "local-command-stdout"
        shown = f"<{tag}>{printed}</{tag}>"
        if self.setting.is_older or not (self.is_unseen if is_asked is None else is_asked):
            self.system("local_command", content=called)
        else:
            self._ask_command(called, is_new=not is_heard)
            if is_heard:
                return self._user(shown, self._of_a_turn)
        outcome = {"command_outcome": {"kind": "failed"}} if is_failed else {}
        run = {"command_run": {"command": name, "args": arguments}} | outcome
        return self.system("local_command", content=shown, **({} if self.setting.is_older else run))

    def custom_command(self, name: str, arguments: str, content: Content) -> str:
        """Writes a command that somebody wrote down, and what it makes of the prompt.

        Returns the message of the command.
        """
        called = CALLED.format(name=name) + (GIVEN.format(arguments) if arguments else "")
        unsaid: Fields = {} if self.setting.is_older else OF_WORDS
        before = self._standing.words
        uuid = self.prompt(called, **unsaid)
        self._standing.words = in_short(f"/{name} {arguments}") if arguments else before
        self.expansion(content, **self.companion)
        return uuid

    def remind(self, text: str) -> str:
        """Writes what the client tells the model beside the turns, in the person's place."""
        self.prompt_id = self.ids.uuid()
        return self._user(text, {"isMeta": True})

    def _ask_command(self, called: str, *, is_new: bool) -> None:
        """Writes a command in a prompt's place; the first of a session belongs to no turn."""
        if is_new:
            self.prompt_id = self.ids.uuid() if self.tip else None
            self._is_announced = False
        fields: Fields = self._of_a_turn if self.prompt_id else {}
        uuid = self.ids.uuid()
        self._before_prompt(uuid)
        self._user(CAVEAT, {"isMeta": True} | fields)
        self._user(called, fields, uuid)
