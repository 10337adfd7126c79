import type { EngineDeps } from '../deps.ts';
import { spaceIn } from '../ids.ts';
import { blockedHash, deletedAt, evolve, inEffect, saidIds } from '../memories/evolve.ts';
import type { Plan } from '../plan.ts';
import { CLOCK_AHEAD_MS } from '../ports/ledger/lanes.ts';
import { allOf, type Ledger, pages, slicesOf } from '../ports/ledger/ledger.ts';
import type { SaidId } from '../ports/ledger/memories.ts';
import { type BatchCounts, CONTRADICTIONS, ORPHAN_KINDS } from '../ports/ledger/overview.ts';
import type { ColdStore } from '../ports/ledger/owners-away.ts';
import type { SegmentObject, SegmentStore } from '../ports/segments.ts';
import type { Cancellation, Tools } from '../ports/tools.ts';
import { askedModels, setupOf } from '../replays/in-space.ts';
import { isSetupPassed } from '../suites/gate.ts';
import { canonical } from '../text/normalise.ts';
import type { Memory, MemoryEvent, Millis } from '../words.ts';
import { type Checked, EXAMPLES_MAX, type Examining, type Finding, findingOf, REPORT_IT } from './findings.ts';

/** Every accepted batch is in exactly one state, of each tenant and in total. */
export async function checkBatches({ deps: { ledger } }: Examining): Promise<Checked> {
  const findings: Finding[] = [];
  let looked = 0;
  for (const tenant of await ledger.audit.tenants()) {
    const counts = await ledger.overview.batches(tenant);
    looked += counts.accepted;
    const gap = gapOf(counts);
    if (gap === 0) continue;
    const what =
      gap > 0
        ? `tenant ${tenant}: ${gap} of ${counts.accepted} accepted batches are in no state`
        : `tenant ${tenant}: ${-gap} more batches are in some state than were accepted (${counts.accepted})`;
    const finding = { check: 'batches', severity: 'error', examples: [], remedy: REPORT_IT } as const;
    findings.push({ ...finding, what, count: Math.abs(gap) });
  }
  return { looked, findings };
}

const gapOf = ({ accepted, ...states }: BatchCounts): number =>
  accepted - Object.values(states).reduce((sum, count) => sum + count, 0);

/** Long beyond any due time: no worker takes turns, or far too few do. */
const OVERDUE_MS = 15 * 60_000;

/** Lanes agree with their batches, and are worked on. */
export async function checkLanes({ deps: { ledger, tools }, depth }: Examining): Promise<Checked> {
  const overdue = await ledger.audit.overdue(tools.now() - OVERDUE_MS);
  const findings = [
    ...(await clocksApart({ ledger, tools })),
    ...findingOf(overdue, {
      check: 'lanes',
      severity: 'warning',
      what: `${overdue.count} lanes have been due for more than 15 minutes`,
      remedy: 'check that workers run (GET /readyz), and their logs; if the queue was lost, run slowwave rebuild queue',
    }),
  ];
  for (const kind of depth === 'quick' ? [] : CONTRADICTIONS) {
    const found = await ledger.audit.contradictions(kind);
    const what = `${found.count} × ${kind}`;
    findings.push(...findingOf(found, { check: 'lanes', severity: 'error', what, remedy: REPORT_IT }));
  }
  return { looked: 1 + (depth === 'quick' ? 0 : CONTRADICTIONS.length), findings };
}

/** A clock that is behind cannot be distinguished from workers that are away: they note nothing. */
async function clocksApart({ ledger, tools }: Pick<EngineDeps, 'ledger' | 'tools'>): Promise<readonly Finding[]> {
  const shown = await ledger.lanes.clockShown();
  const ahead = shown === null ? 0 : shown - tools.now();
  if (ahead <= CLOCK_AHEAD_MS) return [];
  const what = `a worker's clock was ${Math.ceil(ahead / 1_000)} s ahead of the clock of this process`;
  const remedy =
    'synchronize the clocks of all hosts (NTP); work delayed by a clock that was ahead is rescheduled automatically';
  return findingOf({ count: 1, examples: [] }, { check: 'lanes', severity: 'warning', what, remedy });
}

/** What waits for a person. */
export async function checkParked({ deps: { ledger } }: Examining): Promise<Checked> {
  const parked = await ledger.audit.parked();
  const findings = parked.map(
    ({ tenant, code, batches }): Finding => ({
      check: 'parked',
      severity: 'warning',
      what: `tenant ${tenant}: ${batches} batches are parked with ${code}`,
      count: batches,
      examples: [],
      remedy: `slowwave batches --state parked; once the cause is gone: slowwave replay --error-code ${code}`,
    }),
  );
  return { looked: parked.reduce((sum, { batches }) => sum + batches, 0), findings };
}

const OUTBOX_AGE_MS = 10 * 60_000;

