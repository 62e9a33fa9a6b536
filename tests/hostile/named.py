"""Names that a log may hold to harm whoever writes, prints or types them."""

ESCAPES = "\x1b[2J\x1b]0;owned\x07\x1b]8;;http://evil.example\x07link\x1b]8;;\x07"
CLIPBOARD = "\x1b]52;c;ZXZpbA==\x07"
BACKWARDS = "\u202egnp.exe\u2066\u2069\u200f\u061c"
COMMAND = "$(touch owned);`touch owned`"

PATHS = {
    "upwards": "../../../x/index",
    "absolute": "/tmp/plait-owned",
    "backslashes": "..\\..\\x",
    "drive": "C:x",
    "a nul": "a\0b",
    "a lone surrogate": "a\ud800b",
    "a device": "CON",
    "a device with an ending": "aux.txt",
    "dots": "..",
    "a dot": ".",
    "nothing but spaces": "   ",
    "overlong": "x" * 400,
    "overlong in bytes": "\u6f22" * 200,
    "two lines": "a\nb",
    "escapes": ESCAPES,
    "backwards": BACKWARDS,
    "a command": COMMAND,
    "ours": "index",
}
"""What a name of a file must not be taken from."""
