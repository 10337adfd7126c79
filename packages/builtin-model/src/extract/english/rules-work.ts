import { tidy } from './grammar.ts';
import type { Groups, Rule } from './rule.ts';
import { isOccupation } from './words.ts';

/** What the user does for a living, and what they study. */
export const WORK: readonly Rule[] = [
  {
    pattern:
      /^(?:work|am working|am employed|have worked|have been working|started working|started work|started(?= (?:at|as) )|got a(?: new)? job|got hired|have a(?: new)? job|started a(?: new)? job|took a(?: new)? job|found a(?: new)? job)(?: (?:part[- ]time|full[- ]time|remotely|mostly))? (?<rest>(?:as|at|for|in|with) .+)$/iu,
    category: 'professional_details',
    reads: 'state',
    tell: ({ rest = '' }) => employment(rest),
  },
  {
    pattern: /^(?:have |just )?joined (?<rest>\p{Lu}.*)$/u,
    category: 'professional_details',
    reads: 'state',
    tell: ({ rest = '' }) => employment(`at ${rest}`),
  },
  {
    pattern: /^(?:used to work|worked|was working) (?<rest>(?:as|at|for|in) .+)$/iu,
    category: 'professional_details',
    reads: 'state',
    tell: ({ rest = '' }) => employment(rest)?.replace(/^works/u, 'used to work') ?? null,
  },
  {
    pattern:
      /^(?:(?:quit|left|lost) my (?:job|position|role) (?:at|with)|(?:quit|resigned from|got fired from|was fired from|was laid off from|retired from)(?: my (?:job|position|role) (?:at|with))?) (?<where>\p{Lu}.*)$/u,
    category: 'professional_details',
    reads: 'state',
    tell: ({ where = '' }) => (tidy(where) === null ? null : `no longer works at ${tidy(where)}`),
  },
  {
    pattern: /^am (?:an? |the |now an? |currently an? )(?<what>.+)$/iu,
    category: 'professional_details',
    reads: 'state',
    tell: occupation,
  },
  {
    pattern:
      /^(?:study|am studying|have been studying|started studying|major in|am majoring in|am doing a degree in) (?<what>.+)$/iu,
    category: 'professional_details',
    reads: 'state',
    tell: ({ what = '' }) => withTidy(what, (text) => `studies ${text}`),
  },
  {
    pattern:
      /^(?:am (?:an? |the )?(?<kind>(?:[\w-]+ ){0,3}(?:student|phd candidate|undergraduate|freshman|sophomore)))(?<rest> .+)?$/iu,
    category: 'professional_details',
    reads: 'state',
    tell: ({ kind = '', rest = '' }) => withTidy(`${kind}${rest}`, (text) => `is a ${text}`),
  },
  {
    pattern: /^(?:go to|attend|am attending) (?<where>(?:\p{Lu}.*|.*(?:university|college|high school|school)\b.*))$/u,
    category: 'professional_details',
    reads: 'state',
    tell: ({ where = '' }) => withTidy(where, (text) => `attends ${text}`),
  },
];

function withTidy(value: string, told: (text: string) => string): string | null {
  const text = tidy(value);
  return text === null ? null : told(text);
}

/** "at Acme as a nurse", in any order, as one sentence: where, as what, in which field. */
function employment(rest: string): string | null {
  const part = (words: string) =>
    new RegExp(
      `(?:^|\\s)(?:${words}) (?!(?:the moment|home|fun|free|my own|now)\\b)(.+?)(?=\\s(?:as|at|for|in|with)\\s|$)`,
      'iu',
    ).exec(rest)?.[1];
  const [job, place, field] = [part('as an?|as the|as'), part('at|for|with'), part('in')].map((text) =>
    text === undefined ? null : tidy(text),
  );
  if (!job && !place && !field) return null;
  const at = /(?:^|\s)(?<at>at|for|with)\s/iu.exec(rest)?.groups?.at?.toLowerCase();
  return `works${place ? ` ${at} ${place}` : ''}${job ? ` as ${articled(job)}` : ''}${field ? ` in ${field}` : ''}`;
}

/** "I am a nurse at Acme" is work; "I am a morning person" is not. */
function occupation({ what = '' }: Groups): string | null {
  const [head = '', ...rest] = what.split(/\s(?=(?:at|for|in|with|from|by)\s)/iu);
  const job = tidy(head.replace(/ by (?:trade|profession).*$/iu, ''));
  if (job === null || !isOccupation(job)) return null;
  const place = rest.filter((part) => /^(?:at|for|in) /iu.test(part)).join(' ');
  return employment(`as a ${job}${place === '' ? '' : ` ${place}`}`);
}

const articled = (job: string): string => (/^(?:[aeio]|u(?!ni))/iu.test(job) ? `an ${job}` : `a ${job}`);
