import { type Comparison, type Found, ratioOf, ratioText, reaches, shown } from './report.ts';

const WIDTH = 980;
const MARGIN = 24;
const HEAD = 64; // above the first comparison
const ROW = 78; // of one comparison
const FOOT = 16;
const BAR = 16; // thickness of a bar
const BARS_AT = 330;
const BARS_WIDTH = 310;
const SIDE_AT = 780;

/** The comparisons of a bench as a picture: ours above its yardstick, each pair at a scale of its own. */
export function drawingOf({ title, comparisons = [] }: Found): string {
  const height = HEAD + comparisons.length * ROW + FOOT;
  const said = comparisons.map((one) => `${one.what}: ${sidesOf(one).map(labelOf).join(' against ')}.`).join(' ');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title description">
  <title id="title">${escaped(title)}</title>
  <desc id="description">${escaped(said)}</desc>
  <style>${STYLE}
  </style>
  <rect class="paper" width="${WIDTH}" height="${height}" rx="10"/>
  <text class="name" x="${MARGIN}" y="36" style="font-size: ${fitting(title)}px">${escaped(title)}</text>
${comparisons.map((one, i) => rowOf(one, HEAD + i * ROW)).join('\n')}
</svg>
`;
}

/** A title of any length goes on one line. */
const fitting = (title: string): number => Math.min(TITLE_PX, Math.floor((10 * LINE_PX) / title.length) / 10);
const TITLE_PX = 15;
const LINE_PX = 1_720; // what a line is long, of letters about half as wide as high

const STYLE = `
    text { font: 13.5px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: #1f2933; }
    .name { font-weight: 600; font-size: 15px; }
    .soft { fill: #5b6875; font-size: 12.5px; }
    .end { text-anchor: end; }
    .ratio { font-weight: 600; font-size: 18px; }
    .paper { fill: #ffffff; }
    .ours { fill: #3b78b5; }
    .yardstick { fill: #b4bfca; }
    .missed { fill: #b3442e; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e8edf2; }
      .soft { fill: #a5b2bf; }
      .paper { fill: #10161d; }
      .ours { fill: #6aa6e0; }
      .yardstick { fill: #4a5866; }
      .missed { fill: #f08a72; }
    }`;

type Side = Comparison['ours'] & { readonly kind: 'ours' | 'yardstick'; readonly unit: string };

const sidesOf = ({ ours, yardstick, unit }: Comparison): readonly Side[] => [
  { ...ours, kind: 'ours', unit },
  { ...yardstick, kind: 'yardstick', unit },
];

const labelOf = ({ name, value, unit }: Side): string => `${name} ${shown(value)} ${unit}`.trimEnd();

/** One comparison, from its upper edge on. */
function rowOf(one: Comparison, top: number): string {
  const most = Math.max(one.ours.value, one.yardstick.value) || 1;
  const bars = sidesOf(one).map((side, i) => barOf(side, { most, y: top + 16 + i * (BAR + 6) }));
  const passed = reaches(one);
  return [
    `  <text x="${MARGIN}" y="${top + 6}" class="name">${escaped(one.what)}</text>`,
    ...bars,
    `  <text x="${SIDE_AT}" y="${top + 32}" class="ratio${passed ? '' : ' missed'}">${ratioText(ratioOf(one))}</text>`,
    `  <text x="${SIDE_AT}" y="${top + 50}" class="soft">target: ${one.target.is} ${ratioText(one.target.ratio)}${passed ? '' : ', missed'}</text>`,
  ].join('\n');
}

function barOf(side: Side, { most, y }: { readonly most: number; readonly y: number }): string {
  const width = Math.max(1, Math.round((side.value / most) * BARS_WIDTH));
  const middle = y + BAR - 4;
  return [
    `  <text x="${BARS_AT - 10}" y="${middle}" class="soft end">${escaped(side.name)}</text>`,
    `  <rect class="${side.kind}" x="${BARS_AT}" y="${y}" width="${width}" height="${BAR}" rx="2"/>`,
    `  <text x="${BARS_AT + width + 8}" y="${middle}" class="soft">${escaped(`${shown(side.value)} ${side.unit}`.trimEnd())}</text>`,
  ].join('\n');
}

const escaped = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
