import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type {} from '../../../examples/chat-backend/main.ts';
import { call, done, post, quiet } from './client.ts';
import { type Setup, standalone } from './setups.ts';

const EXAMPLE = fileURLToPath(new URL('../../../examples/chat-backend/main.ts', import.meta.url));

let setup: Setup;
beforeAll(async () => {
  setup = await standalone();
});
afterAll(() => setup.close());

const context = async (body: object) => {
  const answer = await post(`${setup.search}/v1/context`, body);
  expect(answer.status).toBe(200);
  return answer.body;
};

/** The lines the example answers when these are typed. */
async function chat(user: string, ...lines: string[]): Promise<string[]> {
  const child = spawn(process.execPath, [EXAMPLE, '--url', setup.ingest, '--user', user]);
  child.stdin.end(lines.join('\n'));
  let [told, failed] = ['', ''];
  child.stdout.on('data', (part) => {
    told += part;
  });
  child.stderr.on('data', (part) => {
    failed += part;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  expect({ code, failed }).toEqual({ code: 0, failed: '' });
  return told.split('\n').filter((line) => line.startsWith('bot: '));
}

test('what was said is in the context at once, first as it was said, then as memories', async () => {
  const said = 'I am Ana, I live in Oslo and I am allergic to peanuts.';
  const batch = { user_id: 'ana', messages: [{ role: 'user', content: said, id: 'c1' }] };
  await done(post(`${setup.ingest}/v1/batches`, batch));
  const first = await context({ user_id: 'ana', query: 'where does she live?' });
  const pendingOrKnown = first.pending.length > 0 ? first.pending[0].content : first.text;
  expect(pendingOrKnown).toContain('Oslo');
  await quiet(setup.search);
  const then = await context({ user_id: 'ana', query: 'where does she live?', max_tokens: 300 });
  expect(then.pending).toEqual([]);
  expect(then.degraded).toBeUndefined();
  expect(then.text).toMatch(/^<memory>\n.*# Profile\n- \[m1\] .*Oslo.*<\/memory>$/s);
  expect(then.tokens).toBeLessThanOrEqual(300);
  expect(new Set(then.memory_ids).size).toBe(then.memory_ids.length);
  expect((await context({ user_id: 'bob', query: 'where does she live?' })).text).toBe('');
});

test('what is turned into another fact is told as it is now', async () => {
  const batch = (content: string) => ({ user_id: 'ming', flush: true, messages: [{ role: 'user', content }] });
  await done(post(`${setup.ingest}/v1/batches?wait=60000`, batch('我叫小明,住在上海,喜欢吃辣的。')));
  await done(post(`${setup.ingest}/v1/batches?wait=60000`, batch('我搬到北京了')));
  const { messages } = await context({ user_id: 'ming', query: '他住在哪里?', format: 'openai' });
  expect(messages).toHaveLength(1);
  expect(messages[0].content).toContain('北京');
  expect(messages[0].content).not.toContain('上海');
});

test('the example of a chat backend knows its user in the next conversation', async () => {
  const nothing = 'bot: I know nothing about you yet.';
  expect(await chat('eve', 'Hi, I am Eve and I live in Bergen.')).toEqual([nothing]);
  await quiet(setup.search);
  const [answer] = await chat('eve', 'Where could I eat tonight?');
  expect(answer).toContain('Bergen');
  expect(await chat('someone else', 'Where do I live?')).toEqual([nothing]);
  expect((await call('DELETE', `${setup.console}/v1/users/eve`)).status).toBe(202);
});
