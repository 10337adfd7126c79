import { type Day, datedChinese } from './dates.ts';
import { asksInChinese, type Dated, type Found, type Sentence } from './sentences.ts';

/** People and animals near the user. */
export const CHINESE_RELATION =
  '(?:老婆|妻子|太太|爱人|老公|丈夫|先生|女朋友|男朋友|女友|男友|未婚妻|未婚夫|对象|妈妈|母亲|妈|老妈|爸爸|父亲|爸|老爸|父母|爸妈|家人|姐姐|哥哥|弟弟|妹妹|姐|哥|弟|妹|大哥|二姐|儿子|女儿|大儿子|小儿子|大女儿|小女儿|孩子|宝宝|双胞胎|爷爷|奶奶|外公|外婆|姥姥|姥爷|叔叔|阿姨|舅舅|姑姑|表哥|表姐|表弟|表妹|堂哥|堂姐|侄子|侄女|外甥|室友|闺蜜|好朋友|朋友|同事|老板|狗狗|小狗|狗|猫咪|小猫|猫|宠物|兔子|仓鼠|鹦鹉)';

/** Whom a clause is about; a clause without a subject goes on about the last one. */
export type Subject =
  | { readonly kind: 'self' | 'unsaid' | 'other' }
  | { readonly kind: 'relative'; readonly who: string };

const LEAD_IN =
  /^(?:你好|您好|嗨|嘿|哈喽|大家好|早上好|晚上好|其实|对了|顺便说一下|顺便提一下|哦|噢|嗯|呃|啊|不对|不是的?|不(?=[，,\s])|没错|是的|好的?(?=[，,\s])|说实话|老实说|另外|还有|而且|并且|但是?|不过|所以|因为|然后|同时|后来|请?(?:你)?(?:要)?记住|请记得|记得|告诉你|我说过|更正一下|纠正一下|准确地说|我的意思是|谢谢|虽然|以及|也就是说|如你所知)[\s，,：:!！]*(?=.)/u;
const OTHERS =
  /^(?:你|您|他|她|它|这|那|大家|有人|别人|请|帮|给我|能不能|可以|可不可以|麻烦|今天天气|天气|谢|再见|拜拜|让|推荐|告诉|听说|据说|据|如何|为什么|怎么)/u;
const HYPOTHETICAL = /如果|假如|要是|万一|的话|假设|假装|倘若|比如说|想象/u;

/** What a Chinese sentence says about its speaker, and whom the next one goes on about. */
export function readChinese(sentence: Sentence, start: { readonly today: Day; readonly subject: Subject }) {
  const found: Found[] = [];
  let subject = start.subject;
  const clauses = clausesOf(sentence.text);
  for (const [i, clause] of clauses.entries()) {
    if (HYPOTHETICAL.test(clause)) return { found, subject: { kind: 'other' } as Subject };
    const asks = asksInChinese(clause) || (sentence.question && i === clauses.length - 1);
    const read = asks
      ? { found: [], subject: { kind: 'other' } as Subject }
      : readClause(clause, { ...start, subject });
    found.push(...read.found);
    subject = read.subject;
  }
  return { found, subject };
}

/** Commas part clauses; what is called something stays with its name. */
function clausesOf(text: string): readonly string[] {
  return text
    .replace(/(有|养了?)([^，,；;]{1,12})[，,]\s*(?=(?:它的?|它|名字)?叫)(?:它的?|名字)?/gu, '$1$2')
    .split(
      /[，,；;]\s*|(?<=\p{Script=Han})\s+(?=\p{Script=Han})|(?<=.{2})(?=(?:并且|而且|但是|不过|所以|然后|同时)(?:我|也|还|喜欢|在|住))/u,
    )
    .map(withoutLeadIn)
    .filter((clause) => clause !== '');
}

function withoutLeadIn(clause: string): string {
  let text = clause.trim();
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.replace(LEAD_IN, '');
  }
  return text;
}

