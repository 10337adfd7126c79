import { remembering } from './remembering.ts';
import { terms } from './terms.ts';

/** About ten megabytes of the beginnings of texts: those who talk now ask the same memories again and again. */
const remembered = remembering<ReadonlySet<string>>({ max: 10_000, length: 1_000 });

/** The different terms of a text. */
export const termSet = (text: string): ReadonlySet<string> => remembered(text, () => new Set(terms(text)));
