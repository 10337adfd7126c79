import { lazily, porterStem, remembering, termSet, wordsOf } from './terms.ts';

// What words say by themselves: which ones say the same, which names are one name, which say little, and which say a change.

/**
 * Words by which people tell the same thing about themselves in one way, and facts in another: "my mum remarried", "User's mother
 * married again". One line is one thing, in the languages of the prompts, without accents; `*` stands for any ending, `_` for a
 * space. None of them names a kind by one of its kinds: who speaks of eating has not said what is eaten.
 */
const LISTED = `
mother mom mum mama mommy mummy mutter mutti madre maman mere mae 妈 母亲 娘
father dad daddy papa pa vater vati padre pere pai 爸 父亲
parent* elter* padres parents 爸妈 父母 家里
grandmother grandma gran granny nana oma großmutter abuela grand_mere mamie 奶奶 外婆 姥姥 祖母
grandfather grandpa grandad granddad opa großvater abuelo grand_pere papi 爷爷 外公 姥爷 祖父
child children kid kids son sons daughter* boy girl baby babies toddler little_one kleine kleiner kind kinder sohn tochter hijo* hija* nino* nina* bebe enfant* fils fille* petit petite 孩子 儿子 女儿 宝宝 小孩 娃 二胎
sibling* brother* sister* only_child geschwister bruder schwester hermano* hermana* frere* sœur* soeur* 哥 姐 弟 妹 兄 独生
spouse husband wife widow* hubby ehemann ehefrau mann frau witwe* marido mujer esposo esposa viuda viudo mari femme epoux epouse veuf veuve 老公 老婆 丈夫 妻子 爱人 丧偶
marri* marry remarri* wed wedding wedlock tied_the_knot knot engaged bride groom heirat* geheirat* verheirat* hochzeit* casada casado casarse caso casamos casar boda* matrimonio marie mariee maries mariage mari remari* noce* epous* 结婚 婚 娶 嫁
partner girlfriend boyfriend couple together dating fiance* freund freundin zusammen pareja novio novia copain copine compagn* ensemble 男朋友 女朋友 对象 恋爱
separat* split broke_up break_up breakup divorc* single ex dumped left_me trenn* getrenn* scheid* geschied* rompi* romper separ* divorci* soltero soltera dejamos rupture quitte* celibataire 分手 离婚 单身 分开
pregnan* expecting expect* due baby_on_the_way bump schwanger* erwart* embaraz* espera espero esperamos esperan enceinte attend attends attendons 怀孕 要生 预产 二胎 迎来
born birth newborn arrived gave_birth geboren geburt nacio nacimiento naitre naissance nee ne 出生 生了 生下
die died dead death deceas* lost passed pass away late widow* lost_the_baby miscarr* fehlgeburt* baby_verloren aborto perdimos_al_bebe fausse_couche fausse couche perdu_le_bebe gestorben verstorben tot tod sterb* muri* muert* fallec* viuda mort* deced* disparu* 去世 过世 死 走了 离世 丧
euthan* put_down put_to_sleep eingeschlafert einschlafer* sacrific* piqu* 安乐死
job work* position employ* career occupation profession arbeit* beruf stelle trabaj* empleo puesto boulot travail* emploi metier poste boss* bosse 工作 上班 职 干
fire fired dismiss* laid layoff redundan* let_me_go job_loss lost_my_job unemploy* jobless lost job gekundigt entlassen verlor* perdi* perdu perdre perdra perdera perdr* verlier* trabajo empleo emploi kundig* arbeitslos* despedid* despid* paro licenci* vire* chomage 裁员 被裁 失业 开除 辞退
resign* quit notice handed_in left_my_job leave left gekundigt kundig* renunci* dimit* deje dejo dejado dejar dejamos demission* 辞职 离职 辞
retir* pension* rente ruhestand jubil* retrait* 退休
manager boss supervisor lead leader head chief chef chefin vorgesetzt* jefe jefa responsable superieur* 老板 上司 经理 领导 主管
promot* lead leader head director beforder* leiter* ascend* ascenso promu* 升 组长 担任
colleague* coworker* co_worker* kolleg* compañer* companer* collegue* 同事
part_time parttime part half_time half halbtags teilzeit halftime media_jornada jornada parcial mi_temps partiel 兼职 半天
full_time full vollzeit tiempo_completo plein 全职
contract* vertrag vertrags vertrages arbeitsvertrag* contrato* contrat* 合同
self_employed freelanc* own_business founded startup selbst*ndig selbststandig* autonom* independant* 自由职业 创业 自己做
salary wage* income earn* pay pays gehalt verdien* lohn sueldo salario gano gana salaire gagn* 工资 薪 月入 收入
teacher teach* lehrer* unterricht* profesor* enseñ* ensen* maestr* profess* enseign* 老师 教师 教书 教
doctor doctors physician* medic* gp surgeon arzt* arzt arztin aerzt* medico* medica doctora medecin* docteur* 医生 大夫
nurse* nursing krankenschwester* pfleg* krankenpfleg* enfermer* infirmier* 护士
program* code coding developer* software entwickler* programmier* programador* desarroll* developp* informatic* 程序员 写代码 编程 开发
cook* chef kitchen koch kochin koche kochen kuche cociner* cocin* cuisini* 厨师 厨 做饭
hair hairdress* barber friseur* frisor* peluquer* coiff* 理发 美发
driver drive drives driving truck* lorry taxi cab fahr* fahrer* conducir conduzco conduce chauffeur* condui* 司机 开车
live lives living reside* home settle* based wohn* lebe lebt leben zuhause vive vivo vivir viven vivimos habite habites habiter domicil* chez 住 家 居
move moved moving relocat* be_out evict* rausgeworfen rauswirf* auszieh* ausgezogen echa echan mudarse dehors umgezogen gezogen zieh* ziehe mudo muda mudamos mudanza mudar* traslad* demenag* emmenag* 搬
flat* apartment* flatshare flatmate* roommate* housemate* share* shared wohngemeinschaft wg mitbewohn* wohnung* piso* departamento* compart* coloc* appart* logement* 合租 室友 公寓 房子
house home haus casa maison 房子 房
rent rents rental landlord miete mieten alquil* arriend* loyer* lou* 房租 租
mortgage* refinanc* loan kredit* hypothek* hipotec* emprunt* pret 房贷 贷款
buy* bought purchas* got gekauft kauf* compre compro compramos achet* 买
own owns have has got besitz* tener tengo posse* 有
sell* sold verkauf* vend* 卖
doctorate phd doctoral doktor* promotion promov* dissertation tesis doctorad* these thesis doctorat* 博士
graduat* finished fertig degree diploma completed abschluss abgeschlossen absolv* graduad* titul* diplome termina termino terminar terminado termine 毕业 学位
university uni college campus degree studies study student* estudio estudios studium studier* studium* carrera universidad fac faculte etud* 大学 专业 念 读
dropped_out drop_out dropout drop* quit abandon* deje dejo abbrech* abgebroch* hingeschmissen laisse_tomber tomber renonc* 退学 辍学 不念 不读
school kindergarten preschool schule* kita colegio cole escuela guarderia ecole creche maternelle 学校 上学 小学 幼儿园
accept* got_into got_in into admitted angenommen zusage admit* aceptad* accepte* reçu recu 录取 考上
licence license driving driver conduire conducir driving_test fuhrerschein* carnet permiso permis 驾照 驾驶证
exam exams examen test tests pass passed prufung* bestand* aprob* concours reuss* 考试 考 通过
quit stop* gave_up give_up giving_up given_up no_more off done_with over free_of longer any_more anymore not_any never aufgehort nicht_mehr abgewohn* deje dejo dejado dejar dejamos ya_no arret* ne_plus plus finished ended ends end cessed cease* 戒 停 不再 不了 不干
end ends ended ending ende expire* runs_out over finish* endet auslauf* lauft_aus vorbei termina termino terminar terminado termine acab* fin fini* expir* 到期 结束 完
cancel* called_off call_off off scrapped fell_through abgesagt absag* fallt_aus ausfall* findet suspend* annul* tombe_a_l_eau 取消 泡汤 不去
delete* deleted account gone closed left gelosch* losch* borr* elimin* supprim* 注销 删
switch* swap* change changed replac* instead rather wechs* gewechs* statt umgestieg* cambi* lugar vez remplac* lieu passe 换 改
again back re wieder zuruck vuelto volvi* vuelve nuevo nouveau revenu* 又 重新 再
smok* cigarette* tobacco vap* rauch* nichtraucher* zigarett* fuma* fumo fumar tabaco cigarr* fume* fumer tabac clope* 烟
alcohol* sober drink* drunk booze beer wine nuchtern alkohol* trocken trink* bebe* beber sobri* bois boit boire sobre alcool* 酒
vegetarian* meat fleisch* vegetari* carne viande* vegetarien* 肉 素 吃素
vegan* vegan animal_products tierisch* 纯素
coffee espresso* latte decaf* cappuccino caffein* kaffee koffein* cafe descafeinad* cafein* deca decafein* 咖啡
dairy milk lactose cheese milch* milchprodukt* laktose lacte* lactos* leche laitier* lait 奶 乳
allerg* swell swells swollen throat hives rash reaction anaphyla* schwillt anschwell* unvertraglich* alerg* hincha* gonfl* intoleran* 过敏 肿
nut nuts nuss* nusse* nuez nueces noix 坚果
peanut* erdnuss* erdnusse* cacahuete* cacahuet* arachide* 花生
pain* hurt hurts ache* aching sore schmerz* weh rucken dolor* duele* duelen mal douleur* 疼 痛
ill illness sick* disease* illness* condition diagnos* krank* enferm* malad* atteint* 病 确诊 患
injur* broke* broken shot torn sprain* verletz* kaputt gebroch* lesion* rota roto bless* foutu casse* 受伤 伤 坏
cure cured cura better gone healed recover* heal* geheilt weg besser gesund recuper* curad* gueri* mieux 好了 康复 痊愈
medication* medicine* tablet* pill* prescri* put_me_on take takes taking verschrieben verschreib* nimmt nehme einnehm* recet* tomo toma medicament* prend* 药 服 开了 换成
surger* operat* op operiert operacion* opera* operation* 手术 开刀
glasses contacts lenses brill* gafas lentes lunettes 眼镜
wheelchair* rollstuhl* silla_de_ruedas fauteuil_roulant 轮椅
therap* counsel* psycholog* psychotherap* terapia therapie* 心理 治疗
bike* bicycl* cycle cycles cycling rad fahrrad* radeln lastenrad bici* bicicleta* pedale* velo* 自行车 骑车 骑
car cars auto autos wagen coche* carro* voiture* bagnole* 车 汽车
train trains zug bahn tren 火车 高铁
commut* office trajet* arbeitsweg trayecto* to_work pendel* zur_arbeit al_trabajo au_travail 通勤 上班
trip trips travel* journey* holiday* vacation* visit* urlaub* reise reisen reist fahren viaj* vacacion* voyag* vacances partir part* 旅行 旅游 去
fly flight* flug* flieg* vuelo* vuela* vol avion* 航班 飞
appointment* meeting* termin termine cita* rendez_vous rdv 约 预约
like likes love loves fan enjoy* mag gern* liebt gusta* encant* aime* ador* 喜欢 爱 爱吃
dislik* hate* can_t_stand stand loath* detest* awful disgust* hasst nicht_ausstehen geht_gar_nicht odio odia odiar deteste* 讨厌 受不了 不喜欢
want* would_like wish* plan plans planned planning planea hope mocht* wollen wunsch* quier* quer* dese* veux veut voudr* souhait* envie 想 要 想要 希望
dog* puppy hund hunde welpe* perro* perra* cachorr* chien* chiot* 狗
cat cats kitten* katze* kater gato gatos gata* chat chats chatte* 猫
adopt* rescue* shelter adoptier* adoptiert tierheim 领养 收养
swim* pool schwimm* nadar nado natacion nager nage natation piscine 游泳
climb* boulder* kletter* bouldern escal* grimp* varappe 攀岩
run runs running runner jog* marathon lauf* lauft rennen corro corre correr cours courir court 跑
band group gruppe grupo* groupe* musik* music* 乐队
broke_up split disband* dissol* aufgelost auflos* separo disolv* dissous existe* gibt 解散
learn* study studies studied studying lern* apren* estudi* appren* etudi* 学
phone mobile cell handy telefon* movil telefono* portable telephon* 手机
use uses used using switch* benutz* nutz* usa usan usar uso utilis* util* 用
name called spelled spelt call heißt heißen geschrieben schreib* llam* escrib* appel* ecri* 名字 叫
birthday* born turn* age years_old old year* geburtstag* alt jahre cumpl* años anos edad anniversaire ans 岁 满 生日
each every weekly daily always week* jede* woche* wochentlich cada siempre semana* chaque semaine* toujours 每
right left other rechts links ander* derech* izquierd* otr* droit* gauch* autre* 左 右 另
window* aisle seat* fenster* gang sitz* ventan* asiento* pasillo* fenetre* couloir* sieg* 靠窗 过道 座位
size* wear* große* trage tragt tragen talla* taill* porte 码 穿
money debt* owe* broke schuld* deuda* dett* 欠 债
`;

