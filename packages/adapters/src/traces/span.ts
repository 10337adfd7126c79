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
