import type { Entity, Graph } from '@slowwave/sdk';
import { z } from 'zod';
import {
  CURSOR,
  DATA,
  FILTERS,
  HIT,
  ID_FIELDS,
  lineOf,
  linesOr,
  MEMORY,
  MEMORY_ID,
  memoryView,
  NEXT_CURSOR,
} from '../fields.ts';
import { type Call, ToolError, tool } from '../tool.ts';

const LIMIT_MAX = 50;
const LIMIT_USUAL = 10;
const PAGE_MAX = 200;
const PAGE_USUAL = 50;

export const searchMemories = tool({
  name: 'search_memories',
  title: 'Search memories',
  description:
    'Finds what is remembered about a person by meaning and by words. Call it before you answer anything that may depend on ' +
    'earlier conversations, and before you update or delete a memory. Ask as specifically as you can ("which city does she ' +
    `live in?"). Returns the best answers first; nothing if nothing answers. ${DATA}`,
  input: z.strictObject({
    query: z.string().min(1).describe('A question or a few words.'),
    ...ID_FIELDS,
    limit: z.int().min(1).max(LIMIT_MAX).default(LIMIT_USUAL).describe('The maximum number of results.'),
    filters: FILTERS,
    as_of: z.string().optional().describe('What was true at this time, e.g. 2026-03-01T09:30:00Z. Default: now.'),
  }),
  output: z.object({
    results: z.array(HIT),
    degraded: z.array(z.string()).optional().describe('Why the answer may be incomplete.'),
  }),
  effect: 'reads',
  run: async ({ slowwave, signal, owner }, { query, limit, filters, as_of, ...given }) => {
    const asked = { query, top_k: limit, ...(filters && { filters }), ...(as_of !== undefined && { as_of }) };
    const found = await slowwave.memories.search({ ...(await owner(given)), ...asked }, { signal });
    const { results, degraded } = found;
    return {
      text: linesOr('No memory answers this.', results.map(lineOf)),
      data: {
        results: results.map((hit) => ({ ...memoryView(hit), score: hit.score })),
        ...(degraded && { degraded: [...degraded] }),
      },
    };
  },
});

export const getMemories = tool({
  name: 'get_memories',
  title: 'List memories',
  description:
    'Lists everything that is remembered about a person, newest first, page by page: to show it to them or to look it ' +
    `through. To answer a question use search_memories, which is quicker and returns less. ${DATA}`,
  input: z.strictObject({
    ...ID_FIELDS,
    limit: z.int().min(1).max(PAGE_MAX).default(PAGE_USUAL).describe('The maximum number of memories on a page.'),
    cursor: CURSOR,
    filters: FILTERS,
  }),
  output: z.object({ results: z.array(MEMORY), next_cursor: NEXT_CURSOR }),
  effect: 'reads',
  run: async ({ slowwave, signal, owner }, { limit, cursor, filters, ...given }) => {
    const query = { ...(await owner(given)), limit, cursor, filters: filters && JSON.stringify(filters) };
    const { results, next_cursor } = await slowwave.memories.list(query, { signal });
    const text = linesOr('Nothing is remembered.', results.map(lineOf));
    return { text, data: { results: results.map(memoryView), next_cursor } };
  },
});

export const getMemory = tool({
  name: 'get_memory',
  title: 'Get a memory',
  description: `Returns one memory by its id, as it is now. ${DATA}`,
  input: z.strictObject({ memory_id: MEMORY_ID }),
  output: z.object({ memory: MEMORY }),
  effect: 'reads',
  run: async ({ slowwave, signal }, { memory_id }) => {
    const memory = await slowwave.memories.get(memory_id, { signal });
    return { text: lineOf(memory), data: { memory: memoryView(memory) } };
  },
});

const OWNER = z.object({
  kind: z.string().describe('user, agent or run.'),
  id: z.string(),
  memories: z.number().optional(),
});

