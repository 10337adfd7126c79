import { auditLog } from '@slowwave/adapters/audit-and-receipts';
import { keyCheck, newSecret } from '@slowwave/adapters/keys';
import { urlPolicy } from '@slowwave/adapters/net';
import { newWebhookSecret } from '@slowwave/adapters/webhooks';
import {
  type ChatModel,
  DEFAULT_TENANT,
  examine,
  graphWriter,
  type LaneId,
  memoryWriter,
  type Nudge,
  nightSettler,
  preview,
  questionsOf,
  rater,
  reviewer,
  undoer,
  withdrawer,
} from '@slowwave/engine';
import { echoExtract, engineBench, fakeChat, keyedDecide, type Script } from '@slowwave/engine-testing';
import { type App, createShell, Registry } from '@slowwave/http';
import { consoleRoutes } from '../app.ts';
import { fewPreviews } from '../consolidations.ts';
import type { ConsoleDeps } from '../deps.ts';

const BROKEN: Script = () => 'no JSON at all';
/** "home: Berlin" is about "home". */
const decide = keyedDecide((text) => text.split(':')[0] ?? text);

/** The model that what-ifs may ask for. */
export const OTHER_MODEL = 'other';

/** A ledger in memory keeps no rows that could travel: the tests of the command line have those that do. */
const inMemory = { get: () => () => Promise.reject(new Error('the ledger of this bench is in memory')) };
const noBundles = new Proxy({} as ConsoleDeps['bundles'], inMemory);
const noCopies = new Proxy({} as ConsoleDeps['copies'], inMemory);

interface BenchOptions extends Partial<ConsoleDeps> {
  /** Asked in the place of the scripted model; and others, by name. */
  readonly chat?: ChatModel;
  readonly others?: Readonly<Record<string, ChatModel>>;
  /** What the other model answers differently. */
  readonly otherScripts?: Readonly<Record<string, Script>>;
  /** What the model answers otherwise, or as well. */
  readonly scripts?: Readonly<Record<string, Script>>;
  readonly apiKey?: string;
  /** The model answers nothing usable until it is mended: what is posted before ends parked. */
  readonly broken?: { now: boolean };
  /** With an audit log, and the keys that are given out asked for. */
  readonly audited?: boolean;
}

const notHere = () => Promise.reject(new Error('the index of a bench does not move'));
const noMoves: ConsoleDeps['moves'] = {
  current: async () => null,
  ...{ estimate: notHere, start: notHere, switch: notHere, back: notHere, confirm: notHere, abandon: notHere },
};

/** The manage routes over stores in memory. */
export async function consoleBench({
  apiKey,
  broken,
  otherScripts,
  scripts: own,
  audited = false,
  chat,
  others = {},
  ...given
}: BenchOptions = {}) {
  const extract: Script = (input, nth) => (broken?.now === true ? BROKEN(input, nth) : echoExtract(input, nth));
  const scripts = { extract_facts: extract, repair_output: BROKEN, decide_operations: decide, ...own };
  const other = { ...fakeChat({ ...scripts, ...otherScripts }), name: OTHER_MODEL };
  const otherChat = (model: string) => (model === OTHER_MODEL ? other : (others[model] ?? null));
  const engine = await engineBench({ chat: chat ?? fakeChat(scripts), otherChat });
  const { ledger, tools, log } = engine.deps;
  const ceilings = given.ceilings ?? engine.deps.settings.ceilings;
  const withCeilings = { ...engine.deps, settings: { ...engine.deps.settings, ceilings } };
  const nudged: Nudge[] = [];
  const forgotten: LaneId[] = [];
  const deps: ConsoleDeps = {
    ledger,
    bundles: noBundles,
    cold: null,
    copies: noCopies,
    cell: null,
    makeSearchable: async () => {},
    writer: memoryWriter(engine.deps),
    graphWriter: graphWriter(engine.deps),
    rater: rater(engine.deps),
    reviewer: reviewer(engine.deps),
    undoer: undoer(engine.deps),
    nightSettler: nightSettler(engine.deps),
    withdrawer: withdrawer(engine.deps),
    tools,
    log,
    otherChat: engine.deps.otherChat,
    otherEmbedder: async () => null,
    tenantModels: ['scripted'],
    models: async () => [],
    moves: noMoves,
    ceilings,
    images: false,
    preview: fewPreviews((asked, cancel) => preview(withCeilings, asked, cancel)),
    questions: (thought, cancel) => questionsOf(engine.deps, thought, cancel),
    examine: (how) => examine(engine.deps, how),
    newSecret,
    webhooks: { check: urlPolicy(['127.0.0.1']).check, newSecret: newWebhookSecret },
    queues: [],
    nudge: async (nudges) => void nudged.push(...nudges),
    forgetFailed: async (lanes) => void forgotten.push(...lanes),
    replayLane: async () => 0,
    ...given,
  };
  const keys = audited ? keyCheck({ ledger, tools, log }) : null;
  const audit = audited ? auditLog({ what: 'changes', ledger, tools, log, counted: () => {} }) : null;
  const app: App = await createShell({
    name: 'console',
    auth: { apiKey: apiKey ?? null, keys },
    log,
    runsOn: {},
    ready: {},
    keyRate: null,
    audit,
    metrics: new Registry(),
  });
  await app.register(consoleRoutes(deps));
  const send = (method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string, payload?: object) =>
    app.inject({ method, url, ...(payload !== undefined && { payload }) });
  const batchState = async (id: string) => (await ledger.batches.get(DEFAULT_TENANT, id))?.state;
  return { app, engine, deps, nudged, forgotten, send, batchState, written: async () => audit?.close() };
}
