"""Every method of mem0's Python client, of any version, synchronous and asynchronous, against MEM0_HOST.

Prints one line of JSON: what was called, and what came of it.
"""

import asyncio
import inspect
import json
import os
import sys
import traceback

from importlib.metadata import version

from mem0 import AsyncMemoryClient, MemoryClient

HOST = os.environ["MEM0_HOST"]
KEY = os.environ["MEM0_API_KEY"]
MAJOR, MINOR = (int(part) for part in version("mem0ai").split(".")[:2])
IS_TYPED = MAJOR >= 2
DAY = "2030-01-31"

calls = []


def rows(answer):
    return answer if isinstance(answer, list) else answer.get("results", [])


def texts(answer):
    return [row.get("memory") for row in rows(answer)]


def said(text):
    return [{"role": "user", "content": text}]


class Session:
    """Calls methods one after the other, and notes which of them work."""

    def __init__(self, client, prefix):
        self.client = client
        self.prefix = prefix

    async def of(self, call):
        answer = call()
        return await answer if inspect.isawaitable(answer) else answer

    async def tries(self, name, call, holds=lambda answer: True):
        try:
            answer = await self.of(call)
        except Exception as error:  # whatever a client makes of an answer
            where = traceback.extract_tb(error.__traceback__)[-1]
            own = isinstance(error, (TypeError, AttributeError, KeyError)) and f" ({where.name})" or ""
            calls.append({"call": self.prefix + name, "error": f"{type(error).__name__}: {error}{own}"[:400]})
            return None
        if holds(answer):
            calls.append({"call": self.prefix + name})
        else:
            calls.append({"call": self.prefix + name, "error": f"unexpected answer {json.dumps(answer, default=str)[:300]}"})
        return answer

    async def remembers(self, text, **ids):
        """A memory as it is; its id."""
        return rows(await self.of(lambda: self.client.add(said(text), infer=False, **ids)))[0]["id"]