/** What the words of a text are about, by numbers that mean nothing else. */
interface Things {
  readonly whole: ReadonlyMap<string, readonly number[]>;
  /** The beginnings of words by their first letters. */
  readonly begins: ReadonlyMap<string, readonly { readonly begin: string; readonly thing: number }[]>;
  /** Of more than one word, or in a script without spaces. */
  readonly phrases: readonly {
    readonly phrase: string;
    /** How it stands in a text. */
    readonly sought: string;
    readonly thing: number;
    readonly isHan: boolean;
  }[];
}

const BEGIN = 3;
const HAN = /\p{Script=Han}/u;

const listed = lazily(readThings);

function readThings(): Things {
  const entries = LISTED.trim()
    .split('\n')
    .flatMap((line, thing) => line.split(' ').map((entry) => ({ entry, thing })));
  const isPhrase = (entry: string): boolean => entry.includes('_') || HAN.test(entry);
  const words = entries.filter(({ entry }) => !isPhrase(entry));
  const begins = words
    .filter(({ entry }) => entry.endsWith('*'))
    .flatMap(({ entry, thing }) => formsOf(entry.slice(0, -1)).map((begin) => ({ begin, thing })));
  const whole = words
    .filter(({ entry }) => !entry.endsWith('*'))
    .flatMap(({ entry, thing }) => formsOf(entry).map((word) => ({ word, thing })));
  const thingsOf = (all: readonly { readonly thing: number }[] = []): number[] => all.map(({ thing }) => thing);
  return {
    whole: new Map([...Map.groupBy(whole, ({ word }) => word)].map(([word, all]) => [word, thingsOf(all)])),
    begins: Map.groupBy(begins, ({ begin }) => begin.slice(0, BEGIN)),
    phrases: entries
      .filter(({ entry }) => isPhrase(entry))
      .map(({ entry, thing }) => {
        const [phrase, isHan] = [entry.replaceAll('_', ' '), HAN.test(entry)];
        return { phrase, sought: isHan ? phrase : ` ${phrase} `, thing, isHan };
      }),
  };
}

