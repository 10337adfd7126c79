import type { Content, LaneId, Statement } from '@slowwave/engine';
import { cutOf, endsOf, evidenceByMessage, hasFallen, quoteShown, withoutWords } from '@slowwave/engine/storing';
import { FORGET_REPLAYS } from './erasures.ts';
import { forgetInSuites } from './forget-in-suites.ts';
import {
  evidenceOf,
  type MessageRow,
  namesOf,
  SELECT_CONSOLIDATED,
  SELECT_CONSOLIDATIONS,
  SELECT_MESSAGES,
  SELECT_SAYING,
  SELECT_STATEMENTS,
  SELECT_WISHES,
  SHOW,
  STAND,
  type StandingRow,
  type WishRow,
} from './forgetting.ts';
import { type Folding, refold } from './graph/refold.ts';
import { statementFrom } from './graph/rows.ts';
import { stripThoughts } from './kept-thoughts.ts';
import { naming } from './named-messages.ts';
import { inLanes, LANE_NUMBER, laneIdOf } from './page.ts';
import type { LaneRow } from './rows/lane.ts';
import { markOf } from './rows/packed-record.ts';
import { all, idsOf, run, type Script, together } from './script.ts';
import { forgetVectors } from './vectors.ts';

/**
 * What forgotten memories have taken with them goes for good: the words behind messages, wishes, fallen statements, and whatever
 * else says what they said. What is shown to anybody stays as it is. Needs the lock of the lane.
 */
export function* eraseWith(folding: Folding, { memoryIds, wishedIn }: Erasing): Script<void> {
  const { lane, now } = folding;
  const [saying, own] = yield* together(
    idsOf(SELECT_SAYING, { memoryIds }),
    idsOf(SELECT_CONSOLIDATIONS, { memoryIds }),
  );
  const messageIds = [...new Set([...saying, ...wishedIn])];
  const erased: Erased = {
    memoryIds: new Set(memoryIds),
    consolidationIds: new Set(own),
    wishedIn: new Set(wishedIn),
  };
  const messages = yield* all<MessageRow>(SELECT_MESSAGES, { lane, ...naming(messageIds) });
  const batchIds = [...new Set(messages.map((row) => row.batch_id))];
  const consolidated = yield* idsOf(SELECT_CONSOLIDATED, { batchIds });
  const cut = yield* cutMessages(lane, messages, erased);
  yield* eraseStatements(folding, { consolidationIds: [...new Set([...own, ...consolidated])], cut, erased });
  const thought = yield* idsOf(SELECT_THOUGHT, {
    ...{ lane, batchIds, memoryIds, own },
    rows: memoryIds.map((id) => ({ id, mark: markOf(id).toString('hex') })),
  });
  yield* stripThoughts(thought);
  yield* together(
    run(FORGET_SOURCES, { memoryIds }),
    run('DELETE FROM reviews WHERE memory_id IN :memoryIds', { memoryIds }),
    run('DELETE FROM webhook_deliveries WHERE lane = @lane AND subject IN :memoryIds', { lane, memoryIds }),
    // Of what words each of them is nobody can say any more: they are made anew when they are needed.
    forgetVectors(lane),
    run('UPDATE graph_studies SET plan = NULL WHERE consolidation_id IN :thought', { thought }),
    run('UPDATE consolidations SET stripped_at = @now, summary = NULL WHERE id IN :thought', { thought, now }),
    run(FORGET_REPLAYS, { ids: batchIds }),
  );
  yield* forgetInSuites(folding, [...memoryIds, ...messageIds]);
}

const FORGET_SOURCES = `
  DELETE FROM event_sources WHERE event_seq IN (
    SELECT e.seq FROM memories m JOIN events e ON e.memory = m.number WHERE m.id IN :memoryIds)`;

interface Erasing {
  readonly memoryIds: readonly string[];
  /** Messages with wishes that found nothing. */
  readonly wishedIn: readonly string[];
}

/** Lanes that are worked on by who has read them already, or of which the index does not know all. */
export function* busyLanes(lanes: readonly LaneRow[]): Script<ReadonlySet<LaneId>> {
  const unprojected = yield* idsOf<LaneId>(SELECT_UNPROJECTED, { lanes: lanes.map(({ id }) => id) });
  return new Set([...unprojected, ...lanes.filter(({ state }) => state === 'consolidating').map(({ id }) => id)]);
}