async def everything(client, prefix, who):
    s = Session(client, prefix)
    c = client
    # As the versions name whose memories are meant.
    whose = (lambda **ids: {"filters": ids}) if IS_TYPED else (lambda **ids: ids)
    listed = whose
    v2 = {} if IS_TYPED else {"version": "v2"}

    added = lambda answer: bool(rows(answer)) or bool(answer.get("event_id"))
    verbatim = {"infer": False}
    await s.tries("add(messages)", lambda: c.add(said("I live in Oslo"), user_id=who), added)
    await s.tries("add(infer=False)", lambda: c.add(said("Has a cat."), user_id=who, **verbatim), lambda a: rows(a)[0]["id"])
    if MAJOR >= 1:
        await s.tries("add(str)", lambda: c.add("I play chess", user_id=who), added)
        await s.tries("add(dict)", lambda: c.add({"role": "user", "content": "I sing"}, user_id=who), added)
    await s.tries("add(metadata)", lambda: c.add(said("Has a red car."), user_id=who, metadata={"about": "car"}, **verbatim), added)
    ids = {"agent_id": f"{who}-bot", "run_id": f"{who}-run", "app_id": f"{who}-app"}
    await s.tries("add(agent_id, run_id, app_id)", lambda: c.add(said("Likes green tea."), user_id=who, **ids, **verbatim), added)
    await s.tries("add(agent_id alone)", lambda: c.add(said("Answers politely."), agent_id=f"{who}-bot", **verbatim), added)
    await s.tries("add(run_id alone)", lambda: c.add(said("Began on Monday."), run_id=f"{who}-run", **verbatim), added)
    for option in (
        {"custom_instructions": "Remember hobbies."},
        {"includes": "hobbies", "excludes": "food"},
        {"timestamp": 1_700_000_000},
        {"expiration_date": DAY},
        {"enable_graph": False},
        {"async_mode": False},
        {"output_format": "v1.1"},
        {"immutable": True},
        {"custom_categories": [{"hobbies": "what they do"}]},
    ):
        name = ", ".join(option)
        await s.tries(f"add({name})", lambda: c.add(said("I paint"), user_id=who, **option), added)
    if IS_TYPED:
        from mem0.client.types import AddMemoryOptions, DeleteAllMemoryOptions, GetAllMemoryOptions, SearchMemoryOptions

        await s.tries(
            "add(AddMemoryOptions)",
            lambda: c.add(said("Runs."), AddMemoryOptions(filters={"user_id": who}, infer=False)),
            added,
        )

    finds = lambda text: lambda answer: any(text in (one or "") for one in texts(answer))
    # Until what was said is consolidated.
    for _ in range(60):
        if finds("Oslo")(await s.of(lambda: c.get_all(**listed(user_id=who)))):
            break
        await asyncio.sleep(0.5)

    search = lambda **options: lambda: c.search("what is known?", **options)
    await s.tries("search(user_id)", lambda: c.search("where?", **whose(user_id=who)), finds("Oslo"))
    filters = {
        "user_id": {"user_id": who},
        "AND": {"AND": [{"user_id": who}, {"run_id": f"{who}-run"}]},
        "OR": {"OR": [{"user_id": who}, {"agent_id": f"{who}-bot"}]},
        "NOT": {"AND": [{"user_id": who}, {"NOT": [{"metadata": {"about": "car"}}]}]},
        "in": {"user_id": {"in": [who, "nobody"]}},
        "user_id *": {"AND": [{"user_id": who}, {"agent_id": "*"}]},
        "agent_id alone": {"agent_id": f"{who}-bot"},
        "run_id alone": {"run_id": f"{who}-run"},
        "app_id alone": {"app_id": f"{who}-app"},
        "created_at": {"AND": [{"user_id": who}, {"created_at": {"gte": "2024-01-01", "lte": "2100-01-01"}}]},
        "keywords": {"AND": [{"user_id": who}, {"keywords": {"icontains": "tea"}}]},
    }
    for name, one in filters.items():
        await s.tries(f"search(filters: {name})", search(filters=one, **v2), lambda a: len(texts(a)) > 0)
        await s.tries(f"get_all(filters: {name})", lambda: c.get_all(filters=one, **v2), lambda a: len(texts(a)) > 0)
    narrowed = {"AND": [{"user_id": who}, {"metadata": {"about": "car"}}]}
    await s.tries("search(filters: metadata)", search(filters=narrowed, **v2), lambda a: texts(a) == ["Has a red car."])
    of_nobody = {"AND": [{"user_id": who}, {"categories": {"in": ["none"]}}]}
    await s.tries("search(filters: categories)", search(filters=of_nobody, **v2), lambda a: texts(a) == [])
    for option in (
        {"top_k": 1},
        {"limit": 1},
        {"threshold": 0.0},
        {"rerank": True},
        {"fields": ["memory"]},
        {"keyword_search": True},
        {"enable_graph": False},
        {"categories": []},
        {"metadata": {"about": "car"}},
        {"show_expired": False},
        {"latest_only": True},
        {"reference_date": "2026-01-01"},
    ):
        await s.tries(f"search({next(iter(option))})", search(**whose(user_id=who), **option))
    if IS_TYPED:
        typed = SearchMemoryOptions(filters={"user_id": who}, top_k=3)
        await s.tries("search(SearchMemoryOptions)", lambda: c.search("tea", typed), lambda a: len(texts(a)) == 3)
        typed_all = GetAllMemoryOptions(filters={"user_id": who}, page=1, page_size=2)
        await s.tries("get_all(GetAllMemoryOptions)", lambda: c.get_all(typed_all), lambda a: len(texts(a)) == 2)

    await s.tries("get_all(user_id)", lambda: c.get_all(**listed(user_id=who)), finds("cat"))
    await s.tries("get_all(page)", lambda: c.get_all(**listed(user_id=who), page=1, page_size=2), lambda a: len(texts(a)) == 2)
    dates = {"start_date": "2024-01-01", "end_date": "2100-01-01"}
    await s.tries("get_all(start_date, end_date)", lambda: c.get_all(**listed(user_id=who), **dates), finds("cat"))
    await s.tries("get_all(top_k)", lambda: c.get_all(**listed(user_id=who), top_k=5))

    memory = await s.remembers("Has one dog.", user_id=who)
    await s.tries("get", lambda: c.get(memory), lambda a: a["memory"] == "Has one dog.")
    await s.tries("update(text)", lambda: c.update(memory, text="Has two dogs."), lambda a: a["memory"] == "Has two dogs.")
    await s.tries("update(metadata)", lambda: c.update(memory, metadata={"about": "dogs"}), lambda a: a["metadata"] == {"about": "dogs"})
    if "expiration_date" in inspect.signature(c.update).parameters:
        await s.tries("update(expiration_date)", lambda: c.update(memory, expiration_date=DAY))
    if "timestamp" in inspect.signature(c.update).parameters:
        await s.tries("update(timestamp)", lambda: c.update(memory, text="Has two dogs.", timestamp=1_700_000_000))
    await s.tries("history", lambda: c.history(memory), lambda a: len(a) >= 3)
    batch = [{"memory_id": memory, "text": "Has three dogs."}]
    await s.tries("batch_update(text)", lambda: c.batch_update(batch))
    await s.tries("batch_update(metadata)", lambda: c.batch_update([{"memory_id": memory, "metadata": {"about": "pets"}}]))
    for feedback in ("POSITIVE", "NEGATIVE", "VERY_NEGATIVE", None):
        await s.tries(f"feedback({feedback})", lambda: c.feedback(memory, feedback=feedback, feedback_reason="because"))
    await s.tries("batch_delete", lambda: c.batch_delete([{"memory_id": memory}]))
    gone = await s.remembers("Has no fish.", user_id=who)
    await s.tries("delete", lambda: c.delete(gone))
    await s.tries("history (of what is deleted)", lambda: c.history(gone), lambda a: len(a) == 2)
    linked = await s.remembers("Has no bird.", user_id=who)
    if "delete_linked" in inspect.signature(c.delete).parameters:
        await s.tries("delete(delete_linked)", lambda: c.delete(linked, delete_linked=True))

    names = lambda answer: {(row["type"], row["name"]) for row in rows(answer)}
    await s.tries("users", c.users, lambda a: {("user", who), ("app", f"{who}-app")} <= names(a))
    await s.tries("get_summary", lambda: c.get_summary({"user_id": who}), lambda a: "summary" in a)
    of_user = {"filters": {"user_id": who}}
    schema = json.dumps({"type": "object"})
    export = await s.tries("create_memory_export(filters)", lambda: c.create_memory_export(schema, **of_user), lambda a: a["id"])
    await s.tries("create_memory_export(user_id)", lambda: c.create_memory_export(schema, user_id=who), lambda a: a["id"])
    exported = lambda answer: len(answer["memories"]) > 0
    await s.tries("get_memory_export(id)", lambda: c.get_memory_export(memory_export_id=(export or {}).get("id")), exported)
    await s.tries("get_memory_export(user_id)", lambda: c.get_memory_export(user_id=who), exported)
    await s.tries("get_memory_export(run_id)", lambda: c.get_memory_export(filters={"run_id": f"{who}-run"}), exported)

    await s.tries("get_project", c.get_project, lambda a: "custom_instructions" in a)
    categories = [{"hobbies": "what they do"}]
    await s.tries("update_project(custom_instructions)", lambda: c.update_project(custom_instructions="Remember hobbies."))
    await s.tries("update_project(custom_categories)", lambda: c.update_project(custom_categories=categories))
    if hasattr(c, "project"):
        p = c.project
        await s.tries("project.get", p.get, lambda a: a["custom_instructions"] == "Remember hobbies.")
        await s.tries("project.update(custom_instructions)", lambda: p.update(custom_instructions="Remember food."))
        await s.tries("project.update(custom_categories)", lambda: p.update(custom_categories=categories))
        await s.tries("project.create", lambda: p.create("other"))
        await s.tries("project.delete", p.delete)
        await s.tries("project.get_members", p.get_members)
        await s.tries("project.add_member", lambda: p.add_member("a@example.com"))
        await s.tries("project.update_member", lambda: p.update_member("a@example.com", "OWNER"))
        await s.tries("project.remove_member", lambda: p.remove_member("a@example.com"))
    if hasattr(c, "get_profile"):
        await s.tries("get_profile", lambda: c.get_profile(who))
        await s.tries("generate_profile", lambda: c.generate_profile(who))
        await s.tries("get_profile_settings", c.get_profile_settings)
        await s.tries("update_profile_settings", lambda: c.update_profile_settings(enabled=True))
        await s.tries("sample_profiles", c.sample_profiles)
        await s.tries("get_profile_job", lambda: c.get_profile_job("none"))

    project = c.project_id or "default"
    events = ["memory_add", "memory_update", "memory_delete"]
    hook = {"url": "https://receiver.example/", "name": "hook", "project_id": project, "event_types": events}
    made = await s.tries("create_webhook", lambda: c.create_webhook(**hook), lambda a: a["webhook_id"]) or {}
    await s.tries("get_webhooks", lambda: c.get_webhooks(project), lambda a: len(a) == 1)
    hook_id = made.get("webhook_id")
    await s.tries("update_webhook", lambda: c.update_webhook(hook_id, name="other", event_types=["memory_add"]))
    await s.tries("delete_webhook", lambda: c.delete_webhook(hook_id))

    for kind in ("run", "agent", "app"):
        await s.of(lambda: c.add(said(f"Was said in {kind}."), user_id=who, **{f"{kind}_id": f"{who}-{kind}-2"}, **verbatim))
        name = {f"{kind}_id": f"{who}-{kind}-2"}
        await s.tries(f"delete_all({kind}_id)", lambda: c.delete_all(**name), lambda a: "(1)" in a["message"])
    other = f"{who}-other"
    await s.remembers("Sleeps.", user_id=other)
    await s.tries("delete_all(user_id)", lambda: c.delete_all(user_id=other), lambda a: "(1)" in a["message"])
    await s.remembers("Sleeps.", user_id=other)
    if IS_TYPED:
        typed = DeleteAllMemoryOptions(filters={"user_id": other})
        await s.tries("delete_all(DeleteAllMemoryOptions)", lambda: c.delete_all(typed), lambda a: "(1)" in a["message"])
    for kind in ("user", "agent", "run", "app"):
        named = {f"{kind}_id": who if kind == "user" else ids[f"{kind}_id"]}
        await s.tries(f"delete_users({kind}_id)", lambda: c.delete_users(**named))
    left = lambda answer: not [name for _, name in names(answer) if name in {who, *ids.values()}]
    await s.tries("users (after all of them are deleted)", c.users, left)
    await s.remembers("Sleeps.", user_id=other)
    await s.tries("delete_all(user_id=*)", lambda: c.delete_all(user_id="*"))
    await s.tries("reset", c.reset)


async def main():
    await everything(MemoryClient(api_key=KEY, host=HOST), "", "ana")
    await everything(AsyncMemoryClient(api_key=KEY, host=HOST), "async ", "bea")
    json.dump({"version": version("mem0ai"), "calls": calls}, sys.stdout)


asyncio.run(main())
