import type { Tongue } from './tongue.ts';

/** {s} names who is asked about, {v} is what is told. */
export const ENGLISH: Tongue = {
  speakers: ['Caro', 'Milan'],
  relatives: ['{s}’s sister', 'the neighbour of {s}'],
  smallTalk: [
    'Good to hear from you! How was your week?',
    'Busy as always, but I cannot complain.',
    'That sounds wonderful, {o}. I am happy for you.',
    'Thanks, {o}, that means a lot to me.',
    'Wow, {o}! How did that feel?',
    'I had a quiet evening with a book and some soup.',
    'The weather has been awful here, rain all week.',
    'Let us talk again soon, {o}. Take care!',
    'I really needed that break, to be honest.',
    'You always know how to cheer me up.',
  ],
  topics: [
    {
      values: ['a tortoise called Pebble', 'two parrots', 'a greyhound', 'an old tomcat', 'three guinea pigs'],
      asks: ['Do you keep any animals, {o}?', 'So which pet did you end up with?'],
      tells: ['We took home {v} from the shelter.', 'It is {v} now, and the flat smells accordingly.'],
      facts: ['{s} has {v} as a pet.', '{s} took home {v} from the animal shelter.'],
      questions: ['Which pet does {s} have?', 'What animal did {s} take home?'],
    },
    {
      values: ['the cello', 'the accordion', 'drums', 'the oboe', 'a twelve-string guitar'],
      asks: ['Are you still making music, {o}?', 'What instrument did you pick up?'],
      tells: ['I began with {v} in spring and practise every night.', 'Mostly {v}, badly, but with joy.'],
      facts: ['{s} plays {v} every night.', 'The instrument {s} began with is {v}.'],
      questions: ['What instrument does {s} play?', 'Which instrument did {s} begin with?'],
    },
    {
      values: ['Lisbon', 'the Faroe Islands', 'Kyoto', 'Patagonia', 'the Dolomites'],
      asks: ['Where did you go on holiday, {o}?', 'Any travel plans for the holidays?'],
      tells: ['We flew to {v} and hardly slept.', 'In the end it was {v}, ten days last month.'],
      facts: ['{s} travelled to {v} for the holidays.', '{s} flew to {v} on holiday last month.'],
      questions: ['Where did {s} travel for the holidays?', 'When did {s} fly to {v}?'],
    },
    {
      values: ['as a welder', 'as a midwife', 'in a bakery', 'at the harbour office', 'as a sound engineer'],
      asks: ['How is the new job, {o}?', 'What are you working as these days?'],
      tells: ['I started {v} on Monday, and my back knows it.', 'They took me on {v}, can you believe it?'],
      facts: ['{s} started a new job {v}.', '{s} works {v}.'],
      questions: ['What does {s} do for work?', 'What job did {s} start?'],
    },
    {
      values: ['shellfish', 'hazelnuts', 'penicillin', 'cats', 'birch pollen'],
      asks: ['Is there anything you must not eat or touch, {o}?', 'What did the doctor say about the rash?'],
      tells: ['It turned out that {v} make me swell up.', 'No more {v} for me, doctor’s orders.'],
      facts: ['{s} is allergic to {v}.', '{s} has to avoid {v} because of an allergy.'],
      questions: ['What is {s} allergic to?', 'What did the doctor tell {s} to avoid?'],
    },
    {
      values: ['rock climbing', 'open-water swimming', 'fencing', 'rowing', 'bouldering with ropes'],
      asks: ['Do you still do sports, {o}?', 'What is this training you keep talking about?'],
      tells: ['I took up {v}, and won nothing but bruises.', 'It is {v}, twice a week since January.'],
      facts: ['{s} took up {v} as a sport.', 'The sport {s} trains twice a week is {v}.'],
      questions: ['What sport did {s} take up?', 'What does {s} train twice a week?'],
    },
    {
      values: ['lamb stew', 'dumplings', 'a lemon tart', 'smoked trout', 'mushroom risotto'],
      asks: ['What did you cook for the party, {o}?', 'What was for dinner in the end?'],
      tells: ['I made {v} and nobody left a crumb.', 'There was {v}, from my grandmother’s notes.'],
      facts: ['{s} cooked {v} for the party.', 'For dinner {s} made {v}.'],
      questions: ['What dish did {s} cook for the party?', 'What did {s} make for dinner?'],
    },
    {
      values: ['a red cargo bike', 'a kayak', 'a sewing machine', 'an old typewriter', 'a telescope'],
      asks: ['What did you spend your bonus on, {o}?', 'So did you buy yourself something nice?'],
      tells: ['I bought {v} from a neighbour yesterday.', 'Do not laugh: {v}. It fills half the hall.'],
      facts: ['{s} bought {v} with the bonus.', 'With the bonus {s} got {v} from a neighbour.'],
      questions: ['What did {s} buy with the bonus?', 'When did {s} buy {v}?'],
    },
  ],
};
