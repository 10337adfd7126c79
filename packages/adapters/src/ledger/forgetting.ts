import type {
  Content,
  Evidence,
  LaneId,
  Leaning,
  MemoryChange,
  OwnerKind,
  Replay,
  Statement,
  TenantId,
  WishToForget,
} from '@slowwave/engine';
import {
  besideQuote,
  canonical,
  endsOf,
  evidenceByMessage,
  forgottenAt,
  hasFallen,
  isOfForgotten,
  isQuoteKept,
  leaningIn,
  quoteShown,
  type ShownMessage,
  shownOf,
  withoutOwner,
} from '@slowwave/engine/storing';
import { type Folding, refold } from './graph/refold.ts';
import { statementFrom } from './graph/rows.ts';
import { consolidationIdOf, LANE_NUMBER, laneIdOf } from './page.ts';
import { idOfMessage, NAMED_MESSAGES, naming } from './rows/batch.ts';
import type { ColumnsOf } from './rows/columns.ts';
import { detailsFrom } from './rows/memory.ts';
import { ofBatches } from './schema.ts';
import { all, idsOf, insert, run, type Script, together } from './script.ts';
import { projectSpeechAgain } from './speech.ts';
import { forgetBegunSummaries, forgetSummaries } from './summaries.ts';

/**
 * What a forgotten memory takes with it, and what comes back with one that is there again. Messages keep what was said beside what is
 * shown, so that nobody who reads them needs to know; statements keep that they have fallen. Both follow anew, of all that came of
 * the same messages, whenever one of it is forgotten or back. Needs the lock of the lane.
 */
export function* forgetWith(changes: readonly MemoryChange[], by: { tenant: TenantId; now: number }): Script<void> {
  const turned = Map.groupBy(changes.filter(isOfForgotten), ({ memory }) => memory.lane);
  for (const [lane, of] of turned) {
    const memoryIds = of.map(({ memory }) => memory.id);
    const [messageIds, consolidationIds] = yield* together(
      idsOf(SELECT_SAYING, { memoryIds }),
      idsOf(SELECT_CONSOLIDATIONS, { memoryIds }),
    );
    const folding = { ...by, lane };
    const shown = yield* showAgain(folding, messageIds);
    yield* standAgain(folding, [...new Set([...consolidationIds, ...shown])]);
    yield* forgetBegunSummaries(lane);
    if (of.some(({ memory }) => forgottenAt(memory) !== null))
      yield* forgetInSuites(folding, [...memoryIds, ...messageIds]);
  }
}

/** Wishes to forget of a consolidation that is applied: whatever they could delete, what summaries say may be what they are about. */
export function* noteWishes(folding: Folding, consolidationId: string, wishes: readonly WishToForget[]): Script<void> {
  if (wishes.length === 0) return;
  const { tenant, lane } = folding;
  yield* insert(
    'wishes',
    wishes.map(({ messageId, quote, memoryId }, number) => ({
      consolidation_id: consolidationId,
      number,
      tenant,
      lane,
      message_id: messageId,
      quote,
      memory_id: memoryId,
    })),
  );
  yield* standAgain(folding, yield* showAgain(folding, [...new Set(wishes.map(({ messageId }) => messageId))]));
  yield* forgetSummaries(lane);
  yield* forgetBegunSummaries(lane);
}

/** What asked for the deletion of a memory that a person has decided on: whether the memory stays or not. */
export function* showWishes(folding: Folding, of: { consolidationId: string; memoryId: string }): Script<void> {
  const text =
    'SELECT DISTINCT message_id AS id FROM wishes WHERE consolidation_id = @consolidationId AND memory_id = @memoryId';
  yield* standAgain(folding, yield* showAgain(folding, yield* idsOf(text, of)));
}

