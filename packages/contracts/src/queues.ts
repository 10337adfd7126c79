import { z } from 'zod';

/**
 * Every queue: its name, the payload of its jobs and the timeout of a job. Payloads contain ids only, and new fields are
 * optional: during an upgrade two releases run at the same time.
 */
export const QUEUES = {
  consolidate: {
    name: 'consolidate',
    payload: z.object({
      lane: z.string().min(1),
      generation: z.int().min(1),
      /** The tenant whose turn it is, for the order of turns. Optional: jobs of earlier releases lack it. */
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
    /** An erasure works in slices, and the next job continues where this one stopped. */
    timeoutMs: 600_000,
  },
} as const;

export type QueueName = keyof typeof QUEUES;
export type Payload<N extends QueueName> = z.infer<(typeof QUEUES)[N]['payload']>;
