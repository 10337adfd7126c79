/** Goes up whenever the samples change: what was measured with others is measured again. */
export const SAMPLES_VERSION = 1;

/** A fact as it is remembered, the same in other words, what replaces it, and a question that it answers. */
export interface Sample {
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
