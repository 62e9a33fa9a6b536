"""The tools of a session and their arguments."""

import json

import pytest

from plait.chat.tools import toolbox
from tests.chat.tools.workspace import ToolWorkspace


def test_every_definition_is_valid() -> None:
    for name, tool in toolbox(has_network=True).items():
        data = json.loads(json.dumps(tool.definition))
        assert data["name"] == name
        assert data["description"].strip()
        assert data["input_schema"]["type"] == "object"
        assert set(data["input_schema"]["required"]) <= set(data["input_schema"]["properties"])


def test_tools_can_be_disabled() -> None:
    assert "Bash" in toolbox()
    assert "Bash" not in toolbox(without=("Bash",))


@pytest.mark.parametrize("name", toolbox(has_network=True))
def test_any_tool_input_gets_a_result(workspace: ToolWorkspace, name: str) -> None:
    odd: list[object] = [None, [], 5, "x", {"a": {}}, True, -1, 1e300]
    for field in workspace.tools[name].definition["input_schema"]["properties"]:
        for value in odd:
            outcome = workspace.run_tool(name, **{field: value, "unheard_of": 1})
            assert outcome.is_error
            assert "An unexpected parameter `unheard_of` was provided" in str(
                outcome.content
            ) or "InputValidationError" in str(outcome.content)
