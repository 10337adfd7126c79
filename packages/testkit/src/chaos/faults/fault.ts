import type { Random } from '../random.ts';
import type { Mode, Stage } from '../stage.ts';

/** Something that goes wrong, and is over when its promise is. */
export interface Fault {
  readonly kind: string;
  /** Where it can happen. */
  readonly modes: readonly Mode[];
  /** Whether an answer that had just arrived may be lost by it. */
  readonly interrupts: boolean;
  /** It may still do so after it is over, until everything that was there has ended. */
  readonly lingers?: boolean;
  run(stage: Stage, random: Random, telling: Telling): Promise<void>;
}

/** What a fault tells of itself. */
export interface Telling {
  /** It waited until now; only what is to come is its doing. */
  begins(): void;
  /** It came to another kind than it was meant to. */
  instead(kind: string): void;
}

export const EVERYWHERE: readonly Mode[] = ['sqlite', 'postgres', 'embedded'];
export const ON_REDIS: readonly Mode[] = ['sqlite', 'postgres'];
export const ON_FILES: readonly Mode[] = ['sqlite', 'embedded'];
