import { type ProblemError, problem } from './problem.ts';
import type { App } from './types.ts';

/** Deepest nesting of a JSON body; deeper ones would exhaust the stack of whatever reads them later. */
const DEPTH_MAX = 64;
/** Fields and items of a JSON body, all together: several times those of a batch of 2,000 messages. */
const VALUES_MAX = 100_000;

/**
 * JSON is the only body there is. It is weighed before it is parsed: objects of very many fields take longer than anything
 * else of their size, here and in all that looks at them later. An empty one is left to the route's schema, which says what
 * it expects.
 */
export function readOnlyJson(app: App): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const text = body.toString();
    const refusal = refusalOf(text);
    if (refusal !== null) done(refusal, undefined);
    else if (text === '') done(null, undefined);
    else void parse(request, text, done);
  });
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/** Spaces, and what else may stand between two parts. */
const SPACE_MAX = 0x20;

/** Brackets and braces differ by one bit. */
const opens = (code: number): boolean => (code | 0x20) === 0x7b;
const closes = (code: number): boolean => (code | 0x20) === 0x7d;

/** Most bodies have too few commas and brackets, wherever they are, to be looked at more closely: finding those is fast. */
function mayBeRefused(text: string): boolean {
  const opening = countUpTo(VALUES_MAX, text, '[') + countUpTo(VALUES_MAX, text, '{');
  return opening > DEPTH_MAX || opening + countUpTo(VALUES_MAX, text, ',') > VALUES_MAX;
}

function countUpTo(most: number, text: string, sought: string): number {
  let count = 0;
  for (let at = text.indexOf(sought); at !== -1 && count <= most; at = text.indexOf(sought, at + 1)) count += 1;
  return count;
}

/** One look at each character. What is no JSON at all is left to the parser, which says where. */
function refusalOf(text: string): ProblemError | null {
  if (!mayBeRefused(text)) return null;
  let depth = 0;
  let values = 0;
  let last = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code <= SPACE_MAX) continue;
    if (code === QUOTE) i = endOfText(text, i);
    depth += step(code);
    // The first one follows what it is in, all others follow a comma.
    if (code === COMMA || (opens(last) && !closes(code))) values += 1;
    if (depth > DEPTH_MAX) return tooDeep();
    if (values > VALUES_MAX) return tooMany();
    last = code;
  }
  return null;
}

function step(code: number): number {
  if (opens(code)) return 1;
  return closes(code) ? -1 : 0;
}

/** Where the text ends that begins here. The next quote mostly is its end; otherwise each character is looked at. */
function endOfText(text: string, start: number): number {
  const end = text.indexOf('"', start + 1);
  if (end === -1) return text.length;
  if (text.charCodeAt(end - 1) !== BACKSLASH) return end;
  let i = start + 1;
  while (i < text.length && text.charCodeAt(i) !== QUOTE) i += text.charCodeAt(i) === BACKSLASH ? 2 : 1;
  return i;
}

const tooDeep = (): ProblemError =>
  problem('invalid_request', `expected the body to be nested at most ${DEPTH_MAX} levels deep, got more; flatten it`);

const tooMany = (): ProblemError =>
  problem(
    'invalid_request',
    `expected the body to have at most ${VALUES_MAX} fields and items, got more; send it in smaller parts`,
  );
