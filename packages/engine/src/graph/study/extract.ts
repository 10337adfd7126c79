import { gather } from '../../consolidation/consolidate.ts';
import { lineageIn } from '../../consolidation/extract/grounding.ts';
import {
  contextOf,
  cutIntoParts,
  halvingParts,
  messageShown,
  type Part,
  partLimits,
  shownBefore,
} from '../../consolidation/extract/infer.ts';
import { HEARD, idleReason } from '../../consolidation/extract/rules.ts';
import { hear } from '../../consolidation/extract.ts';
import type { EngineDeps } from '../../deps.ts';
import { EngineError } from '../../errors.ts';
import { maskSecrets } from '../../masking/secrets.ts';
import { beginOf, isWorthReading, lastSaid, type Spoken } from '../../messages/messages.ts';
import { ask, inHalves } from '../../models/ask.ts';
import {
  EXTRACT_GRAPH,
  type ExtractGraphInput,
  graphIn,
  type RawEntity,
  type RawGraph,
  type RawRelation,
} from '../../models/prompts/graph.ts';
import type { Remark } from '../../plan.ts';
import type { Study } from '../../ports/ledger/graph.ts';
import type { Turn } from '../../ports/ledger/lanes.ts';
import { allOf } from '../../ports/ledger/ledger.ts';
import type { Consolidation } from '../../ports/ledger/thoughts.ts';
import { type Cancellation, inSlices, type Sliced } from '../../ports/tools.ts';
import { millisOf } from '../../text/dates.ts';
import { normaliseText } from '../../text/normalise.ts';
import { isLastTry } from '../../turns/apart.ts';
import type { BatchSettings } from '../../words.ts';
import { isInflectedIn, isNamedIn, isSelfName, nameKey, nameOf, SELF_NAME } from '../names.ts';
import { arityOf, kindOf, relationshipOf } from '../relationships.ts';
import type { Entity } from '../words.ts';
import { STEP } from './decide.ts';
import type { Admitted, Claim, Mention, Read } from './study-lane.ts';

/** Finds entities and relations: one call, or one for each part of a window that is too long for one; none where nothing was said. */
export async function extractGraph(deps: EngineDeps, read: Read, cancel: Cancellation): Promise<Admitted> {
  const { gathered, spoken } = read;
  const whose = { agent: gathered.turn.scope.agentId !== null };
  if (spoken.every((one) => idleReason(one, whose) !== null))
    return { ...read, mentions: [], claims: [], remarks: [], asked: false };
  const known = knownOf(read);
  const halving = {
    ask: async ({ before, messages, knownTokens }: Part, step: string): Promise<FoundGraph> => {
      const count = deps.settings.recentMessages;
      const context = contextOf(gathered, { spoken: messages, before, count, knownTokens });
      const question = { step, prompt: EXTRACT_GRAPH, ask: 'Find the entities and relations.', shape: graphIn };
      const input = inputOf(read, { context, known, messages });
      const raw = await ask({ deps, turn: gathered.turn, cancel }, { ...question, input });
      return { raw, shown: new Map(messages.map((message, n) => [`m${n}`, message])) };
    },
    halve: halvingParts(deps),
    isLast: async () => isLastTry(deps, read.study),
  };
  const found: FoundGraph[] = [];
  const parts = await inSlices(deps.tools, cutIntoParts(spoken, partLimits(deps)));
  for (const [i, part] of parts.entries())
    found.push(...(await inHalves(halving, part, i === 0 ? `${STEP}extract` : `${STEP}extract:${i + 1}`)));
  const names = read.around.flatMap((one) => [one.sourceName, one.destinationName]);
  const before = shownBefore(gathered, deps.settings.recentMessages);
  const isExternal = gathered.rules.externalContent === 'remember' ? () => false : externalIn(found, before);
  const admitted = await inSlices(deps.tools, admitGraph(found, { known, names, isExternal }));
  return { ...read, ...admitted, asked: true };
}

/** The owner, and whom the messages or what was said just before name, under the ids of the call. */
function knownOf({ self, entities, spoken, gathered }: Read): ReadonlyMap<string, Entity> {
  const texts = [
    ...gathered.recent.map(({ content }) => (typeof content === 'string' ? content : '')),
    ...spoken.map(({ text }) => text),
  ];
  const named = namedIn(entities, texts.join('\n')).slice(0, KNOWN_MAX);
  return new Map([...(self === null ? [] : [self]), ...named].map((entity, i) => [`e${i}`, entity]));
}

interface Showing {
  readonly context: ReturnType<typeof contextOf>;
  readonly known: ReadonlyMap<string, Entity>;
  readonly messages: readonly Spoken[];
}

