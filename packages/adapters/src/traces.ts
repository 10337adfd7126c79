import { createHash, randomBytes } from 'node:crypto';
import type { Acknowledged, Log, MeasuredCall, MeasuredStep, MeasuredTurn, Meter, TurnIds } from '@slowwave/engine';

/** Sends spans in the background. Nobody waits for it, and nothing fails with it. */
export interface SpanExporter {
  add(span: Span): void;
  /** Sends what is left, for as long as a stop may take. */
  close(): Promise<void>;
}

interface ExporterOptions {
  /** Where the collector listens, e.g. http://127.0.0.1:4318; spans go to /v1/traces below it. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Which program the spans come from. */
  readonly service: string;
  readonly log: Log;
}

/** Spans wait this long for others to go with them. */
const GATHER_MS = 1_000;
const SPANS_PER_REQUEST = 512;
/** More spans than this waiting are dropped: a collector that is away must not fill the memory. */
const WAITING_MAX = 8_192;
const REQUEST_LIMIT_MS = 5_000;
/** A collector that stays away is spoken of this often. */
const COMPLAIN_MS = 60_000;
/** Answers of a collector that takes the same spans later. */
const LATER = new Set([408, 429, 502, 503, 504]);

export function openExporter({ endpoint, headers, service, log }: ExporterOptions): SpanExporter {
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const complain = complaints(log, url);
  const waiting: Span[] = [];
  let timer: NodeJS.Timeout | null = null;
  let sending: Promise<void> | null = null;
  let closed = false;

  const send = async (): Promise<void> => {
    while (waiting.length > 0) {
      const spans = waiting.splice(0, SPANS_PER_REQUEST);
      const sent = await post(url, { headers, body: exportBody(service, spans) });
      if (sent === 'taken') continue;
      complain(sent.problem);
      if (sent.later && !closed) waiting.unshift(...spans);
      return;
    }
  };
  const flush = (): Promise<void> => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    sending ??= send().finally(() => {
      sending = null;
      if (waiting.length > 0 && !closed) gather();
    });
    return sending;
  };
  const gather = (): void => {
    timer ??= setTimeout(() => void flush(), GATHER_MS).unref();
  };
  return {
    add: (span) => {
      if (closed) return;
      if (waiting.length >= WAITING_MAX) return complain(`${WAITING_MAX} spans are waiting; new ones are dropped`);
      waiting.push(span);
      gather();
    },
    close: async () => {
      closed = true;
      await sending;
      await flush();
    },
  };
}

type Sent = 'taken' | { readonly problem: string; readonly later: boolean };

async function post(url: string, { headers, body }: { headers: object; body: string }): Promise<Sent> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    });
    await answer.body?.cancel();
    return answer.ok ? 'taken' : { problem: `got status ${answer.status}`, later: LATER.has(answer.status) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error), later: true };
  }
}

function complaints(log: Log, url: string): (problem: string) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (problem) => {
    if (performance.now() - last < COMPLAIN_MS) return;
    last = performance.now();
    log.warn({ collector: new URL(url).host, problem }, 'could not send traces; work continues without them');
  };
}

/** Something that took time in the way of a batch: ids, counts and times, never contents. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly kind: keyof typeof KINDS;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly links: readonly SpanLink[];
  readonly failed: boolean;
}

interface SpanLink {
  readonly traceId: string;
  readonly spanId: string;
}

/** Numbers of the OpenTelemetry protocol. */
const KINDS = { internal: 1, server: 2, client: 3, consumer: 5 } as const;
const STATUS_UNSET = 0;
const STATUS_ERROR = 2;

/** The body of an export, as OTLP/HTTP has it in JSON. */
export const exportBody = (service: string, spans: readonly Span[]): string =>
  JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf({ 'service.name': service }) },
        scopeSpans: [{ scope: { name: 'slowwave' }, spans: spans.map(encoded) }],
      },
    ],
  });

const encoded = ({ parentId, startedAt, endedAt, failed, ...span }: Span) => ({
  ...span,
  ...(parentId === null ? {} : { parentSpanId: parentId }),
  kind: KINDS[span.kind],
  startTimeUnixNano: nanosOf(startedAt),
  endTimeUnixNano: nanosOf(Math.max(startedAt, endedAt)),
  attributes: attributesOf(span.attributes),
  status: { code: failed ? STATUS_ERROR : STATUS_UNSET },
});

const attributesOf = (attributes: Span['attributes']) =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : { intValue: String(Math.round(value)) },
  }));

/** Nanoseconds need more digits than a number has. */
const nanosOf = (ms: number): string => (BigInt(Math.round(ms * 1_000)) * 1_000n).toString();

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
    attacks: () => {},
    figures: () => {},
    opinions: () => {},
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
