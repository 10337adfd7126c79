import { EngineError, type Log } from '@slowwave/engine';
import OpenAI from 'openai';
import { fetchWithPlainErrors } from './plain-errors.ts';

const OPENAI_URL = 'https://api.openai.com/v1';
const NO_KEY = 'none'; // the library insists on a key; servers that need none ignore it

/** Where the model is. */
export interface OpenaiOptions {
  /** null for servers that need none. */
  readonly apiKey: string | null;
  /** null for OpenAI's own. */
  readonly baseUrl: string | null;
  readonly model: string;
  /** For one request, until its last byte. */
  readonly timeoutMs: number;
  readonly log: Log;
}

/** A model of a server, as error messages name it. */
export interface Place {
  readonly baseUrl: string;
  readonly model: string;
  readonly timeoutMs: number;
  readonly secret: string | null;
}

export interface Connection {
  readonly client: OpenAI;
  readonly place: Place;
}

/** A client that takes keys and addresses from us alone, writes nothing to the console and leaves retrying to us. */
export function connect(options: OpenaiOptions): Connection {
  const { model, timeoutMs } = options;
  const apiKey = options.apiKey?.trim() || null;
  const baseUrl = options.baseUrl ?? OPENAI_URL;
  if (!/^https?:$/u.test(URL.parse(baseUrl)?.protocol ?? '')) throw notAUrl(baseUrl);
  if (apiKey !== null && !/^[!-~]+$/u.test(apiKey)) throw notAKey();
  const client = new OpenAI({
    apiKey: apiKey ?? NO_KEY,
    baseURL: baseUrl,
    timeout: timeoutMs,
    maxRetries: 0,
    logLevel: 'off',
    fetch: fetchWithPlainErrors(),
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
  });
  return { client, place: { baseUrl, model, timeoutMs, secret: apiKey } };
}

function notAUrl(baseUrl: string): EngineError {
  const message = `expected the model's base URL to look like http://host:port/v1, got "${baseUrl}"; correct OPENAI_BASE_URL`;
  return new EngineError(message, { code: 'model_misconfigured', retryable: false });
}

/** Says nothing of the key itself; what the library says of such a key quotes it. */
function notAKey(): EngineError {
  const message =
    "expected the model's API key to be one word of ASCII characters, got others in it; correct OPENAI_API_KEY";
  return new EngineError(message, { code: 'model_misconfigured', retryable: false });
}
