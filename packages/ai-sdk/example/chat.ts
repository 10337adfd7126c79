import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { memoryMiddleware, memoryTools } from '@slowwave/ai-sdk';
import { createSlowwave } from '@slowwave/sdk';
import { isStepCount, type ModelMessage, streamText, wrapLanguageModel } from 'ai';

const { values: given } = parseArgs({
  options: {
    url: { type: 'string', default: 'http://127.0.0.1:7070' },
    key: { type: 'string' },
    user: { type: 'string', default: 'ana' },
    'model-url': { type: 'string', default: 'http://127.0.0.1:11434/v1' },
    'model-key': { type: 'string', default: '' },
    model: { type: 'string', default: 'qwen3' },
  },
});

const slowwave = createSlowwave({ url: given.url, apiKey: given.key });
const whose = { userId: given.user, runId: `chat-${crypto.randomUUID()}` };
const provider = createOpenAICompatible({ name: 'chat', baseURL: given['model-url'], apiKey: given['model-key'] });
const model = wrapLanguageModel({
  model: provider(given.model),
  middleware: memoryMiddleware({
    ...whose,
    slowwave,
    onError: (error, during) => process.stderr.write(`memory (${during}): ${error}\n`),
  }),
});

const messages: ModelMessage[] = [];
for await (const line of createInterface({ input: process.stdin })) {
  messages.push({ role: 'user', content: line });
  const answer = streamText({
    model,
    messages,
    tools: memoryTools({ ...whose, slowwave }),
    stopWhen: isStepCount(5),
  });
  process.stdout.write(`you: ${line}\nbot: `);
  for await (const piece of answer.textStream) process.stdout.write(piece);
  process.stdout.write('\n');
  messages.push(...(await answer.responseMessages));
}
