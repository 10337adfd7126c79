import type { Finding } from '../checks/finding.ts';
import type { Tongue } from '../load.ts';
import type { Random } from '../random.ts';
import type { Mode, Stage } from '../stage.ts';
import type { Story } from '../story.ts';

/** Something that goes wrong, and is over when its promise is. */
export interface Fault {
  readonly kind: string;
  /** Where it can happen. */
  readonly modes: readonly Mode[];
  /** Whether an answer that had just arrived may be lost by it. */
  readonly interrupts: boolean;
  /** It may still do so after it is over, until everything that was there has ended. */
  readonly lingers?: boolean;
  run(stage: Stage, random: Random, occasion: Occasion): Promise<void>;
}

/** What a fault happens in, and what it reports of itself. */
export interface Occasion {
  /** It waited until now; only what is to come is its doing. */
  begins(): void;
  /** It came to another kind than it was meant to. */
  instead(kind: string): void;
  /** Somebody who talks only because of it, and has to be looked at too. Reported before the first word. */
  invites(guest: Guest): void;
  /** What users say is counted on over all of them. */
  readonly tongue: Tongue;
  /** Whether nothing else goes wrong at the same time. */
  readonly alone: boolean;
}

/** A user of a fault's own. */
export interface Guest {
  /** Looked at as those who always talk are; null: `check` alone knows what must hold. */
  readonly story: Story | null;
  /** Batches that were acknowledged besides those of the story. */
  accepted: number;
  /** How many of these may be parked. */
  readonly mayPark: number;
  /** What else must hold once all is quiet. */
  check(stage: Stage): Promise<readonly Finding[]>;
}

export const EVERYWHERE: readonly Mode[] = ['sqlite', 'postgres', 'postgres-alone', 'embedded'];
export const ON_REDIS: readonly Mode[] = ['sqlite', 'postgres'];
export const ON_POSTGRES: readonly Mode[] = ['postgres', 'postgres-alone'];
export const ON_FILES: readonly Mode[] = ['sqlite', 'embedded'];
