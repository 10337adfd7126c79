import { createHash, createHmac } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError } from '@slowwave/engine';

/** Bytes by a name: a folder, or a bucket. Names have letters, digits and `_` alone. */
export interface Objects {
  /** There for good when it resolves. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** null: there is none. */
  get(name: string): Promise<Uint8Array | null>;
  /** Idempotent. */
  delete(name: string): Promise<void>;
  /** By name. */
  list(after: string | null, limit: number): Promise<readonly { readonly name: string; readonly bytes: number }[]>;
  /** What stays of objects that were deleted, for people. */
  remains(): Promise<readonly string[]>;
}

const SUFFIX = '.segment';
/** What a process that died has left of a file; the next one with the name writes over it. */
const UNFINISHED = '.unfinished';

/** Objects as files of a folder, which is made when the first one is written. */
export function folderObjects(folder: string): Objects {
  const pathOf = (name: string): string => join(folder, `${name}${SUFFIX}`);
  return {
    put: async (name, bytes) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const unfinished = `${pathOf(name)}${UNFINISHED}`;
      await using(await open(unfinished, 'w', 0o600), async (file) => {
        await file.writeFile(bytes);
        await file.sync();
      });
      await rename(unfinished, pathOf(name));
      await syncFolder(folder);
    },
    get: (name) => unlessMissing(readFile(pathOf(name))),
    delete: async (name) => {
      await rm(pathOf(name), { force: true });
      await rm(`${pathOf(name)}${UNFINISHED}`, { force: true });
      await unlessMissing(syncFolder(folder));
    },
    list: async (after, limit) => {
      const files = ((await unlessMissing(readdir(folder))) ?? []).filter((file) => file.endsWith(SUFFIX)).sort();
      const names = files.map((file) => file.slice(0, -SUFFIX.length));
      const page = names.filter((name) => after === null || name > after).slice(0, limit);
      const found = await Promise.all(
        page.map(async (name) => {
          const file = await unlessMissing(stat(pathOf(name)));
          return file === null ? [] : [{ name, bytes: file.size }];
        }),
      );
      return found.flat();
    },
    remains: async () => [],
  };
}

/** A name is in its folder after a power failure, or gone from it. */
const syncFolder = async (folder: string): Promise<void> => using(await open(folder, 'r'), (file) => file.sync());

async function using<T>(file: FileHandle, work: (file: FileHandle) => Promise<T>): Promise<T> {
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

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

/** Whom a bucket knows. */
interface Credentials {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
}

interface ToSign {
  readonly method: string;
  readonly url: URL;
  /** Beside the host and what the signature adds. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly at: Date;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');
const hmac = (key: Uint8Array | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** The headers of a request to S3, signed as AWS Signature Version 4 says. */
export function signed(request: ToSign, { accessKey, secretKey, region }: Credentials): Record<string, string> {
  const { method, url, at, body = new Uint8Array() } = request;
  const moment = at.toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  const day = moment.slice(0, 8);
  const headers: Record<string, string> = {
    ...request.headers,
    host: url.host,
    'x-amz-content-sha256': sha256(body),
    'x-amz-date': moment,
  };
  const names = Object.keys(headers).sort();
  const canonical = [
    method,
    url.pathname,
    queryOf(url),
    ...names.map((name) => `${name}:${headers[name]?.trim()}`),
    '',
    names.join(';'),
    headers['x-amz-content-sha256'],
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = [ALGORITHM, moment, scope, sha256(canonical)].join('\n');
  const key = hmac(hmac(hmac(hmac(`AWS4${secretKey}`, day), region), 's3'), 'aws4_request');
  const signature = hmac(key, text).toString('hex');
  const { host: _, ...sent } = headers;
  const authorization = `${ALGORITHM} Credential=${accessKey}/${scope},SignedHeaders=${names.join(';')},Signature=${signature}`;
  return { ...sent, authorization };
}

/** Sorted, each name with its value, also where that is empty. */
const queryOf = ({ searchParams }: URL): string =>
  [...searchParams]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&');

const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