function readClause(clause: string, state: { readonly today: Day; readonly subject: Subject }) {
  const dated = datedChinese(clause, state.today);
  const named = /^(?:(?:大家|朋友们?|你)?(?:都|可以)?(?:叫我))(.+)$/u.exec(clause);
  const name = tidyChinese(named?.[1]);
  if (name !== null)
    return { found: [{ text: `名字是${name}`, category: 'personal_details', validFrom: null }], subject: SELF };
  const dead = /^(?:我们?家?的?)?(?<who>\p{Script=Han}{1,6}?)(?:昨天|今天|已经|刚刚?)?(?:去世|过世|死)了$/u.exec(
    dated.without,
  )?.groups?.who;
  if (dead !== undefined && !OTHERS.test(dead))
    return {
      found: [{ text: `${dead}去世了`, category: 'family', validFrom: dated.validFrom }],
      subject: state.subject,
    };
  const subject = subjectOf(dated.without, state.subject);
  if (subject.kind === 'other') return { found: [], subject };
  if (subject.kind === 'relative') return { found: ofRelative(dated, subject.who), subject };
  const own = ownAttribute(dated);
  if (own.length > 0) return { found: own, subject: SELF };
  return { found: ofSelf(dated, { plain: subject.kind === 'unsaid' }), subject };
}

const SELF: Subject = { kind: 'self' };

const RELATIVE = new RegExp(`^(?:我们?|咱们?)(?:的|家的?)?(${CHINESE_RELATION})(?!过敏)(?!和我)`, 'u');

function subjectOf(clause: string, last: Subject): Subject {
  const who = RELATIVE.exec(clause)?.[1];
  if (who !== undefined) return { kind: 'relative', who };
  if (/^(?:我|咱们|本人|俺)/u.test(clause)) return SELF;
  return OTHERS.test(clause) ? { kind: 'other' } : last;
}

/** "我的生日是…", "爱好是…" */
function ownAttribute({ raw }: Dated): readonly Found[] {
  const match = new RegExp(
    `^(?:我们?的?)?(${ATTRIBUTE})(?:是|在|为|：|:)(?!不是|昨|今|明|后天|下|上|[周星礼])(.+)$`,
    'u',
  ).exec(raw);
  const value = tidyChinese(match?.[2]);
  if (match === null || value === null || (/^(?:公司|学校|车)$/u.test(match[1] ?? '') && raw.includes('在'))) return [];
  if (/^(?:老家|家乡|籍贯)$/u.test(match[1] ?? '') && raw.includes('在')) return [found(`老家在${value}`)];
  return [found(`${match[1]}是${value}`)];
}

const found = (text: string, category = 'personal_details'): Found => ({ text, category, validFrom: null });

const SUBJECT = /(?:我们|咱们|我|本人|俺)(?:自己|个人)?(?:家(?=养|有)|的(?=名字))?/u;
const SOFT = /^(?:其实|现在|目前|如今|真的|也|还|已经|最近|刚刚?|就|又(?!(?:开始)?[吃喝抽])|终于)+(?=.{2})/u;

function ofSelf(dated: Dated, options: { readonly plain: boolean }): readonly Found[] {
  const predicate = each(dated, (text) => tidyChinese(text.replace(SUBJECT, '').replace(SOFT, '')) ?? '');
  const ended = /(?:了|啦)[。！!\s]*$/u.test(dated.raw);
  const [, no = '', rest = ''] =
    /^(?<no>不再|再也不|已经不|不是|不太|不怎么|不|没有|没)(?<rest>.+)$/u.exec(predicate.without) ?? [];
  if (no === '') return firstInChinese(predicate, options);
  if (/^(?:没有?|不是)$/u.test(no) && !/^(?:没有)$/u.test(no)) return denyIdentity(no, rest, ended);
  return denied(no, rest, { predicate, ended });
}

