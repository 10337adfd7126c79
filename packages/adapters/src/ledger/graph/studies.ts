import type {
  Failure,
  GraphPlan,
  LaneId,
  MergeProposal,
  Millis,
  Stored,
  StoredAnswer,
  Study,
  StudyClaim,
  StudyState,
  StudyView,
  TenantId,
} from '@slowwave/engine';
import { ofNoSpace } from '@slowwave/engine/storing';
import { asLookup, asRead, asWrite } from '../access.ts';
import { type OwnerColumns, ownerFrom, type ScopeColumns, scopeFrom } from '../rows/scope.ts';
import { all, first, inOne, insert, run, type Script, type Table, together } from '../script.ts';
import { keeping } from '../thoughts.ts';
import { lockLane } from '../turn.ts';
import { changeGraph } from './changes.ts';

/** The study that an applied consolidation asks for. */
export function* openStudy(of: { tenant: TenantId; lane: LaneId; id: string; now: Millis }): Script<void> {
  yield* run(INSERT_STUDY, of);
}

interface Claim {
  readonly lane: LaneId;
  readonly now: Millis;
  readonly holdMs: number;
}

/** Whatever changes a study holds the lock of its lane. */
export const claimStudy = asWrite('graph.claim', function* ({ lane, now, holdMs }: Claim): Script<StudyClaim> {
  yield* lockLane(lane);
  const next = yield* first<NextRow>(SELECT_NEXT, { lane });
  if (next === null) return { kind: 'none' };
  const turn = yield* first<TurnRow>('SELECT * FROM graph_turns WHERE lane = @lane', { lane });
  if (turn !== null && turn.held !== null && turn.held_until > now) return { kind: 'later', at: turn.held_until };
  if (next.not_before > now) return { kind: 'later', at: next.not_before };
  const { tenant, consolidation_id: consolidationId, attempts } = next;
  const epoch = (turn?.epoch ?? 0) + 1;
  yield* run(HOLD, { lane, epoch, held: consolidationId, until: now + holdMs });
  const [owner, scope] = [ownerFrom(next), scopeFrom(next)];
  return { kind: 'claimed', study: { tenant, lane, owner, scope, consolidationId, epoch, attempts } };
});

export const isHeld = asLookup('graph.holds', holdsStudy);

/** Whether a study still has its lane: nobody claimed it since, and its consolidation counts. */
function* holdsStudy({ lane, consolidationId, epoch }: Study): Script<boolean> {
  return (yield* first(SELECT_HELD, { lane, consolidationId, epoch })) !== null;
}

/** The same, and nobody claims it before the transaction ends. */
function* keepsStudy(study: Study): Script<boolean> {
  yield* lockLane(study.lane);
  return yield* holdsStudy(study);
}

interface Answer {
  readonly study: Study;
  readonly answer: StoredAnswer;
}

/** Keeps the answer of a study among those of its consolidation. */
export const storeStudyAnswer = asWrite('graph.storeAnswer', function* ({ study, answer }: Answer): Script<Stored> {
  if (!(yield* keepsStudy(study))) return { kind: 'fenced' };
  yield* inOne(...keeping(study, answer));
  return { kind: 'stored' };
});

interface Apply {
  readonly study: Study;
  readonly plan: GraphPlan;
  readonly now: Millis;
}

export const applyStudy = asWrite('graph.apply', function* (input: Apply): Script<{ kind: 'applied' | 'fenced' }> {
  const { study, plan, now } = input;
  if (!(yield* keepsStudy(study))) return { kind: 'fenced' };
  const { tenant, lane, consolidationId } = study;
  yield* changeGraph({ tenant, lane, now }, plan);
  yield* insert(
    PROPOSALS,
    uniquePairs(plan.proposals).map((one) => ({
      ...{ lane, source: one.source, destination: one.destination, likeness: one.likeness },
      ...{ consolidation_id: consolidationId, recorded_at: now },
    })),
  );
  yield* together(run(END_STUDY, { consolidationId, now, plan: JSON.stringify(plan) }), run(FREE, { lane }));
  return { kind: 'applied' };
});

