import { expect, test } from 'vitest';
import { memoriesOf } from './import-mem0.ts';

test('memories are read from answers of the API and from payloads of a collection', () => {
  const fromApi = {
    id: 'a',
    memory: 'Lives in Oslo',
    user_id: 'ana',
    agent_id: null,
    metadata: { source: 'chat' },
    categories: ['personal'],
    created_at: '2025-01-01T00:00:00-08:00',
    updated_at: '2025-03-01T00:00:00Z',
  };
  const fromCollection = {
    id: 7,
    data: 'Has a cat',
    hash: 'x',
    user_id: 'ana',
    run_id: 'r',
    created_at: 'oops',
    mood: 'glad',
  };
  expect(memoriesOf([fromApi, fromCollection], null)).toEqual([
    {
      id: 'a',
      text: 'Lives in Oslo',
      ids: { user_id: 'ana' },
      at: '2025-03-01T00:00:00.000Z',
      expiresAt: null,
      metadata: { source: 'chat' },
    },
    {
      ...{ id: '7', text: 'Has a cat', ids: { user_id: 'ana', run_id: 'r' }, at: null, expiresAt: null },
      metadata: { mood: 'glad' },
    },
  ]);
});

test('memories are read as mem0’s JavaScript writes them', () => {
  const payload = {
    ...{ id: '8e1a', data: 'Has a dog', textLemmatized: 'have dog', hash: 'x', attributedTo: 'user' },
    ...{ createdAt: '2025-01-01T00:00:00Z', updatedAt: '2025-02-01T00:00:00Z', user_id: 'ana', moodOf: 'the day' },
    expiration_date: '2026-05-01',
  };
  const answer = { id: '9f2b', memory: 'Has a cat', userId: 'ana', runId: null, createdAt: '2025-01-01T00:00:00Z' };
  expect(memoriesOf([payload, answer], null)).toEqual([
    {
      ...{ id: '8e1a', text: 'Has a dog', ids: { user_id: 'ana' }, at: '2025-02-01T00:00:00.000Z' },
      expiresAt: '2026-05-02T00:00:00.000Z',
      metadata: { moodOf: 'the day' },
    },
    {
      ...{ id: '9f2b', text: 'Has a cat', ids: { user_id: 'ana' }, at: '2025-01-01T00:00:00.000Z' },
      expiresAt: null,
      metadata: {},
    },
  ]);
});

test('what names nobody needs somebody', () => {
  expect(memoriesOf([{ memory: 'x' }], 'ana')[0]?.ids).toEqual({ user_id: 'ana' });
  expect(() => memoriesOf([{ memory: 'x' }], null)).toThrow(/number 1: expected a user.*--user/s);
});

test('every item that cannot be used is named, and none is used then', () => {
  const items = [{ memory: 'fine', user_id: 'ana' }, { memory: ' ', user_id: 'ana' }, 'text'];
  expect(() => memoriesOf(items, null)).toThrow(
    /2 of 3 items are not valid.*nothing was imported.*number 2.*number 3/s,
  );
});
