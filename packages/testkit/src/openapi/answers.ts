import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { type Description, type Operation, responseFor } from './schema.ts';

/** Says what is wrong with an answer; null: it is what the description promises. */
export type AnswerCheck = (
  operation: Operation,
  answer: { status: number; type: string; text: string },
) => string | null;

export function answerCheck(description: Description): AnswerCheck {
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false });
  ajv.addSchema({ $id: 'api', components: description.components });
  const known = new Map<unknown, ValidateFunction>();
  const fits = (schema: object, value: unknown): string | null => {
    const check = known.get(schema) ?? ajv.compile(withWholeReferences(schema));
    known.set(schema, check);
    return check(value) ? null : ajv.errorsText(check.errors);
  };

  return (operation, { status, type, text }) => {
    const promised = responseFor(description, operation, status);
    if (promised === undefined) return `status ${status} is not in the description`;
    const media = type.split(';')[0]?.trim() ?? '';
    const content = promised.content?.[media];
    if (content === undefined)
      return promised.content === undefined
        ? null
        : `status ${status} with ${media || 'no type'} is not in the description`;
    if (content.schema === undefined || !/json$/.test(media) || media.endsWith('ndjson')) return null;
    return fits(content.schema, parsed(text));
  };
}

/** References point into the description, which has a name of its own here. */
const withWholeReferences = (schema: object): object =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/'));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
