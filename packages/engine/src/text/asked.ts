import { terms } from './terms.ts';

/** Who asks, or is asked about without a name, with the verb that only asks. */
const ASKER = /\b(?:(?:does|do|did|is|are|am|was|were|has|have|had)\s+)?(?:she|he|they|I)\b\s*/giu;
const MARK = /\s*[?？]+\s*$/u;
const ASKERS_OWN = /\b(?:her|his|my|their|him|me|them)\b\s*/giu;

/**
 * What a question asks for, without words for who asks, and without its mark: of "What does she do for a living?" it is "What do for a living". To a
 * model's vectors these words are as much as the others, though all that is known of somebody is about them. It knows English
 * alone. "Who is she?" asks for nothing else, and stays as it is.
 */
export function withoutAsker(question: string): string {
  const left = question.replace(ASKER, '').replace(ASKERS_OWN, '').replace(MARK, '');
  return terms(left).length === 0 ? question : left;
}
