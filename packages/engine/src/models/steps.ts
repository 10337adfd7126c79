import type { EngineDeps } from '../deps.ts';
import { EngineError } from '../errors.ts';
import type { PlanModels } from '../plan.ts';
import type { ChatModel } from '../ports/models.ts';

/** The steps of thinking that may have a chat model of their own. */
export const CHAT_STEPS = ['extract', 'decide', 'graph', 'summary', 'recall'] as const;
export type ChatStep = (typeof CHAT_STEPS)[number];

/** The models of steps that have one of their own. */
export type StepChats = Readonly<Partial<Record<ChatStep, ChatModel>>>;

/** Which models a tenant has chosen, by step. */
export type StepModels = Readonly<Partial<Record<ChatStep, string>>>;

/** The step another model is asked for, with the fallbacks of that step; null: without any, as a what-if tries that model and no other. */
export type OtherUse = ChatStep | null;

type Chats = Pick<EngineDeps, 'chat' | 'chats' | 'otherChat'>;

/** What a step works with: its `chat` is the model that the tenant has chosen for it, or that of the configuration. */
export function forStep<D extends Chats>(deps: D, step: ChatStep, { models }: { readonly models: StepModels }): D {
  return { ...deps, chat: chatOf(deps, step, models) };
}

function chatOf(deps: Chats, step: ChatStep, models: StepModels): ChatModel {
  const { [step]: chosen } = models;
  if (chosen !== undefined) return chatNamed(deps, chosen, step);
  return deps.chats[step] ?? deps.chat;
}

/** Where none can be asked by name any more, the batches say so and wait. */
export const chatNamed = ({ otherChat }: Pick<Chats, 'otherChat'>, model: string, use: OtherUse): ChatModel =>
  otherChat(model, use) ?? { name: model, ask: () => Promise.reject(nobodyFor(model)) };

const nobodyFor = (model: string): EngineError =>
  new EngineError(
    `expected a model server for the model ${model}, got none; set OPENAI_BASE_URL or OPENAI_API_KEY, or choose another model`,
    { code: 'model_misconfigured', retryable: true, countsAsTry: false },
  );

/** The models that these steps ask, each once. */
export const chatsOf = (
  deps: Chats,
  steps: readonly ChatStep[],
  { models }: { readonly models: StepModels },
): readonly ChatModel[] => [...new Set(steps.map((step) => chatOf(deps, step, models)))];

/** Which models a plan is made with, as they are configured. */
export function plannedModels(
  deps: Chats & Pick<EngineDeps, 'embedder'>,
  { models }: { readonly models: StepModels },
): PlanModels {
  const { name: chat } = deps.chat;
  const { name: extract } = chatOf(deps, 'extract', models);
  const { name: decide } = chatOf(deps, 'decide', models);
  return {
    chat,
    ...(extract !== chat && { extract }),
    ...(decide !== chat && { decide }),
    embedder: deps.embedder.fingerprint,
  };
}
