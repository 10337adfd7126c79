"""The store, held against what LangGraph's own store does."""

from __future__ import annotations

import asyncio
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore, GetOp, InvalidNamespaceError, Op, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore
from slowwave import InvalidRequestError, Slowwave
from slowwave.langgraph import SlowwaveStore

PROFILE = {
    "name": "Ana",
    "age": 31,
    "score": 0.1 + 0.2,
    "big": 2**53 - 1,
    "nested": {"list": [1, "two", None, {"three": []}], "empty": {}, "a.b": ""},
    "text": 'Zürich 😀 "quoted"\n',
    "nothing": None,
    "no": False,
}


@pytest.fixture(params=["InMemoryStore", "SlowwaveStore"])
def store(request: pytest.FixtureRequest, slowwave: Slowwave) -> BaseStore:
    return InMemoryStore() if request.param == "InMemoryStore" else opened(slowwave)


def opened(slowwave: Slowwave, **options: Any) -> SlowwaveStore:
    return SlowwaveStore(slowwave, **{"agent_id": str(uuid.uuid4()), **options})


def keys(items: Any) -> list[str]:
    return sorted(item.key for item in items)


def test_gives_a_value_back_as_it_was_put(store: BaseStore) -> None:
    store.put(("users", "ana"), "profile", PROFILE)
    item = store.get(("users", "ana"), "profile")
    assert item is not None
    assert (item.key, item.namespace, item.value) == ("profile", ("users", "ana"), PROFILE)
    assert item.created_at.tzinfo is not None
    for namespace, key in [(("users", "ana"), "other"), (("users",), "profile"), (("users", "ana", "x"), "profile")]:
        assert store.get(namespace, key) is None


def test_puts_in_place_of_what_was_there_and_deletes(store: BaseStore) -> None:
    store.put(("a",), "k", {"text": "tea"})
    first = store.get(("a",), "k")
    store.put(("a",), "k", {"text": "coffee"})
    store.put(("a",), "k", {"text": "coffee", "hot": True})
    then = store.get(("a",), "k")
    assert first is not None and then is not None
    assert then.value == {"text": "coffee", "hot": True}
    assert first.created_at <= then.updated_at
    assert len(store.search(("a",))) == 1
    store.delete(("a",), "k")
    store.delete(("a",), "k")
    assert store.get(("a",), "k") is None
    store.put(("a",), "k", {"text": "water"})
    assert keys(store.search(("a",))) == ["k"]


def test_lists_what_is_below_a_namespace_page_after_page(store: BaseStore) -> None:
    for place in [("docs",), ("docs", "old"), ("docsx",), ("other", "docs")]:
        store.put(place, "/".join(place), {"place": list(place)})
    assert keys(store.search(("docs",))) == ["docs", "docs/old"]
    pages = [store.search((), limit=3), store.search((), limit=3, offset=3)]
    assert [len(page) for page in pages] == [3, 1]
    assert keys([*pages[0], *pages[1]]) == ["docs", "docs/old", "docsx", "other/docs"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"status": "open"}, ["1", "3"]),
        ({"status": "open", "n": 1}, ["1"]),
        ({"n": {"$gt": 1}}, ["2", "3"]),
        ({"n": {"$gte": 2, "$lt": 3}}, ["2"]),
        ({"status": {"$ne": "open"}}, ["2"]),
        ({"status": {"$eq": "*"}}, ["2"]),
        ({"place": {"city": "Oslo"}}, ["1"]),
        ({"place": {"city": {"$ne": "Oslo"}, "in": True}}, ["2"]),
        ({"in": True}, ["3"]),
        ({"a.b": "x"}, ["1"]),
    ],
)
def test_filters(store: BaseStore, wanted: dict[str, Any], found: list[str]) -> None:
    store.put(("f",), "1", {"status": "open", "n": 1, "a.b": "x", "place": {"city": "Oslo"}})
    store.put(("f",), "2", {"status": "*", "n": 2, "place": {"city": "Rome", "in": True}})
    store.put(("f",), "3", {"status": "open", "n": 3, "in": True})
    assert keys(store.search(("f",), filter=wanted)) == found


def test_names_namespaces(store: BaseStore) -> None:
    for place in [("a", "b", "c"), ("a", "b", "d"), ("a", "x"), ("z", "b", "c")]:
        store.put(place, "k", {})
    assert store.list_namespaces() == [("a", "b", "c"), ("a", "b", "d"), ("a", "x"), ("z", "b", "c")]
    assert store.list_namespaces(prefix=("a", "b")) == [("a", "b", "c"), ("a", "b", "d")]
    assert store.list_namespaces(suffix=("c",)) == [("a", "b", "c"), ("z", "b", "c")]
    assert len(store.list_namespaces(prefix=("*", "b"), suffix=("c",))) == 2
    assert store.list_namespaces(max_depth=1) == [("a",), ("z",)]
    assert store.list_namespaces(limit=1, offset=1) == [("a", "b", "d")]


