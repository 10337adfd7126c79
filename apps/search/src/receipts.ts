import { MemoryReceipts, PageQuery, PostOutcome, ReceiptView } from '@slowwave/contracts';
import {
  creditScore,
  inApp,
  isoOf,
  isoOrNull,
  isWithheld,
  type JsonObject,
  type KeptRelation,
  type Lane,
  liveVersion,
  type Memory,
  type Message,
  type Millis,
  ownerOf,
  type Receipt,
  relationCore,
  type ScopeIds,
  scopeOf,
  scopeView,
  type TenantId,
  type Told,
} from '@slowwave/engine';
import {
  type FastifyRequest,
  IdParams,
  listed,
  mayKnow,
  notFound,
  ownApp,
  pageOf,
  principalOf,
  problem,
} from '@slowwave/http';
import { z } from 'zod';
import { routesOf, type SearchDeps } from './deps.ts';
import { existing, sourceView } from './memories.ts';

const route = routesOf('receipts');

/** An answer that is about to be given. */
interface Answering {
  readonly route: Receipt['route'];
  readonly tenant: TenantId;
  readonly body: ScopeIds & {
    readonly filters?: unknown;
    readonly as_of?: string | undefined;
    readonly receipt?: boolean | undefined;
  };
  readonly question: string | null;
  /** The app that the key is bound to; null: none. */
  readonly app: string | null;
  /** The lane that was asked; null: the owner has none, or it is not known. */
  readonly lane: Pick<Lane, 'id' | 'lastMessage'> | null;
}

/** The id under which it is kept what an answer told; null: it is not. */
export function receiptFor(
  { noteReceipt }: Pick<SearchDeps, 'noteReceipt'>,
  { lane, tenant, body, app, ...answering }: Answering,
  told: readonly Told[],
): string | null {
  if (noteReceipt === null || lane === null || body.receipt === false) return null;
  return noteReceipt({
    route: answering.route,
    tenant,
    lane: lane.id,
    scope: scopeOf(body),
    ownApp: app !== null,
    question: answering.question,
    filters: (body.filters ?? null) as JsonObject | null,
    asOf: body.as_of === undefined ? null : Date.parse(body.as_of),
    position: lane.lastMessage,
    told,
  });
}

/** The scopes of who may change what is remembered. */
const CHANGING = ['manage', 'subject', 'admin'] as const;

/** Whoever may change what is remembered may look at it without a trace; whoever is only told may not. */
export function refuseUntraced(request: FastifyRequest, { receipt }: Pick<Answering['body'], 'receipt'>): void {
  const { scopes } = principalOf(request);
  if (receipt !== false || CHANGING.some((scope) => scopes.includes(scope))) return;
  throw problem(
    'scope_missing',
    `"receipt": false needs a key with the scope manage or subject, got one with ${scopes.join(', ')}; omit it`,
  );
}

/** What answers told, and what they led to. */
export const receiptRoutes = [
  route('GET /v1/receipts/:id', {
    id: 'getReceipt',
    summary: 'Get a receipt: what an answer contained',
    description:
      'Shows the memories, relations and messages in an answer of search, context or recall, as stored in the ledger: ' +
      'memories in the version used. Items deleted or undone since are only named. A key for one app finds ' +
      'receipts of answers to keys for that app.',
    params: IdParams,
    answer: ReceiptView,
    bounds: { by: 'found', apps: true },
    handle: async (deps, { params: { id }, request, tenant }) => {
      const receipt = await deps.ledger.receipts.get(tenant, id);
      if (receipt === null || !mayReadReceipt(request, receipt)) throw notFound('receipt', id);
      return shown(deps, receipt, ownApp(request));
    },
  }),
  route('POST /v1/receipts/:id/outcome', {
    id: 'postOutcome',
    summary: 'Report the outcome of an answer',
    description:
      'Credits the outcome to the memory versions in the answer; the first one gets the largest share. The last ' +
      'outcome counts; null removes it. It affects the ranking of searches within bounds, a moment later.',
    params: IdParams,
    body: PostOutcome,
    answer: ReceiptView,
    bounds: { by: 'found', apps: true },
    audited: true,
    handle: async (deps, { params: { id }, body: { outcome }, request, tenant }) => {
      const {
        ledger: { receipts },
        tools,
      } = deps;
      const found = await receipts.get(tenant, id);
      const judged =
        found !== null && mayReadReceipt(request, found)
          ? await receipts.judge(tenant, id, { outcome, now: tools.now() })
          : null;
      if (judged === null) throw notFound('receipt', id);
      if (outcome !== null && outcome !== found?.outcome)
        deps.meter.opinions(tenant, 'outcome', [outcome === 'good' ? 'for' : 'against']);
      return shown(deps, judged, ownApp(request));
    },
  }),
  route('GET /v1/memories/:id/receipts', {
    id: 'getMemoryReceipts',
    summary: 'List the answers that contained a memory, newest first',
    description: 'Also for a deleted memory. A page may have fewer entries than limit, or none.',
    params: IdParams,
    query: z.strictObject(PageQuery),
    answer: MemoryReceipts,
    bounds: { by: 'found', apps: true },
    handle: async ({ ledger }, { params, query, request, tenant }) => {
      const memory = await existing(ledger, request, params.id);
      const [told, credits] = await Promise.all([
        ledger.receipts.ofMemory(tenant, memory.id, pageOf(query)),
        ledger.receipts.credits([memory.id]),
      ]);
      const credit = credits.find(({ version }) => version === liveVersion(memory)?.number);
      const results = told.results.filter((receipt) => mayReadReceipt(request, receipt));
      const view = (receipt: Receipt) => ({ ...receiptView(receipt), versions: versionsIn(receipt, memory.id) });
      return { ...listed({ ...told, results }, view), credit: credit === undefined ? 0 : creditScore(credit) };
    },
  }),
];

