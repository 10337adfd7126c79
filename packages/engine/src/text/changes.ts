/**
 * Whether a fact says that something became otherwise: no longer, now, moved, gave up, 不再. What it ends need not share a word
 * with it: "User turned 35" ends "User is 34 years old", and "User became a paramedic" ends "User is a nurse".
 */
export const saysChange = (text: string): boolean => SPACED.test(text) || UNSPACED.test(text);

/** Words of languages whose words are apart; each a pattern. A fact that merely tells what was done has none of them. */
const WORDS: Readonly<Record<string, string>> = {
  adverbs:
    'no longer|not any ?more|any ?more|now|nowadays|these days|by now|instead|formerly|used to|since then|has not|have not',
  ended:
    '(?:gave|given|giving) (?:up|away|back)|quit|quitting|stopped|stops|ended|dropped out|left the|cancell?ed|called off|finished|completed|' +
    'sold|lost|died|passed away|retired|resigned|fired|laid off|recovered|healed|cured|overcame|overcome|got over|broke up|' +
    'divorced?|separated|came off|came (?:back|home)|is back|paid back|ran away|walked out',
  begun:
    'became|become|turned|switched|changed|replaced|swapped|moved|moving|relocated|settled in|postponed|put off|rescheduled|brought forward|' +
    'promoted|got (?:married|engaged|divorced|a new|a raise)|gave birth|adopted|started|starts|began|begun|took up|taken up|learnt to|' +
    "reached|rose (?:to|by)|fell to|went (?:up|down)|is down to|is up to|cut down|cut back|a (?:second|third|fourth|new)|(?<=['’]s )new",
  german:
    'nicht mehr|kein\\w*(?: \\S+){0,3} mehr|nur noch|jetzt|inzwischen|mittlerweile|seither|statt|aufgehört|aufgegeben|abgegeben|beendet|' +
    'abgebrochen|gekündigt|verlassen|verkauft|verloren|gestorben|gezogen|umgezogen|gewechselt|geworden|geheiratet|getrennt|geschieden|abgesagt|verschoben|begonnen|angefangen',
  spanish:
    'ya no|ahora|ya|dejó|ha dejado|abandonó|renunció|vendió|perdió|murió|mudó|mudado|cambió|cambiado|se casó|divorciado|divorció|canceló|' +
    'cerró|terminó|empezó|comenzó|convirtió',
  french:
    "ne \\S+ plus|n['’]\\S+ plus|désormais|maintenant|à présent|a (?:quitté|arrêté|abandonné|vendu|perdu|annulé|déménagé|changé|commencé|fini|obtenu)|" +
    "est (?:mort|morte|devenue?|partie?)|s['’]est (?:marié|mariée|séparé|séparée)|remange|rejoue|recommence",
  italian:
    'non \\S+ più|adesso|ha (?:smesso|lasciato|venduto|perso|cambiato|iniziato)|si è (?:trasferito|trasferita|sposato|sposata)|è (?:morto|morta|diventato|diventata)',
  portuguese: 'não \\S+ mais|agora|já não|deixou|largou|vendeu|perdeu|morreu|mudou|casou|cancelou|começou',
  russian:
    'больше не|теперь|уже не|уже|бросила?|переехала?|продала?|женился|вышла замуж|уволил(?:ся|ась)|стала?|сменила?|умерла?|умер',
};

const SPACED = new RegExp(`(?<![\\p{L}\\p{N}])(?:${Object.values(WORDS).join('|')})(?![\\p{L}\\p{N}])`, 'iu');

/** The same where words are not apart; a 了 at the end says that something has come about. */
const UNSPACED =
  /不再|不.{1,4}了|没有?再|现在|如今|改[成为到用喝吃]|换[成了到]|搬[到去家]|辞[去职了]|戒[了掉]|离[开婚职]|分手|放弃|取消|推迟|停止|卖[了掉]|去世|走丢|了[。！]?$|満|やめ|辞め|もう|今は|現在は|引っ越|になった|にした|治っ|取りやめ|이제|더 이상|그만|바꾸|바뀌|이사/u;
