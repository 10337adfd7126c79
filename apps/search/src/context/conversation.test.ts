import { DEFAULT_TENANT, EngineError } from '@slowwave/engine';
import { expect, test } from 'vitest';
import { searchBench } from '../testing/bench.ts';

async function bench() {
  const made = await searchBench();
  const told = async (query: string, more: object = {}) => {
    const payload = { user_id: 'ann', query, conversation_id: 'chat-1', ...more };
    const answer = await made.app.inject({ method: 'POST', url: '/v1/context', payload });
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

test('if what was told cannot be read or kept, the context begins anew and says so', async () => {
  const b = await bench();
  await b.remember('Ann was in Rome');
  const away = async () => Promise.reject(new EngineError('no', { code: 'ledger_unavailable', retryable: true }));
  Object.assign(b.deps.ledger.present, { told: away, tell: away });
  const { text, degraded } = await b.told('Was Ann in Rome?');
  expect(text).toContain('Rome');
  expect(degraded).toEqual(['what was told before omitted: could not be read (ledger_unavailable)']);
});
