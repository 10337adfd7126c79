import type { Sliced } from '../ports/tools.ts';

/**
 * What texts try to do that address a model instead of a person: give it other orders, make it somebody else, or have it give
 * away what it was shown. They are flagged and nothing else: what makes them harmless does not depend on their being seen.
 */
const ATTACKS = ['injection', 'role_play', 'exfiltration'] as const;
export type Attack = (typeof ATTACKS)[number];

/** The kinds of attacks in a text, in linear time. Prefers silence to false alarms: people tell a model what to do all day. */
export function attacksIn(text: string): readonly Attack[] {
  const plain = text.normalize('NFKC').replaceAll('’', "'");
  return ATTACKS.filter((kind) => FORMS[kind].some((form) => form.test(plain)));
}

/** Characters that are looked through at a time: some milliseconds. */
const PIECE = 10_000;
/** No form is longer. */
const OVERLAP = 500;

/** The same of a text of any length, in slices. */
export function* attacksInLong(text: string): Sliced<readonly Attack[]> {
  const seen = new Set<Attack>();
  for (let from = 0; from < text.length; from += PIECE) {
    yield;
    // What only begins a piece begins no text.
    const before = from === 0 ? '' : `x${text.slice(from - OVERLAP, from)}`;
    for (const kind of attacksIn(before + text.slice(from, from + PIECE))) seen.add(kind);
  }
  return ATTACKS.filter((kind) => seen.has(kind));
}

/** Where an order begins: "my kids ignore all instructions" is none. */
const ORDER = String.raw`(?<=^|[.!?:;,\n"'“(*>\]}\-#]\s{0,3}|\b(?:please|now|and|then|must|should|shall|just|immediately)\s)`;
/** Within a sentence. Short, so that what it is looked for in stays linear. */
const GAP = '[^.!?\\n]{0,40}?';
const SYSTEM_PROMPT =
  '(?:system ?-?(?:prompt|message|instructions?)|initial (?:prompt|instructions?)|hidden (?:prompt|instructions?|rules)|developer (?:message|prompt)|(?:previous|above) (?:prompt|instructions))';

const INJECTION = [
  // English
  `${ORDER}(?:ignore|disregard|forget|override|bypass|discard|do not follow|don't follow|stop following)\\b${GAP}\\b(?:(?:previous|prior|above|earlier|preceding|initial|original|system|safety|your)\\b${GAP}\\b(?:instructions?|prompts?|rules|guidelines|directives|commands|programming|constraints|restrictions)|(?:all|any) (?:instructions?|prompts?|guidelines|directives))\\b`,
  `${ORDER}(?:ignore|disregard|forget) (?:everything|anything|all)(?: (?:that )?(?:(?:was|is|i|you were|you've been) )?(?:said|told|written|given|stated))?(?: to you)? (?:above|before this|so far|previously)\\b`,
  `(?:^|\\n|[.!?:]\\s)\\W{0,3}(?:new|updated|important|urgent|real) (?:system )?instructions?(?: for (?:the |an? )?(?:assistant|ai|model|llm|bot))?\\s?:`,
  `\\b(?:note|message|instructions?|attention|notice) (?:to|for) (?:the |any |all )?(?:ai|llm|language model|assistant|chatbot)s?(?: (?:assistant|agent|model)s?)?\\s?[:,-]`,
  // German, French, Spanish, Portuguese, Italian, Russian
  `(?:ignorier|missacht|vergiss|vergesst|überschreib)\\p{L}{0,4}\\b${GAP}\\b(?:vorherige|bisherige|obige|frühere|vorige|deine|alle)\\p{L}{0,2}\\b${GAP}(?:anweisung|instruktion|vorgabe|systemprompt|befehl)`,
  `(?:ignore[zr]?|oublie[zr]?|ne (?:suis|tiens) pas)\\b${GAP}(?:instructions?|consignes?|directives)\\b${GAP}(?:précédent|antérieur|ci-dessus|initiale|système)`,
  `(?:ignor[ae]|olvida|descarta|esque[çc]a|desconsidere)\\b${GAP}(?:instrucciones|instruç(?:ões|oes)|reglas|regras|órdenes|ordens)\\b${GAP}(?:anterior|previa|prévia|sistema|arriba|acima)`,
  `(?:ignora|dimentica)\\b${GAP}(?:istruzioni|regole)\\b${GAP}(?:precedent|sistema|sopra)|(?:ignora|dimentica)\\b${GAP}precedenti ${GAP}istruzioni`,
  `(?:игнорируй|забудь|отбрось)\\p{L}{0,3}${GAP}(?:предыдущ|прежн|все|системн|свои)\\p{L}{0,4}${GAP}(?:инструкци|указани|правил|команд)`,
  // Chinese, Japanese, Korean, Arabic, Hindi
  `(?:忽略|无视|無視|忘记|忘記|忘掉|不要遵守|不要理会)[^。！？\\n]{0,12}?(?:之前|以上|上面|先前|前面|此前|所有|你的|系统|系統|全部)[^。！？\\n]{0,8}?(?:指令|指示|提示|规则|規則|命令|设定|設定)`,
  `(?:これまで|以前|上記|前|すべて|全て)[^。\\n]{0,8}?(?:指示|命令|ルール|プロンプト)[^。\\n]{0,4}?(?:無視|忘れ)`,
  `(?:이전|위의|위|모든|기존)[^.\\n]{0,8}?(?:지시|명령|규칙|프롬프트)[^.\\n]{0,6}?(?:무시|잊)`,
  `تجاهل[^.\\n]{0,20}?(?:التعليمات|الأوامر|تعليمات)`,
  `(?:पिछले|पिछली|सभी)[^।\\n]{0,10}?(?:निर्देश)[^।\\n]{0,12}?(?:अनदेखा|भूल|नज़रअंदाज)`,
];

