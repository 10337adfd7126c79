import { leastOf, trustOf } from '../../memories/trust.ts';
import type { Spoken } from '../../messages/messages.ts';
import { factTerms } from '../../text/claims.ts';
import { normaliseText } from '../../text/normalise.ts';
import { containment, once, termSet } from '../../text/terms.ts';
import type { Message, Trust } from '../../words.ts';

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
  /** Its quote stands in one of its messages as it is; found out here where it is not said. */
  readonly isExact?: boolean;
}

/** What a model was shown to find them in. */
interface Shown {
  readonly window: readonly Spoken[];
  /** What was said before the window. */
  readonly before: readonly Spoken[];
  /** The summary, where external content is in it. */
  readonly summary: string | null;
}

/**
 * Whose word facts and relations of a window are: the least of the messages that each of them names. A model may have read it
 * elsewhere, also in what it is shown from before the window, and one that obeys a page says that the user has said it: what
 * stands in external content and in no message that is named is external. So is what a summary of such content says and no
 * message does: it says it in words of its own, so that fewer of them have to stand there.
 */
export function lineageIn(
  { window, before, summary }: Shown,
  looking = lookingIn(window, before),
): (made: Made) => Trust {
  const wordsOf = once((text: string) => normaliseText(text));
  const termsOf = once((text: string) => termSet(text));
  const isExternal = ({ message }: Spoken): boolean => trustOf(message) === 'external';
  const external = [...before, ...window].filter(isExternal);
  const others = [...before, ...window].filter((spoken) => !isExternal(spoken));
  const holds = ({ text }: Told, quoted: string): boolean => quoted !== '' && wordsOf(text).includes(quoted);
  const says = ({ text }: Told, one: ReadonlySet<string>, share: number): boolean =>
    one.size > 0 && containment(one, termsOf(text)) >= share;
  const standsIn = (told: Told, { quoted, asked, isQuoted, isSupported }: Sought, share: number): boolean =>
    (!isQuoted && holds(told, quoted)) || (!isSupported && asked.every((one) => says(told, one, share)));
  const soughtOf = ({ texts, quote, sources }: Made, isExact: boolean): Sought => {
    const asked = texts.map(factTerms);
    const own = looking.spokenBy(sources);
    const quoted = normaliseText(quote ?? '');
    const isQuoted = isExact || own.some((spoken) => holds(spoken, quoted));
    const isSupported = asked.every((one) => own.some((spoken) => says(spoken, one, SUPPORTED)));
    return { quoted, asked, isQuoted, isSupported };
  };
  const isOfSummary = (sought: Sought): boolean => {
    const share = sought.isQuoted ? READ_THERE : SUPPORTED;
    const isSummed = summary !== null && standsIn({ text: summary }, sought, share);
    return isSummed && !others.some((spoken) => standsIn(spoken, sought, share));
  };
  return (made) => {
    const { sources, quote, isExact = looking.saidIn(sources, quote ?? '') } = made;
    const named = leastOf(sources.map(trustOf));
    if (named === 'external') return named;
    // Most quotes stand there as they are. All that follows takes far longer than to look for them.
    if (isExact && external.length === 0 && summary === null) return named;
    const sought = soughtOf(made, isExact);
    if (external.some((spoken) => standsIn(spoken, sought, READ_THERE))) return 'external';
    if (sought.isSupported) return named;
    if (isOfSummary(sought)) return 'external';
    return sought.isQuoted ? named : leastOf([named, 'inferred']);
  };
}

type Told = Pick<Spoken, 'text'>;

/** What is looked for of one fact, and whether its own messages have it. */
interface Sought {
  readonly quoted: string;
  readonly asked: readonly ReadonlySet<string>[];
  readonly isQuoted: boolean;
  readonly isSupported: boolean;
}

/** How it is looked up what messages of a window say. */
export type Looking = ReturnType<typeof lookingIn>;

export function lookingIn(window: readonly Spoken[], before: readonly Spoken[]) {
  const places = new Map<string, number[]>(); // several of a message that was cut into slices
  for (const [i, { message }] of window.entries()) {
    const known = places.get(message.id);
    if (known === undefined) places.set(message.id, [i]);
    else known.push(i);
  }
  const placesOf = ({ id }: Message): readonly number[] => places.get(id) ?? [];
  return {
    /** Whether one of them has the words as they are. */
    saidIn: (sources: readonly Message[], words: string): boolean => {
      if (words === '') return false;
      for (const source of sources)
        for (const place of placesOf(source)) if (window[place]?.text.includes(words)) return true;
      return false;
    },
    textsOf: (sources: readonly Message[]): readonly string[] =>
      sources.flatMap(placesOf).map((place) => window[place]?.text ?? ''),
    /** What they say, and what was said right before each of them: who says yes says what was asked. */
    spokenBy: (sources: readonly Message[]): readonly Spoken[] => {
      const own = sources.flatMap(placesOf).flatMap((place) => {
        const [asked, said] = [place === 0 ? before.at(-1) : window[place - 1], window[place]];
        const isAsked = asked !== undefined && trustOf(asked.message) !== 'external';
        return [isAsked ? asked : undefined, said].filter((one) => one !== undefined);
      });
      return [...new Set(own)];
    },
  };
}
