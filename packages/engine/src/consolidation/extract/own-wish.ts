import type { Spoken } from '../../messages/reading.ts';
import type { Fact } from '../../plan.ts';
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
  return said.some(({ message, text }) => message.role === 'user' && asksToForget(text));
}

/** Whether a text asks to have something forgotten, in words of its own: what it quotes in blocks and fences does not count. */
export function asksToForget(text: string): boolean {
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
/** Much is deleted in a chat: files, lines, rows. A memory is what somebody has told. */
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
