"""Todo lists and how they change."""

from textwrap import dedent

from plait.conversation.questions import ListState, last_lists, lists_of
from tests.conversation.sketched import Talk, talk


def talked(text: str) -> Talk:
    return talk(dedent(text))


def told(states: tuple[ListState, ...]) -> list[str]:
    """Return each state in a line: the turn, then each task with the sign of its status."""
    signs = {"pending": "-", "in_progress": ">", "completed": "x"}
    return [
        f"{state.turn} {state.kind}: "
        + " ".join(f"{signs.get(t.status, '?')}{t.id or ''}{t.text}" for t in state.tasks)
        for state in states
    ]


# checklist: P53, P116
def test_a_list_that_is_rewritten_has_a_state_for_each_change() -> None:
    found = lists_of(
        talked("""
        U1 "go"
        T1< TodoWrite(todos=[{"content":"a","status":"pending"},{"content":"b","status":"pending"}])
        R1<
        T2< TodoWrite(todos=[{"content":"a","status":"pending"},{"content":"b","status":"pending"}])
        R2<
        A2< "planned"
        U3< "on"
        T3< TodoWrite(todos=[{"content":"a","status":"completed"},{"content":"b","status":"odd"}])
        R3<
        T4< TodoWrite(todos=[])
        R4< error "no"
        T5< TodoWrite(todos="odd")
        R5<
        A4< "done"
        """).main
    )
    assert told(found) == ["1 todos: -a -b", "2 todos: xa ?b"]
    last = last_lists(found)["todos"]
    assert (last.done, len(last.tasks)) == (1, 2)
    assert last.call


# checklist: P116
def test_a_task_has_a_text_a_status_and_an_active_form() -> None:
    (found,) = lists_of(
        talked("""
        U1 "go"
        T1< TodoWrite(todos=[{"content":"a","status":"in_progress","activeForm":"Doing a"}])
        R1<
        """).main
    )
    (task,) = found.tasks
    assert (task.text, task.status, task.doing) == ("a", "in_progress", "Doing a")


def test_tasks_are_created_changed_listed_and_deleted() -> None:
    found = lists_of(
        talked("""
        U1 "go"
        T1< TaskCreate(subject="a", description="all of a", activeForm="doing a")
        R1<
        T2< TaskCreate(subject="b")
        R2< {"toolUseResult": "odd"} "Task #2 created successfully: b"
        T3< TaskUpdate(taskId="1", status="in_progress", owner="bob", addBlockedBy=["2"])
        R3<
        T4< TaskUpdate(taskId="9", status="completed")
        R4<
        T5< TaskUpdate(taskId="2", status="deleted")
        R5<
        T6< TaskList()
        R6< {"toolUseResult": {"tasks": [{"id": "3", "subject": "c"}, {"id": "1", "subject": "A"}]}}
        T7< TaskList()
        R7< {"toolUseResult": null} "#1 [completed] A (bob)"
        A7< "done"
        """).main
    )
    assert told(found) == [
        "1 tasks: -1a",
        "1 tasks: -1a -2b",
        "1 tasks: >1a -2b",
        "1 tasks: >1a -2b x9",
        "1 tasks: >1a x9",
        "1 tasks: -1A -3c",
        "1 tasks: x1A (bob)",
    ]
    first = found[5].tasks[0]
    assert (first.description, first.doing, first.owner) == ("all of a", "doing a", "bob")
    assert found[2].tasks[0].blocked_by == ("2",)


def test_a_reminder_restores_the_list_and_an_empty_one_keeps_it() -> None:
    task = '{"id": "1", "subject": "a", "status": "completed"}'
    found = lists_of(
        talked(f"""
        U1 "go"
        H1< {{"attachment": {{"type": "task_reminder", "content": [{task}, 7], "itemCount": 1}}}}
        H2< {{"attachment": {{"type": "task_reminder", "content": [], "itemCount": 0}}}}
        H3< {{"attachment": {{"type": "task_reminder", "content": "odd"}}}}
        A1< "ok"
        """).main
    )
    assert told(found) == ["1 tasks: x1a"]
