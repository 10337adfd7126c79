/**
 * A text without its frame: the words for the user with which nearly every fact begins ("User", "The user's", "Nutzer", "用户的"), and by
 * which questions ask for them ("What does the user like?"). Any two facts have them in common, so that they say nothing of what a
 * fact is about. Only the beginning is a frame: "User manages the users table" is about users, and is found by "users table".
 */
export function withoutFrame(text: string): string {
  const began = text.replace(BEGINNING, '');
  const told = MARK.test(began) || ASKS.test(began) ? began.split(SENTENCES).map(unasked).join('') : began;
  return told === text || !SAYS.test(told) ? text : told;
}

/** Words for the user, as the product calls them in facts; of languages that inflect nouns, the forms in which a fact may begin. */
export const FRAME_WORDS: readonly string[] = words(`
  user nutzer nutzers nutzerin benutzer benutzers benutzerin usuario usuaria usuário usuária utilisateur utilisatrice utente utilizator
  utilizatorul gebruiker gebruikster bruger brugeren bruker brukeren användare användaren käyttäjä użytkownik użytkowniczka użytkownika
  użytkownikowi uživatel uživatelka пользователь пользователя пользователю пользовательница користувач користувача kullanıcı pengguna
  用户 用戶 使用者 ユーザー ユーザ 사용자`);

/** What may stand before them, and be apart or not; in English not "a", which is any user. */
const ARTICLES = words(`the der die das den dem des el la al del o a(?!\\s+user) ao do da de lo il у`);
const ANY_USER = '(?<!(?<![\\p{L}])(?:a|any|each|every|one|no)\\s)';
const CONTRACTED = words(`l all dell d`);
/** What binds them to what follows, in scripts without spaces. */
const PARTICLES = words('的 は が を に も と の 는 의 가 이 을 를 에게 은');
/** What makes another word of them: users, a user name. */
const NO_FRAME_BEFORE = '们|們|名(?!叫|字|为)|들|[\\p{Script=Katakana}ー]';
/** After "user" these are one word with it, and no fact goes on so. */
const COMPOUNDS = words(`
  account accounts agent base data database databases experience feedback flow flows group groups id ids input interface interfaces interview
  journey journeys management manual name permission permissions profile profiles research role session sessions story stories table
  tables testing`);

function words(listed: string): readonly string[] {
  return listed.trim().split(/\s+/);
}

const UNSPACED = /[\p{Script=Han}\p{Script=Katakana}\p{Script=Hangul}]/u;
const anyOf = (some: readonly string[]): string => some.join('|');

const SPACED =
  `(?:(?:${anyOf(ARTICLES)})\\s+|(?:à\\s+)?(?:${anyOf(CONTRACTED)})['’])?` +
  `(?:${anyOf(FRAME_WORDS.filter((word) => !UNSPACED.test(word)))})` +
  `(?:['’]s(?![\\p{L}\\p{N}])|(?![\\p{L}\\p{M}\\p{N}_@'’-]|\\.[\\p{L}\\p{N}]|\\s+(?:${anyOf(COMPOUNDS)})(?![\\p{L}\\p{N}])))`;
const RUN_ON = `(?:${anyOf(FRAME_WORDS.filter((word) => UNSPACED.test(word)))})(?!${NO_FRAME_BEFORE})(?:${anyOf(PARTICLES)})?`;

const BEGINNING = new RegExp(`^[\\s"'“”„«‘’(（「『*•–-]*(?:${SPACED}|${RUN_ON})`, 'iu');
const WITHIN = new RegExp(`(?<![\\p{L}\\p{M}\\p{N}_.@'’-])${ANY_USER}${SPACED}|${RUN_ON}`, 'giu');

const SENTENCES = /(?<=[.!?。！？\n])/u;
const MARK = /[?？]/u;
/** Questions that are typed without a mark. */
const ASKS =
  /^\s*(?:what|which|who|whom|whose|where|when|why|how|tell|(?:do|does|did|is|was|has|had|can|will|would|should)\s+(?:the\s+)?user)(?![\p{L}\p{N}'’-])/iu;
const SAYS = /[\p{L}\p{N}\p{Extended_Pictographic}]/u;

const unasked = (sentence: string): string =>
  MARK.test(sentence.slice(-1)) || ASKS.test(sentence) ? sentence.replace(WITHIN, ' ') : sentence;
