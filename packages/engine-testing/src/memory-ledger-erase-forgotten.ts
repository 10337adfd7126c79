import type { Content, HistoryRemoval, LaneId, Millis, Statement } from '@slowwave/engine';
import { cutOf, endsOf, evidenceByMessage, hasFallen, quoteShown, withoutWords } from '@slowwave/engine/storing';
import { drop, forgetInReplays } from './memory-ledger-erasures.ts';
import { evidenceOf, wishesOf } from './memory-ledger-forgetting.ts';
import { refoldGraph } from './memory-ledger-graph-writes.ts';
import { change, rowOf, type State } from './memory-ledger-state.ts';
import { forgetInSuites } from './memory-ledger-suites.ts';

const ENDED = ['applied', 'split', 'parked', 'undone'];

interface ErasingWith {
  readonly lane: LaneId;
  readonly removals: readonly HistoryRemoval[];
  /** Messages with wishes that found nothing. */
  readonly wishedIn: ReadonlySet<string>;
}

/** Forgotten memories of a lane are erased, with all that says what they said. */
export function eraseWith(state: State, { lane, removals, wishedIn }: ErasingWith, now: Millis): void {
  const ids = new Set(removals.map(({ memory }) => memory.id));
  const own = state.events.filter(({ memoryId }) => ids.has(memoryId));
  const consolidated = new Set(own.flatMap(({ consolidationId }) => consolidationId ?? []));
  const messageIds = new Set([
    ...own
      .filter(({ revision, memoryId }) => revision > (state.erasedAt.get(memoryId) ?? 0))
      .flatMap((one) => one.sourceIds),
    ...state.wishes.filter(({ memoryId }) => ids.has(memoryId ?? '')).map(({ messageId }) => messageId),
    ...wishedIn,
  ]);
  const batchIds = new Set([...messageIds].map((id) => rowOf(state.messages, id).message.batchId));
  const cut = cutMessages(state, { lane, ids, messageIds, wishedIn });
  eraseStatements(state, { lane, ids, consolidated, cut, now });
  for (const { memory, events } of removals) {
    state.memories.set(memory.id, memory);
    state.erasedAt.set(memory.id, memory.revision);
    const read = new Map(events.map((event) => [event.id, event]));
    for (const [i, event] of state.events.entries()) state.events[i] = read.get(event.id) ?? event;
  }
  eraseThoughts(state, { lane, ids, consolidated, batchIds, now });
  for (const [id, { operation }] of state.reviews) if (ids.has(operation.memoryId)) state.reviews.delete(id);
  for (const [id, { subject }] of state.deliveries) if (ids.has(subject)) state.deliveries.delete(id);
  for (const key of state.vectors.keys()) if ((JSON.parse(key) as string[])[0] === lane) state.vectors.delete(key);
  forgetInReplays(state, batchIds);
  forgetInSuites(state, lane, [...ids, ...messageIds]);
}

interface Thought {
  readonly lane: LaneId;
  readonly ids: ReadonlySet<string>;
  readonly consolidated: ReadonlySet<string>;
  readonly batchIds: ReadonlySet<string>;
  readonly now: Millis;
}

/** What was thought of their messages, of them, and of others beside them. */
function eraseThoughts(state: State, { lane, ids, consolidated, batchIds, now }: Thought): void {
  const lists = (id: string): boolean => {
    const plans = JSON.stringify(state.plans.get(id) ?? []);
    return [...ids].some((one) => plans.includes(one));
  };
  const told = [...state.consolidations.values()].filter(
    (row) =>
      row.lane === lane &&
      ENDED.includes(row.state) &&
      (consolidated.has(row.id) || row.batchIds.some((id) => batchIds.has(id)) || lists(row.id)),
  );
  for (const row of told) {
    change(row, { removedAt: now });
    for (const table of [state.answers, state.plans, state.pinnedSummaries]) table.delete(row.id);
    const study = state.graph.studies.get(row.id);
    if (study !== undefined) study.plan = null;
  }
}

interface Cutting {
  readonly lane: LaneId;
  readonly ids: ReadonlySet<string>;
  readonly messageIds: ReadonlySet<string>;
  readonly wishedIn: ReadonlySet<string>;
}

