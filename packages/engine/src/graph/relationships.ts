import { ENTITY_KINDS, type EntityKind } from './words.ts';

/** How many destinations a source can have at a time; 'unsure': that is for a model to say, each time. */
type Arity = 'one' | 'many' | 'unsure';

/** A relationship in its general, timeless form. */
interface Relationship {
  readonly name: string;
  /** It was named from its other end: "Acme employs Ana" is "Ana works_at Acme". */
  readonly inverse: boolean;
}

/** Longer ones are sentences, not relationships. In characters. */
const NAME_MAX = 40;

/** Words that say when, how surely or in which tense, and leave the same relationship without them. */
const TENSE =
  /^(?:(?:is|are|was|were|be|been|being|has_been|have_been|had_been|has|have|had|now|currently|recently|just|still|already|also|formerly|previously|once|used_to|did|does|do|will|started|starts|starting|began|begins|got|gets|became|becomes)_)+(?=.)/u;

/** The general form of any words a model uses for a relationship; null where they are none. */
export function relationshipOf(words: string): Relationship | null {
  const plain = snake(words);
  const known = SAME.get(plain) ?? SAME.get(plain.replace(TENSE, ''));
  if (known !== undefined) return known;
  const name = TENSED.has(plain) ? plain : plain.replace(TENSE, '');
  const fits = name.length <= NAME_MAX && /^\p{L}/u.test(name);
  return fits ? { name, inverse: false } : null;
}

const snake = (words: string): string =>
  words
    .normalize('NFKC')
    .replace(/(?<=\p{Ll})(?=\p{Lu})/gu, '_')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/gu, '');

export const arityOf = (relationship: string): Arity => {
  if (ONE.has(relationship)) return 'one';
  return MANY.has(relationship) ? 'many' : 'unsure';
};

/** It holds from both ends: "Ana is married to Tom" is "Tom is married to Ana". */
export const isMutual = (relationship: string): boolean => MUTUAL.has(relationship);

/** What cannot hold between the same two at the same time. */
export const oppositeOf = (relationship: string): string | null => OPPOSITES.get(relationship) ?? null;

const words = (list: string): readonly string[] => list.split(' ');

const ONE = new Set(
  words(
    'lives_in born_in born_on married_to engaged_to named aged named_after has_mother has_father died_in died_on ' +
      'has_nationality native_of has_birthday capital_of headquartered_in has_gender',
  ),
);

const MANY = new Set(
  words(
    'likes dislikes knows friend_of parent_of child_of sibling_of has_sister has_brother has_sibling has_child has_son has_daughter has_parent ' +
      'relative_of cousin_of grandparent_of grandchild_of aunt_of uncle_of has_aunt has_uncle has_cousin has_grandmother has_grandfather has_friend has_colleague ' +
      'has_neighbour has_pet owns speaks visited allergic_to plays founded made makes wrote read watched studied_at graduated_from colleague_of ' +
      'neighbour_of related_to interested_in wants wants_to_visit plans_to_visit attended met contains includes has_member uses needs',
  ),
);

const MUTUAL = new Set(
  words('married_to engaged_to friend_of sibling_of colleague_of neighbour_of cousin_of related_to dating partner_of'),
);

const OPPOSITES: ReadonlyMap<string, string> = new Map([
  ['likes', 'dislikes'],
  ['dislikes', 'likes'],
]);

/** Forms that begin with a word of tense, and are general as they are. */
const TENSED = new Set([...ONE, ...MANY].filter((name) => TENSE.test(name)));

