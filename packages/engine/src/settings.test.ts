import {
  type EngineBench,
  echoExtract,
  engineBench,
  fakeChat,
  newBatch,
  type Reply,
  type Script,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { EngineError } from './errors.ts';
import { DEFAULT_SETTINGS, duePolicy } from './settings.ts';
import { DEFAULT_TENANT } from './words.ts';

const IDLE_MS = 5_000;

describe('when a tenant’s lanes are due', () => {
  it('is its own word where it has one, else that of the process', () => {
    const process = { tokens: 1_000, idleMs: 60_000, paces: 3, maxAgeMs: 600_000 };
    expect(duePolicy(DEFAULT_SETTINGS, process)).toEqual(process);
    const due = { idleMs: IDLE_MS };
    expect(duePolicy({ ...DEFAULT_SETTINGS, due }, process)).toEqual({ ...process, idleMs: IDLE_MS, paces: 0 });
  });

  it.each<[string, (facts: Reply) => Reply]>([
    ['was consolidated', (facts) => facts],
    ['was parked', () => new EngineError('no', { code: 'model_rejected', retryable: false })],
  ])('counts for what arrives before a batch %s', async (_how, reply) => {
    const bench: EngineBench = await engineBench({
      chat: fakeChat({
        extract_facts: (input, nth) => {
          if (nth === 1) void bench.deps.ledger.batches.append(newBatch(bench.tools), bench.deps.settings.due);
          return reply((echoExtract as Script)(input, nth));
        },
      }),
    });
    await bench.deps.ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, due: { idleMs: IDLE_MS } });
    await bench.post(['pet: a cat']);
    const [first] = await bench.run();
    expect(first).toMatchObject({ next: { dueAt: expect.any(Number) } });
    const dueAt = first !== undefined && 'next' in first ? first.next?.dueAt : undefined;
    const [batch] = (await bench.deps.ledger.batches.list(DEFAULT_TENANT, {}, { limit: 1, cursor: null })).results;
    expect(dueAt).toBe((batch?.acceptedAt ?? 0) + IDLE_MS);
  });
});
