import type { EngineDeps } from '../deps.ts';
import { forgottenAt, newestOrNull } from '../memories/evolve.ts';
import { quoteShown } from '../memories/forgotten.ts';
import type { HeldOperation, Plan } from '../plan.ts';
import { type Ledger, pages, slicesOf } from '../ports/ledger/ledger.ts';
import { readProfile } from '../profile/lines.ts';
import { isoOf } from '../text/dates.ts';
import { isWithheld, type LaneId, type Memory, type MemoryEvent, type Message, type TenantId } from '../words.ts';
import {
  coveredView,
  entityView,
  failureView,
  isoOrNull,
  memoryView,
  relationView,
  scopeView,
  statementView,
} from './views.ts';

type ExportDeps = Pick<EngineDeps, 'ledger' | 'tools'>;

interface ExportedUser {
  readonly tenant: TenantId;
  readonly userId: string;
  readonly lane: LaneId;
}

/** One thing of an export. */
interface ExportPart {
  readonly type:
    | 'user'
    | 'batch'
    | 'message'
    | 'memory'
    | 'event'
    | 'consolidation'
    | 'review'
    | 'summary'
    | 'task_state'
    | 'profile'
    | 'entity'
    | 'relation'
    | 'statement'
    | 'end';
  readonly [key: string]: unknown;
}

interface Exporting extends ExportedUser {
  /** The memories so far that are forgotten: of those the export says that there were some, and nothing of what they said. */
  readonly forgotten: Set<string>;
  /** The batches so far in which something was said of them, or of a wish to forget. */
  readonly hiding: Set<string>;
}

/** Everything the ledger has of a user, each thing once; read while it is handed out, not as of one moment. */
export async function* exportOf(deps: ExportDeps, user: ExportedUser): AsyncGenerator<ExportPart> {
  const counts: Record<string, number> = {};
  const of: Exporting = { ...user, forgotten: new Set(), hiding: new Set() };
  yield { type: 'user', id: user.userId, exported_at: isoOf(deps.tools.now()) };
  for (const part of [
    batches,
    messages,
    memories,
    consolidations,
    reviews,
    summaries,
    taskStates,
    profile,
    graphParts,
  ]) {
    for await (const one of part(deps, of)) {
      counts[one.type] = (counts[one.type] ?? 0) + 1;
      yield one;
    }
  }
  yield { type: 'end', counts };
}

async function* batches({ ledger }: ExportDeps, { tenant, userId }: ExportedUser): AsyncGenerator<ExportPart> {
  for await (const batch of pages((page) => ledger.batches.list(tenant, { userId }, page))) {
    const { id, scope, settings, metadata, state, attempts, failure, consolidationId, acceptedAt } = batch;
    const moments = { accepted_at: isoOf(acceptedAt), applied_at: isoOrNull(batch.appliedAt) };
    const what = {
      settings,
      metadata,
      state,
      attempts,
      error: failureView(failure),
      consolidation_id: consolidationId,
    };
    yield { type: 'batch', id, ...scopeView(scope), ...what, ...moments };
  }
}

/** The lines of the profile; the memories that say so are in lines of their own. */
async function* profile(deps: ExportDeps, { tenant, userId }: ExportedUser): AsyncGenerator<ExportPart> {
  for (const { slot, lines } of await readProfile(deps, { tenant, userId }))
    for (const { fact, by } of lines)
      yield {
        type: 'profile',
        slot: slot.name,
        memory_id: fact.memoryId,
        version: fact.version,
        memory: fact.text,
        by,
      };
}

/** Runs, each with the versions that are kept. */
async function* taskStates({ ledger }: ExportDeps, { tenant, lane }: ExportedUser): AsyncGenerator<ExportPart> {
  for await (const { runId } of pages((page) => ledger.taskStates.list(tenant, { lane }, page)))
    for await (const state of pages((page) => ledger.taskStates.history({ tenant, lane, runId }, page))) {
      const { appId, version, document, writtenAt, endedAt } = state;
      const moments = { written_at: isoOf(writtenAt), ended_at: isoOrNull(endedAt) };
      yield { type: 'task_state', run_id: runId, app_id: appId, version, document, ...moments };
    }
}

