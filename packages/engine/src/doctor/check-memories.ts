import { blockedHash, deletedAt, evolve } from '../memories/evolve.ts';
import { inEffect } from '../memories/in-effect.ts';
import type { Plan } from '../plan.ts';
import type { Ledger } from '../ports/ledger/ledger.ts';
import type { Tools } from '../ports/tools.ts';
import { canonical } from '../text/normalise.ts';
import type { Memory, MemoryEvent } from '../words.ts';
import { type Checked, EXAMPLES_MAX, type Examining, type Finding, REPORT_IT } from './findings.ts';

const SAMPLE = 500;
const MEMORIES_PER_PAGE = 200;
const EVENTS_PER_PAGE = 500;

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
  return { looked, findings: [...wrong].map(([problem, ids]) => findingOf(problem, ids)) };
}

async function* everyMemory({ memories }: Ledger): AsyncGenerator<readonly Memory[]> {
  for (let after: string | null = null; ; ) {
    const page: readonly Memory[] = await memories.every(after, MEMORIES_PER_PAGE);
    yield page;
    after = page.at(-1)?.id ?? null;
    if (page.length < MEMORIES_PER_PAGE) return;
  }
}

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
  const problem = replayProblem(memory, events) ?? (await tombstoneProblem(memory, events, deps));
  if (problem === null) return null;
  const now = await deps.ledger.memories.get(memory.tenant, memory.id);
  if (now === null) return null;
  return now.revision === memory.revision ? problem : problemOf(now, deps);
}

async function eventsOf({ memories }: Ledger, { tenant, id }: Memory): Promise<MemoryEvent[]> {
  const events: MemoryEvent[] = [];
  for (let cursor: string | null = null; ; ) {
    const page: Awaited<ReturnType<typeof memories.history>> = await memories.history(tenant, id, {
      limit: EVENTS_PER_PAGE,
      cursor,
    });
    events.push(...page.results);
    if (page.nextCursor === null) return events;
    cursor = page.nextCursor;
  }
}

/** Where the first events are no longer kept, only what is left of them is compared. */
function replayProblem(memory: Memory, events: readonly MemoryEvent[]): string | null {
  const first = events[0]?.revision ?? 1;
  if (events.some(({ revision }, i) => revision !== first + i)) return 'have events with a gap between them';
  if (events.length > 0 && events.at(-1)?.revision !== memory.revision)
    return 'have other events than their revision says';
  if (canonical(evolve(memory, memory, []).versions) !== canonical(memory.versions)) {
    return 'have other versions than their timeline makes';
  }
  if (first !== 1 || events.length === 0) return null;
  const replayed = evolve(memory, null, events);
  return canonical(replayed) === canonical(memory) ? null : 'are not what their events make of them';
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
  return stones.some(({ memoryId }) => memoryId === memory.id) ? null : 'are deleted and may come back by a replay';
}

const findingOf = (problem: string, ids: readonly string[]): Finding => ({
  check: 'memories',
  severity: 'error',
  what: `${ids.length} memories ${problem}`,
  count: ids.length,
  examples: ids.slice(0, EXAMPLES_MAX),
  remedy: 'compare GET /v1/memories/{id}/history with the memory; restore a backup if the ledger was damaged',
});

const PAGE = 200;

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
    for (let cursor: string | null = null; ; ) {
      const page: Awaited<ReturnType<typeof thoughts.list>> = await thoughts.list(
        tenant,
        { state: 'applied' },
        { limit: PAGE, cursor },
      );
      yield* page.results.map(({ id }) => id);
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
  }
}

function isWhole({ facts, outcomes }: Plan): boolean {
  const ended = outcomes.map(({ fact }) => fact);
  return (
    ended.length === facts.length && new Set(ended).size === facts.length && facts.every(({ id }) => ended.includes(id))
  );
}
