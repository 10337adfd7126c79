import { STATUS_CODES } from 'node:http';

const PROBLEM = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
const RETRY_AFTER = {
  'retry-after': { description: 'The number of seconds to wait before retrying', schema: { type: 'integer' } },
};

/** How an operation refuses, by status; said once here instead of at each. */
export const REFUSALS = {
  BadRequest: { description: 'The request is not valid; `errors` lists the fields', content: PROBLEM },
  Unauthorized: { description: 'The key is missing or not valid', content: PROBLEM },
  Forbidden: { description: 'The key does not allow this operation', content: PROBLEM },
  NotFound: { description: 'It does not exist, or this key has no access to it', content: PROBLEM },
  BodyTooLarge: { description: 'The body is too large', content: PROBLEM },
  UnsupportedMediaType: { description: 'The body is not application/json', content: PROBLEM },
  TooManyRequests: { description: 'Too many requests; wait before retrying', headers: RETRY_AFTER, content: PROBLEM },
  Refused: { description: 'The request could not be parsed', content: PROBLEM },
  Problem: { description: 'What went wrong, with a stable code', content: PROBLEM },
};

/** What of an operation its answers follow from. */
export interface Operation {
  readonly tags?: readonly string[];
  readonly requestBody?: unknown;
  readonly security?: readonly unknown[];
  readonly responses?: Readonly<Record<string, { readonly description?: string }>>;
}

/** The operation with every answer it can give: those it names itself come first. */
export function withRefusals<O extends Operation>(path: string, operation: O): O {
  const refusals = Object.entries(refusalsOf(path, operation)).map(([status, name]) => [
    status,
    { $ref: `#/components/responses/${name}` },
  ]);
  const own = Object.entries(operation.responses ?? {}).map(([status, answer]) => [status, named(status, answer)]);
  return { ...operation, responses: { ...Object.fromEntries(refusals), ...Object.fromEntries(own) } };
}

function refusalsOf(path: string, { requestBody, security }: Operation): Record<string, keyof typeof REFUSALS> {
  // Nobody is asked who they are, and nothing of the request is looked at.
  if (security?.length === 0) return { '4XX': 'Refused', default: 'Problem' };
  return {
    400: 'BadRequest',
    401: 'Unauthorized',
    403: 'Forbidden',
    ...(path.includes('{') && { 404: 'NotFound' as const }),
    ...(requestBody !== undefined && { 413: 'BodyTooLarge' as const, 415: 'UnsupportedMediaType' as const }),
    429: 'TooManyRequests',
    default: 'Problem',
  };
}

const UNNAMED = 'Default Response';

/** Answers that say nothing of themselves are told by the name of their status. */
const named = <A extends { readonly description?: string }>(status: string, answer: A): A =>
  answer.description === undefined || answer.description === UNNAMED
    ? { ...answer, description: STATUS_CODES[status] ?? status }
    : answer;