const inputOf = (
  { around }: Read,
  { context: { summary, recent, now, instructions }, known, messages }: Showing,
): ExtractGraphInput => ({
  context: { summary, recent, now, instructions },
  known: {
    entities: [...known].map(([id, { name, kind, aliases }]) => ({ id, name, kind, aliases })),
    relations: around.map((one) => `${one.sourceName} ${one.relationship} ${one.destinationName}`),
  },
  messages: messages.map((message, n) => messageShown(`m${n}`, message)),
});

/** Entities of one owner that are looked through for names in the messages; what is beyond is found by its exact name. */
const ENTITIES_MAX = 2_000;
/** Relations that a model is shown to understand what is said by. */
const AROUND_MAX = 40;
/** Entities that are shown as known: more than a window of messages is about. */
const KNOWN_MAX = 60;

/** Reads what a study is about: the messages of its consolidation, and what the graph knows of whom they name. */
export async function read(deps: EngineDeps, study: Study, cancel: Cancellation): Promise<Read> {
  const { graph, thoughts } = deps.ledger;
  const turn = await turnOf(deps, study);
  const all = await gather(deps, turn);
  // What retention has removed says nothing any more.
  const gathered = { ...all, messages: all.messages.filter(isWorthReading) };
  const [{ spoken }, plan, self, entities] = await Promise.all([
    hear(deps, gathered, cancel),
    thoughts.plan(study.consolidationId),
    graph.self(study.lane),
    entitiesOf(deps, study),
  ]);
  const named = namedIn(entities, spoken.map(({ text }) => text).join('\n'));
  const ids = [...new Set([...(self === null ? [] : [self.id]), ...named.map(({ id }) => id)])];
  const around = ids.length === 0 ? [] : await graph.around(study.lane, { entities: ids, at: null, limit: AROUND_MAX });
  return { study, gathered, spoken, plan, self, entities, around };
}

/** The consolidation as the turn it was: questions about its messages are asked and counted as its own were. */
export async function turnOf({ ledger }: EngineDeps, study: Study): Promise<Turn> {
  const { tenant, lane, owner, scope, consolidationId, epoch, attempts } = study;
  const consolidation = await ledger.thoughts.get(tenant, consolidationId);
  if (consolidation === null) throw missing(`consolidation ${consolidationId}`);
  const { batchIds, createdAt, variant } = consolidation;
  const settings = await settingsOf(ledger, consolidation);
  return {
    ...{ tenant, lane, owner, scope, consolidationId, epoch, attempts, batchIds, settings },
    ...{ variant, generation: 0, claimedAt: createdAt, purpose: 'graph' as const },
  };
}

const missing = (what: string): EngineError =>
  new EngineError(`expected the ${what} in the ledger, got none; it may have been erased`, {
    code: 'internal',
    retryable: false,
  });

/** All batches of a consolidation have the same. Questions of a study heed what is included and excluded. */
async function settingsOf(
  { batches }: EngineDeps['ledger'],
  { tenant, batchIds }: Consolidation,
): Promise<BatchSettings> {
  const batch = await batches.get(tenant, batchIds[0] ?? '');
  if (batch === null) throw missing(`batch ${batchIds[0]}`);
  return batch.settings;
}

const entitiesOf = ({ ledger }: EngineDeps, { tenant, owner }: Study): Promise<readonly Entity[]> =>
  allOf((page) => ledger.graph.listEntities(tenant, owner, {}, page), ENTITIES_MAX);

/** Those that a text names, by whatever name. */
function namedIn(entities: readonly Entity[], text: string): readonly Entity[] {
  const key = nameKey(text);
  return entities.filter(
    ({ name, aliases, self }) => !self && [name, ...aliases].some((one) => isNamedIn(nameKey(one), key)),
  );
}

/** What one call found, and the messages it was shown under its own ids. */
interface FoundGraph {
  readonly raw: RawGraph;
  readonly shown: ReadonlyMap<string, Spoken>;
}

/** Whether a relation was read in external content, whosever words the model calls it. */
type IsExternal = (raw: RawRelation, sources: readonly Spoken[]) => boolean;

/** The owner says "I", not a name: a relation of the owner is looked for by its other end. */
function externalIn(found: readonly FoundGraph[], before: readonly Spoken[]): IsExternal {
  const window = found.flatMap(({ shown }) => [...shown.values()]);
  // Names stand in messages, or are not taken: the summary alone makes no relation.
  const lineage = lineageIn({ window, before, summary: null });
  return ({ source, destination, quote }, sources) => {
    const texts = [source, destination].filter((name) => !isSelfName(name));
    return lineage({ texts, quote, sources: sources.map(({ message }) => message) }) === 'external';
  };
}

/** More in one study are no conversation any more. */
const CLAIMS_MAX = 200;

