import { BODY } from './body.ts';
import { FOOD } from './food.ts';
import type { Frame } from './frame.ts';
import { HOME } from './home.ts';
import { LEISURE } from './leisure.ts';
import { PERSONS } from './people.ts';
import { PLANS } from './plans.ts';
import { THINGS } from './things.ts';
import { WORK } from './work.ts';

export const FRAMES: readonly Frame[] = [
  ...WORK,
  ...HOME,
  ...BODY,
  ...FOOD,
  ...PERSONS,
  ...LEISURE,
  ...PLANS,
  ...THINGS,
];
