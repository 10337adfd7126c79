import { EngineError } from '@slowwave/engine';
import { problem } from '@slowwave/http';
import type { ConsoleDeps } from '../deps.ts';

/** The URL, or the refusal as a problem. What a name leads to is looked at whenever something is sent there. */
export function allowedUrl({ check }: ConsoleDeps['webhooks'], url: string): string {
  try {
    check(url);
    return url;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    throw problem('invalid_request', error.message, { errors: [{ path: 'url', message: error.message }] });
  }
}
