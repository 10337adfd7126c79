import type { Log } from '@slowwave/engine';

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

export interface SpanLink {
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