def test_answers_a_batch_in_its_order(store: BaseStore) -> None:
    store.put(("b",), "there", {"v": 0})
    ops: list[Op] = [
        GetOp(("b",), "k"),
        PutOp(("b",), "k", {"v": 1}),
        GetOp(("b",), "there"),
        SearchOp(("b",)),
        PutOp(("b",), "k", {"v": 2}),
    ]
    got, put, there, found, _ = asyncio.run(store.abatch(ops))
    assert (got, put, keys([there]), keys(found)) == (None, None, ["there"], ["there"])
    item = store.get(("b",), "k")
    assert item is not None and item.value == {"v": 2}


def test_finds_by_meaning_and_words(slowwave: Slowwave) -> None:
    store = opened(slowwave)
    store.put(("m", "ana"), "food", {"text": "Ana is allergic to peanuts"})
    store.put(("m", "ana"), "city", {"place": {"city": "Oslo"}, "text": "lives there"})
    store.put(("m", "ana"), "hidden", {"text": "allergic to nothing"}, index=False)
    best, *others = store.search(("m", "ana"), query="what is she allergic to?")
    assert best.key == "food" and best.score is not None and best.score > 0
    assert "hidden" not in keys(others)
    assert store.search(("m",), query="Oslo", limit=1)[0].key == "city"


def test_finds_a_value_by_the_chosen_fields(slowwave: Slowwave) -> None:
    agent = str(uuid.uuid4())
    store = opened(slowwave, agent_id=agent, fields=["title", "parts[*].text"])
    store.put(("d",), "k", {"title": "Tea", "parts": [{"text": "green"}, {"text": "black"}], "secret": "coffee"})
    assert [memory["memory"] for memory in slowwave.memories(agent_id=agent)] == ["Tea\ngreen\nblack"]


def test_an_item_of_a_user_is_no_other_users(slowwave: Slowwave, user: str) -> None:
    store = opened(slowwave, user_at=1)
    store.put(("memories", user), "k", {"text": "Una keeps bees"})
    store.put(("memories", f"{user}-2"), "k", {"text": "Vic keeps goats"})
    assert [item.value["text"] for item in store.search(("memories", user), query="animals")] == ["Una keeps bees"]
    assert "Una keeps bees" in slowwave.context("bees", user_id=user)["text"]
    with pytest.raises(InvalidNamespaceError, match="names the user"):
        store.search(("memories",), query="bees")
    slowwave.erase(user)
    assert store.get(("memories", user), "k") is None


def test_many_puts_of_one_new_item_leave_one(slowwave: Slowwave) -> None:
    store = opened(slowwave)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda n: store.put(("p",), "k", {"n": n}), range(8)))
    assert len(store.search(("p",))) == 1


def test_refuses_what_it_cannot_keep_or_ask(slowwave: Slowwave) -> None:
    store = opened(slowwave)
    with pytest.raises(InvalidRequestError, match=r"item 'long' in \('x',\), whose value is kept as metadata: .*16000"):
        store.put(("x",), "long", {"text": "x" * 20_000})
    for wrong in ({"a": {"$regex": "x"}}, {"a": ["x"]}):
        with pytest.raises(ValueError, match="filter a: expected a text"):
            store.search(("x",), filter=wrong)
    with pytest.raises(NotImplementedError, match="TTL"):
        store.put(("x",), "k", {}, ttl=5)
    with pytest.raises(ValueError, match="expected user_at"):
        opened(slowwave, user_at=-1)


class State(TypedDict):
    said: str
    known: list[str]


def test_a_graph_finds_what_another_thread_noted(slowwave: Slowwave, user: str) -> None:
    def note(state: State, *, store: BaseStore) -> dict[str, Any]:
        known = [item.value["text"] for item in store.search(("notes", user), query=state["said"])]
        store.put(("notes", user), str(uuid.uuid4()), {"text": state["said"]})
        return {"known": known}

    graph = StateGraph(State)
    graph.add_node("note", note)
    graph.add_edge(START, "note")
    graph.add_edge("note", END)
    compiled = graph.compile(store=opened(slowwave, user_at=1))
    assert compiled.invoke({"said": "The key is under the mat.", "known": []})["known"] == []
    again = asyncio.run(compiled.ainvoke({"said": "Where is the key?", "known": []}))
    assert again["known"] == ["The key is under the mat."]
