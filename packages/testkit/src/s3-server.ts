import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface S3Server {
  readonly url: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly bucket: string;
  /** What is in the bucket, by key. */
  readonly objects: Map<string, Buffer>;
  /** What requests are answered instead of what they ask for, next one first. */
  readonly faults: number[];
  versioning: 'Enabled' | 'Suspended' | null;
  close(): Promise<void>;
}

const REGION = 'eu-test-1';

/**
 * A server with one bucket and the part of the S3 API that segments need, over real HTTP. It checks each signature by building the
 * canonical request from what has arrived, so that a client which signs something else than it sends is refused.
 */
export async function startS3Server(): Promise<S3Server> {
  const objects = new Map<string, Buffer>();
  const state = { accessKey: 'AKTEST', secretKey: 'secret of the test', bucket: 'segments', faults: [] as number[] };
  const kept = { versioning: null as S3Server['versioning'] };
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    const body = await buffer(request);
    const fault = state.faults.shift();
    if (fault !== undefined) return refused(fault, 'SlowDown');
    const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
    if (signatureOf(request, { url, body, ...state }) !== request.headers.authorization) {
      return refused(403, 'SignatureDoesNotMatch');
    }
    const [, bucket, ...rest] = url.pathname.split('/');
    if (bucket !== state.bucket) return refused(404, 'NoSuchBucket');
    const key = decodeURIComponent(rest.join('/'));
    if (key !== '') return onObject(objects, { method: request.method ?? '', key, body });
    if (url.searchParams.has('versioning')) return { status: 200, body: versioningXml(kept.versioning) };
    return { status: 200, body: listXml(objects, url.searchParams) };
  };
  const server = createServer((request, response) => {
    answer(request).then(
      ({ status, body }) => response.writeHead(status).end(body),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    ...state,
    objects,
    url: `http://127.0.0.1:${port}`,
    get versioning() {
      return kept.versioning;
    },
    set versioning(versioning) {
      kept.versioning = versioning;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export const S3_REGION = REGION;

interface Answer {
  readonly status: number;
  readonly body: string | Buffer;
}

const refused = (status: number, code: string): Answer => ({
  status,
  body: `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`,
});

interface OnObject {
  readonly method: string;
  readonly key: string;
  readonly body: Buffer;
}

function onObject(objects: Map<string, Buffer>, { method, key, body }: OnObject): Answer {
  if (method === 'PUT') objects.set(key, body);
  if (method === 'DELETE') objects.delete(key);
  if (method !== 'GET') return { status: method === 'DELETE' ? 204 : 200, body: '' };
  const found = objects.get(key);
  return found === undefined ? refused(404, 'NoSuchKey') : { status: 200, body: found };
}

function listXml(objects: ReadonlyMap<string, Buffer>, asked: URLSearchParams): string {
  const [prefix, after] = [asked.get('prefix') ?? '', asked.get('start-after') ?? ''];
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const page = keys.slice(0, Number(asked.get('max-keys') ?? 1_000));
  const contents = page.map(
    (key) => `<Contents><Key>${key}</Key><Size>${objects.get(key)?.length ?? 0}</Size></Contents>`,
  );
  return `<?xml version="1.0"?><ListBucketResult>${contents.join('')}</ListBucketResult>`;
}

const versioningXml = (versioning: S3Server['versioning']): string =>
  `<?xml version="1.0"?><VersioningConfiguration>${versioning === null ? '' : `<Status>${versioning}</Status>`}</VersioningConfiguration>`;

interface Signing {
  readonly url: URL;
  readonly body: Buffer;
  readonly accessKey: string;
  readonly secretKey: string;
}

const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');
const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** The header that a request has to have, by what AWS Signature Version 4 says of what has arrived. */
function signatureOf({ method, headers }: IncomingMessage, { url, body, accessKey, secretKey }: Signing): string {
  const names = /SignedHeaders=([^,]*)/.exec(headers.authorization ?? '')?.[1] ?? '';
  const moment = String(headers['x-amz-date']);
  const scope = [moment.slice(0, 8), REGION, 's3', 'aws4_request'];
  const query = url.search.slice(1).split('&').filter(Boolean);
  const canonical = [
    method,
    url.pathname,
    query
      .map((pair) => (pair.includes('=') ? pair : `${pair}=`))
      .sort()
      .join('&'),
    ...names.split(';').map((name) => `${name}:${headers[name]}`),
    '',
    names,
    sha256(body),
  ].join('\n');
  const key = scope.reduce<Buffer | string>((so, part) => hmac(so, part), `AWS4${secretKey}`);
  const text = ['AWS4-HMAC-SHA256', moment, scope.join('/'), sha256(canonical)].join('\n');
  const signature = hmac(key, text).toString('hex');
  return `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope.join('/')},SignedHeaders=${names},Signature=${signature}`;
}
