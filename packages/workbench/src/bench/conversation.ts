import { seededRandom } from '../chaos/random.ts';
import type { Said } from './mem0/mem0.ts';

const PEOPLE = ['my sister', 'Tom', 'our neighbour', 'Maria from work', 'my son', 'an old friend'];
const DEEDS = ['went to', 'is back from', 'is looking for a flat near', 'wants to spend May in', 'took the train to'];
const PLACES = ['Lisbon', 'the coast', 'Vienna', 'the mountains', 'Leeds', 'the new museum', 'Kyoto'];
const MORE = [
  'and it rained all day',
  'which cost less than I thought',
  'and I liked it a lot',
  'because of the bike race',
];
const REPLIES = [
  'That sounds good. Shall I look for something for next time?',
  'I see. Do you want me to keep that in mind for the plan?',
  'Nice. There are two trains a day, and the morning one is cheaper.',
  'Understood. I would take a coat along at that time of the year.',
];

/** What a user says and what the assistant answers, turn by turn; the same at every run. */
export function conversation(user: number, turns: number): readonly (readonly [Said, Said])[] {
  const random = seededRandom(`conversation of ${user}`);
  return Array.from({ length: turns }, (_, turn) => {
    const what = `${random.pick(PEOPLE)} ${random.pick(DEEDS)} ${random.pick(PLACES)} ${random.pick(MORE)}`;
    return [
      { role: 'user', content: `Number ${turn} of my news: ${what}.` },
      { role: 'assistant', content: random.pick(REPLIES) },
    ];
  });
}
