import { dateTextOf, type Entity, type KeptRelation, type Millis } from '@slowwave/engine';

export type DrawnEntity = Pick<Entity, 'id' | 'name' | 'kind' | 'self' | 'aliases'>;
export type DrawnRelation = Pick<KeptRelation, 'source' | 'relationship' | 'destination' | 'validFrom' | 'invalidAt'>;

/** What is drawn: relations, and the entities at their ends. */
export interface Picture {
  readonly entities: readonly DrawnEntity[];
  readonly relations: readonly DrawnRelation[];
}

/** A drawn relation, from one entity to another by their indexes. */
export interface Arrow {
  readonly from: number;
  readonly to: number;
  readonly label: string;
  /** It is over: dashed. */
  readonly over: boolean;
}

/** The owner by their alias if there is one; any other entity by its first name. */
export const nameOf = ({ name, self, aliases: [alias] }: DrawnEntity): string => (self ? (alias ?? name) : name);

/** The arrows of a picture, in order. A relation with an end outside of the picture has none. */
export function arrowsOf({ entities, relations }: Picture): readonly Arrow[] {
  const placeOf = new Map(entities.map(({ id }, place) => [id, place]));
  return relations.flatMap((relation) => {
    const [from, to] = [placeOf.get(relation.source), placeOf.get(relation.destination)];
    if (from === undefined || to === undefined || from === to) return [];
    return [{ from, to, label: labelOf(relation), over: relation.invalidAt !== null }];
  });
}

/** "lives in", or with its time once it has ended: "lives in (2021-04-02 to 2024-01-15)". */
function labelOf({ relationship, validFrom, invalidAt }: DrawnRelation): string {
  const words = relationship.replaceAll('_', ' ');
  return invalidAt === null ? words : `${words} (${spanOf(validFrom, invalidAt)})`;
}

function spanOf(from: Millis, to: Millis): string {
  const [first, last] = [dateTextOf(from), dateTextOf(to)];
  return first === last ? first : `${first} to ${last}`;
}

/** A text on one line, shortened for a drawing. */
export function shortened(text: string, max: number): string {
  const letters = [...text.replace(/\s+/gu, ' ').trim()];
  return letters.length <= max ? letters.join('') : `${letters.slice(0, max - 1).join('')}…`;
}

/** The longest label, in characters: neither Graphviz nor Mermaid break lines themselves. */
const LABEL_MAX = 60;

/** A picture in the language of Graphviz. */
export function dotOf(picture: Picture): string {
  return [
    'digraph memory {',
    '  rankdir=LR;',
    '  node [shape=box, style=rounded];',
    ...picture.entities.map(dotNode),
    ...arrowsOf(picture).map(dotEdge),
    '}',
    '',
  ].join('\n');
}

const dotNode = (entity: DrawnEntity, place: number): string =>
  `  n${place} [label=${quoted(nameOf(entity))}, tooltip=${quoted(entity.kind)}${entity.self ? ', penwidth=2' : ''}];`;

const dotEdge = ({ from, to, label, over }: Arrow): string =>
  `  n${from} -> n${to} [label=${quoted(label)}${over ? ', style=dashed, color=gray, fontcolor=gray' : ''}];`;

/** A quoted text; a backslash would start an escape of Graphviz. */
const quoted = (text: string): string =>
  `"${shortened(text, LABEL_MAX).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

/** A picture as a flowchart in the language of Mermaid, which GitHub and many editors draw. */
export function mermaidOf(picture: Picture): string {
  return ['flowchart LR', ...picture.entities.map(mermaidNode), ...arrowsOf(picture).map(mermaidEdge), ''].join('\n');
}

const mermaidNode = (entity: DrawnEntity, place: number): string =>
  entity.self ? `  n${place}(["${escaped(nameOf(entity))}"])` : `  n${place}["${escaped(nameOf(entity))}"]`;

const mermaidEdge = ({ from, to, label, over }: Arrow): string =>
  `  n${from} ${over ? '-.->' : '-->'}|"${escaped(label)}"| n${to}`;

/** All but plain characters as numeric entities, so that quotes, brackets, Markdown and HTML have no effect. */
const escaped = (text: string): string =>
  shortened(text, LABEL_MAX).replace(/[^\p{L}\p{M}\p{N} .,()'…-]/gu, (mark) => `#${mark.codePointAt(0)};`);
