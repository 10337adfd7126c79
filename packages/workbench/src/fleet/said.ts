import type { Script } from '@slowwave/testkit';
import { perfectModel } from '../perfect-model.ts';

/** Every so many batches a user says something new; with the others one thing about the user changes. */
const NOTE_EVERY = 4;

export const userOf = (n: number): string => `user-${n}`;

/** What a user says with one batch. Each text is said once, names its user, and says its place in the order. */
export function textOf(user: number, batch: number): string {
  return isNote(batch)
    ? `${userOf(user)} kept stamp ${batch} of the series`
    : `${userOf(user)} has reached level ${batch}`;
}

/** What holds of a user after so many batches: every stamp, and the last level. */
export function heldAfter(user: number, batches: number): string[] {
  const said = Array.from({ length: batches }, (_, batch) => batch);
  const level = said.findLast((batch) => !isNote(batch));
  return said.filter((batch) => isNote(batch) || batch === level).map((batch) => textOf(user, batch));
}

const isNote = (batch: number): boolean => batch % NOTE_EVERY === NOTE_EVERY - 1;

/** A model that takes every message for a fact and knows that a user's levels replace each other. */
export const fleetModel = (): Script =>
  perfectModel({ keyOf: (text) => /^user-\d+ has reached level/.exec(text)?.[0] ?? null });

/** The users that a call of the model is about. */
export const usersIn = (input: unknown): readonly string[] => [
  ...new Set(JSON.stringify(input ?? null).match(/user-\d+/g)),
];
