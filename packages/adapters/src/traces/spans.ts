import { createHash, randomBytes } from 'node:crypto';
import type { Acknowledged, MeasuredCall, MeasuredStep, MeasuredTurn, Meter, TurnIds } from '@slowwave/engine';
import type { Span, SpanExporter, SpanLink } from './exporter.ts';

/** Begins the trace of a batch. A trace the caller has of its own is linked to. */
export const traceIngest =
  ({ add }: Pick<SpanExporter, 'add'>) =>
  ({ batchId, repeated, startedAt, endedAt, traceparent }: Acknowledged): void => {
    if (repeated) return; // its trace began with the first request
    add({
      traceId: traceIdOf(batchId),
      spanId: postSpanOf(batchId),
      parentId: null,
      name: 'POST /v1/batches',
      kind: 'server',
      startedAt,
      endedAt,
      attributes: { 'slowwave.batch': batchId },
      links: linksTo(traceparent),
      failed: false,
    });
  };

/** W3C trace context: version, trace, parent, flags. Ids of zeros are none. */
const TRACEPARENT = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}/;

function linksTo(traceparent: string | null): SpanLink[] {
  const [, traceId, spanId] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  return traceId === undefined || spanId === undefined ? [] : [{ traceId, spanId }];
}

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

/** 16 and 8 bytes, as the OpenTelemetry protocol has them. */
const TRACE_ID_HEX = 32;
const SPAN_ID_HEX = 16;

/** Every process finds a batch's trace by the batch's id: nothing has to travel through the queue. */
export const traceIdOf = (batchId: string): string => hex(`trace ${batchId}`, TRACE_ID_HEX);

/** The span that a batch's trace begins with. */
export const postSpanOf = (batchId: string): string => hex(`post ${batchId}`, SPAN_ID_HEX);

/** A batch's part in one try to consolidate it. */
export const turnSpanOf = (turn: { consolidationId: string; epoch: number }, batchId: string): string =>
  hex(`turn ${turn.consolidationId} ${turn.epoch} ${batchId}`, SPAN_ID_HEX);

const hex = (text: string, length: number): string => createHash('sha256').update(text).digest('hex').slice(0, length);