export const listEntities = tool({
  name: 'list_entities',
  title: 'List users, agents and runs',
  description:
    'Lists the users, agents and runs that have memories, last active first: to find the right user_id. If the connection is ' +
    'for one user, only that one is returned. People and things that memories mention are found by graph_neighbourhood.',
  input: z.strictObject({
    id_prefix: z.string().min(1).optional().describe('Only those whose id begins with this.'),
    limit: z.int().min(1).max(PAGE_MAX).default(PAGE_USUAL).describe('The maximum number on a page.'),
    cursor: CURSOR,
  }),
  output: z.object({ results: z.array(OWNER), next_cursor: NEXT_CURSOR }),
  effect: 'reads',
  run: async ({ slowwave, signal, ids }, query) => {
    const { user_id } = await ids({});
    if (user_id !== undefined) {
      const data = { results: [{ kind: 'user', id: user_id }], next_cursor: null };
      return { text: `This connection is only for the user ${user_id}.`, data };
    }
    const { results, next_cursor } = await slowwave.users.list({ ...query, order: 'updated' }, { signal });
    const found = results.map(({ kind, id, memories }) => ({ kind, id, memories }));
    const lines = found.map(({ kind, id, memories }) => `- ${kind} ${id}: ${memories} memories`);
    return { text: linesOr('Nobody has memories.', lines), data: { results: found, next_cursor } };
  },
});

const TOKENS_MIN = 100;
const TOKENS_MAX = 16_000;
const TOKENS_USUAL = 1_000;

export const getContext = tool({
  name: 'get_context',
  title: 'Get what is known about a person',
  description:
    'Returns one block with the profile of a person, the summary of the conversation, the memories that matter for a ' +
    'question, and what was said but is not processed yet. Call it once at the start of a conversation, with what the ' +
    `person has just asked as the query. ${DATA}`,
  input: z.strictObject({
    query: z.string().min(1).optional().describe('What the next answer is about. Without it: the profile and summary.'),
    ...ID_FIELDS,
    max_tokens: z.int().min(TOKENS_MIN).max(TOKENS_MAX).default(TOKENS_USUAL).describe('The budget of the block.'),
  }),
  output: z.object({ text: z.string(), memory_ids: z.array(z.string()), tokens: z.number() }),
  effect: 'reads',
  run: async ({ slowwave, signal, owner }, { query, max_tokens, ...given }) => {
    const body = { ...(await owner(given)), max_tokens, ...(query !== undefined && { query }) };
    const { text = '', memory_ids, tokens } = await slowwave.memories.context(body, { signal });
    const data = { text, memory_ids: [...memory_ids], tokens };
    return { text: text === '' ? 'Nothing is known about this person yet.' : text, data };
  },
});

export const recall = tool({
  name: 'recall',
  title: 'Answer a question from memories',
  description:
    'Answers a question that one search cannot ("how did her plans for the trip change?"): a model of the server searches in ' +
    'several steps and answers with citations. Slow (seconds) and it costs model calls, so try search_memories first. Needs a ' +
    `chat model on the server. ${DATA}`,
  input: z.strictObject({
    query: z.string().min(1).describe('The question.'),
    ...ID_FIELDS,
    as_of: z.string().optional().describe('Answer from what was true at this time, e.g. 2026-03-01T09:30:00Z.'),
  }),
  output: z.object({
    answer: z.string().nullable().describe('null: the memories do not answer it.'),
    citations: z.array(z.object({ kind: z.string(), id: z.string(), text: z.string() })),
  }),
  effect: 'reads',
  run: async ({ slowwave, signal, owner }, { query, as_of, ...given }) => {
    const body = { ...(await owner(given)), query, ...(as_of !== undefined && { as_of }) };
    const { answer, citations } = await slowwave.memories.recall(body, { signal, timeoutMs: RECALL_WITHIN_MS });
    const cited = citations.map((one) =>
      one.kind === 'memory'
        ? { kind: one.kind, id: one.id, text: one.memory }
        : { kind: one.kind, id: one.message_id, text: one.content },
    );
    const lines = cited.map(({ id, text }) => `- [${id}] ${text}`);
    const text = answer === null ? 'The memories do not answer this.' : [answer, ...lines].join('\n');
    return { text, data: { answer, citations: cited } };
  },
});