/** "不是学生了" denies what one is; "没去" says nothing. */
function denyIdentity(no: string, rest: string, ended: boolean): readonly Found[] {
  if (no !== '不是') return [];
  return firstInChinese(alone(`是${rest}`), { plain: true }).map(({ text, category }) =>
    found(`${ended ? '不再' : '不'}${text.startsWith('是') ? '' : '是'}${text.replace(/^工作是/u, '')}`, category),
  );
}

function denied(
  no: string,
  rest: string,
  said: { readonly predicate: Dated; readonly ended: boolean },
): readonly Found[] {
  const over = said.ended || /^(?:不再|再也不|已经不)$/u.test(no);
  const word = over ? '不再' : no === '没有' ? '没有' : '不';
  if (/^(?:吃|喝|抽|穿|用|看|玩|碰).{1,12}$/u.test(rest) && !/^(?:吃饭|喝水)/u.test(rest))
    return [found(`${word}${rest}`, 'food')];
  if (no === '没有')
    return /^(?:孩子|兄弟|姐妹|宠物|男朋友|女朋友|车|工作|对象)/u.test(rest) ? [found(`没有${rest}`, 'family')] : [];
  const positive = firstInChinese({ ...alone(rest), validFrom: said.predicate.validFrom }, { plain: true });
  return positive.map((fact) => ({ ...fact, text: `${word}${fact.text}` }));
}

const alone = (text: string): Dated => ({ raw: text, without: text, labelled: text, validFrom: null });

/** "我女儿叫小红", "今年五岁" said of her. */
function ofRelative(dated: Dated, who: string): readonly Found[] {
  const said = (dated.raw.includes('岁') ? dated.raw : dated.labelled).replace(
    new RegExp(`(?:我们?|咱们?)(?:的|家的?)?${who}(?:的(?=名字))?`, 'u'),
    '',
  );
  const text = tidyChinese(said.replace(/^(?:也|还|已经|就)/u, ''));
  const says = /^(?:名字)?(?:叫|是|在|今年|住|喜欢|爱|不|有|养|来自|会|做|当|学|去世|刚|\d|对.+过敏|生|结婚|毕业)/u;
  if (text === null || !says.test(text) || /^(?:是不|是说|在(?:吗|等|问)|不(?:知道|在|行|错))/u.test(text)) return [];
  return [
    {
      text: `${who}${text.replace(/^名字(?:是|叫)/u, '叫')}`,
      category: 'family',
      validFrom: text.includes('岁') ? null : dated.validFrom,
    },
  ];
}

function each({ raw, without, labelled, validFrom }: Dated, change: (text: string) => string): Dated {
  return { raw: change(raw), without: change(without), labelled: change(labelled), validFrom };
}

type Groups = Readonly<Record<string, string | undefined>>;
interface ChineseRule {
  readonly pattern: RegExp;
  readonly category: string;
  readonly reads: 'state' | 'event' | 'raw';
  /** It says so plainly that no 我 is needed before it. */
  readonly plain: boolean;
  readonly says: (groups: Groups) => string | readonly string[] | null;
}

const KIND = '(?:其实|现在|目前|一直|也|都|还|真的|特别|非常|很|超级?|最近|已经|就|比较|挺|最)*';
const state = (pattern: RegExp, category: string, says: ChineseRule['says']): ChineseRule => ({
  pattern,
  category,
  reads: 'state',
  plain: true,
  says,
});

