/** The parts of an OpenAPI description that the types follow from. */
export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Operation {
  readonly summary?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content; readonly required?: boolean };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly description?: string;
}

const HEAD = `// Made by packages/sdk/codegen from the API's own description; ./scripts/sdk-types makes it anew.
`;

/** TypeScript for everything the API takes and answers: a type per schema, and one table of all operations. */
export function typesOf({ paths, components }: Description): string {
  const schemas = Object.entries(components.schemas)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => `${comment(schema, '')}export type ${typeName(name)} = ${typeOf(schema, '')};\n`);
  const operations = Object.entries(paths)
    .filter(([path]) => path.startsWith('/v1/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, one]) => operationOf(`${method.toUpperCase()} ${path}`, one)),
    );
  return [
    HEAD,
    ...schemas,
    '/** Every operation of the API: what it takes, and what it answers when all went well. */',
    `export interface Operations {\n${operations.join('')}}\n`,
  ].join('\n');
}

/** What is taken is told apart from what is answered by its name; a client's user needs no such ending. */
const typeName = (name: string): string => name.replace(/Input$/, '');

function operationOf(name: string, { summary, parameters = [], requestBody, responses }: Operation): string {
  const parts = [
    ...fields(
      'params',
      parameters.filter((one) => one.in === 'path'),
    ),
    ...fields(
      'query',
      parameters.filter((one) => one.in === 'query'),
    ),
    ...bodyField(requestBody),
    `answer: ${answerOf(responses)};`,
  ];
  const told = summary === undefined ? '' : `  /** ${summary}. */\n`;
  return `${told}  '${name}': {\n${parts.map((part) => `    ${part}\n`).join('')}  };\n`;
}

function fields(name: string, parameters: readonly Parameter[]): string[] {
  if (parameters.length === 0) return [];
  const needed = parameters.some(({ required }) => required === true);
  const all = parameters.map((one) => fieldOf(one.name, one.schema, { required: one.required === true, indent: '' }));
  return [`${name}${needed ? '' : '?'}: { ${all.join(' ')} };`];
}

function bodyField(body: Operation['requestBody']): string[] {
  const schema = body?.content['application/json']?.schema;
  return schema === undefined ? [] : [`body: ${typeOf(schema, '    ')};`];
}

function answerOf(responses: Operation['responses']): string {
  const choices = Object.entries(responses).flatMap(([status, { content }]) => {
    const schema = content?.['application/json']?.schema;
    return status.startsWith('2') && schema !== undefined ? (schema.anyOf ?? [schema]) : [];
  });
  return choices.length === 0 ? 'unknown' : [...new Set(choices.map((one) => typeOf(one, '    ')))].join(' | ');
}

function typeOf(schema: Schema, indent: string): string {
  if (schema.$ref !== undefined) return typeName(schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1));
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return [...new Set(choices.map((one) => typeOf(one, indent)))].join(' | ');
  if (Array.isArray(schema.type))
    return schema.type.map((type: string) => typeOf({ ...schema, type }, indent)).join(' | ');
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'number':
    case 'integer':
      return 'number';
    case 'array':
      return `readonly ${inBrackets(typeOf(schema.items ?? {}, indent))}[]`;
    case 'object':
      return objectOf(schema, indent);
    default:
      return 'unknown';
  }
}

const literal = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value));

const inBrackets = (type: string): string => (/ \| |^readonly /.test(type) ? `(${type})` : type);

function objectOf({ properties, required = [], additionalProperties }: Schema, indent: string): string {
  if (properties === undefined || Object.keys(properties).length === 0) {
    const values = typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'unknown';
    return `Readonly<Record<string, ${values}>>`;
  }
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(
    ([name, one]) =>
      `${comment(one, inner)}${inner}readonly ${fieldOf(name, one, { required: required.includes(name), indent: inner })}\n`,
  );
  return `{\n${lines.join('')}${indent}}`;
}

/** What may be left out may also be given as undefined: callers build their requests from what they have. */
function fieldOf(name: string, schema: Schema, { required, indent }: { required: boolean; indent: string }): string {
  const key = /^[a-z_][a-z0-9_]*$/i.test(name) ? name : `'${name}'`;
  const type = typeOf(schema, indent);
  return required ? `${key}: ${type};` : `${key}?: ${type} | undefined;`;
}

const comment = ({ description }: Schema, indent: string): string =>
  description === undefined ? '' : `${indent}/** ${description.replaceAll('*/', '* /').replace(/\s+/g, ' ')} */\n`;
