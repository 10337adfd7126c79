import { isNamedIn, nameKey } from '../names.ts';
import type { Settled } from './settle.ts';
import type { Mention, Told } from './values.ts';

/** That an entity is called so, and where. */
export interface Naming extends Pick<Told, 'saidAt' | 'messageIds' | 'quote'> {
  readonly source: string;
  readonly name: string;
}

/** Messages that one naming tells of. */
const MESSAGES_MAX = 5;

/** Every entity that statements are about, by all names that messages give it. */
export function namings({ mentions, places, spoken }: Settled, ids: ReadonlySet<string>): readonly Naming[] {
  const seen = new Set<string>();
  const heard = spoken.map((one) => ({ ...one, key: nameKey(one.text) }));
  return mentions.flatMap((mention, at) => {
    const source = places[at]?.id ?? '';
    if (!ids.has(source) && mention.aliases.length === 0) return [];
    return namesOf(mention).flatMap((name) => {
      const key = JSON.stringify([source, nameKey(name)]);
      const messages = heard.filter((one) => isNamedIn(nameKey(name), one.key)).slice(0, MESSAGES_MAX);
      const [first] = messages.length > 0 ? messages : heard;
      if (seen.has(key) || first === undefined) return [];
      seen.add(key);
      const messageIds = (messages.length > 0 ? messages : [first]).map(({ message }) => message.id);
      return [{ source, name, saidAt: first.message.saidAt, messageIds, quote: null }];
    });
  });
}

/** The owner is not called "User"; and who is known is not called what they are: "my boss". */
function namesOf({ name, aliases, self, known }: Mention): readonly string[] {
  if (self) return aliases;
  return known === null || isProper(name) ? [name, ...aliases] : [known.name, ...aliases];
}

/** A name of its own, rather than a word: where a script has capitals, they tell. */
const isProper = (name: string): boolean => /\p{Lu}/u.test(name) || !/\p{Ll}/u.test(name);
