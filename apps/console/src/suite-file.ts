import type { SuiteFile } from '@slowwave/contracts';
import {
  type CaseContent,
  casesOf,
  contentOf,
  type FileCase,
  isoOf,
  type Ledger,
  type Millis,
  type Suite,
  writtenIn,
} from '@slowwave/engine';
import { momentOf } from '@slowwave/http';

type Case = SuiteFile['cases'][number];

/** A suite as a file. Users are called by the place of their case, and messages by theirs. */
export async function fileOf(deps: { readonly ledger: Ledger }, suite: Suite): Promise<SuiteFile> {
  const cases: Case[] = [];
  for await (const one of casesOf(deps, suite.id)) cases.push(caseOf(`case-${one.place + 1}`, contentOf(one)));
  return {
    ...{ format: 'slowwave-suite', version: 1, masked: suite.masked },
    margins: suite.margins as SuiteFile['margins'],
    cases,
  };
}

function caseOf(name: string, content: CaseContent): Case {
  const names = new Map<string, string>();
  const batches = content.batches.map(({ settings, window, messages }) => ({
    mode: settings.mode === 'add_only' ? ('add_only' as const) : ('decide' as const),
    window,
    messages: messages.map((message) => {
      const id = `m${names.size + 1}`;
      names.set(message.id, id);
      const { role, name: speaker, at } = message;
      return { id, role, content: writtenIn(message.content), name: speaker, timestamp: isoOf(at) };
    }),
  }));
  const { stored, measured, language, questions } = content;
  return {
    ...{ name, language, batches },
    memories: content.memories.map((memory) => ({
      ...{ text: memory.text, said_at: isoOf(memory.at), category: memory.category, language: memory.language },
    })),
    expected: stored && {
      facts: stored.facts.map(({ sources, ...fact }) => ({
        ...fact,
        messages: sources.flatMap((source) => names.get(source) ?? []),
      })),
      changes: [...stored.changes],
      memories: [...stored.live],
    },
    questions: questions.map(({ query, expects }) => ({ query, expects: [...expects] })),
    measured: measured && { ...measured, figures: { ...measured.figures } as NonNullable<Case['measured']>['figures'] },
  };
}

/** The cases of a file. What has no time was said now, in the order in which it stands there. */
export const contentsOf = ({ cases }: SuiteFile, now: Millis): readonly FileCase[] =>
  cases.map((one) => ({ name: one.name, content: contentIn(one, now) }));

function contentIn({ memories, batches, expected, questions, measured, language }: Case, now: Millis): CaseContent {
  return {
    ...{ language, questions },
    memories: memories.map(({ text, said_at: said, category, language: spoken }, i) => {
      const at = momentOf(said) ?? now - memories.length + i;
      return { id: `memory ${i}`, text, at, validFrom: at, category, language: spoken, about: 'user' };
    }),
    batches: batches.map(({ mode, window, messages }, place) => ({
      id: `batch ${place}`,
      scope: { userId: null, agentId: null, runId: null, appId: null },
      settings: { mode, instructions: null, includes: null, excludes: null, expiresAt: null },
      window: window ?? place,
      messages: messages.map(({ id, role, content, name, timestamp }, i) => ({
        ...{ id: id ?? `${place} ${i}`, clientId: null, role, content, name },
        at: momentOf(timestamp) ?? now,
      })),
    })),
    stored: expected && {
      facts: expected.facts.map(({ messages, ...fact }) => ({ ...fact, sources: messages })),
      changes: expected.changes,
      live: expected.memories,
    },
    measured,
  };
}
