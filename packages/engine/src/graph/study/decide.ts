import { lastSaid } from '../../messages/said-when.ts';
import { type Asking, ask, inHalves } from '../../models/ask.ts';
import { decisionsIn, type RawDecisions } from '../../models/parse/graph.ts';
import { DECIDE_GRAPH, type DecideGraphInput, type ShownRelation } from '../../models/prompts/decide-graph.ts';
import { localIsoOf, shownIsoOf } from '../../text/dates.ts';
import type { JsonObject, UtcOffset } from '../../words.ts';
import type { Entity, KeptRelation } from '../words.ts';
import type { Compared } from './conflicts.ts';
import { isLastOfStudy, STEP } from './steps.ts';
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
  const { deps } = asking;
  const halving = {
    ask: (doubtful: Doubtful, step: string) => decisionsOf(asking, { compared, shown, doubtful, step }),
    halve: async (doubtful: Doubtful) => halvesOf(doubtful),
    isLast: async () => isLastOfStudy(deps, compared.study),
  };
  const answers = await inHalves(halving, { doubts, pairs: [...shown.shownPairs.values()] }, `${STEP}decide`);
  const decisions = {
    ends: answers.flatMap(({ ends }) => ends),
    pairs: answers.flatMap((one) => one.pairs),
    unread: answers.flatMap(({ unread }) => unread),
  };
  return { ...compared, ...shown, decisions, decided: true };
}

/** What one call is asked to decide. */
type Doubtful = Pick<Compared, 'doubts' | 'pairs'>;

/** null: one doubt is decided as a whole. */
function halvesOf({ doubts, pairs }: Doubtful): readonly Doubtful[] | null {
  if (doubts.length + pairs.length < 2) return null;
  if (doubts.length > 0 && pairs.length > 0)
    return [
      { doubts, pairs: [] },
      { doubts: [], pairs },
    ];
  const middle = Math.ceil((doubts.length + pairs.length) / 2);
  return [
    { doubts: doubts.slice(0, middle), pairs: pairs.slice(0, middle) },
    { doubts: doubts.slice(middle), pairs: pairs.slice(middle) },
  ];
}

interface Deciding {
  readonly compared: Compared;
  readonly shown: Shown;
  readonly doubtful: Doubtful;
  readonly step: string;
}

const decisionsOf = (asking: Asking, { compared, shown, doubtful, step }: Deciding): Promise<RawDecisions> =>
  ask(asking, {
    ...{ step, prompt: DECIDE_GRAPH, shape: decisionsIn },
    ask: 'Decide which relations end, and which pairs are the same.',
    input: inputOf(compared, shownOf(shown, doubtful)) as unknown as JsonObject,
  });

/** What is shown of all, under the same ids. */
function shownOf({ shownRelations, shownTold, shownPairs }: Shown, { doubts, pairs }: Doubtful): Shown {
  const known = new Set(doubts.flatMap((doubt) => doubt.known.map(({ id }) => id)));
  const told = new Set(doubts.flatMap((doubt) => [doubt.told, ...doubt.others]));
  return {
    shownRelations: new Map([...shownRelations].filter(([, { id }]) => known.has(id))),
    shownTold: new Map([...shownTold].filter(([, at]) => told.has(at))),
    shownPairs: new Map([...shownPairs].filter(([, pair]) => pairs.includes(pair))),
  };
}

type Shown = Pick<Decided, 'shownRelations' | 'shownTold' | 'shownPairs'>;

function inputOf(compared: Compared, { shownRelations, shownTold, shownPairs }: Shown): DecideGraphInput {
  const offset = offsetOf(compared);
  return {
    new: [...shownTold].flatMap(([id, at]) => newShown(compared, id, at) ?? []),
    known: [...shownRelations].map(([id, one]) => ({
      id,
      source: one.sourceName,
      relationship: one.relationship,
      destination: one.destinationName,
      said_at: localIsoOf(one.saidAt.at, offset),
      from: shownIsoOf(one.validFrom, offset),
    })),
    pairs: [...shownPairs].map(([id, { mention, other }]) => ({
      id,
      one: entityShown(compared, mention),
      other: { ...named(other), relations: relationsOf(compared, other.id) },
    })),
  };
}

/** All times are shown by the clock of who speaks now: relations do not keep the one they were said by. */
const offsetOf = ({ spoken }: Compared): UtcOffset | undefined =>
  spoken.length === 0 ? undefined : lastSaid(spoken.map(({ message }) => message)).clock?.offset;

function newShown(compared: Compared, id: string, at: number): (ShownRelation & { said: 'holds' | 'ended' }) | null {
  const { told, mentions } = compared;
  const one = told[at];
  const offset = offsetOf(compared);
  if (one === undefined || one.said === 'denied') return null;
  return {
    id,
    source: mentions[one.source]?.name ?? '',
    relationship: one.relationship,
    destination: mentions[one.destination]?.name ?? '',
    said_at: localIsoOf(one.saidAt.at, offset),
    from: shownIsoOf(one.validFrom, offset),
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
