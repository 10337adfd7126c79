import type { ChatCall } from '@slowwave/engine';
import { fakeChat, NEVER } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { guardedImages, type Resolve } from './guarded.ts';
import { urlPolicy } from './url-policy.ts';

const NAMES: Readonly<Record<string, readonly string[]>> = {
  'pictures.example.com': ['93.184.216.34'],
  'inside.example.com': ['10.0.0.7'],
  'both.example.com': ['93.184.216.34', '169.254.169.254'],
  'nowhere.example.com': [],
};
const resolve: Resolve = async (host) => {
  const known = NAMES[host];
  if (known === undefined) throw new Error(`${host} is not known`);
  return known.map((address) => ({ address, family: 4 }));
};

/** Asks about these images, with what the operator lists. */
async function ask(images: readonly string[], listed: readonly string[] = []) {
  const chat = fakeChat({ describe_image: () => ({ description: 'A cat' }) });
  const guarded = guardedImages(chat, { policy: urlPolicy(listed), resolve });
  const call: ChatCall = { name: 'describe_image', system: '', user: 'Describe\n{}', schema: {}, images };
  const failure = await guarded.ask(call, NEVER).then(
    () => null,
    (error: unknown) => error,
  );
  return { failure, asked: chat.calls.length };
}

test.each([
  ['no image', []],
  ['data', ['data:image/png;base64,AAAA']],
  ['a public name', ['https://pictures.example.com/a.png']],
  ['a public address', ['http://93.184.216.34/a.png']],
])('%s reaches the model', async (_what, images) => {
  expect(await ask(images)).toEqual({ failure: null, asked: 1 });
});

test.each([
  ['a name that leads inside', 'https://inside.example.com/a.png'],
  ['a name that leads inside, too', 'https://both.example.com/a.png'],
  ['an address inside', 'http://127.0.0.1:9200/_search'],
  ['an address inside, spelt as a number', 'http://2130706433/'],
  ['the metadata of a cloud', 'http://169.254.169.254/latest/meta-data'],
  ['an address inside, version 6', 'http://[fd00::1]/'],
])('%s never does', async (_what, image) => {
  const { failure, asked } = await ask(['https://pictures.example.com/a.png', image]);
  expect(failure).toMatchObject({ code: 'unsupported_content', retryable: false });
  expect(asked).toBe(0);
});

test('a name without an address is tried again later, and never shown to the model meanwhile', async () => {
  for (const image of ['https://nowhere.example.com/a.png', 'https://unknown.example.com/a.png']) {
    const { failure, asked } = await ask([image]);
    expect(failure).toMatchObject({ code: 'unsupported_content', retryable: true });
    expect(asked).toBe(0);
  }
});

test('what the operator lists is taken, by name and by range', async () => {
  expect(await ask(['http://inside.example.com/a.png'], ['inside.example.com'])).toMatchObject({ asked: 1 });
  expect(await ask(['http://inside.example.com/a.png'], ['10.0.0.0/8'])).toMatchObject({ asked: 1 });
  expect(await ask(['http://127.0.0.1/a.png'], ['127.0.0.1'])).toMatchObject({ asked: 1 });
});
