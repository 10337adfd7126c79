"""A store for LangGraph whose items are found by meaning and by words. Needs the extra: pip install slowwave[langgraph].

Items are kept as the store of @slowwave/langgraph keeps them, so that graphs in both languages may share them.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from threading import Lock
from typing import Any, cast
from weakref import WeakValueDictionary

from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
    validate_op_namespace,
)

from . import api
from ._sync import Slowwave
from .errors import InvalidRequestError, NotFoundError

# The most characters of a text that can be searched, as UTF-16 counts them.
TEXT_MAX = 8_000
# What the API answers at once.
PAGE = 200

Namespace = tuple[str, ...]


class SlowwaveStore(BaseStore):
    """Keeps LangGraph's items as memories that no model changes.

    user_at: the place of the label that names the user, from 0: with ("memories", "ana") it is 1.
    agent_id: the agent that owns the items of which no user does.
    fields: the paths in a value that it is found by. Default: all that is in it.
    """

    def __init__(
        self,
        slowwave: Slowwave,
        *,
        user_at: int | None = None,
        agent_id: str = "langgraph",
        fields: Sequence[str] | None = None,
    ) -> None:
        if user_at is not None and user_at < 0:
            raise ValueError(f"expected user_at to be the place of a label, from 0, got {user_at}")
        self._slowwave = slowwave
        self._user_at = user_at
        self._agent_id = agent_id
        self._fields = fields
        # Writes of one item follow each other.
        self._locks: WeakValueDictionary[str, Lock] = WeakValueDictionary()
        self._guard = Lock()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Reads see what was there before the batch; of several puts of one item, the last counts."""
        operations = list(ops)
        for operation in operations:
            validate_op_namespace(operation)
        results = [self._read(operation) for operation in operations]
        puts = {_name_of(one.namespace, one.key): one for one in operations if isinstance(one, PutOp)}
        for put in puts.values():
            self._put(put)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, operation: Op) -> Result:
        if isinstance(operation, GetOp):
            found = self._kept(operation.namespace, operation.key)
            return _item_of(found[0]) if found else None
        if isinstance(operation, SearchOp):
            return cast(Result, self._search(operation))
        if isinstance(operation, ListNamespacesOp):
            return self._namespaces(operation)
        return None

    def _kept(self, namespace: Namespace, key: str) -> list[api.Memory]:
        """The memories that an item is kept as, the newest first: one, unless two processes put a new item at once."""
        conditions = [*_is_in(namespace), _on("key", {"eq": key})]
        return list(self._listed(self._owner(namespace, whole=True), conditions))

    def _listed(
        self, owner: dict[str, Any], conditions: Sequence[api.Filters], wanted: int = PAGE
    ) -> Iterator[api.Memory]:
        """Memories of an owner, page after page, of which about so many are wanted."""
        return self._slowwave.memories(filters={"AND": conditions}, limit=max(1, min(PAGE, wanted)), **owner)

    def _search(self, operation: SearchOp) -> list[SearchItem]:
        owner = self._owner(operation.namespace_prefix, whole=False)
        conditions = [
            _on("key", "*"),
            *_is_below(operation.namespace_prefix),
            *[_condition(["langgraph", "value", key], wanted) for key, wanted in (operation.filter or {}).items()],
        ]
        end = operation.offset + operation.limit
        memories: Iterable[api.Memory | api.SearchHit]
        if operation.query:
            filters: api.Filters = {"AND": [*conditions, _on("indexed", True)]}
            memories = self._slowwave.search(operation.query, cut="none", filters=filters, top_k=end, **owner)["results"]
        else:
            memories = self._listed(owner, conditions, end)
        found: dict[str, SearchItem] = {}
        for memory in memories:
            item = _item_of(memory)
            found.setdefault(_name_of(item.namespace, item.key), _found(item, memory.get("score")))
            if len(found) >= end:
                break
        return list(found.values())[operation.offset : end]

    def _namespaces(self, operation: ListNamespacesOp) -> list[Namespace]:
        conditions = operation.match_conditions or ()
        prefix = next((one.path for one in conditions if one.match_type == "prefix"), ())
        listed = self._listed(self._owner(prefix, whole=False), [_on("key", "*"), *_is_below(prefix)])
        namespaces = (_item_of(memory).namespace for memory in listed)
        found = {one[: operation.max_depth] for one in namespaces if all(_is_matched(one, each) for each in conditions)}
        return sorted(found)[operation.offset : operation.offset + operation.limit]

    def _put(self, put: PutOp) -> None:
        with self._lock(_name_of(put.namespace, put.key)):
            try:
                self._write(put)
            except InvalidRequestError as error:
                raise InvalidRequestError(
                    f"item {put.key!r} in {put.namespace!r}, whose value is kept as metadata: {error}",
                    status=error.status,
                    code=error.code,
                    errors=error.errors,
                    request_id=error.request_id,
                ) from error

    def _write(self, put: PutOp) -> None:
        kept = self._kept(put.namespace, put.key)
        if put.value is None:
            gone = kept
        else:
            text, metadata = self._body_of(put, put.value)
            gone = kept[1:]
            if not kept:
                owner = self._owner(put.namespace, whole=True)
                self._slowwave.write(text, metadata=metadata, immutable=True, **owner)
            elif kept[0]["memory"] == text:
                self._slowwave.update(kept[0]["id"], metadata=metadata)
            else:
                # Consolidations leave immutable memories as they are; a new text has to take that off for a moment.
                self._slowwave.update(kept[0]["id"], memory=text, metadata=metadata, immutable=False)
                self._slowwave.update(kept[0]["id"], immutable=True)
        for memory in gone:
            try:
                self._slowwave.delete(memory["id"])
            except NotFoundError:
                pass  # somebody else was faster

    def _lock(self, name: str) -> Lock:
        with self._guard:
            return self._locks.setdefault(name, Lock())

    def _body_of(self, put: PutOp, value: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        if not isinstance(value, Mapping):
            raise TypeError(f"expected a value to be a dictionary, got {value!r}")
        paths = put.index if put.index is not None else self._fields
        text = "" if paths is False else _text_of(value, paths)
        kept = {
            "namespace": {str(depth): label for depth, label in enumerate(put.namespace)},
            "key": put.key,
            "indexed": text != "",
            "value": dict(value),
        }
        # Every memory has a text; that of an item without one says where it is.
        place = json.dumps([*put.namespace, put.key], ensure_ascii=False)
        return text or place, {"langgraph": kept}

    def _owner(self, namespace: Sequence[str], *, whole: bool) -> dict[str, Any]:
        """The owner of a namespace, whose end may be missing where all that it begins is meant."""
        user_at = self._user_at
        user = None if user_at is None or len(namespace) <= user_at else namespace[user_at]
        if user is not None and user != "*":
            return {"user_id": user}
        if user_at is None or (whole and user is None):
            return {"agent_id": self._agent_id}
        raise InvalidNamespaceError(
            f"expected a namespace whose label {user_at} (user_at) names the user, got {tuple(namespace)!r}; "
            "one question is of one user"
        )


def _name_of(namespace: Sequence[str], key: str) -> str:
    return json.dumps([*namespace, key])


def _item_of(memory: api.Memory | api.SearchHit) -> Item:
    kept = memory["metadata"]["langgraph"]
    places = sorted(kept["namespace"].items(), key=lambda place: int(place[0]))
    return Item(
        namespace=tuple(label for _, label in places),
        key=kept["key"],
        value=kept["value"],
        created_at=datetime.fromisoformat(memory["created_at"]),
        updated_at=datetime.fromisoformat(memory["updated_at"]),
    )


def _found(item: Item, score: Any) -> SearchItem:
    return SearchItem(item.namespace, item.key, item.value, item.created_at, item.updated_at, score)


def _on(field: str, condition: Any) -> api.Filters:
    """A condition on a field that items are kept under. The form of objects takes keys as they are, dots included."""
    return {"metadata": {"langgraph": {field: condition}}}


def _is_below(prefix: Sequence[str]) -> list[api.Filters]:
    labels = ((str(depth), label) for depth, label in enumerate(prefix) if label != "*")
    return [_on("namespace", {depth: {"eq": label}}) for depth, label in labels]


def _is_in(namespace: Sequence[str]) -> list[api.Filters]:
    return [*_is_below(namespace), _on("namespace", {str(len(namespace)): None})]


_OPERATORS = {f"${name}": name for name in ("eq", "ne", "gt", "gte", "lt", "lte", "in", "nin")}
# Keys that Slowwave's filters would take for operators unless a dot stands before them.
_TAKEN = {*_OPERATORS.values(), "contains", "icontains"}


def _condition(path: Sequence[str], wanted: Any) -> api.Filters:
    """A condition of LangGraph's filter, as one of Slowwave's."""
    place = ".".join(path[2:])
    if isinstance(wanted, Mapping) and wanted and not any(key.startswith("$") for key in wanted):
        return {"AND": [_condition([*path, key], inner) for key, inner in wanted.items()]}
    condition: Any = {"eq": wanted}
    if isinstance(wanted, Mapping):
        condition = {_OPERATORS.get(name, ""): value for name, value in wanted.items()}
    if "" in condition or not condition or isinstance(wanted, list | tuple):
        known = f"values or operators ({', '.join(_OPERATORS)})"
        raise ValueError(f"filter {place}: expected a text, a number, a boolean, None, {known}, got {wanted!r}")
    if not _TAKEN.isdisjoint(path):
        return {".".join(["metadata", *path]): condition}
    for key in reversed(path):
        condition = {key: condition}
    return {"metadata": condition}


def _is_matched(namespace: Namespace, condition: MatchCondition) -> bool:
    path = condition.path
    start = 0 if condition.match_type == "prefix" else len(namespace) - len(path)
    part = namespace[start : start + len(path)] if start >= 0 else ()
    return len(part) == len(path) and all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))


def _text_of(value: Mapping[str, Any], paths: Sequence[str] | None) -> str:
    """What a value is found by. Empty if there is nothing to read."""
    lines = _lines_of(value) if paths is None else [text for path in paths for text in get_text_at_path(value, path)]
    text = _HALVES.sub("\ufffd", "\n".join(lines)).strip()
    return text.encode("utf-16-le")[: 2 * TEXT_MAX].decode("utf-16-le", "ignore")


# Halves of characters, which no UTF-8 has.
_HALVES = re.compile("[\ud800-\udfff]")


def _lines_of(value: Any) -> list[str]:
    """One line for each text, number and truth in a value, under its name; a single one stands alone."""
    leaves = list(_leaves_of(value, ""))
    return [leaf for _, leaf in leaves] if len(leaves) == 1 else [f"{name}: {leaf}" for name, leaf in leaves]


def _leaves_of(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves_of(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves_of(inner, name)
    elif value is not None:
        yield name, value if isinstance(value, str) else json.dumps(value)
