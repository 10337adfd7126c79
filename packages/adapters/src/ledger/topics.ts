import type { Millis, TenantId, TopicStore } from '@slowwave/engine';
import { TOPIC_OWNERS } from '@slowwave/engine/storing';
import { openHeld } from './reviews.ts';
import { all, first, insert, read, run, type Script, storeOf, write } from './script.ts';
import { lockLane } from './turn.ts';

export const topicStore = storeOf<TopicStore>('topics', {
  /** With the lock of the lane: nothing is counted of who is being erased. */
  put: write(function* ({ tenant, lane, ownerHash }, topics, now) {
    const row = yield* lockLane(lane);
    if (row === null || row.erasure !== null) return;
    yield* run('DELETE FROM topics WHERE tenant = @tenant AND owner_hash = @ownerHash', { tenant, ownerHash });
    const rows = topics.map(({ agentId, topic }) => ({ tenant, agent_id: agentId, topic, owner_hash: ownerHash }));
    yield* insert('topics', rows, 'ON CONFLICT DO NOTHING');
    yield* withdraw(tenant, now);
  }),
  of: read((tenant, agentId) => all(SELECT_TOPICS, { tenant, agentId })),
  propose: write(function* ({ tenant, lane, scope }, operation, now) {
    const row = yield* lockLane(lane);
    const { topic } = operation;
    if (row === null || row.erasure !== null || topic === undefined) return false;
    const decided = yield* first(SELECT_DECIDED, { tenant, lane, topic });
    const owners = yield* first<{ owners: number }>(COUNT_OWNERS, { tenant, agentId: scope.agentId, topic });
    if (decided !== null || (owners?.owners ?? 0) < TOPIC_OWNERS) return false;
    yield* openHeld({ tenant, lane, scope }, { operations: [operation], consolidationId: null, now });
    return true;
  }),
});

/** What was counted of an owner goes, and of an agent all that was counted of its users. */
export function* forgetTopics(
  {
    tenant,
    ownerHash,
    agentId,
  }: { readonly tenant: TenantId; readonly ownerHash: string; readonly agentId: string | null },
  now: Millis,
): Script<void> {
  yield* run('DELETE FROM topics WHERE tenant = @tenant AND owner_hash = @ownerHash', { tenant, ownerHash });
  if (agentId !== null)
    yield* run('DELETE FROM topics WHERE tenant = @tenant AND agent_id = @agentId', { tenant, agentId });
  yield* withdraw(tenant, now);
}

/** Proposals that too few owners are left for are not to be decided any more. */
const withdraw = (tenant: TenantId, now: Millis): Script<unknown> =>
  run(WITHDRAW, {
    tenant,
    now,
    note: `fewer than ${TOPIC_OWNERS} users are left for whom this is known`,
    least: TOPIC_OWNERS,
  });

const WITHDRAW = `
  UPDATE reviews SET state = 'stale', note = @note, settled_at = @now
  WHERE tenant = @tenant AND topic IS NOT NULL AND state = 'pending' AND (
    SELECT count(*) FROM topics t JOIN lanes l ON l.id = reviews.lane
    WHERE t.tenant = reviews.tenant AND t.agent_id = l.owner_id AND t.topic = reviews.topic) < @least`;

const SELECT_TOPICS = `
  SELECT topic, count(*)::bigint AS owners,
    (SELECT count(DISTINCT owner_hash) FROM topics WHERE tenant = @tenant AND agent_id = @agentId)::bigint AS "ownersInAll"
  FROM topics WHERE tenant = @tenant AND agent_id = @agentId GROUP BY topic ORDER BY topic`;

const SELECT_DECIDED = `
  SELECT 1 AS found FROM reviews WHERE tenant = @tenant AND lane = @lane AND topic IS NOT NULL AND topic = @topic AND state <> 'stale' LIMIT 1`;

const COUNT_OWNERS = `
  SELECT count(*)::bigint AS owners FROM topics WHERE tenant = @tenant AND agent_id = @agentId AND topic = @topic`;
