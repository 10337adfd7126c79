import type { GroundedFact } from './grounded-talk.ts';

/** What models make up: the example of a prompt, words of a schema, another name, number, date or thing. */
export const INVENTED: readonly (Pick<GroundedFact, 'text' | 'quote'> & {
  readonly said: string;
  readonly why: string;
})[] = [
  {
    why: 'the example of a prompt',
    said: 'I am allergic to peanuts',
    text: 'User lives in Oslo',
    quote: 'since last week I live in Oslo',
  },
  { why: 'the example of a prompt', said: 'My dog ate a shoe', text: "User's name is Ana", quote: "I'm Ana" },
  {
    why: 'an example without a name',
    said: 'My dog ate a shoe',
    text: 'User has a parrot',
    quote: 'our parrot learnt to whistle',
  },
  { why: 'an example without a quote', said: 'My dog ate a shoe', text: 'User has a parrot', quote: null },
  { why: 'a word of the schema', said: 'My dog ate a shoe', text: 'array', quote: null },
  { why: 'a placeholder', said: 'My dog ate a shoe', text: 'string', quote: 'string' },
  { why: 'a category', said: 'My dog ate a shoe', text: 'health', quote: null },
  {
    why: 'another name beside a true quote',
    said: 'We moved to Porto with two kids',
    text: 'User lives in Bergen',
    quote: 'We moved to Porto with two kids',
  },
  {
    why: 'another name at the beginning',
    said: 'I like figs with cheese',
    text: 'Ana likes figs with cheese',
    quote: 'I like figs with cheese',
  },
  {
    why: 'another number',
    said: 'I run 5 kilometres every morning',
    text: 'User runs 50 km every morning',
    quote: 'I run 5 kilometres every morning',
  },
  {
    why: 'another number in words',
    said: 'I have two cats and a garden',
    text: 'User has three cats',
    quote: 'I have two cats and a garden',
  },
  {
    why: 'another date',
    said: 'My exam is on 5 June 2026 in Porto',
    text: "User's exam is on 5 August 2027",
    quote: 'My exam is on 5 June 2026',
  },
  {
    why: 'another year',
    said: 'We met in 2011 at the sea side',
    text: 'User met them in 1997',
    quote: 'We met in 2011 at the sea',
  },
  { why: 'another thing, and a quote of it', said: 'I like peanuts', text: 'User likes tea', quote: 'I like tea' },
  {
    why: 'another thing beside a short quote',
    said: 'I have a dog',
    text: 'User owns a sailing boat',
    quote: 'I have',
  },
  { why: 'an injected claim', said: 'What is the weather like?', text: 'User is the admin', quote: "I'm the admin" },
  {
    why: 'another place in German',
    said: 'Ich wohne jetzt in Leipzig mit Hund',
    text: 'Nutzer wohnt in Bergen',
    quote: 'Ich wohne jetzt in Leipzig mit Hund',
  },
  {
    why: 'another place in Spanish',
    said: 'Vivo en Quito con mi hermana',
    text: 'El usuario vive en Lima',
    quote: 'Vivo en Quito con mi hermana',
  },
  {
    why: 'another place in French',
    said: "J'habite à Porto avec ma sœur",
    text: "L'utilisateur habite à Lyon",
    quote: "J'habite à Porto avec ma sœur",
  },
  {
    why: 'another place in Chinese',
    said: '我上个月搬到上海住了',
    text: '用户住在奥斯陆',
    quote: '我上个月搬到上海住了',
  },
  { why: 'another food in Chinese', said: '我特别喜欢吃豆腐', text: '用户喜欢寿司', quote: '我喜欢吃寿司' },
  {
    why: 'a loop beside a true quote',
    said: 'I would never eat snails, not even in France.',
    text: "User's diet is not a diet, it's a diet of eating and eating.",
    quote: 'I would never eat snails, not even in France.',
  },
  {
    why: 'one word of a true quote',
    said: 'I would never eat snails, not even in France.',
    text: 'User enjoys eating at restaurants with friends',
    quote: 'I would never eat snails, not even in France.',
  },
  {
    why: 'one word of a true quote, and a profession',
    said: 'I would never eat snails, not even in France.',
    text: 'User is a chef who loves eating out',
    quote: 'I would never eat snails, not even in France.',
  },
  {
    why: 'nothing of a true quote',
    said: 'I would never eat snails, not even in France.',
    text: "User's hobby is reading novels in the garden",
    quote: 'I would never eat snails, not even in France.',
  },
  {
    why: 'the words of how facts are written',
    said: 'I would never eat snails, not even in France.',
    text: "User's favorite thing is to live and work",
    quote: 'I would never eat snails, not even in France.',
  },
  {
    why: 'one word of another true quote',
    said: 'My daughter starts school on Monday.',
    text: 'User teaches art at a school for adults',
    quote: 'My daughter starts school on Monday.',
  },
  {
    why: 'nothing of a long quote',
    said: 'I keep losing my keys whenever I leave the house in a hurry',
    text: "User's goal is to become a better swimmer and run faster",
    quote: 'I keep losing my keys whenever I leave the house in a hurry',
  },
  {
    why: 'one word of a true quote in German',
    said: 'Ich wohne seit letztem Jahr mit zwei Katzen am Fluss.',
    text: 'Nutzer sammelt seit Jahren alte Münzen und Briefmarken',
    quote: 'Ich wohne seit letztem Jahr mit zwei Katzen am Fluss.',
  },
  {
    why: 'one word of a true quote in Spanish',
    said: 'Trabajo en una panadería cerca del puerto.',
    text: 'El usuario trabaja de noche en una fábrica de zapatos',
    quote: 'Trabajo en una panadería cerca del puerto.',
  },
  {
    why: 'one word of a true quote in French',
    said: 'Je suis végétarienne depuis dix ans.',
    text: "L'utilisatrice joue du piano depuis dix ans",
    quote: 'Je suis végétarienne depuis dix ans.',
  },
  {
    why: 'one word of a true quote in Chinese',
    said: '我在上海工作，周末喜欢爬山。',
    text: '用户周末喜欢看电影和读小说',
    quote: '我在上海工作，周末喜欢爬山。',
  },
  {
    why: 'another language, and nothing of the quote',
    said: 'Trabajo en una panadería de Sevilla.',
    text: "User's job is a job of a master",
    quote: 'Trabajo en una panadería de Sevilla.',
  },
  {
    why: 'a loop of few words beside a true quote',
    said: 'I would never eat snails, not even in France.',
    text: 'User talks about a diet, that is a diet of eating and eating',
    quote: 'I would never eat snails, not even in France.',
  },
  {
    why: 'what nobody said of a thing that was named',
    said: 'My landlord keeps a parrot in the hallway.',
    text: "User's landlord is not allowed.",
    quote: 'My landlord keeps a parrot in the hallway.',
  },
  {
    why: 'what nobody said of a thing, without a true quote',
    said: 'My landlord keeps a parrot in the hallway.',
    text: "User's parrots are forbidden",
    quote: 'parrots are forbidden',
  },
];
