import { batchesOf } from './groups/batches.ts';
import { graphOf } from './groups/graph.ts';
import {
  auditOf,
  canariesOf,
  consolidationsOf,
  keysOf,
  nightsOf,
  replaysOf,
  reviewsOf,
  settingsGroupOf,
  wholeOf,
} from './groups/manage.ts';
import { memoriesOf, receiptsOf, usersOf } from './groups/memories.ts';
import { runsOf } from './groups/runs.ts';
import { suitesOf } from './groups/suites.ts';
import { type SlowwaveOptions, settingsOf } from './options.ts';
import { sender } from './send.ts';

/** A client for a Slowwave server. It keeps nothing open, so there is nothing to close. */
export function createSlowwave(options: SlowwaveOptions) {
  const settings = settingsOf(options);
  const send = sender(settings);
  return {
    ...wholeOf(send),
    batches: batchesOf(send),
    memories: memoriesOf(send),
    receipts: receiptsOf(send),
    graph: graphOf(send),
    users: usersOf(send, settings),
    consolidations: consolidationsOf(send),
    nights: nightsOf(send),
    reviews: reviewsOf(send),
    replays: replaysOf(send),
    runs: runsOf(send),
    suites: suitesOf(send),
    canaries: canariesOf(send),
    settings: settingsGroupOf(send),
    keys: keysOf(send),
    audit: auditOf(send),
    /** Any operation of the API by its method and path, with its types. */
    send,
  };
}

export type Slowwave = ReturnType<typeof createSlowwave>;
