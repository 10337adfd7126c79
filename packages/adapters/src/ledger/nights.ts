import type {
  HeldOperation,
  LaneId,
  Millis,
  Night,
  NightChanges,
  NightEnd,
  NightEnded,
  NightRecord,
  NightState,
  NightStore,
  NightWaits,
  Scope,
  TenantId,
} from '@slowwave/engine';
import { keptBackUntil, nightNotice } from '@slowwave/engine/storing';
import { packed } from '../packed.ts';
import { conflicts, openScopes, writeChanges } from './changes.ts';
import { holding } from './held.ts';
import type { LaneRow } from './lane-life.ts';
import { isStanding, LANE_NUMBER, type Listing, laneOfUser, newestFirst } from './page.ts';
import { openHeld } from './reviews.ts';
import { type OwnerColumns, ownerFrom, type ScopeColumns, scopeFrom } from './rows/columns.ts';
import {
  allAs,
  counted,
  first,
  firstAs,
  inOne,
  lookup,
  read,
  run,
  type Script,
  storeOf,
  together,
  write,
} from './script.ts';
import { keepingPlan, newestPlan } from './thoughts.ts';
import { lockLane, requireLane } from './turn.ts';
import { activeWebhooks, noteDeliveries } from './webhooks.ts';

const sleeping = holding(
  'sleeps',
  `SELECT 1 AS found FROM sleeps s JOIN nights n ON n.consolidation_id = s.held AND n.state = 'thinking'
  JOIN lanes l ON l.id = s.lane AND l.erasure IS NULL
  WHERE s.lane = @lane AND s.held = @consolidationId AND s.epoch = @epoch`,
);

