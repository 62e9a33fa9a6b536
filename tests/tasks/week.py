"""A week of work to logs: what the ten tasks of a reader are asked of."""

from pathlib import Path

from examples.drawing import Drawing, draw

WORK = """
file totals cwd=/home/dev/shop branch=main start=2026-11-09T09:00:00Z pace=lifelike
set model=claude-sonnet-5
ai-title "The total of gift cards"
U1 "The total of gift cards is wrong. Find out why."
A1< "I will look." + Read(file_path="/home/dev/shop/cart.py") as look
R1< of look
  | def total(items):
  |     return 0
A2< Bash(command="pytest -q tests/test_cart.py", description="Run the tests") as fails
R2< of fails error
  | Exit code 1
  | 1 failed
A3< "It returns nothing at all." + Edit(file_path="/home/dev/shop/cart.py") as fix
  old_string:
    | return 0
  new_string:
    | return sum(items)
R3< of fix
A4< "The kingfisher bug is mended: `total` now sums the items."
U2< "Round it to cents as well."
A5< Edit(file_path="/home/dev/shop/cart.py") as cents
  old_string:
    | return sum(items)
  new_string:
    | return round(sum(items), 2)
R5< of cents
A6< "Rounded."
U3< "Now rewrite the whole shop in Rust."
A7< "That is the ostrich path." + Write(file_path="/home/dev/shop/main.rs") as rust
  content:
    | fn main() {}
R7< of rust
A8< "A first file stands."
U4<A6 "Leave it. Have somebody count the callers instead."
A9< Agent(description="Count the callers", subagent_type="Explore") as send
  prompt:
    | Who calls total?
R9< of send "Three callers."
A10< "Three callers, none of them breaks."
last-prompt leaf A10
agent counter of send type=Explore
U1 "Who calls total?"
A1< Grep(pattern="total", path="/home/dev/shop") as found
R1< of found
  | cart.py
  | till.py
  | web.py
A2< "Three callers."
"""
PLANS = """
file plans cwd=/home/dev/mill branch=main start=2026-11-11T14:00:00Z pace=lifelike
set model=claude-opus-5-5 permission=plan
ai-title "A new wheel"
U1 "Plan a new wheel for the mill."
A1< ExitPlanMode(plan="Take the old wheel off and burn it.") as plan
R1< of plan rejected
U2< "Not like that. Keep the old one."
A2< "Then it is mended, not replaced."
last-prompt leaf A2
"""


def drawn(root: Path) -> dict[str, Drawing]:
    """Write the sessions of the week below a folder and return them by their names."""
    found = {"totals": draw(WORK), "plans": draw(PLANS)}
    for item in found.values():
        item.write(root)
    return found