/** Changes are projected within minutes, and all texts with their vectors. */
export async function checkOutbox({ deps }: Examining): Promise<Checked> {
  const looked = await deps.ledger.overview.outbox();
  return {
    looked,
    findings: [...(await unprojectedFor(deps, looked)), ...(await lanesAside(deps)), ...(await refusedTexts(deps))],
  };
}

async function lanesAside({ ledger }: Examining['deps']): Promise<readonly Finding[]> {
  const count = await ledger.outbox.countAside();
  const some = await ledger.outbox.aside(Number.MAX_SAFE_INTEGER, EXAMPLES_MAX);
  const codes = [...new Set(some.map(({ failure }) => failure.code))].join(', ');
  const what = `changes of ${count} owners could not be written to the index (${codes}); each owner is retried separately`;
  const remedy = 'look at what the worker logs for these lanes, and check that the embedding model answers';
  const examples = some.map(({ lane }) => lane);
  return findingOf({ count, examples }, { check: 'outbox', severity: 'warning', what, remedy });
}

async function refusedTexts({ ledger, embedder }: Examining['deps']): Promise<readonly Finding[]> {
  const count = await ledger.thoughts.refusedTexts(embedder.fingerprint);
  const what = `${count} texts are rejected by the embedding model (${embedder.fingerprint}); they are only found by keywords`;
  const remedy = 'nothing is lost; another embedding model may accept them (SLOWWAVE_EMBEDDING_MODEL)';
  return findingOf({ count, examples: [] }, { check: 'outbox', severity: 'warning', what, remedy });
}

async function unprojectedFor(deps: Examining['deps'], count: number): Promise<readonly Finding[]> {
  const since = await oldestUnprojected(deps);
  const age = since === null ? 0 : deps.tools.now() - since;
  if (age <= OUTBOX_AGE_MS) return [];
  const what = `${count} changes are not in the index yet, the oldest for ${Math.floor(age / 60_000)} minutes`;
  const remedy =
    'check that a worker runs and that the index answers (GET /readyz): the changes are written when both do';
  return [{ check: 'outbox', severity: 'warning', what, count, examples: [], remedy }];
}

/** When what has waited longest for the index was changed, also of a lane that is set aside; null: the index knows everything. */
export async function oldestUnprojected({ ledger }: Pick<EngineDeps, 'ledger'>): Promise<Millis | null> {
  const { outbox, memories, speech } = ledger;
  const [aside] = await outbox.aside(Number.MAX_SAFE_INTEGER, 1);
  const entries = [...(await outbox.pending(1)), ...(aside === undefined ? [] : await outbox.ofLane(aside.lane, 1))];
  const [oldest] = entries.sort((a, b) => a.seq - b.seq);
  if (oldest === undefined) return (await speech.unprojected(1))[0]?.changedAt ?? null;
  const [memory] = await memories.many(oldest.tenant, [oldest.memoryId]);
  return memory === undefined ? null : Math.max(memory.updatedAt, memory.lastConfirmedAt ?? 0);
}

/** Nothing refers to what is not there. */
export async function checkOrphans({ deps: { ledger }, onProgress }: Examining): Promise<Checked> {
  const findings: Finding[] = [];
  for (const [i, kind] of ORPHAN_KINDS.entries()) {
    const found = await ledger.audit.orphans(kind);
    const what = `${found.count} × ${kind}`;
    findings.push(...findingOf(found, { check: 'orphans', severity: 'error', what, remedy: REPORT_IT }));
    onProgress(i + 1, ORPHAN_KINDS.length);
  }
  return { looked: ORPHAN_KINDS.length, findings };
}

const SAMPLE = 500;

/** Every memory is what its events make of it, and what was deleted stays deleted. */
export async function checkMemories({ deps, depth, cancel, onProgress }: Examining): Promise<Checked> {
  const total = await deps.ledger.audit.memories();
  const expected = depth === 'full' ? total : Math.min(total, SAMPLE);
  const wrong = new Map<string, string[]>();
  let looked = 0;
  for await (const page of depth === 'full' ? everyMemory(deps.ledger) : sampled(deps.ledger)) {
    for (const memory of page) {
      const problem = await problemOf(memory, deps);
      if (problem !== null) wrong.set(problem, [...(wrong.get(problem) ?? []), memory.id]);
    }
    looked += page.length;
    onProgress(looked, Math.max(expected, looked));
    if (cancel.aborted) break;
  }
  return { looked, findings: [...wrong].map(([problem, ids]) => findingOfMemories(problem, ids)) };
}

const everyMemory = ({ memories }: Ledger): AsyncGenerator<readonly Memory[]> =>
  slicesOf((last, limit) => memories.every(last?.id ?? null, limit));

