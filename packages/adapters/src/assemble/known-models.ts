import type { ModelView } from '@slowwave/contracts';
import { CHAT_STEPS, isCopying, isoOf, knownCopying, type Ledger } from '@slowwave/engine';
import type { Config, ModelAt } from '../config/index.ts';
import { systemTools } from '../system/index.ts';
import { listsOf } from './chats.ts';
import { keepingIn, limitKey, pausedName, servers } from './models.ts';

type Models = Pick<Ledger, 'models'>;

/** The models that servers are asked for, with what the ledger remembers of each. */
export async function knownModels(config: Config, ledger: Models): Promise<ModelView[]> {
  const chats = await Promise.all(chatsIn(config).map((entry) => chatView(config, entry, ledger)));
  return [...withThoseAsked(chats.filter((view) => view !== null)), ...(await embeddingView(config, ledger))];
}

interface Entry {
  readonly use: 'chat' | 'images';
  readonly at: ModelAt;
  readonly steps: readonly { readonly step: Step['step']; readonly place: number }[];
}

type Step = ModelView['steps'][number];

/** Each chat model once, with the steps it is asked for; also those that tenants may name. */
function chatsIn(config: Config): readonly Entry[] {
  const { chat, steps, images } = listsOf(config);
  const { tenantModels, chatServer: server } = config;
  const asked = [
    ...CHAT_STEPS.flatMap((step) => (steps[step] ?? chat).map((at, i) => ({ at, step, place: i + 1 }))),
    ...(images ?? []).map((at, i) => ({ at, step: 'images' as const, place: i + 1 })),
  ];
  const others = tenantModels
    .filter((model) => !asked.some(({ at }) => at.model === model))
    .map((model) => ({ at: { model, server }, step: null, place: 0 }));
  const uses = Map.groupBy(
    [...asked, ...others],
    ({ at, step }) => (step === 'images' ? '@ ' : '') + limitKey(config, at),
  );
  return [...uses.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const named = group.flatMap(({ step, place }) => (step === null ? [] : [{ step, place }]));
    return [{ use: first.step === 'images' ? 'images' : 'chat', at: first.at, steps: named } as const];
  });
}

async function chatView(config: Config, { use, at, steps }: Entry, ledger: Models): Promise<ModelView | null> {
  const { model, server } = at;
  if (model === null || model === 'builtin') return null;
  const { profileName } = await servers();
  const copied = await copiesOf(model, ledger);
  const known = await profileView(profileName('chat', { ...server, model }), ledger);
  return {
    ...{ use, model, findings: [...known.findings, ...copied], last_call: known.last_call },
    paused_until: await pausedUntil(limitKey(config, at), ledger),
    steps: steps.map((step) => ({ ...step, asked: false })),
  };
}

/** Left alone, or not there: then the next one is asked. */
const isAway = ({ paused_until: paused, last_call: last }: ModelView): boolean =>
  paused !== null || last?.problem?.code === 'model_unreachable';

/** Of each step the first that is not away is asked. */
function withThoseAsked(views: readonly ModelView[]): readonly ModelView[] {
  const asked = new Map<Step['step'], number>();
  for (const view of views) {
    for (const { step, place } of isAway(view) ? [] : view.steps)
      asked.set(step, Math.min(place, asked.get(step) ?? place));
  }
  return views.map((view) => ({
    ...view,
    steps: view.steps.map((one) => ({ ...one, asked: asked.get(one.step) === one.place })),
  }));
}

async function embeddingView(
  { localModel, embeddingModel: model, embeddingServer, embeddingDimensions: dimensions }: Config,
  ledger: Models,
): Promise<readonly ModelView[]> {
  if (localModel !== null || model === null) return [];
  const { profileName } = await servers();
  const at = { ...embeddingServer, model, dimensions };
  const known = await profileView(profileName('embedding', at), ledger);
  return [{ use: 'embeddings', model, ...known, paused_until: null, steps: [] }];
}

async function profileView(name: string, ledger: Models): Promise<Pick<ModelView, 'findings' | 'last_call'>> {
  const { findingsIn, knownProfile } = await servers();
  const known = await knownProfile(name, keepingIn(ledger));
  const { last } = known;
  return {
    findings: findingsIn(known),
    last_call: last === undefined ? null : { at: isoOf(last.at), problem: last.problem },
  };
}

/** Until when some process leaves a chat model alone; null: none does. One that was stopped meanwhile says no more. */
async function pausedUntil(key: string, { models }: Models): Promise<string | null> {
  const { until = 0 } = ((await models.get(pausedName(key))) ?? {}) as { readonly until?: number };
  return until > systemTools.now() ? isoOf(until) : null;
}

/** What consolidations have found out of a chat model. */
async function copiesOf(model: string, { models }: Models): Promise<ModelView['findings']> {
  const known = await knownCopying(models, model);
  if (!isCopying(known, systemTools.now())) return [];
  const what = `copied the examples of its prompt in ${known.batches} batches in a row, so it is called without examples`;
  return [{ property: 'examples', at: isoOf(known.at), what, remedy: 'a larger model finds more' }];
}
