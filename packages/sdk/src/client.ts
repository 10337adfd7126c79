import { batchesOf } from './groups/batches.ts';
import {
  auditOf,
  canariesOf,
  consolidationsOf,
  keysOf,
  nightsOf,
  replaysOf,
  reviewsOf,
  runsOf,
  settingsGroupOf,
  suitesOf,
  wholeOf,
} from './groups/manage.ts';
import { graphOf, memoriesOf, receiptsOf, usersOf } from './groups/memories.ts';
import { type SlowwaveOptions, sender, settingsOf } from './send.ts';

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
