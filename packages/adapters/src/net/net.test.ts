import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { guardedRequest, type Resolve } from './guarded.ts';
import { isPublicAddress, isRange, urlPolicy } from './url-policy.ts';

const PRIVATE = [
  ...['0.0.0.0', '0.1.2.3', '10.1.2.3', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.255.0.1', '169.254.169.254'],
  ...['172.16.0.1', '172.31.255.255', '192.0.0.8', '192.0.2.1', '192.88.99.1', '192.168.1.1', '198.18.0.1'],
  ...['198.51.100.1', '203.0.113.9', '224.0.0.1', '239.1.1.1', '240.0.0.1', '255.255.255.255'],
  ...['::', '::1', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:8.8.8.8', '::127.0.0.1', '64:ff9b::7f00:1'],
  ...['64:ff9b:1::1', '100::1', '2001::1', '2001:db8::1', '2002:7f00:1::', '3fff::1', '4000::1', '5f00::1'],
  ...['fc00::1', 'fd00::1', 'fdff::1', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1', '2606:4700::1%eth0'],
  ...['', 'localhost', '127.1', '1.2.3', 'example.com'],
];
const PUBLIC = ['1.1.1.1', '8.8.8.8', '100.63.255.255', '100.128.0.0', '172.15.0.1', '172.32.0.1', '192.167.0.1'];
const PUBLIC_IPV6 = ['2606:4700:4700::1111', '2a00:1450:4001::8a', '2001:4860:4860::8888', '2400:cb00::1'];

describe('addresses', () => {
  it.each(PRIVATE)('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
  it.each([...PUBLIC, ...PUBLIC_IPV6])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
  it('tells ranges from names', () => {
    expect(['10.0.0.0/8', '10.0.0.1', 'fd00::/8', '::1'].every(isRange)).toBe(true);
    expect(['10.0.0.0/33', '10.0.0.0/8/1', 'receiver', '10.0.0.0/', 'fe80::1%eth0', ''].some(isRange)).toBe(false);
  });
});

describe('URLs that callers name', () => {
  const policy = urlPolicy([]);
  it.each([
    ...['127.1', '127.0.0.1', '0x7f.1', '0x7f000001', '2130706433', '017700000001', '0177.0.0.1', '0', '0.0.0.0'],
    ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::1]', '[::]', '[fd00::1]', '[fe80::1]', '[64:ff9b::7f00:1]'],
    ...['[::127.0.0.1]', '[fec0::1]', '[64:ff9b:1::7f00:1]', '[2001:0:7f00:1::]', '192.88.99.1', '[2002:7f00:1::]'],
    ...['kubernetes.default.svc', 'kubernetes.default', 'redis.svc.cluster.local', 'vault.service.consul', 'redis'],
    ...['metadata.google.internal', 'METADATA.google.INTERNAL.', 'printer.local', 'router.home.arpa', 'db.lan', 'a.1x'],
    ...['169.254.169.254', '100.64.1.1', '10.0.0.1', '192.168.0.1', '１２７.0.0.1', '127。0。0。1', '127.0.0.1.'],
  ])('https://%s is refused', (host) => {
    expect(() => policy.check(`https://${host}/x`)).toThrow(/the URL is refused: expected a host on the public/);
  });
  it.each([
    ['http://example.com/', /expected https/],
    ['http://8.8.8.8/', /expected https/],
    ['ftp://example.com/', /begins with https/],
    ['file:///etc/passwd', /begins with https/],
    ['data:text/plain,x', /begins with https/],
    ['https://user@example.com/', /without user/],
    ['https://:password@example.com/', /without user/],
    ['no url', /expected a URL/],
    [`https://example.com/${'x'.repeat(2_048)}`, /at most 2048/],
  ])('%s is refused', (url, why) => {
    expect(() => policy.check(url)).toThrow(why);
  });
  it('takes public hosts over https', () => {
    expect(policy.check('https://Example.COM:8443/hook?a=1').href).toBe('https://example.com:8443/hook?a=1');
    expect(policy.check('https://8.8.8.8/').hostname).toBe('8.8.8.8');
    expect(policy.check('https://xn--fiqs8s.xn--fiqs8s./x').hostname).toBe('xn--fiqs8s.xn--fiqs8s.');
    expect(policy.check('https://local.internal.example.com/').hostname).toBe('local.internal.example.com');
  });
  it('takes what the operator lists, over http too, and nothing beside it', () => {
    const open = urlPolicy(['10.1.0.0/16', '127.0.0.1', 'fd00::/8', 'Receiver']);
    for (const host of ['10.1.2.3', '127.1', '[fd00::7]', 'receiver', '[::ffff:127.0.0.1]']) {
      expect(open.check(`http://${host}:8080/`).port).toBe('8080');
    }
    for (const host of ['10.2.0.1', '127.0.0.2', '[fe80::1]', 'other']) {
      expect(() => open.check(`http://${host}/`)).toThrow(/the URL is refused/);
    }
    expect(open.mayConnect('receiver', '192.168.0.1')).toBe(true);
    expect(open.mayConnect('other', '192.168.0.1')).toBe(false);
  });
});

describe('a request to a URL that a caller named', () => {
  let server: Server;
  let port = 0;
  let asked = 0;
  beforeAll(async () => {
    server = createServer((request, response) => {
      asked += 1;
      if (request.url === '/slow') return;
      if (request.url === '/away') response.writeHead(302, { location: 'http://127.0.0.1:1/' });
      response.end('x'.repeat(100));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const ask = { method: 'POST', headers: {}, body: 'hello', timeoutMs: 5_000, bytesMax: 10 } as const;
  const loopback: Resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  const mixed: Resolve = async () => [
    { address: '93.184.216.34', family: 4 },
    { address: '::ffff:169.254.169.254', family: 6 },
  ];

  it('goes to a listed address, reads no more of the answer than wanted, and follows no redirect', async () => {
    const policy = urlPolicy(['127.0.0.1']);
    const answer = await guardedRequest(`http://127.0.0.1:${port}/`, ask, { policy });
    expect({ ...answer, body: answer.body.toString(), headers: null }).toEqual({
      status: 200,
      headers: null,
      body: 'x'.repeat(10),
      cut: true,
    });
    expect((await guardedRequest(`http://127.0.0.1:${port}/away`, ask, { policy })).status).toBe(302);
  });
  it('goes to a listed name', async () => {
    const how = { policy: urlPolicy(['receiver']), resolve: loopback };
    expect((await guardedRequest(`http://receiver:${port}/`, ask, how)).status).toBe(200);
  });
  it('never reaches a private address behind a public name', async () => {
    const before = asked;
    for (const resolve of [loopback, mixed, async () => []]) {
      const policy = urlPolicy([]);
      await expect(guardedRequest(`https://example.com:${port}/`, ask, { policy, resolve })).rejects.toThrow(
        /the operator can allow it|no address/,
      );
    }
    expect(asked).toBe(before);
  });
  it('is not fooled by a name that changes its meaning after the check', async () => {
    const listed = urlPolicy([]);
    const fooled = { ...listed, check: (text: string) => new URL(text) };
    const before = asked;
    await expect(guardedRequest(`http://127.0.0.1:${port}/`, ask, { policy: fooled })).rejects.toThrow(
      /the operator can allow it/,
    );
    expect(asked).toBe(before);
  });
  it('gives up in time', async () => {
    const how = { policy: urlPolicy(['127.0.0.1']) };
    const slow = guardedRequest(`http://127.0.0.1:${port}/slow`, { ...ask, timeoutMs: 50 }, how);
    await expect(slow).rejects.toThrow('the request to 127.0.0.1 failed: no answer within 50 ms');
  });
});
