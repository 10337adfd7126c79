import type { NewTrailEntry, Paged, TrailEntry, TrailFilter } from '@slowwave/engine';
import { digitsOf, idOfPost } from '@slowwave/engine/storing';
import { describe, expect, it } from 'vitest';
import { user } from './builders.ts';
import { ALL, ANN, type Bench, OTHER_TENANT, SECOND, TENANT } from './ledger-bench.ts';

const HASH = 'the hash of ann';
const ANN_SUBJECT = { subject: { kind: 'user', id: 'ann' }, ownerHash: HASH };

export function describeTrail(bench: () => Bench): void {
  describe('an entry of the trail', () => {
    it('comes back as it was made, also later', async () => {
      const b = bench();
      const plain = await append(b);
      const full = await append(b, {
        ...{ by: 'key_1', session: true, status: 404, code: 'not_found', requestId: 'r"1' },
        subject: { kind: 'user', id: "o'añn" },
      });
      const { trail } = await b.reopened();
      expect((await trail.list(TENANT, {}, ALL)).results).toEqual([shown(full), shown(plain)]);
    });

    it('is listed newest first, page by page, for its tenant alone', async () => {
      const b = bench();
      const made = [await append(b), await append(b), await append(b)].map(({ id }) => id);
      await append(b, { tenant: OTHER_TENANT });
      const first = await b.ledger.trail.list(TENANT, {}, { limit: 2, cursor: null });
      const rest = await b.ledger.trail.list(TENANT, {}, { limit: 2, cursor: first.nextCursor });
      expect([...first.results, ...rest.results].map(({ id }) => id)).toEqual(made.toReversed());
      expect(rest.nextCursor).toBeNull();
    });

    it('is found by who, what, about whom, when and with what outcome', async () => {
      const b = bench();
      const made = [
        await append(b, { by: 'key_1', action: 'POST /v1/batches', ...ANN_SUBJECT }),
        await append(b, { by: 'key_1', action: 'DELETE /v1/users/{id}', status: 403, code: 'scope_missing' }),
        await append(b, { by: 'operator', action: 'POST /v1/batches', status: 409 }),
      ];
      const [first, second, third] = made.map(({ id }) => id);
      const found = async (filter: TrailFilter) =>
        (await b.ledger.trail.list(TENANT, filter, ALL)).results.map(({ id }) => id);
      expect(await found({ by: 'key_1' })).toEqual([second, first]);
      expect(await found({ action: 'POST /v1/batches' })).toEqual([third, first]);
      expect(await found({ action: 'DELETE /v1/users/{id}' })).toEqual([second]);
      expect(await found({ action: 'DELETE /v1/users/{id}', outcome: 'failed' })).toEqual([]);
      expect(await found({ action: 'POST /v1/batches', outcome: 'failed' })).toEqual([third]);
      expect(await found({ action: 'POST /v1/batches', by: 'key_1', subject: 'ann' })).toEqual([first]);
      expect(await found({ subject: 'ann' })).toEqual([first]);
      expect(await found({ outcome: 'done' })).toEqual([first]);
      expect(await found({ outcome: 'refused' })).toEqual([second]);
      expect(await found({ outcome: 'failed' })).toEqual([third]);
      expect(await found({ since: made[1]?.at ?? 0 })).toEqual([third, second]);
      expect(await found({ until: made[1]?.at ?? 0 })).toEqual([first]);
      expect(await found({ by: 'key_1', outcome: 'refused', subject: 'bob' })).toEqual([]);
    });

    it('of a batch that was posted is one like any other', async () => {
      const b = bench();
      const first = await post(b);
      const second = await post(b, { by: 'key_1', requestId: '4c5b2f9e-0f6a-4a58-9f2e-d1b0a5c3e7f9' });
      const other = await append(b, { by: 'key_1' });
      const again = await append(b, { ...postOf(b), id: b.tools.id('aud'), status: 200, subject: first.subject });
      await b.ledger.trail.append([first, second]);
      await post(b, { tenant: OTHER_TENANT, by: 'key_1' });
      const found = async (filter: TrailFilter) => (await b.ledger.trail.list(TENANT, filter, ALL)).results;
      expect(await found({})).toEqual([again, other, second, first].map(shown));
      expect(await found({ action: 'POST /v1/batches' })).toEqual([again, second, first].map(shown));
      expect(await found({ by: 'key_1' })).toEqual([other, second].map(shown));
      expect(await found({ subject: first.subject?.id ?? '' })).toEqual([again, first].map(shown));
      expect(await found({ outcome: 'done', since: second.at })).toEqual([again, other, second].map(shown));
      expect(await found({ until: second.at })).toEqual([shown(first)]);
      expect(await found({ outcome: 'failed' })).toEqual([]);
      expect(await found({ subject: 'bat_unknown' })).toEqual([]);
    });

    it('of a post keeps the id that its caller gave the request', async () => {
      const b = bench();
      const ids = ['r"1', 'of\ntwo lines', 'AAAAAAAAAAAAAAAAAAAAAA', '', null];
      for (const requestId of ids) await post(b, { requestId });
      expect((await all(b)).map(({ requestId }) => requestId)).toEqual(ids.toReversed());
    });

    it('of a post is found page by page among others, however many came at a time', async () => {
      const b = bench();
      const made: NewTrailEntry[] = [];
      for (let group = 0; group < 3; group += 1) {
        const some = Array.from({ length: 50 }, (_, i) => entryOf(b, { ...postOf(b), by: `key_${i % 2}` }));
        made.push(...some.map((entry, i) => ({ ...entry, at: entry.at - i * (SECOND - 50) })), entryOf(b));
      }
      for (const part of [0, 1, 2]) await b.ledger.trail.append(made.filter((_, i) => i % 3 === part));
      const listed: TrailEntry[] = [];
      for (let cursor: string | null = null; ; ) {
        const page: Paged<TrailEntry> = await b.ledger.trail.list(TENANT, {}, { limit: 20, cursor });
        listed.push(...page.results);
        cursor = page.nextCursor;
        if (cursor === null) break;
      }
      const newestFirst = (x: NewTrailEntry, y: NewTrailEntry): number => y.at - x.at || (x.id < y.id ? 1 : -1);
      expect(listed).toEqual(made.toSorted(newestFirst).map(shown));
    });

    it('of a post goes when it is old, too', async () => {
      const b = bench();
      const old = await post(b);
      b.tools.advance(60 * SECOND);
      const kept = await post(b);
      expect(await b.ledger.trail.drop(old.at, 10)).toBe(0);
      expect(await b.ledger.trail.drop(kept.at, 10)).toBe(1);
      expect((await all(b)).map(({ id }) => id)).toEqual([kept.id]);
    });

    it('is there once, however often it is sent', async () => {
      const b = bench();
      const entry = await append(b);
      await b.ledger.trail.append([entry, entryOf(b)]);
      await b.ledger.trail.append([]);
      expect(await all(b)).toHaveLength(2);
    });

    it('goes when it is old, some at a time', async () => {
      const b = bench();
      const old = [await append(b), await append(b, { tenant: OTHER_TENANT }), await append(b)];
      const now = b.tools.now();
      const kept = await append(b);
      expect(await b.ledger.trail.drop(old[0]?.at ?? 0, 10)).toBe(0);
      expect(await b.ledger.trail.drop(now + 1, 2)).toBe(2);
      expect(await b.ledger.trail.drop(now + 1, 2)).toBe(1);
      expect((await all(b)).map(({ id }) => id)).toEqual([kept.id]);
      expect(await all(b, OTHER_TENANT)).toEqual([]);
    });

    it('forgets an owner who is erased, and stays', async () => {
      const b = bench();
      for (let i = 0; i < 3; i += 1) await append(b, { ...ANN_SUBJECT, requestId: i === 0 ? 'of-ann-1' : 'r' });
      const others = [
        await append(b, { subject: { kind: 'user', id: 'bob' } }),
        await append(b, { subject: { kind: 'agent', id: 'ann' } }),
        await append(b),
      ];
      const theirs = await append(b, { tenant: OTHER_TENANT, ...ANN_SUBJECT, ownerHash: 'of another tenant' });
      const { id } = await erase(b);
      expect(await b.ledger.trail.forgetOwner(id, 2)).toBe(2);
      expect(await b.ledger.trail.forgetOwner(id, 2)).toBe(1);
      expect(await b.ledger.trail.forgetOwner(id, 2)).toBe(0);
      const rows = await all(b);
      expect(rows.slice(0, 3)).toEqual(others.toReversed().map(shown));
      expect(rows.slice(3).map(({ subject }) => subject)).toEqual(Array(3).fill({ kind: 'erasure', id }));
      expect(rows.slice(3).map(({ requestId }) => requestId)).toEqual(['r', 'r', null]);
      expect(await all(b, OTHER_TENANT)).toEqual([shown(theirs)]);
    });

    it('that comes late does not bring an erased owner back; one of afterwards is that of a new one', async () => {
      const b = bench();
      const late = entryOf(b, ANN_SUBJECT);
      const { id } = await erase(b);
      b.tools.advance(SECOND);
      const meanwhile = entryOf(b, { ...ANN_SUBJECT, requestId: 'of-ann-2' });
      await b.ledger.trail.append([meanwhile]);
      await b.ledger.erasures.forgetOwner(id);
      await b.ledger.erasures.finish([id], { remains: [], now: b.tools.now() });
      b.tools.advance(SECOND);
      const fresh = entryOf(b, ANN_SUBJECT);
      await b.ledger.trail.append([late, fresh]);
      const erased = { kind: 'erasure', id };
      expect((await all(b)).map(({ subject }) => subject)).toEqual([fresh.subject, erased, erased]);
      expect(await b.ledger.trail.list(TENANT, { subject: id }, ALL)).toMatchObject({ results: [{}, {}] });
      expect(JSON.stringify((await all(b)).slice(1))).not.toContain('ann');
    });
  });
}

