import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault as Failure } from '@slowwave/testkit';
import { EVERYWHERE, type Fault } from './fault.ts';

const STORM_MS = { from: 500, to: 3_000 };

/** For a while nearly every call of the models fails in one way. */
const storm = (kind: string, failure: Failure): Fault => ({
  kind,
  modes: EVERYWHERE,
  interrupts: false,
  run: async ({ provider }, random) => {
    provider.storm(failure);
    await sleep(random.between(STORM_MS.from, STORM_MS.to));
    provider.storm(null);
  },
});

export const MODEL_FAULTS: readonly Fault[] = [
  storm('model answers 429', 'rate_limited'),
  storm('model answers 5xx', 'server_error'),
  storm('model is silent', 'timeout'),
  storm('model drops connections', 'dropped'),
  storm('model breaks off', 'cut_off'),
  storm('model answers garbage', 'malformed'),
  storm('model answers half', 'truncated'),
];
