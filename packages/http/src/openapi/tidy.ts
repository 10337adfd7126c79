import { type Operation, REFUSALS, withRefusals } from './refusals.ts';

const SCHEMAS = '#/components/schemas/';
/** Where the schema generator puts "any JSON value", under a name that is no valid reference. */
const ANY_JSON = `${SCHEMAS}__shared`;

type Named = Readonly<Record<string, unknown>>;
type Methods = Readonly<Record<string, Operation>>;

interface Described {
  readonly components?: { readonly schemas?: Named };
  readonly paths?: Readonly<Record<string, Methods>>;
  readonly tags?: readonly { readonly name: string }[];
}

/**
 * The description with all answers of every operation, references that resolve, and only the groups and schemas that
 * something uses.
 */
export function tidy<D extends object>(document: D): D {
  const { components = {}, paths = {}, tags = [], ...rest } = withReferences(document, readable) as Described;
  const complete = { ...components, responses: REFUSALS };
  const told = Object.fromEntries(Object.entries(paths).map(([path, methods]) => [path, answered(path, methods)]));
  const usedTags = new Set(Object.values(told).flatMap((methods) => Object.values(methods).flatMap(tagsOf)));
  const { schemas = {} } = components;
  const used = reachable({ ...complete, schemas: {}, told }, schemas);
  const kept = Object.entries(schemas).filter(([name]) => used.has(name));
  const all = {
    ...rest,
    tags: tags.filter(({ name }) => usedTags.has(name)),
    paths: told,
    components: { ...complete, schemas: Object.fromEntries(kept.map(([name, one]) => [plain(name, used), one])) },
  };
  return withReferences(all, (reference) => ({ $ref: SCHEMAS + plain(reference.slice(SCHEMAS.length), used) })) as D;
}

/** What is taken is told apart from what is answered by the end of its name, where both are there. */
function plain(name: string, used: ReadonlySet<string>): string {
  const short = name.replace(/Input$/, '');
  return used.has(short) ? name : short;
}

const answered = (path: string, methods: Methods): Methods =>
  Object.fromEntries(Object.entries(methods).map(([method, one]) => [method, withRefusals(path, one)]));

const tagsOf = ({ tags = [] }: Operation): readonly string[] => tags;

const readable = (reference: string): object =>
  reference.startsWith(ANY_JSON) ? { description: 'Any JSON value' } : { $ref: reference };

/** The value with each reference to a schema replaced. */
function withReferences(value: unknown, replace: (reference: string) => object): unknown {
  if (Array.isArray(value)) return value.map((one) => withReferences(one, replace));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, ...others } = value as { readonly $ref?: unknown };
  const own = typeof $ref === 'string' && $ref.startsWith(SCHEMAS) ? replace($ref) : $ref === undefined ? {} : { $ref };
  const rest = Object.entries(others).map(([key, child]) => [key, withReferences(child, replace)]);
  return { ...own, ...Object.fromEntries(rest) };
}

function reachable(root: unknown, schemas: Named): ReadonlySet<string> {
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
