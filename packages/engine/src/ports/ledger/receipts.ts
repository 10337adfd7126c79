import type { JsonObject, LaneId, Millis, Scope, TenantId } from '../../words.ts';
import type { Page, Paged } from './page.ts';

/** What an answer told: a version of a memory, a message as it was said, or a relation, by the statement that began it. */
export type Told =
  | { readonly kind: 'memory'; readonly id: string; readonly version: number }
  | { readonly kind: 'message' | 'relation'; readonly id: string };

export type ReceiptOutcome = 'good' | 'bad';

/** What one answer told to whom: ids and versions, never texts of memories. */
export interface Receipt {
  readonly id: string;
  readonly tenant: TenantId;
  /** The lane that was asked; with its owner the receipt goes. */
  readonly lane: LaneId;
  readonly at: Millis;
  readonly route: 'search' | 'context' | 'recall';
  /** The ids that were asked with. */
  readonly scope: Scope;
  /** Whether a key for that one app asked. */
  readonly ownApp: boolean;
  /** Masked and short; null: nothing was asked, or something was told that is forgotten since. */
  readonly question: string | null;
  /** null: none, too long to keep, or gone with the question. */
  readonly filters: JsonObject | null;
  /** The moment that was asked for; null: now. */
  readonly asOf: Millis | null;
  /** How far the ledger had come: the number of the lane's last message. */
  readonly position: number;
  /** In the order in which it was told. */
  readonly told: readonly Told[];
  /** What became of the answer, as the caller says; null: nobody said. */
  readonly outcome: ReceiptOutcome | null;
}

export type NewReceipt = Omit<Receipt, 'outcome'>;

/** What answers that told a version led to, in thousandths of an answer: of one answer each gets a share by its place. */
export interface Credit {
  readonly memoryId: string;
  readonly version: number;
  readonly good: number;
  readonly bad: number;
}

/** A credit as it stands, and when it last changed. */
export interface Credited extends Credit {
  readonly at: Millis;
}

/** What was told to whom. Kept for days, and never needed to answer. */
export interface ReceiptStore {
  /**
   * All of one lane, so that nobody else has to wait for it. Those of owners who are being erased are left out, one that is there
   * already stays as it is, and the question of one that told what is forgotten meanwhile is not kept.
   */
  append(receipts: readonly NewReceipt[]): Promise<void>;
  get(tenant: TenantId, id: string): Promise<Receipt | null>;
  /** Those that told a memory, in whatever version; newest first. */
  ofMemory(tenant: TenantId, memoryId: string, page: Page): Promise<Paged<Receipt>>;
  /** The newest ones of all tenants that have a question. */
  asked(limit: number): Promise<readonly Receipt[]>;
  /**
   * The outcome replaces the one before, with what was credited for it, and memories whose credit it changes are to be projected. null:
   * the tenant has no such receipt.
   */
  judge(
    tenant: TenantId,
    id: string,
    judgement: { readonly outcome: ReceiptOutcome | null; readonly now: Millis },
  ): Promise<Receipt | null>;
  /** Of all versions of these memories that were credited. */
  credits(memoryIds: readonly string[]): Promise<readonly Credited[]>;
  /** At most `limit` of those from before a moment go. Returns how many. */
  drop(before: Millis, limit: number): Promise<number>;
}
