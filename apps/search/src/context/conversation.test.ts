import { DEFAULT_TENANT, EngineError, scopeOf } from '@slowwave/engine';
import type { KeyCheck } from '@slowwave/http';
import { describe, expect, test } from 'vitest';
import { searchBench } from '../testing/bench.ts';

/** Keys that are called like the app they are for; "all" is for all apps. */
const keysNamedByApp: KeyCheck = {
  any: async () => true,
  check: async (keyId) => ({
    kind: 'taken',
    principal: { keyId, tenant: 'default', scopes: ['search'], userId: null, appId: keyId === 'all' ? null : keyId },
  }),
};

async function bench(given: Parameters<typeof searchBench>[0] = {}) {
  const made = await searchBench(given);
  const told = async (query: string, { key = 'all', ...more }: { key?: string } & Record<string, unknown> = {}) => {
    const payload = { user_id: 'ann', query, conversation_id: 'chat-1', ...more };
    const headers = { authorization: `Bearer ${key}` };
    const answer = await made.app.inject({ method: 'POST', url: '/v1/context', headers, payload });
    expect(answer.json()).not.toHaveProperty('code');
    return answer.json();
  };
  const linesOf = ({ text }: { text: string }): string[] =>
    text.split('\n').flatMap((line) => /^- \[m\d+\] \S+ (?<fact>.*)$/u.exec(line)?.groups?.fact ?? []);
  return { ...made, told, lines: async (...asked: Parameters<typeof told>) => linesOf(await told(...asked)) };
}

test('what a conversation was told keeps its place, and what is new comes after it', async () => {
  const b = await bench();
  await b.remember('Ann likes green tea');
  await b.remember('Ann was in Rome');
  const first = await b.told('Which tea does Ann like?');
  const second = await b.told('Was Ann in Rome?');
  const stable = first.text.slice(0, first.text.indexOf('# Today'));
  expect(stable).toContain('tea');
  expect(second.text.startsWith(stable)).toBe(true);
  expect(await b.lines('Was Ann in Rome?')).toEqual(['Ann likes green tea', 'Ann was in Rome']);
});

test('other conversations, and other users with a conversation of the same id, begin anew', async () => {
  const b = await bench();
  await b.remember('Ann likes green tea');
  await b.remember('Ann was in Rome');
  await b.remember('Ann was in Rome', { user_id: 'bob' });
  await b.told('Which tea does Ann like?');
  expect(await b.lines('Was Ann in Rome?', { conversation_id: 'chat-2' })).toEqual(['Ann was in Rome']);
  expect(await b.lines('Was Ann in Rome?', { conversation_id: undefined })).toEqual(['Ann was in Rome']);
  expect(await b.lines('Was Ann in Rome?', { user_id: 'bob' })).toEqual(['Ann was in Rome']);
});

test('what was corrected or deleted is gone from the next context', async () => {
  const b = await bench();
  const tea = await b.remember('Ann likes green tea');
  const dog = await b.remember('Ann has a dog called Rex');
  await b.remember('Ann was in Rome');
  await b.told('Which tea does Ann like?');
  await b.told('What is the dog of Ann called?');
  await b.writer.remove(DEFAULT_TENANT, tea);
  expect(await b.lines('Was Ann in Rome?')).not.toContain('Ann likes green tea');
  await b.told('What is the dog of Ann called?');
  await b.writer.change(DEFAULT_TENANT, dog, { text: 'Ann has a dog called Max' });
  expect(await b.lines('Was Ann in Rome?')).not.toContain('Ann has a dog called Rex');
});

test('what does not fit the filters or ids of the next request is not told again', async () => {
  const b = await bench();
  await b.remember('Ann likes green tea', { user_id: 'ann', run_id: 'r1' });
  await b.remember('Ann was in Rome', { user_id: 'ann', run_id: 'r2' });
  await b.told('Which tea does Ann like?');
  expect(await b.lines('Was Ann in Rome?', { run_id: 'r2' })).toEqual(['Ann was in Rome']);
  await b.told('Which tea does Ann like?');
  expect(await b.lines('Was Ann in Rome?', { filters: { run_id: 'r2' } })).toEqual(['Ann was in Rome']);
});

test('of a moment before it was said, or before it held, nothing is told again', async () => {
  const b = await bench();
  await b.remember('Ann likes green tea');
  const { citations } = await b.told('Which tea does Ann like?');
  const before = new Date(Date.parse(citations[0].valid_from) - 60_000).toISOString();
  expect(await b.lines('Was Ann in Rome?', { as_of: before })).toEqual([]);
  expect(await b.lines('Was Ann in Rome?', { as_of: citations[0].valid_from })).toEqual(['Ann likes green tea']);
});

test('what is to come is told again from the moment it was said', async () => {
  const b = await bench();
  const now = b.deps.tools.now();
  await b.writer.add(DEFAULT_TENANT, {
    ...{ scope: scopeOf({ user_id: 'ann' }), text: 'Ann moves to Oslo', metadata: {}, category: null },
    ...{ immutable: false, trust: 'user', validFrom: now + 86_400_000, expiresAt: null },
  });
  await b.told('Where does Ann move to?');
  const as_of = new Date(now + 60_000).toISOString();
  expect(await b.lines('Was Ann in Rome?', { as_of })).toEqual(['Ann moves to Oslo']);
});

