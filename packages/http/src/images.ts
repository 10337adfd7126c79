import { BlockList, isIP } from 'node:net';
import { hasImage, type MessageBody } from '@slowwave/contracts';
import { problem } from './problem.ts';

/** Whether images are taken; true: those on the public internet, else also those the operator lists. */
export type ImagesTaken = boolean | { mayConnect(host: string, address: string): boolean };

/** Refuses images that cannot be described: all of them where no model does it, else those it could not or must not get. */
export function checkImages(messages: readonly MessageBody[], taken: ImagesTaken): void {
  for (const [i, { content }] of messages.entries()) {
    if (typeof content === 'string' || !hasImage(content)) continue;
    if (taken === false) throw refusal(`messages[${i}].content`, NO_MODEL);
    for (const [part, { type, ...rest }] of content.entries()) {
      const mistake = type === 'image_url' && 'image_url' in rest ? mistakeIn(rest.image_url.url, taken) : null;
      if (mistake !== null) throw refusal(`messages[${i}].content[${part}].image_url.url`, mistake);
    }
  }
}

const NO_MODEL =
  'expected text, got an image, and no model is configured that describes images; ' +
  'set SLOWWAVE_IMAGE_MODEL to one that does, or send a description as text';

const refusal = (path: string, message: string) =>
  problem('unsupported_content', `${path}: ${message}`, { errors: [{ path, message }] });

function mistakeIn(url: string, taken: ImagesTaken): string | null {
  return url.startsWith('data:') ? mistakeInData(url) : mistakeInAddress(url, taken);
}

const DATA = /^data:image\/(?:png|jpe?g|gif|webp);base64,(?=[A-Za-z0-9+/])/u;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/u;

function mistakeInData(url: string): string | null {
  const head = DATA.exec(url)?.[0];
  if (head === undefined) {
    return `expected data:image/png, jpeg, gif or webp in base64, got ${JSON.stringify(url.slice(0, 40))}`;
  }
  return BASE64.test(url.slice(head.length)) ? null : 'expected base64 after the comma, got other characters in it';
}

/** The model's server fetches it, from where it stands: an address inside a network must not be reached that way. */
function mistakeInAddress(text: string, taken: ImagesTaken): string | null {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    return 'expected an http, https or data URL, got something else';
  }
  if (url.username !== '' || url.password !== '') return 'expected a URL without a user and a password in it';
  const host = url.hostname
    .replace(/^\[(.*)\]$/u, '$1')
    .replace(/\.$/u, '')
    .toLowerCase();
  if (typeof taken === 'object' && taken.mayConnect(host, host)) return null;
  return isPrivate(host)
    ? `expected a public host, got ${host}; send the image as a data URL, or let the operator list the host in ` +
        'SLOWWAVE_ALLOW_PRIVATE_URLS'
    : null;
}

const PRIVATE = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const) {
  PRIVATE.addSubnet(network, bits, 'ipv4');
}
for (const [network, bits] of [
  ['::', 127],
  ['64:ff9b::', 96],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  PRIVATE.addSubnet(network, bits, 'ipv6');
}
const PRIVATE_NAME = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home|corp|private|home\.arpa)$/u;

/** Loopback, private and link-local addresses, and names that only mean something inside a network. */
function isPrivate(host: string): boolean {
  const family = isIP(host);
  if (family !== 0) return PRIVATE.check(host, family === 6 ? 'ipv6' : 'ipv4');
  return PRIVATE_NAME.test(host) || !host.includes('.');
}