const ROLE_PLAY = [
  `<\\|(?:im_start|system|start_header_id)|\\[/?INST\\]|<<SYS>>`,
  `(?:^|\\n)\\s{0,4}(?:#{1,4}\\s?|\\[|<|\\()(?:system|developer)(?: (?:prompt|message|override|note))?(?:\\s?:|\\]|>|\\))`,
  `(?:^|\\n)\\W{0,4}(?:system|developer|admin(?:istrator)?) ?(?:prompt|message|override|command|mode|note)?\\s?:\\s?(?:you|ignore|forget|the (?:user|assistant)|from now|always|never|new|reveal|obey)\\b`,
  `\\byou are (?:now|no longer)\\b${GAP}\\b(?:dan|unrestricted|uncensored|unfiltered|jailbroken|root|(?:an? |the )(?:system|admin(?:istrator)?|hacker|evil ai)|(?:developer|debug|god|admin|maintenance) mode|bound by|restricted by|without (?:rules|restrictions|limits))\\b`,
  `\\b(?:act|behave|respond|answer|pretend|roleplay)\\b(?: as| to be| that you are| you are| like)\\b${GAP}\\b(?:dan|(?:an? )?(?:unrestricted|uncensored|unfiltered|jailbroken)|(?:the|a) (?:system|administrator)|(?:with|has|have) no (?:rules|restrictions|filters?|limits))\\b`,
  `\\b(?:enter|enable|activate|switch to|you are in) (?:developer|debug|god|admin|jailbreak|dan|maintenance) mode\\b|\\bdo anything now\\b`,
  `\\bfrom now on,? you (?:must|will|shall|only) (?:obey|ignore|always|answer only|act as|comply|never refuse)\\b`,
  `du bist (?:ab )?jetzt\\b${GAP}(?:system|administrator|ohne (?:regeln|einschränkung|grenzen)|entwicklermodus)`,
  `(?:tu es|vous êtes) (?:désormais|maintenant)\\b${GAP}(?:le système|administrateur|sans (?:restriction|règle|limite|filtre))`,
  `(?:ahora eres|actúa como|finge ser|agora (?:tu és|você é)|aja como)\\b${GAP}(?:el sistema|o sistema|administrador|sin (?:restricciones|reglas|límites)|sem (?:restrições|regras|limites))`,
  `(?:ты теперь|теперь ты|притворись)${GAP}(?:систем|администратор|без (?:ограничений|правил))`,
  `(?:你现在是|你現在是|从现在起你是|从现在开始你是|假装你是|扮演)[^。！？\\n]{0,12}?(?:系统|系統|管理员|管理員|没有限制|不受限制|没有任何限制|越狱|DAN)|(?:进入|启用|開啟|开启)(?:开发者|開發者|调试|越狱|上帝)模式`,
  `あなたは(?:今から|これから|もう)[^。\\n]{0,14}?(?:システム|管理者|制限のない|制約のない)|(?:開発者|デベロッパー)モード(?:に|を)`,
];