/** A word as it is written, and its stem. */
function formsOf(word: string): readonly string[] {
  return [...new Set([word, ...termSet(word)])];
}

const remembered = remembering<readonly number[]>({ max: 10_000, length: 64 });

/** What a word, or the stem of one, is about. */
export const thingsOf = (word: string): readonly number[] => remembered(word, () => findThings(word));

function findThings(word: string): readonly number[] {
  const begun = listed().begins.get(word.slice(0, BEGIN)) ?? [];
  const found = begun.flatMap(({ begin, thing }) => (word.startsWith(begin) ? [thing] : []));
  return [...(listed().whole.get(word) ?? []), ...found];
}

/** What the phrases in a text are about; `plain`: in one spelling, with a space around each word. */
export function phrasesIn(plain: string): readonly { readonly phrase: string; readonly thing: number }[] {
  const hasHan = HAN.test(plain);
  return listed().phrases.filter(({ sought, isHan }) => (hasHan || !isHan) && plain.includes(sought));
}

/**
 * Names that are said in one way and written in another: what is said by the first says the second, and the other way round.
 * With capitals: said so alone, because in small letters it is a word of some language. Only those that nearly everybody uses:
 * what is missing here is remembered in the words in which it was said.
 */
const ALIASES_LISTED = `
nyc=new york city|nyc=new york|LA=los angeles|sf=san francisco|dc=washington|philly=philadelphia|vegas=las vegas|cali=california
hk=hong kong|nz=new zealand|uk=united kingdom|US=united states|usa=united states of america|the states=united states|america=united states
UN=united nations|EU=european union|uae=united arab emirates
msft=microsoft|vw=volkswagen|fb=facebook|insta=instagram|yt=youtube|aws=amazon web services|gcp=google cloud platform|man u=manchester united
js=javascript|ts=typescript|py=python|k8s=kubernetes|postgres=postgresql|coke=coca cola|man united=manchester united|usa=united states
gsd=german shepherd|adhd=attention deficit hyperactivity disorder|t2d=type 2 diabetes|t1d=type 1 diabetes
munchen=munich|koln=cologne|wien=vienna|nurnberg=nuremberg|genf=geneva|geneve=geneva|moskau=moscow|deutschland=germany|osterreich=austria|schweiz=switzerland
londres=london|roma=rome|milano=milan|firenze=florence|venezia=venice|napoli=naples|torino=turin|lisboa=lisbon|sevilla=seville|praha=prague|warszawa=warsaw
москва=moscow|москве=moscow|петербург=petersburg
谷歌=google|微软=microsoft|苹果=apple|腾讯=tencent|北京=beijing|上海=shanghai|深圳=shenzhen|广州=guangzhou|杭州=hangzhou|成都=chengdu|香港=hong kong
台北=taipei|东京=tokyo|東京=tokyo|伦敦=london|纽约=new york|巴黎=paris|柏林=berlin
`;

