import {
  type Fact,
  type Fields,
  type Files,
  type Found,
  type Ids,
  isFields,
  leaving,
  listOf,
  momentIn,
  type Said,
  statementsIn,
  type Talk,
  textIn,
} from './found.ts';

/** Agent files (.af), as Letta's releases write them: with lists of agents and blocks, or one agent with its core_memory. */
export function readLetta(files: Files, user: string | null): Found {
  const left = leaving();
  const [facts, talks]: [Fact[], Talk[]] = [[], []];
  let agents = 0;
  for (const file of files.values()) {
    if (!isFields(file)) continue;
    const shared = new Map(listOf(file.blocks).map((block) => [textIn(block, 'id') ?? '', block]));
    for (const agent of 'core_memory' in file ? [file] : listOf(file.agents)) {
      agents += 1;
      const name = textIn(agent, 'name', 'id') ?? 'agent';
      facts.push(...blocksOf(agent, shared).flatMap((block) => factsOf(block, { name, user })));
      facts.push(...passagesOf(agent, file).map((passage) => passageFact(passage, { name, user })));
      const said = listOf(agent.messages).flatMap((message) => {
        const one = saidIn(message);
        if (one === null) left.add('messages', 'they are from the system, a tool or a heartbeat');
        return one === null ? [] : [one];
      });
      if (said.length > 0) talks.push({ id: name, ids: idsOf({ name, user }), title: null, messages: said });
    }
    left.add('tools', 'they belong to the agent, not to its memory', listOf(file.tools).length);
    left.add('files', 'they are documents', listOf(file.files).length);
  }
  if (agents === 0) throw new Error('expected an agent file: agents and blocks, or core_memory, got neither');
  const lacks = ['former values of blocks', 'when a block was written', 'messages that are no longer in the file'];
  return { facts, talks, relations: [], left: left.all(), lacks, isRead: true };
}

interface Agent {
  readonly name: string;
  readonly user: string | null;
}

/** Without a user all of it is what the agent knows. */
const idsOf = ({ name, user }: Agent): Ids => (user === null ? { agent_id: name } : { user_id: user, agent_id: name });

const blocksOf = (agent: Fields, shared: ReadonlyMap<string, Fields>): readonly Fields[] => {
  const ids: readonly unknown[] = Array.isArray(agent.block_ids) ? agent.block_ids : [];
  const named: readonly Fields[] = ids.flatMap((id) => listOf([shared.get(String(id))]));
  return [...named, ...listOf(agent.memory_blocks), ...listOf(agent.core_memory)];
};

/** What an agent is told of itself is the agent's. */
const OF_AGENT = /persona|system|instruction|guideline|polic/iu;

function factsOf(block: Fields, agent: Agent): Fact[] {
  const label = textIn(block, 'label') ?? 'block';
  const ids = OF_AGENT.test(label) ? { agent_id: agent.name } : idsOf(agent);
  const at = momentIn(block, 'updated_at', 'created_at');
  return statementsIn(textIn(block, 'value') ?? '').map((text, i) => ({
    ...{ id: `${textIn(block, 'id') ?? label}-${i}`, ids, text, at, expiresAt: null, metadata: { block: label } },
  }));
}

const passagesOf = (agent: Fields, file: Fields): readonly Fields[] => [
  ...listOf(agent.passages),
  ...listOf(agent.archival_memory),
  ...listOf(file.passages).filter((passage) => passage.agent_id === undefined || passage.agent_id === agent.id),
];

const passageFact = (passage: Fields, agent: Agent): Fact => ({
  ...{ id: textIn(passage, 'id') ?? '', ids: idsOf(agent), text: textIn(passage, 'text', 'content') ?? '' },
  ...{ at: momentIn(passage, 'created_at'), expiresAt: null },
  metadata: {
    ...(Array.isArray(passage.tags) && { tags: passage.tags }),
    ...(isFields(passage.metadata) && passage.metadata),
  },
});

/** Older releases wrap what users say into JSON. */
function saidIn(message: Fields): Said | null {
  const { role } = message;
  if (role !== 'user' && role !== 'assistant') return null;
  const parts = listOf(message.content).flatMap((part) => (part.type === 'text' ? (textIn(part, 'text') ?? []) : []));
  const plain = parts.length > 0 ? parts.join('\n') : (textIn(message, 'content', 'text') ?? '');
  const wrapped = plain.startsWith('{') ? unwrapped(plain) : plain;
  if (wrapped === null || wrapped === '') return null;
  return { id: textIn(message, 'id') ?? '', role, text: wrapped, at: momentIn(message, 'created_at') };
}

function unwrapped(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    if (!isFields(value) || typeof value.type !== 'string') return text;
    return value.type === 'user_message' ? textIn(value, 'message') : null;
  } catch {
    return text;
  }
}
