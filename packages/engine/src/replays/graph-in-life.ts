import type { EngineDeps } from '../deps.ts';
import { endsOf } from '../graph/follow.ts';
import type { Entity, Statement } from '../graph/words.ts';
import { PAGE, pages } from '../pages.ts';
import type { Batch } from '../ports/ledger/batches.ts';
import { ownerOf } from '../words.ts';
import type { LaneInLife } from './lives.ts';
import { messagesOf } from './messages-of.ts';

/** What was said about the graph of one lane in life. */
export interface GraphInLife {
  /** What counted before the batches, whoever said it, in no order. */
  readonly before: readonly Statement[];
  /** What was learned from the batches, undone since or not. */
  readonly own: readonly Statement[];
  /** Whom these are about. */
  readonly entities: readonly Entity[];
}

type Deps = Pick<EngineDeps, 'ledger'>;

/** The statements before the batches of a lane, and their own. What others said since is on neither side. */
export async function graphInLife(deps: Deps, life: LaneInLife): Promise<GraphInLife> {
  const [first] = life.batches;
  if (first === undefined) return { before: [], own: [], entities: [] };
  const ids = new Set(life.batches.flatMap(({ consolidationId }) => consolidationId ?? []));
  const learned = await learnedFrom(deps, first, ids);
  const wasBefore = beforeIn(deps, life, first);
  const [before, own]: [Statement[], Map<string, Statement>] = [[], new Map(learned.map((one) => [one.id, one]))];
  const isOwn = await ownIn(deps, life.batches, ids);
  for (const { statement, counts } of await saidIn(deps, life, first)) {
    // As it is kept: where two studies made the owner's entity, one of them is kept.
    if (ids.has(statement.consolidationId ?? '')) own.set(statement.id, statement);
    else if (counts && (await wasBefore(statement))) before.push(statement);
  }
  const kept = [...own.values()].filter(isOwn);
  const about = [...new Set([...before, ...kept].flatMap(endsOf))];
  return { before, own: kept, entities: await deps.ledger.graph.entities(first.tenant, about) };
}

/** The owner's own entity; null: nothing was said of it. */
export const selfIn = ({ entities }: Pick<GraphInLife, 'entities'>): string | null =>
  entities.find(({ self }) => self)?.id ?? null;

/** By the plans of their studies: what counts no longer is listed by nothing else. */
async function learnedFrom({ ledger }: Deps, { tenant }: Batch, ids: ReadonlySet<string>) {
  const learned: Statement[] = [];
  for (const id of ids) {
    learned.push(...((await ledger.graph.study(tenant, id))?.plan?.statements ?? []));
  }
  return learned;
}

/** Everything that was said of whom the graph shows, each once. */
async function saidIn({ ledger: { graph } }: Deps, { lane }: LaneInLife, { tenant, scope }: Batch) {
  const said = new Map<string, { readonly statement: Statement; readonly counts: boolean }>();
  const owner = ownerOf(scope);
  const shown: string[] = [];
  for await (const { id } of pages((page) => graph.listEntities(tenant, owner, {}, page))) shown.push(id);
  for (let at = 0; at < shown.length; at += PAGE) {
    for (const one of await graph.statements(lane, { entities: shown.slice(at, at + PAGE) })) {
      said.set(one.statement.id, one);
    }
  }
  return [...said.values()];
}

/** Whether something was said before the batches: studies come later than what they study. */
function beforeIn({ ledger }: Deps, { before }: LaneInLife, { tenant }: Batch) {
  const known = new Map<string, Promise<boolean>>();
  const appliedBefore = async (id: string): Promise<boolean> => {
    const applied = (await ledger.thoughts.get(tenant, id))?.appliedAt ?? null;
    return applied !== null && applied < before;
  };
  return async ({ recordedAt, consolidationId }: Statement): Promise<boolean> => {
    if (recordedAt < before || consolidationId === null) return recordedAt < before;
    const asked = known.get(consolidationId) ?? appliedBefore(consolidationId);
    known.set(consolidationId, asked);
    return asked;
  };
}

/** Whether a statement is of these batches: others may have been consolidated together with them. */
async function ownIn(deps: Deps, batches: readonly Batch[], ids: ReadonlySet<string>) {
  const messages = new Set<string>();
  const asked = new Set(batches.map(({ id }) => id));
  const shared = new Set<string>();
  for (const batch of batches) {
    for (const { id } of await messagesOf(deps, batch)) messages.add(id);
    const { tenant, consolidationId } = batch;
    if (consolidationId === null || shared.has(consolidationId)) continue;
    const consolidation = await deps.ledger.thoughts.get(tenant, consolidationId);
    if (consolidation?.batchIds.some((id) => !asked.has(id))) shared.add(consolidationId);
  }
  return ({ consolidationId, messageIds }: Statement): boolean =>
    ids.has(consolidationId ?? '') && (!shared.has(consolidationId ?? '') || messageIds.some((id) => messages.has(id)));
}
