import { normaliseText } from '../../text/normalise.ts';
import { containment } from '../../text/similarity.ts';
import { termSet } from '../../text/terms.ts';

/** What a fact may have been taken from. */
export interface Window {
  readonly system: readonly string[];
  /** What users and tools said. */
  readonly heard: readonly string[];
}

/** So much of a fact's words stands in one system message that it came from there… */
const FROM_SYSTEM = 0.8;
/** …unless somebody said at least this much of it. */
const SUPPORTED = 0.34;
/** Words of how facts are written, which say nothing of where they came from. */
const FRAME = termSet("user user's assistant agent 用户 助手");

/** Whether a fact repeats the system prompt, and nobody in the conversation said it. */
export function echoesSystem(fact: { readonly text: string; readonly quote: string | null }, window: Window): boolean {
  if (window.system.length === 0) return false;
  const asked = new Set([...termSet(fact.text)].filter((term) => !FRAME.has(term)));
  if (asked.size === 0) return false;
  if (!window.system.some((text) => containment(asked, heardOf(window, text).terms) >= FROM_SYSTEM)) return false;
  const quote = normaliseText(fact.quote ?? '');
  return !window.heard.some(
    (text) =>
      (quote !== '' && heardOf(window, text).words.includes(quote)) ||
      containment(asked, heardOf(window, text).terms) >= SUPPORTED,
  );
}

interface Heard {
  readonly words: string;
  readonly terms: ReadonlySet<string>;
}

/** Each message is held against every fact: what it is compared by is worked out once for each window. */
const known = new WeakMap<Window, Map<string, Heard>>();

function heardOf(window: Window, text: string): Heard {
  const texts = known.get(window) ?? new Map<string, Heard>();
  known.set(window, texts);
  const heard = texts.get(text) ?? { words: normaliseText(text), terms: termSet(text) };
  texts.set(text, heard);
  return heard;
}
