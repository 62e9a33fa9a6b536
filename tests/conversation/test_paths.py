"""Conversation paths from root to end across branches."""

from plait.conversation.model import AssistantText, Conversation
from plait.conversation.walk import build_path
from plait.graph.paths import list_path_uuids, list_paths
from tests.conversation.sketched import Talk, talk, uuids_in

REWIND = "U1 A1< U2< A2< U3<A1 A3< U4<A3 A4< U5<A3 A5<"


def ways(found: Talk) -> list[Conversation]:
    lines = found.all.by_line
    return [build_path(lines[path.line], lines.get) for path in list_paths(found.graph)]


def test_path_runs_from_root_to_end() -> None:
    found = talk(REWIND)
    assert [found.turns(way).splitlines() for way in ways(found)] == [
        ["1 prompt: U1=prompt A1=said →branch", "2 prompt: U2=prompt A2=said"],
        [
            "1 prompt: U1=prompt A1=said →branch",
            "2 prompt: U3=prompt A3=said →branch",
            "3 prompt: U4=prompt A4=said",
        ],
        [
            "1 prompt: U1=prompt A1=said →branch",
            "2 prompt: U3=prompt A3=said →branch",
            "3 prompt: U5=prompt A5=said",
        ],
    ]


def test_path_has_the_records_of_the_graph() -> None:
    found = talk(REWIND)
    for way, path in zip(ways(found), list_paths(found.graph), strict=True):
        assert list(uuids_in(way.items())) == list(list_path_uuids(found.graph, path))


def test_path_has_its_own_responses() -> None:
    found = talk(REWIND)
    for way in ways(found):
        said = [item for item in way.items() if isinstance(item, AssistantText)]
        assert [way.responses[item.response].uuids for item in said] == [
            (item.uuid,) for item in said
        ]
        assert len(way.responses) == len(said)


def test_a_session_continued_in_a_second_file_is_read_as_one() -> None:
    found = talk('U1 "go"\nA1< "ok"\nfile second\ncopy main\nU2< "more"\nA2< "done"\n')
    (way,) = ways(found)
    assert found.turns(way).splitlines() == [
        "1 prompt: U1=prompt A1=said →trunk",
        "2 prompt: U2=prompt A2=said",
    ]
