import { CommandError, EXIT } from '../exit.ts';
import type { Answer, Api, Question } from './api.ts';

/** Longer than any route takes that does not wait on purpose. */
const ANSWER_WITHIN_MS = 120_000;

/** The API of a server that runs. */
export function serverApi({ url, apiKey }: { url: string; apiKey: string | null }, cancel: AbortSignal): Api {
  const base = url.replace(/\/+$/, '');
  return {
    ask: async ({ method, path, body }: Question): Promise<Answer> => {
      const headers = {
        ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      };
      const signal = AbortSignal.any([cancel, AbortSignal.timeout(ANSWER_WITHIN_MS)]);
      const sent = { method, headers, signal, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      try {
        const response = await fetch(`${base}${path}`, sent);
        return { status: response.status, body: bodyOf(await response.text()) };
      } catch (error) {
        throw unreachable(base, error);
      }
    },
    close: async () => {},
  };
}

function bodyOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function unreachable(base: string, error: unknown): CommandError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const got = cause instanceof Error ? cause.message || cause.name : String(cause);
  return new CommandError(
    `expected a Slowwave server at ${base} to answer, got: ${got}; set --server (SLOWWAVE_URL), ` +
      'or work directly on the ledger with --offline',
    EXIT.unavailable,
  );
}