async function* messages({ ledger }: ExportDeps, { lane, hiding }: Exporting): AsyncGenerator<ExportPart> {
  const ofLane = (last: Message | null, limit: number) => ledger.contents.messages(lane, last?.saidAt.seq ?? 0, limit);
  for await (const page of slicesOf(ofLane))
    for (const { id, batchId, clientId, role, content, name, saidAt, hidden } of page) {
      if (hidden) hiding.add(batchId);
      yield {
        ...{ type: 'message', id, batch_id: batchId, client_id: clientId, role, content, name },
        said_at: isoOf(saidAt.at),
      };
    }
}

async function* memories(deps: ExportDeps, of: Exporting): AsyncGenerator<ExportPart> {
  const { contents } = deps.ledger;
  const ofLane = (last: Memory | null, limit: number) => contents.memories(of.lane, last?.id ?? null, limit);
  for await (const page of slicesOf(ofLane)) for (const memory of page) yield* partsOf(deps, of, memory);
}

/** A memory and its events. */
async function* partsOf(deps: ExportDeps, of: Exporting, memory: Memory): AsyncGenerator<ExportPart> {
  const { tenant, forgotten } = of;
  const tell = forgottenAt(memory) === null ? TOLD : UNTOLD;
  if (tell === UNTOLD) forgotten.add(memory.id);
  yield { type: 'memory', ...tell.memory(memory) };
  for await (const event of pages((at) => deps.ledger.memories.history(tenant, memory.id, at))) {
    if (tell === UNTOLD) await noteSources(deps, of, event);
    yield tell.event(event);
  }
}

/** Messages that retention removed are not hidden, but answers may have outlived them. */
async function noteSources({ ledger }: ExportDeps, { tenant, hiding }: Exporting, event: MemoryEvent): Promise<void> {
  const sources = await ledger.memories.messages(tenant, event.sourceIds);
  for (const { batchId } of sources.values()) hiding.add(batchId);
}

/** What is undone as a whole says nothing any more; its events still do. */
const shown = (memory: Memory) =>
  newestOrNull(memory) === null ? { id: memory.id, ...scopeView(memory.scope), memory: null } : memoryView(memory);

const versionOf = ({ number, text, saidAt, validFrom, invalidAt, details }: MemoryVersionOf) => ({
  version: number,
  memory: text,
  said_at: isoOf(saidAt.at),
  valid_from: isoOf(validFrom),
  invalid_at: isoOrNull(invalidAt),
  details,
});
type MemoryVersionOf = Parameters<typeof memoryView>[0]['versions'][number];

const eventOf = (event: MemoryEvent): ExportPart => ({
  type: 'event',
  id: event.id,
  memory_id: event.memoryId,
  revision: event.revision,
  event: event.kind,
  actor: event.actor,
  reason: event.reason,
  previous: event.previous,
  memory: event.text,
  source_ids: event.sourceIds,
  consolidation_id: event.consolidationId,
  retracts: event.retraction?.retracts ?? [],
  ...(event.rated !== undefined && { rated: event.rated }),
  said_at: isoOf(event.saidAt.at),
  created_at: isoOf(event.recordedAt),
});

/** What an export tells of a memory, and of one that is forgotten. */
const TOLD = {
  memory: (memory: Memory) => ({ ...shown(memory), versions: memory.versions.map(versionOf) }),
  event: eventOf,
};
const UNTOLD = {
  memory: ({ id, scope }: Memory) => ({ id, ...scopeView(scope), memory: null, forgotten: true, versions: [] }),
  event: (event: MemoryEvent): ExportPart => ({ ...eventOf(event), memory: null, previous: null, reason: 'forgotten' }),
};

async function* consolidations(
  { ledger }: ExportDeps,
  { tenant, userId, forgotten, hiding }: Exporting,
): AsyncGenerator<ExportPart> {
  for await (const { id, scope, state, batchIds, createdAt } of pages((page) =>
    ledger.thoughts.list(tenant, { userId }, page),
  )) {
    const [plan, answers] = [await ledger.thoughts.plan(id), await ledger.thoughts.answers(id)];
    const study = (await ledger.graph.study(tenant, id))?.plan ?? null;
    const thought = { plan, study, answers: answers.map(({ step, model, text }) => ({ step, model, output: text })) };
    // Answers of a consolidation that was split, parked or undone tell of memories that another one made of its batches.
    const isHiding = batchIds.some((batchId) => hiding.has(batchId));
    const isTold = !isHiding && (plan === null || !tellsOf(plan, forgotten));
    const what = { state, batch_ids: batchIds, created_at: isoOf(createdAt), ...(isTold ? thought : UNTHOUGHT) };
    yield { type: 'consolidation', id, ...scopeView(scope), ...what };
  }
}