/** What a key for one app was not told itself may say what only others said. */
export const mayReadReceipt = (request: FastifyRequest, { scope, ownApp: toOwnApp }: Receipt): boolean =>
  mayKnow(request, scope) && (ownApp(request) === null || toOwnApp);

const versionsIn = ({ told }: Receipt, memoryId: string): number[] =>
  told.flatMap((one) => (one.kind === 'memory' && one.id === memoryId ? [one.version] : []));

const receiptView = (receipt: Receipt) => ({
  id: receipt.id,
  ...scopeView(receipt.scope),
  route: receipt.route,
  created_at: isoOf(receipt.at),
  question: receipt.question,
  filters: receipt.filters,
  as_of: isoOrNull(receipt.asOf),
  position: receipt.position,
  outcome: receipt.outcome,
});

/** A receipt with what it told, as the ledger has it now. */
async function shown({ ledger, tools }: SearchDeps, receipt: Receipt, app: string | null): Promise<ReceiptView> {
  const { tenant, scope, told } = receipt;
  const idsOf = (kind: Told['kind']) => [...new Set(told.flatMap((one) => (one.kind === kind ? [one.id] : [])))];
  const relationIds = idsOf('relation');
  const [memories, messages, relations] = await Promise.all([
    ledger.memories.many(tenant, idsOf('memory')),
    ledger.lookups.around(
      { tenant, owner: ownerOf(scope), ids: idsOf('message') },
      { before: 0, after: 0, appId: scope.appId },
    ),
    relationIds.length === 0 ? [] : ledger.graph.relations(tenant, relationIds),
  ]);
  const known = memories.flatMap((memory) => (app === null ? memory : (inApp(memory, app) ?? [])));
  const byId = new Map(known.filter(({ lane }) => lane === receipt.lane).map((memory) => [memory.id, memory]));
  const ofLane = new Map(relations.filter(({ lane }) => lane === receipt.lane).map((one) => [one.id, one]));
  const view = (one: Told) => {
    if (one.kind === 'memory') return memoryTold(byId.get(one.id), one.version);
    if (one.kind === 'relation') return relationTold(ofLane.get(one.id), tools.now());
    return messageTold(messages.get(one.id)?.find(({ id }) => id === one.id));
  };
  return { ...receiptView(receipt), told: told.map((one) => view(one) ?? { id: one.id, forgotten: true }) };
}

/** null: it is forgotten, as a whole or in that version. */
function memoryTold(memory: Memory | undefined, version: number) {
  const live = memory === undefined ? null : liveVersion(memory);
  const told = memory?.versions.find(({ number }) => number === version);
  if (memory === undefined || live === null || told === undefined || told.details.removed !== undefined) return null;
  return {
    kind: 'memory' as const,
    id: memory.id,
    memory: told.text,
    version,
    valid_from: isoOf(told.validFrom),
    invalid_at: isoOrNull(told.invalidAt),
    current: version === live.number,
  };
}

/** null: nothing says it any more. */
function relationTold(relation: KeptRelation | undefined, now: Millis) {
  if (relation?.counts !== true) return null;
  const { memory_ids: _, ...core } = relationCore(relation);
  return { kind: 'relation' as const, ...core, current: relation.invalidAt === null || relation.invalidAt > now };
}

function messageTold(message: Message | undefined) {
  if (message === undefined || isWithheld(message.content)) return null;
  const { is_source: _, ...said } = sourceView(message, true);
  return { kind: 'message' as const, ...said };
}
