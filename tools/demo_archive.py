"""Build hook of the wheel: packs the examples gallery into it, for `plait --demo`."""

from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class DemoArchive(BuildHookInterface[Any]):
    """Adds `plait/cli/demo.zip`, the same bytes for the same sessions."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Pack the sessions of the gallery; an editable install reads them where they are."""
        if version == "editable":
            return
        gallery = Path(self.root, "examples", "gallery")
        packed = Path(mkdtemp(), "demo.zip")
        with ZipFile(packed, "w", ZIP_DEFLATED, compresslevel=9) as archive:
            for path in sorted(gallery.glob("*/projects/**/*")):
                if path.is_file():
                    name = ZipInfo(path.relative_to(gallery).as_posix(), (2020, 1, 1, 0, 0, 0))
                    name.compress_type = ZIP_DEFLATED
                    archive.writestr(name, path.read_bytes())
        build_data["force_include"][str(packed)] = "plait/cli/demo.zip"
