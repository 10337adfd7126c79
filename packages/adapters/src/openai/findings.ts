import type { ModelView } from '@slowwave/contracts';
import { isoOf, type Millis } from '@slowwave/engine';
import { ROOM_ADVICE } from '../misconfigured.ts';
import type { Manners } from './manners.ts';
import type { Profile } from './profile.ts';
import { type EmbeddingManners, FULL_EMBEDDING_MANNERS } from './vectors.ts';

type Findings = ModelView['findings'];

/** What is known of a model, for people. */
export function findingsIn({ takes, embeds, room, cut }: Profile): Findings {
  const parts: readonly (Findings | undefined)[] = [
    takes && refusedBy(takes.manners).flatMap((what) => found(takes, what)),
    embeds && refusedEmbedding(embeds.manners).flatMap((what) => found(embeds, what)),
    room && found(room, `refused a prompt of about ${room.refused} tokens`, ROOM_ADVICE),
    cut && found(cut, `read only ${cut.read} of ${cut.sent} tokens of a prompt, without saying so`, ROOM_ADVICE),
  ];
  return parts.flatMap((part) => part ?? []);
}

const found = ({ at }: { readonly at: Millis }, what: string, remedy: string | null = null): Findings => [
  { at: isoOf(at), what, remedy },
];

const refusedBy = ({ format, temperature, system, limit, stream, outputMax }: Manners): readonly string[] => [
  ...(format === 'json_schema' ? [] : [`does not accept json_schema, so it is asked for ${format}`]),
  ...(temperature ? [] : ['does not accept temperature, so it is asked without']),
  ...(system ? [] : ['does not accept the system role, so instructions are in the user message']),
  ...(limit === 'max_completion_tokens' ? [] : [`does not accept max_completion_tokens, so ${LIMITS[limit]}`]),
  ...(stream === 'none' ? ['does not stream answers, or does not count their tokens, so they are not streamed'] : []),
  ...(outputMax ? [`writes at most ${outputMax} tokens`] : []),
];

const LIMITS = { max_tokens: 'answers are limited by max_tokens', none: 'answers are not limited' } as const;

const refusedEmbedding = ({ dimensions, base64, texts, tooLong, longest }: EmbeddingManners): readonly string[] => [
  ...(dimensions ? [] : ['does not accept dimensions, so its vectors are as long as it makes them']),
  ...(base64 ? [] : ['does not accept base64, so vectors are sent as numbers']),
  ...(texts === FULL_EMBEDDING_MANNERS.texts ? [] : [`takes ${texts} texts in a request and refused more`]),
  ...(tooLong === FULL_EMBEDDING_MANNERS.tooLong
    ? []
    : [`refused a text of about ${tooLong} tokens, so of such texts the first ${longest} are embedded`]),
];