export const nightStore = storeOf<NightStore>('nights', {
  due: read((tenant, { quietSince, now, limit }) =>
    allAs(({ id }: { id: LaneId }) => id, SELECT_DUE, { tenant, quietSince, now, limit }),
  ),
  claim: write(function* (id, { id: fresh, now, holdMs }) {
    const lane = yield* lockLane(id);
    if (lane === null || lane.erasure !== null || lane.state !== 'idle') return { kind: 'none' };
    const [sleep, open] = yield* together(
      first<SleepRow>('SELECT * FROM sleeps WHERE lane = @id', { id }),
      first<OpenRow>(SELECT_OPEN, { id }),
    );
    if (open?.state === 'waiting') return { kind: 'none' };
    const keptBack = keptBackUntil(lane.leaving_until, now);
    if (keptBack > now) return { kind: 'later', at: keptBack };
    if (sleep !== null && sleep.held !== null && sleep.held_until > now) return { kind: 'later', at: sleep.held_until };
    if (sleep !== null && sleep.not_before > now) return { kind: 'later', at: sleep.not_before };
    const consolidationId = open?.consolidation_id ?? fresh;
    if (open === null) yield* begin(lane, { id: fresh, now });
    const epoch = yield* sleeping.hold(id, { held: consolidationId, until: now + holdMs }, sleep);
    const night: Night = {
      ...{ tenant: lane.tenant, lane: id, owner: ownerFrom(lane), scope: scopeOf(lane), consolidationId, epoch },
      ...{ attempts: open?.attempts ?? 0, claimedAt: now, seen: JSON.parse(sleep?.seen ?? '[]') },
      plan: open === null ? null : yield* newestPlan(consolidationId),
    };
    return { kind: 'claimed', night };
  }),
  holds: lookup(sleeping.holds),
  storeAnswer: write(sleeping.storeAnswer),
  storePlan: write(function* (night, plan) {
    if (!(yield* sleeping.keeps(night))) return { kind: 'fenced' };
    const { consolidationId: id } = night;
    yield* inOne(
      keepingPlan(id, plan, packed),
      run("UPDATE consolidations SET state = 'planned' WHERE id = @id", { id }),
    );
    return { kind: 'stored' };
  }),
  end: write(end),
  fail: write(function* (night, { failure, retryAt }) {
    if (!(yield* sleeping.keeps(night))) return { kind: 'fenced' };
    const { consolidationId: id, lane, claimedAt: now } = night;
    yield* run(FAIL, { id, failure: JSON.stringify(failure) });
    if (retryAt === null) {
      yield* run("UPDATE consolidations SET state = 'parked' WHERE id = @id", { id });
      yield* run("UPDATE nights SET state = 'failed', ended_at = @at WHERE consolidation_id = @id", {
        id,
        at: failure.at,
      });
      yield* run('UPDATE sleeps SET looked_at = @now, next_at = NULL WHERE lane = @lane', { lane, now });
    }
    yield* run(FREE, { lane, notBefore: retryAt ?? failure.at });
    return { kind: 'noted' };
  }),
  release: write(function* (night, notBefore) {
    if (yield* sleeping.keeps(night)) yield* run(FREE, { lane: night.lane, notBefore });
  }),
  decide: write(function* (tenant, id, decision) {
    const found = yield* first<{ lane: LaneId }>(
      'SELECT lane FROM nights WHERE tenant = @tenant AND consolidation_id = @id',
      { tenant, id },
    );
    const lane = found === null ? null : yield* lockLane(found.lane);
    const night = yield* firstAs(recordFrom, `${SELECT_NIGHTS} WHERE n.consolidation_id = @id`, { id });
    if (lane === null || lane.erasure !== null || night?.state !== 'waiting') return { kind: 'over' };
    const { now, state } = decision;
    if (decision.state === 'applied') {
      const isDone = yield* carryOut({ ...night, consolidationId: id }, { row: lane, changed: decision, now });
      return { kind: isDone ? 'ended' : 'conflict' };
    }
    yield* run("UPDATE consolidations SET state = 'undone' WHERE id = @id", { id });
    yield* run('UPDATE nights SET state = @state, ended_at = @now WHERE consolidation_id = @id', { id, state, now });
    // What was decided on something else is to be thought of anew.
    if (state === 'stale') yield* run(LOOK_AGAIN, { lane: lane.id });
    return { kind: 'ended' };
  }),
  get: read((tenant, id) =>
    firstAs(recordFrom, `${SELECT_NIGHTS} WHERE n.tenant = @tenant AND n.consolidation_id = @id AND ${STANDING}`, {
      tenant,
      id,
    }),
  ),
  list: read((tenant, filter, page) => newestFirst(NIGHTS, page, { tenant, ...filter })),
  spent: read((tenant, since) => counted(SUM_SPENT, { tenant, since, begun: since - LONGEST_MS })),
  used: read(function* ({ lane, consolidationId }, since) {
    const used = yield* first<{ all_of_them: number; nights: number }>(SUM_USED, { lane, consolidationId, since });
    const { all_of_them: all, nights } = used ?? { all_of_them: 0, nights: 0 };
    return { consolidations: all - nights, nights };
  }),
});

function* begin(lane: LaneRow, { id, now }: { readonly id: string; readonly now: Millis }): Script<void> {
  const scope = scopeOf(lane);
  const of = { lane: lane.id, scope };
  const numberOf = yield* openScopes([of]);
  yield* run(INSERT_CONSOLIDATION, { id, tenant: lane.tenant, lane: lane.id, scope: numberOf(of), now });
  yield* run(INSERT_NIGHT, { id, tenant: lane.tenant, lane: lane.id, now });
}

/** Of the owner alone: nights know no agents, runs and apps beside it. */
function scopeOf(lane: OwnerColumns): Scope {
  const { kind, id } = ownerFrom(lane);
  const none = { userId: null, agentId: null, runId: null, appId: null };
  return { ...none, [`${kind}Id`]: id };
}

function* end(night: Night, { seen, nextAt, now, outcome }: NightEnd): Script<NightEnded> {
  const row = yield* lockLane(night.lane);
  if (row === null || !(yield* sleeping.holds(night))) return { kind: 'fenced' };
  const { consolidationId: id, lane } = night;
  if (outcome.kind === 'applies') {
    if (!(yield* carryOut(night, { row, changed: outcome, now }))) return { kind: 'conflict' };
  } else if (outcome.kind === 'waits') {
    const { why, memories, acts } = outcome;
    yield* run(WAITS, { id, why, memories, operations: acts.length });
    yield* notify(night, { why, memories, acts, at: now });
  } else yield* rest(id, { refused: outcome.refused, now });
  yield* run(LOOKED, { lane, at: night.claimedAt, nextAt, seen: JSON.stringify(seen) });
  yield* run(FREE, { lane, notBefore: 0 });
  return { kind: 'ended' };
}

