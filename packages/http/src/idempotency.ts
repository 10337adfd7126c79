import { z } from 'zod';
import { problem } from './problem.ts';

const KEY_MAX = 256;

/** Other headers pass; this one is described and checked. */
export const KeyHeader = z.looseObject({ 'idempotency-key': z.string().min(1).max(KEY_MAX).optional() });

/** The key of a request, from its header or its body; both may name it if they agree. */
export function idempotencyOf(header: string | undefined, body: string | undefined): string | null {
  if (header !== undefined && body !== undefined && header !== body) {
    throw problem(
      'invalid_request',
      'the header idempotency-key and the field idempotency_key differ; send only one of them',
    );
  }
  return header ?? body ?? null;
}
