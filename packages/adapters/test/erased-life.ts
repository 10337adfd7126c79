import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  DAY_MS,
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
  sweepOutbox,
  sweepRetention,
  type TrailEntry,
  terms,
} from '@slowwave/engine';
import {
  type EngineBench,
  echoExtract,
  engineBench,
  fakeChat,
  fakeEmbedder,
  graphPlan,
  keyedDecide,
  NEVER,
  newEntity,
  statementsBy,
} from '@slowwave/engine-testing';
import { systemTools } from '../src/system/system.ts';

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
export async function twoLives(
  stores: { ledger: Ledger; index: SearchIndex },
  { posts = POSTS } = {},
): Promise<EngineBench> {
  const chat = fakeChat({
    extract_facts: echoExtract,
    decide_operations: keyedDecide((text) => text.split(':')[0] ?? text),
    refresh_summary: () => ({ summary: `${MARKER} in short` }),
  });
  const bench = await engineBench({ chat, stores, embedder: fakeEmbedder(64) });
  for (let i = 0; i < posts; i += 1) {
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

export const isMarked = (bytes: Buffer): boolean =>
  bytes.includes(MARKER) || MARKED_TERMS.some((term) => bytes.includes(term));

/** The files below a folder that have the marker anywhere in their bytes. */
export async function filesWithMarker(folder: string, isWanted: (path: string) => boolean = () => true) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const found: string[] = [];
  for (const path of paths.filter(isWanted)) {
    const bytes = await readFile(path).catch(() => Buffer.alloc(0)); // a server removes files while we look
    if (isMarked(bytes)) found.push(path.slice(folder.length + 1));
  }
  return found.sort();
}

/** What a user's deletions and wishes leave of the marker, in real stores, and what retention is to erase. */
export async function forgottenLife(stores: { ledger: Ledger; index: SearchIndex }): Promise<EngineBench> {
  const chat = fakeChat({
    extract_facts: (input) => ({
      facts: (input.messages as unknown as { id: string; content: string }[]).flatMap(factsOf),
    }),
    decide_operations: (input, nth) => {
      const [fact] = input.facts as unknown as { id: string; text: string }[];
      const debt = (input.memories as unknown as { id: string; text: string }[]).find(({ text }) =>
        text.includes('debt:'),
      );
      if (fact?.text.startsWith('forget') !== true)
        return keyedDecide((text) => text.split(':')[0] ?? text)(input, nth);
      const wish = {
        fact: fact.id,
        event: 'DELETE',
        id: debt?.id ?? null,
        text: null,
        reason: `${MARKER} asked`,
        keep: null,
      };
      return { operations: [wish] };
    },
  });
  const bench = await engineBench({ chat, stores, embedder: fakeEmbedder(64) });
  await stores.ledger.webhooks.create(
    {
      ...{
        id: 'whk_1',
        tenant: TENANT,
        name: '',
        url: 'https://receiver/',
        events: ['memory.added', 'memory.deleted'],
      },
      ...{ userId: null, appId: null, active: true, secret: 'whsec_1', createdAt: 1 },
    },
    1,
  );
  const say = async (...texts: readonly string[]): Promise<void> => {
    await bench.post(texts, { settings: { graph: true } });
    await bench.run();
    bench.tools.advance(60_000);
  };
  await say(`tea: daily. debt: I owe ${MARKER} ten`);
  await studied(bench, 'tea');
  await say(`debt: I owe ${MARKER} eleven ${'and so on '.repeat(LONG / 20)}`);
  for (let i = 0; i < 5; i += 1) await say(`debt: I owe ${MARKER} ${i}`, `plain ${i}: said`);
  const [debt] = (await bench.memories()).filter((memory) => liveVersion(memory)?.text.includes('debt:') === true);
  await rater(bench.deps).rate(TENANT, debt?.id ?? '', { rating: 'very_negative', reason: MARKER, appId: null });
  await say(`forget that I owe ${MARKER}. pet: cat`);
  await say(`forget ${MARKER} and all. sport: none`);
  const writer = memoryWriter(bench.deps);
  const added = await writer.add(TENANT, {
    ...{ text: `secret: ${MARKER}`, metadata: { note: MARKER }, category: null, immutable: false },
    ...{ validFrom: null, expiresAt: null, scope: { userId: 'ann', agentId: null, runId: null, appId: null } },
  });
  if (added.kind !== 'written') throw new Error('expected it to be written');
  await writer.remove(TENANT, added.memory.id);
  await sweepOutbox(bench.deps, NEVER);
  return bench;
}

/** Each sentence is one; what asks to have something forgotten is a wish. */
const factsOf = ({ id, content }: { readonly id: string; readonly content: string }) =>
  content.split('. ').map((quote) => ({
    ...{ text: quote, quote, source_ids: [id] },
    ...(quote.startsWith('forget') && { category: 'forget' }),
  }));

/** A study of the user's first consolidation says something of the marker, and of something else. */
async function studied({ deps: { ledger }, tools }: EngineBench, other: string): Promise<void> {
  const lane = (await ledger.lanes.find(TENANT, { kind: 'user', id: 'ann' }))?.id;
  if (lane === undefined) throw new Error('expected a lane');
  const claim = await ledger.graph.claim(lane, { now: tools.now(), holdMs: 1 });
  if (claim.kind !== 'claimed') throw new Error('expected a study');
  const messages = await ledger.contents.messages(lane, 0, 10);
  const of = { messageIds: messages.map(({ id }) => id) };
  const { holds, named } = statementsBy(tools);
  const statements = [
    holds(`ent_1 owes ent_2`, { ...of, quote: `I owe ${MARKER}` }),
    named('ent_2', `also ${MARKER}`, of),
    holds(`ent_1 likes ent_3`, { ...of, quote: `daily. debt: I owe ${MARKER}` }),
  ];
  const entities = [
    newEntity('ent_1', { name: 'Ann' }),
    newEntity('ent_2', { name: MARKER }),
    newEntity('ent_3', { name: other }),
  ];
  await ledger.graph.apply(
    claim.study,
    { ...graphPlan(claim.study.consolidationId, statements), entities },
    tools.now(),
  );
}

/** The time is over in which any of it could be restored. */
export async function eraseForgotten({ deps, tools }: EngineBench): Promise<void> {
  await sweepOutbox(deps, NEVER);
  tools.advance(31 * DAY_MS);
  await sweepRetention(deps, NEVER);
}

export async function relationsOfAnn({ deps: { ledger } }: EngineBench): Promise<readonly string[]> {
  const owner = { kind: 'user', id: 'ann' } as const;
  const { results } = await ledger.graph.listRelations(TENANT, owner, { at: 'ever' }, { limit: 100, cursor: null });
  return results.map((one) => `${one.sourceName} ${one.relationship} ${one.destinationName}`);
}

/** Tables of the ledger whose rows an erasure does not delete: they say nothing of an owner, or forget it. */
export const KEPT = [
  // The object goes first: see engine/src/erasure/erase.ts.
  'segments',
  'meta',
  'embedders',
  'bulk_jobs',
  'settings',
  'ceilings',
  'tenant_copies',
  'tenant_shares',
  'economies',
  'counters',
  'usage_days',
  'usage_kinds',
  'use_medians',
  'erasures',
  'away',
  'closed_slots',
  'replays',
  'suites',
  'suite_assessments',
  'canaries',
  'api_keys',
  'links',
  'webhooks',
  'topics',
  'trail',
  'trail_posts',
  'stripped',
] as const;
