const SCHEMAS = '#/components/schemas/';
/** Where the schema generator puts "any JSON value", under a name that is no valid reference. */
const ANY_JSON = `${SCHEMAS}__shared`;

interface Described {
  readonly components?: { readonly schemas?: Readonly<Record<string, unknown>> };
}

/** The description with references that resolve, and with only the schemas that some route uses. */
export function tidy<D extends object>(document: D): D {
  const readable = withoutAnyJson(document) as D & Described;
  const schemas = readable.components?.schemas ?? {};
  const used = reachable({ ...readable, components: {} }, schemas);
  const kept = Object.entries(schemas).filter(([name]) => used.has(name));
  return { ...readable, components: { ...readable.components, schemas: Object.fromEntries(kept) } };
}

function withoutAnyJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAnyJson);
  if (typeof value !== 'object' || value === null) return value;
  if ('$ref' in value && String(value.$ref).startsWith(ANY_JSON)) return { description: 'Any JSON value' };
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, withoutAnyJson(child)]));
}

function reachable(root: unknown, schemas: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const seen = new Set<string>();
  const open = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    for (const name of namesIn(value)) {
      if (seen.has(name)) continue;
      seen.add(name);
      open.push(schemas[name]);
    }
  }
  return seen;
}

function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own =
    '$ref' in value && String(value.$ref).startsWith(SCHEMAS) ? [String(value.$ref).slice(SCHEMAS.length)] : [];
  return [...own, ...Object.values(value).flatMap(namesIn)];
}
