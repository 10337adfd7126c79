import type { Frame } from '../frames/frame.ts';
import { CLOCK, FIRST_NAMES } from './values.ts';

const CALLED = ['Bramble', 'Ziggy', 'Miso', 'Captain', 'Pepper', 'Lulu', 'Ghost'];

export const ANIMALS: readonly Frame[] = [
  {
    name: 'feeding',
    says: ['feeds {pet} at {hour}', 'puts out food for {pet} at {hour}'],
    slots: { pet: CALLED, hour: CLOCK },
    same: ['When {does} feed {pet}?', 'At what time {does} put out food for {pet}?'],
    other: ['When do {whose} pets get a meal?', 'When is it dinner for {whose} animals?'],
    many: true,
    changes: true,
  },
  {
    name: 'pet fear',
    says: ["'s {animal} is scared of {thing}", 'has a {animal} that is scared of {thing}'],
    slots: {
      animal: ['spaniel', 'mare', 'rabbit', 'parrot', 'corgi'],
      thing: ['hoovers', 'balloons', 'umbrellas', 'fireworks', 'mirrors'],
    },
    same: ['What is {whose} {animal} scared of?'],
    other: ['What should be kept away from {whose} pet?', 'What makes {whose} four-legged friend nervous?'],
    others: true,
  },
  {
    name: 'groomer',
    says: ['takes {pet} to {person} for a trim', 'has {pet} trimmed by {person}'],
    slots: { pet: CALLED, person: FIRST_NAMES },
    same: ['Who trims {pet}?', 'To whom {does} take {pet} for a trim?'],
    other: ['Which groomer {does} trust?', 'Who cuts the fur of {whose} dog?'],
    changes: true,
  },
  {
    name: 'pet sitter',
    says: ['leaves {pet} with {person} when away', 'asks {person} to mind {pet} when away'],
    slots: { pet: CALLED, person: FIRST_NAMES },
    same: ['With whom {does} leave {pet} when away?', 'Whom {does} ask to mind {pet}?'],
    other: ['Who is {whose} pet sitter?', 'Who cares for the cat during {whose} holidays?'],
    others: true,
    changes: true,
  },
  {
    name: 'trick',
    says: ['taught {pet} to {trick}', 'got {pet} to {trick}'],
    slots: { pet: CALLED, trick: ['roll over', 'fetch slippers', 'ring a bell', 'high-five', 'open doors'] },
    same: ['What {did} teach {pet}?', 'What {did} get {pet} to do?'],
    other: ['Which commands does {whose} dog know?', 'How clever is {whose} pet?'],
    many: true,
    others: true,
  },
  {
    name: 'aquarium',
    says: ['keeps {fish} in an aquarium', 'bred {fish} in an aquarium'],
    slots: { fish: ['guppies', 'discus', 'cherry shrimp', 'axolotls', 'neon tetras'] },
    same: ['What {does} keep in an aquarium?', 'What {did} breed in an aquarium?'],
    other: ['What swims in {whose} tank?', 'Which fish {does} own?'],
    many: true,
    others: true,
    changes: true,
  },
  {
    name: 'bees',
    says: ['has {count} beehives on {place}', 'looks after {count} beehives on {place}'],
    slots: { count: ['two', 'three', 'five', 'eight'], place: ['the roof', 'a meadow', 'the allotment'] },
    same: ['How many beehives {does} have?', 'Where are {whose} beehives?'],
    other: ['Where does {whose} honey come from?', 'Which insects {does} breed?'],
    others: true,
    changes: true,
  },
  {
    name: 'litter',
    says: ['buys {brand} for the kittens', 'feeds the kittens {brand}'],
    slots: { brand: ['Purrfect', 'Royal Tuna', 'Whisker Mix', 'Felina Bio'] },
    same: ['What {does} buy for the kittens?', 'What {does} feed the kittens?'],
    other: ['Which cat food {does} use?', 'What do {whose} young cats eat?'],
    changes: true,
  },
];
