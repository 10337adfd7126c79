import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Erasure,
  type ErasureQueue,
  eraseOwner,
  type Ledger,
  liveVersion,
  type Memory,
  memoryWriter,
  type NewReceipt,
  type NewTrailEntry,
  ownerBitsOfLane,
  ownerHashOf,
  type Paged,
  rater,
  requestErasure,
  type SearchIndex,
  type TrailEntry,
  terms,
} from '@slowwave/engine';
import {
  type EngineBench,
  echoExtract,
  engineBench,
  fakeChat,
  fakeEmbedder,
  keyedDecide,
  NEVER,
  newEntity,
  statementsBy,
} from '@slowwave/engine-testing';
import { systemTools } from '../src/system/index.ts';

/** In everything that is of the user who is erased, and in nothing else. */
export const MARKER = 'Xyzzy';
/** What an index keeps of it to find it by. */
const MARKED_TERMS = terms(MARKER);
const USER = `${MARKER}-user`;
const OWNER = { kind: 'user', id: USER } as const;
const TENANT = 'default' as Parameters<typeof requestErasure>[1];
const QUEUE: ErasureQueue = { erase: async () => {}, forgetLane: async () => {} };

/** Of each of the two users; enough that pages are split, and rows of both lie side by side. */
const POSTS = 40;
/** Long ones lie on pages of their own. */
const LONG = 6_000;

/** Two users with much to tell, in real stores: one of them is to be erased. */
export async function twoLives(stores: { ledger: Ledger; index: SearchIndex }): Promise<EngineBench> {
  const chat = fakeChat({
    extract_facts: echoExtract,
    decide_operations: keyedDecide((text) => text.split(':')[0] ?? text),
    refresh_summary: () => ({ summary: `${MARKER} in short` }),
  });
  const bench = await engineBench({ chat, stores, embedder: fakeEmbedder(64) });
  for (let i = 0; i < POSTS; i += 1) {
    const more = i % 10 === 0 ? ` ${'and so on '.repeat(LONG / 10)}` : '';
    await bench.post([{ content: `fact ${i % 25}: ${MARKER} ${i}${more}`, clientId: `${MARKER}-${i}`, name: MARKER }], {
      userId: USER,
      scope: { runId: `${MARKER}-run-${i % 3}`, appId: MARKER },
      metadata: { note: MARKER },
      settings: { instructions: MARKER },
    });
    await bench.post([`fact ${i % 25}: plain ${i}${more}`], { userId: 'bob' });
    if (i % 20 === 19) await bench.run();
  }
  const writer = memoryWriter(bench.deps);
  const memories = await stores.ledger.memories.every(null, 10_000);
  const mine = memories.filter(({ owner }) => owner.id === USER);
  for (const { id } of mine.slice(0, 5)) await writer.remove(TENANT, id);
  for (const { id } of mine.slice(5, 10)) await writer.change(TENANT, id, { text: `changed: ${MARKER} ${id}` });
  const feedback = rater(bench.deps);
  for (const { id } of mine.slice(10, 15))
    await feedback.rate(TENANT, id, { rating: 'very_negative', reason: `${MARKER} is wrong`, appId: null });
  await stores.ledger.replays.create({
    ...{
      id: 'rpl_marked',
      tenant: TENANT,
      kind: 'live',
      changes: {},
      matched: 0,
      batchIds: [],
      idempotency: null,
      now: 0,
    },
    filter: { states: ['parked'], userId: USER },
  });
  for (const [userId, word] of [
    [USER, MARKER],
    ['bob', 'plain'],
  ] as const) {
    await aGraph(stores.ledger, userId, word);
  }
  await bench.post([`waits: ${MARKER}`], { userId: USER, flush: false });
  await recordRequests(bench.deps);
  for (const userId of [USER, 'bob']) await keepReceipts(bench.deps, userId);
  return bench;
}

/** What answers told a user who asked for the marker; and what came of it. */
async function keepReceipts({ ledger, tools }: EngineBench['deps'], userId: string): Promise<void> {
  const lane = (await ledger.lanes.find(TENANT, { kind: 'user', id: userId }))?.id;
  if (lane === undefined) throw new Error(`expected a lane of ${userId}`);
  const live = (await ledger.memories.every(null, 10_000)).filter((memory) => memory.lane === lane && isLive(memory));
  const word = userId === USER ? MARKER : 'plain';
  const receipts = Array.from({ length: POSTS }, (_, i): NewReceipt => {
    const told = live.slice(i % live.length).map(({ id }) => ({ kind: 'memory', id, version: 1 }) as const);
    return {
      ...{ id: tools.id('rcp', ownerBitsOfLane(lane)), tenant: TENANT, lane, at: tools.now(), route: 'context' },
      ...{
        scope: { userId, agentId: word, runId: word, appId: word },
        ownApp: false,
        question: `What of ${word} ${i}?`,
      },
      ...{ filters: { metadata: { note: word } }, asOf: null, position: i, told },
    };
  });
  await ledger.receipts.append(receipts);
  for (const { id } of receipts.slice(0, 10)) await ledger.receipts.judge(TENANT, id, { outcome: 'good', now: 1 });
}

