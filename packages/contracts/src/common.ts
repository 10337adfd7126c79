import { z } from 'zod';

/** Longest id a caller may choose for a user, agent, run, app or message. */
const ID_MAX = 256;

/** A caller-chosen id: printable, not blank, at most 256 characters. */
export const ExternalId = z
  .string()
  .min(1)
  .max(ID_MAX)
  // Linear on any input; half of a surrogate pair is refused because stores would make different ids equal.
  .regex(/^(?=\s*\S)[^\p{Cc}\p{Cs}]+$/u, 'must contain a visible character and no control characters');

/** A moment as ISO 8601 with an offset, e.g. 2026-03-01T09:30:00Z. */
export const Moment = z.iso.datetime({ offset: true });

/** The ids that place a batch or a question: at least one of user, agent, run. */
export const ScopeFields = {
  user_id: ExternalId.optional(),
  agent_id: ExternalId.optional(),
  run_id: ExternalId.optional(),
  app_id: ExternalId.optional(),
};

type ScopeIds = { user_id?: string | undefined; agent_id?: string | undefined; run_id?: string | undefined };

export const hasOwnerId = (ids: ScopeIds): boolean =>
  ids.user_id !== undefined || ids.agent_id !== undefined || ids.run_id !== undefined;

export const OWNER_ID_MISSING = 'at least one of user_id, agent_id, run_id is needed';

/** Free JSON a caller attaches to a batch or memory; it never sets identity. */
export const Metadata = z.record(z.string().min(1).max(128), z.json());

const PAGE_MAX = 200;
const PAGE_DEFAULT = 50;

/** Query parameters every list takes. */
export const PageQuery = {
  limit: z.coerce.number().int().min(1).max(PAGE_MAX).default(PAGE_DEFAULT),
  cursor: z.string().max(512).optional(),
};

/** The body of every list answer. */
export const listOf = <T extends z.ZodType>(item: T) =>
  z.object({ results: z.array(item), next_cursor: z.string().nullable() });

export const ScopeView = z.object({
  user_id: z.string().nullable(),
  agent_id: z.string().nullable(),
  run_id: z.string().nullable(),
  app_id: z.string().nullable(),
});

/** Longest long-poll a request may ask for. */
export const WAIT_MAX_MS = 60_000;
export const WaitQuery = z.object({ wait: z.coerce.number().int().min(0).max(WAIT_MAX_MS).default(0) });
