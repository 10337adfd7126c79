import { localIsoOf, writtenOffset } from '@slowwave/engine';
import { problem } from '@slowwave/http';
import { z } from 'zod';

/** The ids that mem0's bodies name side by side; null is as good as nothing. */
export const Ids = {
  user_id: z.string().nullish(),
  agent_id: z.string().nullish(),
  run_id: z.string().nullish(),
  app_id: z.string().nullish(),
};

/** The same as parameters of a query. */
export const QueryIds = {
  user_id: z.string().optional(),
  agent_id: z.string().optional(),
  run_id: z.string().optional(),
  app_id: z.string().optional(),
};

const PAGES_MAX = 100_000;
const SIZE_MAX = 1_000;
const SIZE_USUAL = 100;

export const PageFields = {
  page: z.coerce.number().int().min(1).max(PAGES_MAX).default(1),
  page_size: z.coerce.number().int().min(1).max(SIZE_MAX).default(SIZE_USUAL),
};

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const SECOND_MS = 1_000;

/** A moment as mem0's API takes it: seconds since 1970, a day, or ISO 8601 with or without an offset, which is kept. */
export function momentOf(given: number | string): string {
  const text = typeof given === 'string' ? given : '';
  const date =
    typeof given === 'number' ? new Date(given * SECOND_MS) : new Date(DAY.test(text) ? text : withOffset(text));
  if (!Number.isNaN(date.getTime())) return localIsoOf(date.getTime(), writtenOffset(text) ?? undefined);
  throw problem('invalid_request', `expected a time as seconds or ISO 8601, got ${JSON.stringify(given).slice(0, 80)}`);
}

/** Without one it is read as UTC: where this server stands must not matter. */
const withOffset = (text: string): string => (/(z|[+-]\d{2}:?\d{2})$/i.test(text) ? text : `${text}Z`);
