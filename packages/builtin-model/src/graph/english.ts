import { RELATION } from '../extract/english/grammar.ts';
import { isPet, kinshipOf, type Named, type Predicated, type Sayings, type Triple, USER } from './relatives.ts';

/** What is related to the user as the only one of its kind, if it is known: the sister behind "my sister". */
export type KnownAs = (relationship: string) => string | null;

type Groups = Readonly<Record<string, string | undefined>>;

interface Rule {
  readonly pattern: RegExp;
  readonly says: (groups: Groups) => readonly Predicated[];
}

/** What a subject does or is, in the present tense of the third person: how facts are written. */
const RULES: readonly Rule[] = [
  rule(
    /^(?:lives|is living|resides|is based|has lived|stays) (?:in|near|at|on) (?<where>.+?)(?: \(moved from (?<from>.+)\))?$/iu,
    ({ where, from }) => [...holds('lives_in', where, 'place'), ...ended('lives_in', from, 'place')],
  ),
  rule(
    /^(?:moved|relocated)(?: from (?<from>.+?))? to (?<where>.+?)(?: from (?<origin>.+))?$/iu,
    ({ where, from, origin }) => [...holds('lives_in', where, 'place'), ...ended('lives_in', from ?? origin, 'place')],
  ),
  rule(/^used to live in (?<where>.+)$/iu, ({ where }) => past('lives_in', where, 'place')),
  rule(
    /^(?:works|is working|started working|joined|is employed|got a job)(?: (?:at|for|with|by))?(?: (?<firm>\p{Lu}.*?))(?: as (?<job>.+?))?(?: in (?<field>.+))?$/u,
    ({ firm, job }) => [...holds('works_at', firm, 'organisation'), ...holds('works_as', bare(job), 'activity')],
  ),
  rule(/^works as (?<job>.+?)(?: (?:at|for) (?<firm>.+))?$/iu, ({ job, firm }) => [
    ...holds('works_as', bare(job), 'activity'),
    ...holds('works_at', firm, 'organisation'),
  ]),
  rule(/^used to work (?:at|for|with) (?<firm>.+?)(?: as .+)?$/iu, ({ firm }) =>
    past('works_at', firm, 'organisation'),
  ),
  rule(/^(?:left|quit|resigned from|was fired from|retired from) (?<firm>\p{Lu}.*)$/u, ({ firm }) =>
    ended('works_at', firm, 'organisation'),
  ),
  rule(/^(?:is|got) (?:(?:happily|now|recently) )?(?<how>married|engaged) to (?<whom>.+)$/iu, ({ how = '', whom }) =>
    holds(`${how.toLowerCase()}_to`, whom, 'person'),
  ),
  rule(/^married (?<whom>\p{Lu}.*)$/u, ({ whom }) => holds('married_to', whom, 'person')),
  rule(/^(?:divorced|is divorced from) (?<whom>\p{Lu}.*)$/u, ({ whom }) => ended('married_to', whom, 'person')),
  rule(/^is dating (?<whom>.+)$/iu, ({ whom }) => holds('dating', whom, 'person')),
  rule(/^was born in (?<where>\p{Lu}.*)$/u, ({ where }) => holds('born_in', where, 'place')),
  rule(/^(?:is|comes|is originally) from (?<where>\p{Lu}.*)$/u, ({ where }) => holds('native_of', where, 'place')),
  rule(/^grew up in (?<where>.+)$/iu, ({ where }) => holds('native_of', where, 'place')),
  rule(/^(?:studies|is studying) (?<what>.+?)(?: at (?<where>.+))?$/iu, ({ what, where }) => [
    ...(/^at\b/iu.test(what ?? '')
      ? holds('studies_at', what?.replace(/^at /iu, ''), 'organisation')
      : holds('studies', what, 'concept')),
    ...holds('studies_at', where, 'organisation'),
  ]),
  rule(/^attends (?<where>.+)$/iu, ({ where }) => holds('studies_at', where, 'organisation')),
  rule(
    /^(?:likes|loves|enjoys|adores|prefers|is (?:an? (?:\w+ )?(?:fan|lover) of|into|fond of|keen on)) (?<what>.+?)(?: over .+)?$/iu,
    ({ what }) => holds('likes', what, 'thing'),
  ),
  rule(
    /^(?:hates|dislikes|detests|cannot stand|is not (?:a (?:\w+ )?fan of|fond of|into)) (?<what>.+)$/iu,
    ({ what }) => holds('dislikes', what, 'thing'),
  ),
  rule(/^is allergic to (?<what>.+)$/iu, ({ what }) => holds('allergic_to', what, 'thing')),
  rule(/^speaks (?<what>.+)$/iu, ({ what }) => holds('speaks', what, 'concept')),
  rule(/^plays (?:the )?(?<what>.+)$/iu, ({ what }) => holds('plays', what, 'activity')),
  rule(
    /^(?:has|adopted|got|owns) (?:(?:an?|two|three|\d+) )?(?<what>[\p{L} -]+?)(?:,? (?:named|called) (?<name>\p{Lu}.*))?$/iu,
    held,
  ),
  rule(/^(?:makes|produces|builds|manufactures) (?<what>.+)$/iu, ({ what }) => holds('makes', what, 'product')),
  rule(/^(?<verb>founded|wrote|manages|owns|directed) (?<what>.+)$/iu, ({ verb = '', what }) =>
    holds(verb.toLowerCase(), what, 'thing'),
  ),
  rule(/^is (?:located |based |headquartered )?in (?<where>\p{Lu}.*)$/u, ({ where }) =>
    holds('located_in', where, 'place'),
  ),
  rule(/^is part of (?<what>.+)$/iu, ({ what }) => holds('part_of', what, 'organisation')),
];

