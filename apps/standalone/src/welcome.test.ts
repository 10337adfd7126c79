import { expect, test } from 'vitest';
import { welcome } from './terminal.ts';

const service = { url: 'http://127.0.0.1:7070', runsOn: { chat_model: 'builtin' }, keyed: false };

test('what it runs on, where things are and something to paste are said', () => {
  const text = welcome(service);
  expect(text).toContain('chat model       builtin');
  expect(text).toContain('http://127.0.0.1:7070/docs');
  expect(text).toContain("curl -s 'http://127.0.0.1:7070/v1/batches");
});

test('with a key the lines to paste send it, without showing it', () => {
  expect(welcome({ ...service, keyed: true }).match(/authorization: Bearer \$SLOWWAVE_API_KEY/g)).toHaveLength(2);
  expect(welcome(service)).not.toContain('authorization');
});