interface Alias {
  readonly short: string;
  readonly long: string;
}

const ALIASES: readonly Alias[] = ALIASES_LISTED.trim()
  .split(/[|\n]/u)
  .map((pair) => pair.split('='))
  .map(([short = '', long = '']) => ({ short, long }));

const isHan = ({ short }: Alias): boolean => HAN.test(short);
const HAN_ALIASES = ALIASES.filter(isHan);
/** By the words that either of the two begins with. */
const BY_BEGIN: ReadonlyMap<string, readonly Alias[]> = byBegin();

function byBegin(): Map<string, Alias[]> {
  const known = new Map<string, Alias[]>();
  for (const alias of ALIASES) {
    for (const name of [alias.short, alias.long]) {
      const begin = name.toLowerCase().split(' ')[0] ?? '';
      const alike = known.get(begin);
      if (alike === undefined) known.set(begin, [alias]);
      else alike.push(alias);
    }
  }
  return known;
}

/** Given names, and what people are called by them. Whoever is called so may still be another one: these are asked about. */
const CALLED = `
alexander alex sasha sandy|alexandra alex sasha sandra|andrew andy drew|anthony tony|antonio toni|barbara barb babs|benjamin ben benny|catherine cathy kate katie kitty
charles charlie chuck|christina tina chris|christopher chris kit|daniel dan danny|david dave|deborah deb debbie|dmitri dima|donald don|edward ed eddie ted ned|ekaterina katya
elizabeth liz lizzie beth betsy betty eliza|eleanor ellie nora|francisco paco|frederick fred freddie|gregory greg|henry harry hank|jacob jake|james jim jimmy jamie
jennifer jen jenny|johannes hannes|john jack johnny|jonathan jon|jose pepe|joseph joe joey|joshua josh|katherine kate kathy katie kit|kenneth ken|lawrence larry
leonard leo len|margaret maggie meg peggy|maria mia|matthew matt|michael mike mick mickey|mikhail misha|nicholas nick|patricia pat patty trish|patrick pat paddy
peter pete|philip phil|rebecca becky|richard rick dick richie|robert bob rob bobby robbie bert|ronald ron|samantha sam|samuel sam|sebastian seb basti|stephen steve
steven steve|susan sue susie|theodore ted theo|thomas tom tommy|timothy tim|victoria vicky tori|vladimir vova|william bill will billy liam|zachary zach
`;

