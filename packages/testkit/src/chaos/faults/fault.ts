import type { Random } from '../random.ts';
import type { Mode, Stage } from '../stage.ts';

/** Something that goes wrong, and is over when its promise is. */
export interface Fault {
  readonly kind: string;
  /** Where it can happen. */
  readonly modes: readonly Mode[];
  /** Whether an answer that had just arrived may be lost by it. */
  readonly interrupts: boolean;
  /** Tells when it came to another kind than it was meant to. */
  run(stage: Stage, random: Random, instead: (kind: string) => void): Promise<void>;
}

export const EVERYWHERE: readonly Mode[] = ['sqlite', 'postgres', 'embedded'];
export const ON_REDIS: readonly Mode[] = ['sqlite', 'postgres'];
export const ON_FILES: readonly Mode[] = ['sqlite', 'embedded'];
