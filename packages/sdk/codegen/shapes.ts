import { type Schema, type Schemas, typeName } from './description.ts';

/** Fewer fields than this are soon read; two schemas may have them in common without being of one kind. */
const FEWEST_SHARED = 6;

/**
 * The schemas by name, with each shape written once: one that has all fields of another extends it, and repeated objects refer to the
 * first of them.
 */
export function writtenOnce(schemas: Schemas): Schemas {
  const named = Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1));
  const extended = Object.fromEntries(named.map(([name, schema]) => [name, extending(schema, schemas)]));
  const homes = homesIn(extended);
  const referring = (schema: Schema, at: string | null): Schema => {
    const home = homes.get(keyOf(schema));
    if (home === undefined || home === at) return mapInner(schema, at, referring);
    return { $ref: home, ...(schema.description !== undefined && { description: schema.description }) };
  };
  return Object.fromEntries(
    Object.entries(extended).map(([name, schema]) => [name, mapInner(schema, typeName(name), referring)]),
  );
}

/** What a schema adds to the largest of the others that it contains. */
function extending(schema: Schema, schemas: Schemas): Schema {
  const own = fieldsOf(schema);
  const bases = Object.entries(schemas)
    .map(([name, other]) => ({ name, fields: fieldsOf(other) }))
    .filter(
      ({ fields }) =>
        fields.size >= FEWEST_SHARED && fields.size < own.size && [...fields].every((one) => own.has(one)),
    )
    .sort((a, b) => b.fields.size - a.fields.size);
  const [base] = bases;
  if (base === undefined) return schema;
  const { description, ...rest } = schema;
  const inherited = new Set(Object.keys(schemas[base.name]?.properties ?? {}));
  const added = Object.entries(schema.properties ?? {}).filter(([name]) => !inherited.has(name));
  return {
    ...(description !== undefined && { description }),
    allOf: [{ $ref: base.name }, { ...rest, properties: Object.fromEntries(added) }],
  };
}

const fieldsOf = ({ properties = {}, required = [] }: Schema): Set<string> =>
  new Set(Object.entries(properties).map(([name, one]) => JSON.stringify([name, required.includes(name), one])));

/** Where each object with several fields stands that stands in several places: the place with the shortest way to it. */
function homesIn(schemas: Schemas): Map<string, string> {
  const places = new Map<string, string[]>();
  const visit = (schema: Schema, at: string | null): Schema => {
    if (at !== null && Object.keys(schema.properties ?? {}).length > 1) {
      const key = keyOf(schema);
      places.set(key, [...(places.get(key) ?? []), at]);
    }
    return mapInner(schema, at, visit);
  };
  for (const [name, schema] of Object.entries(schemas)) visit(schema, typeName(name));
  const depth = (at: string): number => at.split('[').length;
  return new Map([...places].map(([key, all]) => [key, all.sort((a, b) => depth(a) - depth(b))[0] ?? '']));
}

const keyOf = ({ description: _, ...shape }: Schema): string => JSON.stringify(shape);

/** What is inside a schema, each with the type that stands there; null: a type that has no name of its own. */
function mapInner(schema: Schema, at: string | null, map: (inner: Schema, at: string | null) => Schema): Schema {
  const { properties, required = [], items, anyOf, oneOf, allOf, additionalProperties: values } = schema;
  const fieldAt = (name: string): string | null => {
    if (at === null) return null;
    const field = `${at}['${name}']`;
    return required.includes(name) ? field : `NonNullable<${field}>`;
  };
  const choiceAt = (choices: readonly Schema[]): string | null =>
    at !== null && choices.filter(({ type }) => type !== 'null').length === 1 ? notNull(at) : null;
  const choicesOf = (choices: readonly Schema[]) => choices.map((one) => map(one, choiceAt(choices)));
  return {
    ...schema,
    ...(properties !== undefined && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, map(one, fieldAt(name))])),
    }),
    ...(items !== undefined && { items: map(items, at === null ? null : `${at}[number]`) }),
    ...(anyOf !== undefined && { anyOf: choicesOf(anyOf) }),
    ...(oneOf !== undefined && { oneOf: choicesOf(oneOf) }),
    ...(allOf !== undefined && { allOf: allOf.map((one) => map(one, at)) }),
    ...(typeof values === 'object' && { additionalProperties: map(values, at === null ? null : `${at}[string]`) }),
  };
}

const notNull = (at: string): string => (at.startsWith('NonNullable<') ? at : `NonNullable<${at}>`);
