import type { Acknowledged } from '@slowwave/engine';
import type { SpanExporter } from './exporter.ts';
import { postSpanOf, traceIdOf } from './ids.ts';
import type { SpanLink } from './span.ts';

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
