/** A text as repeats are recognised by: NFKC, lower case, single spaces, no closing punctuation. */
export const normaliseText = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(/[\s.,;:!?。，；：！？…]+$/u, '');
