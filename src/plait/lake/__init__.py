"""Lakes: sessions as Arrow tables, stored as Delta tables, queried with SQL.

    schema       the tables and their columns
    sources      where sessions come from: roots, the backup store, object stores
    rows         the rows of every table, built from open sessions
    profiles     how much of a session a lake may contain
    build        which sessions have to be read, and reading them by workers (`engine`)
    store        Delta tables in a folder or an object store (`location`)
    shipping     the same to a remote lake, and what would be sent
    query        SQL over a lake, `saved_queries`, and access rules (`access`)

This module loads nothing but the schema: `Lakes` is what `Archive.lake` returns, and pyarrow and
deltalake are loaded when one of its methods is called.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from plait.errors import UserError
from plait.lake.schema import Labels, Profile

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.lake.build import BuildOptions, BuildResult
    from plait.lake.engine import Engine
    from plait.lake.shipping import Shipment
    from plait.redact.rules import Rules
    from plait.sessions.model import ProgressCallback

__all__ = ["Lakes"]


class Lakes:
    """Brings the sessions of an archive into lakes."""

    def __init__(self, archive: "Archive") -> None:
        self.archive = archive

    def build(
        self,
        url: str,
        labels: Labels,
        *,
        profile: Profile | None = None,
        options: Mapping[str, str] | None = None,
        folders: Sequence[str] = (),
        engine: "Engine | None" = None,
        prune: bool = False,
        key: Callable[[], bytes] | bytes = b"",
        rules: "Rules | None" = None,
        watch: "ProgressCallback | None" = None,
    ) -> "BuildResult":
        """Bring a lake up to date with the sessions of the archive, or create it.

        `folders` are addresses of object stores whose sessions are added to those of the archive.
        Without a profile an existing lake keeps its own, and a new one is `full`. The other
        profiles need a key for pseudonyms, or a function that returns it.
        """
        from plait.lake.build import BuildOptions, build, hides_names
        from plait.lake.location import LakeNotFound
        from plait.lake.sources import list_remote_folder
        from plait.lake.store import Lake

        if not labels.source:
            raise UserError(
                "the sessions in a lake need a source", "for example, the name of this machine"
            )
        options = options or {}
        if profile is not None:
            lake = Lake.create(url, profile, options)
        else:
            try:
                lake = Lake(url, options)
            except LakeNotFound:
                lake = Lake.create(url, "full", options)
        secret = b""
        if hides_names(lake.profile):
            secret = key if isinstance(key, bytes) else key()
        build_options = BuildOptions(
            labels,
            lake.profile,
            self.archive.prices,
            secret,
            rules if lake.profile == "redacted" else None,
        )
        with TemporaryDirectory(prefix="plait-lake-") as scratch:
            remote_folders = [
                list_remote_folder(address, options, Path(scratch, str(number)))
                for number, address in enumerate(folders)
            ]
            return build(
                self.archive,
                lake,
                build_options,
                engine=engine or self._local_engine,
                folders=remote_folders,
                prune=prune,
                watch=watch,
            )

    def ship(
        self,
        url: str,
        build_options: "BuildOptions",
        *,
        options: Mapping[str, str] | None = None,
        engine: "Engine | None" = None,
        watch: "ProgressCallback | None" = None,
    ) -> "BuildResult":
        """Send what is new to a remote lake, with the given profile and no other."""
        from plait.lake.shipping import ship

        engine = engine or self._local_engine
        return ship(
            self.archive, url, build_options, options=options or {}, engine=engine, watch=watch
        )

    def rehearse(
        self,
        url: str,
        build_options: "BuildOptions",
        *,
        options: Mapping[str, str] | None = None,
        engine: "Engine | None" = None,
        watch: "ProgressCallback | None" = None,
    ) -> "Shipment":
        """Return what `ship` would send: sessions, tables, rows, example values, bytes."""
        from plait.lake.shipping import preview_shipment

        engine = engine or self._local_engine
        return preview_shipment(
            self.archive, url, build_options, options=options or {}, engine=engine, watch=watch
        )

    @property
    def _local_engine(self) -> "Engine":
        from plait.lake.engine import LocalEngine

        return LocalEngine(self.archive.jobs, self.archive.worker_failures)