function entryOf({ tools }: Bench, given: Partial<NewTrailEntry> = {}): NewTrailEntry {
  tools.advance(SECOND);
  return {
    ...{ id: tools.id('aud'), tenant: TENANT, at: tools.now(), by: 'operator', session: false },
    ...{ action: 'PUT /v1/settings', subject: null, status: 200, code: null, requestId: 'r', ownerHash: null },
    ...given,
  };
}

async function append(b: Bench, given: Partial<NewTrailEntry> = {}): Promise<NewTrailEntry> {
  const entry = entryOf(b, given);
  await b.ledger.trail.append([entry]);
  return entry;
}

/** As a batch is posted that was not there before: its id says when it was made. */
function postOf({ tools }: Bench): Partial<NewTrailEntry> {
  const id = `bat_${digitsOf(tools.now(), TIME_DIGITS)}${tools.id('aud').slice('aud_'.length, 'aud_'.length + 16)}`;
  return { ...{ action: 'POST /v1/batches', status: 202 }, id: idOfPost(id), subject: { kind: 'batch', id } };
}

const TIME_DIGITS = 10;

const post = (b: Bench, given: Partial<NewTrailEntry> = {}): Promise<NewTrailEntry> =>
  append(b, { ...postOf(b), ...given });

const shown = ({ ownerHash: _, ...entry }: NewTrailEntry): TrailEntry => entry;

const all = async (b: Bench, tenant = TENANT) => (await b.ledger.trail.list(tenant, {}, ALL)).results;

const erase = ({ ledger, tools }: Bench) =>
  ledger.erasures.request(TENANT, user(ANN.id), { id: tools.id('ers'), ownerHash: HASH, now: tools.now() });