const UNTHOUGHT = { plan: null, study: null, answers: [], forgotten: true };

/** What was thought of a memory that is forgotten by now, or of a wish to forget, tells what it said. */
const tellsOf = ({ operations, candidates, held, outcomes }: Plan, forgotten: ReadonlySet<string>): boolean =>
  [...operations, ...candidates, ...held].some(({ memoryId }) => forgotten.has(memoryId)) ||
  outcomes.some(({ wish }) => wish === true);

async function* reviews({ ledger }: ExportDeps, { tenant, userId, forgotten }: Exporting): AsyncGenerator<ExportPart> {
  for await (const { id, operation, state, note, createdAt } of pages((page) =>
    ledger.reviews.list(tenant, { userId }, page),
  )) {
    const [shown] = await withShownQuotes({ ledger }, tenant, [operation]);
    const told = forgotten.has(operation.memoryId) ? null : shown;
    yield { type: 'review', id, operation: told, state, note, created_at: isoOf(createdAt) };
  }
}

async function* summaries({ ledger }: ExportDeps, { lane }: ExportedUser): AsyncGenerator<ExportPart> {
  for (const { scope, summary, covers } of await ledger.contents.summaries(lane)) {
    yield { type: 'summary', ...scopeView(scope), summary, covers: covers === null ? null : coveredView(covers) };
  }
}

interface GraphPart {
  readonly type: 'entity' | 'relation' | 'statement';
  readonly [key: string]: unknown;
}

type Deps = { readonly ledger: Pick<Ledger, 'graph'> };

/** The graph of a user: entities, all that was said of them, undone or not, and all relations. */
async function* graphParts({ ledger }: Deps, { tenant, userId, lane }: ExportedUser): AsyncGenerator<GraphPart> {
  const owner = { kind: 'user', id: userId } as const;
  const { graph } = ledger;
  const seen = new Set<string>();
  const isNew = (id: string): boolean => !seen.has(id) && seen.add(id).has(id);
  for await (const { id } of pages((page) => graph.listEntities(tenant, owner, {}, page))) {
    const said = await graph.statements(lane, { entities: [id] });
    // The ones that were merged into it are listed by nothing else.
    const merged = said.flatMap(({ statement }) => (statement.kind === 'same' ? [statement.source] : []));
    for (const entity of await graph.entities(tenant, [id, ...merged])) {
      if (isNew(entity.id)) yield { type: 'entity', ...entityView(entity) };
    }
    for (const { statement, counts } of said) {
      if (isNew(statement.id)) yield { type: 'statement', ...statementView(statement, counts) };
    }
  }
  for await (const relation of pages((page) => graph.listRelations(tenant, owner, { at: 'ever' }, page))) {
    yield { type: 'relation', ...relationView(relation) };
  }
}

/**
 * Operations of reviews as they are shown: without quotes that span what their messages hide by now. Of a message that is not
 * kept nobody can tell what it hid.
 */
export async function withShownQuotes(
  { ledger }: { readonly ledger: { readonly memories: Pick<Ledger['memories'], 'messages'> } },
  tenant: TenantId,
  operations: readonly HeldOperation[],
): Promise<readonly HeldOperation[]> {
  const ids = operations.flatMap((one) => [one, ...(one.repeats ?? [])].flatMap(({ sourceIds }) => sourceIds));
  if (ids.length === 0) return operations;
  const messages = await ledger.memories.messages(tenant, [...new Set(ids)]);
  const beside = (sourceIds: readonly string[]) =>
    sourceIds
      .flatMap((id) => messages.get(id) ?? [])
      .map(({ content, hidden }) => ({ content, hidden: hidden === true || isWithheld(content) }));
  const shown = <One extends Pick<HeldOperation, 'details' | 'sourceIds'>>(one: One): One => {
    const { details, sourceIds } = one;
    return details === null
      ? one
      : { ...one, details: { ...details, quote: quoteShown(details.quote, beside(sourceIds)) } };
  };
  return operations.map((operation) => {
    const { repeats } = operation;
    return { ...shown(operation), ...(repeats !== undefined && { repeats: repeats.map(shown) }) };
  });
}
