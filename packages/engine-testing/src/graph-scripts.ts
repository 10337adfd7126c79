import type { JsonObject } from '@slowwave/engine';
import type { Script } from './fake-models.ts';
import type { GraphTurn } from './graph-talk.ts';

interface ShownMessage {
  readonly id: string;
  readonly content: string;
}

/** A model that finds in each message what was written down for it. */
export const graphScript =
  (talk: readonly GraphTurn[], kinds: Readonly<Record<string, string>> = {}): Script =>
  (input) => {
    const stated = (input.messages as unknown as ShownMessage[]).flatMap(({ id, content }) =>
      (talk.find(({ says }) => says === content)?.statements ?? []).map((statement) =>
        relationOf(statement, { id, content }),
      ),
    );
    const isName = ({ relationship }: JsonObject): boolean => relationship === 'named';
    const names = new Set(
      stated.filter((one) => !isName(one)).flatMap(({ source, destination }) => [String(source), String(destination)]),
    );
    const entities = [...names].map((name) => ({
      name,
      kind: kinds[name] ?? 'thing',
      known: null,
      aliases: [] as string[],
    }));
    const aliases = stated.filter(isName).map(({ destination }) => String(destination));
    return {
      entities: [
        ...entities,
        ...(aliases.length === 0 ? [] : [{ name: 'user', kind: 'person', known: null, aliases }]),
      ],
      relations: stated.filter((one) => !isName(one)),
    };
  };

const STATEMENT =
  /^(?<how>[-!] )?(?<source>.+?) \| (?<relationship>.+?) \| (?<destination>.+?)(?: @(?<from>\S+))?(?: \.\.(?<until>\S+))?$/u;

/** "- user | lives_in | Lisbon ..2024-02-23" as a model writes it. */
function relationOf(statement: string, { id, content }: ShownMessage): JsonObject {
  const {
    how,
    source = '',
    relationship = '',
    destination = '',
    from,
    until,
  } = STATEMENT.exec(statement)?.groups ?? {};
  const said = how === '- ' ? 'ended' : how === '! ' ? 'denied' : 'holds';
  return {
    source,
    relationship,
    destination,
    said,
    from: from ?? null,
    until: until ?? null,
    single: false,
    source_ids: [id],
    quote: content,
  };
}

interface ShownRelation {
  readonly id: string;
  readonly source: string;
  readonly relationship: string;
  readonly destination: string;
  readonly said_at: string;
  readonly said?: string;
}
interface ShownPair {
  readonly id: string;
  readonly one: { readonly name: string };
  readonly other: { readonly name: string };
}

/** A model that lets the last said of these relationships hold, and knows which names are of one. */
export const graphDecisions =
  ({
    one,
    same,
    untold = false,
  }: {
    readonly one: readonly string[];
    readonly same: readonly (readonly [string, string])[];
    readonly untold?: boolean;
  }): Script =>
  (input) => {
    const known = input.known as unknown as ShownRelation[];
    const ends = (input.new as unknown as ShownRelation[]).flatMap((fresh) =>
      known
        .filter((other) =>
          fresh.said === 'ended' ? fresh.destination === other.destination : one.includes(other.relationship),
        )
        .map((other) => ({ relation: other.id, by: fresh.id, reason: 'the last said holds' })),
    );
    const shown = untold ? [] : (input.pairs as unknown as ShownPair[]);
    const pairs = shown.map((pair) => ({
      pair: pair.id,
      same: same.some((names) => names.includes(pair.one.name) && names.includes(pair.other.name)),
      reason: 'as was said',
    }));
    return { ends, pairs };
  };
