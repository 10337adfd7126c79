import type { ModelView } from '@slowwave/contracts';
import { isoOf, type Millis } from '@slowwave/engine';
import { ROOM_ADVICE } from '../misconfigured.ts';
import type { Manners } from './manners.ts';
import { placeOf } from './message.ts';
import type { Profile } from './profile.ts';
import { type EmbeddingManners, FULL_EMBEDDING_MANNERS } from './vectors.ts';

type Findings = ModelView['findings'];
type Property = Findings[number]['property'];
/** What is known of one property; null: nothing that would have to be said. */
type Known = readonly [property: Property, what: string | null, remedy?: string];

/** What is known of a model, for people. */
export function findingsIn({ takes, embeds, thinks, room, cut }: Profile): Findings {
  return [
    ...found(takes, ({ manners }) => refusedBy(manners)),
    ...found(thinks, ({ place }) => [['thoughts', `thinks before it answers, ${placeOf(place)}`]]),
    ...found(embeds, ({ manners }) => refusedEmbedding(manners)),
    ...found(room, ({ refused }) => [['window', `refused a prompt of about ${refused} tokens`, ROOM_ADVICE]]),
    ...found(cut, ({ sent, read }) => [
      ['window', `read only ${read} of ${sent} tokens of a prompt, without saying so`, ROOM_ADVICE],
    ]),
  ];
}

function found<P extends { readonly at: Millis }>(part: P | undefined, known: (part: P) => readonly Known[]): Findings {
  if (part === undefined) return [];
  return known(part).flatMap(([property, what, remedy = null]) =>
    what === null ? [] : [{ property, at: isoOf(part.at), what, remedy }],
  );
}

const refusedBy = ({ format, temperature, system, limit, stream, outputMax }: Manners): readonly Known[] => [
  ['answer_form', format === 'json_schema' ? null : `does not accept json_schema, so ${format} is used`],
  ['temperature', temperature ? null : 'does not accept temperature, so it is not sent'],
  ['system_role', system ? null : 'does not accept the system role, so instructions are in the user message'],
  [
    'output_limit',
    limit === 'max_completion_tokens' ? null : `does not accept max_completion_tokens, so ${LIMITS[limit]}`,
  ],
  ['output_limit', outputMax ? `writes at most ${outputMax} tokens` : null],
  [
    'streaming',
    stream === 'none' ? 'does not stream answers, or does not count their tokens, so they are not streamed' : null,
  ],
];

const LIMITS = { max_tokens: 'answers are limited by max_tokens', none: 'answers are not limited' } as const;

const refusedEmbedding = ({ dimensions, base64, texts, tooLong, longest }: EmbeddingManners): readonly Known[] => [
  [
    'dimensions',
    dimensions ? null : 'does not accept dimensions, so its vectors have the length that the model gives them',
  ],
  ['base64', base64 ? null : 'does not accept base64, so vectors are sent as numbers'],
  [
    'texts_at_once',
    texts === FULL_EMBEDDING_MANNERS.texts ? null : `takes ${texts} texts in a request and refused more`,
  ],
  [
    'text_length',
    tooLong === FULL_EMBEDDING_MANNERS.tooLong
      ? null
      : `refused a text of about ${tooLong} tokens, so only the first ${longest} of such texts are embedded`,
  ],
];
