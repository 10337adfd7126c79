import { useEffect, useRef, useState } from 'react';
import Plot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { sumOf } from './figures.tsx';

interface Part {
  readonly name: string;
  /** A variable of the style sheet. */
  readonly color: `--${string}`;
  /** One for each moment. */
  readonly values: readonly number[];
}

interface Chart {
  /** What it shows, for those who do not see it. */
  readonly name: string;
  /** Milliseconds since 1970, evenly spaced. */
  readonly times: readonly number[];
  readonly parts: readonly Part[];
  /** Days of UTC, wherever somebody looks. */
  readonly utc?: boolean;
  /** A moment, where somebody points at it. */
  readonly timeText: (at: number) => string;
  /** What the bars should not exceed, as a line; null: nothing. */
  readonly limit?: number | null;
}

const HEIGHT = 190;
const SECOND_MS = 1_000;
const DAY_S = 86_400;

/** Bars over time, each made of parts. Below it: what the colours mean, and the figures where somebody points. */
export function Bars({ name, times, parts, utc = false, timeText, limit = null }: Chart) {
  const place = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<number | null>(null);
  const drawn = usePlot(place, { parts, times, utc, limit, setAt });
  const pointed = at === null ? undefined : times[at];
  return (
    <figure className="chart" data-drawn={drawn}>
      <div ref={place} role="img" aria-label={`${name}. ${summaryOf(parts)}`} />
      <figcaption className="row quiet">
        {parts.map((part) => (
          <span key={part.name}>
            <span className="swatch" style={{ background: `var(${part.color})` }} /> {part.name}
            {at !== null && ` ${(part.values[at] ?? 0).toLocaleString('en')}`}
          </span>
        ))}
        {pointed !== undefined && <span className="push">{timeText(pointed)}</span>}
      </figcaption>
    </figure>
  );
}

const summaryOf = (parts: readonly Part[]): string =>
  parts.map(({ name, values }) => `${name}: ${sumOf(values).toLocaleString('en')}`).join(', ');

interface Drawing extends Pick<Chart, 'parts' | 'times'> {
  readonly utc: boolean;
  readonly limit: number | null;
  readonly setAt: (at: number | null) => void;
}

/** Draws into an element, again when its width, the colours or what is shown changes. True once it is drawn. */
function usePlot(place: { readonly current: HTMLDivElement | null }, drawing: Drawing): boolean {
  const [drawn, setDrawn] = useState(false);
  const width = useWidth(place);
  const scheme = useScheme();
  const shown = JSON.stringify([drawing.times, drawing.parts, drawing.limit, scheme]);
  // Figures that are read again and are the same are not drawn again.
  useEffect(() => {
    const element = place.current;
    if (element === null || width === 0) return;
    const plot = new Plot(optionsOf(element, width, drawing), dataOf(drawing), element);
    setDrawn(true);
    return () => plot.destroy();
  }, [width, shown]);
  return drawn;
}

function useWidth(place: { readonly current: HTMLDivElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const watch = new ResizeObserver(() => setWidth(element.clientWidth));
    watch.observe(element);
    return () => watch.disconnect();
  }, [place]);
  return width;
}

const DARK = '(prefers-color-scheme: dark)';

function useScheme(): boolean {
  const [dark, setDark] = useState(() => matchMedia(DARK).matches);
  useEffect(() => {
    const media = matchMedia(DARK);
    const changed = () => setDark(media.matches);
    media.addEventListener('change', changed);
    return () => media.removeEventListener('change', changed);
  }, []);
  return dark;
}

/** Each part stands on those before it. The highest is drawn first, the next over it. */
function dataOf({ times, parts }: Drawing): Plot.AlignedData {
  const heights = parts.map((_, last) =>
    times.map((_, i) => parts.slice(0, last + 1).reduce((sum, { values }) => sum + (values[i] ?? 0), 0)),
  );
  return [times.map((at) => at / SECOND_MS), ...heights.toReversed()];
}

/** So that the bars of the first and the last moment are not cut. */
const HALF = 0.5;

function optionsOf(element: HTMLElement, width: number, { times, parts, utc, limit, setAt }: Drawing): Plot.Options {
  const color = (name: string): string => colorOf(element, name);
  const [first = 0, second = first + SECOND_MS] = times;
  const margin = ((second - first) / SECOND_MS) * HALF;
  const isWhole = parts.every(({ values }) => values.every(Number.isInteger));
  const axis = { stroke: color('--quiet'), grid: { stroke: color('--line'), width: 1 }, ticks: { show: false } };
  return {
    width,
    height: HEIGHT,
    ...(utc && { tzDate: (at: number) => Plot.tzDate(new Date(at * SECOND_MS), 'Etc/UTC') }),
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { show: false } },
    scales: {
      x: { range: (_plot, from, to) => [from - margin, to + margin] },
      y: { range: (_plot, _from, to) => [0, topOf(to, limit)] },
    },
    axes: [
      { ...axis, grid: { show: false }, ...(utc && { incrs: DAYS }) },
      { ...axis, size: 56, ...(isWhole && { incrs: WHOLE }), values: (_plot, values) => values.map(shortly) },
    ],
    series: [
      {},
      ...parts.toReversed().map((part) => ({
        label: part.name,
        fill: color(part.color),
        width: 0,
        points: { show: false },
        ...(Plot.paths.bars !== undefined && { paths: Plot.paths.bars({ size: [0.8, 40] }) }),
      })),
    ],
    hooks: {
      setCursor: [({ cursor }) => setAt(cursor.idx ?? null)],
      draw: [(plot) => limit !== null && drawLine(plot, limit, color('--bad'))],
    },
  };
}

/** Steps of an axis of things that are counted. */
const WHOLE = Array.from({ length: 13 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();

/** Steps of an axis of days. */
const DAYS = [1, 2, 7, 14, 28].map((days) => days * DAY_S);

/** A limit that is far above all bars would leave nothing to see of them. */
const LIMIT_SHOWN = 4;

/** Where the axis ends: a little above the highest bar, and above the limit where that is near. */
const topOf = (highest: number, limit: number | null): number =>
  limit !== null && limit <= highest * LIMIT_SHOWN ? Math.max(highest, limit) * 1.05 : highest > 0 ? highest : 1;

function drawLine(plot: Plot, value: number, color: string): void {
  const { ctx, bbox } = plot;
  const y = plot.valToPos(value, 'y', true);
  if (y < bbox.top) return;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.lineWidth = 2;
  ctx.setLineDash([6, 4]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}

const SHORT = new Intl.NumberFormat('en', { notation: 'compact' });
const shortly = (value: number): string => SHORT.format(value);

/** What a variable comes to in light or dark, as a canvas takes it. */
function colorOf(element: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