interface Erased {
  readonly memoryIds: ReadonlySet<string>;
  /** In which something was said of them. */
  readonly consolidationIds: ReadonlySet<string>;
  readonly wishedIn: ReadonlySet<string>;
}

/** What is left of messages that were cut. */
type Cut = ReadonlyMap<string, Content>;

function* cutMessages(lane: LaneId, messages: readonly MessageRow[], { memoryIds, wishedIn }: Erased): Script<Cut> {
  const ids = messages.map(({ id }) => id);
  const [evidence, wishes] = yield* together(evidenceOf(lane, ids), all<WishRow>(SELECT_WISHES, { ids }));
  const cameOf = evidenceByMessage(evidence);
  const wished = Map.groupBy(wishes, (wish) => wish.message_id);
  const cut = new Map<string, Content>();
  for (const { id, number, content, unhidden } of messages) {
    const own = wished.get(id) ?? [];
    const hiding = own.filter(({ hides }) => hides === 1);
    const isErased = (memoryId: string | null) => (memoryId === null ? wishedIn.has(id) : memoryIds.has(memoryId));
    const kept = cutOf(
      {
        content: JSON.parse(content) as Content,
        unhidden: unhidden === null ? null : (JSON.parse(unhidden) as Content),
      },
      {
        evidence: cameOf([id]),
        wishes: hiding.map(({ quote, memory_id: memoryId }) => ({ quote, memoryId })),
        isErased,
      },
    );
    yield* eraseWishes(own, isErased);
    if (kept === null) continue;
    cut.set(id, kept.unhidden ?? kept.content);
    yield* run(SHOW, {
      number,
      content: JSON.stringify(kept.content),
      unhidden: kept.unhidden === null ? null : JSON.stringify(kept.unhidden),
    });
  }
  return cut;
}

function* eraseWishes(wishes: readonly WishRow[], isErased: (memoryId: string | null) => boolean): Script<void> {
  const quotes = wishes.filter((wish) => isErased(wish.memory_id)).map(({ quote }) => quote);
  const left = new Set(withoutWords(wishes, quotes));
  for (const wish of wishes.filter((one) => !left.has(one)))
    yield* run('DELETE FROM wishes WHERE consolidation_id = @id AND number = @number', {
      id: wish.consolidation_id,
      number: wish.number,
    });
}

interface Standing {
  readonly consolidationIds: readonly string[];
  readonly cut: Cut;
  readonly erased: Erased;
}

/** Statements that fall with these memories alone, the entities that only those name, and quotes of hidden words. */
function* eraseStatements(folding: Folding, { consolidationIds, cut, erased }: Standing): Script<void> {
  const { lane } = folding;
  const rows = yield* all<StandingRow>(SELECT_STATEMENTS, { lane, ids: consolidationIds });
  if (rows.length === 0) return;
  const statements = rows.map((row) => ({ row, statement: statementFrom(row) }));
  const messageIds = [...new Set(statements.flatMap(({ statement }) => statement.messageIds))];
  const [evidence, nameOf] = yield* together(
    evidenceOf(folding.lane, messageIds),
    namesOf(
      lane,
      statements.map(({ statement }) => statement),
    ),
  );
  const cameOf = evidenceByMessage(
    evidence.map((one) => ({ ...one, forgotten: one.forgotten && erased.memoryIds.has(one.memoryId) })),
  );
  const goes = ({ row, statement }: { row: StandingRow; statement: Statement }): boolean =>
    row.state === 'undone'
      ? erased.consolidationIds.has(statement.consolidationId ?? '')
      : row.fallen === 1 && hasFallen(statement, cameOf(statement.messageIds), nameOf);
  const gone = statements.filter(goes);
  for (const { row, statement } of statements.filter((one) => !goes(one) && one.row.quote_said !== null)) {
    const said = JSON.parse(row.quote_said ?? '') as string;
    const left = statement.messageIds.flatMap((id) => {
      const content = cut.get(id);
      return content === undefined ? [] : [{ content, hidden: true }];
    });
    if (quoteShown(said, left) !== null) continue;
    const { id, fallen, counts } = row;
    yield* run(STAND, {
      id,
      fallen,
      counts,
      statement: JSON.stringify({ ...statement, quote: null }),
      quoteSaid: null,
    });
  }
  yield* eraseFallen(
    folding,
    gone.map(({ statement }) => statement),
  );
}

