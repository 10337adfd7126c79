import { isoOf } from '../text/iso.ts';
import type { Failure, Millis } from '../words.ts';

export const isoOrNull = (at: Millis | null): string | null => (at === null ? null : isoOf(at));

export const failureView = (failure: Failure | null) => (failure === null ? null : shown(failure));

export const failuresView = (failures: readonly Failure[]) => failures.map(shown);

const shown = ({ code, message, at }: Failure) => ({ code, message, at: isoOf(at) });
