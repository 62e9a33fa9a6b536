"""Results of sub-agent calls: a report, or the confirmation of a launch."""

from __future__ import annotations

from .names import agent_id, number, session_id, slug_of
from .reply import Outcome, Reply


def agent_outcome(reply: Reply) -> Outcome:
    """Return the report of an agent, or (`async`) the message that it runs in the background."""
    name = reply.agent.name if reply.agent else reply.call.name
    agent = agent_id(name, reply.sheet.home)
    prompt = reply.call.input.get("prompt", "")
    if "async" in reply.flags:
        return _launched(reply, agent, prompt)
    tokens, tools = 9_000 + number(agent, 30_000), 1 + number(agent, 6)
    blocks = [{"type": "text", "text": reply.text}]
    trailer = (
        f"agentId: {agent} (use SendMessage with to: '{agent}' to continue this agent)\n"
        f"<usage>total_tokens: {tokens}\ntool_uses: {tools}\n"
        f"duration_ms: {reply.duration * 20}</usage>"
    )
    detail = {
        "status": "completed",
        "prompt": prompt,
        "agentId": agent,
        "agentType": reply.call.input.get("subagent_type", "general-purpose"),
        "content": blocks,
        "totalDurationMs": reply.duration * 20,
        "totalTokens": tokens,
        "totalToolUseCount": tools,
    }
    return Outcome([*blocks, {"type": "text", "text": trailer}], detail)


def _launched(reply: Reply, agent: str, prompt: str) -> Outcome:
    settings = reply.sheet.settings
    folder = f"/tmp/claude-1000/{slug_of(settings.cwd)}/{session_id(reply.sheet.home)}/tasks"
    text = (
        f"Async agent launched successfully.\nagentId: {agent} (internal ID - do not mention to "
        "user.)\nThe agent is working in the background. You will be notified automatically when "
        f"it completes.\noutput_file: {folder}/{agent}.output"
    )
    detail = {
        "isAsync": True,
        "status": "async_launched",
        "agentId": agent,
        "description": reply.call.input.get("description", ""),
        "resolvedModel": settings.model,
        "prompt": prompt,
        "outputFile": f"{folder}/{agent}.output",
        "canReadOutputFile": True,
    }
    return Outcome([{"type": "text", "text": text}], detail)