interface Fail {
  readonly study: Study;
  readonly failure: Failure;
  readonly retryAt: Millis | null;
}

export const failStudy = asWrite('graph.fail', function* (input: Fail): Script<{ kind: 'noted' | 'fenced' }> {
  const { study, failure, retryAt } = input;
  if (!(yield* keepsStudy(study))) return { kind: 'fenced' };
  const state: StudyState = retryAt === null ? 'parked' : 'pending';
  const { consolidationId, lane } = study;
  const columns = { state, failure: JSON.stringify(failure), retryAt: retryAt ?? failure.at };
  yield* together(run(FAIL_STUDY, { consolidationId, ...columns }), run(FREE, { lane }));
  return { kind: 'noted' };
});

interface Release {
  readonly study: Study;
  readonly notBefore: Millis;
}

export const releaseStudy = asWrite('graph.release', function* ({ study, notBefore }: Release): Script<void> {
  if (!(yield* keepsStudy(study))) return;
  const { consolidationId, lane } = study;
  const putOff = 'UPDATE graph_studies SET not_before = @notBefore WHERE consolidation_id = @consolidationId';
  yield* together(run(putOff, { consolidationId, notBefore }), run(FREE, { lane }));
});

interface Request {
  readonly tenant: TenantId;
  readonly consolidationId: string;
  readonly now: Millis;
}

export const requestStudy = asWrite('graph.request', function* (input: Request): Script<LaneId | null> {
  const { tenant, consolidationId: id, now } = input;
  const asked = yield* first<{ lane: LaneId }>('SELECT lane FROM consolidations WHERE tenant = @tenant AND id = @id', {
    tenant,
    id,
  });
  if (asked === null) return null;
  yield* lockLane(asked.lane);
  const found = yield* first<{ lane: LaneId; state: StudyState | null }>(SELECT_REQUESTED, { tenant, id });
  if (found === null || (found.state !== null && found.state !== 'parked')) return null;
  if (found.state === null) yield* openStudy({ tenant, lane: found.lane, id, now });
  else yield* run(REOPEN_STUDY, { id, now });
  return found.lane;
});

interface Due {
  readonly now: Millis;
  readonly limit: number;
}

/** By their first study, which must be due: the others wait for it. */
export const dueStudies = asRead('graph.due', function* (of: Due): Script<readonly LaneId[]> {
  return (yield* all<{ lane: LaneId }>(SELECT_DUE, { ...of })).map(({ lane }) => lane);
});

interface OneOf {
  readonly tenant: TenantId;
  readonly consolidationId: string;
}

export const viewStudy = asRead(
  'graph.study',
  function* ({ tenant, consolidationId }: OneOf): Script<StudyView | null> {
    const row = yield* first<StudyRow>(SELECT_STUDY, { tenant, id: consolidationId });
    if (row === null) return null;
    const { state, attempts, failure, plan, requested_at: requestedAt, applied_at: appliedAt } = row;
    return { consolidationId, state, attempts, failure: parsed(failure), plan: parsed(plan), requestedAt, appliedAt };
  },
);

type Counts = Record<'pending' | 'parked', number>;

export const countStudies = asRead('graph.counts', function* (_: null): Script<Counts> {
  const [pending, parked] = yield* together(
    first<{ count: number }>(COUNT_WAITING),
    first<{ count: number }>(COUNT_PARKED),
  );
  return { pending: pending?.count ?? 0, parked: parked?.count ?? 0 };
});

const parsed = <T>(json: string | null): T | null => (json === null ? null : JSON.parse(json));

const uniquePairs = (proposals: readonly MergeProposal[]): readonly MergeProposal[] => [
  ...new Map(proposals.map((one) => [JSON.stringify([one.source, one.destination]), one])).values(),
];

interface NextRow extends OwnerColumns, ScopeColumns {
  readonly tenant: TenantId;
  readonly consolidation_id: string;
  readonly attempts: number;
  readonly not_before: number;
}

interface TurnRow {
  readonly epoch: number;
  readonly held: string | null;
  readonly held_until: number;
}

interface StudyRow {
  readonly state: StudyState;
  readonly attempts: number;
  readonly failure: string | null;
  readonly plan: string | null;
  readonly requested_at: number;
  readonly applied_at: number | null;
}

