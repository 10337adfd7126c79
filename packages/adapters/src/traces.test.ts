import type { LaneId, MeasuredTurn, TurnIds } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { exportBody, postSpanOf, type Span, traceEngine, traceIdOf, traceIngest, turnSpanOf } from './traces.ts';

const times = { startedAt: 1_000, endedAt: 1_250 };
const ended: MeasuredTurn = { ...times, outcome: 'applied', reason: null };
const post = { ...times, batchId: 'bat_a', repeated: false, traceparent: null, fromTheFuture: 0 };
const turnOf = (...batchIds: string[]): TurnIds => ({
  consolidationId: 'con_1',
  epoch: 3,
  lane: 'lane_1' as LaneId,
  batchIds,
  attempts: 0,
});

function collected(run: (add: (span: Span) => void) => void): Span[] {
  const spans: Span[] = [];
  run((span) => void spans.push(span));
  return spans;
}

describe('the trace of a batch', () => {
  it('goes from its post over the try to its steps and calls, in whatever process they are', () => {
    const [posted] = collected((add) => traceIngest({ add })(post));
    const usage = { promptTokens: 3, completionTokens: 4 };
    const call = { ...times, kind: 'extract_facts', model: 'small', failure: null, usage, cost: 1, cause: null };
    const [step, called, turn] = collected((add) => {
      const meter = traceEngine({ add });
      meter.step(turnOf('bat_a'), { ...times, step: 'extract', failed: false });
      meter.call(turnOf('bat_a'), call);
      meter.turn(turnOf('bat_a'), ended);
    });
    expect(new Set([posted, step, called, turn].map((span) => span?.traceId))).toEqual(new Set([traceIdOf('bat_a')]));
    expect(posted).toMatchObject({ parentId: null, name: 'POST /v1/batches' });
    expect(turn).toMatchObject({ parentId: posted?.spanId, name: 'consolidate', failed: false });
    expect(step).toMatchObject({ parentId: turn?.spanId, name: 'extract' });
    expect(called).toMatchObject({ parentId: turn?.spanId, name: 'model extract_facts', kind: 'client' });
  });

  it('links to those of the batches it was consolidated with, and they to it', () => {
    const spans = collected((add) => traceEngine({ add }).turn(turnOf('bat_a', 'bat_b', 'bat_c'), ended));
    expect(spans.map(({ traceId }) => traceId)).toEqual(['bat_a', 'bat_b', 'bat_c'].map(traceIdOf));
    expect(spans.map(({ parentId }) => parentId)).toEqual(['bat_a', 'bat_b', 'bat_c'].map(postSpanOf));
    const placeOf = (id: string) => ({ traceId: traceIdOf(id), spanId: turnSpanOf(turnOf(), id) });
    expect(spans.map(({ links }) => links)).toEqual([
      [placeOf('bat_b'), placeOf('bat_c')],
      [placeOf('bat_a')],
      [placeOf('bat_a')],
    ]);
  });

  it('has a span of its own for every try, and says of a failed one what it failed of', () => {
    const failed: MeasuredTurn = { ...times, outcome: 'retry', reason: 'model_timeout' };
    const [span] = collected((add) => traceEngine({ add }).turn(turnOf('bat_a'), failed));
    expect(span).toMatchObject({ failed: true, attributes: { 'error.type': 'model_timeout' } });
    expect(turnSpanOf({ ...turnOf(), epoch: 4 }, 'bat_a')).not.toBe(span?.spanId);
  });

  it('links to the trace its caller has of its own', () => {
    const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
    const linksOf = (traceparent: string) =>
      collected((add) => traceIngest({ add })({ ...post, traceparent }))[0]?.links;
    expect(linksOf(`00-${traceId}-${spanId}-01`)).toEqual([{ traceId, spanId }]);
    for (const nonsense of ['', 'x', `00-${'0'.repeat(32)}-${spanId}-01`, `00-${traceId}-${'0'.repeat(16)}-01`])
      expect(linksOf(nonsense)).toEqual([]);
  });

  it('begins once, however often its post is repeated, and nothing without a batch has one', () => {
    const spans = collected((add) => {
      traceIngest({ add })({ ...post, repeated: true });
      const meter = traceEngine({ add });
      meter.step(turnOf(), { ...times, step: 'extract', failed: false });
      meter.turn(turnOf(), ended);
    });
    expect(spans).toEqual([]);
  });
});

it('times travel in nanoseconds, as text', () => {
  const [span] = collected((add) => traceIngest({ add })({ ...post, startedAt: 1_772_355_600_000.25 }));
  const body = exportBody('slowwave', span === undefined ? [] : [span]);
  expect(body).toContain('"startTimeUnixNano":"1772355600000250000"');
  expect(body).toContain('{"key":"service.name","value":{"stringValue":"slowwave"}}');
});
