import { type Api, each } from '../../api.ts';
import { settled } from '../drive.ts';
import type { Conversation, Corpus, Session } from './corpus.ts';

export interface Saying {
  readonly api: Api;
  readonly corpus: Corpus;
  readonly userOf: (user: string) => string;
  /** Whether a model looks for facts in what is said. */
  readonly mode: 'decide' | 'verbatim';
  readonly deadline: number;
  readonly progress: (text: string) => void;
}

/** As many messages as one POST takes. */
const MESSAGES_MAX = 2_000;

/** Posts every conversation, session by session in order, and waits until all of it is searchable. */
export async function say(saying: Saying): Promise<number> {
  const { api, corpus, userOf, deadline, progress } = saying;
  let said = 0;
  const total = corpus.conversations.length;
  const ids = await each(corpus.conversations, async (conversation) => {
    const posted = await sayOne(saying, conversation);
    await api.post('/v1/flush', { user_id: userOf(conversation.user) });
    said += 1;
    progress(`posted ${said} of ${total} conversations`);
    return posted;
  });
  for (const [i, id] of ids.flat().entries()) {
    progress(`consolidated ${i} of ${ids.flat().length} batches`);
    await settled({ api }, { id, deadline });
  }
  return ids.flat().length;
}

async function sayOne({ api, userOf, mode }: Saying, { user, sessions }: Conversation): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const { at, messages } of sessions.flatMap(inParts)) {
    const { batch_id } = await api.post<{ batch_id: string }>('/v1/batches', {
      user_id: userOf(user),
      mode,
      ...(at !== null && { timestamp: at }),
      messages: messages.map(({ role, name, content, at: moment }) => ({
        role,
        content,
        ...(name !== null && { name }),
        ...(moment !== null && { timestamp: moment }),
      })),
    });
    ids.push(batch_id);
  }
  return ids;
}

const inParts = ({ at, messages }: Session): Session[] =>
  Array.from({ length: Math.ceil(messages.length / MESSAGES_MAX) }, (_, i) => ({
    at,
    messages: messages.slice(i * MESSAGES_MAX, (i + 1) * MESSAGES_MAX),
  }));
