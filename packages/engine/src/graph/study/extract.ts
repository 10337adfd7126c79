import { gather } from '../../consolidation/consolidate.ts';
import {
  contextOf,
  cutIntoParts,
  halvingParts,
  messageShown,
  type Part,
  partLimits,
} from '../../consolidation/extract/infer.ts';
import { idleReason } from '../../consolidation/extract/rules.ts';
import { hear } from '../../consolidation/extract.ts';
import type { EngineDeps } from '../../deps.ts';
import { EngineError } from '../../errors.ts';
import { isWorthReading } from '../../messages/messages.ts';
import { type Asking, ask, inHalves } from '../../models/ask.ts';
import { graphIn } from '../../models/parse/graph.ts';
import { EXTRACT_GRAPH, type ExtractGraphInput } from '../../models/prompts/extract-graph.ts';
import type { Study } from '../../ports/ledger/graph.ts';
import type { Turn } from '../../ports/ledger/lanes.ts';
import type { Consolidation } from '../../ports/ledger/thoughts.ts';
import { type Cancellation, inSlices } from '../../ports/tools.ts';
import type { BatchSettings } from '../../words.ts';
import { isNamedIn, nameKey } from '../names.ts';
import type { Entity } from '../words.ts';
import { admitGraph, type FoundGraph } from './admit.ts';
import { type Admitted, isLastOfStudy, type Read, STEP } from './values.ts';

/** Finds entities and relations: one call, or one for each part of a window that is too long for one; none where nothing was said. */
export async function extractGraph(deps: EngineDeps, read: Read, cancel: Cancellation): Promise<Admitted> {
  const { gathered, spoken } = read;
  const whose = { agent: gathered.turn.scope.agentId !== null };
  if (spoken.every((one) => idleReason(one, whose) !== null))
    return { ...read, mentions: [], claims: [], remarks: [], asked: false };
  const known = knownOf(read);
  const halving = {
    ask: (part: Part, step: string) => readPart({ deps, turn: gathered.turn, cancel }, { read, known, part, step }),
    halve: halvingParts(deps),
    isLast: async () => isLastOfStudy(deps, read.study),
  };
  const found: FoundGraph[] = [];
  const parts = await inSlices(deps.tools, cutIntoParts(spoken, partLimits(deps)));
  for (const [i, part] of parts.entries())
    found.push(...(await inHalves(halving, part, i === 0 ? `${STEP}extract` : `${STEP}extract:${i + 1}`)));
  const names = read.around.flatMap((one) => [one.sourceName, one.destinationName]);
  const admitted = await inSlices(deps.tools, admitGraph(found, { known, names }));
  return { ...read, ...admitted, asked: true };
}

interface Reading {
  readonly read: Read;
  readonly known: ReadonlyMap<string, Entity>;
  readonly part: Part;
  readonly step: string;
}

async function readPart(asking: Asking, { read, known, part, step }: Reading): Promise<FoundGraph> {
  const { recentMessages } = asking.deps.settings;
  const raw = await ask(asking, {
    ...{ step, prompt: EXTRACT_GRAPH, shape: graphIn },
    ask: 'Find the entities and relations.',
    input: inputOf(read, { part, known, recentMessages }),
  });
  return { raw, shown: new Map(part.messages.map((message, n) => [`m${n}`, message])) };
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
  readonly part: Part;
  readonly known: ReadonlyMap<string, Entity>;
  readonly recentMessages: number;
}

function inputOf({ gathered, around }: Read, { part, known, recentMessages }: Showing): ExtractGraphInput {
  const { summary, recent, now, instructions } = contextOf(gathered, {
    spoken: part.messages,
    before: part.before,
    count: recentMessages,
  });
  return {
    context: { summary, recent, now, instructions },
    known: {
      entities: [...known].map(([id, { name, kind, aliases }]) => ({ id, name, kind, aliases })),
      relations: around.map((one) => `${one.sourceName} ${one.relationship} ${one.destinationName}`),
    },
    messages: part.messages.map((message, n) => messageShown(`m${n}`, message)),
  };
}

/** Entities of one owner that are looked through for names in the messages; what is beyond is found by its exact name. */
const ENTITIES_MAX = 2_000;
const PAGE = 500;
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
  if (consolidation === null) {
    throw new EngineError(
      `expected the consolidation ${consolidationId} in the ledger, got none; it may have been erased`,
      {
        code: 'internal',
        retryable: false,
      },
    );
  }
  const { batchIds, createdAt } = consolidation;
  const settings = await settingsOf(ledger, consolidation);
  return {
    tenant,
    lane,
    owner,
    scope,
    consolidationId,
    epoch,
    attempts,
    batchIds,
    settings,
    generation: 0,
    claimedAt: createdAt,
  };
}

/** All batches of a consolidation have the same. Questions of a study heed what is included and excluded. */
async function settingsOf(
  { batches }: EngineDeps['ledger'],
  { tenant, batchIds }: Consolidation,
): Promise<BatchSettings> {
  const batch = await batches.get(tenant, batchIds[0] ?? '');
  if (batch !== null) return batch.settings;
  throw new EngineError(`expected the batch ${batchIds[0]} in the ledger, got none; it may have been erased`, {
    code: 'internal',
    retryable: false,
  });
}

async function entitiesOf({ ledger }: EngineDeps, { tenant, owner }: Study): Promise<readonly Entity[]> {
  const found: Entity[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof ledger.graph.listEntities>> = await ledger.graph.listEntities(
      tenant,
      owner,
      {},
      { limit: PAGE, cursor },
    );
    found.push(...page.results);
    cursor = page.nextCursor;
  } while (cursor !== null && found.length < ENTITIES_MAX);
  return found;
}

/** Those that a text names, by whatever name. */
function namedIn(entities: readonly Entity[], text: string): readonly Entity[] {
  const key = nameKey(text);
  return entities.filter(
    ({ name, aliases, self }) => !self && [name, ...aliases].some((one) => isNamedIn(nameKey(one), key)),
  );
}
