import { echoExtract, engineBench, fakeChat, NEVER } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { bulkSweep } from './bulk.ts';
import type { BulkProvider, ChatCall } from './ports/models.ts';
import { takeTurn } from './turns/take-turn.ts';
import { DEFAULT_TENANT, type JsonObject } from './words.ts';

interface Remote {
  readonly questions: readonly { readonly id: string; readonly call: ChatCall }[];
  isOver: boolean;
  isCancelled: boolean;
  files: boolean;
}

/** A provider that works when it is told to. */
function fakeBulk() {
  const jobs = new Map<string, Remote>();
  const of = ({ id }: JsonObject): Remote => {
    const job = jobs.get(String(id));
    if (job === undefined) throw new Error(`expected a job that was handed in, got ${String(id)}`);
    return job;
  };
  let dies = false;
  const provider: BulkProvider = {
    model: 'scripted',
    submit: async ({ id, questions }) => {
      if (!jobs.has(id)) jobs.set(id, { questions, isOver: false, isCancelled: false, files: true });
      if (dies) {
        dies = false;
        throw new Error('the worker died before it heard of it');
      }
      return { id };
    },
    find: async (id) => (jobs.has(id) ? { id } : null),
    look: async (remote) => ({ remote, isOver: of(remote).isOver || of(remote).isCancelled }),
    answers: async (remote) =>
      of(remote).questions.map(({ id, call }) => ({
        id,
        answer: of(remote).isOver
          ? {
              ...{ text: JSON.stringify(echoExtract(JSON.parse(call.user.slice(call.user.indexOf('{'))), 1)) },
              ...{ model: 'scripted', usage: { promptTokens: 100, completionTokens: 10 }, truncated: false },
            }
          : null,
      })),
    cancel: async (remote) => void Object.assign(of(remote), { isCancelled: true }),
    remove: async (remote) => void Object.assign(of(remote), { files: false }),
  };
  const dieAtNext = (): void => {
    dies = true;
  };
  return { provider, jobs, dieAtNext };
}

const MINUTE = 60_000;

async function bench() {
  const bulk = fakeBulk();
  const chat = fakeChat({ extract_facts: echoExtract });
  const engine = await engineBench({ chat, bulk: bulk.provider });
  const { ledger } = engine.deps;
  const work = bulkSweep({ ...engine.deps, nudge: async () => {} });
  /** What the sweep does in so many minutes. */
  const pass = async (minutes: number): Promise<void> => {
    for (let i = 0; i < minutes; i += 1) {
      await work(NEVER);
      engine.tools.advance(MINUTE);
    }
  };
  const stateOf = async (id: string) => ledger.batches.get(DEFAULT_TENANT, id);
  const begin = async (userId: string): Promise<string> => {
    const id = await engine.post([`lives: in Oslo, says ${userId}`], { userId, priority: 'backfill' });
    await dueTurns();
    return id;
  };
  const dueTurns = async (): Promise<void> => {
    for (const nudge of await ledger.lanes.due(engine.tools.now(), 20)) await takeTurn(engine.deps)(nudge, NEVER);
  };
  return { ...bulk, engine, chat, ledger, pass, begin, dueTurns, stateOf };
}

describe('the sweep of batch jobs', () => {
  it('asks backfill of several owners in one job, and each of them goes on with its answer at half the price', async () => {
    const { begin, pass, jobs, dueTurns, stateOf, chat, ledger, engine } = await bench();
    const ids = [await begin('ann'), await begin('bob')];
    expect(await stateOf(ids[0] ?? '')).toMatchObject({ attempts: 0, failure: { code: 'waits_for_batch' } });
    await pass(2);
    const [job] = [...jobs.values()];
    expect([jobs.size, job?.questions.length]).toEqual([1, 2]);
    for (const one of jobs.values()) one.isOver = true;
    await pass(10);
    await dueTurns();
    for (const id of ids) expect(await stateOf(id)).toMatchObject({ state: 'consolidated', failure: null });
    expect(chat.calls.filter(({ name }) => name === 'extract_facts')).toEqual([]);
    expect(job?.files, 'its files are deleted').toBe(false);
    const [used] = await ledger.usage.report(
      DEFAULT_TENANT,
      { groups: ['model'], from: 0, to: engine.tools.now() + MINUTE, step: 'extract' },
      { limit: 9, offset: 0 },
    );
    expect(used).toMatchObject({ group: { model: 'scripted (batch)' }, answered: { calls: 2, promptTokens: 200 } });
    expect(used?.unanswered.calls).toBe(0);
  });

  it('hands a job in once, also where it dies before it heard that it was taken', async () => {
    const { begin, pass, jobs, dieAtNext, dueTurns, stateOf } = await bench();
    const id = await begin('ann');
    dieAtNext();
    await pass(5);
    expect(jobs.size).toBe(1);
    for (const one of jobs.values()) one.isOver = true;
    await pass(10);
    await dueTurns();
    expect(await stateOf(id)).toMatchObject({ state: 'consolidated' });
  });

  it('cancels the job that a live message has taken the window of, and what is open is asked at once', async () => {
    const { engine, begin, pass, jobs, dueTurns, stateOf, chat } = await bench();
    const id = await begin('ann');
    await pass(2);
    const live = await engine.post(['pet: a cat'], { userId: 'ann' });
    await pass(5);
    await dueTurns();
    await dueTurns();
    expect([...jobs.values()].map(({ isCancelled }) => isCancelled)).toEqual([true]);
    for (const one of [id, live]) expect(await stateOf(one)).toMatchObject({ state: 'consolidated' });
    expect(chat.calls.filter(({ name }) => name === 'extract_facts').length).toBeGreaterThanOrEqual(1);
    await pass(10);
    expect([...jobs.values()].map(({ files }) => files)).toEqual([false]);
  });

  it('asks one by one what a job brought no answer for', async () => {
    const { begin, pass, jobs, dueTurns, stateOf, chat } = await bench();
    const id = await begin('ann');
    await pass(2);
    for (const one of jobs.values()) one.isCancelled = true;
    await pass(10);
    await dueTurns();
    expect(await stateOf(id)).toMatchObject({ state: 'consolidated', attempts: 0 });
    expect(chat.calls.filter(({ name }) => name === 'extract_facts')).toHaveLength(1);
  });
});
