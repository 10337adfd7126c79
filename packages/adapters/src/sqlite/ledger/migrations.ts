import { SCHEMA_1 } from './schema-1.ts';
import { SCHEMA_2 } from './schema-2.ts';
import { SCHEMA_3 } from './schema-3.ts';
import { SCHEMA_4 } from './schema-4.ts';
import { SCHEMA_5 } from './schema-5.ts';
import { SCHEMA_6 } from './schema-6.ts';
import { SCHEMA_7 } from './schema-7.ts';
import { SCHEMA_8 } from './schema-8.ts';
import { SCHEMA_9 } from './schema-9.ts';
import { SCHEMA_10 } from './schema-10.ts';
import { SCHEMA_11 } from './schema-11.ts';
import { SCHEMA_12 } from './schema-12.ts';
import { SCHEMA_13 } from './schema-13.ts';
import { SCHEMA_14 } from './schema-14.ts';
import { SCHEMA_15 } from './schema-15.ts';
import { SCHEMA_16 } from './schema-16.ts';
import { SCHEMA_17 } from './schema-17.ts';
import { SCHEMA_18 } from './schema-18.ts';
import { SCHEMA_19 } from './schema-19.ts';
import { SCHEMA_20 } from './schema-20.ts';
import { SCHEMA_21 } from './schema-21.ts';
import { SCHEMA_22 } from './schema-22.ts';
import { SCHEMA_23 } from './schema-23.ts';
import { SCHEMA_24 } from './schema-24.ts';
import { SCHEMA_25 } from './schema-25.ts';

/** All migrations in order: the first makes schema 1. Never edit one that was released; append another. */
export const MIGRATIONS: readonly string[] = [
  SCHEMA_1,
  SCHEMA_2,
  SCHEMA_3,
  SCHEMA_4,
  SCHEMA_5,
  SCHEMA_6,
  SCHEMA_7,
  SCHEMA_8,
  SCHEMA_9,
  SCHEMA_10,
  SCHEMA_11,
  SCHEMA_12,
  SCHEMA_13,
  SCHEMA_14,
  SCHEMA_15,
  SCHEMA_16,
  SCHEMA_17,
  SCHEMA_18,
  SCHEMA_19,
  SCHEMA_20,
  SCHEMA_21,
  SCHEMA_22,
  SCHEMA_23,
  SCHEMA_24,
  SCHEMA_25,
];

/** The newest schema. */
export const SCHEMA = MIGRATIONS.length;
