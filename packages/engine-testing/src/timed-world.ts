import { FORGET_CATEGORY, type Millis, millisOf } from '@slowwave/engine';
import type { Script } from './fake-models.ts';
import { MORNING } from './fixed-tools.ts';
import { pick, seeded, shuffled } from './worlds.ts';

const MINUTE = 60_000;
const SUBJECTS = ['Ada', 'Bram', 'Carla'];
const THINGS = ['home', 'job', 'pet'];
/** The share of wishes to forget among what is said of something known. */
const FORGOTTEN = 0.2;
const VALUES = ['red', 'green', 'blue', 'white', 'black'];

/** "Ada home is red": the subject and the thing are what it is about. */
const keyOf = (text: string): string => text.replace('Forget ', '').split(' ').slice(0, 2).join(' ');
const isForget = (text: string): boolean => text.startsWith('Forget ');

interface TimedMessage {
  readonly content: string;
  readonly at: Millis;
}
export type TimedBatch = readonly TimedMessage[];

/** Things said one a minute, in batches: values that change and return, and wishes to forget them. */
export function timedBatches(seed: number, count: number): readonly TimedBatch[] {
  const random = seeded(seed);
  const known = new Set<string>();
  const said = Array.from({ length: count }, (_, i) => {
    const key = `${pick(SUBJECTS, random)} ${pick(THINGS, random)}`;
    const isForgotten = known.has(key) && random() < FORGOTTEN;
    if (isForgotten) known.delete(key);
    else known.add(key);
    const content = isForgotten ? `Forget ${key}` : `${key} is ${pick(VALUES, random)}`;
    return { content, at: MORNING + i * MINUTE };
  });
  const batches: (typeof said)[] = [];
  for (let i = 0; i < said.length; ) {
    const size = 1 + Math.floor(random() * 3);
    batches.push(said.slice(i, i + size));
    i += size;
  }
  return batches;
}

/**
 * The same batches in another order. Only a wish to forget never comes before what it is about: of something that nobody
 * has said yet there is nothing to delete.
 */
export function reordered(batches: readonly TimedBatch[], random: () => number): readonly TimedBatch[] {
  const waiting = shuffled(batches, random);
  const placed: TimedBatch[] = [];
  const isReady = (batch: TimedBatch): boolean =>
    batch.every((message) => {
      const about = forgotten(message, batches.flat());
      return about === undefined || [...placed, batch].some((other) => other.includes(about));
    });
  while (waiting.length > 0) placed.push(...waiting.splice(waiting.findIndex(isReady), 1));
  return placed;
}

/** The last that was said of a thing before the wish to forget it. */
const forgotten = (wish: TimedMessage, all: readonly TimedMessage[]): TimedMessage | undefined =>
  isForget(wish.content)
    ? all.findLast(({ content, at }) => at < wish.at && keyOf(content) === keyOf(wish.content) && !isForget(content))
    : undefined;

/** Each message is a fact, wishes to forget marked as such. */
export const timedExtract: Script = (input) => ({
  facts: (input.messages as unknown as { id: string; content: string }[]).map(({ id, content }) => ({
    text: content,
    source_ids: [id],
    category: isForget(content) ? FORGET_CATEGORY : null,
  })),
});

interface Shown {
  readonly id: string;
  readonly text: string;
  readonly said_at: string;
}

/** A model that never errs about when things were said: late ones go where they belong, between what is known. */
export const timedDecide: Script = (input) => {
  const known = (input.memories as unknown as Shown[]).map(placed);
  const operations = (input.facts as unknown as Shown[]).map(placed).map((fact) => {
    const same = known.filter((other) => other.key === fact.key);
    const later = same.filter((other) => other.at >= fact.at).sort((a, b) => a.at - b.at)[0];
    const holder = later ?? same.sort((a, b) => b.at - a.at)[0];
    if (!isForget(fact.text)) known.push(fact);
    return operation(fact, holder?.id ?? null);
  });
  return { operations };
};

interface Placed extends Shown {
  readonly key: string;
  readonly at: number;
}

const placed = (shown: Shown): Placed => ({ ...shown, key: keyOf(shown.text), at: millisOf(shown.said_at) ?? 0 });

function operation(fact: Placed, id: string | null) {
  const rest = { fact: fact.id, id, text: null, reason: 'same key' };
  if (isForget(fact.text)) return { ...rest, event: 'DELETE', keep: false };
  return { ...rest, event: id === null ? 'ADD' : 'UPDATE', keep: null };
}
