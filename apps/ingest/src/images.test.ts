import { urlPolicy } from '@slowwave/adapters/net';
import { expect, test } from 'vitest';
import type { IngestDeps } from './batches.ts';
import { ingestBench } from './testing/bench.ts';

const post = async (url: string, images: IngestDeps['images'] = urlPolicy([])) => {
  const bench = await ingestBench(undefined, { images });
  const content = [
    { type: 'text', text: 'look' },
    { type: 'image_url', image_url: { url } },
  ];
  return bench.post({ user_id: 'ann', messages: [{ role: 'user', content }] });
};

const PIXEL = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUg==';

test('without a model that describes images they are refused, with the setting that would change it', async () => {
  const answer = await post(PIXEL, false);
  expect(answer.json()).toMatchObject({
    status: 422,
    code: 'unsupported_content',
    errors: [{ path: 'messages[0].content' }],
  });
  expect(answer.json().detail).toContain('set SLOWWAVE_IMAGE_MODEL');
});

test.each([
  ['a data URL', PIXEL],
  ['a public name', 'https://pictures.example.com/a.png?x=1'],
  ['a public address', 'http://93.184.216.34/a.png'],
  ['a public address, version 6', 'https://[2606:2800:220:1:248:1893:25c8:1946]/a.png'],
])('with one, %s is taken', async (_what, url) => {
  expect((await post(url)).statusCode).toBe(202);
});

test.each([
  ['another kind of data', 'data:text/html;base64,AAAA'],
  ['a drawing with scripts', 'data:image/svg+xml;base64,AAAA'],
  ['data that is not in base64', 'data:image/png,AAAA'],
  ['broken base64', 'data:image/png;base64,AA<script>'],
  ['empty data', 'data:image/png;base64,'],
  ['a file', 'file:///etc/passwd'],
  ['no URL', 'pictures/a.png'],
  ['this machine by name', 'http://localhost:8080/a.png'],
  ['this machine by address', 'http://127.0.0.1/a.png'],
  ['this machine, spelt as a number', 'http://2130706433/a.png'],
  ['this machine, version 6', 'http://[::1]/a.png'],
  ['this machine, version 4 inside version 6', 'http://[::ffff:127.0.0.1]/a.png'],
  ['a private network', 'https://10.1.2.3/a.png'],
  ['another private network', 'https://192.168.1.1/a.png'],
  ['a private network, version 6', 'https://[fd00::1]/a.png'],
  ['the address of cloud metadata', 'http://169.254.169.254/latest'],
  ['a name without a dot', 'http://redis/a.png'],
  ['an internal name', 'http://metadata.google.internal/a.png'],
  ['a service of a cluster', 'https://kubernetes.default.svc/a.png'],
  ['a service of a cluster, in short', 'https://kubernetes.default/a.png'],
  ['this machine, version 4 in the old form of version 6', 'http://[::127.0.0.1]/a.png'],
  ['a site-local address', 'http://[fec0::1]/a.png'],
  ['version 4 behind a local translator', 'http://[64:ff9b:1::7f00:1]/a.png'],
  ['version 4 in a tunnel', 'http://[2001:0:7f00:1::]/a.png'],
  ['a relay to version 6', 'http://192.88.99.1/a.png'],
  ['a password in the URL', 'https://ann:secret@pictures.example.com/a.png'],
])('%s is refused, naming the place', async (_what, url) => {
  expect((await post(url)).json()).toMatchObject({
    status: 422,
    code: 'unsupported_content',
    errors: [{ path: 'messages[0].content[1].image_url.url' }],
  });
});

test.each(['http://pictures.internal/a.png', 'http://pictures.internal./a.png', 'http://10.1.2.3/a.png'])(
  '%s is taken where the operator lists it',
  async (url) => {
    const listed = urlPolicy(['pictures.internal', '10.1.2.3']);
    expect((await post(url, listed)).statusCode).toBe(202);
    expect((await post('http://10.1.2.4/a.png', listed)).statusCode).toBe(422);
  },
);

test('a procedural batch says whose procedure it is', async () => {
  const { post: send } = await ingestBench();
  const procedural = {
    user_id: 'ann',
    mode: 'procedural',
    messages: [{ role: 'assistant', content: 'Opened.' }],
  };
  expect((await send(procedural)).json()).toMatchObject({
    status: 400,
    code: 'invalid_request',
    errors: [{ path: 'agent_id' }],
  });
  expect((await send({ ...procedural, agent_id: 'scout' })).statusCode).toBe(202);
  expect((await send({ ...procedural, run_id: 'r1' })).statusCode).toBe(202);
});
