"""Files of a table to a dataset that leaves out those which cannot answer.

Made here and not by deltalake: that knows nothing of the buildings in a file, and asks an object
store for the size of each.
"""

from typing import TYPE_CHECKING, Any

from deltalake import DeltaTable

from plait.lake.parquet import Layout, Part, parts_of

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset, Expression


def dataset_of(table: DeltaTable, layout: Layout, files: Any) -> "Dataset":
    """Returns all rows of a table as it is now; its files are opened when they are read."""
    from pyarrow.dataset import FileSystemDataset, ParquetFileFormat, ParquetFragmentScanOptions

    form = ParquetFileFormat(default_fragment_scan_options=ParquetFragmentScanOptions())
    fragments = [
        form.make_fragment(
            part.path,
            filesystem=files,
            partition_expression=_held(part, layout),
            file_size=part.size,
        )
        for part in parts_of(table, layout)
    ]
    return FileSystemDataset(fragments, layout.schema, form, files)


def _held(part: Part, layout: Layout) -> "Expression":
    """Returns what is true of all rows of a file."""
    from pyarrow.dataset import field

    held = field(layout.by) == part.value
    if part.builds is None:
        return held
    lowest, highest = part.builds
    return held & (field("build") >= lowest) & (field("build") <= highest)
