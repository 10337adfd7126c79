import { hasImage, type MessageBody } from '@slowwave/contracts';
import { problem } from './errors.ts';

/** More than local times differ in practice. */
const AHEAD_MAX_MS = 24 * 3_600_000;

interface Timed {
  readonly timestamp?: string | undefined;
  readonly messages: readonly Pick<MessageBody, 'timestamp'>[];
}

/** Refuses messages from more than a day in the future: their unit or year is wrong, not just the time zone. */
export function checkTimes({ timestamp, messages }: Timed, now: number): void {
  refuseAhead('timestamp', timestamp, now);
  for (const [i, message] of messages.entries()) refuseAhead(`messages[${i}].timestamp`, message.timestamp, now);
}

function refuseAhead(path: string, timestamp: string | undefined, now: number): void {
  if (timestamp === undefined || Date.parse(timestamp) - now <= AHEAD_MAX_MS) return;
  const message =
    `expected a time at most 24 hours in the future, got ${timestamp}; it is ${new Date(now).toISOString()}. ` +
    'Send the time when the message was said, with the UTC offset of the speaker, like 2026-03-01T09:30:00+09:00';
  throw problem('invalid_request', `${path}: ${message}`, { errors: [{ path, message }] });
}

/** false: images are refused; else which hosts they may be on, by the same rules as for webhooks. */
export type ImagesTaken = false | { mayName(host: string): boolean };

type Taken = Exclude<ImagesTaken, false>;

/** Refuses images that cannot be described: all without an image model, else those that it cannot or must not load. */
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
  'expected text, got an image, and no image model is configured; set SLOWWAVE_IMAGE_MODEL, or send a description ' +
  'as text';

const refusal = (path: string, message: string) =>
  problem('unsupported_content', `${path}: ${message}`, { errors: [{ path, message }] });

function mistakeIn(url: string, taken: Taken): string | null {
  return url.startsWith('data:') ? mistakeInData(url) : mistakeInAddress(url, taken);
}

const DATA = /^data:image\/(?:png|jpe?g|gif|webp);base64,(?=[A-Za-z0-9+/])/u;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/u;

function mistakeInData(url: string): string | null {
  const head = DATA.exec(url)?.[0];
  if (head === undefined) {
    return `expected data:image/png, jpeg, gif or webp in base64, got ${JSON.stringify(url.slice(0, 40))}`;
  }
  return BASE64.test(url.slice(head.length)) ? null : 'expected base64 after the comma, got other characters';
}

/** The model server loads it, so addresses inside its network must not be reachable this way. */
function mistakeInAddress(text: string, taken: Taken): string | null {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    return 'expected an http, https or data URL, got something else';
  }
  if (url.username !== '' || url.password !== '') return 'expected a URL without a user name and password';
  const host = url.hostname
    .replace(/^\[(.*)\]$/u, '$1')
    .replace(/\.$/u, '')
    .toLowerCase();
  return taken.mayName(host)
    ? null
    : `expected a public host, got ${host}; send the image as a data URL, or ask the operator to add the host to ` +
        'SLOWWAVE_ALLOW_PRIVATE_URLS';
}
