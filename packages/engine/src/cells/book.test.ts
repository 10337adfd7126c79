import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstRanges, rangeAt, SLOTS, type SlotRange, type SlotRun, widthsOf, withGiven } from './book.ts';
import { closedTo, type Handover, planAdd, planDrain, planRebalance } from './handovers.ts';

const CELLS = ['a', 'b', 'c', 'd'];
const anyRun = fc
  .tuple(fc.nat({ max: SLOTS - 1 }), fc.nat({ max: SLOTS - 1 }))
  .map(([x, y]): SlotRun => ({ from: Math.min(x, y), to: Math.max(x, y) }));
const anyRanges = fc
  .array(fc.tuple(anyRun, fc.constantFrom(...CELLS)), { maxLength: 12 })
  .map((gifts) => gifts.reduce((ranges, [run, cell]) => withGiven(ranges, run, cell), firstRanges('a')));

const isWhole = (ranges: readonly SlotRange[]): boolean =>
  ranges[0]?.from === 0 &&
  ranges.at(-1)?.to === SLOTS - 1 &&
  ranges.every((range, i) => i === 0 || ranges[i - 1]?.to === range.from - 1);

const handedOver = (ranges: readonly SlotRange[], handovers: readonly (SlotRun & { destination: string })[]) =>
  handovers.reduce((left, { from, to, destination }) => withGiven(left, { from, to }, destination), ranges);

describe('the slots of cells', () => {
  it('belong to exactly one cell each, whatever was given to whom', () => {
    fc.assert(
      fc.property(anyRanges, anyRun, fc.nat({ max: SLOTS - 1 }), (ranges, run, slot) => {
        const given = withGiven(ranges, run, 'd');
        const expected = run.from <= slot && slot <= run.to ? 'd' : rangeAt(ranges, slot).cell;
        expect(isWhole(given)).toBe(true);
        expect(rangeAt(given, slot).cell).toBe(expected);
      }),
    );
  });

  it('are named when no range has them', () => {
    expect(() => rangeAt([], 7)).toThrow('slot 7');
  });

  it('are closed to whom they do not belong, and to whom gives them away before anybody else takes them', () => {
    const base = { id: 'h', attempt: 1, tries: 0, why: null, dueAt: 0, source: 'a', destination: 'b' };
    const handover = (state: Handover['state']): Handover => ({ ...base, from: 100, to: 199, state });
    const ranges = firstRanges('a');
    expect(closedTo('a', ranges, [handover('closing')])).toEqual([{ from: 100, to: 199 }]);
    expect(closedTo('b', ranges, [handover('closing')])).toEqual([{ from: 0, to: SLOTS - 1 }]);
    expect(closedTo('a', ranges, [{ ...handover('closing'), attempt: 0 }])).toEqual([]);
    expect(closedTo('a', ranges, [handover('opening')])).toEqual([{ from: 100, to: 199 }]);
    expect(closedTo('b', ranges, [handover('opening')])).toEqual([
      { from: 0, to: 99 },
      { from: 200, to: SLOTS - 1 },
    ]);
    expect(closedTo('a', ranges, [handover('reopening')])).toEqual([]);
    const switched = withGiven(ranges, { from: 100, to: 199 }, 'b');
    expect(closedTo('a', switched, [handover('emptying')])).toEqual([{ from: 100, to: 199 }]);
  });
});

describe('plans', () => {
  it('keep ranges few and cells alike, however many cells are added one after the other', () => {
    const open = ['c0'];
    let ranges = firstRanges('c0');
    for (let n = 1; n < 100; n += 1) {
      ranges = handedOver(ranges, planAdd({ ranges, open }, `c${n}`));
      open.push(`c${n}`);
    }
    const widths = [...widthsOf(ranges, open).values()];
    expect(ranges.length).toBeLessThan(1_000);
    expect(Math.max(...widths) / (SLOTS / open.length)).toBeLessThan(1.15);
  });

  it('give a new cell its share, from all others alike', () => {
    const ranges = handedOver(firstRanges('a'), planAdd({ ranges: firstRanges('a'), open: ['a'] }, 'b'));
    // The directory may know it by then.
    expect(planAdd({ ranges: firstRanges('a'), open: ['a', 'b'] }, 'b')).toEqual(
      planAdd({ ranges: firstRanges('a'), open: ['a'] }, 'b'),
    );
    expect([...widthsOf(ranges, ['a', 'b'])]).toEqual([
      ['a', SLOTS / 2],
      ['b', SLOTS / 2],
    ]);
    const three = handedOver(ranges, planAdd({ ranges, open: ['a', 'b'] }, 'c', 0.5));
    expect(Object.fromEntries(widthsOf(three, CELLS))).toEqual({ a: 16_384, b: 16_384, c: 32_768, d: 0 });
  });

  it('leave nothing in a cell that is drained, and the others as equal as can be', () => {
    fc.assert(
      fc.property(anyRanges, (ranges) => {
        const drained = handedOver(ranges, planDrain({ ranges, open: CELLS }, 'a'));
        const [before, widths] = [widthsOf(ranges, CELLS), widthsOf(drained, CELLS)];
        expect(isWhole(drained)).toBe(true);
        expect(widths.get('a')).toBe(0);
        const grown = ['b', 'c', 'd'].filter((cell) => (widths.get(cell) ?? 0) > (before.get(cell) ?? 0));
        const sizes = grown.map((cell) => widths.get(cell) ?? 0);
        if (sizes.length > 0) expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(3);
      }),
    );
  });

  it('refuse to drain the only cell', () => {
    expect(() => planDrain({ ranges: firstRanges('a'), open: ['a'] }, 'a')).toThrow('add a cell first');
  });

  it('level what cells have, and move nobody for a small difference', () => {
    const ranges = handedOver(firstRanges('a'), planAdd({ ranges: firstRanges('a'), open: ['a'] }, 'b'));
    const loads = new Map([
      ['a', 3_000],
      ['b', 1_000],
    ]);
    const moved = planRebalance({ ranges, open: ['a', 'b'] }, loads);
    const given = moved.reduce((sum, { from, to }) => sum + to - from + 1, 0);
    expect(moved.every(({ source, destination }) => source === 'a' && destination === 'b')).toBe(true);
    expect(given / (SLOTS / 2)).toBeCloseTo(1_000 / 3_000, 2);
    expect(
      planRebalance(
        { ranges, open: ['a', 'b'] },
        new Map([
          ['a', 1_050],
          ['b', 1_000],
        ]),
      ),
    ).toEqual([]);
  });
});
