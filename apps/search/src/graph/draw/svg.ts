import type { EntityKind } from '@slowwave/engine';
import { type Box, layout, type Placed, type Tie } from './layout.ts';
import { type Arrow, arrowsOf, type DrawnEntity, nameOf, type Picture, shortened } from './picture.ts';

/** Sizes in pixels. */
const NAME = { size: 13, padding: 12, height: 30, max: 28 } as const;
const LABEL = { size: 11, padding: 4, height: 16, max: 44 } as const;
const MARGIN = 24;
const FONT = 'ui-sans-serif, system-ui, sans-serif';
/** The width of a letter relative to its size: of East Asian letters, and the average of all others. */
const WIDE = 1;
const NARROW = 0.58;

const FILLS: Readonly<Record<EntityKind, string>> = {
  person: '#dbeafe',
  animal: '#fde2cf',
  organisation: '#e9dcf7',
  place: '#d7f0dc',
  product: '#fdf0c4',
  work: '#f9dbe6',
  event: '#d5eef0',
  activity: '#e6edcf',
  concept: '#e8e6e1',
  thing: '#eceff3',
};

/** A picture as self-contained SVG, which is always the same. */
export function svgOf(picture: Picture): string {
  const arrows = arrowsOf(picture);
  const boxes = [...picture.entities.map(nameBox), ...arrows.map(labelBox)];
  const labelAt = (arrow: number): number => picture.entities.length + arrow;
  const ties = arrows.flatMap(({ from, to }, i): Tie[] => [
    { a: from, b: labelAt(i) },
    { a: labelAt(i), b: to },
  ]);
  const placed = intoView(layout(boxes, ties));
  const at = (place: number): Placed => placed.boxes[place] as Placed;
  return [
    header(placed),
    ...arrows.map((arrow, i) => line(arrow, { from: at(arrow.from), over: at(labelAt(i)), to: at(arrow.to) })),
    ...arrows.map((arrow, i) => label(arrow, at(labelAt(i)))),
    ...picture.entities.map((entity, i) => name(entity, at(i))),
    '</svg>',
    '',
  ].join('\n');
}

const nameBox = (entity: DrawnEntity): Box => ({
  width: widthOf(shortened(nameOf(entity), NAME.max), NAME.size) + 2 * NAME.padding,
  height: NAME.height,
});

const labelBox = ({ label: text }: Arrow): Box => ({
  width: widthOf(shortened(text, LABEL.max), LABEL.size) + 2 * LABEL.padding,
  height: LABEL.height,
});

/** Approximate, because the font is unknown. */
const widthOf = (text: string, size: number): number =>
  [...text].reduce((sum, letter) => sum + (WIDE_LETTER.test(letter) ? WIDE : NARROW) * size, 0);
const WIDE_LETTER =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}\uff00-\uff60]/u;

interface View {
  readonly boxes: readonly Placed[];
  readonly width: number;
  readonly height: number;
}

/** Moved so that everything is right of and below the margin. */
function intoView(boxes: readonly Placed[]): View {
  const left = Math.min(0, ...boxes.map(({ x, width }) => x - width / 2));
  const top = Math.min(0, ...boxes.map(({ y, height }) => y - height / 2));
  const moved = boxes.map((box) => ({ ...box, x: box.x - left + MARGIN, y: box.y - top + MARGIN }));
  const right = Math.max(0, ...moved.map(({ x, width }) => x + width / 2));
  const bottom = Math.max(0, ...moved.map(({ y, height }) => y + height / 2));
  return { boxes: moved, width: Math.ceil(right) + MARGIN, height: Math.ceil(bottom) + MARGIN };
}

const header = ({ width, height }: View): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" ` +
  `font-family="${FONT}" text-anchor="middle" role="img">\n` +
  `<defs>${tip('holds', '#475569')}${tip('over', '#94a3b8')}</defs>\n` +
  `<rect width="${width}" height="${height}" fill="#ffffff"/>`;

const tip = (id: string, fill: string): string =>
  `<marker id="${id}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse">` +
  `<path d="M0 0L8 4L0 8z" fill="${fill}"/></marker>`;

const line = ({ over }: Arrow, way: Parameters<typeof curveOf>[0]): string =>
  `<path d="${curveOf(way)}" fill="none" stroke="${over ? '#94a3b8' : '#475569'}" stroke-width="1.3"` +
  `${over ? ' stroke-dasharray="5 4"' : ''} marker-end="url(#${over ? 'over' : 'holds'})"/>`;

function label({ label: text, over }: Arrow, { x, y, width, height }: Placed): string {
  const words = `<text x="${rounded(x)}" y="${rounded(y + LABEL.size / 3)}" font-size="${LABEL.size}" fill="${over ? '#64748b' : '#1e293b'}">`;
  return `<g>${plate({ x, y, width, height })} fill="#ffffff"/>${words}${titled(text, LABEL.max)}</text></g>`;
}

function name(entity: DrawnEntity, { x, y, width, height }: Placed): string {
  const box =
    `${plate({ x, y, width, height })} rx="8" ` +
    `fill="${FILLS[entity.kind]}" stroke="#334155" stroke-width="${entity.self ? 2 : 1}"/>`;
  const words = `<text x="${rounded(x)}" y="${rounded(y + NAME.size / 3)}" font-size="${NAME.size}" fill="#0f172a">`;
  return `<g>${box}${words}${titled(nameOf(entity), NAME.max)}</text></g>`;
}

const plate = ({ x, y, width, height }: Placed): string =>
  `<rect x="${rounded(x - width / 2)}" y="${rounded(y - height / 2)}" width="${rounded(width)}" height="${height}"`;

/** A text that is too long to be shown gets a tooltip with all of it. */
function titled(text: string, max: number): string {
  const shown = shortened(text, max);
  return shown === text ? escaped(shown) : `<title>${escaped(text)}</title>${escaped(shown)}`;
}

const rounded = (number: number): number => Math.round(number * 10) / 10;

/** Names are untrusted: they must not be read as markup. */
const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replace(/(?![\t\n\r])[\p{Cc}\ufffe\uffff]/gu, '')
    .replace(/[&<>"']/gu, (mark) => `&#${mark.codePointAt(0)};`);

interface Point {
  readonly x: number;
  readonly y: number;
}

/** The gap between an arrow's tip and its box, in pixels. */
const GAP = 3;

/** The path of an arrow from box to box, through the middle of its label. */
function curveOf({ from, over, to }: { from: Placed; over: Placed; to: Placed }): string {
  const [start, end] = [edgeOf(from, over), edgeOf(to, over)];
  // A curve of one bend passes its middle half-way between its ends' middle and its control point.
  const bend = { x: 2 * over.x - (start.x + end.x) / 2, y: 2 * over.y - (start.y + end.y) / 2 };
  return `M${pointText(start)}Q${pointText(bend)} ${pointText(end)}`;
}

/** Where the line from a box's centre to a point leaves the box. */
function edgeOf(box: Placed, towards: Point): Point {
  const [dx, dy] = [towards.x - box.x, towards.y - box.y];
  const across = dx === 0 ? Number.POSITIVE_INFINITY : (box.width / 2 + GAP) / Math.abs(dx);
  const down = dy === 0 ? Number.POSITIVE_INFINITY : (box.height / 2 + GAP) / Math.abs(dy);
  const part = Math.min(across, down, 1);
  return { x: box.x + dx * part, y: box.y + dy * part };
}

const pointText = ({ x, y }: Point): string => `${rounded(x)} ${rounded(y)}`;
