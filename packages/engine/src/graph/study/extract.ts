import { contextOf } from '../../consolidation/extract/context.ts';
import { messageShown } from '../../consolidation/extract/infer.ts';
import { idleReason } from '../../consolidation/extract/junk.ts';
import { cutIntoParts, type Part } from '../../consolidation/extract/parts.ts';
import { halvingParts, partLimits } from '../../consolidation/extract/parts-of-window.ts';
import type { EngineDeps } from '../../deps.ts';
import { type Asking, ask, inHalves } from '../../models/ask.ts';
import { graphIn } from '../../models/parse/graph.ts';
import { EXTRACT_GRAPH, type ExtractGraphInput } from '../../models/prompts/extract-graph.ts';
import type { Cancellation } from '../../ports/tools.ts';
import { inSlices } from '../../slices.ts';
import type { JsonObject } from '../../words.ts';
import type { Entity } from '../words.ts';
import { admitGraph, type FoundGraph } from './admit.ts';
import { KNOWN_MAX, namedIn } from './read.ts';
import { isLastOfStudy, STEP } from './steps.ts';
import type { Admitted, Read } from './values.ts';

/** Finds entities and relations: one call, or one for each part of a window that is too long for one; none where nothing was said. */
export async function extractGraph(deps: EngineDeps, read: Read, cancel: Cancellation): Promise<Admitted> {
  const { gathered, spoken } = read;
  const whose = { agent: gathered.turn.scope.agentId !== null };
  if (spoken.every((one) => idleReason(one, whose) !== null))
    return { ...read, mentions: [], told: [], remarks: [], asked: false };
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
    input: inputOf(read, { part, known, recentMessages }) as unknown as JsonObject,
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