interface Rested {
  readonly refused: number;
  readonly now: Millis;
}

/** One that asked nobody, found nothing and refused nothing was none. */
function* rest(id: string, { refused, now }: Rested): Script<void> {
  const asked = yield* first('SELECT 1 AS found FROM answers WHERE consolidation_id = @id LIMIT 1', { id });
  if (asked !== null || refused > 0) {
    yield* run("UPDATE consolidations SET state = 'applied', applied_at = @now WHERE id = @id", { id, now });
    yield* run("UPDATE nights SET state = 'applied', ended_at = @now WHERE consolidation_id = @id", { id, now });
    return;
  }
  for (const table of ['plans', 'nights']) yield* run(`DELETE FROM ${table} WHERE consolidation_id = @id`, { id });
  yield* run('DELETE FROM consolidations WHERE id = @id', { id });
}

interface CarryingOut {
  readonly row: LaneRow;
  readonly changed: NightChanges;
  readonly now: Millis;
}

/** Whether it was: not where a memory was changed by somebody else. The owner's activity is not that of a night. */
function* carryOut(
  night: Pick<Night, 'tenant' | 'lane' | 'consolidationId' | 'scope'>,
  { row, changed, now }: CarryingOut,
): Script<boolean> {
  const { tenant, lane, consolidationId: id } = night;
  const { changes, reviews, acts } = changed;
  requireLane({ lane, id }, changes);
  if ((yield* conflicts(tenant, changes, [row])).length > 0) return false;
  const beside = [
    run("UPDATE consolidations SET state = 'applied', applied_at = @now, failure = NULL WHERE id = @id", { id, now }),
    run(APPLIED, { id, operations: acts.length, memories: changes.length, now }),
  ];
  yield* writeChanges(changed, { tenant, consolidationId: id, now, beside });
  if (reviews.length > 0)
    yield* openHeld(night, { operations: reviews as readonly HeldOperation[], consolidationId: id, now });
  yield* notify(night, { why: null, memories: changes.length, acts, at: now });
  return true;
}

function* notify(
  night: Pick<Night, 'tenant' | 'lane' | 'consolidationId' | 'scope'>,
  news: Parameters<typeof nightNotice>[1],
): Script<void> {
  yield* noteDeliveries(yield* activeWebhooks(night.tenant), [nightNotice(night, news)]);
}

interface SleepRow {
  readonly epoch: number;
  readonly held: string | null;
  readonly held_until: number;
  readonly not_before: number;
  readonly seen: string;
}

interface OpenRow {
  readonly consolidation_id: string;
  readonly state: 'thinking' | 'waiting';
  readonly attempts: number;
}

interface NightRow extends OwnerColumns, ScopeColumns {
  readonly consolidation_id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly state: NightState;
  readonly why: NightWaits | null;
  readonly operations: number;
  readonly memories: number;
  readonly created_at: number;
  readonly ended_at: number | null;
  readonly consolidation_state: string;
  readonly failure: string | null;
}

const recordFrom = (row: NightRow): NightRecord => ({
  id: row.consolidation_id,
  tenant: row.tenant,
  lane: row.lane,
  owner: ownerFrom(row),
  scope: scopeFrom(row),
  state: row.state,
  undone: row.state === 'applied' && row.consolidation_state === 'undone',
  why: row.why,
  operations: row.operations,
  memories: row.memories,
  failure: row.failure === null ? null : JSON.parse(row.failure),
  createdAt: row.created_at,
  endedAt: row.ended_at,
});

const SELECT_NIGHTS = `
  SELECT n.*, c.state AS consolidation_state, c.failure, l.owner_kind, l.owner_id, s.user_id, s.agent_id, s.run_id, s.app_id
  FROM nights n JOIN consolidations c ON c.id = n.consolidation_id JOIN scopes s ON s.id = c.scope
  JOIN lanes l ON l.id = n.lane`;

