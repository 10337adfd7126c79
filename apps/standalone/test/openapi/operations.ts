import { type Description, type Operation, type Parameter, resolved, type Schema } from '@slowwave/testkit';

/** An operation as the description has it. */
export interface Named {
  readonly id: string;
  /** POST /v1/batches */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** One thing a caller could send, as an example of the description shows it. */
export interface Example {
  readonly query: Readonly<Record<string, unknown>>;
  /** undefined: none. */
  readonly body: unknown;
}

/** Every operation of the API; those of health and pages take nothing. */
export const operationsOf = ({ paths }: Description): Named[] =>
  Object.entries(paths)
    .filter(([path]) => path.startsWith('/v1/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => {
        const name = `${method.toUpperCase()} ${path}`;
        return { id: operation.operationId ?? name, name, method: method.toUpperCase(), path, operation };
      }),
    );

/** What its body is like; null where it takes none. */
export function bodyOf(description: Description, { requestBody }: Operation): Schema | null {
  const schema = requestBody?.content['application/json']?.schema;
  return schema === undefined ? null : resolved(description, schema);
}

/** What the description shows for an operation: each body, and each parameter beside the first body. */
export function examplesOf(description: Description, { operation }: Named): Example[] {
  const bodies = bodyOf(description, operation)?.examples ?? [];
  const first = bodies[0];
  const queries = (operation.parameters ?? []).flatMap((parameter) =>
    valuesOf(parameter).map((value) => ({ query: { [parameter.name]: value }, body: first })),
  );
  return [...bodies.map((body) => ({ query: {}, body })), ...queries];
}

const valuesOf = ({ example, examples = {} }: Parameter): unknown[] => [
  ...(example === undefined ? [] : [example]),
  ...Object.values(examples).map(({ value }) => value),
];

/** How many examples stand anywhere in a part of the description. */
export function countExamples(part: unknown): number {
  if (Array.isArray(part)) return part.reduce((sum: number, one) => sum + countExamples(one), 0);
  if (typeof part !== 'object' || part === null) return 0;
  return Object.entries(part).reduce((sum, [key, value]) => sum + countIn(key, value), 0);
}

function countIn(key: string, value: unknown): number {
  if (key === 'example') return 1;
  if (key === 'examples') return Object.keys(value as object).length;
  // The names in here are those of fields.
  if (key === 'properties') return countExamples(Object.values(value as object));
  return countExamples(value);
}