function rule(pattern: RegExp, says: Rule['says']): Rule {
  return { pattern, says };
}

const relating = (
  relationship: string,
  name: string | undefined,
  how: Omit<Predicated, 'relationship' | 'destination'> & { kind: Named['kind'] },
): readonly Predicated[] => {
  const { kind, ...rest } = how;
  const plain = tidied(name);
  return plain === null ? [] : [{ relationship, destination: { name: plain, kind }, ...rest }];
};
const holds = (relationship: string, name: string | undefined, kind: Named['kind']) =>
  relating(relationship, name, { kind, said: 'holds' });
const ended = (relationship: string, name: string | undefined, kind: Named['kind']) =>
  relating(relationship, name, { kind, said: 'ended' });
const past = (relationship: string, name: string | undefined, kind: Named['kind']) =>
  relating(relationship, name, { kind, said: 'holds', past: true });

/** Longer ones are clauses. In words. */
const WORDS_MAX = 5;

function tidied(name: string | undefined): string | null {
  const plain = (name ?? '')
    .replace(/,.*$/u, '')
    .replace(
      / (?:now|these days|any ?more|since \d{4}|and (?:he|she|it|they|i)\b.*|but .*|because .*|with .*|very much|a lot)$/iu,
      '',
    )
    .replace(/^the (?=\p{Lu})/u, '')
    .replace(/[.!?]+$/u, '')
    .trim();
  return plain === '' || plain.split(' ').length > WORDS_MAX ? null : plain;
}

const bare = (job: string | undefined): string | undefined => job?.replace(/^(?:an?|the) /iu, '');

/** Animals and people one has are near; what else one has is owned. */
function held({ what = '', name }: Groups): readonly Predicated[] {
  const kin = kinshipOf(what);
  if (kin !== null) return holds(kin.relationship, name ?? what, kin.kind);
  return OWNED.test(what) ? holds('owns', name ?? what, 'thing') : [];
}
const OWNED =
  /\b(?:car|bike|bicycle|motorcycle|boat|house|flat|apartment|cabin|garden|guitar|piano|violin|camera|laptop|phone)$/iu;

