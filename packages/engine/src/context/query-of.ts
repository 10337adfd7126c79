import { terms } from '../text/terms.ts';

/** Fewer terms ("yes, that one") say too little by themselves: what was said before helps. */
const TERMS_ENOUGH = 6;
/** What was said longer ago leads away from what is asked now. */
const MESSAGES_MAX = 3;
/** Of each message its end: there people ask. */
const CHARACTERS_MAX = 2_000;

/**
 * What the last turns of a conversation ask for: the last message of the user; where it is short, with those before it.
 * null: nobody but the system said anything.
 */
export function queryOf(turns: readonly { readonly role: string; readonly text: string }[]): string | null {
  const said = turns.filter(({ role, text }) => role !== 'system' && text.trim() !== '');
  const users = said.filter(({ role }) => role === 'user');
  const heard = (users.length > 0 ? users : said).slice(-MESSAGES_MAX).reverse();
  const query: string[] = [];
  let found = 0;
  for (const { text } of heard) {
    const end = text.trim().slice(-CHARACTERS_MAX).toWellFormed();
    query.unshift(end);
    found += terms(end).length;
    if (found >= TERMS_ENOUGH) break;
  }
  return query.length === 0 ? null : query.join('\n');
}
