/**
 * Texts whatever their case, the same in every store: character by character, so that a store that has no such function
 * can be asked for any of the characters that are one when folded. What would become several characters (ß, İ) is left
 * as it is; so are scripts without case.
 */

/** Where the characters with case are: first and last. All others fold to themselves. */
const WITH_CASE: readonly (readonly [number, number])[] = [
  [0x41, 0x587], // Latin, Greek, Cyrillic, Armenian
  [0x10a0, 0x10ff], // Georgian
  [0x13a0, 0x13ff], // Cherokee
  [0x1c80, 0x1cbf],
  [0x1d79, 0x1d8e],
  [0x1e00, 0x1fff], // Latin and Greek with marks
  [0x2126, 0x2188], // signs that are letters, Roman numerals
  [0x24b6, 0x24e9],
  [0x2c00, 0x2d2d], // Glagolitic, Coptic
  [0xa640, 0xa7ff],
  [0xab53, 0xabbf],
  [0xff21, 0xff5a], // full width
  [0x10400, 0x105bc],
  [0x10c80, 0x10cf2],
  [0x10d50, 0x10d85],
  [0x118a0, 0x118df],
  [0x16e40, 0x16e7f],
  [0x16ea0, 0x16ed3],
  [0x1e900, 0x1e943],
];

const BEYOND_ASCII = /\P{ASCII}/u;

/** Two texts are the same whatever their case when they fold to the same. */
export function fold(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text.toLowerCase();
  const { folded } = tables();
  return Array.from(text, (char) => folded.get(char) ?? char).join('');
}

/** Every character that folds to what this one folds to. */
export function sameFolded(char: string): readonly string[] {
  const { folded, same } = tables();
  return same.get(folded.get(char) ?? char) ?? [char];
}

interface Tables {
  /** Of the characters that fold to another. */
  readonly folded: ReadonlyMap<string, string>;
  /** By what they fold to. */
  readonly same: ReadonlyMap<string, readonly string[]>;
}

let made: Tables | null = null;

/** Made when first needed: it takes some milliseconds. */
function tables(): Tables {
  made ??= make();
  return made;
}

function make(): Tables {
  const folded = new Map<string, string>();
  const same = new Map<string, string[]>();
  for (const [first, last] of WITH_CASE) {
    for (let code = first; code <= last; code += 1) {
      const char = String.fromCodePoint(code);
      const to = foldChar(char);
      if (to === char) continue;
      folded.set(char, to);
      same.set(to, [...(same.get(to) ?? [to]), char]);
    }
  }
  return { folded, same };
}

/** By way of the capital: two small letters can have one and the same (σ and ς). */
const foldChar = (char: string): string => single(single(char, 'toUpperCase'), 'toLowerCase');

function single(char: string, change: 'toUpperCase' | 'toLowerCase'): string {
  const changed = char[change]();
  return changed.length === char.length && [...changed].length === 1 ? changed : char;
}
