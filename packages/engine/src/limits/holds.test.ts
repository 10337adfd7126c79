import { echoExtract, engineBench, fakeChat, NEVER } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { sweepUsual } from '../index.ts';
import type { SettledCall } from '../ports/ledger/usage.ts';
import type { ChatModel } from '../ports/models.ts';
import { DAY_MS } from '../text/dates.ts';
import { takeTurn } from '../turns/take-turn.ts';
import { DEFAULT_TENANT, type LaneId } from '../words.ts';

const USERS = ['a', 'b', 'c', 'd', 'e'];
const USUAL = 15;

/** Five users with a usual day behind them, and one more. */
async function bench({ users = USERS, holdAt = 20 as number | null } = {}) {
  const chat = fakeChat({ extract_facts: echoExtract });
  // As models do that are asked over a network.
  const ask: ChatModel['ask'] = async (call, cancel) => {
    await call.lastLook?.();
    return chat.ask(call, cancel);
  };
  const engine = await engineBench({ chat: { name: chat.name, ask } });
  const { tools, deps } = engine;
  const { ledger } = deps;
  const rules = await ledger.settings.get(DEFAULT_TENANT);
  await ledger.settings.put(DEFAULT_TENANT, { ...rules, holdAt });
  const said = async (userId: string, text: string) => {
    const id = await engine.post([text], { userId });
    await engine.run();
    return ledger.batches.get(DEFAULT_TENANT, id);
  };
  for (const userId of [...users, 'much']) await said(userId, `name: ${userId}`);
  const laneOf = async (id: string): Promise<LaneId> => {
    const lane = await ledger.lanes.find(DEFAULT_TENANT, { kind: 'user', id });
    if (lane === null) throw new Error(`expected a lane of ${id}, got none`);
    return lane.id;
  };
  const calls = async (userId: string, count: number, more: Partial<SettledCall> = {}) => {
    const lane = await laneOf(userId);
    const call = { tenant: DEFAULT_TENANT, lane, consolidationId: null, appId: null, keyId: null, cost: null } as const;
    const what = {
      step: 'extract',
      cause: 'live',
      model: 'scripted',
      usage: { promptTokens: 10, completionTokens: 1 },
    } as const;
    const ended = { outcome: 'answered', noted: null, tookMs: 1, at: tools.now() } as const;
    await ledger.usage.settle(
      Array.from({ length: count }, () => ({ ...call, ...what, ...ended, ...more, id: tools.id('cal') })),
    );
  };
  for (const userId of users) await calls(userId, USUAL);
  tools.advance(DAY_MS);
  await sweepUsual(deps);
  const held = async () => (await ledger.limits.holds(DEFAULT_TENANT, { limit: 9, cursor: null })).results;
  return { engine, chat, ledger, tools, deps, said, calls, held, laneOf };
}

