"""What is drawn on a terminal to as few writes as can be: nothing is seen half done.

The terminal is never asked where its cursor is: the answer would take a way there and back, and
the line that waits for it would come and go with every paragraph.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from prompt_toolkit.application import Application
from prompt_toolkit.output import Output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.utils import get_term_environment_variable

ROWS_BELOW = 1


class SteadyOutput(Vt100_Output):
    """A terminal that is written to in one go while it is held."""

    _is_held = False

    @property
    def responds_to_cpr(self) -> bool:
        """Whether it may be asked where its cursor is."""
        return False

    def get_rows_below_cursor_position(self) -> int:  # the library's name
        return ROWS_BELOW

    @contextmanager
    def held(self) -> Iterator[None]:
        """While entered, nothing is written; then all of it at once."""
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
            self.flush()

    def flush(self) -> None:
        """Writes what there is, unless it is held."""
        if not self._is_held:
            super().flush()


def steady_output() -> Output | None:
    """Returns the terminal of standard output; None where the library knows better which."""
    if sys.platform == "win32":
        return None
    return SteadyOutput.from_pty(sys.stdout, term=get_term_environment_variable())


def draw_above(app: "Application[str] | None", text: str) -> None:
    """Writes lines above what an application draws, and that anew below them."""
    if app is None or not app.is_running:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    output = app.output
    with output.held() if isinstance(output, SteadyOutput) else nullcontext():
        app.renderer.erase()
        output.write_raw(text.replace("\n", "\r\n"))
        output.flush()
        app.renderer.reset()
        app.renderer.request_absolute_cursor_position()
        app.renderer.render(app, app.layout)
