import { type Api, each } from '../api.ts';
import { settled } from '../evaluate/course.ts';

/** What is remembered word for word, and asked for in other words; null: only there to be mistaken for it. */
const FACTS: readonly (readonly [fact: string, question: string | null])[] = [
  ['User is allergic to peanuts', 'Which snacks could make them ill?'],
  ['User works as a nurse in a hospital in Leeds', 'What do they do for a living?'],
  ['User plays the cello in an amateur orchestra', 'Do they make music?'],
  ["User's dog Biscuit is afraid of thunder", 'How does the pet cope with storms?'],
  ['User is saving up for a house', 'What large purchase is planned?'],
  ['User cycles to the office every day', 'How do they commute?'],
  ["User's sister Miriam is getting married in June", 'Is there a wedding in the family?'],
  ['User gave up smoking two years ago', 'Have they quit a bad habit?'],
  ['User is learning Portuguese', 'Which foreign tongue are they studying?'],
  ['User broke an ankle while skiing', 'Were they ever injured?'],
  ['User reads crime novels before going to sleep', 'Which books do they enjoy at bedtime?'],
  ['User does not eat meat', 'Are they a vegetarian?'],
  ["User's car is a red Volvo from 1998", 'What vehicle do they drive?'],
  ['User is afraid of flying', 'Why might they prefer the train to a plane?'],
  ['User has twin daughters in primary school', 'Do they have any children?'],
  ['User grew up on a farm near Galway', 'Where did they spend their childhood?'],
  ['User drinks three espressos each morning', 'How much caffeine do they have?'],
  ['User cannot sleep when it is hot', 'What keeps them awake at night in summer?'],
  ['User volunteers at an animal shelter on Saturdays', 'How do they help others at the weekend?'],
  ['User owes the bank 12,000 pounds', 'Are they in debt?'],
  ['User grows tomatoes on the balcony', null],
  ["User's laptop has a broken screen", null],
  ['User supports a football club from Porto', null],
  ['User is five feet tall', null],
  ['User paints watercolours of birds', null],
  ['User was born in March', null],
  ["User's favourite colour is green", null],
  ['User wears glasses for reading', null],
  ['User has never been to Asia', null],
  ['User studied chemistry in Cork', null],
  ["User's landlord is called Mr Finch", null],
  ['User collects old maps', null],
];

const FIRST = 5;
const AT_LEAST = 0.9;

export interface Reworded {
  readonly asked: number;
  /** The questions whose fact is not among the first five. */
  readonly missed: readonly string[];
}

/** Remembers the facts and asks for them in other words. */
export async function askInOtherWords(api: Api, deadline: number): Promise<Reworded> {
  const user = { user_id: 'reworded' };
  const messages = FACTS.map(([content]) => ({ role: 'user', content }));
  const { batch_id: id } = await api.post<{ batch_id: string }>('/v1/batches', {
    ...user,
    flush: true,
    mode: 'verbatim',
    messages,
  });
  await settled({ api }, { id, deadline });
  const asked = FACTS.flatMap(([fact, query]) => (query === null ? [] : [{ fact, query }]));
  const missed = await each(asked, async ({ fact, query }) => {
    const search = { ...user, query, top_k: FIRST, cut: 'none' };
    const { results } = await api.post<{ results: { memory: string }[] }>('/v1/search', search);
    return results.some(({ memory }) => memory === fact) ? [] : [query];
  });
  return { asked: asked.length, missed: missed.flat() };
}

/** What speaks against it, where too few were found. */
export const failuresOf = ({ asked, missed }: Reworded): readonly string[] =>
  asked - missed.length >= asked * AT_LEAST
    ? []
    : [`of ${asked} questions in other words ${missed.length} do not find their fact: ${missed.join(' ')}`];
