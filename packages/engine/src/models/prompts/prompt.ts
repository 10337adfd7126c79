import type { JsonObject } from '../../words.ts';
import { asData } from './as-data.ts';

/** One kind of question to a chat model. The text is fixed, so that servers can cache it; what varies is in the input. */
export interface Prompt {
  /** The kind of call, and the name of the answer's schema. */
  readonly name: string;
  /** Raised with every change of text or schema. */
  readonly version: string;
  readonly system: string;
  /** Of the answer: every key required, nullable where it may be missing. */
  readonly schema: JsonObject;
}

/** A schema of an object all of whose keys are required, as structured output wants it. */
export const objectSchema = (properties: JsonObject): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

export const NULLABLE_TEXT: JsonObject = { type: ['string', 'null'] };

/** The user message: a fixed sentence, then the input as one JSON object on its own line. */
export const userMessage = (ask: string, input: JsonObject): string => `${ask}\n${asData(input)}`;
