import { type Spoken, trustOf } from '../../messages/messages.ts';
import type { Fact } from '../../plan.ts';
import { spokenWords } from '../../text/claims.ts';
import { normaliseText } from '../../text/normalise.ts';

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
