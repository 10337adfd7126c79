export interface SlowwaveOptions {
  /** Where Slowwave is, e.g. http://localhost:7070. */
  readonly url: string;
  readonly apiKey?: string | undefined;
  /** How long one try may take, in ms (30,000). A wait for a batch comes on top. */
  readonly timeoutMs?: number | undefined;
  /** How often a call is retried if that is safe (3). */
  readonly retries?: number | undefined;
  /** Another fetch, e.g. one that goes through a proxy. */
  readonly fetch?: typeof fetch | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Options of a single call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly retries?: number | undefined;
}

export interface Settings {
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly fetch: typeof fetch;
}

const TIMEOUT_MS = 30_000;
const RETRIES = 3;

/** The options with defaults. Throws a TypeError for an invalid url. */
export function settingsOf({ url, apiKey, timeoutMs, retries, headers, ...given }: SlowwaveOptions): Settings {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw new TypeError(`expected url to be like http://localhost:7070, got ${JSON.stringify(url)}`);
  }
  return {
    base: url.replace(/\/+$/, ''),
    headers: { ...headers, ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }) },
    timeoutMs: timeoutMs ?? TIMEOUT_MS,
    retries: retries ?? RETRIES,
    // Not as a method: browsers refuse a fetch that belongs to another object.
    fetch: given.fetch ?? ((input, init) => fetch(input, init)),
  };
}
