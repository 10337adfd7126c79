import {
  type Embedder,
  EngineError,
  estimateTokens,
  HASH_VECTOR_VERSION,
  hashVector,
  type Tools,
  topicsOf,
} from '@slowwave/engine';
import { FORGET, FORGET_IN_CHINESE } from './decide.ts';

const DIMENSIONS = 1_024;

/** Vectors of hashed words, for trying out and for tests: no key, no network, the same on every machine. */
export function builtinEmbedder({ breathe }: Pick<Tools, 'breathe'>, dimensions: number = DIMENSIONS): Embedder {
  return {
    fingerprint: `builtin:${HASH_VECTOR_VERSION}.${EXPANSION_VERSION}:${dimensions}`,
    dimensions,
    embed: async (texts, cancel) => {
      if (cancel.aborted) {
        throw new EngineError('embedding was cancelled before it began', { code: 'cancelled', retryable: true });
      }
      const vectors: Float32Array[] = [];
      for (const text of texts) {
        vectors.push(hashVector(expand(text), dimensions));
        await breathe();
      }
      return {
        vectors,
        usage: { promptTokens: texts.reduce((total, text) => total + estimateTokens(text), 0), completionTokens: 0 },
      };
    },
  };
}

/** Goes up whenever the same text is expanded otherwise: part of the fingerprint of the vector space. */
const EXPANSION_VERSION = 2;

/** Words by which questions ask for an attribute and facts state it, in English and Chinese. */
const TOPICS: readonly (readonly [topic: string, words: RegExp])[] = [
  [
    'residence',
    /\b(?:lives?|living|resides?|residence|address|based|moved to|home ?town|which city|what city|where is \w+ (?:home|house)|current (?:city|location)|home)\b|住|搬|居|地址|哪个城市|家在/iu,
  ],
  [
    'origin',
    /\b(?:from where|where .*\bfrom|is from|come from|comes from|origin(?:ally)?|born in|birthplace|grew up|nationality|home ?town|homeland)\b|来自|老家|家乡|籍贯|出生在|哪里人|哪儿人|长大|国籍/iu,
  ],
  [
    'name',
    /\b(?:name|named|called|who (?:is|am|are) (?:the user|she|he|i|you|they))\b|名字|姓名|叫什么|姓什么|是谁|称呼/iu,
  ],
  ['age', /\b(?:age|how old|years? old|birthday|born on|birth ?date|date of birth)\b|岁|年龄|多大|生日|出生于|几岁/iu],
  [
    'work',
    /\b(?:works?|working|job|occupation|profession|employer|employed|career|company|for a living|what does \w+ do\b)|工作|职业|上班|职位|公司|从事|做什么的/iu,
  ],
  [
    'study',
    /\b(?:stud(?:y|ies|ying|ent)|major|university|college|school|degree|attends|education|graduated)\b|学生|读书|专业|大学|上学|毕业|学历|学校/iu,
  ],
  [
    'family',
    /\b(?:famil(?:y|ies)|married|single|divorced|engaged|spouse|wife|husband|partner|kids?|child(?:ren)?|son|daughter|siblings?|brother|sister|parents?|mother|father|mom|dad)\b|家人|结婚|已婚|单身|离婚|老婆|妻子|丈夫|老公|孩子|儿子|女儿|兄弟|姐妹|妈妈|爸爸|父母/iu,
  ],
  ['pet', /\b(?:pets?|dogs?|cats?|pupp(?:y|ies)|kittens?|animals?|hamster|parrot|rabbit)\b|宠物|猫|狗|动物|养了/iu],
  ['allergy', /\b(?:allerg\w+|intoleran\w+|avoid eating|can ?not eat|safe to eat)\b|过敏|忌口|不能吃/iu],
  [
    'health',
    /\b(?:health|illness|disease|diagnosed|suffers?|diabetes|asthma|medical|condition|sick|allerg\w+|injur\w+)\b|健康|病|过敏|症|身体/iu,
  ],
  [
    'food',
    /\b(?:eats?|eating|food|foods|cuisine|dish|drinks?|diet|vegan|vegetarian|meal|dinner|lunch|breakfast|restaurant|spicy|coffee|tea|pizza|sushi|meat)\b|吃|喝|食物|口味|菜|饮食|素|辣|餐/iu,
  ],
  [
    'liking',
    /\b(?:likes?|loves?|enjoys?|prefers?|preferences?|favou?rites?|fond|fan of|is into|interested|hobb(?:y|ies)|interests?|free time|spare time|for fun)\b|喜欢|爱好|最爱|热爱|偏爱|兴趣|爱吃|爱喝|业余/iu,
  ],
  [
    'dislike',
    /\b(?:hates?|dislikes?|detests?|not (?:like|enjoy)|no longer likes|not a (?:\w+ )?fan)\b|不喜欢|讨厌|厌恶|不爱|不吃/iu,
  ],
  [
    'plan',
    /\b(?:plans?|planning|intends?|goals?|wants to|going to|will|upcoming|future|next (?:week|month|year)|dreams?|would like to|hopes)\b|打算|计划|准备|目标|梦想|想去|要去|将来|未来/iu,
  ],
  [
    'travel',
    /\b(?:travel\w*|trips?|vacation|holidays?|visit\w*|flights?|been to|went to)\b|旅游|旅行|去过|去了|出国|度假/iu,
  ],
  [
    'sport',
    /\b(?:sports?|exercises?|workout|runs?|running|football|soccer|tennis|basketball|badminton|swim\w*|gym|yoga|hik\w+|cycl\w+|marathon)\b|运动|跑步|健身|篮球|足球|羽毛球|游泳|瑜伽/iu,
  ],
  ['music', /\b(?:music|instruments?|guitar|piano|violin|drums|sings?|songs?|bands?)\b|音乐|乐器|钢琴|吉他|唱歌/iu],
  ['language', /\b(?:languages?|speaks?|fluent)\b|语言|会说|母语/iu],
  ['vehicle', /\b(?:cars?|drives?|bikes?|vehicle|motorcycle)\b|车|开车/iu],
  ['contact', /\b(?:e-?mail|phone|contact|number)\b|邮箱|电话|手机|联系/iu],
];
const OF_OTHERS =
  /\b(?:wife|husband|partner|girlfriend|boyfriend|sister|brother|mother|father|mom|mum|dad|son|daughter|friend|boss|dog|cat)(?:'s)?\b|老婆|妻子|丈夫|老公|妈妈|爸爸|妹妹|弟弟|哥哥|姐姐|儿子|女儿|朋友/iu;
/** What people around the user have too: their home is not the user's. */
const PERSONAL = new Set(['residence', 'origin', 'name', 'age', 'work', 'study']);

/** A text followed by a word for each attribute it is about, so that a question meets its fact without sharing a word. */
function expand(text: string): string {
  const said = text.replace(FORGET, '').replace(FORGET_IN_CHINESE, '');
  const theirs = OF_OTHERS.test(said);
  const topics = TOPICS.filter(([, words]) => words.test(said)).map(([topic]) =>
    theirs && PERSONAL.has(topic) ? `others${topic}` : `topic${topic}`,
  );
  // What a question and its fact are about, though they share no word: what only points to a topic is left out.
  const about = [...topicsOf(said)].flatMap(([topic, weight]) => (weight === 1 ? `about${topic}` : []));
  return [said, ...topics, ...about].join(' ');
}
