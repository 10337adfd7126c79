import { randomBytes } from 'node:crypto';
import type { MeasuredCall, MeasuredStep, MeasuredTurn, Meter, TurnIds } from '@slowwave/engine';
import type { SpanExporter } from './exporter.ts';
import { postSpanOf, traceIdOf, turnSpanOf } from './ids.ts';
import type { Span, SpanLink } from './span.ts';

const SPAN_ID_BYTES = 8;

/**
 * Continues the traces of batches. Each batch of a consolidation gets a span in its own trace; the steps hang below the
 * one of the first batch, and the others link to it.
 */
export function traceEngine({ add }: Pick<SpanExporter, 'add'>): Meter {
  return {
    step: (turn, step) => addWithin(turn, add, (place) => stepSpan(place, step)),
    call: (turn, call) => {
      if (turn !== null) addWithin(turn, add, (place) => callSpan(place, call));
    },
    turn: (turn, end) => {
      for (const batchId of turn.batchIds) add(turnSpan(turn, batchId, end));
    },
    facts: () => {},
    searchable: () => {},
  };
}

/** Below the span of the consolidation's first batch. */
type Place = Pick<Span, 'traceId' | 'spanId' | 'parentId' | 'links'>;

/** What was only tried out, for a preview, has no batch and no trace. */
function addWithin(turn: TurnIds, add: SpanExporter['add'], spanAt: (place: Place) => Span): void {
  const [first] = turn.batchIds;
  if (first === undefined) return;
  const spanId = randomBytes(SPAN_ID_BYTES).toString('hex');
  add(spanAt({ traceId: traceIdOf(first), spanId, parentId: turnSpanOf(turn, first), links: [] }));
}

const stepSpan = (place: Place, { step, failed, startedAt, endedAt }: MeasuredStep): Span => ({
  ...place,
  name: step,
  kind: 'internal',
  startedAt,
  endedAt,
  attributes: {},
  failed,
});

const callSpan = (place: Place, { kind, model, failure, usage, startedAt, endedAt }: MeasuredCall): Span => ({
  ...place,
  name: `model ${kind}`,
  kind: 'client',
  startedAt,
  endedAt,
  attributes: {
    'gen_ai.request.model': model,
    'gen_ai.usage.input_tokens': usage.promptTokens,
    'gen_ai.usage.output_tokens': usage.completionTokens,
    ...(failure === null ? {} : { 'error.type': failure }),
  },
  failed: failure !== null,
});

const FAILURES: readonly MeasuredTurn['outcome'][] = ['retry', 'split', 'parked'];

function turnSpan(turn: TurnIds, batchId: string, { outcome, reason, startedAt, endedAt }: MeasuredTurn): Span {
  return {
    traceId: traceIdOf(batchId),
    spanId: turnSpanOf(turn, batchId),
    parentId: postSpanOf(batchId),
    name: 'consolidate',
    kind: 'consumer',
    startedAt,
    endedAt,
    attributes: {
      'slowwave.batch': batchId,
      'slowwave.lane': turn.lane,
      'slowwave.consolidation': turn.consolidationId,
      'slowwave.batches': turn.batchIds.length,
      'slowwave.attempts': turn.attempts,
      'slowwave.outcome': outcome,
      ...(reason === null ? {} : { 'error.type': reason }),
    },
    links: linksFrom(turn, batchId),
    failed: FAILURES.includes(outcome),
  };
}

/** The first batch's span links to all others, and each of these to it. */
function linksFrom(turn: TurnIds, batchId: string): SpanLink[] {
  const [first, ...others] = turn.batchIds;
  const linked = batchId === first ? others : turn.batchIds.slice(0, 1);
  return linked.map((id) => ({ traceId: traceIdOf(id), spanId: turnSpanOf(turn, id) }));
}
