import { type ChatModel, EngineError, type JsonObject } from '@slowwave/engine';
import type { Behaviour, Mood } from './any-answers.ts';
import { CutOff, fakeChat, type Reply, type Script } from './fake-models.ts';
import { echoExtract, keyedDecide } from './scripts.ts';

/** "User lives in Oslo" is about "lives". */
const keyOf = (text: string): string => text.split(' ')[1] ?? text;

const GOOD: Readonly<Record<string, Script>> = {
  extract_facts: echoExtract,
  decide_operations: keyedDecide(keyOf),
};

/** A model that behaves as its mood says, call by call, and well once that says nothing more. */
export function moodyModel(mood: Mood, before: (name: string) => Promise<void> = async () => {}): ChatModel {
  const repair: Script = (input, nth) => (GOOD[String(input.call)] ?? echoExtract)(input.input as JsonObject, nth);
  const scripts = { ...GOOD, repair_output: repair };
  const moody = Object.entries(scripts).map(([name, good]): [string, Script] => [
    name,
    (input, nth) => replyOf(mood[name]?.[nth - 1] ?? { kind: 'good' }, () => good(input, nth)),
  ]);
  const chat = fakeChat(Object.fromEntries(moody));
  return {
    name: chat.name,
    ask: async (call, cancel) => {
      await before(call.name);
      return chat.ask(call, cancel);
    },
  };
}

function replyOf(behaviour: Behaviour, good: () => Reply): Reply {
  switch (behaviour.kind) {
    case 'good':
      return good();
    case 'facts':
      return { facts: behaviour.value };
    case 'operations':
      return { operations: behaviour.value };
    case 'json':
      return JSON.stringify(behaviour.value);
    case 'text':
      return behaviour.text;
    case 'cut': {
      const whole = JSON.stringify(good());
      return new CutOff(whole.slice(0, Math.floor(whole.length * behaviour.share)));
    }
    case 'fault':
      return new EngineError('the model failed', behaviour);
  }
}
