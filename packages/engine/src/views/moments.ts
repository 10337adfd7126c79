import { isoOf } from '../text/dates.ts';
import type { Failure, Millis } from '../words.ts';
import { failureOf } from './without-places.ts';

export const isoOrNull = (at: Millis | null): string | null => (at === null ? null : isoOf(at));

export const failureView = (failure: Failure | null) => (failure === null ? null : shown(failure));

export const failuresView = (failures: readonly Failure[]) => failures.map(shown);

/** What was kept before failures were kept without their places is told without them, too. */
const shown = (failure: Failure) => ({ ...failureOf(failure, failure.at), at: isoOf(failure.at) });
