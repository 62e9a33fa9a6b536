"""What servers say of themselves to what the model is told of it, once for each."""

from plait.agent.context import LiveContext
from plait.agent.mcp.servers import SessionServers
from plait.graph.client.wording import SERVERS, as_reminder
from plait.record.codec import mapping
from plait.write import SessionWriter

KIND = "mcp_instructions_delta"
LONGEST = 4000
"""Letters that a server may say of itself."""


class ServerInstructions:
    """Tells a session what its servers say of themselves."""

    def __init__(
        self, writer: SessionWriter, context: LiveContext, servers: SessionServers
    ) -> None:
        self._writer = writer
        self._context = context
        self._servers = servers
        self._told: tuple[str | None, set[str]] = (None, set())
        """Since which message, and of which servers."""

    def tell(self) -> None:
        """Tells with a prompt what the model does not know."""
        found = self._servers.instructions
        first = self._context.records[0].uuid
        if not found or self._told == (first, {*found}):
            return
        self._told = (first, {*found})
        known = self._known()
        fresh = {name: words for name, words in found.items() if name not in known}
        if not fresh:
            return
        blocks = [f"## {name}\n{words[:LONGEST]}" for name, words in fresh.items()]
        words = as_reminder(SERVERS.format("\n\n".join(blocks)))
        if self._writer.setting.is_older:
            self._writer.note(words)
            return
        told = {"type": KIND, "addedNames": [*fresh], "addedBlocks": blocks, "removedNames": []}
        self._writer.attachment(told, words, role="system")

    def _known(self) -> set[str]:
        known: set[str] = set()
        for record in self._context.records:
            head = record.envelope.attachment if record.type == "attachment" else None
            if head is not None and head.type == KIND:
                known |= {*(mapping(record.fields.get("attachment")).get("addedNames") or ())}
        return known