async function* sampled({ audit, memories }: Ledger): AsyncGenerator<readonly Memory[]> {
  const picked = await audit.sample(SAMPLE);
  for (const [tenant, ids] of Map.groupBy(picked, (one) => one.tenant)) {
    yield await memories.many(
      tenant,
      ids.map(({ id }) => id),
    );
  }
}

/** What is wrong with a memory; null: nothing. One that changes while it is looked at is looked at again. */
async function problemOf(memory: Memory, deps: Examining['deps']): Promise<string | null> {
  const events = await eventsOf(deps.ledger, memory);
  const problem =
    (await versionsProblem(memory, deps.ledger)) ??
    replayProblem(memory, events) ??
    (await tombstoneProblem(memory, events, deps)) ??
    (await idsProblem(memory, deps.ledger));
  if (problem === null) return null;
  const now = await deps.ledger.memories.get(memory.tenant, memory.id);
  if (now === null) return null;
  return now.revision === memory.revision ? problem : problemOf(now, deps);
}

const eventsOf = ({ memories }: Ledger, { tenant, id }: Memory): Promise<MemoryEvent[]> =>
  allOf((page) => memories.history(tenant, id, page));

/** Where the first events are no longer kept, only what is left of them is compared. */
function replayProblem(memory: Memory, events: readonly MemoryEvent[]): string | null {
  const first = events[0]?.revision ?? 1;
  if (events.some(({ revision }, i) => revision !== first + i)) return 'have gaps between their events';
  if (events.length > 0 && events.at(-1)?.revision !== memory.revision)
    return 'have events that do not match their revision';
  if (first !== 1 || events.length === 0) return null;
  const replayed = evolve(memory, null, events);
  return canonical(replayed) === canonical(memory) ? null : 'do not match their events';
}

/** What statements find that ask about versions. */
async function versionsProblem({ tenant, id, versions }: Memory, { memories }: Ledger): Promise<string | null> {
  const stored = await memories.storedVersions(tenant, id);
  const byNumber = [...versions].sort((a, b) => a.number - b.number);
  return canonical(stored) === canonical(byNumber) ? null : 'have versions that do not match their timeline';
}

/** A deletion leaves something behind that keeps what was said before it from coming back. */
async function tombstoneProblem(
  memory: Memory,
  events: readonly MemoryEvent[],
  { ledger, tools }: { readonly ledger: Ledger; readonly tools: Pick<Tools, 'hash'> },
): Promise<string | null> {
  if (deletedAt(memory) === null) return null;
  const counting = new Set(inEffect(memory.timeline).map(({ revision }) => revision));
  const last = events.findLast(({ kind, revision }) => kind === 'DELETE' && counting.has(revision));
  const hash = last === undefined ? null : blockedHash(tools, last);
  if (hash === null) return null;
  const stones = await ledger.memories.tombstones(memory.lane, [hash]);
  return stones.some(({ memoryId }) => memoryId === memory.id) ? null : 'are deleted, but a replay may bring them back';
}

/** The rows it is found by, where it is looked for by an id that it was said under. */
async function idsProblem(memory: Memory, ledger: Ledger): Promise<string | null> {
  const stored = await ledger.saidIds.of(memory.tenant, memory.id);
  const lines = (ids: readonly SaidId[]): string => ids.map(canonical).sort().join();
  return lines(stored) === lines(saidIds(memory)) ? null : 'have ids that do not match their events';
}

const findingOfMemories = (problem: string, ids: readonly string[]): Finding => ({
  check: 'memories',
  severity: 'error',
  what: `${ids.length} memories ${problem}`,
  count: ids.length,
  examples: ids.slice(0, EXAMPLES_MAX),
  remedy: 'compare GET /v1/memories/{id}/history with the memory; restore a backup if the ledger was damaged',
});

/** In every applied plan each fact ended in exactly one way. Read only where everything is. */
export async function checkPlans({ deps: { ledger }, depth, cancel }: Examining): Promise<Checked> {
  const wrong: string[] = [];
  let looked = 0;
  if (depth !== 'full') return { looked, findings: [] };
  for await (const id of appliedOnes(ledger)) {
    if (cancel.aborted) break;
    const plan = await ledger.thoughts.plan(id);
    looked += 1;
    if (plan !== null && !isWhole(plan)) wrong.push(id);
  }
  if (wrong.length === 0) return { looked, findings: [] };
  const what = `${wrong.length} plans have facts without exactly one outcome`;
  const examples = wrong.slice(0, EXAMPLES_MAX);
  return {
    looked,
    findings: [{ check: 'plans', severity: 'error', what, count: wrong.length, examples, remedy: REPORT_IT }],
  };
}

async function* appliedOnes({ audit, thoughts }: Ledger): AsyncGenerator<string> {
  for (const tenant of await audit.tenants()) {
    for await (const { id } of pages((page) => thoughts.list(tenant, { state: 'applied' }, page))) yield id;
  }
}

