import { type Call, isOffline } from '../command.ts';
import { CommandError, EXIT } from '../exit.ts';
import type { Api, Question } from './api.ts';
import type * as LocalApi from './local-api.ts';
import { serverApi } from './server-api.ts';

/** Asks the API and takes nothing but a success. Answers are read as the contracts describe them. */
export type Ask = <T>(question: Question) => Promise<T>;

/** Works with the API of the server or ledger that was named, and lets go of it, however the work ends. */
export async function withApi<T>(
  call: Call,
  { writes }: { readonly writes: boolean },
  work: (ask: Ask, api: Api) => Promise<T>,
): Promise<T> {
  const { config, cancel } = call;
  const server = { url: config.serverUrl, apiKey: config.apiKey };
  const api = isOffline(call) ? await openLocal(config, { writes }) : serverApi(server, cancel);
  const ask: Ask = async <A>(question: Question) => {
    const { status, body } = await api.ask(question);
    if (status >= HTTP.badRequest) throw refusal(status, body);
    return body as A;
  };
  try {
    return await work(ask, api);
  } finally {
    await api.close();
  }
}

/** Loaded only where it is used: it brings all of a server with it. */
async function openLocal(...given: Parameters<typeof LocalApi.localApi>): Promise<Api> {
  const { localApi } = await import('./local-api.ts');
  return localApi(...given);
}

const HTTP = { badRequest: 400, unauthorized: 401, forbidden: 403, notFound: 404, tooMany: 429, serverError: 500 };

interface Told {
  readonly code?: string;
  readonly detail?: string;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
}

/** What the server said, and what it means for whoever ran the command. */
function refusal(status: number, body: unknown): CommandError {
  const told: Told = typeof body === 'object' && body !== null ? body : {};
  const errors = (told.errors ?? []).map(({ path, message }) => `\n  - ${path}: ${message}`).join('');
  const what = told.detail ?? `the server answered with status ${status}`;
  return new CommandError(`${what}${errors}${hintFor(status, told)}`, exitCodeOf(status), told.code);
}

function hintFor(status: number, { code }: Told): string {
  if (status === HTTP.unauthorized || status === HTTP.forbidden) return '; set SLOWWAVE_API_KEY to a key of the server';
  if (code !== 'route_not_found') return '';
  return (
    '. If ingest, worker, search and console run separately, each has only its own routes: use the address of ' +
    'the proxy in front of them'
  );
}

function exitCodeOf(status: number): number {
  if (status === HTTP.notFound) return EXIT.notFound;
  return status === HTTP.tooMany || status > HTTP.serverError ? EXIT.unavailable : EXIT.failed;
}
