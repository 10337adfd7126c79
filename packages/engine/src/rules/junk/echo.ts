import { normaliseText } from '../../text/normalise.ts';
import { containment, termSet } from '../../text/similarity.ts';

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
  const asked = new Set([...termSet(fact.text)].filter((term) => !FRAME.has(term)));
  if (asked.size === 0 || window.system.length === 0) return false;
  if (!window.system.some((text) => containment(asked, text) >= FROM_SYSTEM)) return false;
  const quote = normaliseText(fact.quote ?? '');
  return !window.heard.some(
    (text) => (quote !== '' && normaliseText(text).includes(quote)) || containment(asked, text) >= SUPPORTED,
  );
}