function isWhole({ facts, outcomes }: Plan): boolean {
  const ended = outcomes.map(({ fact }) => fact);
  return (
    ended.length === facts.length && new Set(ended).size === facts.length && facts.every(({ id }) => ended.includes(id))
  );
}

/** Where a tenant has a gate, what this process decides with has passed it: a model may have been changed by starting it anew. */
export async function checkGate({ deps }: Examining): Promise<Checked> {
  const { ledger, tools, thinker } = deps;
  if (thinker === undefined) return { looked: 0, findings: [] };
  const findings: Finding[] = [];
  let looked = 0;
  for (const tenant of await ledger.audit.tenants()) {
    const rules = await ledger.settings.get(tenant);
    if (rules.gate === null || spaceIn(tenant) !== null) continue;
    looked += 1;
    if (await isSetupPassed(deps, tenant, setupOf({ ...thinker, tools }, rules))) continue;
    const { extract, decide } = askedModels(thinker, rules);
    const models = extract === decide ? extract : `${extract} and ${decide}`;
    findings.push({
      check: 'gate',
      severity: 'warning',
      what: `tenant ${tenant}: the models, prompts and settings in use (${models}) have not passed a run of the suite ${rules.gate.suite}`,
      count: 1,
      examples: [],
      remedy: `slowwave suite run ${rules.gate.suite} --yes; before you configure another model, run the suite with --model`,
    });
  }
  return { looked, findings };
}

/** Where owners sleep. */
export interface Sleeping {
  readonly cold: Pick<ColdStore, 'names'>;
  readonly segments: Pick<SegmentStore, 'list'>;
}

/** Segments whose object may be missing: it is not written yet, or just being deleted. */
const WITHOUT_OBJECT: readonly string[] = ['written', 'dropped'];

/** Each owner that sleeps has its object, and each object is one that the ledger knows. */
export async function checkSegments({ deps: { sleeping }, cancel }: Examining): Promise<Checked> {
  if (sleeping === undefined) return { looked: 0, findings: [] };
  const { looked, missing, unknown } = await compared(sleeping, cancel);
  // Some are awake again, and their objects deleted, since the objects were listed.
  const lost: string[] = [];
  for (const name of missing) if (await isNeeded(sleeping, name)) lost.push(name);
  return { looked, findings: [...found(lost, LOST), ...found(unknown, STRAY)] };
}

/** Objects that the ledger does not know. */
export const unknownSegments = async (sleeping: Sleeping, cancel: Cancellation): Promise<readonly string[]> =>
  (await compared(sleeping, cancel)).unknown;

async function compared({ cold, segments }: Sleeping, cancel: Cancellation) {
  // First: what is written from here on has its row already.
  const objects = new Set<string>();
  for await (const page of slicesOf((last: SegmentObject | null, limit) => segments.list(last?.name ?? null, limit))) {
    if (cancel.aborted) break;
    for (const { name } of page) objects.add(name);
  }
  const missing: string[] = [];
  let looked = 0;
  for await (const page of slicesOf((last: Row | null, limit) => cold.names(last?.name ?? null, limit))) {
    looked += page.length;
    for (const { name, state } of page) {
      const isThere = objects.delete(name);
      if (!(isThere || WITHOUT_OBJECT.includes(state))) missing.push(name);
    }
  }
  return { looked, missing, unknown: [...objects] };
}

type Row = Awaited<ReturnType<ColdStore['names']>>[number];

async function isNeeded({ cold, segments }: Sleeping, name: string): Promise<boolean> {
  const [row] = (await cold.names(before(name), 1)).filter((one) => one.name === name);
  if (row === undefined || WITHOUT_OBJECT.includes(row.state)) return false;
  return !(await segments.list(before(name), 1)).some((object) => object.name === name);
}

/** The last text that comes before a name. */
const before = (name: string): string => name.slice(0, -1) + String.fromCharCode(name.charCodeAt(name.length - 1) - 1);

const LOST = {
  severity: 'error',
  what: 'sleeping owners have no segment in SLOWWAVE_COLD_STORE',
  remedy:
    'check SLOWWAVE_COLD_STORE, and copy these objects there from the backup of the segments; where there is none, the owners are ' +
    'lost: erase them (slowwave cold list names them)',
} as const;

const STRAY = {
  severity: 'warning',
  what: 'segments are unknown to this ledger: left over after restoring an older backup, or of another installation',
  remedy: 'if no other installation uses the same place, delete them: slowwave cold sweep --yes',
} as const;

const found = (names: readonly string[], finding: Pick<Finding, 'severity' | 'what' | 'remedy'>): readonly Finding[] =>
  names.length === 0
    ? []
    : [{ ...finding, check: 'segments', count: names.length, examples: names.slice(0, EXAMPLES_MAX) }];