/** What is said of the user where it follows 我. */
const CHINESE: readonly ChineseRule[] = [
  {
    pattern: /^(?:今年|刚|刚满|已经|快|马上|都)*(?<age>\d{1,3}|[一二三四五六七八九十百]{1,4})(?:周)?岁了?$/u,
    category: 'personal_details',
    reads: 'raw',
    plain: true,
    says: ({ age }) => `今年${age}岁`,
  },
  {
    pattern: /^(?:出生于|生于)(?<when>.*\d.*)$|^(?<born>\d.*[年日号])出?生(?:的)?$/u,
    category: 'personal_details',
    reads: 'raw',
    plain: true,
    says: ({ when, born }) => `出生于${(when ?? born ?? '').replace(/^在/u, '')}`,
  },
  state(/^(?:的?名字?(?:是|叫做?)|叫做?|姓名是|大名叫?)(?<name>[\p{L}·. ]{1,20})$/u, 'personal_details', ({ name }) =>
    value(name, (text) => `名字是${text}`),
  ),
  state(
    /^(?:是|就是)(?<name>(?:小|阿|老)[\p{Script=Han}]{1,2}|[\p{Lu}][\p{L}]+(?: [\p{Lu}][\p{L}]+)?)$/u,
    'personal_details',
    ({ name = '' }) => (/^(?:小学|小孩|老师|老板|老人|老大|小时)/u.test(name) ? null : `名字是${name}`),
  ),
  state(
    /^(?:刚刚?|又)?从(?<from>.+?)(?:搬|移居|移民)(?:家)?(?:到|去|来|回)了?(?<to>.+)$/u,
    'personal_details',
    ({ from, to }) => place(to, (name) => `住在${name}（从${from}搬来）`),
  ),
  state(
    /^(?:刚刚?|又|后来)?(?:搬家?(?:到|去|来|回)了?|移居到?|移民到?了?|定居(?:在|到)?了?)(?<to>.+)$/u,
    'personal_details',
    ({ to }) => place(to, (name) => `住在${name}`),
  ),
  state(
    new RegExp(`^${KIND}(?:居?住在|家住在?|家在|住(?!院)|在(?=.+(?:生活|定居)$))(?<to>.+?)(?:生活|定居)?$`, 'u'),
    'personal_details',
    ({ to }) => place(to, (name) => `住在${name}`),
  ),
  state(/^(?:以前|之前|曾经|过去)(?:住在|在(?=.+住))(?<to>.+?)(?:住过?)?$/u, 'personal_details', ({ to }) =>
    place(to, (name) => `以前住在${name}`),
  ),
  state(/^(?:来自)(?:于)?(?<to>.+)$/u, 'personal_details', ({ to }) => place(to, (name) => `来自${name}`)),
  state(/^是(?<from>.{1,8}[^个的些家]人)$/u, 'personal_details', ({ from = '' }) =>
    /(?:男|女|好|坏|大|老|年轻|中年|单身|机器|的)人$/u.test(from) ? null : `是${from}`,
  ),
  state(/^(?:出生在|在(?=.+出生))(?<to>.+?)(?:出生(?:的|，.*)?)?$/u, 'personal_details', ({ to }) =>
    place(to, (name) => `出生在${name}`),
  ),
  state(/^(?:从小)?在(?<to>.+?)长大(?:的)?$/u, 'personal_details', ({ to }) => place(to, (name) => `在${name}长大`)),
  state(
    new RegExp(
      `^${KIND}(?:就职于|任职于|供职于|在)(?<at>.+?)(?:工作|上班|任职|就职|做事)?[，,]?(?:当|做|担任)(?:一?[名个位])?(?<job>.+)$`,
      'u',
    ),
    'professional_details',
    ({ at, job = '' }) => (isOccupation(job) ? value(at, (text) => `在${text}工作，职位是${job}`) : null),
  ),
  state(
    new RegExp(
      `^${KIND}(?:就职于|任职于|供职于|入职了?|跳槽(?:到|去)了?|加入了?(?=.*公司)|在(?=.+(?:工作|上班|任职|就职|实习)))(?<at>.+?)(?:工作|上班|任职|就职|实习)?(?:的)?$`,
      'u',
    ),
    'professional_details',
    ({ at }) => value(at, (text) => (/^家$|家里$/u.test(text) ? null : `在${text}工作`)),
  ),
  state(
    new RegExp(`^${KIND}(?:是|当|做|担任|成为了?)(?:一?[名个位])?(?<job>.+?)(?:的)?$`, 'u'),
    'professional_details',
    ({ job = '' }) => (isOccupation(job) ? `工作是${job}` : null),
  ),
  state(
    /^(?:在(?<at>.+?)(?:读书|上学|念书|读大学|上大学|读研究?生?|读博士?|留学)|是(?<of>.+?)的?(?:大?学生|研究生|博士生))$/u,
    'professional_details',
    ({ at, of }) => (at === undefined ? `是${of}的学生` : `在${at}读书`),
  ),
  state(/^(?:学|读|学的是|读的是|主修)(?<what>.+?)专业?(?:的)?$/u, 'professional_details', ({ what = '' }) =>
    POINTING.test(what) || /^(?:了|过|书|会|习|完|到)/u.test(what) ? null : `学${what}`,
  ),
  state(/^(?<verb>卖(?:掉)?了)(?<what>(?:我的|那|一)?.+)$/u, 'misc', ({ verb, what }) =>
    value(what, (text) => `${verb}${text}`),
  ),
  state(/^[和跟](?<who>.+?)分手了?$/u, 'family', ({ who }) => value(who, (text) => `和${text}分手了`)),
  state(/^又(?:开始)?(?<verb>[吃喝抽])(?<what>.+)$/u, 'food', ({ verb, what }) =>
    value(what, (text) => `${verb}${text}`),
  ),
  state(/^从(?<at>.+)(?:离职|辞职)$/u, 'professional_details', ({ at }) => value(at, (text) => `不再在${text}工作`)),
  state(/^姓(?<name>\p{Script=Han}{1,2})$/u, 'personal_details', ({ name }) => `姓${name}`),
  state(
    /^是(?:一?个)?(?<what>左撇子|色盲|独生[子女]|基督徒|佛教徒|穆斯林|夜猫子|.{1,3}族|.{1,6}(?:迷|粉丝|爱好者))$/u,
    'personal_details',
    ({ what }) => value(what, (text) => `是${text}`),
  ),
  state(/^(?<what>(?![对有会不也])\p{Script=Han}{1,4})过敏$/u, 'health', ({ what }) =>
    value(what, (text) => `对${text}过敏`),
  ),
  state(/^对(?<what>.+?)过敏$/u, 'health', ({ what }) => list(what, (text) => `对${text}过敏`)),
  state(
    /^(?:患有|得了|有)(?<what>.*(?:病|症|炎|糖尿病|高血压|哮喘|抑郁|近视|失眠|癌|贫血).*)$/u,
    'health',
    ({ what }) => value(what, (text) => `有${text}`),
  ),
  state(/^(?:是个?|在)?(?<what>吃素|素食者|素食主义者|纯素食者|纯素食主义者)(?:的)?$/u, 'food', ({ what }) =>
    what === '吃素' ? '吃素' : `是${what}`,
  ),
  state(
    new RegExp(`^(?:${KIND.replace('|最', '')})最(?<verb>喜欢|爱)的(?<kind>.+?)是(?<what>.+)$`, 'u'),
    'user_preferences',
    ({ verb, kind, what }) => value(what, (text) => `最${verb}的${kind}是${text}`),
  ),
  state(
    new RegExp(
      `^${KIND}(?<verb>喜欢上?|热爱|喜爱|爱(?=[吃喝看玩听打跑学旅唱跳游爬画读]|上)|偏爱|讨厌|厌恶|害怕|怕|受不了|迷上)了?(?<what>.+)$`,
      'u',
    ),
    'user_preferences',
    ({ verb, what }) => list(what, (text) => `${verb}${text}`),
  ),
  state(/^(?:(?:能|可以|会)说|会|说)(?<what>[\p{L}、和跟,，]+?[语文话])$/u, 'personal_details', ({ what }) =>
    list(what, (text) => `会说${text.replace(/^(?:说|讲)/u, '')}`),
  ),
  state(/^会(?<what>[弹拉做开打跳唱画写游吹骑滑修].+)$/u, 'hobbies', ({ what }) => value(what, (text) => `会${text}`)),
  state(
    /^(?:已经|刚刚?|去年|是)*(?<what>已婚|未婚|单身|结婚|离婚|订婚)(?:的|了)?(?:状态)?$/u,
    'family',
    ({ what }) => ({ 结婚: '已婚', 离婚: '离婚了', 订婚: '订婚了' })[what ?? ''] ?? what ?? null,
  ),
  {
    pattern:
      /^(?<verb>打算|计划|准备|想要?(?=去|学|买|换|搬|考|成为|当|开)|决定|希望(?=能|去|学|买|成为)|要(?=去|搬|结婚|毕业|考|参加|生))(?<what>.+)$/u,
    category: 'milestones',
    reads: 'event',
    plain: false,
    says: ({ verb, what = '' }) => (TALK.test(what) ? null : value(what, (text) => `${verb}${text}`)),
  },
  {
    pattern:
      /^(?<when>\d{4}年(?:\d+月)?(?:\d+日)?(?:前后)?)?(?<verb>打算|计划|准备|要|想)(?<what>(?:去|搬|学|买|换|考|结婚|参加|开).*)$/u,
    category: 'milestones',
    reads: 'event',
    plain: false,
    says: ({ when = '', verb, what = '' }) => (TALK.test(what) ? null : value(what, (text) => `${when}${verb}${text}`)),
  },
  {
    pattern:
      /^(?<verb>家里?有|有|养了?)(?<what>(?:一|两|二|三|四|五|六|几|\d+|很多|不少)(?:个|只|条|位|辆|套|台|匹|头|对|把|间|名|部|架|盆).+)$/u,
    category: 'misc',
    reads: 'event',
    plain: true,
    says: ({ verb, what = '' }) =>
      /问题|想法|疑问|请求|建议|事|主意|办法|个会$|喜讯|消息/u.test(what)
        ? null
        : value(what, (text) => `${verb}${text}`),
  },
  { pattern: /^(?<what>.+)$/u, category: 'misc', reads: 'event', plain: false, says: ({ what = '' }) => doing(what) },
];

