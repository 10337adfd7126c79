import { type Complaint, complainsAbout, isFailedAnswer } from './failure.ts';

/** What each part of a request may be, best first. A server that refuses one is asked for the next. */
const CHOICES = {
  /** How an answer's form is asked for. */
  format: ['json_schema', 'json_object', 'text'],
  temperature: [true, false],
  /** false: instructions go into the user's message, as templates without a system role want it. */
  system: [true, false],
} as const;

type Part = keyof typeof CHOICES;

/** What a server is known to take: plain data, which may be saved and loaded. It starts with everything and only ever shrinks. */
export type Manners = { readonly [part in Part]: (typeof CHOICES)[part][number] };

export const FULL_MANNERS: Manners = { format: 'json_schema', temperature: true, system: true };

/** What is known of one model of one server. */
export interface KnownManners {
  now(): Manners;
  /** It takes no more than this. */
  learn(manners: Manners): void;
}

/** Known for the life of the process: a server is asked once for what it does not take. */
export function knownManners(before: Manners = FULL_MANNERS): KnownManners {
  let manners = before;
  return {
    now: () => manners,
    learn: (less) => {
      manners = combine(manners, less);
    },
  };
}

const ABOUT_FORMAT =
  /response.?format|json.?schema|json.?object|json.?mode|structured.?output|guided|grammar|output_config|response.?schema|mime.?type|additional.?properties|proto field is not/iu;
const ABOUT_TEMPERATURE = /temperature/iu;
const ABOUT_SYSTEM = /system.{0,12}role.{0,20}not supported|only user and assistant roles|roles must alternate/iu;

/** The same manners without what the server complains about; null when that is something else. */
export function withoutRefused(manners: Manners, complaint: Complaint): Manners | null {
  if (manners.temperature && complainsAbout(complaint, ABOUT_TEMPERATURE)) return { ...manners, temperature: false };
  if (manners.system && complainsAbout(complaint, ABOUT_SYSTEM)) return { ...manners, system: false };
  return complainsAbout(complaint, ABOUT_FORMAT) && !isFailedAnswer(complaint) ? withLesserFormat(manners) : null;
}

export function withLesserFormat(manners: Manners): Manners | null {
  const format = CHOICES.format[CHOICES.format.indexOf(manners.format) + 1];
  return format === undefined ? null : { ...manners, format };
}

/** The least of both: what two calls learnt at the same time. */
export const combine = (a: Manners, b: Manners): Manners => ({
  format: lesser(CHOICES.format, a.format, b.format),
  temperature: a.temperature && b.temperature,
  system: a.system && b.system,
});

const lesser = <T>(choices: readonly T[], a: T, b: T): T => (choices.indexOf(a) > choices.indexOf(b) ? a : b);