/** What consolidations asked to have forgotten that are undone or count again, and what other memories no longer lean on, or do. */
export function* showRetaken(
  folding: Folding,
  of: { readonly consolidationIds: readonly string[]; readonly memoryIds: readonly string[] },
): Script<void> {
  const [wished, told] = yield* together(idsOf(SELECT_WISHED, of), idsOf(SELECT_BESIDE, { ...of, lane: folding.lane }));
  yield* standAgain(folding, yield* showAgain(folding, [...new Set([...wished, ...told])]));
}

/** What is shown of these messages, by all that came of them. Answers with the consolidations of those that read otherwise now. */
function* showAgain({ lane, now }: Folding, ids: readonly string[]): Script<readonly string[]> {
  if (ids.length === 0) return [];
  const [messages, evidence, wishes] = yield* together(
    all<MessageRow>(SELECT_MESSAGES, { lane, ...naming(ids) }),
    evidenceOf(lane, ids),
    all<WishRow>(SELECT_WISHES, { ids }),
  );
  const cameOf = evidenceByMessage(evidence);
  const wished = Map.groupBy(wishes, (wish) => wish.message_id);
  const changed = messages.flatMap(({ id, number, batch_id: batchId, content, unhidden }) => {
    const said = unhidden ?? content;
    const shown = shownOf(JSON.parse(said) as Content, {
      evidence: cameOf([id]),
      wishes: (wished.get(id) ?? []).filter(({ hides }) => hides === 1).map(({ quote }) => quote),
    });
    if (canonical(shown ?? JSON.parse(said)) === canonical(JSON.parse(content))) return [];
    const next =
      shown === null ? { content: said, unhidden: null } : { content: JSON.stringify(shown), unhidden: said };
    return [{ number, batchId, ...next }];
  });
  if (changed.length === 0) return [];
  const batchIds = [...new Set(changed.map(({ batchId }) => batchId))];
  yield* together(...changed.map(({ number, content, unhidden }) => run(SHOW, { number, content, unhidden })));
  yield* projectSpeechAgain(batchIds, now);
  return yield* idsOf(SELECT_CONSOLIDATED, { batchIds });
}

/** Which statements of these consolidations' studies have fallen, what they quote, and what follows from those that have not. */
export function* standAgain(folding: Folding, consolidationIds: readonly string[]): Script<void> {
  const { lane } = folding;
  const rows = yield* all<StandingRow>(SELECT_STATEMENTS, { lane, ids: consolidationIds });
  if (rows.length === 0) return;
  const statements = rows.map((row) => ({ row, statement: statementFrom(row) }));
  const messageIds = [...new Set(statements.flatMap(({ statement }) => statement.messageIds))];
  const [evidence, messages, nameOf] = yield* together(
    evidenceOf(lane, messageIds),
    all<MessageRow>(SELECT_MESSAGES, { lane, ...naming(messageIds) }),
    namesOf(
      lane,
      statements.map(({ statement }) => statement),
    ),
  );
  const cameOf = evidenceByMessage(evidence);
  const shown = new Map(messages.map((message) => [message.id, shownFrom(message, cameOf([message.id]))]));
  const weighed = statements.map(({ row, statement }) => {
    const fallen = hasFallen(statement, cameOf(statement.messageIds), nameOf) ? 1 : 0;
    const said = row.quote_said === null ? statement.quote : (JSON.parse(row.quote_said) as string);
    const beside = statement.messageIds.flatMap((id) => shown.get(id) ?? []);
    const quote = quoteShown(said, beside);
    const quoteSaid = quote === said || !isQuoteKept(beside) ? null : JSON.stringify(said);
    const counts = fallen === 1 || row.state === 'undone' ? 0 : 1;
    return { row, statement: { ...statement, quote }, was: statement.quote, quoteSaid, fallen, counts };
  });
  const changed = weighed.filter(
    ({ row, statement, was, quoteSaid, fallen, counts }) =>
      fallen !== row.fallen || counts !== row.counts || statement.quote !== was || quoteSaid !== row.quote_said,
  );
  yield* together(
    ...changed.map(({ row, statement, quoteSaid, fallen, counts }) =>
      run(STAND, { id: row.id, fallen, counts, statement: JSON.stringify(statement), quoteSaid }),
    ),
  );
  yield* refold(folding, { statements: changed.map(({ statement }) => statement), entities: [] });
}

