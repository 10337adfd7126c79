import { MORNING } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { type DrawnRelation, dotOf, layout, mermaidOf, type Picture, type Placed, svgOf } from './draw.ts';

const entity = (id: string, name = id) => ({ id, name, kind: 'person' as const, self: id === 'me', aliases: [] });
const relation = (source: string, destination: string, given: Partial<DrawnRelation> = {}): DrawnRelation => ({
  source,
  relationship: 'works_at',
  destination,
  validFrom: MORNING,
  invalidAt: null,
  ...given,
});

const FAMILY: Picture = {
  entities: [entity('me'), entity('ana', 'Ana'), entity('bolt', 'Bolt')],
  relations: [
    relation('me', 'ana', { relationship: 'has_sister' }),
    relation('ana', 'bolt'),
    relation('me', 'bolt', { invalidAt: MORNING + 86_400_000 }),
  ],
};

test('a picture reads the same in Graphviz every time', () => {
  expect(dotOf(FAMILY)).toBe(`digraph memory {
  rankdir=LR;
  node [shape=box, style=rounded];
  n0 [label="me", tooltip="person", penwidth=2];
  n1 [label="Ana", tooltip="person"];
  n2 [label="Bolt", tooltip="person"];
  n0 -> n1 [label="has sister"];
  n1 -> n2 [label="works at"];
  n0 -> n2 [label="works at (2026-03-01 to 2026-03-02)", style=dashed, color=gray, fontcolor=gray];
}
`);
});

test('a picture reads the same in Mermaid every time', () => {
  expect(mermaidOf(FAMILY)).toBe(`flowchart LR
  n0(["me"])
  n1["Ana"]
  n2["Bolt"]
  n0 -->|"has sister"| n1
  n1 -->|"works at"| n2
  n0 -.->|"works at (2026-03-01 to 2026-03-02)"| n2
`);
});

test('a drawing has every name and every label, and dashes for what is over alone', () => {
  const svg = svgOf(FAMILY);
  for (const text of ['me', 'Ana', 'Bolt', 'has sister', 'works at', 'works at (2026-03-01 to 2026-03-02)']) {
    expect(svg).toContain(`>${text}</text>`);
  }
  expect(svg.match(/stroke-dasharray/g)).toHaveLength(1);
  expect(svgOf(FAMILY)).toBe(svg);
});

const WICKED = '"];}\\<script>alert(1)</script>`&#\n|]--> \u0000';

test('a wicked name breaks no drawing', () => {
  const picture: Picture = { entities: [entity('me'), entity('x', WICKED)], relations: [relation('me', 'x')] };
  const svg = svgOf(picture);
  expect(svg).not.toContain('<script');
  expect(svg).not.toContain('\u0000');
  expect(svg.match(/<text/g)).toHaveLength(3);
  expect(dotOf(picture)).toContain(String.raw`[label="\"];}\\<script>alert(1)</script>`);
  expect(mermaidOf(picture).split('\n')[2]).toMatch(/^ {2}n1\["[^"[\]|<>`]*"\]$/);
});

test('a long name is shortened, and told whole to who points at it', () => {
  const long = 'a name '.repeat(20).trim();
  const svg = svgOf({ entities: [entity('me', long)], relations: [] });
  expect(svg).toContain(`<title>${long}</title>a name a name`);
  expect(svg).toContain('…</text>');
});

test('a relation to what is not in the picture is left out', () => {
  const picture: Picture = { entities: [entity('me')], relations: [relation('me', 'gone'), relation('me', 'me')] };
  expect(dotOf(picture)).not.toContain('->');
  expect(svgOf(picture)).not.toContain('<path d="M1');
});

test('the owner is drawn by what they are called, anybody else as they were first called', () => {
  const picture: Picture = {
    entities: [
      { ...entity('me', 'User'), aliases: ['Mia', 'Mimi'] },
      { ...entity('x', 'Bea'), aliases: ['Bee'] },
    ],
    relations: [relation('me', 'x')],
  };
  expect(mermaidOf(picture)).toContain('n0(["Mia"])\n  n1["Bea"]');
  for (const drawn of [svgOf(picture), dotOf(picture)]) expect(drawn).not.toMatch(/User|Bee/);
});

test('an empty graph is an empty picture', () => {
  const nothing: Picture = { entities: [], relations: [] };
  expect(svgOf(nothing)).toMatch(/^<svg .*viewBox="0 0 24 24"/);
  expect(dotOf(nothing)).toContain('digraph');
});

const covers = (a: Placed, b: Placed): boolean =>
  Math.abs(a.x - b.x) < (a.width + b.width) / 2 && Math.abs(a.y - b.y) < (a.height + b.height) / 2;

test.each([2, 30, 120])('of %i boxes around one none covers another', (count) => {
  const boxes = Array.from({ length: count }, (_, i) => ({ width: 40 + (i % 7) * 20, height: 30 }));
  const ties = boxes.slice(1).map((_, i) => ({ a: 0, b: i + 1 }));
  const placed = layout(boxes, ties);
  const covered = placed.flatMap((one, i) => placed.slice(i + 1).filter((other) => covers(one, other)));
  expect(covered).toEqual([]);
  expect(placed.every(({ x, y }) => Number.isFinite(x) && Number.isFinite(y))).toBe(true);
});