describe('who uses far more than is usual', () => {
  it('is held at the limit while the others go on, and nothing is lost', async () => {
    const { said, calls, held, chat, tools, engine, ledger } = await bench();
    await calls('much', 20 * (USUAL + 1) - 1);
    expect(await said('much', 'city: Oslo'), 'below the limit').toMatchObject({ state: 'consolidated' });
    const before = chat.calls.length;
    const post = () => engine.post(['pet: a cat'], { userId: 'much' });
    const waiting = await post();
    const lanes = await ledger.lanes.withWork(null, 9);
    for (const turn of lanes) {
      tools.advance(Math.max(0, turn.dueAt - tools.now()));
      expect(await takeTurn(engine.deps)(turn, NEVER)).toMatchObject({ kind: 'later' });
    }
    expect(await ledger.batches.get(DEFAULT_TENANT, waiting)).toMatchObject({
      ...{ state: 'consolidating', attempts: 0, failure: { code: 'use_held' } },
    });
    expect(chat.calls.length, 'nobody is asked').toBe(before);
    expect(await held()).toMatchObject([{ kind: 'owner', owner: { id: 'much' }, measure: 'calls', releasedAt: null }]);
    tools.advance(DAY_MS);
    await engine.run();
    expect(await ledger.batches.get(DEFAULT_TENANT, waiting)).toMatchObject({ state: 'consolidated', attempts: 0 });
    expect(await said('a', 'city: Rome')).toMatchObject({ state: 'consolidated' });
  });

  it('goes on when somebody lets go of it, and is not held again on that day', async () => {
    const { calls, held, engine, ledger, tools } = await bench();
    await calls('much', 20 * (USUAL + 1));
    const id = await engine.post(['city: Oslo'], { userId: 'much' });
    const [turn] = await ledger.lanes.withWork(null, 9);
    if (turn === undefined) throw new Error('expected a lane with work, got none');
    await takeTurn(engine.deps)(turn, NEVER);
    const [hold] = await held();
    await ledger.limits.release(DEFAULT_TENANT, hold?.id ?? '', tools.now());
    await calls('much', 1_000);
    tools.advance(5 * 60_000);
    await engine.run();
    expect(await ledger.batches.get(DEFAULT_TENANT, id)).toMatchObject({ state: 'consolidated' });
    expect(await held()).toHaveLength(1);
  });

  it.each([
    ['a key', { keyId: 'key_x' }, 'key'],
    ['an app', { appId: 'notes' }, 'app'],
  ] as const)('%s is held with all its users, by tokens too', async (_what, whose, kind) => {
    const { calls, deps, ledger, tools, engine, held } = await bench();
    const others = kind === 'key' ? 'keyId' : 'appId';
    for (const name of ['p', 'q', 'r', 's', 't']) await calls('a', 2, { [others]: name });
    tools.advance(DAY_MS);
    await sweepUsual(deps);
    await calls('b', 3, { ...whose, usage: { promptTokens: 200_000, completionTokens: 0 } });
    const scope = { appId: kind === 'app' ? 'notes' : null };
    if (kind === 'app') {
      const id = await engine.post(['city: Oslo'], { userId: 'fresh', scope });
      const [turn] = await ledger.lanes.withWork(null, 9);
      if (turn === undefined) throw new Error('expected a lane with work, got none');
      tools.advance(Math.max(0, turn.dueAt - tools.now()));
      await takeTurn(engine.deps)(turn, NEVER);
      expect(await ledger.batches.get(DEFAULT_TENANT, id)).toMatchObject({ failure: { code: 'use_held' } });
      expect(await held()).toMatchObject([{ kind, who: 'notes', measure: 'tokens' }]);
    } else {
      const day = Math.floor(tools.now() / DAY_MS);
      const uses = await ledger.limits.uses(DEFAULT_TENANT, [{ kind, who: 'key_x' }], day);
      expect(uses).toEqual([{ kind, who: 'key_x', calls: 3, tokens: 600_000, hold: null }]);
      const usual = await ledger.limits.usual(DEFAULT_TENANT, { day, days: 7, peers: 5 });
      expect(usual.map((one) => one.kind)).toContain('key');
    }
  });

  it('is looked at closely once a minute, and at no call of somebody who uses little', async () => {
    const { said, calls, ledger, tools, held } = await bench();
    let looks = 0;
    const { uses } = ledger.limits;
    ledger.limits.uses = (...given) => {
      looks += 1;
      return uses(...given);
    };
    await said('a', 'city: Rome');
    expect(looks).toBe(0);
    await calls('much', 10 * USUAL + 100);
    for (const text of ['city: Oslo', 'pet: a cat', 'job: baker']) await said('much', text);
    expect(looks).toBe(1);
    tools.advance(60_000);
    await said('much', 'food: rice');
    expect(looks).toBe(2);
    await calls('much', 10 * USUAL);
    await said('much', 'sport: judo');
    expect(await held()).toMatchObject([{ kind: 'owner', owner: { id: 'much' } }]);
  });

  it('is nobody with few peers, with little use, who always used as much, or where it is switched off', async () => {
    const few = await bench({ users: ['a', 'b'] });
    await few.calls('much', 5_000);
    expect(await few.said('much', 'city: Oslo')).toMatchObject({ state: 'consolidated' });
    const off = await bench({ holdAt: null });
    await off.calls('much', 5_000);
    expect(await off.said('much', 'city: Oslo')).toMatchObject({ state: 'consolidated' });
    const little = await bench();
    await little.calls('much', 198);
    expect(await little.said('much', 'city: Oslo')).toMatchObject({ state: 'consolidated' });
    const always = await bench();
    for (let day = 0; day < 3; day += 1) {
      await always.calls('much', 1_000);
      for (const userId of USERS) await always.calls(userId, USUAL);
      always.tools.advance(DAY_MS);
    }
    await always.calls('much', 1_500);
    expect(await always.said('much', 'city: Oslo')).toMatchObject({ state: 'consolidated' });
    expect([few, off, little, always].map(async ({ held }) => held())).toHaveLength(4);
    for (const { held } of [few, off, little, always]) expect(await held()).toEqual([]);
  });
});