const isLive = (memory: Memory): boolean => liveVersion(memory) !== null;

/** What the audit log tells of both users; enough that pages are split. */
async function recordRequests({ ledger, tools }: EngineBench['deps']): Promise<void> {
  const { id: ledgerId } = ledger;
  const entries = Array.from({ length: REQUESTS }, (_, i): NewTrailEntry => {
    const owner = i % 2 === 0 ? OWNER : ({ kind: 'user', id: 'bob' } as const);
    return {
      ...{ id: tools.id('aud'), tenant: TENANT, at: tools.now(), by: 'key_1', session: false, subject: owner },
      ...{ action: 'POST /v1/batches', status: 202, code: null, requestId: `${owner.id}-${i}` },
      ownerHash: ownerHashOf(tools, { ledgerId, tenant: TENANT, owner }),
    };
  });
  await ledger.trail.append(entries);
}

const REQUESTS = 400;

/** How many entries of the audit log are about what, as a list of both kinds. */
export async function subjectsInTrail({ deps }: EngineBench): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (let cursor: string | null = null, more = true; more; more = cursor !== null) {
    const page: Paged<TrailEntry> = await deps.ledger.trail.list(TENANT, {}, { limit: 200, cursor });
    for (const { subject } of page.results) counts[subject?.kind ?? ''] = (counts[subject?.kind ?? ''] ?? 0) + 1;
    cursor = page.nextCursor;
  }
  return counts;
}

/** A graph of a user with a word wherever there can be one: written explicitly and by a study, with one that is parked. */
async function aGraph({ lanes, thoughts, graph }: Ledger, userId: string, word: string): Promise<void> {
  const lane = (await lanes.find(TENANT, { kind: 'user', id: userId }))?.id;
  if (lane === undefined) throw new Error(`expected a lane of ${userId}`);
  const { holds, ended, named, same } = statementsBy(systemTools);
  const upTo = Array.from({ length: POSTS }, (_, i) => `ent_${word === MARKER ? 1 : 2}_${i}`); // ids are nobody's words
  const entities = upTo.map((id) => newEntity(id, { name: `${word} ${id}` }));
  const statements = upTo.flatMap((id, i) => [
    holds(`${id} likes_${word} ${upTo[(i + 1) % POSTS]}`, { quote: `${word} said so` }),
    named(id, `also ${word} ${i}`),
  ]);
  const now = systemTools.now();
  await graph.write(TENANT, lane, { entities, statements, now });
  const { results } = await thoughts.list(TENANT, { state: 'applied', userId }, { limit: 2, cursor: null });
  for (const { id } of results) await graph.request(TENANT, id, now);
  const claim = await graph.claim(lane, { now, holdMs: 1 });
  if (claim.kind !== 'claimed') throw new Error('expected a study');
  const { consolidationId } = claim.study;
  const [one = '', two = '', three = ''] = upTo;
  const said = [same(one, two, { reason: word }), ended(`${two} likes_${word} ${three}`, { reason: word })];
  await graph.apply(
    claim.study,
    {
      ...{ consolidationId, entities: [], remarks: [{ asked: word, did: word }], prompts: [], usage: {} },
      statements: said.map((statement) => ({ ...statement, consolidationId })),
      proposals: [{ source: one, destination: three, likeness: 0.8 }],
    },
    now,
  );
  const next = await graph.claim(lane, { now, holdMs: 1 });
  if (next.kind === 'claimed')
    await graph.fail(next.study, { failure: { code: 'x', message: word, at: now }, retryAt: null });
}

/** Erases the marked user, as a worker does. Answers null where somebody is in the way of compacting. */
export async function eraseMarked({ deps }: EngineBench): Promise<Erasure | null> {
  const { id } = await requestErasure(deps, TENANT, OWNER);
  return goOn(deps, id);
}

export async function goOn(deps: EngineBench['deps'], id: string): Promise<Erasure | null> {
  const again = await eraseOwner({ ...deps, queue: QUEUE, settleMs: 0 })(id, NEVER);
  return again === null ? deps.ledger.erasures.get(TENANT, id) : null;
}

/** The files below a folder that have the marker anywhere in their bytes. */
export async function filesWithMarker(folder: string, isWanted: (path: string) => boolean = () => true) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const found: string[] = [];
  for (const path of paths.filter(isWanted)) {
    const bytes = await readFile(path).catch(() => Buffer.alloc(0)); // a server removes files while we look
    if (bytes.includes(MARKER) || MARKED_TERMS.some((term) => bytes.includes(term)))
      found.push(path.slice(folder.length + 1));
  }
  return found.sort();
}
