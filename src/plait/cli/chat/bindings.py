"""Keys to what they do where a prompt, an answer or a text is typed."""

from collections.abc import Callable
from dataclasses import dataclass

from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer, CompletionState
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.filters import Condition, emacs_mode, is_searching, vi_navigation_mode
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from plait.cli.chat.keyboard import Live


@dataclass(frozen=True, slots=True)
class Asked:
    """What keys ask of the keyboard that they are pressed at."""

    stop: Callable[[], None]
    leave: Callable[[], None]
    open: Callable[[], None]
    """Opens what is folded."""
    edit: Callable[[], None]
    """Takes what is typed to an editor."""
    may_send: Callable[[str], bool]
    """Tells whether what is typed goes off, or has to be confirmed."""


def prompt_keys(live: Live, asked: Asked) -> KeyBindings:
    """Returns the keys of whoever types prompts."""
    keys = _line_keys(asked.may_send)
    can_take_back = Condition(lambda: bool(live.waiting))
    is_at_top = Condition(lambda: get_app().current_buffer.document.cursor_position_row == 0)

    @keys.add("c-c", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        asked.stop()

    @keys.add("c-d")
    def _(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.delete()
        else:
            asked.leave()

    @keys.add("tab", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        _complete(event.current_buffer)

    @keys.add("c-o")
    def _(event: KeyPressEvent) -> None:
        asked.open()

    @keys.add("c-x", "c-e", filter=emacs_mode)
    @keys.add("v", filter=vi_navigation_mode)
    def _(event: KeyPressEvent) -> None:
        asked.edit()

    @keys.add("s-tab")
    def _(event: KeyPressEvent) -> None:
        live.change_mode()

    @keys.add("up", filter=can_take_back & is_at_top & ~is_searching)
    def _(event: KeyPressEvent) -> None:
        taken = "\n".join(filter(None, (live.take_back(), event.current_buffer.text)))
        event.current_buffer.text = taken
        event.current_buffer.cursor_position = len(taken)

    return keys


def _complete(buffer: Buffer) -> None:
    """Puts in the only thing that fits; of several the next one."""
    if buffer.complete_state and buffer.complete_state.completions:
        buffer.complete_next()
        return
    asked = CompleteEvent(completion_requested=True)
    offers = [*buffer.completer.get_completions(buffer.document, asked)]
    if len(offers) == 1:
        buffer.apply_completion(offers[0])
    elif offers:
        buffer.complete_state = CompletionState(buffer.document, offers)
        buffer.go_to_completion(0)


def _line_keys(may_send: Callable[[str], bool]) -> KeyBindings:
    """Returns keys with which Enter sends off; Alt-Enter, Ctrl-J or a backslash break a line."""
    keys = KeyBindings()

    @keys.add("enter", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.document.text_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        elif may_send(buffer.text):
            buffer.validate_and_handle()

    @keys.add("escape", "enter", filter=emacs_mode)
    @keys.add("c-j")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys


def answer_keys() -> KeyBindings:
    """Returns the keys of whoever is asked: Enter answers, Ctrl-C does not."""
    keys = _giving_up()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    return keys


def text_keys() -> KeyBindings:
    """Returns the keys of whoever changes a text: Alt-Enter or Ctrl-S takes it."""
    keys = _giving_up()

    @keys.add("escape", "enter")
    @keys.add("c-s")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    return keys


def _giving_up() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("c-c")
    def _(event: KeyPressEvent) -> None:
        event.app.exit(exception=KeyboardInterrupt())

    return keys
