import type { EngineDeps } from '../deps.ts';
import { copyId, eventIdOf, saidBefore, spaceOf } from '../ids.ts';
import { evolve, type Home } from '../memories/evolve.ts';
import { textOfContent } from '../messages/messages.ts';
import { slicesOf } from '../ports/ledger/ledger.ts';
import type { MemoryChange } from '../ports/ledger/memories.ts';
import type { Replay, Suite, SuiteCase } from '../ports/ledger/replays.ts';
import { portionsOf } from '../ports/tools.ts';
import { changedBatch, changesFrom, storedChanges, type WhatIfChanges } from '../replays/in-space.ts';
import { appendCopy, type PrepareDeps, type ReplayDeps } from '../replays/start.ts';
import { canonical, estimateTokens } from '../text/normalise.ts';
import { type MemoryEvent, underOf } from '../words.ts';
import { ROOM_FOR_ANSWER } from './budget.ts';
import { contentOf, type KnownMemory } from './cases.ts';
import { decidedInRun } from './gate.ts';

/** What running a suite is thought to take. */
export interface Estimate {
  readonly cases: number;
  readonly batches: number;
  readonly calls: number;
  readonly tokens: number;
  /** It may as well be so many more or fewer. */
  readonly spread: number;
}

/** Instructions and schema of both questions about a window, and what is answered. */
const TOKENS_OF_WINDOW = 5_000;
/** What was recorded was counted. */
const SPREAD_OF_COUNTED = 0.2;
const SPREAD_OF_GUESSED = 0.6;

export async function estimateRun(deps: Pick<EngineDeps, 'ledger'>, suite: Suite): Promise<Estimate> {
  let [cases, batches, calls, tokens, spread] = [0, 0, 0, 0, 0];
  for await (const one of casesOf(deps, suite.id)) {
    const content = contentOf(one);
    const { measured } = content;
    const windows = new Set(content.batches.map(({ window }) => window)).size;
    const said = content.batches.flatMap(({ messages }) => messages).map((message) => tokensOf(message.content));
    const guessed = windows * TOKENS_OF_WINDOW + 2 * said.reduce((sum, count) => sum + count, 0);
    cases += 1;
    batches += content.batches.length;
    calls += measured?.calls ?? 2 * windows;
    tokens += measured?.tokens ?? guessed;
    spread += measured === null ? guessed * SPREAD_OF_GUESSED : measured.tokens * SPREAD_OF_COUNTED;
  }
  return { cases, batches, calls, tokens, spread: Math.ceil(spread) };
}

const tokensOf = (content: Parameters<typeof textOfContent>[0]): number => estimateTokens(textOfContent(content));

/** Unless somebody says how much: enough for what is expected, and for a model that needs twice as much to be found out. */
export const usualBudget = ({ tokens, spread }: Estimate): number => 2 * (tokens + spread) + 2 * ROOM_FOR_ANSWER;

/** Cases are read one by one: each may be long. */
const CASES = 20;

export async function* casesOf(
  { ledger }: Pick<EngineDeps, 'ledger'>,
  suiteId: string,
): AsyncGenerator<SuiteCase, void, undefined> {
  const read = (last: SuiteCase | null, limit: number) =>
    ledger.suites.cases(suiteId, { after: last?.place ?? -1, limit });
  for await (const page of slicesOf(read, CASES)) yield* page;
}

interface AskedRun {
  readonly suite: Suite;
  readonly changes: WhatIfChanges;
  /** In tokens. */
  readonly budget: number;
  readonly matched: number;
  /** The embedding model to ask its questions with; null: the usual one. */
  readonly embedder: string | null;
  /** The idempotency key; null: none. */
  readonly key: string | null;
}

type StartedRun = { readonly kind: 'started' | 'repeated'; readonly run: Replay } | { readonly kind: 'conflict' };

