"""Entries of one file to what the published descriptions of the format say, quirks included.

`session_format` holds the algorithms of "Claude Code Session File Format Specification",
`transcript` those of "Claude Code JSONL Transcript Structure", `session_protocol` that of
"Claude Code Session Protocol Schema". They know no graph: for comparing with tools that
follow them. Plait's own turns are `plait.conversation`'s.
"""

from plait.documents.session_format import counts_match as counts_match
from plait.documents.session_format import deduplicate_messages as deduplicate_messages
from plait.documents.session_format import detect_turns as detect_turns
from plait.documents.session_format import pair_tool_calls as pair_tool_calls
from plait.documents.session_format import without_synthetic as without_synthetic
from plait.documents.session_protocol import rebuild_messages as rebuild_messages
from plait.documents.transcript import group_turns as group_turns
from plait.documents.transcript import match_tool_results as match_tool_results
from plait.documents.transcript import merge_assistant_parts as merge_assistant_parts
