import { readChatgpt, readClaude } from './chats.ts';
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
  ownerOf,
  type Reader,
  type Relation,
  type Said,
  statementsIn,
  type Talk,
  textIn,
} from './found.ts';

/**
 * Hindsight's archive of documents, unpacked: manifest.json, documents/*.json with their facts, observations.json. Or memory units as its API
 * lists them, in `items`.
 */
export function readHindsight(files: Files, user: string | null): Found {
  const left = leaving();
  const values = [...files.values()].filter((value) => value !== null && typeof value === 'object') as Fields[];
  const bank = values.map((value) => textIn(value, 'source_bank_id', 'bank_id')).find((name) => name !== null) ?? null;
  const ids: Ids = user === null && bank !== null ? { user_id: bank } : ownerOf(user, 'the export');
  const facts: Fact[] = [];
  for (const [file, value] of files) {
    for (const unit of unitsIn(value, file)) {
      const fact = hindsightFact(unit, { ids, id: `${file}-${facts.length}` });
      if (fact === null) left.add('units', 'they have no text');
      else facts.push(fact);
    }
    for (const document of documentsIn(value)) {
      left.add('documents', 'their facts are imported; post the texts as conversations to read them again');
      left.add('causal relations', 'they link facts, and relations here link entities', causesIn(document));
    }
  }
  if (facts.length === 0) throw new Error('expected facts in documents/*.json, observations.json or items, got none');
  const lacks = ['who said a fact', 'former texts of facts', 'deletions', 'relations between entities'];
  return { facts, talks: [], relations: [], left: left.all(), lacks, isRead: true };
}

const documentsIn = (value: unknown): readonly Fields[] =>
  isFields(value) && Array.isArray(value.facts) ? [value] : listOf((value as Fields | null)?.documents);

const unitsIn = (value: unknown, file: string): readonly Fields[] => [
  ...documentsIn(value).flatMap(({ id, facts }) => listOf(facts).map((fact) => ({ ...fact, document: id }))),
  ...listOf((value as Fields | null)?.items),
  ...listOf((value as Fields | null)?.memory_units),
  ...(/observations|memory_units|items/.test(file) ? listOf(value) : []),
];

const causesIn = ({ facts }: Fields): number =>
  listOf(facts).reduce((sum, fact) => sum + listOf(fact.causal_relations).length, 0);

function hindsightFact(unit: Fields, { ids, id }: { readonly ids: Ids; readonly id: string }): Fact | null {
  const text = textIn(unit, 'text');
  if (text === null) return null;
  const { tags, entities, metadata } = unit;
  const more = {
    ...{
      fact_type: textIn(unit, 'fact_type', 'type'),
      context: textIn(unit, 'context'),
      document: textIn(unit, 'document'),
    },
    ...{ until: momentIn(unit, 'occurred_end') },
    ...(Array.isArray(tags) && tags.length > 0 && { tags }),
    ...(Array.isArray(entities) && entities.length > 0 && { entities }),
  };
  return {
    ...{ id: textIn(unit, 'id') ?? id, ids, text, expiresAt: null },
    at: momentIn(unit, 'occurred_start', 'mentioned_at', 'event_date', 'created_at'),
    metadata: { ...more, ...(isFields(metadata) && metadata) },
  };
}

/** Items of a store of LangGraph, which LangMem keeps memories in: namespace, key, value, and when they were written. */
export function readLangmem(files: Files, user: string | null): Found {
  const items = [...files.values()].flatMap((file) => [...listOf(file), ...listOf((file as Fields | null)?.items)]);
  const left = leaving();
  const facts = items.flatMap((item): Fact[] => {
    const text = isFields(item.value) ? textOf(item.value) : null;
    if (text === null) {
      left.add('items', 'their value has no content');
      return [];
    }
    const at = momentIn(item, 'updated_at', 'created_at');
    const namespace = Array.isArray(item.namespace) ? item.namespace.map(String) : [];
    const id = [...namespace, textIn(item, 'key') ?? ''].join('/');
    const kind = isFields(item.value) ? textIn(item.value, 'kind') : null;
    return [{ id, ids: langmemIds(namespace, user), text, at, expiresAt: null, metadata: { namespace, kind } }];
  });
  if (items.length === 0)
    throw new Error('expected items with namespace, key and value, as a list or one per line, got none');
  const lacks = ['the messages that memories came from', 'former texts', 'deletions', 'how facts relate'];
  return { facts, talks: [], relations: [], left: left.all(), lacks, isRead: true };
}

