import { normaliseText } from '../text/normalise.ts';
import type { Json } from '../words.ts';
import { isObject, listUnder, textOfString, textUnder, wordsUnder, wordUnder } from './shapes.ts';

/** A fact as the model wrote it; nothing in it is believed yet. */
export interface RawFact {
  readonly text: string;
  readonly sourceIds: readonly string[];
  readonly quote: string | null;
  readonly category: string | null;
  readonly language: string | null;
  readonly validFrom: string | null;
  readonly about: string | null;
}

const LIST_KEYS = ['facts', 'memory', 'memories', 'fact', 'results', 'extracted_facts'];
const TEXT_KEYS = ['text', 'fact', 'memory', 'content', 'data'];

/**
 * The facts of an answer to an extract call; null when it holds no list of facts. The same words from the same
 * messages count once; said in another message they may mean a return to what held before.
 */
export function factsIn(value: Json): readonly RawFact[] | null {
  const items = listUnder(value, LIST_KEYS);
  if (items === null) return null;
  const seen = new Set<string>();
  return items.flatMap(({ item }) => {
    const fact = factOf(item);
    const key = fact === null ? '' : JSON.stringify([normaliseText(fact.text), fact.sourceIds]);
    if (fact === null || seen.has(key)) return [];
    seen.add(key);
    return [fact];
  });
}

function factOf(item: Json): RawFact | null {
  const bare = textOfString(item);
  if (bare !== null) return { ...UNATTRIBUTED, text: bare };
  const text = isObject(item) ? textUnder(item, TEXT_KEYS) : null;
  if (!isObject(item) || text === null) return null;
  return {
    text,
    sourceIds: wordsUnder(item, 'source_ids'),
    quote: wordUnder(item, 'quote'),
    category: wordUnder(item, 'category'),
    language: wordUnder(item, 'language'),
    validFrom: wordUnder(item, 'valid_from'),
    about: wordUnder(item, 'about'),
  };
}

const UNATTRIBUTED: Omit<RawFact, 'text'> = {
  sourceIds: [],
  quote: null,
  category: null,
  language: null,
  validFrom: null,
  about: null,
};
