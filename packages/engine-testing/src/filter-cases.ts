import { type Filterable, type Json, listsOfOne } from '@slowwave/engine';
import { scope } from './builders.ts';
import { NOON } from './search-index-suite-points.ts';

const DAY = 86_400_000;

/** A memory of user ann as a filter sees it. */
export const filterable = (memoryId: string, given: Partial<Filterable> = {}): Filterable => ({
  memoryId,
  scope: scope(),
  ids: listsOfOne(given.scope ?? scope()),
  text: 'Ann drinks tea',
  category: null,
  metadata: {},
  immutable: false,
  trust: 'user',
  flagged: false,
  confirmations: 0,
  saidAt: { at: NOON, seq: 1 },
  validFrom: NOON,
  expiresAt: null,
  createdAt: NOON,
  updatedAt: NOON,
  ...given,
});

const inScope = (ids: { agentId?: string; runId?: string; appId?: string }) => scope({ userId: 'ann', ...ids });

/** Different in everything a filter may ask for. */
export const DOCUMENTS: readonly Filterable[] = [
  filterable('plain'),
  filterable('scoped', { scope: inScope({ agentId: 'bot', runId: 'r1', appId: "we'b" }) }),
  filterable('said-often', { ids: { agentId: ['bot', "b'b"], runId: ['r1', 'r2', 'r3'], appId: ['shop', "we'b"] } }),
  filterable('food', { category: 'Food', text: 'Mag TÉ, 茶 & 100%_tea\nin Straße', immutable: true, confirmations: 3 }),
  filterable('read', { trust: 'external', flagged: true }),
  filterable('later', { createdAt: NOON + DAY, updatedAt: NOON + 2 * DAY, saidAt: { at: NOON - DAY, seq: 9 } }),
  filterable('expires', { expiresAt: NOON + 3 * DAY, validFrom: NOON - 400 * DAY }),
  filterable('texts', { metadata: { a: 'x', n: '7', 'a.b': 'dotted', t: 'İstanbul Straße' } }),
  filterable('numbers', { metadata: { n: 7, big: 2 ** 60, small: -0.5, zero: 0 } }),
  filterable('flags', { metadata: { a: true, n: false, s: 'true' } }),
  filterable('nulls', { metadata: { a: null, l: [], o: {}, deep: { a: null } } }),
  filterable('lists', { metadata: { a: ['x', 7, true, null, ['deep'], { x: 1 }], n: [1, 100], l: ['Té', 'b'] } }),
  filterable('nested', { metadata: { a: { b: { c: 'x' }, eq: 5 }, list: [{ b: 'x' }] } }),
  filterable('hostile', {
    metadata: { '"': 'q', "'; --": 'q', '$.a': 'q', '[0]': 'q', '0': 'zero', '\\"a': '\\', é: '\u0000\u001a\ud800' },
  }),
  filterable('proto', { metadata: JSON.parse('{"__proto__": "own", "constructor": {"name": "mine"}}') }),
  filterable('crowded', { metadata: Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`k${i}`, i])) }),
];

const ids = DOCUMENTS.map(({ memoryId }) => memoryId);
const allBut = (...names: readonly string[]): readonly string[] => ids.filter((id) => !names.includes(id));

/** What a filter finds among the documents. */
export interface FilterCase {
  readonly says: string;
  readonly filter: Json;
  readonly finds: readonly string[];
}

const group = (says: string, cases: readonly (readonly [Json, readonly string[]])[]): FilterCase[] =>
  cases.map(([filter, finds]) => ({ says, filter, finds }));

const AND_OR_NOT = group('AND, OR and NOT', [
  [{}, ids],
  [{ AND: [] }, ids],
  [{ OR: [] }, []],
  [{ NOT: [] }, ids],
  [{ NOT: {} }, []],
  [{ id: 'plain' }, ['plain']],
  [{ OR: [{ id: 'plain' }, { id: 'food' }] }, ['plain', 'food']],
  [{ NOT: [{ id: 'plain' }, { id: 'food' }] }, allBut('plain', 'food')],
  [{ NOT: { user_id: 'ann', categories: 'Food' } }, allBut('food')],
  [{ AND: [{ user_id: 'ann' }, { NOT: [{ id: { nin: ['food', 'plain'] } }] }], categories: '*' }, ['food']],
]);

