import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { Agent, MemorySession, Runner } from '@openai/agents-core';
import { OpenAIProvider } from '@openai/agents-openai';
import { memoryTools, rememberingModel } from '@slowwave/openai-agents';
import { createSlowwave } from '@slowwave/sdk';

const { values: given } = parseArgs({
  options: {
    url: { type: 'string', default: 'http://127.0.0.1:7070' },
    key: { type: 'string' },
    user: { type: 'string', default: 'ana' },
    'model-url': { type: 'string', default: 'http://127.0.0.1:11434/v1' },
    'model-key': { type: 'string', default: 'none' },
    model: { type: 'string', default: 'qwen3' },
  },
});

const slowwave = createSlowwave({ url: given.url, apiKey: given.key });
const session = new MemorySession();
const whose = { userId: given.user, runId: await session.getSessionId() };
const provider = new OpenAIProvider({ baseURL: given['model-url'], apiKey: given['model-key'], useResponses: false });
const agent = new Agent({
  name: 'Assistant',
  instructions: 'Be brief.',
  model: rememberingModel(await provider.getModel(given.model), {
    ...whose,
    slowwave,
    onError: (error, during) => process.stderr.write(`memory (${during}): ${error}\n`),
  }),
  tools: memoryTools({ ...whose, slowwave }),
});

const runner = new Runner({ tracingDisabled: true });
for await (const line of createInterface({ input: process.stdin })) {
  const { finalOutput } = await runner.run(agent, line, { session });
  process.stdout.write(`you: ${line}\nbot: ${finalOutput}\n`);
}
