import { leastOf, trustOf } from '../../memories/trust.ts';
import type { Spoken } from '../../messages/messages.ts';
import { normaliseText } from '../../text/normalise.ts';
import { containment, once, termSet } from '../../text/terms.ts';
import type { Message, Trust } from '../../words.ts';
import { FRAME } from './rules.ts';

/** So much of a text's words stands in external content that it was read there… */
const READ_THERE = 0.8;
/** …unless the messages that it names say at least this much of it. What says less of it leaves it to a conclusion. */
const SUPPORTED = 0.34;

/** What a fact or a relation was made of, as the model says. */
interface Made {
  /** What it says, each of them to be supported: a fact by its text, a relation by its names. */
  readonly texts: readonly string[];
  readonly quote: string | null;
  readonly sources: readonly Message[];
}

/**
 * Whose word facts and relations of a window are: the least of the messages that each of them names. A model may have read it
 * elsewhere, also in what it is shown from before the window, and one that obeys a page says that the user has said it: what
 * stands in external content and in no message that is named is external.
 */
export function lineageIn(window: readonly Spoken[], before: readonly Spoken[]): (made: Made) => Trust {
  const comparable = once((text: string) => ({ words: normaliseText(text), terms: termSet(text) }));
  const external = [...before, ...window].filter(({ message }) => trustOf(message) === 'external');
  return ({ texts, quote, sources }) => {
    const named = leastOf(sources.map(trustOf));
    if (named === 'external') return named;
    const asked = texts.map((text) => new Set([...termSet(text)].filter((term) => !FRAME.has(term))));
    const quoted = normaliseText(quote ?? '');
    const holds = (spoken: Spoken): boolean => quoted !== '' && comparable(spoken.text).words.includes(quoted);
    const says = (spoken: Spoken, one: ReadonlySet<string>, share: number): boolean =>
      one.size > 0 && containment(one, comparable(spoken.text).terms) >= share;
    const own = spokenBy(sources, window);
    const isQuoted = own.some(holds);
    const isSupported = asked.every((one) => own.some((spoken) => says(spoken, one, SUPPORTED)));
    const isElsewhere = external.some(
      (spoken) => (!isQuoted && holds(spoken)) || (!isSupported && asked.every((one) => says(spoken, one, READ_THERE))),
    );
    if (isElsewhere) return 'external';
    return isQuoted || isSupported ? named : leastOf([named, 'inferred']);
  };
}

/** What messages say, and what was said right before each of them: who says yes says what was asked. */
function spokenBy(sources: readonly Message[], window: readonly Spoken[]): readonly Spoken[] {
  const named = new Set(sources.map(({ id }) => id));
  return window.filter(({ message }, i) => {
    const next = window[i + 1];
    const isAnswered = next !== undefined && named.has(next.message.id) && trustOf(message) !== 'external';
    return named.has(message.id) || isAnswered;
  });
}