/** They count no longer, and neither does what follows from them alone. */
function* eraseFallen(folding: Folding, gone: readonly Statement[]): Script<void> {
  if (gone.length === 0) return;
  const { lane } = folding;
  const ids = gone.map(({ id }) => id);
  yield* run('DELETE FROM graph_statements WHERE lane = @lane AND id IN :ids', { lane, ids });
  yield* refold(folding, { statements: gone, entities: [] });
  const ends = [...new Set(gone.flatMap(endsOf))];
  const entities = yield* idsOf(SELECT_UNNAMED, { lane, ends });
  yield* together(run(TAKE_FOLLOWING, { lane, ids }), run(TAKE_RELATIONS, { lane, entities }));
  yield* together(
    run('DELETE FROM graph_proposals WHERE lane = @lane AND (source IN :entities OR destination IN :entities)', {
      lane,
      entities,
    }),
    run('DELETE FROM graph_names WHERE entity IN :entities', { entities }),
  );
  yield* run('DELETE FROM graph_entities WHERE lane = @lane AND id IN :entities', { lane, entities });
}

const SELECT_UNNAMED = `
  SELECT e.id FROM graph_entities e
  WHERE e.lane = @lane AND e.id IN :ends AND e.counts = 0 AND e.self = 0
    AND NOT EXISTS (SELECT 1 FROM graph_statements s WHERE s.lane = @lane AND s.source = e.id)
    AND NOT EXISTS (SELECT 1 FROM graph_statements s WHERE s.lane = @lane AND s.destination = e.id)
    AND NOT EXISTS (SELECT 1 FROM graph_entities m WHERE m.lane = @lane AND m.merged_into = e.id)`;

const TAKE_FOLLOWING = 'DELETE FROM graph_relations WHERE id IN :ids AND +lane = @lane AND counts = 0';

const TAKE_RELATIONS = `
  DELETE FROM graph_relations
  WHERE lane = @lane AND counts = 0 AND (source IN :entities OR destination IN :entities)`;

const ENDED = "c.state IN ('applied', 'split', 'parked', 'undone')";

/** What was thought of their messages, of them, and of others beside them. */
const SELECT_THOUGHT = `
  SELECT c.id FROM consolidations c WHERE c.id IN :own AND c.lane + 0 = ${LANE_NUMBER} AND ${ENDED}
  UNION SELECT c.id FROM reviews r JOIN consolidations c ON c.id = r.consolidation_id
    WHERE r.memory_id IN :memoryIds AND ${ENDED}
  UNION SELECT c.id FROM consolidations c WHERE c.lane = ${LANE_NUMBER} AND ${ENDED}
    AND EXISTS (SELECT 1 FROM jsonb_array_elements_text(c.batch_ids) AS b WHERE b.value IN :batchIds)
  UNION SELECT c.id FROM consolidations c WHERE c.lane = ${LANE_NUMBER} AND ${ENDED}
    AND EXISTS (SELECT 1 FROM :rows AS goes WHERE position(decode(goes.value ->> 'mark', 'hex') IN c.thought) > 0)
  UNION SELECT c.id FROM consolidations c JOIN plans p ON p.consolidation_id = c.id WHERE c.lane = ${LANE_NUMBER} AND ${ENDED}
    AND EXISTS (SELECT 1 FROM :rows AS goes WHERE position(goes.value ->> 'id' IN p.shown::text) > 0)`;

const SELECT_UNPROJECTED = `
  SELECT lane AS id FROM outbox WHERE lane IN :lanes
  UNION SELECT lane FROM graph_entities WHERE lane IN :lanes AND unprojected_at IS NOT NULL
  UNION SELECT lane FROM graph_relations WHERE lane IN :lanes AND unprojected_at IS NOT NULL
  UNION SELECT ${laneIdOf('lane')} FROM batches WHERE ${inLanes('lane')} AND projected_revision < speech_revision`;
