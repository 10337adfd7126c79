import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** A span as the OpenTelemetry protocol has it in JSON, with the service it came from. */
export interface CollectedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, string>> }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code: number };
}

export interface TraceCollector {
  readonly url: string;
  /** What came, in order; a request that was refused too. */
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }[];
  /** The spans of all requests that were taken. */
  spans(): readonly CollectedSpan[];
  /** Waits for spans that satisfy. */
  until(enough: (spans: readonly CollectedSpan[]) => boolean, withinMs?: number): Promise<readonly CollectedSpan[]>;
  close(): Promise<void>;
}

const POLL_MS = 50;
const UNTIL_MS = 20_000;

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: CollectedSpan['attributes'] };
    readonly scopeSpans: readonly { readonly spans: readonly Omit<CollectedSpan, 'service'>[] }[];
  }[];
}

/** A collector of OpenTelemetry traces over HTTP. `answer` is the status of the nth request, from 1. */
export async function startTraceCollector(answer: (nth: number) => number = () => 200): Promise<TraceCollector> {
  const requests: { path: string; headers: IncomingHttpHeaders; body: string }[] = [];
  const taken: CollectedSpan[] = [];
  const receive = async (request: IncomingMessage): Promise<number> => {
    const body = await text(request);
    const status = answer(requests.push({ path: request.url ?? '', headers: request.headers, body }));
    if (status === 200) taken.push(...spansIn(JSON.parse(body)));
    return status;
  };
  const server = createServer((request, response) => {
    receive(request).then(
      (status) => response.writeHead(status, { 'content-type': 'application/json' }).end('{}'),
      (error: unknown) => response.writeHead(400).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    spans: () => taken,
    until: async (enough, withinMs = UNTIL_MS) => {
      for (const deadline = Date.now() + withinMs; !enough(taken); await sleep(POLL_MS)) {
        if (Date.now() < deadline) continue;
        throw new Error(`expected other spans, got: ${taken.map(({ name }) => name).join(', ') || 'none'}`);
      }
      return taken;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function spansIn({ resourceSpans }: Export): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, service })));
  });
}
