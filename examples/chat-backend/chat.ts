import type { Model, Turn } from './model.ts';
import type { Slowwave } from './slowwave.ts';

/** The last turns that go into every prompt as they are; what was said before comes back as memory. */
const TURNS_SHOWN = 10;
const MEMORY_TOKENS = 800;
/** A memory that is late is worth less than an answer in time: what is there by then is used. */
const MEMORY_WAIT_MS = 500;

interface Given {
  readonly slowwave: Slowwave;
  readonly model: Model;
  readonly userId: string;
  /** This conversation. */
  readonly runId: string;
}

/** A chat of one user, who is remembered from one conversation to the next. */
export function startChat({ slowwave, model, userId, runId }: Given): (said: string) => Promise<string> {
  const turns: Turn[] = [];
  return async (said) => {
    const shown: Turn[] = [...turns.slice(-TURNS_SHOWN), { role: 'user', content: said }];
    // user_id alone: what is known from all conversations. What is in `shown` is not told again.
    const known = await slowwave.context({
      user_id: userId,
      messages: shown,
      format: 'openai',
      max_tokens: MEMORY_TOKENS,
      timeout_ms: MEMORY_WAIT_MS,
    });
    const answer = await model([...known, ...shown]);
    const exchange: Turn[] = [
      { role: 'user', content: said },
      { role: 'assistant', content: answer },
    ];
    turns.push(...exchange);
    await slowwave.remember({ user_id: userId, run_id: runId, messages: exchange });
    return answer;
  };
}
