import { type Spoken, trustOf } from '../../messages/messages.ts';
import type { RawFact } from '../../models/parse/listed.ts';
import type { Fact } from '../../plan.ts';
import { factTerms, spokenWords } from '../../text/claims.ts';
import { millisOf } from '../../text/dates.ts';
import { normaliseText } from '../../text/normalise.ts';
import { containment, once, termSet } from '../../text/terms.ts';
import type { Role } from '../../words.ts';

/** A text longer than this is not one fact. Verbatim messages and procedures are stored whole. */
export const FACT_MAX = 4_000;
export const TOO_LONG = `longer than ${FACT_MAX} characters, so not a single fact`;

/** Why a fact that gives no secret away is not worth keeping; null when it is. Each rule is one reason, recorded in the plan. */
export function junkReason(fact: RawFact, window: Window): string | null {
  for (const rule of RULES) {
    const reason = rule(fact, window);
    if (reason !== null) return reason;
  }
  return null;
}

type Rule = (fact: RawFact, window: Window) => string | null;

const tooLong: Rule = ({ text }) => (text.length > FACT_MAX ? TOO_LONG : null);
const bareDate: Rule = ({ text }) => (DIGIT_FIRST.test(text) && millisOf(text) !== null ? 'only a date' : null);
const DIGIT_FIRST = /^\s*\d/u;
const wordless: Rule = ({ text, words }) => (WORD.test(text) || WORD.test(words.whole) ? null : 'contains no words');
const WORD = /[\p{L}\p{N}]/u;
const chatter: Rule = ({ text, words }) =>
  (text.length <= LONGEST && !text.startsWith('User ') && FIRST.test(words.begin) && greets(words.whole)) ||
  isChatter(text)
    ? 'about the conversation, not the user'
    : null;
const question: Rule = ({ text }) => (isQuestion(text) ? 'a question, not a fact' : null);
const echo: Rule = (fact, window) => (echoesSystem(fact, window) ? 'only repeats the system prompt' : null);

const RULES: readonly Rule[] = [tooLong, bareDate, wordless, chatter, question, echo];

export const secretReason = (kind: string): string => `secret: ${kind}`;

/** Why nothing can be remembered of a message, were it alone; null when something may. */
export function idleReason({ message, text }: Spoken, { agent }: { readonly agent: boolean }): string | null {
  if (text === '') return 'empty message';
  if (message.role === 'system') return 'said by the system, not by anyone';
  if (isGreeting(text)) return 'greeting or thanks';
  return message.role === 'assistant' && !agent ? 'said by the assistant, not by the user' : null;
}

/** Whether a fact says only that something was said in the conversation, and nothing that holds after it. */
export const isChatter = (fact: string): boolean =>
  mayBeChatter(fact) && CHATTER.test(fact.trim()) && !speaksOfForgetting(fact);

/** Most facts say by their second word that they are none: found out many times as fast as by the pattern. */
function mayBeChatter(fact: string): boolean {
  if (!fact.startsWith('User ')) return true;
  const end = fact.indexOf(' ', 'User '.length);
  return end === -1 || BEHIND_USER.has(fact.slice('User '.length, end).toLowerCase());
}

/** What stands behind "User" in the pattern below. */
const BEHIND_USER: ReadonlySet<string> = new Set(
  (
    'has have just also only then said says is replied responded answered greeted greets thanked thanks asked asks was inquired inquires ' +
    'enquired wondered wonders wants wanted would needs requested requests started began having chatting talking a speaking sent provided ' +
    'shared typed entered'
  ).split(' '),
);

const SUBJECT = '(?:the |this )?(?:user|speaker|human|person|customer)(?: has| have| just| also| only| then)*';
/** What is asked about; who is asked would make it an event of the user's life ("asked Maria to marry him"). */
const QUESTION =
  '(?:the (?:assistant|ai|bot|agent) )?(?:about|if|whether|what|when|where|who|whom|which|why|how)(?!\\p{L})';
const SERVICE =
  '(?:the (?:assistant|ai|bot|agent)|(?:a |an |some |more |for )*(?:help|assistance|information|advice|recommendations?|suggestions?|tips|explanations?|directions|details|summary|translation|clarification|questions?)(?!\\p{L}))';
const GREETING =
  '(?:hello|hi|hey|goodbye|good ?bye|bye|thanks|thank you|good (?:morning|afternoon|evening|night)|nothing|ok(?:ay)?|yes|no)';

