import type { Notebook, Readable } from './notebook.ts';
import type { Step } from './read-step.ts';

export interface Cited {
  readonly answer: string | null;
  readonly citations: readonly Readable[];
}

interface Citing {
  readonly notes: Pick<Notebook, 'named'>;
  readonly remarks: string[];
}

/** An answer with what it rests on. What was never read cannot be cited: that is left out, and remarked. */
export function cited({ notes, remarks }: Citing, { answer, cites }: Step): Cited {
  if (answer === null) return { answer: null, citations: [] };
  const citations = new Map<string, Readable>();
  const unread: string[] = [];
  for (const id of cites) {
    const note = notes.named(bare(id));
    if (note === null) unread.push(id.slice(0, ID_SHOWN));
    else citations.set(note.of.key, note.of);
  }
  if (unread.length > 0) {
    remarks.push(`${unread.length} of what the model cites was never read, and is left out: ${unread.join(', ')}`);
  }
  if (citations.size === 0) remarks.push('nothing that was read is cited for this answer: it may be made up');
  return { answer, citations: [...citations.values()] };
}

const ID_SHOWN = 20;

/** Models like to write [0] for 0. */
const bare = (id: string): string => id.replace(/^[[(\s]+|[\])\s]+$/gu, '');