const shownFrom = ({ content, unhidden, wished }: MessageRow, evidence: readonly Evidence[]): ShownMessage =>
  besideQuote({
    content: JSON.parse(content) as Content,
    unhidden: unhidden === null ? null : (JSON.parse(unhidden) as Content),
    wished: wished === 1,
    evidence,
  });

/** Messages of batches are not kept any more: what they hid of quotes is gone with them. Needs the locks of their lanes. */
export function* loseQuotes(batchIds: readonly string[]): Script<void> {
  const rows = yield* all<{ id: string; statement: string }>(SELECT_HIDDEN_QUOTES, { batchIds });
  if (rows.length === 0) return;
  const lost = new Set(
    yield* idsOf(`SELECT m.id FROM lane_messages m WHERE ${ofBatches('m.batch', 'batchIds')}`, { batchIds }),
  );
  const ids = rows.filter((row) => statementFrom(row).messageIds.some((id) => lost.has(id))).map(({ id }) => id);
  yield* run('UPDATE graph_statements SET quote_said = NULL WHERE id IN :ids', { ids });
}

const SELECT_HIDDEN_QUOTES = `
  SELECT s.id, s.statement FROM graph_statements s
  WHERE s.quote_said IS NOT NULL AND s.lane IN (SELECT ${laneIdOf('lane')} FROM batches WHERE id IN :batchIds)`;

export const STAND = `
  UPDATE graph_statements SET fallen = @fallen, counts = @counts, statement = @statement, quote_said = @quoteSaid
  WHERE id = @id`;

/** What the entities are called that statements name. */
export function* namesOf(lane: LaneId, statements: readonly Statement[]): Script<(entity: string) => string> {
  const rows = yield* all<{ id: string; name: string }>(
    'SELECT id, name FROM graph_entities WHERE lane = @lane AND id IN :ids',
    { lane, ids: [...new Set(statements.flatMap(endsOf))] },
  );
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  return (entity) => names.get(entity) ?? '';
}

/** What would be hidden and fall if a memory were forgotten. */
export function* leaningOn(lane: LaneId, memoryId: string): Script<Leaning> {
  const memoryIds = [memoryId];
  const [messageIds, consolidationIds] = yield* together(
    idsOf(SELECT_SAYING, { memoryIds }),
    idsOf(SELECT_CONSOLIDATIONS, { memoryIds }),
  );
  const [messages, evidence, wishes, rows] = yield* together(
    all<MessageRow>(SELECT_MESSAGES, { lane, ...naming(messageIds) }),
    evidenceOf(lane, messageIds),
    all<WishRow>(SELECT_WISHES, { ids: messageIds }),
    all<StandingRow>(SELECT_STATEMENTS, { lane, ids: consolidationIds }),
  );
  const statements = rows.filter(({ counts }) => counts === 1).map(statementFrom);
  const entities = yield* namesOf(lane, statements);
  return leaningIn(memoryId, {
    messages: messages.map(({ id, content, unhidden }) => ({
      id,
      content: JSON.parse(unhidden ?? content) as Content,
    })),
    wishes: wishes.map(({ message_id: messageId, quote, memory_id: about, hides }) => ({
      ...{ messageId, quote, memoryId: about, hides: hides === 1 },
    })),
    ...{ evidence, statements, nameOf: entities },
  });
}

/** What came of these messages, but for what is undone as a whole. */
export function* evidenceOf(lane: LaneId, ids: readonly string[]): Script<readonly Evidence[]> {
  const rows = yield* all<EvidenceRow>(SELECT_EVIDENCE, { lane, ...naming(ids) });
  return rows.map(({ memory_id: memoryId, text, details, ...row }) => {
    const sourceIds = JSON.parse(row.source_ids) as readonly string[];
    const quote = details === null ? null : detailsFrom(details, { text, sourceIds }).quote;
    return { memoryId, messageIds: sourceIds, text, quote, forgotten: row.forgotten_at !== null };
  });
}