const TALKING = [
  `(?:said|says|is saying|replied|responded|answered)(?: with)? ["'“‘]?${GREETING}(?!\\p{L})["'”’]?(?: to (?:the|an?) [\\p{L} ]{1,30})?[.!]?$`,
  '(?:greeted|greets|is greeting|thanked|thanks|is thanking)(?: (?:the )?(?:assistant|ai|bot|agent|me|us))?(?: (?:for|with) [^.]{0,60})?[.!]?$',
  `(?:asked|asks|is asking|was asking|inquired|inquires|is inquiring|enquired|wondered|wonders|is wondering) ${QUESTION}`,
  `(?:wants|wanted|would like|is trying|needs) to (?:know|ask|find out) ${QUESTION}`,
  `(?:asked|asks|is asking|requested|requests|is requesting|is looking|needs)(?: for)? ${SERVICE}`,
  '(?:is |started |began |is having )?(?:chatting|talking|having a conversation|a conversation|speaking) (?:with|to) (?:the |an? )?(?:assistant|ai|bot|agent|chatbot)',
].join('|');

/** One pattern: most facts begin like those of it, and each pattern would find that out anew. */
const CHATTER = new RegExp(
  `^(?:${[
    `${SUBJECT} (?:${TALKING})`,
    '(?:the |this )?conversation (?:is|was|began|begins|started|starts|ended|ends)(?!\\p{L})',
    '(?:the )?user (?:sent|provided|shared|typed|entered) (?:an? )?(?:empty |blank |test )?(?:message|input|greeting|no information)(?!\\p{L})',
    '(?:这个|该)?用户(?:刚刚?|又|向助手|对助手)?(?:打了?个?招呼|打招呼|问好|问候|说了?[“"「]?(?:你好|谢谢|再见)|表示(?:感谢|谢意)|道谢|致谢|道别|感谢了?助手)',
    '(?:这个|该)?用户(?:正在|刚刚?|又|向助手)?(?:询问|在问|问了?(?:关于|一下|天气|时间|什么|怎么|如何|为什么|哪)|想知道|请求(?:帮助|协助|建议|推荐|信息))',
  ].join('|')})`,
  'iu',
);

/** Whether a fact is a question, word for word: it asks, and says nothing. */
export function isQuestion(fact: string): boolean {
  const asked = fact.trim();
  return QUESTION_MARKS.has(asked.slice(-1)) && QUESTIONS.some((form) => form.test(asked));
}