function cutMessages(state: State, { lane, ids, messageIds, wishedIn }: Cutting): ReadonlyMap<string, Content> {
  const cameOf = evidenceByMessage(evidenceOf(state, lane));
  const wished = wishesOf(state);
  const cut = new Map<string, Content>();
  for (const id of messageIds) {
    const row = rowOf(state.messages, id);
    const own = wished.filter(({ messageId }) => messageId === id);
    const wishes = own.filter(({ hides }) => hides);
    const isErased = (memoryId: string | null) => (memoryId === null ? wishedIn.has(id) : ids.has(memoryId));
    const kept = cutOf(
      { content: row.message.content, unhidden: row.unhidden ?? null },
      { evidence: cameOf([id]), wishes, isErased },
    );
    const quotes = wishes.filter(({ memoryId }) => isErased(memoryId)).map(({ quote }) => quote);
    const left = new Set(withoutWords(own, quotes).map(keyOf));
    const gone = new Set(own.map(keyOf).filter((key) => !left.has(key)));
    drop(state.wishes, (wish) => gone.has(keyOf(wish)));
    if (kept === null) continue;
    cut.set(id, kept.unhidden ?? kept.content);
    const { hidden: _, ...message } = row.message;
    row.message = { ...message, content: kept.content, ...(kept.unhidden !== null && { hidden: true }) };
    row.unhidden = kept.unhidden ?? undefined;
  }
  return cut;
}

const keyOf = ({ consolidationId, messageId, memoryId, quote }: State['wishes'][number]): string =>
  JSON.stringify([consolidationId, messageId, memoryId, quote]);

interface Erasing {
  readonly lane: LaneId;
  readonly ids: ReadonlySet<string>;
  /** In which something was said of them. */
  readonly consolidated: ReadonlySet<string>;
  readonly cut: ReadonlyMap<string, Content>;
  readonly now: Millis;
}

function eraseStatements(state: State, { lane, ids, consolidated, cut, now }: Erasing): void {
  const { statements, entities } = state.graph;
  const cameOf = evidenceByMessage(
    evidenceOf(state, lane).map((one) => ({ ...one, forgotten: one.forgotten && ids.has(one.memoryId) })),
  );
  const nameOf = (id: string): string => rowOf(entities, id).name;
  const goes = ({ statement, fallen }: StatementRow): boolean =>
    rowOf(state.consolidations, statement.consolidationId ?? '').state === 'undone'
      ? consolidated.has(statement.consolidationId ?? '')
      : fallen && hasFallen(statement, cameOf(statement.messageIds), nameOf);
  const own = [...statements.values()].filter((row) => row.lane === lane && row.statement.consolidationId !== null);
  const gone = own.filter(goes).map(({ statement }) => statement);
  for (const { id } of gone) statements.delete(id);
  for (const row of own) {
    const left = row.statement.messageIds.map((id) => cut.get(id)).filter((content) => content !== undefined);
    if (quoteShown(row.quoteSaid, left.map(hiding)) === null) row.quoteSaid = null;
  }
  if (gone.length > 0) eraseEnds(state, { lane, gone, now });
}

type StatementRow = State['graph']['statements'] extends ReadonlyMap<string, infer Row> ? Row : never;

const hiding = (content: Content) => ({ content, hidden: true });

interface Ending {
  readonly lane: LaneId;
  readonly gone: readonly Statement[];
  readonly now: Millis;
}

/** Entities that nothing names any more, and relations that follow from nothing. */
function eraseEnds(state: State, { lane, gone, now }: Ending): void {
  const { graph } = state;
  refoldGraph(state, lane, now);
  const left = [...graph.statements.values()].flatMap(({ statement }) => endsOf(statement));
  const named = new Set([...left, ...[...graph.entities.values()].flatMap(({ mergedInto }) => mergedInto ?? [])]);
  const ends = new Set(gone.flatMap(endsOf).filter((id) => !named.has(id) && isUncounted(state, id)));
  const goneIds = new Set(gone.map(({ id }) => id));
  for (const [id, { source, destination, counts }] of graph.relations)
    if (!counts && (goneIds.has(id) || ends.has(source) || ends.has(destination))) graph.relations.delete(id);
  drop(graph.proposals, ({ source, destination }) => ends.has(source) || ends.has(destination));
  for (const id of ends) graph.entities.delete(id);
}

function isUncounted({ graph }: State, id: string): boolean {
  const { counts, self } = rowOf(graph.entities, id);
  return !counts && !self;
}
