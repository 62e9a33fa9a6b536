"""What a page knows beside the item it draws: its place, what things cost, how much to show."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from plait.conversation.depth import Depth
from plait.conversation.model import Conversation, Response
from plait.view.page.fold import CODE, EVERYTHING, OUTPUT, WORDS, Cut

CostOf = Callable[[Response], float | None]
"""What a response costs in US dollars, None where it has no price."""
PageOf = Callable[[str], str | None]
"""Where the page of a session lies, seen from this one; None where there is none."""


def nothing(_: object) -> None:
    """Knows no price and no page."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What all items of a page share."""

    conversations: Mapping[str, Conversation] = field(default_factory=dict)
    directory: str | None = None
    depth: Depth | None = None
    """None shows everything, what is long cut; "all" cuts nothing."""
    has_thinking: bool = True
    cost_of: CostOf = nothing
    page_of: PageOf = nothing

    @property
    def output(self) -> Cut:
        """How much of what a tool printed stands in the page."""
        return EVERYTHING if self.depth == "all" else OUTPUT

    @property
    def code(self) -> Cut:
        """How much of a file or a patch stands in the page."""
        return EVERYTHING if self.depth == "all" else CODE

    @property
    def words(self) -> Cut:
        """How much of what somebody said stands in the page."""
        return EVERYTHING if self.depth == "all" else WORDS