/** Stores that a suite is to be run. The sweep of the workers does it. */
export async function startRun(
  { ledger, tools }: Pick<ReplayDeps, 'ledger' | 'tools'>,
  { suite, changes, budget, matched, embedder, key }: AskedRun,
): Promise<StartedRun> {
  const { tenant } = suite;
  const id = tools.id('rpl');
  const decided = await decidedInRun({ ledger, tools }, tenant, changes);
  const filter = { states: [], suite: suite.id, budget, decided, ...(embedder !== null && { embedder }) };
  const created = await ledger.replays.create({
    ...{ id, tenant, kind: 'suite', filter, changes: storedChanges(changes), matched, now: tools.now() },
    batchIds: [],
    idempotency: key === null ? null : { key, bodyHash: tools.hash(canonical([filter, changes])) },
  });
  if (created.kind === 'conflict') return created;
  const run = await ledger.replays.get(tenant, created.kind === 'repeated' ? created.id : id);
  if (run === null) throw new Error(`run ${id} is missing right after it was stored`);
  return { kind: created.kind === 'repeated' ? 'repeated' : 'started', run };
}

/**
 * Sets up the cases of a run in its space, each due at once. All of it can be done again: what is there already is left as it is.
 * Answers whether it came to its end.
 */
export async function prepareCases(
  deps: PrepareDeps,
  { replay, goOn }: { readonly replay: Replay; goOn(): Promise<boolean> },
): Promise<boolean> {
  for await (const one of casesOf(deps, replay.filter.suite ?? '')) {
    if (!(await goOn())) return false;
    await prepareCase(deps, replay, one);
  }
  return true;
}

async function prepareCase(deps: PrepareDeps, replay: Replay, { owner, content: stored }: SuiteCase): Promise<void> {
  const { ledger, tools } = deps;
  const content = contentOf({ content: stored });
  const space = spaceOf({ tenant: replay.tenant, replay: replay.id });
  const [first] = content.batches;
  if (first === undefined) return;
  const lane = await ledger.memories.laneOf(space, owner, tools.now());
  const home: Home = { tenant: space, lane, owner, scope: first.scope };
  for (const some of portionsOf(content.memories, SEEDED_AT_ONCE)) await seed(deps, { replay, home }, some);
  for (const { id, scope, settings, window, messages } of content.batches) {
    const changed = { ...changedBatch(settings, changesFrom(replay.changes)), window };
    await appendCopy(deps, { replay, space }, { id, scope, settings: changed, metadata: {}, messages });
  }
}

const SEEDED_AT_ONCE = 50;

async function seed(
  { ledger, tools }: PrepareDeps,
  { replay, home }: { readonly replay: Replay; readonly home: Home },
  memories: readonly KnownMemory[],
): Promise<void> {
  const changes = memories.map((memory) => seedOf(home, memory, { replay: replay.id, now: tools.now() }));
  const known = await ledger.memories.many(
    home.tenant,
    changes.map(({ memory }) => memory.id),
  );
  const there = new Set(known.map(({ id }) => id));
  const missing = changes.filter(({ memory }) => !there.has(memory.id));
  if (missing.length === 0) return;
  const written = await ledger.memories.write(home.tenant, { changes: missing, tombstones: [], now: tools.now() });
  if (written.kind === 'conflict') throw new Error(`run ${replay.id} is being set up by another worker as well`);
}

function seedOf(home: Home, known: KnownMemory, { replay, now }: { replay: string; now: number }): MemoryChange {
  const { category, language, about } = known;
  const memoryId = copyId(known.id, replay);
  const event: MemoryEvent = {
    id: eventIdOf(memoryId, 1),
    memoryId,
    ...{ revision: 1, kind: 'ADD', actor: 'api', consolidationId: null, factId: null, reason: 'known before' },
    previous: null,
    saidAt: saidBefore({ at: known.at, seq: 1 }),
    validFrom: known.validFrom,
    recordedAt: now,
    text: known.text,
    details: {
      ...{ category, language, about, trust: 'user', quote: null, sourceIds: [], metadata: {} },
      ...{ immutable: false, expiresAt: null },
    },
    under: underOf(home.scope),
    sourceIds: [],
  };
  return { memory: evolve({ ...home }, null, [event]), expectedRevision: 0, events: [event] };
}
