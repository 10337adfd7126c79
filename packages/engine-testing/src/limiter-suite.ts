import type { Limiter, ModelLimits } from '@slowwave/engine';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

export type OpenLimiter = (limits: ModelLimits) => Promise<Limiter>;

const MINUTE = 60_000;

/** What every limiter keeps to, whoever shares it. `open` opens another view of the same memory each time. */
export function describeLimiter(name: string, open: OpenLimiter): void {
  describe(name, () => {
    const limits = { requestsPerMinute: 5, tokensPerMinute: 1_000 };
    let model = '';
    let limiters: Limiter[] = [];
    let nth = 0;

    beforeEach(async () => {
      nth += 1;
      model = `model-${nth}`;
      limiters = [await open(limits), await open(limits)];
    });
    afterEach(async () => {
      for (const limiter of limiters) await limiter.close();
    });
    const reserve = (tokens: number, which = 0) => limiters[which]?.reserve(model, tokens);

    it('grants as many requests as the limit says, together', async () => {
      const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => reserve(10, i % 2)));
      expect(answers.filter((answer) => answer?.kind === 'granted')).toHaveLength(5);
      for (const answer of answers) if (answer?.kind === 'wait') expect(answer.ms).toBeGreaterThan(MINUTE / 2);
    });

    it('grants as many tokens as the limit says', async () => {
      expect(await reserve(700)).toMatchObject({ kind: 'granted' });
      expect(await reserve(301, 1)).toMatchObject({ kind: 'wait' });
      expect(await reserve(300, 1)).toMatchObject({ kind: 'granted' });
    });

    it('gives back what was not used, and takes what was used beyond', async () => {
      const first = await reserve(900);
      if (first?.kind === 'granted') await limiters[1]?.correct(model, first.id, 100);
      const second = await reserve(800);
      expect(second).toMatchObject({ kind: 'granted' });
      if (second?.kind === 'granted') await limiters[0]?.correct(model, second.id, 900);
      expect(await reserve(1)).toMatchObject({ kind: 'wait' });
    });

    it('lets a call through that is larger than the whole limit, when nothing else is counted', async () => {
      expect(await reserve(5_000)).toMatchObject({ kind: 'granted' });
      expect(await reserve(1)).toMatchObject({ kind: 'wait' });
    });

    it('grants nothing while paused, and a shorter pause ends no longer one', async () => {
      await limiters[0]?.pause(model, 20_000);
      await limiters[1]?.pause(model, 10);
      const answer = await reserve(1, 1);
      expect(answer?.kind === 'wait' ? answer.ms : 0).toBeGreaterThan(10_000);
    });

    it('counts every model apart, and ignores what it never granted', async () => {
      await limiters[0]?.correct(model, 'nonsense', 5);
      for (let i = 0; i < 5; i += 1) await reserve(1);
      expect(await reserve(1)).toMatchObject({ kind: 'wait' });
      expect(await limiters[0]?.reserve(`${model}-other`, 1)).toMatchObject({ kind: 'granted' });
    });
  });
}