export interface MessageRow {
  readonly id: string;
  readonly number: number;
  readonly batch_id: string;
  readonly content: string;
  readonly unhidden: string | null;
  readonly wished: 0 | 1;
}

export interface WishRow {
  readonly consolidation_id: string;
  readonly number: number;
  readonly message_id: string;
  readonly quote: string | null;
  readonly memory_id: string | null;
  readonly hides: 0 | 1;
}

export interface StandingRow {
  readonly id: string;
  readonly statement: string;
  readonly counts: 0 | 1;
  readonly fallen: 0 | 1;
  readonly quote_said: string | null;
  readonly state: string;
}

interface EvidenceRow {
  readonly memory_id: string;
  readonly source_ids: string;
  readonly text: string | null;
  readonly details: string | null;
  readonly forgotten_at: number | null;
}

const SELECT_SOURCES = `
  SELECT DISTINCT ${idOfMessage('o.lane = x.lane AND o.seq = x.message_seq')} AS id
  FROM memories m JOIN events e ON e.memory = m.number JOIN event_sources x ON x.event_seq = e.seq
  WHERE m.id IN :memoryIds`;

/** What says a memory, or asks to have it forgotten. */
export const SELECT_SAYING = `
  ${SELECT_SOURCES} UNION SELECT message_id AS id FROM wishes WHERE memory_id IN :memoryIds`;

const SELECT_WISHED = 'SELECT DISTINCT message_id AS id FROM wishes WHERE consolidation_id IN :consolidationIds';

/** The sources, where anything of the lane is forgotten. */
const SELECT_BESIDE = `
  SELECT id FROM (${SELECT_SAYING}) AS saying WHERE EXISTS (SELECT 1 FROM memories f WHERE f.lane = ${LANE_NUMBER} AND f.forgotten_at IS NOT NULL)`;

export const SELECT_CONSOLIDATIONS = `
  SELECT DISTINCT ${consolidationIdOf('e.consolidation')} AS id FROM memories m JOIN events e ON e.memory = m.number
  WHERE m.id IN :memoryIds AND e.consolidation IS NOT NULL`;

export const SELECT_CONSOLIDATED = `
  SELECT DISTINCT ${consolidationIdOf('consolidation')} AS id FROM batches
  WHERE id IN :batchIds AND consolidation IS NOT NULL`;

export const SELECT_MESSAGES = `
  SELECT m.id, m.number, m.batch_id, m.content, m.unhidden,
    CASE WHEN EXISTS (SELECT 1 FROM wishes w WHERE w.message_id = m.id) THEN 1 ELSE 0 END AS wished
  FROM ${NAMED_MESSAGES} AS m WHERE m.lane = @lane ORDER BY m.id`;

export const SHOW = 'UPDATE messages SET content = @content::jsonb, unhidden = @unhidden::jsonb WHERE number = @number';

const SELECT_EVIDENCE = `
  SELECT DISTINCT e.seq, k.id AS memory_id, e.source_ids, e.text, e.details, k.forgotten_at
  FROM event_sources x JOIN events e ON e.seq = x.event_seq JOIN memories k ON k.number = e.memory
  WHERE x.lane = ${LANE_NUMBER}
    AND x.message_seq IN FEW (
      SELECT named.seq FROM ${NAMED_MESSAGES} AS named WHERE named.lane = @lane;)
    AND e.kind IN ('ADD', 'UPDATE', 'NONE')
    AND EXISTS (SELECT 1 FROM versions v WHERE v.memory = k.number)
    -- What was merged into another memory is forgotten with that one.
    AND (k.gone_since IS NULL OR k.forgotten_at IS NOT NULL)`;