const IDS = group('ids', [
  [{ user_id: 'ann' }, ids],
  [{ user_id: 'bob' }, []],
  [{ user_id: { ne: 'ann' } }, []],
  [{ agent_id: '*' }, ['scoped', 'said-often']],
  [{ agent_id: { eq: '*' } }, []],
  [{ agent_id: null }, allBut('scoped', 'said-often')],
  [{ agent_id: { ne: 'bot' } }, allBut('scoped', 'said-often')],
  [{ agent_id: { ne: "b'b" } }, allBut('said-often')],
  [{ agent_id: { nin: ['bot', null] } }, []],
  [{ agent_id: { nin: ["b'b", 'nobody'] } }, allBut('said-often')],
  [{ run_id: { in: ['r1', null] } }, ids],
  [{ run_id: ['r2', 'r9'] }, ['said-often']],
  [{ AND: [{ run_id: 'r1' }, { run_id: 'r3' }] }, ['said-often']],
  [{ run_id: { in: ['r1', 'r2'], ne: 'r3' } }, ['scoped']],
  [{ NOT: [{ run_id: 'r2' }, { app_id: "we'b" }] }, allBut('scoped', 'said-often')],
  [{ app_id: "we'b" }, ['scoped', 'said-often']],
  [{ app_id: 'shop', agent_id: 'bot' }, ['said-often']],
  [{ app_id: "' OR 1=1 --" }, []],
  [{ id: [] }, []],
  [{ id: { nin: [] } }, ids],
  [{ memory_ids: ['food', 'nobody'] }, ['food']],
]);

const COLUMNS = group('text, categories, flags and counts', [
  [{ memory: { contains: 'tea' } }, allBut()],
  [{ memory: { contains: 'Té' } }, []],
  [{ memory: { icontains: 'té' } }, ['food']],
  [{ memory: { icontains: 'STRAßE' } }, ['food']],
  [{ memory: { contains: '100%_' } }, ['food']],
  [{ memory: { icontains: '%_T' } }, ['food']],
  [{ memory: { contains: '%' } }, ['food']],
  [{ memory: { icontains: 'n.d' } }, []],
  [{ memory: { icontains: '茶 &' } }, ['food']],
  [{ keywords: { contains: '\nin' } }, ['food']],
  [{ categories: 'Food' }, ['food']],
  [{ categories: { contains: 'Foo' } }, []],
  [{ categories: { contains: 'Food' } }, ['food']],
  [{ categories: { icontains: 'fOOD' } }, ['food']],
  [{ categories: { icontains: 'oo' } }, []],
  [{ categories: { in: ['Food', 'travel'] } }, ['food']],
  [{ categories: { ne: 'Food' } }, allBut('food')],
  [{ categories: null }, allBut('food')],
  [{ immutable: true }, ['food']],
  [{ immutable: { ne: true } }, allBut('food')],
  [{ flagged: true }, ['read']],
  [{ flagged: { ne: true } }, allBut('read')],
  [{ flagged: false }, allBut('read')],
  [{ trust: 'external' }, ['read']],
  [{ trust: { ne: 'external' } }, allBut('read')],
  [{ trust: ['user', 'agent'] }, allBut('read')],
  [{ trust: '*' }, ids],
  [{ confirmations: { gte: 2.5 } }, ['food']],
  [{ confirmations: [0, 1.5] }, allBut('food')],
  [{ confirmations: { gt: 0, lt: 3 } }, []],
]);

const MOMENTS = group('moments', [
  [{ created_at: { gt: '2026-03-01' } }, ['later']],
  [{ created_at: { gte: '2026-03-01', lt: '2026-03-02' } }, allBut('later')],
  [{ created_at: '2026-03-02' }, ['later']],
  [{ created_at: { ne: '2026-03-01' } }, ['later']],
  [{ created_at: { lte: '2026-03-01T12:00:00Z' } }, allBut('later')],
  [{ created_at: { lt: '2026-03-01T13:00:00+01:00' } }, []],
  [{ created_at: '2026-03-01T12:00:00.000Z' }, allBut('later')],
  [{ updated_at: { gte: '2026-03-03' } }, ['later']],
  [{ said_at: { lt: '2026-03-01' } }, ['later']],
  [{ valid_from: { lte: '2025-12-31' } }, ['expires']],
  [{ expires_at: '*' }, ['expires']],
  [{ expires_at: { lt: '9999-12-31' } }, ['expires']],
  [{ expires_at: { gte: '0001-01-01' } }, ['expires']],
  [{ expires_at: { ne: '2026-03-04' } }, allBut('expires')],
  [{ expires_at: null }, allBut('expires')],
  [{ NOT: [{ expires_at: { lt: '2026-03-05' } }] }, allBut('expires')],
]);

