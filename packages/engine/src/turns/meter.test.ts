import { echoExtract, engineBench, fakeChat, keyedDecide, NEVER, recordingMeter } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../errors.ts';
import { DEFAULT_TENANT } from '../words.ts';
import { takeTurn } from './take-turn.ts';

const scripts = { extract_facts: echoExtract, decide_operations: keyedDecide((text) => text.split(':')[0] ?? '') };
const down = new EngineError('the server answered 500', { code: 'model_server_error', retryable: true });

describe('the meter learns', () => {
  it('of every step, call and fact of a consolidation, and how long its batch took', async () => {
    const meter = recordingMeter();
    const bench = await engineBench({ chat: fakeChat(scripts), meter });
    await bench.post(['lives: in Oslo', 'likes: tea']);
    bench.tools.advance(2_500);
    await bench.run();
    const { steps, calls, turns, facts, searchable } = meter.recorded;
    expect(steps.map(({ step }) => step)).toEqual([
      'gather',
      'extract',
      'recall',
      'decide',
      'plan',
      'apply',
      'project',
    ]);
    expect(steps.every(({ failed }) => !failed)).toBe(true);
    expect(calls).toMatchObject([{ kind: 'extract_facts', model: 'scripted', failure: null }]);
    expect(calls[0]?.usage.promptTokens).toBeGreaterThan(0);
    expect(turns).toMatchObject([{ outcome: 'applied', reason: null }]);
    expect(facts).toEqual(['ADD', 'ADD']);
    expect(searchable).toEqual([2_500]);
  });

  it('of nothing that anybody said', async () => {
    const meter = recordingMeter();
    const bench = await engineBench({ chat: fakeChat(scripts), meter });
    await bench.post(['lives: in Oslo']);
    await bench.run();
    await bench.post(['lives: in Rome']);
    await bench.run();
    expect(meter.recorded.facts).toEqual(['ADD', 'UPDATE']);
    expect(JSON.stringify(meter.recorded)).not.toMatch(/Oslo|Rome|ann/);
  });

  it('of calls that failed, and of the tries that failed with them until the batch is parked', async () => {
    const meter = recordingMeter();
    const bench = await engineBench({
      chat: fakeChat({ extract_facts: () => down, are_you_there: () => ({}) }),
      meter,
    });
    await bench.post(['lives: in Oslo']);
    await bench.run();
    const { steps, calls, turns, searchable } = meter.recorded;
    expect(calls.map(({ failure }) => failure)).toEqual([
      ...Array(3).fill('model_server_error'),
      null,
      'model_server_error',
    ]);
    expect(turns.map(({ outcome }) => outcome)).toEqual(['retry', 'retry', 'parked']);
    expect(turns.every(({ reason }) => reason === 'model_server_error')).toBe(true);
    expect(steps.filter(({ failed }) => failed).map(({ step }) => step)).toEqual(Array(4).fill('extract'));
    expect(searchable).toEqual([]);
  });

  it('of work that came too early, but of no call: nobody was asked', async () => {
    const early = new EngineError('no more calls', { code: 'rate_limited', retryable: true, countsAsTry: false });
    const meter = recordingMeter();
    const bench = await engineBench({ chat: fakeChat({ extract_facts: () => early }), meter });
    await bench.post(['lives: in Oslo']);
    const [nudge] = await bench.deps.ledger.lanes.withWork(null, 1);
    if (nudge === undefined) throw new Error('a lane with work was expected');
    await takeTurn(bench.deps)(nudge, NEVER);
    expect(meter.recorded.calls).toEqual([]);
    expect(meter.recorded.turns).toMatchObject([{ outcome: 'waits', reason: 'rate_limited' }]);
  });

  it('what a call has cost, at the prices of the tenant', async () => {
    const meter = recordingMeter();
    const bench = await engineBench({ chat: fakeChat(scripts), meter });
    const { settings } = bench.deps.ledger;
    const rules = await settings.get(DEFAULT_TENANT);
    await settings.put(DEFAULT_TENANT, { ...rules, prices: { scripted: { prompt: 1_000_000, completion: 0 } } });
    await bench.post(['lives: in Oslo']);
    await bench.run();
    const [call] = meter.recorded.calls;
    expect(call?.cost).toBe(call?.usage.promptTokens);
  });
});
