import type { JsonObject } from '@slowwave/engine';
import { echoExtractor, keyedDecider, type Script } from '@slowwave/testkit';

/**
 * A model that never errs: every message is one fact, and it knows which texts are about the same. It
 * decides only by what it is shown: a memory that recall does not bring it cannot update. Calls that decide nothing,
 * such as for summaries, get an empty answer of the form they ask for.
 */
export function perfectModel({ keyOf }: { keyOf(text: string): string | null }): Script {
  const extract = echoExtractor();
  const decide = keyedDecider(keyOf);
  return ({ name, input, request }) => {
    if (name === 'extract_facts') return { json: extract(input as never) };
    if (name === 'decide_operations') return { json: decide(input as never) };
    return { json: blank(schemaOf(request)) };
  };
}

function schemaOf(request: JsonObject): JsonObject {
  const format = request.response_format as { json_schema?: { schema?: JsonObject } } | undefined;
  return format?.json_schema?.schema ?? { type: 'object' };
}

/** The least a schema allows. */
function blank(schema: JsonObject): unknown {
  const types = [schema.type ?? 'null'].flat();
  if (types.includes('null')) return null;
  if (types.includes('object')) {
    const properties = (schema.properties ?? {}) as Record<string, JsonObject>;
    return Object.fromEntries(Object.entries(properties).map(([key, property]) => [key, blank(property)]));
  }
  if (types.includes('array')) return [];
  if (types.includes('string')) return '';
  return types.includes('boolean') ? false : 0;
}
