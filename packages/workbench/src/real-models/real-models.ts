import {
  type ModelServer,
  minilmFolder,
  SMOLLM,
  startModelServer,
  startOwnServer,
  startSmolLm,
} from '@slowwave/testkit';
import { type Api, apiAt } from '../api.ts';
import { settled } from '../evaluate/course.ts';
import type { Outputs } from '../terminal.ts';
import { CONVERSATIONS, type Conversation, missingIn, toldIn } from './conversations.ts';
import { askInOtherWords } from './questions.ts';
import { type RealModelsReport, type Result, reportOf } from './report.ts';
import { repeatedIn, unsaidIn } from './unsaid.ts';

/** A call for an answer that a slow machine has no time for fails, and that is not what is looked for here. */
const SETTINGS = { SLOWWAVE_CONCURRENCY: '1', SLOWWAVE_MODEL_TIMEOUT_MS: '900000' };

/**
 * Says the conversations to a server of its own with a real chat model and a real embedder, both small, and looks at all
 * that comes out. Nothing of what the models say is known beforehand. Then it asks for other facts in other words.
 */
export async function runRealModels({ note, progress }: Outputs, withinMs: number): Promise<RealModelsReport> {
  const began = Date.now();
  note('Providing the models and what runs them: 270 MB, once …');
  const folder = await minilmFolder();
  const model = await startSmolLm();
  const chat = await startModelServer({ script: model.script });
  try {
    const deadline = began + withinMs;
    const results = await withServer({ ...chatAt(chat), ...embedderIn(folder) }, (api) =>
      sayAll(api, chat, { deadline, progress }),
    );
    const reworded = await withServer(embedderIn(folder), (api) => askInOtherWords(api, deadline));
    const models = `${SMOLLM} and ${EMBEDDER}`;
    return reportOf({ models, seconds: (Date.now() - began) / 1_000, results, reworded });
  } finally {
    await chat.close();
    await model.close();
  }
}

/** The questions in other words alone, which no chat model has a part in. */
export async function runQuestions({ note }: Outputs, withinMs: number): Promise<RealModelsReport> {
  const began = Date.now();
  note('Providing the embedder: 23 MB, once …');
  const folder = await minilmFolder();
  const reworded = await withServer(embedderIn(folder), (api) => askInOtherWords(api, began + withinMs));
  return reportOf({ models: EMBEDDER, seconds: (Date.now() - began) / 1_000, results: [], reworded });
}

const EMBEDDER = 'all-MiniLM-L6-v2';

const chatAt = ({ baseUrl }: ModelServer): Record<string, string> => ({
  OPENAI_BASE_URL: baseUrl,
  SLOWWAVE_CHAT_MODEL: SMOLLM,
});

const embedderIn = (folder: string): Record<string, string> => ({ SLOWWAVE_EMBEDDING_MODEL: `local:${folder}` });

async function withServer<T>(settings: Record<string, string>, work: (api: Api) => Promise<T>): Promise<T> {
  const server = await startOwnServer({ ...SETTINGS, ...settings });
  try {
    return await work(apiAt(server.url, null));
  } finally {
    await server.close();
  }
}

interface Watch {
  readonly deadline: number;
  readonly progress: (text: string | null) => void;
}

async function sayAll(api: Api, chat: ModelServer, { deadline, progress }: Watch): Promise<Result[]> {
  const posted: { readonly user: string; readonly id: string; readonly conversation: Conversation }[] = [];
  for (const [i, conversation] of CONVERSATIONS.entries()) {
    const user = `user-${i}`;
    const body = { user_id: user, flush: true, messages: [{ role: 'user', content: conversation.said }] };
    const { batch_id: id } = await api.post<{ batch_id: string }>('/v1/batches', body);
    posted.push({ user, id, conversation });
  }
  const results: Result[] = [];
  for (const { user, id, conversation } of posted) {
    progress(`${results.length} of ${posted.length} conversations, ${chat.calls.length} calls`);
    await settled({ api }, { id, deadline });
    results.push({
      ...(await outcomeOf(api, id)),
      ...(await rememberedOf(api, user, conversation)),
      extractCalls: callsAbout(chat, conversation).filter(({ system }) => system.includes('extract_facts\n')).length,
    });
  }
  progress(null);
  return results;
}

/** The question itself, its repairs and the further tries: each has the input in its last message. */
const callsAbout = ({ calls }: ModelServer, { said }: Conversation): ModelServer['calls'] =>
  calls.filter(({ request }) => JSON.stringify(request.messages).includes(said));

interface Batch {
  readonly state: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly consolidation_id: string | null;
}

interface Plan {
  readonly facts: readonly { readonly id: string; readonly text: string }[];
  readonly discards: readonly { readonly text: string; readonly reason: string }[];
  readonly remarks: readonly { readonly asked: string; readonly did: string }[];
  readonly outcomes: readonly { readonly fact: string; readonly outcome: string; readonly reason: string }[];
}

async function outcomeOf(api: Api, id: string): Promise<Pick<Result, 'state' | 'reasons' | 'unexplained' | 'facts'>> {
  const { state, error, consolidation_id: of } = await api.get<Batch>(`/v1/batches/${id}`);
  const none: Plan = { facts: [], discards: [], remarks: [], outcomes: [] };
  const { plan } = of === null ? { plan: null } : await api.get<{ plan: Plan | null }>(`/v1/consolidations/${of}`);
  const { facts, discards, remarks, outcomes } = plan ?? none;
  const reasons = [
    ...(error === null ? [] : [`${error.code}: ${error.message}`]),
    ...discards.map(({ text, reason }) => `${text}: ${reason}`),
    ...remarks.map(({ asked, did }) => `${asked}: ${did}`),
  ];
  const unexplained = [
    ...(state === 'parked' && error === null ? ['parked without a reason'] : []),
    ...discards.filter(({ reason }) => reason === '').map(({ text }) => text),
    ...facts.filter(({ id: fact }) => !outcomes.some((one) => one.fact === fact && one.reason !== '')).map(textOf),
  ];
  return { state, reasons, unexplained, facts: facts.length + discards.length };
}

const textOf = ({ text }: { readonly text: string }): string => text;

async function rememberedOf(
  api: Api,
  user: string,
  conversation: Conversation,
): Promise<Pick<Result, 'said' | 'memories' | 'missed' | 'degraded'>> {
  const { said } = conversation;
  const live = await api.all<{ id: string; memory: string }>(`/v1/memories?user_id=${user}`);
  const search = { user_id: user, query: said, mode: 'vector', cut: 'none' };
  const { results, degraded = [] } = await api.post<{ results: { id: string }[]; degraded?: string[] }>(
    '/v1/search',
    search,
  );
  const told = toldIn(conversation);
  const memories = live.map(({ id, memory: text }) => ({
    text,
    unsaid: unsaidIn(text, told),
    repeated: repeatedIn(text),
    isFound: results.some((one) => one.id === id),
  }));
  const missed = missingIn(
    live.map(({ memory }) => memory),
    conversation,
  ).length;
  return { said, memories, missed, degraded };
}