const EXFILTRATION = [
  `${ORDER}(?:reveal|show|print|repeat|output|display|leak|disclose|dump|share|tell|give|send|list|paste)\\b${GAP}\\b(?:${SYSTEM_PROMPT}|your (?:instructions|prompt|api keys?|secrets?|credentials)|(?:the |all |any |stored |saved )+(?:api keys?|credentials|passwords|secrets) (?:you|of (?:the|all|every|other))|(?:other|another) users?'?s? (?:memor|data|messages|secrets|conversation|information)|everything (?:above|in your (?:context|prompt|memory)))`,
  `${ORDER}(?:send|post|forward|upload|e?-?mail|exfiltrate|transmit|append|encode)\\b${GAP}\\b(?:memor(?:y|ies)|conversation|chat (?:history|log)|personal (?:data|information)|everything you (?:know|remember)|user(?:'s)? (?:data|secrets)|secrets|passwords|credentials)\\b${GAP}(?:https?:|\\bto\\b|\\binto\\b|@)`,
  `!\\[[^\\]\\n]{0,80}\\]\\(https?:\\/\\/[^)\\s]{0,200}[?&][^)\\s=]{0,60}=(?:\\{|\\[|<|%7b|\\$)`,
  `(?:zeig|verrate|nenn|gib|wiederhol)\\p{L}{0,3}\\b${GAP}(?:system-?prompt|deine (?:anweisungen|instruktionen)|andere[rn]? (?:nutzer|benutzer))`,
  `(?:montre|révèle|affiche|répète|donne)\\p{L}{0,3}(?:-moi)?\\b${GAP}(?:prompt système|invite système|(?:tes|vos) (?:instructions|consignes)|autres utilisateurs)`,
  `(?:muestra|revela|repite|dime|mostre|revele|repita|mostra|rivela)\\p{L}{0,3}\\b${GAP}(?:prompt (?:del|do|di) sistema|tus instrucciones|suas instruções|otros usuarios|outros usuários)`,
  `(?:покажи|раскрой|повтори|выведи|сообщи)\\p{L}{0,3}${GAP}(?:системн\\p{L}{1,4} (?:промпт|инструкци|сообщени)|свои инструкции|других пользовател)`,
  `(?:显示|顯示|透露|告诉我|告訴我|输出|輸出|打印|重复|泄露|公开)[^。！？\\n]{0,10}?(?:系统提示|系統提示|提示词|你的指令|隐藏指令|初始指令|其他用户|其他用戶)`,
  `(?:发送|發送|上传|转发|把)[^。！？\\n]{0,14}?(?:记忆|記憶|聊天记录|聊天紀錄|对话记录|密码|密碼)[^。！？\\n]{0,10}?(?:到|给|給|至|发送)[^。！？\\n]{0,6}?(?:http|@|服务器|邮箱)`,
  `(?:システムプロンプト|初期指示|他のユーザー)[^。\\n]{0,12}?(?:見せ|表示|教え|出力|繰り返)`,
];

/** One pattern for each place: short gaps alone stand between the words of each, so that none looks twice at the same. */
const FORMS: Readonly<Record<Attack, readonly RegExp[]>> = {
  injection: INJECTION.map((form) => new RegExp(form, 'iu')),
  role_play: ROLE_PLAY.map((form) => new RegExp(form, 'iu')),
  exfiltration: EXFILTRATION.map((form) => new RegExp(form, 'iu')),
};
