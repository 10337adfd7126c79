import type { Entity, Graph } from '@slowwave/sdk';
import { z } from 'zod';
import { ToolError } from '../connection.ts';
import { DATA, ID_FIELDS, linesOr } from '../fields.ts';
import { type Call, tool } from '../tool.ts';

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
