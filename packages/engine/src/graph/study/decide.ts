import { decisionsIn, type RawDecisions } from '../../parse/graph.ts';
import { DECIDE_GRAPH, type DecideGraphInput, type ShownRelation } from '../../prompts/decide-graph.ts';
import { type Asking, ask } from '../../steps/ask.ts';
import { isoOf } from '../../text/iso.ts';
import type { JsonObject } from '../../words.ts';
import type { Entity, KeptRelation } from '../words.ts';
import type { Compared } from './conflicts.ts';
import type { Pair } from './values.ts';

/** Shown in one call: enough for a long conversation, and little enough that a model keeps the overview. */
const KNOWN_MAX = 60;
const PAIRS_MAX = 20;
const RELATIONS_OF_PAIR_MAX = 5;

export interface Decided extends Compared {
  readonly decisions: RawDecisions;
  /** The relations behind the ids that the model was shown. */
  readonly shownRelations: ReadonlyMap<string, KeptRelation>;
  /** The same of what was told: n0, n1, … */
  readonly shownTold: ReadonlyMap<string, number>;
  readonly shownPairs: ReadonlyMap<string, Pair>;
  /** Whether a model was asked. */
  readonly decided: boolean;
}

/** Asks which relations end, and which names are of one; not at all where nothing is in doubt. */
export async function decide(asking: Asking, compared: Compared): Promise<Decided> {
  const { doubts, pairs } = compared;
  const known = [...new Map(doubts.flatMap((doubt) => doubt.known).map((one) => [one.id, one])).values()].slice(
    0,
    KNOWN_MAX,
  );
  const told = [...new Set(doubts.flatMap((doubt) => [doubt.told, ...doubt.others]))].sort((a, b) => a - b);
  const shown = {
    shownRelations: new Map(known.map((one, i) => [String(i), one])),
    shownTold: new Map(told.map((at, i) => [`n${i}`, at])),
    shownPairs: new Map(pairs.slice(0, PAIRS_MAX).map((pair, i) => [`p${i}`, pair])),
  };
  if (doubts.length + pairs.length === 0)
    return { ...compared, ...shown, decisions: { ends: [], pairs: [], unread: [] }, decided: false };
  const decisions = await ask(asking, {
    step: 'graph:decide',
    prompt: DECIDE_GRAPH,
    ask: 'Decide which relations end, and which pairs are the same.',
    input: inputOf(compared, shown) as unknown as JsonObject,
    shape: decisionsIn,
  });
  return { ...compared, ...shown, decisions, decided: true };
}

type Shown = Pick<Decided, 'shownRelations' | 'shownTold' | 'shownPairs'>;

function inputOf(compared: Compared, { shownRelations, shownTold, shownPairs }: Shown): DecideGraphInput {
  return {
    new: [...shownTold].flatMap(([id, at]) => newShown(compared, id, at) ?? []),
    known: [...shownRelations].map(([id, one]) => ({
      id,
      source: one.sourceName,
      relationship: one.relationship,
      destination: one.destinationName,
      said_at: isoOf(one.saidAt.at),
      from: isoOf(one.validFrom),
    })),
    pairs: [...shownPairs].map(([id, { mention, other }]) => ({
      id,
      one: entityShown(compared, mention),
      other: { ...named(other), relations: relationsOf(compared, other.id) },
    })),
  };
}

function newShown(
  { told, mentions }: Compared,
  id: string,
  at: number,
): (ShownRelation & { said: 'holds' | 'ended' }) | null {
  const one = told[at];
  if (one === undefined || one.said === 'denied') return null;
  return {
    id,
    source: mentions[one.source]?.name ?? '',
    relationship: one.relationship,
    destination: mentions[one.destination]?.name ?? '',
    said_at: isoOf(one.saidAt.at),
    from: isoOf(one.validFrom),
    said: one.said,
  };
}

const named = ({ name, kind, aliases }: Pick<Entity, 'name' | 'kind' | 'aliases'>) => ({ name, kind, aliases });

function entityShown(compared: Compared, mention: number): DecideGraphInput['pairs'][number]['one'] {
  const { mentions, told } = compared;
  const mine = told
    .filter(({ source, destination }) => source === mention || destination === mention)
    .map(
      ({ source, relationship, destination }) =>
        `${mentions[source]?.name} ${relationship} ${mentions[destination]?.name}`,
    );
  const { name = '', kind = 'thing', aliases = [] } = mentions[mention] ?? {};
  return { name, kind, aliases, relations: mine.slice(0, RELATIONS_OF_PAIR_MAX) };
}

const relationsOf = ({ neighbours }: Compared, entity: string): readonly string[] =>
  neighbours
    .filter(({ source, destination }) => source === entity || destination === entity)
    .map((one) => `${one.sourceName} ${one.relationship} ${one.destinationName}`)
    .slice(0, RELATIONS_OF_PAIR_MAX);