const QUESTION_MARKS: ReadonlySet<string> = new Set(['?', '？']);
const QUESTIONS = [
  /^(?:(?:and|but|so|or|well|ok(?:ay)?),? )?(?:what|when|where|who|whom|whose|which|why|how|is|are|am|was|were|do|does|did|can|could|will|would|should|shall|may|might|have|has|any)(?:'s|'re|n't)?\s[^\n]*\?$/iu,
  /^(?!用户)[^\n]*(?:吗|呢|什么|怎么|怎样|哪|谁|几|多少|如何|为什么)[^\n]*？$/u,
];

/** Whether a message only greets, thanks or takes leave: nothing can be remembered of it. Yes, no and okay may be answers. */
export const isGreeting = (text: string): boolean => text.length <= LONGEST && greets(normaliseText(text));

function greets(words: string): boolean {
  if (!FIRST.test(words)) return false;
  const said = words.replaceAll('’', "'");
  const left = said.replace(PHRASES, ' ');
  return left !== said && !/[\p{L}\p{N}]/u.test(left);
}

/** Characters; longer messages say something. */
const LONGEST = 160;

const ENGLISH = [
  '(?:hi|hello|hey)(?: there| again| everyone| all)?',
  'hiya|howdy|greetings|welcome(?: back)?',
  'good (?:morning|afternoon|evening|night|day)',
  "how are (?:you|things)(?: doing)?(?: today)?|how's it going|what's up",
  "(?:it's )?(?:nice|good|great) to (?:meet|see) you(?: again| too)?",
  '(?:many )?thanks(?: a lot| so much| very much| a bunch| again| in advance)?|thx|ty',
  '(?:ok(?:ay)? )?thank you(?: so much| very much| again| in advance)?|much appreciated|cheers',
  "you're welcome|you are welcome|no problem|my pleasure|any ?time",
  '(?:good)?bye(?: bye| for now)?|see (?:you|ya)(?: later| soon| tomorrow)?|take care|talk (?:to you )?(?:later|soon)',
  '(?:have a |enjoy your )(?:nice|good|great|lovely|wonderful)? ?(?:day|evening|weekend|night|one)',
  '(?:how|what) (?:can|may) i (?:help|assist|do for)(?: you)?(?: with)?(?: today)?',
  'is there anything else i can (?:help|do)(?: you with| for you)?(?: today)?',
  'let me know if (?:you need anything(?: else)?|there is anything else)',
].join('|');
/** The same of German, French, Spanish, Portuguese and Italian. */
const EUROPEAN = [
  'hallo|moin|servus|grüß gott|guten (?:morgen|tag|abend)|gute nacht|auf wiedersehen|tschüss?|bis (?:bald|morgen|später)',
  '(?:vielen|herzlichen|besten) dank|danke(?: dir| ihnen)?(?: schön| sehr| vielmals)?|dankeschön',
  "bonjour|bonsoir|bonne (?:nuit|journée|soirée)|salut|coucou|au revoir|à (?:demain|bientôt|plus(?: tard)?)|merci(?: beaucoup| bien| d'avance)?",
  '(?:muy )?buen[oa]s (?:días|tardes|noches)|hola|adiós|hasta (?:luego|mañana|pronto)|(?:muchas |mil )?gracias',
  'olá|oi|bom dia|boa (?:tarde|noite)|tchau|até (?:logo|amanhã|breve)|(?:muito )?obrigad[oa]',
  'ciao|buon(?:giorno|asera|anotte)|arrivederci|a (?:domani|presto)|(?:mille |molte )?grazie(?: mille)?',
].join('|');
const CHINESE = [
  '(?:你|您|大家)们?好[呀啊哦吗]?',
  '嗨|哈[喽啰罗]|在吗|早上好|早安|早[呀啊]|中午好|下午好|晚上好|晚安|午安',
  '(?:非常|十分|太|多)?(?:感谢|谢谢?)(?:你|您|大家)?[了啦呀啊哦]?',
  '不客气|不用谢|辛苦[了啦]|再见|拜拜|回头见|明天见|祝你?好运',
  '(?:请问)?有什么(?:可以|能|需要)?(?:帮|为|帮助|协助)(?:到|助)?(?:你|您)?(?:的|做的|效劳的)?吗?',
].join('|');
const PHRASES = new RegExp(`(?<![\\p{L}\\p{N}'])(?:${ENGLISH}|${EUROPEAN})(?![\\p{L}\\p{N}'])|${CHINESE}`, 'gu');
/** A greeting begins with one of them: other texts are not looked through for more. */
const FIRST = new RegExp(`^[^\\p{L}\\p{N}]*(?:${`${ENGLISH}|${EUROPEAN}`.replaceAll("'", "['’]")}|${CHINESE})`, 'u');

/** Whose words can bring a fact, or a relation. Tools report; assistants and systems do not know. */
export const HEARD: ReadonlySet<Role> = new Set<Role>(['user', 'tool']);

/** What a fact may have been taken from. */
export type Window = ReturnType<typeof windowOf>;

/** `heard`: what users and tools said. Each text is held against every fact: what it is compared by is made once. */
export const windowOf = (system: readonly string[], heard: readonly string[]) => ({
  ...{ system, heard },
  comparable: once((text: string) => ({ words: normaliseText(text), terms: termSet(text) })),
});

/** So much of a fact's words stands in one system message that it came from there… */
const FROM_SYSTEM = 0.8;
/** …unless somebody said at least this much of it. */
const SUPPORTED = 0.34;
/** Whether a fact repeats the system prompt, and nobody in the conversation said it. */
export function echoesSystem(fact: { readonly text: string; readonly quote: string | null }, window: Window): boolean {
  if (window.system.length === 0) return false;
  const asked = factTerms(fact.text);
  if (asked.size === 0) return false;
  const { system, heard, comparable } = window;
  if (!system.some((text) => containment(asked, comparable(text).terms) >= FROM_SYSTEM)) return false;
  const quote = normaliseText(fact.quote ?? '');
  return !heard
    .map(comparable)
    .some(({ words, terms }) => (quote !== '' && words.includes(quote)) || containment(asked, terms) >= SUPPORTED);
}

/**
 * The category of a wish to have something forgotten. Such a fact deletes what it is about, or nothing; it is never
 * remembered itself: a memory of what somebody wanted gone would keep it.
 */
export const FORGET_CATEGORY = 'forget';

export const isWishToForget = ({ category }: Pick<Fact, 'category'>): boolean => category === FORGET_CATEGORY;

/** What a model says a wish to forget rests on. */
interface Claim {
  readonly quote: string | null;
  readonly sourceIds: readonly string[];
}

/**
 * Whether users themselves asked to have something forgotten. What tools print, assistants say and systems instruct asks
 * for nothing, and neither does a model: who obeys an order that stands in a text can call it a wish, but not make one.
 */
export function isOwnWish({ quote, sourceIds }: Claim, heard: readonly Spoken[]): boolean {
  const words = normaliseText(quote ?? '');
  const quoted = words === '' ? [] : heard.filter(({ text }) => normaliseText(text).includes(words));
  // Models copy badly: a quote that stands nowhere does not make a wish somebody else's.
  const said = quoted.length > 0 ? quoted : heard.filter(({ message }) => sourceIds.includes(message.id));
  return said.some(({ message, text }) => trustOf(message) === 'user' && asksToForget(text));
}

/** Whether a text asks to have something forgotten, in words of its own: what it quotes in blocks and fences does not count. */
export function asksToForget(text: string): boolean {
  if (!mayAsk(text)) return false;
  const own = text.replace(FENCED, '').replace(QUOTED_LINES, '').normalize('NFKC').replaceAll('’', "'");
  return ASKING.some((form) => form.test(own));
}

const FENCED = /```[\s\S]*?(?:```|$)/gu;
const QUOTED_LINES = /^[ \t]{0,8}>.*$/gmu;

