import type { Acknowledged, Nudge } from '@slowwave/engine';
import {
  echoExtract,
  engineBench,
  type FakeChat,
  fakeChat,
  keyedDecide,
  type recordingLog,
} from '@slowwave/engine-testing';
import { type App, createShell, Registry } from '@slowwave/http';
import type { IngestDeps } from '../batches.ts';
import { ingestRoutes } from '../batches.ts';

const HOUR_MS = 3_600_000;
const scripts = { extract_facts: echoExtract, decide_operations: keyedDecide((text) => text) };

/** The ingest routes over stores in memory; `nudge` may be replaced to fail. */
export async function ingestBench(
  nudge?: (nudges: readonly Nudge[]) => Promise<void>,
  {
    images = false,
    maxPending = { perTenant: 1_000, total: 1_000, lateMs: HOUR_MS },
    chat = fakeChat(scripts),
  }: Partial<Pick<IngestDeps, 'images' | 'maxPending'> & { chat: FakeChat }> = {},
) {
  const engine = await engineBench({ chat });
  const { ledger, tools, log, settings } = engine.deps;
  const nudged: Nudge[] = [];
  const acknowledgements: Acknowledged[] = [];
  const acknowledged = (one: Acknowledged): void => void acknowledgements.push(one);
  const keep = async (nudges: readonly Nudge[]): Promise<void> => void nudged.push(...nudges);
  const app: App = await createShell({
    name: 'ingest',
    auth: { apiKey: null, keys: null },
    log,
    runsOn: {},
    ready: {},
    keyRate: null,
    metrics: new Registry(),
  });
  const deps = { ledger, tools, log, due: settings.due, maxPending, images, acknowledged, nudge: nudge ?? keep };
  await app.register(ingestRoutes(deps));
  const post = (body: object, headers: Record<string, string> = {}) =>
    app.inject({ method: 'POST', url: '/v1/batches', payload: body, headers });
  return { app, engine, nudged, acknowledgements, post, log: log as ReturnType<typeof recordingLog> };
}