/** What the first rule that has something to say says. */
function firstInChinese(predicate: Dated, options: { readonly plain: boolean }): readonly Found[] {
  for (const { pattern, category, reads, plain, says } of CHINESE) {
    if (options.plain && !plain) continue;
    const text = { raw: predicate.raw, state: predicate.without, event: predicate.labelled }[reads];
    const match = pattern.exec(text);
    const texts = match === null ? null : says(match.groups ?? {});
    const found = typeof texts === 'string' ? [texts] : (texts ?? []);
    const validFrom = reads === 'raw' ? null : predicate.validFrom;
    if (found.length > 0) return found.map((said) => ({ text: said, category, validFrom }));
  }
  return [];
}

/** An object without what trails it; null when it only points elsewhere. */
function tidyChinese(text: string | undefined): string | null {
  const tidied = (text ?? '').trim().replace(/(?:了|啦|呢|哦|哈|啊|呀|吧|嘛|噢|喔|~|～|！|。|\s)+$/u, '');
  return tidied === '' || POINTING.test(tidied) || tidied.length > 60 ? null : tidied;
}

function value(text: string | undefined, say: (text: string) => string | null): string | null {
  const tidied = tidyChinese(text);
  return tidied === null ? null : say(tidied);
}

function place(text: string | undefined, say: (name: string) => string): string | null {
  return value(text, (name) =>
    /^(?:一起|这里|那里|这儿|那儿|外面|家里|酒店|学校|宿舍)$/u.test(name)
      ? null
      : say(name.replace(/(?:居住|生活|工作|住)$/u, '')),
  );
}

