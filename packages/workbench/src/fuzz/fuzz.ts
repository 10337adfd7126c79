import { pick, seeded } from '@slowwave/engine-testing';
import { type AnswerCheck, answerCheck, type Description } from '@slowwave/testkit';
import { type FuzzRequest, operationsOf, requestFor } from './requests.ts';

export interface FuzzOptions {
  readonly url: string;
  readonly requests: number;
  readonly seed: number;
  readonly apiKey: string | null;
  readonly progress?: (done: number) => void;
}

interface Finding {
  readonly request: string;
  readonly body: string | null;
  readonly what: string;
}

export interface FuzzReport {
  readonly requests: number;
  readonly seed: number;
  /** How many answers had which status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Operations that were answered with success at least once, and those that never were. */
  readonly succeeded: number;
  readonly neverSucceeded: readonly string[];
  readonly operations: number;
  readonly findings: readonly Finding[];
}

/** No answer may take longer: nothing here is asked to wait. */
const ANSWER_WITHIN_MS = 30_000;
const AT_ONCE = 8;
const FINDINGS_MAX = 50;

/** Sends requests that follow from the API's own description, good ones and bad ones, and looks at every answer. */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const answer = await fetch(`${options.url}/openapi.json`, { headers: keyOf(options) });
  if (!answer.ok)
    throw new Error(`expected ${options.url}/openapi.json, got status ${answer.status}; check url and key`);
  const description = (await answer.json()) as Description;
  const run = new Run(options, description);
  await Promise.all(Array.from({ length: AT_ONCE }, () => run.work()));
  return run.report();
}

class Run {
  readonly #options: FuzzOptions;
  readonly #description: Description;
  readonly #check: AnswerCheck;
  readonly #random: () => number;
  readonly #operations: ReturnType<typeof operationsOf>;
  readonly #ids: string[] = [];
  readonly #statuses = new Map<number, number>();
  readonly #succeeded = new Set<string>();
  readonly #findings: Finding[] = [];
  #sent = 0;

  constructor(options: FuzzOptions, description: Description) {
    this.#options = options;
    this.#description = description;
    this.#check = answerCheck(description);
    this.#random = seeded(options.seed);
    this.#operations = operationsOf(description);
  }

  async work(): Promise<void> {
    while (this.#sent < this.#options.requests && this.#findings.length < FINDINGS_MAX) {
      this.#sent += 1;
      const making = { description: this.#description, random: this.#random, ids: this.#ids };
      const request = requestFor(making, pick(this.#operations, this.#random));
      const what = await this.#look(request);
      if (what !== null)
        this.#findings.push({ request: `${request.method} ${request.path}`, body: request.body, what });
      this.#options.progress?.(this.#sent);
    }
  }

  /** What is wrong with the answer to a request. */
  async #look(request: FuzzRequest): Promise<string | null> {
    const { url } = this.#options;
    const headers = { ...request.headers, ...keyOf(this.#options) };
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    try {
      const { method, path, body } = request;
      const answer = await fetch(`${url}${path}`, { method, headers, signal, ...(bodyAllowed(request) && { body }) });
      const { status } = answer;
      const text = await answer.text();
      this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
      if (status < 300) this.#learn(request.name, text);
      if (status >= 500) return `status ${status}: ${text.slice(0, 500)}`;
      return this.#check(request.operation, { status, type: answer.headers.get('content-type') ?? '', text });
    } catch (error) {
      return `no answer: ${error instanceof Error ? `${error.message} ${String(error.cause ?? '')}` : String(error)}`;
    }
  }

  #learn(name: string, text: string): void {
    this.#succeeded.add(name);
    for (const [, id = ''] of text.matchAll(/"([a-z]{3}_[\w-]{8,})"/g)) this.#ids.push(id);
    this.#ids.splice(0, Math.max(0, this.#ids.length - IDS_KEPT));
  }

  report(): FuzzReport {
    const { requests, seed } = this.#options;
    const statuses = Object.fromEntries([...this.#statuses].sort(([a], [b]) => a - b));
    const [succeeded, operations] = [this.#succeeded.size, this.#operations.length];
    const neverSucceeded = this.#operations.map(({ name }) => name).filter((name) => !this.#succeeded.has(name));
    return {
      requests: Math.min(requests, this.#sent),
      seed,
      statuses,
      succeeded,
      neverSucceeded,
      operations,
      findings: this.#findings,
    };
  }
}

const keyOf = ({ apiKey }: FuzzOptions): Record<string, string> =>
  apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };

const IDS_KEPT = 2_000;

const bodyAllowed = ({ method, body }: FuzzRequest): boolean => body !== null && method !== 'GET';
