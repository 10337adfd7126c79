import type { Frame } from '../frames/frame.ts';
import { ANIMALS } from './animals.ts';
import { BODY } from './body.ts';
import { DEVICES } from './devices.ts';
import { FAMILY } from './family.ts';
import { HOBBIES } from './hobbies.ts';
import { MONEY } from './money.ts';
import { AHEAD } from './plans.ts';
import { TABLE } from './table.ts';
import { TRAVEL } from './travel.ts';
import { WORK } from './work.ts';

export const SECOND_FRAMES: readonly Frame[] = [
  ...WORK,
  ...BODY,
  ...FAMILY,
  ...TRAVEL,
  ...HOBBIES,
  ...MONEY,
  ...ANIMALS,
  ...TABLE,
  ...AHEAD,
  ...DEVICES,
];
