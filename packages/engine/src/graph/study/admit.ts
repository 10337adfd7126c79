import type { Spoken } from '../../messages/reading.ts';
import type { RawEntity, RawGraph, RawRelation } from '../../models/parse/graph.ts';
import type { Remark } from '../../plan.ts';
import type { Sliced } from '../../slices.ts';
import { nameKey } from '../names.ts';
import { tellingOf } from './admit-relation.ts';
import { ASKED_MAX, type Knowing, Roll } from './roll.ts';
import type { Admitted, Told } from './values.ts';

/** What one call found, and the messages it was shown under its own ids. */
export interface FoundGraph {
  readonly raw: RawGraph;
  readonly shown: ReadonlyMap<string, Spoken>;
}

/** More in one study are no conversation any more. */
const TOLD_MAX = 200;

/**
 * Makes mentions and relations of what the model wrote. It is not believed: names must stand in the messages, words of
 * kinds and relationships are put into general form, a message must stand behind each relation. What is refused is told.
 */
export function* admitGraph(
  found: readonly FoundGraph[],
  knowing: Knowing,
): Sliced<Pick<Admitted, 'mentions' | 'told' | 'remarks'>> {
  const remarks: Remark[] = [];
  const roll = new Roll(knowing, remarks);
  const told: Told[] = [];
  for (const { raw, shown } of found) {
    remarks.push(...raw.unread.map(({ text, reason }) => ({ asked: text, did: `refused: ${reason}` })));
    const text = nameKey([...shown.values()].map((spoken) => spoken.text).join('\n'));
    for (const entity of raw.entities) {
      roll.add(entity, text);
      yield;
    }
    for (const relation of raw.relations) {
      yield;
      const telling = tellingOf(relation, shown, (name) => roll.find(name) ?? roll.add(named(name), text));
      if (typeof telling === 'string') remarks.push({ asked: askedOf(relation), did: telling });
      else if (told.length < TOLD_MAX) told.push(telling);
      else remarks.push({ asked: askedOf(relation), did: `refused: more than ${TOLD_MAX} relations in one study` });
    }
  }
  return { mentions: roll.mentions, told: withoutRepeats(told), remarks };
}

const named = (name: string): RawEntity => ({ name, kind: null, known: null, aliases: [] });

const askedOf = ({ source, relationship, destination }: RawRelation): string =>
  `${source} ${relationship} ${destination}`.slice(0, ASKED_MAX).toWellFormed();

/** Slices of one message overlap: what stands in two of them is told once. */
function withoutRepeats(told: readonly Told[]): readonly Told[] {
  const seen = new Set<string>();
  return told.filter(({ said, source, relationship, destination, messageIds, until }) => {
    const key = JSON.stringify([said, source, relationship, destination, messageIds, until]);
    return !seen.has(key) && seen.add(key);
  });
}
