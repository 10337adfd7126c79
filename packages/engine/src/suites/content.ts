import type { Figures } from '../figures/figures.ts';
import type { Outcome } from '../figures/gold.ts';
import type { SuiteCase } from '../ports/ledger/replays.ts';
import type {
  BatchSettings,
  Content,
  JsonObject,
  MarkedTrust,
  Millis,
  Role,
  Scope,
  SpeakersClock,
  VersionDetails,
} from '../words.ts';

/** What a case of a suite holds: all that is needed to consolidate its conversation again, and to judge what comes of it. */
export interface CaseContent {
  /** Of most that was said; null: it is not clear. */
  readonly language: string | null;
  /** What was known before. */
  readonly memories: readonly KnownMemory[];
  readonly batches: readonly CaseBatch[];
  /** What should come of it. null: nobody knows. */
  readonly stored: Outcome | null;
  /** How it went where it was recorded. null: it came from a file without figures. */
  readonly measured: MeasuredCase | null;
  readonly questions: readonly CaseQuestion[];
}

export interface KnownMemory extends Pick<VersionDetails, 'category' | 'language' | 'about'> {
  readonly id: string;
  readonly text: string;
  readonly at: Millis;
  readonly validFrom: Millis;
}

export interface CaseBatch {
  readonly id: string;
  readonly scope: Scope;
  readonly settings: BatchSettings;
  /** What was consolidated together is again: batches of one window have the same number. */
  readonly window: number;
  readonly messages: readonly CaseMessage[];
}

interface CaseMessage {
  readonly id: string;
  readonly clientId: string | null;
  readonly role: Role;
  readonly content: Content;
  readonly name: string | null;
  readonly at: Millis;
  readonly clock?: SpeakersClock;
  readonly trust?: MarkedTrust;
}

interface MeasuredCase {
  readonly figures: Figures;
  readonly calls: number;
  readonly tokens: number;
}

export interface CaseQuestion {
  readonly query: string;
  /** Texts of memories that answer it; none: nothing is known that does. */
  readonly expects: readonly string[];
}

export const contentOf = ({ content }: Pick<SuiteCase, 'content'>): CaseContent => content as unknown as CaseContent;

export const storedContent = (content: CaseContent): JsonObject => JSON.parse(JSON.stringify(content));
