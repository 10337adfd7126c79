import { createHash, createHmac } from 'node:crypto';

/** Whom a bucket knows. */
export interface Credentials {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
}

export interface ToSign {
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
