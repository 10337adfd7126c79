import { builtinEmbedder } from '@slowwave/builtin-model';
import { DEFAULT_TENANT, memoryWriter, projectGraphNow, scopeOf } from '@slowwave/engine';
import { engineBench, fakeChat, fixedTools, sayGraph } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { queryVectors } from '../question.ts';
import { searchBench } from '../testing/bench.ts';
import { families, type HopQuestion } from '../testing/families.ts';

const TOP = 5;
/** The share of questions that relations have to answer, and what facts alone stay below. */
const BY_RELATIONS = 0.9;
const BY_FACTS = 0.5;

test.each(['english', 'chinese'] as const)(
  'questions over several steps are answered by relations, and not by facts alone: %s',
  async (language) => {
    const { questions, ask } = await worldOf(language);
    const reached = { relations: 0, facts: 0 };
    for (const question of questions) {
      const [byFacts, byRelations] = [await ask(question, []), await ask(question, ['relations'])];
      if (byFacts.texts.includes(question.answer.text)) reached.facts += 1;
      if (byRelations.relations.includes(question.answer.relation)) reached.relations += 1;
    }
    // What is asked for is among the facts, and found by who asks in its own words.
    for (const { answer } of questions.slice(0, 10))
      expect((await ask({ text: answer.text, answer }, [])).texts).toContain(answer.text);
    const share = (count: number): string => `${((100 * count) / questions.length).toFixed(1)}%`;
    process.stdout.write(
      `multi-hop, ${language}, ${questions.length} questions, answered within ${TOP}: ` +
        `${share(reached.relations)} by relations, ${share(reached.facts)} by facts alone\n`,
    );
    expect(reached.relations / questions.length).toBeGreaterThanOrEqual(BY_RELATIONS);
    expect(reached.facts / questions.length).toBeLessThan(BY_FACTS);
  },
);

type End = { readonly name: string };
type Relation = { readonly source: End; readonly relationship: string; readonly destination: End };

/** A world that is known twice, as memories and as relations, and what asks about it. */
async function worldOf(language: Parameters<typeof families>[0]) {
  const { facts, questions } = families(language, 7);
  const embedder = builtinEmbedder(fixedTools());
  const { deps } = await engineBench({ chat: fakeChat({}), embedder });
  const writer = memoryWriter(deps);
  const scope = scopeOf({ user_id: 'ann' });
  const plain = { metadata: {}, category: null, immutable: false, validFrom: null, expiresAt: null };
  for (const { text } of facts) await writer.add(DEFAULT_TENANT, { scope, text, ...plain });
  const { lane } = await sayGraph(deps, [...new Set(facts.map(({ relation }) => relation))]);
  await projectGraphNow(deps, lane, 'not told');
  const { ledger, index, tools } = deps;
  const embedQuery = queryVectors({ embedder, shared: null, tools, count: () => {} });
  const { search } = await searchBench({ ledger, index, tools, embedQuery });
  const ask = async ({ text }: HopQuestion, include: readonly string[]) => {
    const body = { query: text, user_id: 'ann', top_k: TOP, include };
    const { results, relations = [] } = (await search(body)).json();
    return {
      texts: results.map(({ memory }: { readonly memory: string }) => memory),
      relations: relations.map(
        ({ source, relationship, destination }: Relation) => `${source.name} > ${relationship} > ${destination.name}`,
      ),
    };
  };
  return { questions, ask };
}
