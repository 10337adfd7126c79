import type { SequenceRow } from './table.ts';

/** Lives that change: updates, corrections, endings, denials, wishes to forget, plans. Texts are patterns found in a memory. */
export const SEQUENCES: readonly SequenceRow[] = [
  {
    posts: ['I work at Philips as a data analyst.', 'I left Philips last month.'],
    holds: [],
    not: ['^User works at Philips'],
  },
  {
    posts: ['I work at Ericsson.', "I've got a new job at Spotify!"],
    holds: ['^User works at Spotify'],
    not: ['works at Ericsson'],
  },
  {
    posts: ['We have a dog named Nala.', 'Nala died yesterday, I am heartbroken.'],
    holds: [],
    not: ['^User has a dog named Nala$'],
  },
  { posts: ["I'm vegetarian.", 'I eat meat again since January.'], holds: [], not: ['^User is (?:a )?vegetarian'] },
  {
    posts: ['My girlfriend is called Leonie.', 'Leonie and I broke up.'],
    holds: [],
    not: ["^User's girlfriend is named Leonie$"],
  },
  { posts: ['I have a red Vespa.', 'I sold my Vespa.'], holds: [], not: ['^User has a red Vespa'] },
  { posts: ['I play tennis every Tuesday.', "I don't play tennis anymore."], holds: [], not: ['^User plays tennis'] },
  { posts: ["I'm learning Italian.", 'I gave up Italian.'], holds: [], not: ['^User is learning Italian'] },
  {
    posts: ['My dentist appointment is on Thursday.', 'My dentist appointment was moved to Monday.'],
    holds: ['dentist appointment.*9 March 2026'],
    not: ['dentist appointment.*5 March 2026'],
  },
  { posts: ['I live in Ghent.', 'Sorry, I meant Bruges, not Ghent.'], holds: ['Bruges'], not: ['lives in Ghent'] },
  { posts: ['I live in Tartu.', 'Correction: I live in Tallinn.'], holds: ['^User lives in Tallinn'], not: ['Tartu'] },
  { posts: ["I'm 29 years old.", 'Today is my birthday, I turned 30!'], holds: ['^User is 30 years old'], not: ['29'] },
  {
    posts: ["I'm allergic to penicillin.", 'Turns out I am not allergic to penicillin after all.'],
    holds: [],
    not: ['^User is allergic to penicillin'],
  },
  { posts: ['I smoke.', 'My son is seven.', 'Please forget that I smoke.'], holds: [], not: ['smoke'] },
  { posts: ['I live in Split and I love olives.', 'Forget where I live.'], holds: ['olives'], not: ['Split'] },
  {
    posts: ["I'm single.", 'I got engaged to Pablo last weekend.'],
    holds: ['^User is engaged to Pablo'],
    not: ['single'],
  },
  {
    posts: ["I'm going to move to Oslo in May.", 'The move to Oslo is off, I am staying in Kiel.'],
    holds: [],
    not: ['^User lives in Oslo'],
  },
  { posts: ['I have two kids.', 'Our third child was born on Monday.'], holds: [], not: ['^User has two kids$'] },
  { posts: ['My favourite colour is green.', 'My favourite color is now orange.'], holds: ['orange'], not: ['green'] },
  { posts: ['I drink coffee with milk.', 'I stopped drinking coffee.'], holds: [], not: ['^User drinks coffee'] },
  { posts: ['我在腾讯上班。', '我跳槽到美团了。'], holds: ['在美团工作'], not: ['^在腾讯工作'] },
  { posts: ['我住在杭州。', '上个月我搬到了苏州。'], holds: ['住在苏州'], not: ['杭州'] },
  { posts: ['我养了一只狗叫豆豆。', '豆豆去世了。'], holds: [], not: ['^养了一只狗叫豆豆$'] },
  { posts: ['我对虾过敏。', '我喜欢下棋。', '请忘记我对虾过敏。'], holds: ['下棋'], not: ['虾'] },
];
