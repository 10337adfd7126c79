import { SlowwaveError } from '@slowwave/sdk';

/** What the codes of the server mean to somebody who knows nothing of it. */
const MEANINGS: Readonly<Record<string, string>> = {
  sign_in_again:
    'Erasing everything cannot be undone, so it only works in the first 15 minutes after you open this page. ' +
    'Please open it again with a new link, or sign in again, and then erase.',
  version_conflict: 'This has changed in the meantime. Close this dialog, read it again, and then decide.',
  immutable_memory: 'This cannot be changed here. You can still forget it.',
  unsupported_content: 'This cannot be saved, because it contains personal data that is not stored here.',
  unauthorized: 'This page has been open for too long. Please open it again with a new link, or sign in again.',
  conflict: 'This cannot be added now. Remove a line first, or resume memory if you have paused it.',
  not_found: 'This is no longer remembered.',
  too_many_requests: 'Too many requests. Please wait a moment and try again.',
};

const OTHERWISE = 'Something went wrong, and nothing was changed. Please try again in a moment.';

/** The same call; what goes wrong is told in words for people. */
export async function plainly<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const code = error instanceof SlowwaveError ? error.code : '';
    throw new Error(MEANINGS[code] ?? OTHERWISE, { cause: error });
  }
}

const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'long' });
const TIME = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short' });

export const dayOf = (iso: string): string => DAY.format(new Date(iso));
export const timeOf = (iso: string): string => TIME.format(new Date(iso));

export const counted = (count: number, one: string, more: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : more}`;
