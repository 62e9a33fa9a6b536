"""The layout of a store to the text that lies in it."""

from pathlib import Path

from plait.line.atomic import replace_file

NAME = "README.txt"
TEXT = r"""Sessions of Claude Code, kept by Plait (`plait keep`). Whatever becomes of Plait,
they can be read with zstd and sha256sum.

journal.jsonl        one JSON line for each state of a file that was kept; the last line of a path
                     is the newest. "sha256" is that of the whole file, "blocks" are those of its
                     blocks, in order: the file is its blocks, one behind the other. "crc" is the
                     CRC-32 of the line without that field. A line with "forget" says that the
                     states before it are not kept any more.
packs/NNNNNN.pack    zstd frames: `zstd -dc NNNNNN.pack` gives all blocks of the pack.
packs/NNNNNN.index   one JSON line for each block: its "sha256", its first byte ("at") in what
                     `zstd -dc` gives, its "size"; "frame" and "packed" say where in the pack
                     the frame lies that holds it.

A block, by hand:    zstd -dc packs/NNNNNN.pack | tail -c +$((at + 1)) | head -c $size | sha256sum

A file, by hand: in a shell, from this folder, with its "path" in $1.

    file=$1   # as the journal has it: projects/…/….jsonl
    plain=$(mktemp -d)
    for pack in packs/*.pack; do
        zstd -dc "$pack" > "$plain/$(basename "$pack" .pack)"
    done
    line=$(grep -F "\"path\":\"$file\"" journal.jsonl | tail -n 1)
    for block in $(printf '%s\n' "$line" | sed 's/.*"blocks":\[//' | grep -o '[0-9a-f]\{64\}'); do
        entry=$(grep -H "$block" packs/*.index | tail -n 1)
        number=$(basename "${entry%%.index:*}")
        at=$(printf '%s\n' "$entry" | sed 's/.*"at":\([0-9]*\).*/\1/')
        size=$(printf '%s\n' "$entry" | sed 's/.*"size":\([0-9]*\).*/\1/')
        tail -c +$((at + 1)) "$plain/$number" | head -c "$size"
    done > "$plain/file"
    sha256sum "$plain/file"                                        # is it what the journal says?
    printf '%s\n' "$line" | sed 's/.*"sha256":"\([0-9a-f]*\)".*/\1/'
"""


def write_readme(folder: Path) -> None:
    """Writes the text into a store that has none."""
    path = folder / NAME
    if not path.exists():
        replace_file(path, TEXT.encode())