function list(text: string | undefined, say: (item: string) => string): readonly string[] {
  const tidied = tidyChinese(text);
  if (tidied === null) return [];
  return tidied
    .split(/[、和跟及与]|以及/u)
    .flatMap((item) => tidyChinese(item) ?? [])
    .map(say);
}

function doing(what: string): string | null {
  const dateless = what.replace(/^\d{4}年(?:\d+月(?:\d+日)?)?(?:前后)?/u, '');
  if (!DOES.test(dateless) || TALK.test(what)) return null;
  return value(what, (text) => (/^(?:辞职|失业|升职|退休|怀孕|毕业|戒烟|戒酒)$/u.test(text) ? `${text}了` : text));
}

/** What of the user has a name of its own. */
const ATTRIBUTE =
  '(?:生日|年龄|职业|职位|工作|专业|学校|公司|家乡|老家|籍贯|国籍|民族|母语|爱好|兴趣爱好|兴趣|梦想|目标|愿望|电话|手机号|手机号码|电话号码|邮箱|邮件地址|地址|家庭地址|身高|体重|血型|星座|属相|生肖|鞋码|网名|昵称|英文名|微信|微信号|QQ|车|预算|座右铭|偶像|宗教|信仰|口味)';

const OCCUPATION =
  /(?:医生|大夫|护士|老师|教师|教授|讲师|工程师|程序员|开发者|设计师|律师|会计|会计师|厨师|司机|警察|军人|消防员|记者|编辑|作家|作者|画家|歌手|演员|导演|摄影师|音乐家|钢琴家|舞者|模特|翻译|导游|教练|健身教练|销售|销售员|业务员|店员|服务员|收银员|快递员|外卖员|保安|保姆|清洁工|工人|农民|渔民|商人|企业家|创业者|老板|经理|总监|主管|秘书|助理|前台|公务员|法官|检察官|科学家|研究员|博士后|分析师|咨询师|顾问|心理咨询师|药剂师|药师|牙医|兽医|理发师|美容师|化妆师|裁缝|木匠|电工|水管工|飞行员|空姐|空乘|船员|运动员|博主|主播|自由职业者|全职妈妈|家庭主妇|家庭主妇|产品经理|项目经理|架构师|测试员|运维|人事|行政|出纳|建筑师|幼师|营养师|精算师|交易员|实习生)$/u;