/**
 * Makes mentions and relations of what the model wrote. It is not believed: names must stand in the messages, words of
 * kinds and relationships are put into general form, a message must stand behind each relation. What is refused is noted in a remark.
 */
function* admitGraph(
  found: readonly FoundGraph[],
  { isExternal, ...knowing }: Knowing & { readonly isExternal: IsExternal },
): Sliced<Pick<Admitted, 'mentions' | 'claims' | 'remarks'>> {
  const remarks: Remark[] = [];
  const roll = new Roll(knowing, remarks);
  const claims: Claim[] = [];
  for (const { raw, shown } of found) {
    remarks.push(...raw.unread.map(({ text, reason }) => ({ asked: text, did: `refused: ${reason}` })));
    const text = nameKey([...shown.values()].map((spoken) => spoken.text).join('\n'));
    for (const entity of raw.entities) {
      roll.add(entity, text);
      yield;
    }
    for (const relation of raw.relations) {
      yield;
      const find: Find = (name) => roll.find(name) ?? roll.add(named(name), text);
      const claim = claimOf(relation, shown, { find, isExternal });
      if (typeof claim === 'string') remarks.push({ asked: askedOf(relation), did: claim });
      else if (claims.length < CLAIMS_MAX) claims.push(claim);
      else remarks.push({ asked: askedOf(relation), did: `refused: more than ${CLAIMS_MAX} relations in one study` });
    }
  }
  return { mentions: roll.mentions, claims: withoutRepeats(claims), remarks };
}

const named = (name: string): RawEntity => ({ name, kind: null, known: null, aliases: [] });

const askedOf = ({ source, relationship, destination }: RawRelation): string =>
  `${source} ${relationship} ${destination}`.slice(0, ASKED_MAX).toWellFormed();

/** Slices of one message overlap: what stands in two of them counts once. */
function withoutRepeats(claims: readonly Claim[]): readonly Claim[] {
  const seen = new Set<string>();
  return claims.filter(({ said, source, relationship, destination, messageIds, until }) => {
    const key = JSON.stringify([said, source, relationship, destination, messageIds, until]);
    return !seen.has(key) && seen.add(key);
  });
}

/** Longer quotes are the message itself. In characters. */
const QUOTE_MAX = 300;

type Find = (name: string) => number | null;

/** A relation as it will be kept, or why it is refused. */
function claimOf(
  raw: RawRelation,
  shown: ReadonlyMap<string, Spoken>,
  { find, isExternal }: { readonly find: Find; readonly isExternal: IsExternal },
): Claim | string {
  const relationship = relationshipOf(raw.relationship);
  if (relationship === null) return 'refused: expected a relationship of a few words';
  const sources = sourcesOf(raw, shown);
  if (sources.length === 0) return 'refused: no source message';
  if (!sources.some(({ message }) => HEARD.has(message.role))) return 'refused: not said by the user';
  if (isExternal(raw, sources)) return 'refused: external content, from which no relations are extracted';
  const [one, other] = [find(raw.source), find(raw.destination)];
  if (one === null || other === null) return 'refused: no message names one of its entities';
  if (one === other) return 'refused: source and destination are the same entity';
  const [source, destination] = relationship.inverse ? [other, one] : [one, other];
  const arity = arityOf(relationship.name);
  const single = arity === 'one' || (arity === 'unsure' && raw.single && !relationship.inverse);
  const messageIds = sources.map(({ message }) => message.id);
  return {
    said: raw.said,
    source,
    relationship: relationship.name,
    destination,
    single,
    messageIds,
    ...timesOf(raw, sources),
    quote: quoteOf(raw, sources),
  };
}

/** The messages it names, and the one its quote stands in. */
function sourcesOf({ sourceIds, quote }: RawRelation, shown: ReadonlyMap<string, Spoken>): readonly Spoken[] {
  const named = sourceIds.flatMap((id) => shown.get(id) ?? []);
  const quoted = named.length > 0 ? [] : [...shown.values()].filter((spoken) => isIn(quote, spoken)).slice(0, 1);
  return [...new Set([...named, ...quoted])];
}

function isIn(quote: string | null, spoken: Spoken): boolean {
  const words = normaliseText(quote ?? '');
  return words !== '' && wordsOf(spoken).includes(words);
}

/** Each message is held against every quote: it is made comparable once. */
const known = new WeakMap<Spoken, string>();

function wordsOf(spoken: Spoken): string {
  const words = known.get(spoken) ?? normaliseText(spoken.text);
  known.set(spoken, words);
  return words;
}

function quoteOf({ quote }: RawRelation, sources: readonly Spoken[]): string | null {
  if (quote === null || !sources.some((spoken) => isIn(quote, spoken))) return null;
  return maskSecrets(quote).text.slice(0, QUOTE_MAX).toWellFormed();
}