const NAMES_CALLED: readonly ReadonlySet<string>[] = CALLED.trim()
  .split(/[|\n]/u)
  .map((names) => new Set(names.split(' ')));

/** Whether one name, in small letters, is short for the other, or the other way to write it. */
export const areAliases = (a: string, b: string): boolean =>
  ALIASES.some(({ short, long }) => {
    const other = short.toLowerCase();
    return (a === other && b === long) || (a === long && b === other);
  });

/** The same of given names: one of the two is what people called by the other are called. */
export const areCalledAlike = (a: string, b: string): boolean =>
  NAMES_CALLED.some((names) => names.has(a) && names.has(b) && [a, b].includes([...names][0] ?? ''));

/** The other names of what a text names. `plain`: its words in small letters without accents, with a space around each. */
export function aliasesIn(text: string, plain: string, words: Iterable<string>): readonly string[] {
  const found: string[] = [];
  for (const word of words) {
    for (const { short, long } of BY_BEGIN.get(word) ?? []) {
      if (plain.includes(` ${short.toLowerCase()} `) && isMeant(short, text)) found.push(long);
      if (plain.includes(` ${long} `)) found.push(short.toLowerCase());
    }
  }
  const han = HAN.test(plain) ? HAN_ALIASES.filter(({ short }) => plain.includes(short)) : [];
  return [...new Set([...found, ...han.map(({ long }) => long)])];
}

