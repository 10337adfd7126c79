import { newest } from '../../memories/evolve.ts';
import type { Memory } from '../../words.ts';

/** The category of a procedure: a complete record of what an agent did. */
export const PROCEDURAL = 'procedural';

/** Records stand as they are: facts neither change them nor are decided against them. */
export const isProcedure = (memory: Memory): boolean => newest(memory).details.category === PROCEDURAL;
