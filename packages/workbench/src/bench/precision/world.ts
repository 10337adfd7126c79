import { FRAMES } from './frames/all.ts';
import type { Frame } from './frames/frame.ts';
import { TONGUES } from './frames/tongues.ts';
import { SECOND_FRAMES } from './second/all.ts';
import { OTHER_TONGUES } from './second/tongues.ts';
import { FIRST_SPEECH, SECOND_SPEECH, type Speech } from './voice.ts';

/** What lives are drawn from: what may be said and asked, and how people speak. */
export interface World {
  readonly frames: readonly Frame[];
  /** In other languages. */
  readonly tongues: readonly Frame[];
  readonly speech: Speech;
}

/**
 * first    the cut was made with these subjects in view
 * second   other subjects and phrasings, written before anybody looked at how the cut does on them
 */
export const WORLDS = {
  first: { frames: FRAMES, tongues: TONGUES, speech: FIRST_SPEECH },
  second: { frames: SECOND_FRAMES, tongues: OTHER_TONGUES, speech: SECOND_SPEECH },
} as const satisfies Readonly<Record<string, World>>;