const METADATA = group('metadata', [
  [{ 'metadata.a': 'x' }, ['texts', 'lists']],
  [{ metadata: { a: 'x' } }, ['texts', 'lists']],
  [{ 'metadata.a': { ne: 'x' } }, allBut('texts', 'lists')],
  [{ 'metadata.a': '*' }, ['texts', 'flags', 'lists', 'nested']],
  [{ 'metadata.a': null }, allBut('texts', 'flags', 'lists', 'nested')],
  [{ 'metadata.l': '*' }, ['nulls', 'lists']],
  [{ 'metadata.o': '*' }, ['nulls']],
  [{ 'metadata.n': 7 }, ['numbers']],
  [{ 'metadata.n': '7' }, ['texts']],
  [{ 'metadata.n': [7, '7', false] }, ['texts', 'numbers', 'flags']],
  [{ 'metadata.a': true }, ['flags', 'lists']],
  [{ 'metadata.s': true }, []],
  [{ 'metadata.a': 'deep' }, []],
  [{ 'metadata.n': { gt: 6 } }, ['numbers', 'lists']],
  [{ 'metadata.n': { gt: 1, lt: 100 } }, ['numbers', 'lists']],
  [{ 'metadata.n': { gte: '7' } }, ['texts']],
  [{ 'metadata.n': { lt: 'z' } }, ['texts']],
  [{ 'metadata.big': 2 ** 60 }, ['numbers']],
  [{ 'metadata.big': { gt: 2 ** 60 } }, []],
  [{ 'metadata.big': { gte: 2 ** 60 } }, ['numbers']],
  [{ 'metadata.small': { lt: -0.25 } }, ['numbers']],
  [{ 'metadata.zero': -0 }, ['numbers']],
  [{ 'metadata.a': { contains: 'x' } }, ['texts', 'lists']],
  [{ 'metadata.l': { contains: 't' } }, []],
  [{ 'metadata.l': { icontains: 'TÉ' } }, ['lists']],
  [{ 'metadata.t': { icontains: 'straße' } }, ['texts']],
  [{ 'metadata.t': { icontains: 'i' } }, []],
  [{ 'metadata.a.b.c': 'x' }, ['nested']],
  [{ metadata: { a: { b: { c: ['x'] } } } }, ['nested']],
  [{ 'metadata.a.b': '*' }, ['nested']],
  [{ 'metadata.a.b': 'x' }, []],
  [{ 'metadata.a.eq': { gte: 5 } }, ['nested']],
  [{ 'metadata.list.b': 'x' }, []],
  [{ 'metadata.list.0': '*' }, []],
  [{ 'metadata.a.b': null }, allBut('nested')],
  [{ metadata: { 'a.b': 'dotted' } }, ['texts']],
  [{ 'metadata.k1': 1 }, ['crowded']],
  [{ 'metadata.k399': 399 }, ['crowded']],
  [{ 'metadata.k399': { ne: 399 } }, allBut('crowded')],
  [{ 'metadata.k399': null }, allBut('crowded')],
]);

const HOSTILE = group('hostile keys and values', [
  [{ metadata: { '"': 'q' } }, ['hostile']],
  [{ metadata: { "'; --": 'q' } }, ['hostile']],
  [{ metadata: { '$.a': 'q' } }, ['hostile']],
  [{ metadata: { '[0]': 'q' } }, ['hostile']],
  [{ 'metadata.0': 'zero' }, ['hostile']],
  [{ metadata: { '\\"a': '\\' } }, ['hostile']],
  [{ metadata: { é: '*' } }, ['hostile']],
  [{ metadata: { é: { contains: '0000' } } }, []],
  [{ metadata: { é: { lt: 'a' } } }, ['hostile']],
  [{ 'metadata.a[0]': 'x' }, []],
  [{ 'metadata.*': 'x' }, []],
  [{ 'metadata.__proto__': 'own' }, ['proto']],
  [{ 'metadata.__proto__': '*' }, ['proto']],
  [{ 'metadata.constructor': '*' }, ['proto']],
  [{ 'metadata.constructor.name': 'mine' }, ['proto']],
  [{ 'metadata.toString': '*' }, []],
  [{ 'metadata.a': "x' OR '1'='1" }, []],
  [{ 'metadata.a': '") OR (1=1' }, []],
]);

export const FILTER_CASES: readonly FilterCase[] = [AND_OR_NOT, IDS, COLUMNS, MOMENTS, METADATA, HOSTILE].flat();
