import type { Cancellation } from '@slowwave/engine';
import { APIConnectionTimeoutError } from 'openai';
import type { Place } from './client.ts';
import { type Complaint, complaintIn, complaintOf } from './complaint.ts';
import { breakdown, cancelled, timedOut, unreadable } from './failure.ts';

/** What came back: a body, or what the server says instead of one. */
export type Outcome = { readonly body: object } | { readonly complaint: Complaint };

interface Turn {
  readonly place: Place;
  readonly cancel: Cancellation;
}

/**
 * One request, ended by its answer, its timeout or its cancellation, whichever is first. Throws EngineError when the
 * server did not answer at all.
 */
export async function exchange(
  { place, cancel }: Turn,
  send: (signal: AbortSignal) => Promise<unknown>,
): Promise<Outcome> {
  if (cancel.aborted) throw cancelled();
  const abort = new AbortController();
  const hangUp = (): void => abort.abort();
  // The library's own timeout ends with the headers of an error; this one covers every byte.
  const timer = setTimeout(hangUp, place.timeoutMs);
  cancel.addEventListener('abort', hangUp, { once: true });
  try {
    return outcomeOf(await send(abort.signal), place);
  } catch (thrown) {
    if (cancel.aborted) throw cancelled(thrown);
    if (abort.signal.aborted || thrown instanceof APIConnectionTimeoutError) throw timedOut(place, thrown);
    const complaint = complaintOf(thrown);
    if (complaint === null) throw breakdown(thrown, place);
    return { complaint };
  } finally {
    clearTimeout(timer);
    cancel.removeEventListener('abort', hangUp);
  }
}

function outcomeOf(body: unknown, place: Place): Outcome {
  if (typeof body !== 'object' || body === null) {
    throw unreadable(typeof body === 'string' ? 'text that is not JSON' : 'an empty body', place);
  }
  const complaint = complaintIn(body);
  return complaint === null ? { body } : { complaint };
}