test('keys for different apps share no conversation, and go on after receipts of their own alone', async () => {
  const b = await bench({ keys: keysNamedByApp });
  for (const app_id of ['shop', 'bank']) {
    await b.remember('Ann likes green tea', { user_id: 'ann', app_id });
    await b.remember('Ann was in Rome', { user_id: 'ann', app_id });
  }
  const asShop = { key: 'shop', app_id: 'shop' };
  const tea = await b.told('Which tea does Ann like?', asShop);
  const both = ['Ann likes green tea', 'Ann was in Rome'];
  expect(await b.lines('Was Ann in Rome?', { key: 'bank', app_id: 'bank' })).toEqual(['Ann was in Rome']);
  expect(await b.lines('Was Ann in Rome?', { key: 'all', app_id: 'shop' })).toEqual(['Ann was in Rome']);
  expect(await b.lines('Was Ann in Rome?', asShop)).toEqual(both);
  const after = { conversation_id: undefined, after: tea.receipt_id };
  expect(await b.lines('Was Ann in Rome?', { ...asShop, ...after })).toEqual(both);
  expect(await b.lines('Was Ann in Rome?', { key: 'all', app_id: 'shop', ...after })).toEqual(both);
});

test('a key for an app does not go on after what a key for all apps was told', async () => {
  const b = await bench({ keys: keysNamedByApp });
  await b.remember('Ann likes green tea', { user_id: 'ann', app_id: 'shop' });
  await b.remember('Ann was in Rome', { user_id: 'ann', app_id: 'shop' });
  const apart = { app_id: 'shop', conversation_id: undefined };
  const first = await b.told('Which tea does Ann like?', { key: 'all', ...apart });
  const second = await b.told('Which tea does Ann like?', { key: 'all', ...apart, after: first.receipt_id });
  for (const after of [first.receipt_id, second.receipt_id]) {
    expect(await b.lines('Was Ann in Rome?', { key: 'shop', ...apart, after })).toEqual(['Ann was in Rome']);
  }
});

test('beyond the rate nothing more is noted, and what was told earlier keeps its place', async () => {
  const rate = { isOpen: true };
  const b = await bench({ mayTell: () => rate.isOpen });
  await b.remember('Ann likes green tea');
  await b.remember('Ann was in Rome');
  await b.remember('Ann has a dog called Rex');
  await b.told('Which tea does Ann like?');
  rate.isOpen = false;
  expect(await b.lines('What is the dog of Ann called?')).toEqual(['Ann likes green tea', 'Ann has a dog called Rex']);
  rate.isOpen = true;
  expect(await b.lines('Was Ann in Rome?')).toEqual(['Ann likes green tea', 'Ann was in Rome']);
});

test('if what was told cannot be read or kept, the context begins anew and says so', async () => {
  const b = await bench();
  await b.remember('Ann was in Rome');
  const away = async () => Promise.reject(new EngineError('no', { code: 'ledger_unavailable', retryable: true }));
  Object.assign(b.deps.ledger.present, { told: away, tell: away });
  const { text, degraded } = await b.told('Was Ann in Rome?');
  expect(text).toContain('Rome');
  expect(degraded).toEqual(['the previous context omitted: could not be read (ledger_unavailable)']);
});

describe('after a receipt', () => {
  const NO_NAME = { conversation_id: undefined };

  test('what its context told keeps its place, and so it goes on from receipt to receipt', async () => {
    const b = await bench();
    await b.remember('Ann likes green tea');
    await b.remember('Ann was in Rome');
    await b.remember('Ann has a dog called Rex');
    const first = await b.told('Was Ann in Rome?', NO_NAME);
    const second = await b.told('Which tea does Ann like?', { ...NO_NAME, after: first.receipt_id });
    const third = await b.lines('What is the dog of Ann called?', { ...NO_NAME, after: second.receipt_id });
    expect(third).toEqual(['Ann was in Rome', 'Ann likes green tea', 'Ann has a dog called Rex']);
  });

  test('of another user, or one that is not known, nothing is told', async () => {
    const b = await bench();
    await b.remember('Ann likes green tea');
    await b.remember('Bob was in Rome', { user_id: 'bob' });
    const { receipt_id: after } = await b.told('Which tea does Ann like?', NO_NAME);
    expect(await b.lines('Was Bob in Rome?', { ...NO_NAME, user_id: 'bob', after })).toEqual(['Bob was in Rome']);
    expect(await b.lines('Which tea does Ann like?', { ...NO_NAME, after: 'rcp_none' })).toEqual([
      'Ann likes green tea',
    ]);
  });

  test('the profile stays the profile', async () => {
    const b = await bench();
    const name = await b.remember('Ann is called Annie');
    await b.remember('Ann was in Rome');
    await b.writer.change(DEFAULT_TENANT, name, { pinned: true });
    const first = await b.told('Was Ann in Rome?', NO_NAME);
    const second = await b.told('Was Ann in Rome?', { ...NO_NAME, after: first.receipt_id });
    expect(second.text).toBe(first.text);
    expect(first.text).toContain('# Profile\n- [m1] 2026-03-01 Ann is called Annie');
  });

  test('and in a conversation at once, is refused', async () => {
    const b = await bench();
    const payload = { user_id: 'ann', query: 'Rome?', conversation_id: 'c', after: 'rcp_1' };
    const answer = await b.app.inject({ method: 'POST', url: '/v1/context', payload });
    expect(answer.json()).toMatchObject({ status: 400, errors: [{ path: 'after' }] });
  });
});
