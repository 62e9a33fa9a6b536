"""Turn drawings, a short text notation, into session logs in the client's format.

The short form draws a graph. Each piece is a record, `<` names its parent:

    draw("A B<A C<B D<A")

`A` a root · `B<A` below A · `B<` below the record before · `B<?` below a missing uuid ·
`B<main:A` below a record of another file · `B<A~A` in the same response as A · `B<A@+5s` five
seconds later (`@=` the same time, `@2026-11-02T09:00:00Z`) · `B<A!side` with a flag · `=A` the
line of A again.

Bare letters alternate: a root is a prompt, the child of a prompt is an answer, the child of an
answer is a prompt. A letter with a number has a fixed kind:

    U1 prompt          T1 tool call       P1 progress          C1 summary of a compaction
    A1 answer          R1 its result      S1 system note       B1 boundary of a compaction
    M1 meta prompt     E1 API error       H1 hook, attachment  N1 notice of a background task
    K1 slash command   L1 its output      Q1 queued prompt     I1 interruption
    X1 unknown type

The long form describes one record per line: its name, then its content. Indented lines continue it.

    file checkout cwd=/home/dev/shop version=2.1.325 start=2026-11-02T09:00:00Z pace=lifelike
    ai-title "Fix the price of gift cards"
    U1 "The total is wrong"
    A1< think "Where is it computed?" + "I will look." + Read(file_path="/home/dev/shop/cart.py")
    R1<
      | def total(items):
      |     return 0
    A2< Edit(file_path="/home/dev/shop/cart.py") as fix
      old_string:
        | return 0
      new_string:
        | return sum(items)
    R2< of fix
    S1< turn_duration
    last-prompt leaf S1

Texts are "quoted" or follow `|`. Blocks of a response become one line each, with one
message id: the last line is `A1`, those before it `A1.1`, `A1.2`. Calls are `Tool(key=value)`,
named `as x`, or else like their line. Results answer `of x`, or else the next open call, in the
format of their tool; files that were read or written are remembered, so that edits have real patches;
`times=200` repeats their lines.

Flags: side, meta, hidden, error, rejected, async, together (all blocks on one line), listed,
redacted, open (no newline after the line), and `cut=120` or `cut=half` (a torn line).
A `{"json": "object"}` adds keys to the line, `-key` removes one. `$(uuid A1)`, `$(call x)`,
`$(agent x)`, `$(session x)` and `$(message A1)` are replaced by ids, in any text; `$(esc)` by ESC.

Kinds may be spelled out: user, assistant, result, system SUBTYPE, attachment TYPE, progress TYPE,
boundary (`after A9 keep=["A8"] anchor=C1 trigger=auto`), system microcompact_boundary
(`clear=["A1"]`: calls whose results are removed), recap, command, output, notice of CALL, interruption,
api-error, queued, unknown TYPE.

Lines without a uuid: mode, permission-mode, ai-title, custom-title, agent-name, tag, summary,
last-prompt ("text" leaf NAME|zero|none explicit), enqueue, dequeue, remove, tools-used, pr-link,
file-history-snapshot (of NAME files={}), `line {json}`; `raw "bytes"`, `raw b"\\xff"` (open),
`blank`.
`set key=value` changes version, cwd, model, effort, branch, session… for the following lines.
`cache=5m` or `cache=1h` computes the tokens each request reads and writes with a simulated cache:
pauses, other processes (a line `cost-state`, a hook of a resume), models, versions, efforts and
prompt snapshots have their real effects; `forget` empties the cache.

Other files: `file NAME` another session; `agent NAME of CALL type=Explore` a sub-agent of the
session above it (`beside` old layout, `nometa`, `run=wf_1` of a workflow); `also PATH` any file in
the session's folder (`count=9` times its lines, `$(n)` the number); `copy main` or
`copy main:U1 main:A1` repeats records of another file (`forked`: under this session's id).
"""

from .build import draw, unknown_uuid
from .model import Drawing, DrawingError, DrawnFile, DrawnLine
from .names import agent_id, call_id, message_id, session_id, slug_of, uuid_of

__all__ = [
    "Drawing",
    "DrawingError",
    "DrawnFile",
    "DrawnLine",
    "agent_id",
    "call_id",
    "draw",
    "message_id",
    "session_id",
    "slug_of",
    "unknown_uuid",
    "uuid_of",
]