/** More than a recall takes by default on the server. */
const RECALL_WITHIN_MS = 45_000;

const { app_id: _, ...OWNER_FIELDS } = ID_FIELDS;

const RELATIONS_MAX = 200;
const RELATIONS_USUAL = 50;
/** Entities of like names that are looked through for the one that is meant. */
const ALIKE = 20;

const RELATION = z.object({
  source: z.string(),
  relationship: z.string().describe('A general name like works_at.'),
  destination: z.string(),
  text: z.string(),
  valid_from: z.string(),
});

export const graphNeighbourhood = tool({
  name: 'graph_neighbourhood',
  title: 'See how people, places and things are related',
  description:
    'Returns the relations around one person, place or thing that memories mention ("who is Zoe?", "what belongs to Acme?"), or ' +
    'of the whole graph of the user without entity. Empty unless relations are extracted: by the settings, or by ' +
    `add_memory with graph. ${DATA}`,
  input: z.strictObject({
    entity: z.string().min(1).optional().describe('Its name, e.g. "Zoe". Without it: all relations of the user.'),
    ...OWNER_FIELDS,
    depth: z.int().min(1).max(2).default(1).describe('How many relations to follow from the entity.'),
    limit: z.int().min(1).max(RELATIONS_MAX).default(RELATIONS_USUAL).describe('The maximum number of relations.'),
  }),
  output: z.object({
    entity: z.string().nullable().describe('The name of the entity; null: the whole graph.'),
    alike: z.array(z.string()).describe('Other entities with such a name.'),
    relations: z.array(RELATION),
    truncated: z.boolean().describe('true: there are more relations.'),
  }),
  effect: 'reads',
  run: async (call, { entity: name, depth, limit, ...given }) => {
    // A graph belongs to one owner.
    const { user_id, agent_id, run_id } = await call.owner(given);
    const owner = user_id !== undefined ? { user_id } : agent_id !== undefined ? { agent_id } : { run_id };
    const { slowwave, signal } = call;
    if (name === undefined) return shown(null, await slowwave.graph.get({ ...owner, limit }, { signal }), []);
    const { found, alike } = await named(call, owner, name);
    const graph = await slowwave.graph.entity(found.id, { depth, limit }, { signal });
    return shown(found, graph, alike);
  },
});

/** The entity of that name, else one with a name that contains it. */
async function named({ slowwave, signal }: Call, owner: object, name: string) {
  const query = { ...owner, like: name, limit: ALIKE };
  const { results } = await slowwave.send('GET /v1/entities', { query }, { signal });
  const isMeant = ({ name: own, aliases }: Entity) => [own, ...aliases].some((one) => same(one, name));
  const found = results.find(isMeant) ?? results[0];
  if (found === undefined) {
    throw new ToolError(
      `expected the name of a person, place or thing in the graph, got ${JSON.stringify(name)}, which is not in it; ` +
        'leave entity out to see all relations, or use search_memories',
    );
  }
  return { found, alike: results.filter((one) => one !== found).map(({ name }) => name) };
}

const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

function shown(entity: Entity | null, { relations, truncated }: Graph, alike: string[]) {
  const found = relations.map(({ source, relationship, destination, text, valid_from }) => ({
    ...{ source: source.name, relationship, destination: destination.name, text, valid_from },
  }));
  return {
    text: linesOr(
      'No relations are known.',
      found.map(({ text }) => `- ${text}`),
    ),
    data: { entity: entity?.name ?? null, alike, relations: found, truncated },
  };
}