/** Studies that wait to be made: not while their consolidation is undone. */
const waiting = (indexed = ''): string => `
  graph_studies s${indexed} JOIN consolidations c ON c.id = s.consolidation_id AND c.state = 'applied'
  JOIN lanes l ON l.id = s.lane AND l.erasure IS NULL`;

const INSERT_STUDY = `
  INSERT INTO graph_studies (consolidation_id, tenant, lane, state, attempts, not_before, requested_at)
  VALUES (@id, @tenant, @lane, 'pending', 0, @now, @now) ON CONFLICT (consolidation_id) DO NOTHING`;

const SELECT_NEXT = `
  SELECT s.tenant, s.consolidation_id, s.attempts, s.not_before, l.owner_kind, l.owner_id,
    o.user_id, o.agent_id, o.run_id, o.app_id
  FROM ${waiting()} JOIN scopes o ON o.id = c.scope
  WHERE s.lane = @lane AND s.state = 'pending' ORDER BY s.seq LIMIT 1`;

const SELECT_HELD = `
  SELECT 1 AS found FROM ${waiting()} JOIN graph_turns t ON t.lane = s.lane
  WHERE s.consolidation_id = @consolidationId AND s.lane = @lane AND s.state = 'pending'
    AND t.epoch = @epoch AND t.held = s.consolidation_id`;

const HOLD = `
  INSERT INTO graph_turns (lane, epoch, held, held_until) VALUES (@lane, @epoch, @held, @until)
  ON CONFLICT (lane) DO UPDATE SET epoch = excluded.epoch, held = excluded.held, held_until = excluded.held_until`;

const FREE = 'UPDATE graph_turns SET held = NULL, held_until = 0 WHERE lane = @lane';

const END_STUDY = `
  UPDATE graph_studies SET state = 'applied', plan = @plan, failure = NULL, applied_at = @now
  WHERE consolidation_id = @consolidationId`;

const FAIL_STUDY = `
  UPDATE graph_studies SET state = @state, attempts = attempts + 1, failure = @failure, not_before = @retryAt
  WHERE consolidation_id = @consolidationId`;

const SELECT_REQUESTED = `
  SELECT c.lane, s.state FROM consolidations c JOIN lanes l ON l.id = c.lane AND l.erasure IS NULL
  LEFT JOIN graph_studies s ON s.consolidation_id = c.id
  WHERE c.id = @id AND l.tenant = @tenant AND c.state = 'applied'`;

const REOPEN_STUDY = `
  UPDATE graph_studies SET state = 'pending', attempts = 0, not_before = @now WHERE consolidation_id = @id`;

const SELECT_DUE = `
  SELECT s.lane FROM ${waiting(' INDEXED BY graph_studies_next')} LEFT JOIN graph_turns t ON t.lane = s.lane
  WHERE s.state = 'pending' AND s.not_before <= @now AND coalesce(t.held_until, 0) <= @now
    AND NOT EXISTS (
      SELECT 1 FROM graph_studies e JOIN consolidations d ON d.id = e.consolidation_id AND d.state = 'applied'
      WHERE e.lane = s.lane AND e.state = 'pending' AND e.seq < s.seq)
  ORDER BY s.seq LIMIT @limit`;

const SELECT_STUDY = 'SELECT * FROM graph_studies WHERE tenant = @tenant AND consolidation_id = @id';

const COUNT_WAITING = `SELECT count(*) AS count FROM ${waiting()} WHERE s.state = 'pending' AND ${ofNoSpace('s.tenant')}`;
const COUNT_PARKED = `
  SELECT count(*) AS count FROM graph_studies WHERE state = 'parked' AND ${ofNoSpace('tenant')}`;

const PROPOSALS: Table<'lane' | 'source' | 'destination' | 'likeness' | 'consolidation_id' | 'recorded_at'> = {
  name: 'graph_proposals',
  columns: {
    lane: 'text',
    source: 'text',
    destination: 'text',
    likeness: 'real',
    consolidation_id: 'text',
    recorded_at: 'bigint',
  },
  onConflict: '',
};
