"""What is kept of a session to files, and back: how far it was read, which ids went out."""

import re
from hashlib import blake2b
from pathlib import Path

import msgspec

from plait.line.replace import replace_file
from plait.trace.progress import Progress

ID_BYTES = 8
PLAIN = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,80}")


class Journal:
    """What is kept of one session."""

    def __init__(self, folder: Path, session: str) -> None:
        self.folder = folder / "sessions"
        self.name = name_of(session)

    def of(self, session: str) -> "Journal":
        """Returns what is kept of another session."""
        return Journal(self.folder.parent, session)

    def exists(self) -> bool:
        """Tells whether anything of it was sent."""
        return self._place("sent").exists()

    def progress(self) -> Progress | None:
        """Returns how far its log was read; None where that is not known."""
        try:
            data = self._place("progress").read_bytes()
            return msgspec.msgpack.decode(data, type=Progress)
        except (OSError, msgspec.MsgspecError):
            return None

    def keep(self, progress: Progress | None) -> None:
        """Keeps how far its log was read."""
        place = self._place("progress")
        if progress is None:
            place.unlink(missing_ok=True)
        else:
            replace_file(place, msgspec.msgpack.encode(progress))

    def stopped(self) -> set[str]:
        """Returns the agents that said they are done."""
        try:
            return set(self._place("stopped").read_text(encoding="utf-8").split("\n")) - {""}
        except (OSError, UnicodeDecodeError):
            return set()

    def note_stopped(self, agent: str) -> None:
        """Notes that an agent is done."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._place("stopped").open("a", encoding="utf-8") as file:
            file.write(f"\n{agent}\n")

    def sent(self) -> set[str]:
        """Returns the ids of all spans that were sent."""
        try:
            data = self._place("sent").read_bytes()
        except FileNotFoundError:
            return set()
        ends = range(ID_BYTES, len(data) + 1, ID_BYTES)  # one that was cut is none
        return {data[end - ID_BYTES : end].hex() for end in ends}

    def add(self, ids: list[str]) -> None:
        """Notes spans as sent."""
        if not ids:
            return
        place = self._place("sent")
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with place.open("ab") as file:
            file.truncate(file.tell() // ID_BYTES * ID_BYTES)  # a crash may have cut one
            file.write(bytes.fromhex("".join(ids)))

    def remove(self) -> None:
        """Keeps nothing of it any more."""
        for what in ("progress", "stopped", "sent"):
            self._place(what).unlink(missing_ok=True)

    def _place(self, what: str) -> Path:
        return self.folder / f"{self.name}.{what}"


def name_of(session: str) -> str:
    """Returns the name of a session's files: its id, or what stands for an odd one."""
    if PLAIN.fullmatch(session):
        return session
    return blake2b(session.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