const CAPITALS: ReadonlyMap<string, RegExp> = new Map(
  ALIASES.filter(({ short }) => short !== short.toLowerCase()).map(({ short }) => [
    short,
    new RegExp(`(?<![\\p{L}\\p{N}])${short}(?![\\p{L}\\p{N}])`, 'u'),
  ]),
);
const isMeant = (short: string, text: string): boolean => CAPITALS.get(short)?.test(text) !== false;

/** Words that say little by themselves: what people do all day, what ends and changes, and kinds that facts put into what was named. */
const listedSlight = lazily(() =>
  termSet(
    'quit stop end ended finish finished cancel cancelled canceled switch replaced gone over off back again lost part job time feet inches cm kg km dog cat travel visit together accepted own valid suffer suffered ' +
      'beendet beenden endet aufgehört abgesagt abgesetzt abgeschlossen wieder verloren weg job arbeit zeit hund katze reist zusammen eigene gilt dauert nimmt nehmen benutzt braucht benötigt trägt trinkt ' +
      'dejó dejado terminó termina canceló cancelado perdió vuelve volvió trabajo tiempo perro gato juntos propio propia sufrió sufre toma usa necesita lleva utiliza bebe ' +
      'arrêté arrête fini terminé termine annulé perdu quitté emploi temps chien chat ensemble propre dure souffre prend utilise porte besoin boit ' +
      'eat drink go play see look watch read write buy bring put give call meet help ask find walk talk speak sit stand stay leave left day today good great nice big small new ' +
      'diagnose diagnosed city town country company firm pet animal group team product food language trip appointment product practice ' +
      'esse essen gehen geht spielen spielt sehen sieht lesen schreiben kaufen fahren fährt machen macht tag gut neu groß klein ' +
      'diagnostiziert stadt land firma haustier tier gruppe produkt sprache reise termin ' +
      'comer come ir va jugar juega ver ve leer escribir comprar hacer hace día bueno buena nuevo nueva grande pequeño ' +
      'diagnosticaron diagnosticado diagnosticada ciudad país empresa mascota animal grupo equipo producto idioma viaje cita practica ' +
      'manger mange aller jouer joue voir lire écrire acheter faire fait jour bon bonne nouveau nouvelle grand petit ' +
      'atteint atteinte diagnostiqué ville pays entreprise animal groupe équipe produit produits langue voyage pratique obtenu',
  ),
);

