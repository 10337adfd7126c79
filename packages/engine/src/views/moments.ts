import { isoOf } from '../text/iso.ts';
import type { Failure, Millis } from '../words.ts';

export const isoOrNull = (at: Millis | null): string | null => (at === null ? null : isoOf(at));

export const failureView = (failure: Failure | null) =>
  failure === null ? null : { code: failure.code, message: failure.message, at: isoOf(failure.at) };
