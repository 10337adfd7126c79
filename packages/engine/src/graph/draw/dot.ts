import { type Arrow, arrowsOf, type DrawnEntity, nameOf, type Picture, shortened } from './picture.ts';

/** Longest label, in characters: Graphviz does not break lines by itself. */
const LABEL_MAX = 60;

/** A picture in the language of Graphviz. */
export function dotOf(picture: Picture): string {
  return [
    'digraph memory {',
    '  rankdir=LR;',
    '  node [shape=box, style=rounded];',
    ...picture.entities.map(node),
    ...arrowsOf(picture).map(edge),
    '}',
    '',
  ].join('\n');
}

const node = (entity: DrawnEntity, place: number): string =>
  `  n${place} [label=${quoted(nameOf(entity))}, tooltip=${quoted(entity.kind)}${entity.self ? ', penwidth=2' : ''}];`;

const edge = ({ from, to, label, over }: Arrow): string =>
  `  n${from} -> n${to} [label=${quoted(label)}${over ? ', style=dashed, color=gray, fontcolor=gray' : ''}];`;

/** A quoted text; a backslash would begin an escape of Graphviz's own. */
const quoted = (text: string): string =>
  `"${shortened(text, LABEL_MAX).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