/** What is said in other words: first the general form, then the others; ~ before one that names it from its other end. */
const SAYINGS = `
lives_in: live_in lives living_in lived_in resides_in reside_in moved_to relocated_to lives_at based_in located_in_city residence home home_city stays_in settled_in has_home_in
works_at: work_at worked_at worked_for works_for work_for working_at working_for employed_by employed_at works_in_company joined job_at has_job_at employer has_employer started_working_at ~employs ~employer_of ~has_employee
works_as: work_as working_as job profession occupation has_job has_profession has_occupation has_role position
works_in: work_in working_in
born_in: was_born_in birthplace place_of_birth from_birth_in
born_on: was_born_on birth_date date_of_birth birthday_on
native_of: comes_from from originally_from originates_from hails_from grew_up_in
married_to: spouse husband_of wife_of has_husband has_wife has_spouse spouse_of husband wife is_married_to got_married_to
engaged_to: fiance fiancee has_fiance has_fiancee
partner_of: has_partner partner
dating: has_boyfriend has_girlfriend boyfriend_of girlfriend_of in_a_relationship_with
friend_of: friend friends_with friend_with best_friend_of has_best_friend befriended has_friend
colleague_of: colleague coworker coworker_of has_coworker works_with has_colleague
neighbour_of: neighbor_of neighbour neighbor has_neighbor has_neighbour
has_sister: sister ~sister_of
has_brother: brother ~brother_of
sibling_of: sibling has_sibling siblings_with
has_mother: mother mom mum ~mother_of
has_father: father dad ~father_of
parent_of: ~has_parent ~parent ~child_of
has_daughter: daughter ~daughter_of
has_son: son ~son_of
has_child: child ~child_of_parent
has_cousin: cousin
has_aunt: aunt ~aunt_of
has_uncle: uncle ~uncle_of
has_grandmother: grandmother grandma ~grandmother_of
has_grandfather: grandfather grandpa ~grandfather_of
has_pet: pet owns_pet adopted has_dog has_cat keeps_pet ~pet_of ~owned_by_as_pet
owns: own possesses bought owner_of has_car has_bike drives_own ~owned_by ~belongs_to
likes: like loves love enjoys enjoy fond_of fan_of is_fan_of prefers adores favourite favorite has_favourite has_favorite
dislikes: dislike hates hate cannot_stand does_not_like detests averse_to
allergic_to: allergy has_allergy has_allergy_to
speaks: speak fluent_in knows_language
plays: play plays_instrument plays_sport
studies: study studying majors_in
studies_at: study_at studying_at attends_university enrolled_in enrolled_at student_at student_of_school attends_school
graduated_from: alumnus_of alumna_of graduate_of
visited: visit travelled_to traveled_to went_to been_to trip_to
wants_to_visit: plans_to_visit would_like_to_visit planning_to_visit
manages: manager_of boss_of supervises ~managed_by ~reports_to ~has_manager ~has_boss
makes: make produces manufactures builds ~made_by ~produced_by ~manufactured_by
founded: founder_of established ~founded_by
wrote: author_of written ~written_by ~authored_by
located_in: in located_at situated_in
part_of: belongs_to_group subsidiary_of ~has_part ~has_subsidiary
member_of: belongs_to_club ~has_member
knows: acquainted_with
met: met_with
named: called name has_name known_as
`;

const SAME: ReadonlyMap<string, Relationship> = new Map(
  SAYINGS.trim()
    .split('\n')
    .flatMap((line): [string, Relationship][] => {
      const [name = '', sayings = ''] = line.split(': ');
      const others = words(sayings).map((saying): [string, Relationship] => [
        saying.replace('~', ''),
        { name, inverse: saying.startsWith('~') },
      ]);
      return [[name, { name, inverse: false }], ...others];
    }),
);

/** Relationships of which one may take the place of another. */
const FAMILIES: readonly (readonly string[])[] = [words('married_to engaged_to dating partner_of')];

/** Whether something said with one of them may end what was said with the other. */
export const areRelated = (a: string, b: string): boolean =>
  a === b || FAMILIES.some((family) => family.includes(a) && family.includes(b));

/** The kind in any words a model uses for it. */
export function kindOf(words: string | null): EntityKind {
  const plain = (words ?? '').trim().toLowerCase().replace(/s$/u, '');
  return KINDS.get(plain) ?? 'thing';
}

/** Whether two kinds may be of one entity: what is of no clear kind may be anything. */
export const mayBeOneKind = (a: EntityKind, b: EntityKind): boolean => a === b || VAGUE.has(a) || VAGUE.has(b);

const VAGUE: ReadonlySet<EntityKind> = new Set<EntityKind>(['thing', 'concept']);

const OTHER_WORDS: Readonly<Record<EntityKind, string>> = {
  person: 'people human man woman boy girl user friend relative family individual character name',
  animal: 'pet dog cat bird fish horse species',
  organisation: 'organization company org business employer school university team band institution group club brand',
  place: 'location city town country region address state village district building restaurant area venue',
  product: 'device software app food drink vehicle car tool dish brand_name technology medicine',
  work: 'book film movie song album game series show painting artwork artwork_title',
  event: 'holiday trip meeting wedding conference festival appointment date time',
  activity: 'hobby sport job occupation profession role skill hobbie',
  concept: 'idea topic subject language field interest disease condition preference value',
  thing: 'object item other unknown misc',
};

const KINDS: ReadonlyMap<string, EntityKind> = new Map(
  ENTITY_KINDS.flatMap((kind): [string, EntityKind][] =>
    [kind, ...OTHER_WORDS[kind].split(' ')].map((word) => [word, kind]),
  ),
);