const STANDING = isStanding('n.lane');

const NIGHTS: Listing<NightRow, NightRecord> = {
  select: SELECT_NIGHTS,
  by: ['n.created_at', 'n.consolidation_id'],
  always: [STANDING],
  asked: { tenant: 'n.tenant = @tenant', state: 'n.state = @state', userId: laneOfUser('n.lane') },
  make: recordFrom,
};

const SELECT_DUE = `
  SELECT l.id FROM lanes l LEFT JOIN sleeps s ON s.lane = l.id
  WHERE l.tenant = @tenant AND l.updated_at <= @quietSince AND l.state = 'idle' AND l.erasure IS NULL
    AND (s.lane IS NULL OR l.updated_at > s.looked_at OR s.next_at <= @now)
    AND coalesce(s.held_until, 0) <= @now AND coalesce(s.not_before, 0) <= @now
    AND NOT EXISTS (
      SELECT 1 FROM nights n WHERE n.lane = l.id AND n.state IN ('thinking', 'waiting') AND n.state = 'waiting')
  ORDER BY l.updated_at, l.id LIMIT @limit`;

const SELECT_OPEN = `
  SELECT n.consolidation_id, n.state, c.attempts FROM nights n JOIN consolidations c ON c.id = n.consolidation_id
  WHERE n.lane = @id AND n.state IN ('thinking', 'waiting') LIMIT 1`;

const FREE = 'UPDATE sleeps SET held = NULL, held_until = 0, not_before = @notBefore WHERE lane = @lane';

const LOOKED = 'UPDATE sleeps SET looked_at = @at, next_at = @nextAt, seen = @seen::jsonb WHERE lane = @lane';

const LOOK_AGAIN = "UPDATE sleeps SET looked_at = 0, seen = '[]' WHERE lane = @lane";

const INSERT_CONSOLIDATION = `
  INSERT INTO consolidations (id, tenant, lane, scope, state, batch_ids, attempts, created_at)
  VALUES (@id, @tenant, ${LANE_NUMBER}, @scope, 'thinking', '[]', 0, @now)`;

const INSERT_NIGHT = `
  INSERT INTO nights (consolidation_id, tenant, lane, state, created_at) VALUES (@id, @tenant, @lane, 'thinking', @now)`;

const FAIL = 'UPDATE consolidations SET attempts = attempts + 1, failure = @failure::jsonb WHERE id = @id';

const WAITS = `
  UPDATE nights SET state = 'waiting', why = @why, memories = @memories, operations = @operations
  WHERE consolidation_id = @id`;

const APPLIED = `
  UPDATE nights SET state = 'applied', operations = @operations, memories = @memories, ended_at = @now
  WHERE consolidation_id = @id`;

/** A night is begun and over within hours. */
const LONGEST_MS = 86_400_000;

/** Nights are not folded: what they take is summed here, and below. */
const SUM_USED = `
  SELECT coalesce(sum(tokens), 0)::bigint AS all_of_them, coalesce(sum(tokens * is_night), 0)::bigint AS nights FROM (
    SELECT u.prompt_tokens + u.completion_tokens AS tokens, CASE WHEN n.consolidation_id IS NULL THEN 0 ELSE 1 END AS is_night
    FROM usage u LEFT JOIN nights n ON n.consolidation_id = u.consolidation_id
    WHERE u.lane = @lane AND u.at >= @since AND u.consolidation_id <> '' AND u.consolidation_id <> @consolidationId
      AND u.step <> 'embed'
    UNION ALL
    SELECT h.prompt_tokens + h.completion_tokens, 0 FROM usage_by_hour h
    WHERE h.lane = @lane AND h.at >= @since AND h.step <> 'embed') AS used`;

const SUM_SPENT = `
  SELECT coalesce(sum(a.prompt_tokens + a.completion_tokens), 0)::bigint AS count
  FROM nights n JOIN answers a ON a.consolidation_id = n.consolidation_id
  WHERE n.tenant = @tenant AND n.created_at >= @begun AND a.at >= @since`;
