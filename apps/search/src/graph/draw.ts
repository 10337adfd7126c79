import { dateTextOf, type Entity, type EntityKind, type KeptRelation, type Millis } from '@slowwave/engine';

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
  return shown === text ? escapedXml(shown) : `<title>${escapedXml(text)}</title>${escapedXml(shown)}`;
}

const rounded = (number: number): number => Math.round(number * 10) / 10;

/** Names are untrusted: they must not be read as markup. */
const escapedXml = (text: string): string =>
  text
    .toWellFormed()
    .replace(/(?![\t\n\r])[\p{Cc}\ufffe\uffff]/gu, '')
    .replace(/[&<>"']/gu, (mark) => `&#${mark.codePointAt(0)};`);

interface Point {
  readonly x: number;
  readonly y: number;
}

/** The gap between an arrow's tip and its box, in pixels. */
const ARROW_GAP = 3;

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
  const across = dx === 0 ? Number.POSITIVE_INFINITY : (box.width / 2 + ARROW_GAP) / Math.abs(dx);
  const down = dy === 0 ? Number.POSITIVE_INFINITY : (box.height / 2 + ARROW_GAP) / Math.abs(dy);
  const part = Math.min(across, down, 1);
  return { x: box.x + dx * part, y: box.y + dy * part };
}

const pointText = ({ x, y }: Point): string => `${rounded(x)} ${rounded(y)}`;

/** A box to be placed; x and y are its centre. */
interface Box {
  readonly width: number;
  readonly height: number;
}
export interface Placed extends Box {
  readonly x: number;
  readonly y: number;
}

/** Two boxes that should be near each other, by their indexes. */
interface Tie {
  readonly a: number;
  readonly b: number;
}

/** The desired distance of tied boxes, in pixels. */
const REACH = 52;
/** Texts are wide, so the picture is stretched by this factor. */
const WIDER = 1.7;
/** The total number of pairs: more boxes get fewer rounds, so that a drawing takes milliseconds. */
const PAIRS_MAX = 3_000_000;
const ROUNDS = { least: 30, most: 300 } as const;
/** The pull towards the centre: without it, boxes without ties drift away. */
const GRAVITY = 0.02;
/** Separates boxes that would start at the same place, because nothing else would. */
const NUDGE = 0.02;
/** The angle between places of a spiral on which no two places line up. */
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

/**
 * Places boxes so that tied ones are near each other and none overlap. The first box starts in the middle. The result is
 * deterministic.
 */
export function layout(boxes: readonly Box[], ties: readonly Tie[]): readonly Placed[] {
  const spots = beginnings(boxes.length, ties);
  const pairs = Math.max(1, boxes.length * boxes.length);
  const rounds = Math.min(ROUNDS.most, Math.max(ROUNDS.least, Math.floor(PAIRS_MAX / pairs)));
  for (let round = 0; round < rounds; round += 1) {
    const moves = pushes(spots);
    pull(spots, ties, moves);
    move(spots, moves, REACH * (1 - round / rounds));
  }
  return separate(boxes.map((box, i) => ({ ...box, x: (spots[i]?.x ?? 0) * WIDER, y: spots[i]?.y ?? 0 })));
}

interface Spot {
  x: number;
  y: number;
}

/** On a spiral; a box that is tied to earlier ones starts between them. */
function beginnings(count: number, ties: readonly Tie[]): Spot[] {
  const spots = Array.from({ length: count }, (_, i) => onSpiral(i));
  const tied = new Map<number, Spot[]>();
  for (const { a, b } of ties) {
    const [late, early] = a > b ? [a, b] : [b, a];
    tied.set(late, [...(tied.get(late) ?? []), onSpiral(early)]);
  }
  for (const [late, others] of tied) {
    const nudge = onSpiral(late);
    const middle = others.reduce((sum, { x, y }) => ({ x: sum.x + x, y: sum.y + y }), { x: 0, y: 0 });
    spots[late] = { x: middle.x / others.length + nudge.x * NUDGE, y: middle.y / others.length + nudge.y * NUDGE };
  }
  return spots;
}

const onSpiral = (i: number): Spot => {
  const radius = REACH * Math.sqrt(i);
  return { x: radius * Math.cos(i * GOLDEN), y: radius * Math.sin(i * GOLDEN) };
};

/** Boxes repel each other, the nearer the more. */
function pushes(spots: readonly Spot[]): Spot[] {
  const moves = spots.map(({ x, y }) => ({ x: -x * GRAVITY, y: -y * GRAVITY }));
  for (const [i, one] of spots.entries()) {
    for (let j = i + 1; j < spots.length; j += 1) {
      const other = spots[j] as Spot;
      const [dx, dy] = [one.x - other.x || 0.01, one.y - other.y];
      const force = (REACH * REACH) / (dx * dx + dy * dy + 1);
      shift(moves[i], dx * force, dy * force);
      shift(moves[j], -dx * force, -dy * force);
    }
  }
  return moves;
}

function pull(spots: readonly Spot[], ties: readonly Tie[], moves: readonly Spot[]): void {
  for (const { a, b } of ties) {
    const [one, other] = [spots[a], spots[b]];
    if (one === undefined || other === undefined) continue;
    const [dx, dy] = [one.x - other.x, one.y - other.y];
    const force = Math.hypot(dx, dy) / REACH;
    shift(moves[a], -dx * force, -dy * force);
    shift(moves[b], dx * force, dy * force);
  }
}

/** Moves at most by `most`, which decreases with each round so that the picture settles. */
function move(spots: readonly Spot[], moves: readonly Spot[], most: number): void {
  for (const [i, spot] of spots.entries()) {
    const { x, y } = moves[i] ?? { x: 0, y: 0 };
    const length = Math.hypot(x, y);
    const part = length > most ? most / length : 1;
    shift(spot, x * part, y * part);
  }
}

function shift(spot: Spot | undefined, dx: number, dy: number): void {
  if (spot === undefined) return;
  spot.x += dx;
  spot.y += dy;
}

/** The minimum gap between two boxes, in pixels. */
const GAP = { x: 10, y: 8 } as const;
/** Each round leaves fewer overlaps; a few are enough for some hundred boxes. */
const PASSES = 200;

type Moving = { -readonly [K in keyof Placed]: Placed[K] };

/** The same boxes, moved just enough that none overlap. */
function separate(boxes: readonly Placed[]): readonly Placed[] {
  const moving: Moving[] = boxes.map((box) => ({ ...box }));
  for (let round = 0; round < PASSES; round += 1) {
    if (!pushApart(moving)) break;
  }
  return moving;
}

/** Whether any boxes overlapped. Goes from left to right: boxes behind the end of one need no check against it. */
function pushApart(boxes: readonly Moving[]): boolean {
  const fromLeft = boxes.toSorted((a, b) => leftOf(a) - leftOf(b));
  let pushed = false;
  for (const [i, one] of fromLeft.entries()) {
    const end = one.x + one.width / 2 + GAP.x;
    for (let j = i + 1; j < fromLeft.length; j += 1) {
      const other = fromLeft[j] as Moving;
      if (leftOf(other) > end) break;
      pushed = pushPair(one, other) || pushed;
    }
  }
  return pushed;
}

const leftOf = ({ x, width }: Moving): number => x - width / 2;

/** Along the axis with the smaller overlap. */
function pushPair(one: Moving, other: Moving): boolean {
  const [dx, dy] = [other.x - one.x, other.y - one.y];
  const overX = (one.width + other.width) / 2 + GAP.x - Math.abs(dx);
  const overY = (one.height + other.height) / 2 + GAP.y - Math.abs(dy);
  if (overX <= 0 || overY <= 0) return false;
  if (overX < overY) {
    const by = (overX / 2 + 0.5) * (dx < 0 ? -1 : 1);
    one.x -= by;
    other.x += by;
  } else {
    const by = (overY / 2 + 0.5) * (dy < 0 ? -1 : 1);
    one.y -= by;
    other.y += by;
  }
  return true;
}

type DrawnEntity = Pick<Entity, 'id' | 'name' | 'kind' | 'self' | 'aliases'>;
export type DrawnRelation = Pick<KeptRelation, 'source' | 'relationship' | 'destination' | 'validFrom' | 'invalidAt'>;

/** What is drawn: relations, and the entities at their ends. */
export interface Picture {
  readonly entities: readonly DrawnEntity[];
  readonly relations: readonly DrawnRelation[];
}

/** A drawn relation, from one entity to another by their indexes. */
interface Arrow {
  readonly from: number;
  readonly to: number;
  readonly label: string;
  /** It is over: dashed. */
  readonly over: boolean;
}

/** The owner by their alias if there is one; any other entity by its first name. */
const nameOf = ({ name, self, aliases: [alias] }: DrawnEntity): string => (self ? (alias ?? name) : name);

/** The arrows of a picture, in order. A relation with an end outside of the picture has none. */
function arrowsOf({ entities, relations }: Picture): readonly Arrow[] {
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
function shortened(text: string, max: number): string {
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
