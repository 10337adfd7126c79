import type { ModelStore } from '../ports/ledger/ledger.ts';
import type { Embedder } from '../ports/models.ts';
import type { Cancellation } from '../ports/tools.ts';
import { cosine } from '../search/hits.ts';
import { withoutAsker } from '../search/traits.ts';
import type { JsonObject } from '../words.ts';
import { embedAll } from './embed.ts';
import { LEARNT, type QuestionCosines, type Vectors } from './vectors.ts';

/** What was measured of an embedder, and what follows from it. */
export interface Calibration {
  readonly vectors: Vectors;
  /** From which cosine on a memory may be what a fact changes, and one of two facts that are said together the other one. */
  readonly near: number;
  readonly pair: number;
  readonly languages: readonly LanguageCosines[];
}

/** Cosines of the samples of one language; medians, where nothing else is said. */
export interface LanguageCosines extends QuestionCosines {
  readonly language: string;
  /** Two facts that have nothing to do with each other; nine in ten are further apart than unrelatedMost. */
  readonly unrelated: number;
  readonly unrelatedMost: number;
  /** A fact and the same in other words. */
  readonly same: number;
  /** A fact and what replaces it; one in twenty is further away than updateLeast. */
  readonly update: number;
  readonly updateLeast: number;
  /** How often a question is nearer to its answer than to another fact, 0…1: by chance half of the time. */
  readonly told: number;
  /** The model knows the language well enough for what follows to rest on it. */
  readonly isKnown: boolean;
}

/** An embedder, as it reads what is stored and what is asked. */
interface Reading {
  readonly documents: Embedder;
  readonly queries: Embedder;
}

/** Embeds the samples, and finds in their cosines how those of this embedder read. */
export async function calibrate({ documents, queries }: Reading, cancel: Cancellation): Promise<Calibration> {
  const all = [...SAMPLES.values()].flat();
  const texts = all.flatMap(({ fact, paraphrase, update }) => [fact, paraphrase, update]);
  const asked = all.map(({ question }) => withoutAsker(question));
  const none = new Float32Array(documents.dimensions); // what the model refuses is like nothing
  const stored = (await embedAll(documents, texts, cancel)).map((vector) => vector ?? none);
  const questions = (await embedAll(queries, asked, cancel)).map((vector) => vector ?? none);
  const placed = all.map((_, i): Placed => {
    const [fact = none, paraphrase = none, update = none] = stored.slice(3 * i, 3 * i + 3);
    return { fact, paraphrase, update, question: questions[i] ?? none };
  });
  let at = 0;
  const pairs = [...SAMPLES].map(([language, samples]) => {
    at += samples.length;
    return [language, pairsOf(placed.slice(at - samples.length, at))] as const;
  });
  return readFrom(new Map(pairs));
}

/** A sample by its vectors. */
type Placed = Readonly<Record<keyof Sample, Float32Array>>;

/** Cosines by how two texts are related: `apart` are a question and what does not answer it. */
type Pairs = Readonly<Record<'unrelated' | 'same' | 'update' | 'apart' | 'answer', readonly number[]>>;

const pairsOf = (samples: readonly Placed[]): Pairs => ({
  unrelated: samples.flatMap(({ fact }, i) => samples.slice(i + 1).map((other) => cosine(fact, other.fact))),
  same: samples.map(({ fact, paraphrase }) => cosine(fact, paraphrase)),
  update: samples.map(({ fact, update }) => cosine(fact, update)),
  apart: samples.flatMap(({ question }, i) =>
    samples.flatMap(({ fact }, j) => (i === j ? [] : [cosine(question, fact)])),
  ),
  answer: samples.map(({ fact, question }) => cosine(question, fact)),
});

/** In a language that it knows, questions are nearer to their answers than to this share of other facts. */
const KNOWN = 0.9;

/** Languages that the model does not know say nothing about those that it knows; where it knows none, all are alike. */
function readFrom(pairs: ReadonlyMap<string, Pairs>): Calibration {
  const languages = [...pairs].map(([language, of]) => ({ language, ...cosinesOf(of) }));
  const known = languages.filter(({ isKnown }) => isKnown).map(({ language }) => language);
  const read = [...pairs].filter(([language]) => known.length === 0 || known.includes(language)).map(([, of]) => of);
  const { apart, apartMost, answer, unrelatedMost, updateLeast, told } = cosinesOf(pooled(read));
  const weak = known.length === 0 ? 1 : Math.min(1, Math.max(0, (TOLD_WELL - told) / (TOLD_WELL - KNOWN)));
  const words = LEARNT.words + weak * (WORDS_OF_WEAK - LEARNT.words);
  return {
    vectors: {
      kind: 'learnt',
      words: rounded(words),
      wordsOfMessages: rounded(LEARNT.wordsOfMessages + weak * (WORDS_OF_WEAK - LEARNT.wordsOfMessages)),
      questions: { apart, apartMost, answer: Math.max(answer, apart + SPREAD_LEAST) },
    },
    // What is asked needlessly costs a call; a change that is missed stays wrong.
    near: Math.min(unrelatedMost, updateLeast),
    // The model has read what is said together; so here a needless call weighs more.
    pair: updateLeast > unrelatedMost ? rounded((updateLeast + unrelatedMost) / 2) : updateLeast,
    languages,
  };
}

