import { FilterError } from './mistake.ts';

/** Levels of AND, OR and NOT inside each other: people write three, programs five. */
export const DEPTH_MAX = 10;
/** Conditions of one filter: each costs some microseconds per memory that is looked at. */
const CONDITIONS_MAX = 100;
/** Values in all lists of one filter together: a page of ids, five times over. */
const VALUES_MAX = 1_000;
/** Keys of metadata inside each other. */
export const KEYS_MAX = 10;
/** Characters of one text, and of one key of metadata. */
export const TEXT_MAX = 1_000;
export const KEY_MAX = 128;

/** Counts what one filter is made of, and refuses what goes beyond. */
export interface Budget {
  condition(path: string): void;
  values(count: number, path: string): void;
}

export function budget(): Budget {
  let conditions = 0;
  let values = 0;
  return {
    condition: (path) => {
      conditions += 1;
      if (conditions > CONDITIONS_MAX) throw tooMany(path, `at most ${CONDITIONS_MAX} conditions`, conditions);
    },
    values: (count, path) => {
      values += count;
      if (values > VALUES_MAX) throw tooMany(path, `at most ${VALUES_MAX} values in all lists together`, values);
    },
  };
}

const tooMany = (path: string, expected: string, count: number): FilterError =>
  new FilterError(path, expected, `${count} up to here`);
