import { type Arrow, arrowsOf, type DrawnEntity, nameOf, type Picture, shortened } from './picture.ts';

/** Longest label, in characters. */
const LABEL_MAX = 60;

/** A picture as a flowchart in the language of Mermaid, which GitHub and many editors draw. */
export function mermaidOf(picture: Picture): string {
  return ['flowchart LR', ...picture.entities.map(node), ...arrowsOf(picture).map(edge), ''].join('\n');
}

const node = (entity: DrawnEntity, place: number): string =>
  entity.self ? `  n${place}(["${escaped(nameOf(entity))}"])` : `  n${place}["${escaped(nameOf(entity))}"]`;

const edge = ({ from, to, label, over }: Arrow): string =>
  `  n${from} ${over ? '-.->' : '-->'}|"${escaped(label)}"| n${to}`;

/** Everything that is not plainly a letter by its number: quotes, brackets, marks of Markdown and HTML say nothing then. */
const escaped = (text: string): string =>
  shortened(text, LABEL_MAX).replace(/[^\p{L}\p{M}\p{N} .,()'…-]/gu, (mark) => `#${mark.codePointAt(0)};`);