/** A model that tells them apart as well as this has the share of a good one, and one that hardly does that of hashed vectors. */
const TOLD_WELL = 0.97;
const WORDS_OF_WEAK = 0.8;
/** Of a model that does not know answers from other facts at all. */
const SPREAD_LEAST = 0.05;

const pooled = (all: readonly Pairs[]): Pairs => ({
  unrelated: all.flatMap(({ unrelated }) => unrelated),
  same: all.flatMap(({ same }) => same),
  update: all.flatMap(({ update }) => update),
  apart: all.flatMap(({ apart }) => apart),
  answer: all.flatMap(({ answer }) => answer),
});

function cosinesOf({ unrelated, same, update, apart, answer }: Pairs): Omit<LanguageCosines, 'language'> {
  const told = rounded(shareNearer(answer, apart));
  return {
    unrelated: quantile(unrelated, 0.5),
    unrelatedMost: quantile(unrelated, 0.9),
    same: quantile(same, 0.5),
    update: quantile(update, 0.5),
    updateLeast: quantile(update, 0.05),
    apart: quantile(apart, 0.5),
    apartMost: quantile(apart, 0.9),
    answer: quantile(answer, 0.5),
    told,
    isKnown: told >= KNOWN,
  };
}

function quantile(cosines: readonly number[], share: number): number {
  const sorted = cosines.toSorted((a, b) => a - b);
  return rounded(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
}

/** Of all pairs of one of each list, the share where the first is higher; half of a draw. */
function shareNearer(answers: readonly number[], others: readonly number[]): number {
  const won = answers.flatMap((answer) => others.map((other) => (1 + Math.sign(answer - other)) / 2));
  return won.reduce((sum, one) => sum + one, 0) / won.length;
}

/** More digits would say nothing. */
const rounded = (value: number): number => Math.round(value * 1_000) / 1_000;

/** Of a vector space: with other samples it is another one. */
const nameOf = (fingerprint: string): string => `calibration ${SAMPLES_VERSION} ${fingerprint}`;

/** null: it was never measured. */
export const knownCalibration = async (models: ModelStore, fingerprint: string): Promise<Calibration | null> =>
  (await models.get(nameOf(fingerprint))) as Calibration | null;

export const keepCalibration = (models: ModelStore, fingerprint: string, calibration: Calibration): Promise<void> =>
  models.put(nameOf(fingerprint), calibration as unknown as JsonObject);

/** Goes up whenever the samples change: what was measured with others is measured again. */
const SAMPLES_VERSION = 1;

/** A fact as it is remembered, the same in other words, what replaces it, and a question that it answers. */
interface Sample {
  readonly fact: string;
  readonly paraphrase: string;
  readonly update: string;
  readonly question: string;
}

/** What is known of one person in each language: nothing in a language is about the same as anything else in it. */
const LISTED: Readonly<Record<string, string>> = {
  English: `
User keeps bees behind the garage | There are beehives behind the user's garage | User gave the beehives away | What insects are behind the garage?
User is learning the accordion | User has begun to take accordion lessons | User has stopped practising the accordion | Which instrument is being learnt?
User's cousin Odile lives in Ghent | Ghent is home to the user's cousin Odile | User's cousin Odile has settled in Antwerp | Where is Odile's house?
User cannot stand coriander | Coriander tastes awful to the user | User has come to enjoy coriander | Which herb is disliked?
User repairs clocks for a living | User earns money by mending clocks | User left clockmaking to drive a tram | What is the job?
User's passport expires in March | In March the user's passport runs out | User has a new passport that lasts ten years | Until when is the travel document valid?
User is saving for a sailing boat | User puts money aside to buy a boat with sails | User has bought a sailing boat | What is the money being put aside for?
User sees a physiotherapist about the left shoulder | A physiotherapist treats the user's left shoulder | User's left shoulder has healed | Which part of the body hurts?
User never drives after dark | User avoids being behind the wheel at night | User drives at night again with new glasses | When is driving avoided?
User's team ships software every second Thursday | Releases of the user's team come out on Thursdays, every two weeks | User's team now releases software daily | How often are there releases?
User was born in a village near Split | The user's birthplace is a small place by Split | User was born in Zadar and not near Split | What is the place of birth?
User reads crime novels on the train | On train rides the user reads detective stories | User listens to podcasts on the train these days | What passes the time on the train?`,
  Chinese: `
用户对芒果过敏 | 用户一吃芒果就起疹子 | 用户的芒果过敏已经好了 | 哪种水果不能吃？
用户每周三晚上去游泳 | 星期三晚上用户都会游泳 | 用户改成周六早上游泳了 | 什么时候去锻炼？
用户在一家出版社做编辑 | 用户的职业是出版社的编辑 | 用户离开出版社去当老师了 | 从事什么工作？
用户的女儿叫小雨，今年五岁 | 用户有个五岁的女儿小雨 | 用户的女儿小雨满六岁了 | 孩子多大了？
用户打算秋天去冰岛看极光 | 用户计划秋季到冰岛旅行看极光 | 用户取消了去冰岛的旅行 | 下次旅行去哪里？
用户养了两只鹦鹉 | 用户家里有一对鹦鹉 | 用户把鹦鹉送人了 | 家里有什么宠物？`,
  German: `
Nutzer wohnt in einer WG in Leipzig | Der Nutzer lebt mit Mitbewohnern in Leipzig | Nutzer ist in eine eigene Wohnung nach Halle gezogen | In welcher Stadt ist das Zimmer?
Nutzer trinkt keinen Alkohol | Alkohol rührt der Nutzer nicht an | Nutzer trinkt jetzt gelegentlich Wein | Was wird nie getrunken?
Nutzer hat eine Katze namens Mohrle | Die Katze des Nutzers heißt Mohrle | Die Katze Mohrle ist gestorben | Welches Haustier gibt es?
Nutzer schreibt eine Doktorarbeit über Moore | Der Nutzer promoviert über Moorlandschaften | Nutzer hat die Doktorarbeit abgegeben | Worüber wird geforscht?
Nutzer spielt Posaune in der Blaskapelle | In der Blaskapelle ist der Nutzer Posaunist | Nutzer hat die Blaskapelle verlassen | Welches Instrument wird gespielt?
Nutzer fliegt im Mai nach Lissabon | Im Mai reist der Nutzer mit dem Flugzeug nach Lissabon | Nutzer fliegt statt nach Lissabon nach Malta | Wohin geht der Urlaub?`,
  Spanish: `
Usuario juega al ajedrez en un club los martes | Los martes el usuario va a su club de ajedrez | Usuario dejó el club de ajedrez | ¿Qué afición tiene?
Usuario está casado con Pilar | Pilar es la esposa del usuario | Usuario se ha divorciado de Pilar | ¿Quién es su pareja?
Usuario tiene la tensión alta | El médico le diagnosticó hipertensión al usuario | Usuario ya tiene la tensión normal | ¿Qué problema de salud tiene?
Usuario vende cerámica hecha a mano | El usuario hace piezas de barro y las vende | Usuario cerró su taller de cerámica | ¿Con qué gana dinero?
Usuario vive en un ático de Bilbao | El usuario tiene su casa en la última planta, en Bilbao | Usuario se mudó a un piso en Vitoria | ¿En qué ciudad está su casa?
Usuario tiene miedo a volar | Subir a un avión asusta al usuario | Usuario ya no tiene miedo a volar | ¿Qué le da pánico?`,
  French: `
Utilisateur prend le vélo pour aller au bureau | L'utilisateur se rend au travail à bicyclette | Utilisateur va maintenant au bureau en métro | Quel est le moyen de transport ?
Utilisateur est végétarien depuis dix ans | L'utilisateur ne mange plus de viande depuis une décennie | Utilisateur remange du poulet | Quel est son régime alimentaire ?
Utilisateur apprend le japonais le soir | Le soir, l'utilisateur étudie la langue japonaise | Utilisateur a abandonné le japonais pour le coréen | Quelle langue étudie-t-il ?
Utilisateur déteste les films d'horreur | Les films qui font peur déplaisent à l'utilisateur | Utilisateur adore désormais les films d'horreur | Quel genre de cinéma évite-t-il ?
Utilisateur travaille comme boulanger à Nantes | L'utilisateur fait du pain dans une boulangerie nantaise | Utilisateur a quitté la boulangerie pour devenir fleuriste | Quel est son métier ?
Utilisateur a une fille prénommée Solène | La fille de l'utilisateur s'appelle Solène | La fille de l'utilisateur, Solène, est partie vivre à Rome | Comment s'appelle son enfant ?`,
  Japanese: `
ユーザーは京都に住んでいる | ユーザーの家は京都にある | ユーザーは福岡に引っ越した | どこに家がありますか？
ユーザーは毎朝コーヒーを飲む | ユーザーの朝はいつもコーヒーで始まる | ユーザーはコーヒーをやめて紅茶にした | 朝に何を飲みますか？
ユーザーの弟は消防士だ | ユーザーの弟は消防署で働いている | ユーザーの弟は消防士を辞めた | 弟の職業は何ですか？
ユーザーは猫アレルギーがある | 猫に近づくとユーザーはくしゃみが止まらない | ユーザーの猫アレルギーは治った | どの動物が苦手ですか？
ユーザーは来月マラソンに出る | 来月、ユーザーはマラソン大会で走る | ユーザーはマラソンの出場を取りやめた | どんな大会に参加しますか？
ユーザーはバイオリンを習っている | ユーザーはバイオリンの教室に通っている | ユーザーはバイオリンをやめてギターを始めた | 何の楽器を練習していますか？`,
};

/** By language. */
export const SAMPLES: ReadonlyMap<string, readonly Sample[]> = new Map(
  Object.entries(LISTED).map(([language, lines]) => [language, lines.trim().split('\n').map(sampleIn)]),
);

function sampleIn(line: string): Sample {
  const [fact = '', paraphrase = '', update = '', question = ''] = line.split(' | ');
  return { fact, paraphrase, update, question };
}
