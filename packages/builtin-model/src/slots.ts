import type { JsonObject } from '@slowwave/engine';
import { listOf, objectOf, textOf } from './input.ts';

/** What says that a memory belongs in one of the product's slots. */
const SIGNS: readonly (readonly [slot: string, sign: RegExp])[] = [
  ['name', /\b(?:name is|is called|goes by)\b/iu],
  ['home', /\b(?:lives?|living|moved) (?:in|to|at|near)\b/iu],
  ['languages', /\b(?:speaks?|is learning|native language)\b/iu],
  ['work', /\b(?:works? (?:as|at|for)|studies|is an? \w+ at)\b/iu],
  ['goals', /\b(?:goal is|wants to become|is saving (?:up )?for)\b/iu],
];

/** Goes by a few words of English, and only for slots that there are. */
export function chooseSlots(input: JsonObject): JsonObject {
  const names = new Set(listOf(input.slots).map((slot) => textOf(objectOf(slot).name)));
  const signs = SIGNS.filter(([slot]) => names.has(slot));
  const places = listOf(input.memories).flatMap((given) => {
    const { id, text } = objectOf(given);
    const found = signs.find(([, sign]) => sign.test(textOf(text)));
    return found === undefined ? [] : [{ id: textOf(id), slot: found[0] }];
  });
  return { places };
}
