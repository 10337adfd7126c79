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
/** Lines in the order in which they were told, each with whether it is asked for now; null: it cannot be told again. */
export type Retold = { readonly item: FactItem; readonly turns: number; readonly asked: boolean } | null;

/**
 * Those lines that are not asked for any more and stay: from the first one on, as long as there is room for them. Where a line goes,
 * what comes after it has to be read anew: so all that are not asked for leave from there on.
 */
export function staying(told: readonly Retold[], room: number): readonly FactItem[] {
  const stay: FactItem[] = [];
  let left = room;
  for (const line of told) {
    if (line?.asked === true) continue;
    left -= line?.item.tokens ?? 0;
    if (line === null || line.turns >= STALE_TURNS_MAX || left < 0) break;
    stay.push(line.item);
  }
  return stay;
}

/** What is not asked for any more leaves this part of a budget to what is asked. */
export const STALE_PART_MAX = 1 / 2;

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
