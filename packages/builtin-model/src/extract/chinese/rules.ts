import type { Dated, Found } from '../sentences.ts';

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
export function firstInChinese(predicate: Dated, options: { readonly plain: boolean }): readonly Found[] {
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
export function tidyChinese(text: string | undefined): string | null {
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

/** People and animals near the user. */
export const CHINESE_RELATION =
  '(?:老婆|妻子|太太|爱人|老公|丈夫|先生|女朋友|男朋友|女友|男友|未婚妻|未婚夫|对象|妈妈|母亲|妈|老妈|爸爸|父亲|爸|老爸|父母|爸妈|家人|姐姐|哥哥|弟弟|妹妹|姐|哥|弟|妹|大哥|二姐|儿子|女儿|大儿子|小儿子|大女儿|小女儿|孩子|宝宝|双胞胎|爷爷|奶奶|外公|外婆|姥姥|姥爷|叔叔|阿姨|舅舅|姑姑|表哥|表姐|表弟|表妹|堂哥|堂姐|侄子|侄女|外甥|室友|闺蜜|好朋友|朋友|同事|老板|狗狗|小狗|狗|猫咪|小猫|猫|宠物|兔子|仓鼠|鹦鹉)';

/** What of the user has a name of its own. */
export const ATTRIBUTE =
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
