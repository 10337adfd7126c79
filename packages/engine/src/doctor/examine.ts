import type { PointPage } from '../ports/search-index.ts';
import type { Cancellation } from '../ports/tools.ts';
import { markerOf, sameMarker } from '../projection/project.ts';
import type { LaneId, Millis, TenantId } from '../words.ts';
import {
  checkBatches,
  checkGate,
  checkLanes,
  checkMemories,
  checkOrphans,
  checkOutbox,
  checkParked,
  checkPlans,
  checkSegments,
} from './checks.ts';
import {
  CHECKS,
  type Checked,
  type CheckName,
  type Depth,
  type DoctorDeps,
  EXAMPLES_MAX,
  type Examining,
  expectedOf,
  type Finding,
  graphPointsOf,
  nameOf,
} from './findings.ts';

export interface Examination {
  readonly at: Millis;
  readonly depth: Depth;
  /** No promise is broken; there may be warnings. */
  readonly healthy: boolean;
  readonly checks: readonly { readonly check: CheckName; readonly looked: number; readonly findings: number }[];
  readonly findings: readonly Finding[];
}

export interface HowToExamine {
  readonly depth: Depth;
  readonly cancel: Cancellation;
  /** Only these; all of the depth, unless said. */
  readonly only?: readonly CheckName[];
  readonly onProgress?: (check: CheckName, done: number, total: number) => void;
}

const LOOK: Readonly<Record<CheckName, (examining: Examining) => Promise<Checked>>> = {
  batches: checkBatches,
  lanes: checkLanes,
  parked: checkParked,
  outbox: checkOutbox,
  orphans: checkOrphans,
  memories: checkMemories,
  plans: checkPlans,
  index: checkIndex,
  segments: checkSegments,
  gate: checkGate,
};

/** Of these the figures are at hand. */
const QUICK: readonly CheckName[] = ['batches', 'lanes', 'parked', 'outbox', 'index', 'gate'];

/**
 * Checks what must hold between batches, lanes, memories, plans and the index, while others go on working. Changes
 * nothing; each finding says what to do.
 */
export async function examine(deps: DoctorDeps, how: HowToExamine): Promise<Examination> {
  const { depth, cancel, onProgress } = how;
  const at = deps.tools.now();
  const checks: Examination['checks'][number][] = [];
  const findings: Finding[] = [];
  for (const check of how.only ?? (depth === 'quick' ? QUICK : CHECKS)) {
    const progress = (done: number, total: number): void => onProgress?.(check, done, total);
    const checked = await LOOK[check]({ deps, depth, cancel, onProgress: progress });
    checks.push({ check, looked: checked.looked, findings: checked.findings.length });
    findings.push(...checked.findings);
  }
  return { at, depth, healthy: findings.every(({ severity }) => severity !== 'error'), checks, findings };
}

const SAMPLE = 1_000;
const POINTS_PER_PAGE = 200;
const REBUILD = 'slowwave rebuild index';

/** The index is this ledger's, has as many points as the ledger has versions, and each says what the ledger says. */
async function checkIndex(examining: Examining): Promise<Checked> {
  const { deps, depth } = examining;
  const marker = await deps.index.marker();
  if (!sameMarker(marker, markerOf(deps))) return { looked: 0, findings: [foreign(marker !== null)] };
  const counted = await miscounted(deps);
  if (depth === 'quick') return { looked: 0, findings: counted };
  const graph = await miscountedGraph(deps);
  const { looked, findings } = await comparePoints(examining);
  return { looked, findings: [...counted, ...graph, ...findings] };
}

const error = (what: string, examples: readonly string[], count: number): Finding => ({
  check: 'index',
  severity: 'error',
  what,
  count,
  examples: examples.slice(0, EXAMPLES_MAX),
  remedy: REBUILD,
});

function foreign(made: boolean): Finding {
  const what = made
    ? 'the index was built from another ledger, or with another embedding model'
    : 'the index is new, or is being built';
  const remedy = `start a worker (or the standalone server), which fills it; or: ${REBUILD}`;
  return { ...error(what, [], 1), remedy };
}

/** Asked again so often while the ledger changes under the eyes of whoever counts. */
const COUNTS_MAX = 5;

async function miscounted(deps: DoctorDeps): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const tenant of await deps.ledger.audit.tenants()) {
    const counts = await steadyCounts(deps, tenant);
    for (const counted of counts ?? []) findings.push(...differing(tenant, counted));
  }
  return findings;
}

interface Counted {
  readonly points: number;
  readonly expected: number;
  readonly of: string;
}

function differing(tenant: TenantId, { points, expected, of }: Counted): Finding[] {
  if (points === expected) return [];
  const what = `tenant ${tenant}: the index has ${points} points for ${expected} ${of}`;
  return [error(what, [], Math.abs(points - expected))];
}