/** Said of oneself, or not to be done: "I forgot", "don't forget". */
const ENGLISH_FORGET =
  /(?<!n't |\b(?:not|never|cannot|dont|i|we|he|she|they|people|always|often|easily|tend to|sometimes) )\b(?:forget|unlearn)\b(?! to\b)/iu;
const ENGLISH_MAY_FORGET = /\b(?:can|could|shall|should|may) we (?:please |just |all )?forget\b/iu;
const ENGLISH_NOT_REMEMBER =
  /\b(?:(?:don't|do not|dont|no longer|never|stop|should not|shouldn't) (?:remember|store|save|keep|mention)(?:ing)?|(?:want|wants|like|love|have) (?:\S+ ){1,6}forgotten)\b/iu;
/** Much is deleted in a chat: files, lines, rows. A memory is what somebody has said. */
const ENGLISH_DELETE =
  /\b(?:delete|erase|remove|wipe|purge|scrub|clear)\b(?! (?:the )?(?:file|folder|row|line|column|branch|comment))[^.!?\n]{0,40}?\b(?:that i|what i|my|me|everything|all|the fact|about|memor(?:y|ies)|remember|know|this|that|it)\b/iu;

/** Not 别忘 (do not forget), 我忘了 (I forgot); but 把我忘了 (forget me). */
const CHINESE_FORGET = /(?<!别|不要|不会|不能|没|没有|难|勿|(?<!把)我|我们|经常|总是|老是)忘(?:记|掉|了|却)/u;
const CHINESE_DELETE =
  /(?:删除|删掉|删了|刪除|刪掉|抹掉|抹去|清除|清空|移除).{0,20}?(?:我|记|記|信息|資料|资料|这|那|所有|全部|一切|关于)|(?:把|将).{1,30}?(?:删|刪|抹|清除|移除)/u;
const CHINESE_NOT_REMEMBER = /(?:不要|别|不用|不必|停止)(?:再|继续)?(?:记|記|保存|保留|提)/u;

/** Other languages by the stems of their imperatives, at the beginning of a word: a wish must not need English. */
const STEMS =
  /(?<![\p{L}\p{M}])(?:vergiss|vergesst|vergessen sie|lösch|oublie|efface|supprim|olvid[ae]|olvídate|borra|elimin|esque[cç]|apag[au]|dimentic|cancell[ai]|vergeet|verwijder|wis |glöm|glem|radera|slett|slet |zapomn|usuń|забуд|удали|сотри|unut|sil(?:in)?[ ,.!]|انس|احذف|امسح|भूल|हटा|मिटा)/iu;
const EAST_ASIAN = /忘れて|忘れろ|削除|消して|記憶しないで|잊어|삭제|지워/u;

const ASKING: readonly RegExp[] = [
  ENGLISH_FORGET,
  ENGLISH_MAY_FORGET,
  ENGLISH_NOT_REMEMBER,
  ENGLISH_DELETE,
  CHINESE_FORGET,
  CHINESE_DELETE,
  CHINESE_NOT_REMEMBER,
  STEMS,
  EAST_ASIAN,
];

/** Whether a text speaks of forgetting at all, as facts do that tell of such a wish. */
export const speaksOfForgetting = (text: string): boolean => FORGETTING.test(text);

/** Whether a text, or a word of it, may ask: found out many times as fast as by the forms above. */
export const mayAsk = (text: string): boolean => ASKED_WITH.test(text);

/** The verbs of the forms by what they begin with. */
const FORGETTING =
  /forg[eo]t|unlearn|eras|delet|remov|vergess|vergiss|lösch|oubli|efface|supprim|olv[ií]d|borr|elimin|esque[cç]|apag|dimentic|cancell|vergeet|verwijder|glöm|glem|slett|zapomn|usuń|заб[ыу]|удал|сотр|unut|忘|删|刪|抹|清除|移除|削除|消して|잊|삭제|지워|انس|احذف|امسح|भूल|हटा|मिटा/iu;
/** Who asks not to remember says so by what else is done with things; who wants something forgotten names it first. */
const ASKED_WITH = new RegExp(
  `${FORGETTING.source}|want|remember|stor|sav|keep|mention|wip|purg|scrub|clear|wis |slet |radera|sil|[清记記保留提]`,
  'iu',
);

/**
 * What a text says besides its wishes to forget, sentence by sentence: a wish names what it wants gone, and that is no reason to
 * remember it. A sentence that says something else as well is kept whole: "Forget tea, I drink coffee now".
 */
export const withoutWishes = (text: string): string =>
  text.length <= ASKED_IN && asksToForget(text)
    ? text
        .split(SENTENCE_ENDS)
        .filter((sentence) => !isWish(sentence))
        .join('')
    : text;

/** In characters: nobody writes pages to ask for it. */
const ASKED_IN = 4_000;

const SENTENCE_ENDS = /(?<=[.!?…]["”’)]*\s|[。！？\n])/u;

/** Whether a sentence begins by asking, and goes on with nothing else. */
function isWish(sentence: string): boolean {
  if (!mayAsk(sentence)) return false;
  const own = sentence.normalize('NFKC').replaceAll('’', "'");
  const asked = WISHES.map((form) => form.exec(own)).find((found) => found !== null);
  if (asked === undefined) return false;
  const [, ...others] = own.slice(asked[0].length).split(CLAUSES);
  return others.every((clause) => spokenWords(clause) < SAYING_WORDS || GOES_ON.test(clause));
}

/** What is asked politely, and what it is asked with. */
const POLITE =
  "[\\s\\p{P}]|(?:please|pls|kindly|just|now|also|and|but|so|then|ok(?:ay)?|oh|well|actually|hey|hi|can|could|will|would|you|we|i(?:'d| would)? (?:want|need|like|love) you to|i(?:'d| would)?(?= (?:want|like|love|have) )|bitte|und|aber|kannst|könntest|du|por favor|y|pero|puedes|s'il (?:te|vous) plaît|et|mais|peux-tu|e|mas|per favore)(?![\\p{L}\\p{M}])|请|麻烦你?|帮我|我?(?:希望|想要?|要)你|能不能|你?可以|どうか";

const WISHES = ASKING.map(({ source }) => new RegExp(`^(?:${POLITE})*(?:${source})`, 'iu'));

/** Where a sentence may go on with something else… */
const CLAUSES =
  /[,;:–—，、；：]|\s-\s|(?<![\p{L}\p{M}])(?:and|or|but|because|since|und|aber|y|pero|et|mais|e|mas|ma)(?![\p{L}\p{M}])/iu;
/** …if it is so many words… */
const SAYING_WORDS = 3;
/** …and not one more thing to forget. */
const GOES_ON = /^\s*(?:that|what|about|dass|was|que|qu'|de que|che)(?![\p{L}\p{M}])/iu;