/** The end of a namespace names whose it is: ("memories", "{user}"). */
const langmemIds = (namespace: readonly string[], user: string | null): Ids => {
  const last = namespace.length > 1 ? namespace.at(-1) : undefined;
  return user === null && last !== undefined ? { user_id: last } : ownerOf(user, 'an item');
};

/** LangMem writes {kind, content: {content}}; its tools and others write content, text or memory; a profile has fields. */
function textOf(value: Fields): string | null {
  const { content } = value;
  const inner = isFields(content) ? textIn(content, 'content', 'text', 'memory') : null;
  const plain = inner ?? textIn(value, 'content', 'text', 'memory', 'data');
  if (plain !== null) return plain;
  const fields = Object.entries(isFields(content) ? content : value).filter(
    ([name, one]) =>
      name !== 'kind' && (typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean'),
  );
  return fields.length === 0 ? null : fields.map(([name, one]) => `${name.replaceAll('_', ' ')}: ${one}`).join('; ');
}

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
      if (said.length > 0) talks.push({ id: name, ids: lettaIds({ name, user }), title: null, messages: said });
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
const lettaIds = ({ name, user }: Agent): Ids =>
  user === null ? { agent_id: name } : { user_id: user, agent_id: name };

const blocksOf = (agent: Fields, shared: ReadonlyMap<string, Fields>): readonly Fields[] => {
  const ids: readonly unknown[] = Array.isArray(agent.block_ids) ? agent.block_ids : [];
  const named: readonly Fields[] = ids.flatMap((id) => listOf([shared.get(String(id))]));
  return [...named, ...listOf(agent.memory_blocks), ...listOf(agent.core_memory)];
};

/** What an agent is told of itself is the agent's. */
const OF_AGENT = /persona|system|instruction|guideline|polic/iu;

function factsOf(block: Fields, agent: Agent): Fact[] {
  const label = textIn(block, 'label') ?? 'block';
  const ids = OF_AGENT.test(label) ? { agent_id: agent.name } : lettaIds(agent);
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
  ...{ id: textIn(passage, 'id') ?? '', ids: lettaIds(agent), text: textIn(passage, 'text', 'content') ?? '' },
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

/**
 * A graph of Zep or Graphiti as JSON: nodes, edges and episodes as their APIs answer, in one file or one each. An edge is a fact with the
 * time in which it holds.
 */
export function readZep(files: Files, user: string | null): Found {
  const [nodes, edges, episodes] = [
    gathered(files, ['nodes', 'entities', 'entity_nodes']),
    gathered(files, ['edges', 'facts', 'entity_edges']),
    gathered(files, ['episodes', 'episodic_nodes', 'messages']),
  ];
  if (nodes.length + edges.length + episodes.length === 0)
    throw new Error('expected nodes, edges or episodes, as lists of that name, got none');
  const left = leaving();
  const names = new Map(nodes.map((node) => [textIn(node, 'uuid', 'id') ?? '', textIn(node, 'name') ?? '']));
  const facts: Fact[] = [];
  const relations: Relation[] = [];
  for (const edge of edges) {
    const text = textIn(edge, 'fact');
    if (text === null) {
      left.add('edges', 'they have no fact');
      continue;
    }
    const until = momentIn(edge, 'invalid_at', 'expired_at');
    if (until === null) facts.push(zepFact(edge, text, user));
    else left.add('memories of facts that have ended', 'they are imported as relations with their end');
    const relation = relationOf(edge, names, { user, until, quote: text });
    if (relation === null) left.add('relations', 'one of their nodes is missing');
    else relations.push(relation);
  }
  left.add(
    'summaries of nodes',
    'they repeat the facts',
    nodes.filter((node) => textIn(node, 'summary') !== null).length,
  );
  return {
    ...{ facts, relations, talks: talksOf(episodes, user), left: left.all(), isRead: true },
    lacks: ['who said a fact, beyond its episode', 'former texts of facts', 'deletions'],
  };
}

/** The lists of these names, of all files; a file that is a list is named by its file. */
const gathered = (files: Files, names: readonly string[]): readonly Fields[] =>
  [...files].flatMap(([file, value]) =>
    Array.isArray(value)
      ? names.some((name) => file.includes(name))
        ? listOf(value)
        : []
      : names.flatMap((name) => listOf((value as Fields | null)?.[name])),
  );

/** Graphiti keeps a group for each user. */
const zepIds = (item: Fields, user: string | null): Ids => {
  const named = textIn(item, 'user_id', 'group_id');
  return user === null && named !== null ? { user_id: named } : ownerOf(user, 'an edge or episode');
};

const zepFact = (edge: Fields, text: string, user: string | null): Fact => ({
  ...{ id: textIn(edge, 'uuid', 'id') ?? '', ids: zepIds(edge, user), text, expiresAt: null },
  at: momentIn(edge, 'valid_at', 'reference_time', 'created_at'),
  metadata: { relation: textIn(edge, 'name'), recorded_at: momentIn(edge, 'created_at') },
});

interface About {
  readonly user: string | null;
  readonly until: string | null;
  readonly quote: string;
}

function relationOf(edge: Fields, names: ReadonlyMap<string, string>, about: About): Relation | null {
  const source = names.get(textIn(edge, 'source_node_uuid', 'source') ?? '');
  const destination = names.get(textIn(edge, 'target_node_uuid', 'target') ?? '');
  if (!(source && destination)) return null;
  const relationship = (textIn(edge, 'name') ?? 'related_to').toLowerCase();
  const from = momentIn(edge, 'valid_at', 'created_at');
  const { until, quote, user } = about;
  return { ids: zepIds(edge, user), source, relationship, destination, from, until, quote };
}

/** One conversation for each owner: episodes are in the order in which they were said. */
function talksOf(episodes: readonly Fields[], user: string | null): Talk[] {
  const said = episodes.flatMap((episode) => {
    const content = textIn(episode, 'content');
    const source = textIn(episode, 'source');
    if (content === null || (source !== null && !['message', 'text'].includes(source))) return [];
    const [, speaker = '', words] = /^([\p{L}\p{N} _.-]{1,40}):\s+(.+)$/su.exec(content) ?? [];
    const who = (textIn(episode, 'role_type', 'role') ?? speaker).toLowerCase();
    const message = {
      ...{ id: textIn(episode, 'uuid', 'id') ?? '', text: words ?? content },
      role: /assistant|agent|bot|system/.test(who) ? ('assistant' as const) : ('user' as const),
      at: momentIn(episode, 'valid_at', 'created_at'),
    };
    const talk = textIn(episode, 'thread_id', 'session_id') ?? 'episodes';
    return [{ ids: zepIds(episode, user), talk, message }];
  });
  const groups = Map.groupBy(said, ({ ids, talk }) => JSON.stringify([ids, talk]));
  return [...groups.values()].map((group) => ({
    ...{ id: group[0]?.talk ?? '', ids: group[0]?.ids ?? {}, title: null },
    messages: group.map(({ message }) => message).sort((a, b) => ((a.at ?? '') < (b.at ?? '') ? -1 : 1)),
  }));
}

/** What can be imported, by the name of the system that wrote it; mem0 has a reader of its own. */
export const READERS = {
  zep: readZep,
  graphiti: readZep,
  letta: readLetta,
  langmem: readLangmem,
  hindsight: readHindsight,
  chatgpt: readChatgpt,
  claude: readClaude,
} as const satisfies Readonly<Record<string, Reader>>;

export type Origin = keyof typeof READERS | 'mem0';

export const ORIGINS = ['mem0', ...(Object.keys(READERS) as (keyof typeof READERS)[])] as const;