const isOccupation = (text: string): boolean => OCCUPATION.test(text);

/** Words that only point at something said elsewhere. */
const POINTING = /^(?:你|您|他|她|它|这|那|什么|谁|哪|怎么|一下|点什么|东西|说|听|看到|知道|问|吗|的$)/u;

/** Verbs that says something when 我 does them. */
const DOES =
  /^(?:(?:每天|每周|每个?月|每年|每晚|每个周末|周末|经常|常常|常|通常|一般|平时|有时候?|总是|习惯|偶尔|从不|从来不)(?:都|会|要|喜欢)?.{1,}|(?:养|买|去|到|学|玩|打|练|开|骑|参加|毕业|考上|考|生|换|卖|做|写|画|弹|拉|跑|游|爬|踢|看完|读完|获得|得|失去|丢|搬|结识|认识|收养|领养|加入|创办|开始|完成|摔|骨折|受伤|住院|做手术|动手术|戒|辞|升|订)(?:过|了|着|完).+|(?:辞职|失业|升职|退休|毕业|怀孕|结婚|离婚|骨折|戒烟|戒酒)|从.+毕业.*|(?:参加|加入|毕业于|创办|负责|管理|收藏|收集|练习|练|弹|拉|踢|骑|抽烟|喝酒|信|用).{1,}|(?:开(?:着|一辆)|正在学|在学(?!校|院)|学习?|打(?:篮球|网球|羽毛球|乒乓球|高尔夫|太极|鼓)|跑步|健身|游泳|爬山|骑车).*)$/u;
/** Objects of those verbs that belong to the talk at hand. */
const TALK = /(?:很忙|很累|加班|上班|开会|代码|报错|文件|函数|脚本|帮忙|这个|那个|一下|你|问题)/u;