/** The deletion that a wish asks for, while a person may approve of it. */
const SELECT_AWAITED = `
  SELECT 1 FROM reviews r
  WHERE r.consolidation_id = w.consolidation_id AND r.memory_id = w.memory_id AND r.state = 'pending'
    AND r.operation ->> 'kind' = 'DELETE'`;

export const SELECT_WISHES = `
  SELECT w.consolidation_id, w.number, w.message_id, w.quote, w.memory_id, CASE
      WHEN m.id IS NULL OR m.forgotten_at IS NOT NULL OR NOT EXISTS (SELECT 1 FROM versions v WHERE v.memory = m.number)
        OR EXISTS (${SELECT_AWAITED}) THEN 1
      ELSE 0
    END AS hides
  FROM wishes w
  JOIN consolidations c ON c.id = w.consolidation_id AND c.state = 'applied'
  LEFT JOIN memories m ON m.id = w.memory_id
  WHERE w.message_id IN :ids`;

export const SELECT_STATEMENTS = `
  SELECT s.id, s.statement, s.counts, s.fallen, s.quote_said, c.state
  FROM graph_statements s JOIN consolidations c ON c.id = s.consolidation_id
  WHERE s.lane = @lane AND s.consolidation_id IN :ids`;

/**
 * What is forgotten is said by no suite any more: cases that hold one of these memories or messages go, and so do the spaces of their
 * runs and what reports quote of their owner. Figures stay. Needs the lock of the lane.
 */
export function* forgetInSuites(
  { tenant, lane }: { readonly tenant: TenantId; readonly lane: LaneId },
  ids: readonly string[],
): Script<void> {
  const cases = yield* all<CaseOfLane>(SELECT_CASES, { lane });
  const gone = cases.filter(({ content }) => holdsAny(content, ids));
  const [first] = gone;
  if (first === undefined) return;
  yield* run('DELETE FROM suite_cases WHERE id IN :ids', { ids: gone.map(({ id }) => id) });
  const owner = { kind: first.owner_kind, id: first.owner_id };
  const suites = gone.map(({ suite_id: suite }) => suite);
  yield* forgetInRuns({ tenant, suites }, (told) => (withoutOwner(told, owner) ?? told).result);
}

/** The spaces of runs of these suites go, and what reports say that is not left of them. */
export function* forgetInRuns(
  { tenant, suites }: { readonly tenant: TenantId; readonly suites: readonly string[] },
  left: (told: Pick<Replay, 'filter' | 'result'>) => Replay['result'],
): Script<void> {
  for (const row of yield* all<RunRow>(SELECT_RUNS, { tenant })) {
    const filter = JSON.parse(row.filter);
    if (!suites.includes(filter.suite)) continue;
    const result = left({ filter, result: row.result === null ? null : JSON.parse(row.result) });
    yield* run(FORGET_RUN, { id: row.id, result: result && JSON.stringify(result) });
  }
}

/** Whether the content of a case says anything of these memories and messages. */
export const holdsAny = (content: string, ids: readonly string[]): boolean => ids.some((id) => content.includes(id));

interface CaseOfLane {
  readonly id: string;
  readonly suite_id: string;
  readonly owner_kind: OwnerKind;
  readonly owner_id: string;
  readonly content: string;
}

const SELECT_CASES = 'SELECT id, suite_id, owner_kind, owner_id, content FROM suite_cases WHERE lane = @lane';

type RunRow = Pick<ColumnsOf<Replay, 'filter' | 'result'>, 'id' | 'filter' | 'result'>;

const SELECT_RUNS =
  "SELECT id, filter, result FROM replays WHERE tenant = @tenant AND kind = 'suite' ORDER BY id FOR UPDATE";

const FORGET_RUN = `
  UPDATE replays SET result = @result::jsonb,
    due_at = CASE WHEN state <> 'discarded' THEN 0 ELSE due_at END,
    state = CASE WHEN state <> 'discarded' THEN 'discarding' ELSE state END
  WHERE id = @id`;