/** What a predicate of the third person says. One that is denied says that it ended. */
function predicated(predicate: string): readonly Predicated[] {
  const plain = predicate.trim().replace(/^(?:also|still|now|just|recently|currently) /iu, '');
  const denied = DENIED.exec(plain);
  const text = denied === null ? plain : inThird(plain, denied[0]);
  for (const { pattern, says } of RULES) {
    const match = pattern.exec(text);
    const found = match === null ? [] : says(match.groups ?? {});
    if (found.length > 0) return denied === null ? found : found.map((one) => ({ ...one, said: 'ended' as const }));
  }
  return [];
}

const DENIED = /^(?:no longer |does not |is (?:not|no longer) )(?!a (?:\w+ )?fan|fond|into)/iu;

/** "does not live in Oslo" → "lives in Oslo", "is no longer married to Tom" → "is married to Tom" */
function inThird(plain: string, denial: string): string {
  const rest = plain.slice(denial.length);
  if (/^is /iu.test(denial)) return `is ${rest}`;
  return /^does /iu.test(denial)
    ? rest.replace(/^\w+/u, (verb) =>
        /(?:s|sh|ch|x|o)$/u.test(verb) ? `${verb}es` : verb === 'have' ? 'has' : `${verb}s`,
      )
    : rest;
}

const NAME = "\\p{Lu}[\\p{L}'-]*(?: (?:de|van|von|der|\\p{Lu}[\\p{L}'-]*)){0,3}";
const RELATIVE = new RegExp(
  `^(?<whose>User|${NAME})'s (?<kin>(?:(?:older|younger|elder|little|big|best|new|ex-|late|oldest|youngest|eldest) ?)?${RELATION})(?: (?<name>${NAME}))? (?<rest>.+)$`,
  'u',
);
const SUBJECT = new RegExp(`^(?<name>${NAME}) (?<rest>[a-z].+)$`, 'u');

/** What one statement in the third person says: "User works at Acme", "User's sister Eva lives in Rome", "Eva's husband is Tom". */
export function sayingsOf(statement: string, knownAs: KnownAs): Sayings {
  const own = /^User's name is (?<name>.+)$/u.exec(statement)?.groups?.name;
  if (own !== undefined) return { triples: [], userNames: [own] };
  const relative = RELATIVE.exec(statement)?.groups;
  if (relative !== undefined) return { triples: ofRelative(relative, knownAs), userNames: [] };
  const favourite = /^User's favou?rite [\p{L} -]+? (?:is|are) (?<what>.+)$/u.exec(statement)?.groups?.what;
  if (favourite !== undefined) return { triples: from(USER, holds('likes', favourite, 'thing')), userNames: [] };
  const { name = '', rest = '' } = SUBJECT.exec(statement)?.groups ?? {};
  return {
    triples: name === '' ? [] : from(name === 'User' ? USER : subjectOf(name, rest), predicated(rest)),
    userNames: [],
  };
}

/** Who makes things is no person, as far as a sentence shows. */
const subjectOf = (name: string, rest: string): Named => ({
  name,
  kind: /^(?:makes|produces|builds|manufactures|is (?:located|based|headquartered|part))\b/u.test(rest)
    ? 'organisation'
    : 'person',
});

const from = (source: Named, found: readonly Predicated[]): readonly Triple[] =>
  found.map((one) => ({ ...one, source }));

function ofRelative({ whose = '', kin = '', name, rest = '' }: Groups, knownAs: KnownAs): readonly Triple[] {
  const kinship = kinshipOf(kin);
  if (kinship === null) return [];
  const owner: Named = whose === 'User' ? USER : { name: whose, kind: 'person' };
  const called = /^(?:is|was) (?:(?:named|called) )?(?<name>\p{Lu}[\p{L}'-]*(?: \p{Lu}[\p{L}'-]*){0,2})$/u.exec(rest)
    ?.groups?.name;
  const who: Named = {
    name: name ?? called ?? knownAs(kinship.relationship) ?? kin,
    kind: isPet(kin) ? 'animal' : kinship.kind,
  };
  const bond: Triple = { source: owner, relationship: kinship.relationship, destination: who, said: 'holds' };
  return [bond, ...from(who, called === undefined ? predicated(rest) : [])];
}