/** The graph has no figures at hand: all of it is counted, and again where it changed meanwhile. */
async function miscountedGraph(deps: DoctorDeps): Promise<Finding[]> {
  let findings: Finding[] = [];
  for (let tries = 0; tries < COUNTS_MAX; tries += 1) {
    const expected = await graphPointsOf(deps);
    if (expected === null) continue;
    findings = [];
    for (const tenant of await deps.ledger.audit.tenants()) {
      const { entities, relations } = expected.get(tenant) ?? { entities: 0, relations: 0 };
      const counts = {
        entities: await deps.index.count(tenant, 'entities'),
        relations: await deps.index.count(tenant, 'relations'),
      };
      findings.push(...differing(tenant, { points: counts.entities, expected: entities, of: 'entities' }));
      findings.push(...differing(tenant, { points: counts.relations, expected: relations, of: 'relations' }));
    }
    if (findings.length === 0) return [];
  }
  return findings;
}

/** Both counts at a moment when the index knows everything; null where no such moment came. */
async function steadyCounts({ ledger, index }: DoctorDeps, tenant: TenantId) {
  for (let tries = 0; tries < COUNTS_MAX; tries += 1) {
    const { versions, messages } = await pointsOf(ledger, tenant);
    const unprojected = await ledger.overview.outbox();
    const [remembered, spoken] = [await index.count(tenant), await index.count(tenant, 'messages')];
    const after = await pointsOf(ledger, tenant);
    if (unprojected > 0 || after.versions !== versions || after.messages !== messages) continue;
    return [
      { points: remembered, expected: versions, of: 'versions of memories' },
      { points: spoken, expected: messages, of: 'messages' },
    ];
  }
  return null;
}

async function comparePoints({ deps, depth, cancel, onProgress }: Examining): Promise<Checked> {
  const wrong: Wrong = { stale: [], different: [] };
  const total = await pointsExpected(deps);
  const most = depth === 'full' ? Number.POSITIVE_INFINITY : SAMPLE;
  let looked = 0;
  for (let after: string | null = null; ; ) {
    const page: PointPage = await deps.index.page(after, POINTS_PER_PAGE);
    await compare({ deps, after, page }, wrong);
    looked += page.points.length;
    onProgress(looked, Math.max(looked, Math.min(total, most)));
    if (page.next === null || looked >= most || cancel.aborted) break;
    after = page.next;
  }
  const { stale, different } = wrong;
  return {
    looked,
    findings: [
      ...(stale.length === 0
        ? []
        : [
            error(
              `${stale.length} points of memories, versions, messages or relations that do not exist`,
              stale,
              stale.length,
            ),
          ]),
      ...(different.length === 0
        ? []
        : [error(`${different.length} points that differ from the ledger`, different, different.length)]),
    ],
  };
}

async function pointsExpected({ ledger }: DoctorDeps): Promise<number> {
  let expected = 0;
  for (const tenant of await ledger.audit.tenants()) {
    const { versions, messages } = await pointsOf(ledger, tenant);
    expected += versions + messages;
  }
  return expected;
}

/** What the index should have of a tenant, once it knows everything. */
async function pointsOf({ overview, speech }: DoctorDeps['ledger'], tenant: TenantId) {
  return { versions: (await overview.memories(tenant)).versions, messages: await speech.points(tenant) };
}

interface Wrong {
  /** Memory ids and versions. */
  readonly stale: string[];
  readonly different: string[];
}

/** Nobody reads what is being erased; the erasure itself takes it out of the index. Of a lane that is gone nothing may be left. */
async function isBeingErased({ ledger }: DoctorDeps, lane: LaneId): Promise<boolean> {
  return !(await ledger.erasures.standing(lane)) && (await ledger.lanes.get(lane)) !== null;
}

interface Slice {
  readonly deps: DoctorDeps;
  readonly after: string | null;
  readonly page: PointPage;
}

/**
 * Points that look wrong are read once more, after asking which memories are still to be projected: what the
 * ledger said before that, and is not on its way, must be in the index now.
 */
async function compare({ deps, after, page }: Slice, wrong: Wrong): Promise<void> {
  const expected = await expectedOf(deps, page.points);
  if (page.points.every((point) => expected.says(point))) return;
  const onTheirWay = await expected.onTheirWay();
  const again = await deps.index.page(after, POINTS_PER_PAGE);
  const known = new Set(page.points.map(nameOf));
  for (const point of again.points) {
    if (!known.has(nameOf(point)) || onTheirWay.has(nameOf(point)) || expected.says(point)) continue;
    if (expected.isOlderThan(point) || (await isBeingErased(deps, point.lane))) continue;
    (expected.has(point) ? wrong.different : wrong.stale).push(nameOf(point));
  }
}
