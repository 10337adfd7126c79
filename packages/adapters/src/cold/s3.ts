import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError } from '@slowwave/engine';
import type { Objects } from './objects.ts';
import { type Credentials, signed } from './signature.ts';

export interface Bucket extends Credentials {
  /** Of the server; null: Amazon's, by the region. */
  readonly endpoint: string | null;
  readonly name: string;
  /** Before all names; '' or something that ends with a slash. */
  readonly prefix: string;
}

/** An object has a few hundred kilobytes; a server that is slower than this is away. */
const ANSWER_MS = 30_000;
const TRIES = 3;
const PAUSE_MS = 200;
const LIST_MAX = 1_000;

/** Objects of a bucket, by five requests of the S3 API. */
export function s3Objects(bucket: Bucket): Objects {
  const base = baseOf(bucket);
  const urlOf = (name: string): URL => new URL(`${base}${bucket.prefix}${name}`);
  const ask = asking(bucket);
  let versioning: string | null = null;
  return {
    put: async (name, bytes) => {
      await ask({ method: 'PUT', url: urlOf(name), body: bytes });
    },
    get: async (name) => {
      const response = await ask({ method: 'GET', url: urlOf(name) }, [404]);
      return response.status === 404 ? null : new Uint8Array(await response.arrayBuffer());
    },
    delete: async (name) => {
      await ask({ method: 'DELETE', url: urlOf(name) }, [404]);
    },
    list: async (after, limit) => {
      const url = new URL(base);
      const asked = { 'list-type': '2', prefix: bucket.prefix, 'max-keys': String(Math.min(limit, LIST_MAX)) };
      for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
      if (after !== null) url.searchParams.set('start-after', `${bucket.prefix}${after}`);
      const xml = await (await ask({ method: 'GET', url })).text();
      return [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].flatMap(([, of = '']) => {
        const name = textIn(of, 'Key').slice(bucket.prefix.length);
        return /^\w+$/.test(name) ? [{ name, bytes: Number(textIn(of, 'Size')) }] : [];
      });
    },
    remains: async () => {
      versioning ??= await versioningOf(ask, base);
      return versioning === '' ? [] : [versioning];
    },
  };
}

/** What people have to know of a bucket that keeps what is deleted; '': it does not. */
async function versioningOf(ask: Ask, base: string): Promise<string> {
  const url = new URL(base);
  url.searchParams.set('versioning', '');
  const response = await ask({ method: 'GET', url }, [403, 405, 501]);
  if (!response.ok) {
    return 'could not find out whether the segment bucket keeps old versions, because it does not answer GetBucketVersioning; make sure that versioning is off';
  }
  const status = textIn(await response.text(), 'Status');
  if (status === '') return '';
  const days = 'expire noncurrent versions with a lifecycle rule, or use a bucket without versioning';
  return `the segment bucket has versioning (${status.toLowerCase()}) and may keep deleted objects as old versions; ${days}`;
}

const textIn = (xml: string, tag: string): string => new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(xml)?.[1] ?? '';

/** On Amazon a bucket has a host of its own; other servers have it in the path. */
function baseOf({ endpoint, name, region }: Bucket): string {
  if (endpoint === null) return `https://${name}.s3.${region}.amazonaws.com/`;
  return `${endpoint.replace(/\/$/, '')}/${name}/`;
}

interface Request {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  readonly url: URL;
  readonly body?: Uint8Array;
}

/** Throws unless the answer is good, or has one of these statuses. */
type Ask = (request: Request, expected?: readonly number[]) => Promise<Response>;

const asking =
  (bucket: Bucket): Ask =>
  async (request, expected = []) => {
    for (let tried = 1; ; tried += 1) {
      const answer = await send(request, bucket).catch((error: unknown) => error as Error);
      if (answer instanceof Response && (answer.ok || expected.includes(answer.status))) return answer;
      const again = answer instanceof Error || answer.status >= 500 || answer.status === 429;
      if (!again || tried === TRIES) throw await failure(request, bucket, answer);
      await sleep(PAUSE_MS * tried);
    }
  };

const send = ({ method, url, body }: Request, bucket: Bucket): Promise<Response> =>
  fetch(url, {
    method,
    headers: signed({ method, url, at: new Date(), ...(body !== undefined && { body }) }, bucket),
    ...(body !== undefined && { body: body as Uint8Array<ArrayBuffer> }),
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWER_MS),
  });

/** With the server's own code, which says what to mend. */
async function failure({ method }: Request, { name }: Bucket, answer: Response | Error): Promise<EngineError> {
  const [what, retryable] =
    answer instanceof Error
      ? [answer.message, true]
      : [
          `status ${answer.status} ${textIn(await answer.text(), 'Code')}`,
          answer.status >= 500 || answer.status === 429,
        ];
  return new EngineError(
    `expected the bucket ${name} to answer ${method}, got ${what}; check SLOWWAVE_COLD_STORE, its keys, and the server`,
    { code: 'segment_unavailable', retryable, cause: answer },
  );
}
