import type { Millis } from '../words.ts';
import type { Entity, MergeProposal } from './words.ts';

/** A pair as a study found it. */
export interface Proposed extends MergeProposal {
  readonly recordedAt: Millis;
}

/** An entity that was said to stand for itself. */
export interface SaidApart {
  readonly source: string;
  readonly recordedAt: Millis;
}

export interface OpenProposal {
  readonly source: Entity;
  readonly destination: Entity;
  readonly likeness: number;
}

/** Pairs that nobody has decided on, as what the two stand for by now: each once, the most alike first. */
export function openProposals(
  proposed: readonly Proposed[],
  apart: readonly SaidApart[],
  entities: ReadonlyMap<string, Entity>,
): readonly OpenProposal[] {
  const standing = (id: string): Entity | undefined => {
    const one = entities.get(id);
    return one === undefined || one.mergedInto === null ? one : entities.get(one.mergedInto);
  };
  const pairs = new Map<string, OpenProposal>();
  for (const one of proposed.toSorted((a, b) => b.likeness - a.likeness)) {
    const [source, destination] = [standing(one.source), standing(one.destination)];
    if (source === undefined || destination === undefined || source.id === destination.id) continue;
    if (!source.counts || !destination.counts || isDecided(one, apart)) continue;
    const key = JSON.stringify([source.id, destination.id].sort());
    if (!pairs.has(key)) pairs.set(key, { source, destination, likeness: one.likeness });
  }
  return [...pairs.values()];
}

const isDecided = (proposed: Proposed, apart: readonly SaidApart[]): boolean =>
  apart.some(
    ({ source, recordedAt }) =>
      [proposed.source, proposed.destination].includes(source) && recordedAt >= proposed.recordedAt,
  );
