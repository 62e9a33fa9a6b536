"""An archive to a lake of its sessions: what programs and commands ask for."""

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from plait.errors import UserError
from plait.lake.model import Labels, Profile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plait.archive.archive import Archive
    from plait.archive.lake.building import Built
    from plait.archive.lake.engine import Engine
    from plait.archive.lake.fetching import ObjectFolder
    from plait.archive.lake.manner import Manner
    from plait.archive.lake.shipping import Leaving
    from plait.archive.model import Meter
    from plait.lake.store import Lake
    from plait.redact.rules import Rules

Options = Mapping[str, str]


class Lakes:
    """What brings the sessions of an archive into lakes."""

    def __init__(self, archive: "Archive") -> None:
        self.archive = archive

    def build(
        self,
        url: str,
        labels: Labels,
        *,
        profile: Profile | None = None,
        options: Options | None = None,
        folders: Sequence[str] = (),
        engine: "Engine | None" = None,
        prune: bool = False,
        key: "Callable[[], bytes] | bytes" = b"",
        rules: "Rules | None" = None,
        watch: "Meter | None" = None,
    ) -> "Built":
        """Brings a lake up to date with the sessions of the archive; makes it where there is none.

        Folders are addresses of object stores whose sessions are taken in beside those of the
        archive. Without a profile it is that of the lake, of a new one `full`. All others need a
        key, or what gives it.
        """
        from plait.archive.lake.building import build
        from plait.archive.lake.manner import Manner, hides_names

        if not labels.source:
            raise UserError(
                "the sessions in a lake need a source", "a name for this machine will do"
            )
        lake = _lake_at(url, profile, options or {})
        secret = (key if isinstance(key, bytes) else key()) if hides_names(lake.profile) else b""
        hidden = rules if lake.profile == "redacted" else None
        manner = Manner(labels, lake.profile, self.archive.prices, secret, hidden)
        engine = engine or self._engine
        with _listed(folders, options or {}) as found:
            return build(
                self.archive,
                lake,
                manner,
                engine=engine,
                folders=found,
                prune=prune,
                watch=watch,
            )

    def ship(
        self,
        url: str,
        manner: "Manner",
        *,
        options: Options | None = None,
        engine: "Engine | None" = None,
        watch: "Meter | None" = None,
    ) -> "Built":
        """Ships what is new to a lake elsewhere, by the profile of the manner and no other."""
        from plait.archive.lake.shipping import ship

        by = engine or self._engine
        return ship(self.archive, url, manner, options=options or {}, engine=by, watch=watch)

    def rehearse(
        self,
        url: str,
        manner: "Manner",
        *,
        options: Options | None = None,
        engine: "Engine | None" = None,
        watch: "Meter | None" = None,
    ) -> "Leaving":
        """Returns what `ship` would ship: sessions, tables, rows, values, bytes."""
        from plait.archive.lake.shipping import rehearsed

        by = engine or self._engine
        return rehearsed(self.archive, url, manner, options=options or {}, engine=by, watch=watch)

    @property
    def _engine(self) -> "Engine":
        from plait.archive.lake.engine import LocalEngine

        return LocalEngine(self.archive.jobs, self.archive.losses)


def _lake_at(url: str, profile: Profile | None, options: Options) -> "Lake":
    """Returns the lake at an address, made where there is none."""
    from plait.lake.places import NoLake
    from plait.lake.store import Lake

    if profile is not None:
        return Lake.create(url, profile, options)
    try:
        return Lake(url, options)
    except NoLake:
        return Lake.create(url, "full", options)


@contextmanager
def _listed(urls: Sequence[str], options: Options) -> "Iterator[list[ObjectFolder]]":
    """Gives the folders of object stores; the few files that this takes are here for so long."""
    from plait.archive.lake.fetching import listed_folder

    with TemporaryDirectory(prefix="plait-lake-") as name:
        yield [
            listed_folder(url, options, Path(name, str(number))) for number, url in enumerate(urls)
        ]
