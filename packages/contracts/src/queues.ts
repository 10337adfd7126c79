import { z } from 'zod';

/**
 * Every queue: its name, the payload of its jobs, and what the timeout of a job follows from. Payloads contain ids only, and new fields are
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
    /** Two and a repair call. */
    modelCalls: 3,
    /** Of a job, for all but its model calls. */
    besideMs: 120_000,
  },
  summarize: {
    name: 'summarize',
    payload: z.object({ lane: z.string().min(1), scope: z.string().min(1), upTo: z.int().min(1) }),
    /** One and a repair call. */
    modelCalls: 2,
    besideMs: 130_000,
  },
  study: {
    name: 'study',
    payload: z.object({ lane: z.string().min(1) }),
    /** Two and a repair call. */
    modelCalls: 3,
    besideMs: 120_000,
  },
  sleep: {
    name: 'sleep',
    payload: z.object({ lane: z.string().min(1) }),
    /** As many as most nights ask; one with more goes on with the next job. */
    modelCalls: 10,
    besideMs: 120_000,
  },
  erase: {
    name: 'erase',
    payload: z.object({ erasure: z.string().min(1) }),
    modelCalls: 0,
    /** An erasure works in slices, and the next job continues where this one stopped. */
    besideMs: 600_000,
  },
} as const;

export type QueueName = keyof typeof QUEUES;

/** The time a job has: that of its model calls, each with the whole of its timeout, and as much for all else. */
export const jobTimeoutMs = (name: QueueName, modelTimeoutMs: number): number =>
  QUEUES[name].besideMs + QUEUES[name].modelCalls * modelTimeoutMs;

export type Payload<N extends QueueName> = z.infer<(typeof QUEUES)[N]['payload']>;
