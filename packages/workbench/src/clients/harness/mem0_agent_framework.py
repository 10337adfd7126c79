"""Microsoft's agent framework with its provider for mem0, against MEM0_HOST: what is said in one run is known in the next."""

import asyncio
import json
import os
import sys

from importlib.metadata import version

from agent_framework import AgentResponse, AgentSession, Message, SessionContext
from agent_framework_mem0 import Mem0ContextProvider
from mem0 import AsyncMemoryClient

calls = []


async def tries(name, call, holds):
    try:
        answer = await call()
        calls.append({"call": name} if holds(answer) else {"call": name, "error": f"unexpected answer {answer}"[:300]})
    except Exception as error:
        calls.append({"call": name, "error": f"{type(error).__name__}: {error}"[:400]})


async def main():
    client = AsyncMemoryClient(api_key=os.environ["MEM0_API_KEY"], host=os.environ["MEM0_HOST"])
    session = AgentSession()

    def provider(**ids):
        return Mem0ContextProvider(mem0_client=client, **ids)

    async def told(one, text):
        context = SessionContext(input_messages=[Message(role="user", contents=[text])])
        context._response = AgentResponse(messages=[Message(role="assistant", contents=["I see."])])
        await one.after_run(agent=None, session=session, context=context, state={})

    async def known(one):
        context = SessionContext(input_messages=[Message(role="user", contents=["Where do I live?"])])
        await one.before_run(agent=None, session=session, context=context, state={})
        return " ".join(message.text for messages in context.context_messages.values() for message in messages)

    async def soon(one, text):
        for _ in range(60):
            found = await known(one)
            if text in found:
                return found
            await asyncio.sleep(0.5)
        return found

    nothing = lambda _: True
    stored = {"user_id": "fay", "agent_id": "fay-bot", "application_id": "fay-app"}
    await tries("after_run(user_id, agent_id, application_id)", lambda: told(provider(**stored), "I live in Oslo"), nothing)
    oslo = lambda answer: "Oslo" in answer
    for name in ("user", "agent", "application"):
        of = {f"search_{name}_id": "fay" if name == "user" else f"fay-{'bot' if name == 'agent' else 'app'}"}
        await tries(f"before_run({next(iter(of))})", lambda: soon(provider(**stored, **of), "Oslo"), oslo)
    both = {"search_user_id": "fay", "search_agent_id": "fay-bot", "search_application_id": "fay-app"}
    await tries("before_run(all three)", lambda: soon(provider(**stored, **both), "Oslo"), oslo)
    await tries("after_run(agent_id)", lambda: told(provider(agent_id="gus-bot"), "I live in Rome"), nothing)
    rome = {"agent_id": "gus-bot", "search_agent_id": "gus-bot"}
    await tries("before_run(search_agent_id) of an agent's own", lambda: soon(provider(**rome), "Rome"), lambda a: "Rome" in a)
    json.dump({"version": version("agent-framework-mem0"), "calls": calls}, sys.stdout)


asyncio.run(main())
