import {
  DEFAULT_TENANT,
  type JsonObject,
  liveVersion,
  type Memory,
  memoryWriter,
  type SleepSettings,
  standsOn,
} from '@slowwave/engine';
import { fakeChat } from './fake-models.ts';
import { type NightBench, nightBench } from './night-bench.ts';
import { echoExtract } from './scripts.ts';

const DAY_MS = 86_400_000;
/** What users have, and what is said of it. */
export const THINGS = ['kayak', 'piano', 'violin', 'garden', 'bicycle', 'telescope', 'loom', 'sauna', 'kiln', 'drone'];
export const SAYINGS = ['bought a', 'repaired the', 'took a class about the', 'lent a friend the', 'wrote about the'];

interface Shown {
  readonly id: string;
  readonly text: string;
}

const CERTAINTY = ['low', 'low', 'low', 'medium', 'medium', 'high'] as const;

/** What several memories show together: an interest in each thing. */
export const interestsIn = (memories: readonly Shown[]): JsonObject[] =>
  THINGS.flatMap((thing) => {
    const evidence = memories.filter(({ text }) => text.includes(thing)).map(({ id }) => id);
    if (evidence.length < 2) return [];
    const certainty = CERTAINTY[Math.min(evidence.length, CERTAINTY.length - 1)] ?? 'low';
    return [{ text: `User is interested in a ${thing}`, evidence, certainty, reason: 'again and again' }];
  });

/** Lies of every kind about what memories show, by turns. */
export function liesAbout(memories: readonly Shown[], nth: number): JsonObject[] {
  const ids = memories.map(({ id }) => id);
  const [true_ = { text: 'User is interested in a kayak', evidence: ids.slice(0, 2) }] = interestsIn(memories);
  const { text, evidence } = true_;
  const lie = (of: JsonObject): JsonObject[] => [
    { text, evidence, certainty: 'low', reason: 'trust me', ...of } as JsonObject,
  ];
  const kinds = [
    () => lie({ evidence: [] }),
    () => lie({ evidence: ['99', 'mem_of_somebody_else'] }),
    () => lie({ text: String(text).replace('is interested', 'is not interested') }),
    () => lie({ evidence: ids.filter((id) => !(evidence as readonly string[]).includes(id)) }),
    () => lie({ evidence: (evidence as readonly string[]).slice(0, 2), certainty: 'high' }),
    () => lie({ text: 'User is interested in opera' }),
  ];
  return kinds[nth % kinds.length]?.() ?? [];
}

export interface PatternBench extends NightBench {
  /** How often a model was asked what memories show. */
  asked(): number;
  /** Says so many things about each of some things, a day apart. */
  say(of: { readonly things: number; readonly sayings: number }): Promise<void>;
  /** What was concluded and is shown. */
  concluded(): Promise<readonly Memory[]>;
  /** Of those, what leans on too little that holds. */
  hollow(): Promise<readonly string[]>;
}

/** Acts of nights that conclude, and change nothing else of what is said. */
export const CONCLUDING: SleepSettings['acts'] = {
  age: false,
  merge: false,
  contradictions: false,
  fade: false,
  patterns: true,
  skills: false,
  runs: true,
  profile: true,
};

/** Nights of one owner that only conclude. `conclude` answers what is asked, by what it is shown. */
export async function patternBench(
  conclude: (memories: readonly Shown[]) => JsonObject[],
  stores?: Parameters<typeof nightBench>[0]['stores'],
): Promise<PatternBench> {
  const chat = fakeChat({
    extract_facts: echoExtract,
    find_patterns: ({ memories }) => ({ conclusions: conclude(memories as unknown as readonly Shown[]) }),
  });
  const limits = { calls: 1_000, tokens: 10_000_000, operations: 500, share: 1 };
  const night = await nightBench({ chat, ...(stores && { stores }) }, { acts: CONCLUDING, limits });
  const concluded = async (): Promise<readonly Memory[]> =>
    (await night.memories()).filter((memory) => liveVersion(memory)?.details.concluded !== undefined);
  return {
    ...night,
    concluded,
    asked: () => chat.calls.filter(({ name }) => name === 'find_patterns').length,
    say: async ({ things, sayings }) => {
      const scope = { userId: 'ann', agentId: null, runId: null, appId: null };
      const none = { category: null, metadata: {}, immutable: false, expiresAt: null, validFrom: null };
      for (const saying of SAYINGS.slice(0, sayings))
        for (const thing of THINGS.slice(0, things)) {
          night.tools.advance(DAY_MS);
          const text = `User ${saying} ${thing}`;
          await memoryWriter(night.deps).add(DEFAULT_TENANT, { ...none, scope, text });
        }
    },
    hollow: async () => {
      const known = new Map((await night.memories()).map((memory) => [memory.id, memory]));
      return (await concluded()).flatMap((memory) => {
        const of = liveVersion(memory)?.details.concluded;
        return of !== undefined && standsOn(of, (id) => known.get(id)) ? [] : [memory.id];
      });
    },
  };
}
