import { claimsOf, foldedOf, plainOf, standsIn, wordsIn } from '../text/claims.ts';
import { STOP_WORDS } from '../text/terms.ts';

/** The sentences of messages that a quote stands in; all of them, where it stands in none. */
export function sentencesAround(quote: string | null, texts: readonly string[]): string {
  const sentences = texts.flatMap((text) => text.split(SENTENCE_ENDS)).filter((sentence) => sentence.trim() !== '');
  const wanted = quote === null ? '' : plainOf(quote).trim();
  if (wanted === '') return texts.join('\n');
  const around = sentences.filter((sentence) => {
    const plain = plainOf(sentence).trim();
    return plain !== '' && (standsIn(quote ?? '', wordsIn(sentence)) || wanted.includes(plain));
  });
  return around.length === 0 ? texts.join('\n') : around.join('\n');
}

const SENTENCE_ENDS = /(?<=[.!?;])\s+|\n+|(?<=[。！？；])/u;

/** Whether a text denies something, in the languages of the prompts; words that look so in another language count as well. */
export const negates = (text: string): boolean => NEGATES.test(foldedOf(text)) || UNSPACED_NEGATES.test(text);

const NEGATES =
  /(?<!\p{L})(?:not|no|never|none|nothing|nobody|neither|nor|without|cannot|avoids?|nicht|nichts|kein\p{L}*|nie|niemals|ohne|nunca|sin|jamas|nada|pas|jamais|sans|rien|aucune?|non|mai|senza|niente|nao|sem|jamais|geen|niet|nooit|zonder|не|нет|никогда|без)(?!\p{L})|n['’]t(?!\p{L})/iu;
const UNSPACED_NEGATES = /[不没未无別别]|ない|ません|なし|않|못|없/u;

/** The language of a text, as surely as its script and its small words show it; null: it may be any. */
export function languageOf(text: string): string | null {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  if (letters === 0) return null;
  for (const { language, script } of SCRIPTS) {
    if ((text.match(script)?.length ?? 0) >= letters * OF_SCRIPT) return language;
  }
  const words = foldedOf(text.toLowerCase()).match(/[\p{L}]+/gu) ?? [];
  const found = Object.entries(SMALL_WORDS)
    .map(([language, small]) => ({ language, count: words.filter((word) => small.has(word)).length }))
    .sort((a, b) => b.count - a.count);
  const [best, next] = found;
  return best !== undefined && best.count >= 2 && best.count > (next?.count ?? 0) * 1.5 ? best.language : null;
}

/** Names and products are written in Latin letters in texts of every script. */
const OF_SCRIPT = 0.3;

/** Japanese has signs of its own beside those that Chinese has. */
const SCRIPTS: readonly { readonly language: string; readonly script: RegExp }[] = [
  { language: 'ja', script: /[\p{Script=Hiragana}\p{Script=Katakana}]/gu },
  { language: 'zh', script: /\p{Script=Han}/gu },
  { language: 'ko', script: /\p{Script=Hangul}/gu },
  { language: 'ru', script: /\p{Script=Cyrillic}/gu },
  { language: 'ar', script: /\p{Script=Arabic}/gu },
  { language: 'he', script: /\p{Script=Hebrew}/gu },
  { language: 'el', script: /\p{Script=Greek}/gu },
  { language: 'hi', script: /\p{Script=Devanagari}/gu },
  { language: 'th', script: /\p{Script=Thai}/gu },
];

const listed = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** Without accents. */
const SMALL_WORDS: Readonly<Record<string, ReadonlySet<string>>> = {
  en: listed(
    'the is are was i my his her their and to of in at with has have user users from for that this it lives likes works wants on not does a an',
  ),
  de: listed(
    'der die das den dem ist sind war ich mein meine meinen sein seine und zu von im am mit hat habe haben nutzer nutzerin aus fur dass es wohnt mag nicht ein eine einen auf',
  ),
  es: listed(
    'el la los las es son era yo mi su sus y de en con tiene tengo usuario usuaria del para que vive gusta no un una al por le me se',
  ),
  fr: listed(
    "le la les est sont etait je mon ma mes son sa ses et de en avec a ai utilisateur utilisatrice du pour que habite aime ne pas un une au des j l d s'",
  ),
  it: listed(
    'il lo la gli e sono era io mio mia suo sua di in con ha ho utente del per che vive piace non un una al si',
  ),
  pt: listed(
    'o a os as e sao era eu meu minha seu sua de em com tem tenho usuario usuaria do da para que mora gosta nao um uma ao',
  ),
  nl: listed(
    'de het een is zijn was ik mijn haar en van in met heeft heb gebruiker uit voor dat woont houdt niet op te',
  ),
};

/** Who a fact is about, beside the user: a name that it begins with, or that whoever is the user's has. null: nobody is named. */
export function subjectOf(text: string): string | null {
  const { names } = claimsOf(text);
  if (names.length === 0) return null;
  const words = plainOf(text).trim().split(' ');
  const [first = ''] = words;
  if (names.includes(first)) return first;
  if (first !== 'user' || words[1] !== 's') return null;
  const owned = words.slice(2, 2 + OWNED_WORDS);
  const at = owned.findIndex((word) => names.includes(word));
  return at === -1 || owned.slice(0, at).some((word) => STOP_WORDS.has(word)) ? null : (owned[at] ?? null);
}

/** "User's younger sister Anna". */
const OWNED_WORDS = 4;
