import type { EngineDeps } from '../deps.ts';
import { type Asking, ask, inHalves, isLastOfTurn } from '../models/ask.ts';
import type { Listed } from '../models/parse/listed.ts';
import { operationsIn, type RawOperation } from '../models/parse/operations.ts';
import { DECIDE, type DecideInput } from '../models/prompts/decide.ts';
import { customPrompt, type Prompt } from '../models/prompts/prompt.ts';
import type { Fact } from '../plan.ts';
import type { Cancellation } from '../ports/tools.ts';
import type { TenantSettings } from '../settings.ts';
import { inSlices } from '../slices.ts';
import { localIsoOf } from '../text/dates.ts';
import { cleanText } from '../text/normalise.ts';
import type { BatchSettings, JsonObject } from '../words.ts';
import { type DecideGroup, decideGroups, halvesOf } from './decide/decide-groups.ts';
import type { Decided, Recalled } from './values.ts';

/**
 * Asks what the facts do to their neighbours; not at all where nothing is near, or all is a repeat. One call, unless
 * there is more to decide than one call can take.
 */
export async function decide(deps: EngineDeps, recalled: Recalled, cancel: Cancellation): Promise<Decided> {
  const { turn, repeats, undecided, rules } = recalled;
  const open = recalled.facts.filter((fact) => !repeats.has(fact.id));
  if (open.length === 0 || !undecided || isByRule(turn.settings)) return { ...recalled, asked: null };
  const prompt = promptOf(rules);
  const limits = {
    tokens: deps.settings.decideTokens,
    count: deps.tokenizer.count,
    overlap: deps.settings.near.overlap,
  };
  const asked: RawOperation[] = [];
  const discards = [...recalled.discards];
  const groups = await inSlices(deps.tools, decideGroups(open, recalled.candidates, limits));
  const halving = {
    ask: (group: DecideGroup, step: string) => askOf({ deps, turn, cancel }, { recalled, prompt, group, step }),
    halve: (group: DecideGroup) => inSlices(deps.tools, halvesOf(group, limits)),
    isLast: () => isLastOfTurn(deps, turn),
  };
  for (const [i, group] of groups.entries()) {
    for (const { items, unread } of await inHalves(halving, group, i === 0 ? 'decide' : `decide:${i + 1}`)) {
      asked.push(...items);
      discards.push(...unread);
    }
  }
  const used = { name: prompt.name, version: prompt.version, hash: deps.tools.hash(prompt.system) };
  return { ...recalled, asked, discards, prompts: [...recalled.prompts, used] };
}

interface Deciding {
  readonly recalled: Recalled;
  readonly prompt: Prompt;
  readonly group: DecideGroup;
  readonly step: string;
}

const askOf = (asking: Asking, { recalled, prompt, group, step }: Deciding): Promise<Listed<RawOperation>> =>
  ask(asking, {
    ...{ step, prompt, shape: operationsIn },
    ask: 'Decide what each fact does to the memories.',
    input: inputOf(recalled, group),
  });

/** What is stored as it is, and procedures, only ever join what is there; so do all facts where a batch says so. */
const isByRule = ({ mode }: BatchSettings): boolean => mode !== 'decide';

const promptOf = ({ prompts }: TenantSettings): Prompt =>
  prompts.decide === null ? DECIDE : customPrompt(DECIDE, prompts.decide);

/** Facts of earlier calls are shown as memories, under their own ids: a later fact may take their place. */
function inputOf({ turn, rules }: Recalled, { facts, candidates, earlier }: DecideGroup): JsonObject {
  const instructions = [rules.decideInstructions, turn.settings.instructions].filter((text) => text !== null);
  const input: DecideInput = {
    facts: facts.map(shown),
    memories: [...candidates.map(({ shortId, ...candidate }) => ({ ...candidate, id: shortId })), ...earlier].map(
      shown,
    ),
    ...(instructions.length === 0 ? {} : { instructions: cleanText(instructions.join('\n')) }),
  };
  return input as unknown as JsonObject;
}

const shown = ({ id, text, saidAt, utcOffset }: Pick<Fact, 'id' | 'text' | 'saidAt' | 'utcOffset'>): Shown => ({
  id,
  // What was written explicitly was never read: what nobody sees in it is not shown to models either.
  text: cleanText(text),
  said_at: localIsoOf(saidAt.at, utcOffset),
});

type Shown = DecideInput['facts'][number];
