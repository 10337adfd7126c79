import type { FactItem, KnownFact } from './items.ts';

/*
 * What a conversation was told keeps its place in the next block, and what is new comes after it: then a provider's prompt cache
 * knows the beginning of the next prompt. A line goes at once when it no longer holds, whatever that costs. One that holds and is
 * not asked for any more stays for a while.
 */

/** A memory version that the conversation was told before. */
export interface ToldLine {
  readonly memoryId: string;
  readonly version: number;
  readonly section: FactItem['section'];
  /** How many turns ago it was last asked for; 0: in the last one. */
  readonly turns: number;
}

/** The same with what it says now. */
export interface ToldFact extends ToldLine {
  /** null: it was corrected, ended or forgotten since, or does not fit what is asked now. */
  readonly fact: KnownFact | null;
}

/** What is not asked for any more is noise in the end, however much its place in the cache is worth. */
export const STALE_TURNS_MAX = 10;
/** And it leaves room for what is asked. */
const STALE_PART_MAX = 1 / 2;

/** Lines in the order in which they were told, each with whether it is asked for now; null: it cannot be told again. */
export type Retold = { readonly item: FactItem; readonly turns: number; readonly asked: boolean } | null;

/**
 * Those lines that are not asked for any more and stay. Where a line goes, what comes after it has to be read anew: so all that are
 * not asked for leave there as well. Where one of them has stayed for too long, or they take too much room, all of them leave at once:
 * the cache is lost once, instead of with each of them.
 */
export function staying(told: readonly Retold[], maxTokens: number): readonly FactItem[] {
  const stale = told.flatMap((line) => (line === null || line.asked ? [] : [line]));
  const tokens = stale.reduce((sum, { item }) => sum + item.tokens, 0);
  if (tokens > maxTokens * STALE_PART_MAX || stale.some(({ turns }) => turns >= STALE_TURNS_MAX)) return [];
  const gone = told.indexOf(null);
  return told
    .slice(0, gone === -1 ? told.length : gone)
    .flatMap((line) => (line === null || line.asked ? [] : [line.item]));
}

/** Facts in their final order, the profile first: those told before, as they stood, and then the new ones, the latest last. */
export function inOrderOfTelling(facts: readonly FactItem[], told: readonly Retold[]): readonly FactItem[] {
  const shown = new Set(facts);
  const before = told.flatMap((line) => (line !== null && shown.has(line.item) ? [line.item] : []));
  const known = new Set(before);
  const fresh = facts.filter((item) => !known.has(item));
  // What is new in the profile would move all memories: it comes after those that were told.
  const late = before.some(({ section }) => section === 'memories');
  const isProfile = ({ section }: FactItem): boolean => section === 'profile';
  const added = fresh.filter(isProfile);
  return [
    ...before.filter(isProfile),
    ...(late ? [] : added),
    ...before.filter((item) => !isProfile(item)),
    ...(late ? added.map((item) => ({ ...item, section: 'memories' as const })) : []),
    ...fresh.filter((item) => !isProfile(item)).toSorted(byDate),
  ];
}

const byDate = ({ fact: a }: FactItem, { fact: b }: FactItem): number =>
  a.validFrom - b.validFrom || a.saidAt - b.saidAt || (a.memoryId < b.memoryId ? -1 : 1);

/** What was told by a block, for the next one. */
export function toldBy(shown: readonly FactItem[], told: readonly Retold[]): readonly ToldLine[] {
  const stale = new Map(told.flatMap((line) => (line === null || line.asked ? [] : [[line.item, line.turns + 1]])));
  return shown.map((item) => ({
    memoryId: item.fact.memoryId,
    version: item.fact.version,
    section: item.section,
    turns: stale.get(item) ?? 0,
  }));
}
