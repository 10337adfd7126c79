import type { Millis } from '@slowwave/engine';
import { pick, seeded, shuffled } from '../worlds.ts';
import { CHINESE } from './chinese.ts';
import { ENGLISH } from './english.ts';
import type { Tongue, Topic } from './tongue.ts';

/** Two people who talk for months, and questions about what they said to each other. */
export interface Talk {
  readonly turns: readonly Turn[];
  readonly facts: readonly SaidFact[];
  readonly questions: readonly TalkQuestion[];
  /** Questions about what is said next, of which the topic is named by the messages before it. */
  readonly followUps: readonly Omit<TalkQuestion, 'fact'>[];
  /** Questions that nothing said answers, about topics that are not talked about. */
  readonly unanswered: readonly string[];
}

export interface Turn {
  readonly session: number;
  readonly at: Millis;
  readonly speaker: string;
  readonly text: string;
}

/** A fact that a turn says, or nearly the same of somebody else. */
interface SaidFact {
  readonly text: string;
  /** Where it was said: a place in the turns. */
  readonly turn: number;
}

interface TalkQuestion {
  readonly text: string;
  /** The turn that answers it. */
  readonly gold: string;
  /** The fact that does. */
  readonly fact: string;
}

export interface TalkOptions {
  readonly seed: number;
  readonly language: 'english' | 'chinese';
  /** Nearly the same is said of others, too. */
  readonly lookalikes?: boolean;
  /** So many of the topics are not talked about. */
  readonly untold?: number;
}

/** 2025-01-06T18:00:00Z. */
const START: Millis = 1_736_186_400_000;
const DAY: Millis = 86_400_000;
const SESSIONS_APART_DAYS = 9;
const MESSAGES_APART: Millis = 20_000;
/** Small talk before and after what is said. */
const SMALL_TALK = 3;
const TONGUES = { english: ENGLISH, chinese: CHINESE };

/**
 * Both talk about each topic, in different sessions and with different values: the other's answer, and small talk in which
 * a name is mentioned, are what a question finds by mistake. The same options make the same talk.
 */
export function talk({ seed, language, lookalikes = false, untold = 0 }: TalkOptions): Talk {
  const tongue = lookalikes ? TONGUES[language] : { ...TONGUES[language], relatives: [] };
  const random = seeded(seed);
  const { topics, speakers } = tongue;
  const helpers = shuffled(tongue.helpers, random);
  const chosen = shuffled(
    topics.slice(untold).flatMap((topic, place) => {
      const values = shuffled(topic.values, random);
      return speakers.map((speaker, i) => ({
        ...{ topic, speaker, value: values[i] ?? '' },
        helper: helpers[place * speakers.length + i] ?? '',
      }));
    }),
    random,
  );
  const sessions = chosen.map((one) => sessionOf(tongue, one, random));
  const turns = sessions.flatMap((session, number) =>
    session.turns.map((turn, i) => ({
      ...turn,
      session: number,
      at: START + number * SESSIONS_APART_DAYS * DAY + i * MESSAGES_APART,
    })),
  );
  return {
    turns,
    facts: sessions.flatMap(({ facts, gold }) =>
      facts.map((text) => ({ text, turn: turns.findIndex((turn) => turn.text === gold) })),
    ),
    questions: sessions.flatMap(({ questions }) => questions),
    followUps: sessions.flatMap(({ followUps }) => followUps),
    unanswered: topics
      .slice(0, untold)
      .flatMap(({ questions, values }) =>
        tongue.speakers.flatMap((s) =>
          questions.map((text) => text.replaceAll('{s}', s).replaceAll('{v}', values[0] ?? '')),
        ),
      ),
  };
}

interface SessionTopic {
  readonly topic: Topic;
  readonly speaker: string;
  readonly value: string;
  readonly helper: string;
}

type Random = () => number;

function sessionOf(tongue: Tongue, { topic, speaker, value, helper }: SessionTopic, random: Random) {
  const other = tongue.speakers.find((name) => name !== speaker) ?? speaker;
  const fill = (template: string, to: string): string =>
    template.replaceAll('{s}', speaker).replaceAll('{o}', to).replaceAll('{v}', value);
  const chat = (first: string, second: string) =>
    shuffled(tongue.smallTalk, random)
      .slice(0, SMALL_TALK)
      .map((template, i) => {
        const [from, to] = i % 2 === 0 ? [first, second] : [second, first];
        return { speaker: from, text: fill(template, to) };
      });
  const gold = fill(pick(topic.says, random), other);
  const asked = { speaker: other, text: fill(pick(topic.asks, random), speaker) };
  const template = pick(topic.facts, random);
  const fact = fill(template, other);
  const more = tongue.helps.replace('{h}', helper);
  const others = topic.values.filter((one) => one !== value);
  return {
    turns: [...chat(speaker, other), asked, { speaker, text: gold }, { speaker, text: more }, ...chat(other, speaker)],
    gold,
    facts: [
      fact,
      ...tongue.relatives.map((relative) =>
        template.replaceAll('{s}', fill(relative, other)).replaceAll('{v}', pick(others, random)),
      ),
    ],
    questions: topic.questions.map((question) => ({ text: fill(question, other), gold, fact })),
    followUps: [{ text: fill(tongue.whoHelps, other).replace('{a}', topic.about), gold: more }],
  };
}