/**
 * When it was said, and from when until when it held. What is over only later holds when it is said. Of an end, validFrom is
 * when it came.
 */
function timesOf(raw: RawRelation, sources: readonly Spoken[]): Pick<Claim, 'saidAt' | 'validFrom' | 'until'> {
  const last = lastSaid(sources.map(({ message }) => message));
  const { saidAt } = last;
  const from = beginOf(raw.from, last);
  const until = beginOf(raw.until, last);
  if (raw.said !== 'holds') return { saidAt, validFrom: until, until: null };
  const isNamed = raw.until !== null && millisOf(raw.until) !== null;
  const over = isNamed && until <= saidAt.at ? until : null;
  return { saidAt, validFrom: Math.min(from, over ?? Number.POSITIVE_INFINITY), until: over };
}

/** What the model was shown of the graph. */
interface Knowing {
  /** By their ids in the call. */
  readonly known: ReadonlyMap<string, Entity>;
  /** Of others, by their names: the ends of relations. */
  readonly names: readonly string[];
}

/** More in one study are no conversation any more. */
const MENTIONS_MAX = 200;
/** Longer than what anybody wants to read of what was refused. In characters. */
const ASKED_MAX = 200;

/** All that is mentioned in a study, each once, by all of its names. */
class Roll {
  readonly mentions: Mention[] = [];
  readonly #places = new Map<string, number>();
  readonly #known: Knowing['known'];
  readonly #names: ReadonlySet<string>;
  readonly #remarks: Remark[];

  constructor({ known, names }: Knowing, remarks: Remark[]) {
    const ofKnown = [...known.values()].flatMap(({ name, aliases }) => [name, ...aliases]);
    this.#known = known;
    this.#names = new Set([...names, ...ofKnown].map(nameKey));
    this.#remarks = remarks;
  }

  /** The place of a name among the mentions; null: nobody was mentioned under it. */
  find(name: string): number | null {
    const own = isSelfName(name) ? SELF_NAME : nameOf(name);
    return own === null ? null : (this.#places.get(nameKey(own)) ?? null);
  }

  /** Takes an entity in, where a message names it or it was shown as known; null: it is refused, with a remark. */
  add(raw: RawEntity, text: string): number | null {
    const entity = this.#known.get(raw.known ?? '') ?? null;
    if (isSelfName(raw.name)) return this.#enter(selfCalled(this.#aliasesOf(raw.aliases, text)));
    if (entity?.self === true) return this.#enter(selfCalled(this.#aliasesOf([raw.name, ...raw.aliases], text)));
    const name = nameOf(raw.name);
    if (name === null) return this.#refuse(raw.name, 'it is not a name');
    if (!this.#isNamed(name, text)) return this.#refuse(name, 'no message names it');
    const aliases = this.#aliasesOf(raw.aliases, text).filter((alias) => nameKey(alias) !== nameKey(name));
    return this.#enter({ name, aliases, kind: kindOf(raw.kind), self: false, known: entity });
  }

  #enter(mention: Mention): number | null {
    const at = this.#places.get(nameKey(mention.name)) ?? this.mentions.length;
    if (at >= MENTIONS_MAX) return this.#refuse(mention.name, `more than ${MENTIONS_MAX} entities in one study`);
    this.mentions[at] = joined(this.mentions[at], mention);
    for (const name of [mention.name, ...mention.aliases]) {
      if (!this.#places.has(nameKey(name))) this.#places.set(nameKey(name), at);
    }
    return at;
  }

  #aliasesOf(aliases: readonly string[], text: string): readonly string[] {
    return aliases
      .flatMap((alias) => nameOf(alias) ?? [])
      .filter((alias) => !isSelfName(alias) && this.#isNamed(alias, text));
  }

  #isNamed(name: string, text: string): boolean {
    const key = nameKey(name);
    return isNamedIn(key, text) || this.#names.has(key) || isInflectedIn(key, text);
  }

  #refuse(asked: string, why: string): null {
    this.#remarks.push({ asked: asked.slice(0, ASKED_MAX).toWellFormed(), did: `refused: ${why}` });
    return null;
  }
}

const selfCalled = (aliases: readonly string[]): Mention => ({
  name: SELF_NAME,
  aliases,
  kind: 'person',
  self: true,
  known: null,
});

/** What was said of it before counts where the later says less. */
const joined = (before: Mention | undefined, mention: Mention): Mention =>
  before === undefined
    ? mention
    : {
        ...before,
        aliases: [...new Set([...before.aliases, ...mention.aliases])],
        kind: before.kind === 'thing' ? mention.kind : before.kind,
        known: before.known ?? mention.known,
      };
