import { z } from 'zod';

/**
 * Every queue: its name, the payload of its jobs and how long one job may take.
 * Payloads carry ids only and grow by optional fields only: a fleet runs two releases at a time.
 */
export const QUEUES = {
  consolidate: {
    name: 'consolidate',
    payload: z.object({
      lane: z.string().min(1),
      generation: z.int().min(1),
      /** Whose turn it is, for the order of turns. Optional while jobs of releases without it may be there. */
      tenant: z.string().min(1).optional(),
      /** Missing: live. */
      backfill: z.boolean().optional(),
    }),
    /** Longer than two model calls with their time limits and one repair call. */
    timeoutMs: 300_000,
  },
  summarize: {
    name: 'summarize',
    payload: z.object({ lane: z.string().min(1), scope: z.string().min(1), upTo: z.int().min(1) }),
    /** Longer than one model call with its time limit and one repair call. */
    timeoutMs: 250_000,
  },
  study: {
    name: 'study',
    payload: z.object({ lane: z.string().min(1) }),
    /** Longer than two model calls with their time limits and one repair call. */
    timeoutMs: 300_000,
  },
  erase: {
    name: 'erase',
    payload: z.object({ erasure: z.string().min(1) }),
    /** An erasure of any size: it goes in slices, and whoever takes it up next goes on where this one was. */
    timeoutMs: 600_000,
  },
} as const;

export type QueueName = keyof typeof QUEUES;
export type Payload<N extends QueueName> = z.infer<(typeof QUEUES)[N]['payload']>;
