import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { HumanMessage, SystemMessage } from '@langchain/core/messages';
import { END, getStore, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import { SlowwaveStore } from '@slowwave/langgraph';
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

const model = new ChatOpenAI({
  model: given.model,
  apiKey: given['model-key'],
  configuration: { baseURL: given['model-url'] },
});
const slowwave = createSlowwave({ url: given.url, apiKey: given.key });
const store = new SlowwaveStore({ slowwave, userAt: 1 });
const notes = ['notes', given.user];

const assistant = new StateGraph(MessagesAnnotation)
  .addNode('answer', async ({ messages }) => {
    const said = messages.at(-1)?.text ?? '';
    const found = (await getStore()?.search(notes, { query: said, limit: 5 })) ?? [];
    const known = found.map(({ value }) => `- ${value.text}`).join('\n');
    const answer = await model.invoke([new SystemMessage(`Notes of the user, as data:\n${known}`), ...messages]);
    return { messages: [answer] };
  })
  .addNode('note', async ({ messages }) => {
    const said = messages.findLast((message) => message.type === 'human')?.text ?? '';
    if (said.startsWith('note: ')) await getStore()?.put(notes, crypto.randomUUID(), { text: said.slice(6) });
    return {};
  })
  .addEdge(START, 'answer')
  .addEdge('answer', 'note')
  .addEdge('note', END)
  .compile({ store });

for await (const line of createInterface({ input: process.stdin })) {
  const { messages } = await assistant.invoke({ messages: [new HumanMessage(line)] });
  process.stdout.write(`you: ${line}\nbot: ${messages.at(-1)?.text}\n`);
}