/** Of each language by which facts say who the user is: what ends like a verb, a participle or an adverb. */
const FORMS = [
  { facts: /usuari/iu, slight: /^.{3,}(?:[aei]r|[aei]rse|[ai]d[oa]s?|ando|iendo|mente|aron|ieron)$/u },
  { facts: /utilisat/iu, slight: /^.{3,}(?:er|ir|ment|ees?)$/u },
];
const ENGLISH_FORMS = /^.{3,}(?:ed|ing|ly)$/u;
const GERMAN = /nutzer/iu;
/** In German whatever is no noun. */
const SMALL = /(?<![\p{L}\p{N}])\p{Ll}[\p{L}\p{M}]*/gu;

/** Which words of a text say little by themselves, in small letters and without accents. */
export function slightIn(text: string): (word: string) => boolean {
  if (GERMAN.test(text)) {
    const small = new Set((text.match(SMALL) ?? []).flatMap((word) => wordsOf(word).map((one) => one.text)));
    return (word) => small.has(word) || isListed(word);
  }
  const { slight } = FORMS.find(({ facts }) => facts.test(text)) ?? { slight: ENGLISH_FORMS };
  return (word) => slight.test(word) || isListed(word);
}

const isListed = (word: string): boolean => listedSlight().has(word) || listedSlight().has(porterStem(word));

/**
 * Whether a fact says that something became otherwise: no longer, now, moved, gave up, 不再. What it ends need not share a word
 * with it: "User turned 35" ends "User is 34 years old", and "User became a paramedic" ends "User is a nurse".
 */
export const saysChange = (text: string): boolean => SAYS_CHANGE.test(text) || SAYS_CHANGE_UNSPACED.test(text);

/** Words of languages whose words are apart; each a pattern. A fact that merely tells what was done has none of them. */
const CHANGE_WORDS: Readonly<Record<string, string>> = {
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

const SAYS_CHANGE = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:${Object.values(CHANGE_WORDS).join('|')})(?![\\p{L}\\p{N}])`,
  'iu',
);

/** The same where words are not apart; a 了 at the end says that something has come about. */
const SAYS_CHANGE_UNSPACED =
  /不再|不.{1,4}了|没有?再|现在|如今|改[成为到用喝吃]|换[成了到]|搬[到去家]|辞[去职了]|戒[了掉]|离[开婚职]|分手|放弃|取消|推迟|停止|卖[了掉]|去世|走丢|了[。！]?$|満|やめ|辞め|もう|今は|現在は|引っ越|になった|にした|治っ|取りやめ|이제|더 이상|그만|바꾸|바뀌|이사/u;
