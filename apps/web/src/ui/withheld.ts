import type { Source } from '@slowwave/sdk';

/** What is shown where the text of a message was. */
export const WITHHELD: Readonly<Record<NonNullable<Source['withheld']>, string>> = {
  retention: 'Its text was removed after the time that messages are kept.',
  personal_data: 'It held personal data, which is not stored here.',
  forgotten: 'It says what is forgotten.',
  paused: 'It was said while remembering was paused.',
};
