/** mem0's provider for the AI SDK, against MEM0_HOST. The model behind it is a server of its own that echoes what it is asked. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { at, callsOf, soon } from './calls.mjs';

const folder = process.argv[2];
const require = createRequire(join(folder, 'package.json'));
const provider = require('@mem0/vercel-ai-provider');
const manifest = await readFile(join(folder, 'node_modules/@mem0/vercel-ai-provider/package.json'), 'utf8');
const { tries, print } = callsOf(JSON.parse(manifest).version);
const config = { mem0ApiKey: at.apiKey, host: at.host, user_id: 'vic' };
const prompt = (text) => [{ role: 'user', content: [{ type: 'text', text }] }];
const knows = (answer) => JSON.stringify(answer).includes('Oslo');

await tries('addMemories', () => provider.addMemories(prompt('I live in Oslo'), config));
await soon(() => provider.getMemories('where?', config), knows);
await tries('addMemories(infer: false)', () => provider.addMemories(prompt('Has a cat.'), { ...config, infer: false }));
await tries('addMemories(all ids, metadata)', () =>
  provider.addMemories(prompt('Sings in Oslo.'), {
    ...config,
    ...{ agent_id: 'vic-bot', run_id: 'vic-run', app_id: 'vic-app', metadata: { a: 1 }, infer: false },
  }),
);
await tries('retrieveMemories', () => provider.retrieveMemories('where?', config), knows);
await tries('retrieveMemories(prompt)', () => provider.retrieveMemories(prompt('where?'), config), knows);
await tries('getMemories', () => provider.getMemories('where?', config), knows);
await tries('searchMemories', () => provider.searchMemories('where?', config), knows);
const narrowed = {
  'top_k, threshold': { top_k: 5, threshold: 0 },
  rerank: { rerank: true },
  metadata: { metadata: { a: 1 } },
  run_id: { run_id: 'vic-run' },
  'app_id alone': { user_id: undefined, app_id: 'vic-app' },
  filters: { filters: { created_at: { gte: '2024-01-01' } } },
};
for (const [name, more] of Object.entries(narrowed)) {
  await tries(`getMemories(${name})`, () => provider.getMemories('where?', { ...config, ...more }), knows);
}

const asked = [];
const model = createServer((request, response) => {
  let body = '';
  request.on('data', (part) => {
    body += part;
  });
  request.on('end', () => {
    asked.push(body);
    response.setHeader('content-type', 'application/json');
    const message = { role: 'assistant', content: 'I see.' };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage }));
  });
});
await new Promise((resolve) => model.listen(0, '127.0.0.1', resolve));
const baseURL = `http://127.0.0.1:${model.address().port}/v1`;
const mem0 = provider.createMem0({
  provider: 'openai',
  mem0ApiKey: at.apiKey,
  apiKey: 'any',
  config: { baseURL },
  mem0Config: config,
});
await tries(
  'a model with memories',
  () => mem0.chat('gpt-4o-mini', config).doGenerate({ prompt: prompt('Where do I live?') }),
  () => asked.some(knows),
);
model.close();
print();
