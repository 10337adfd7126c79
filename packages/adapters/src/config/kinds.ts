import { homedir } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import { KNOWN_MODELS } from '../local/known.ts';
import type { LocalSource } from '../local/open.ts';
import { isRange } from '../net/url-policy.ts';

export const Count = (min: number, max: number) =>
  z.coerce
    .number(`must be a number from ${min} to ${max}`)
    .refine(
      (value) => Number.isInteger(value) && value >= min && value <= max,
      `must be a whole number from ${min} to ${max}`,
    );
export const Url = (...protocols: string[]) =>
  z.string().refine((text) => protocols.includes(URL.parse(text)?.protocol ?? ''), {
    message: `must be a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
  });

export const Flag = z
  .enum(['true', 'false'], 'must be true or false')
  .default('false')
  .transform((value) => value === 'true');

/** As OpenTelemetry has them: name=value pairs with commas between them, values percent-encoded. */
export const Headers = z
  .string()
  .transform((text) => text.split(',').map(headerOf))
  .refine((pairs) => !pairs.includes(null), 'must be comma-separated name=value pairs')
  .transform((pairs) => Object.fromEntries(pairs.filter((pair) => pair !== null)))
  .optional();

/** null: not a header. */
function headerOf(pair: string): [string, string] | null {
  const [, name = '', value = ''] = /^\s*([\w!#$&'*+.^`|~-]+)\s*=\s*([\x21-\x7e]*)\s*$/.exec(pair) ?? [];
  try {
    return name === '' ? null : [name, decodeURIComponent(value)];
  } catch {
    return null;
  }
}

/** A JSON object that goes out with each request. */
const JsonObject = z.string().transform((text, context): z.infer<typeof AnyObject> => {
  const parsed = AnyObject.safeParse(parsedJson(text));
  if (parsed.success) return parsed.data;
  context.addIssue('must be a JSON object, e.g. {"name": "value"}');
  return z.NEVER;
});
const AnyObject = z.record(z.string(), z.json());

/** Goes over what Slowwave sends. What a question is, and how its answer is read, is not for it to say. */
export const ExtraBody = (...decided: readonly string[]) =>
  JsonObject.refine((body) => !decided.some((name) => name in body), `must not set ${decided.join(', ')}`);
export const ExtraOfChat = ExtraBody('model', 'messages', 'n', 'stream', 'stream_options', 'response_format');

export const JsonHeaders = JsonObject.transform((object, context): Readonly<Record<string, string>> => {
  const parsed = HeaderObject.safeParse(object);
  if (parsed.success) return parsed.data;
  context.addIssue(
    'must be a JSON object of header names and their values, e.g. {"x-api-version": "2"}, without those of the connection',
  );
  return z.NEVER;
});

/** They follow from the body and the address. */
const OF_THE_CONNECTION = /^(?:host|connection|content-(?:length|type|encoding)|transfer-encoding|expect|upgrade)$/i;
const HeaderName = z
  .string()
  .regex(/^[\w!#$&'*+.^`|~-]+$/)
  .refine((name) => !OF_THE_CONNECTION.test(name));
const HeaderObject = z.record(HeaderName, z.string().regex(/^[\x20-\x7e]*$/));

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Addresses, ranges and names of hosts, with commas between them. */
export const Hosts = z
  .string()
  .transform((text) => text.split(',').map((host) => host.trim()))
  .refine(
    (hosts) => hosts.every((host) => isRange(host) || HOST_NAME.test(host)),
    'must be comma-separated addresses, ranges or host names, e.g. 10.0.0.0/8,receiver.internal',
  )
  .optional();

/** With a letter, so that a slip in an address does not pass for a name. */
const HOST_NAME = /^(?=.*[a-z])[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_])?$/i;

/** Nodes of a cluster, with commas between them. */
export const Nodes = z
  .string()
  .transform((text) => text.split(',').map((node) => node.trim()))
  .refine(
    (nodes) => nodes.every((node) => /^[^\s:/@]+:\d{1,5}$/.test(node)),
    'must be comma-separated nodes, e.g. redis-2:6379,redis-3:6379',
  )
  .default([]);

/** Addresses of sites without a path, with commas between them. */
export const Origins = z
  .string()
  .transform((text) => text.split(',').map((origin) => origin.trim()))
  .refine(
    (origins) => origins.every((origin) => /^https?:/.test(origin) && URL.parse(origin)?.origin === origin),
    'must be comma-separated origins, e.g. https://app.example.com,http://127.0.0.1:3000',
  )
  .optional();

/** Names of models, with commas between them. */
export const Models = z
  .string()
  .transform((text) => text.split(',').map((model) => model.trim()))
  .refine((models) => !models.includes(''), 'must be comma-separated model names');

/** A relative path begins at `root`. */
export function pathOf(given: string, root: string): string {
  const path = given.startsWith('~/') ? resolve(homedir(), given.slice(2)) : given;
  return isAbsolute(path) ? path : resolve(root, path);
}

const LOCAL = /^local(?::(?<what>.*))?$/u;
export const LOCAL_MODELS = KNOWN_MODELS.map(({ name }) => name);

/** What "local", "local:NAME" or "local:FOLDER" means; null: another model, unknown: a name that nobody knows. */
export function localSource(model: string): LocalSource | 'unknown' | null {
  const found = LOCAL.exec(model);
  if (found === null) return null;
  const what = found.groups?.what ?? LOCAL_MODELS[0] ?? '';
  if (/[/\\]/.test(what)) return { folder: what };
  return LOCAL_MODELS.includes(what) ? { name: what } : 'unknown';
}

export const EmbeddingModel = z
  .string()
  .refine(
    (model) => localSource(model) !== 'unknown',
    `must be a model of the server, builtin, local, local:FOLDER (with a slash in it), or one of ${LOCAL_MODELS.map((name) => `local:${name}`).join(', ')}`,
  );
