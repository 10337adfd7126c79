import type { Day } from '../calendar.ts';
import { asksInChinese, type Dated, type Found, type Sentence } from '../sentences.ts';
import { datedChinese } from './dates.ts';
import { ATTRIBUTE, CHINESE_RELATION, firstInChinese, tidyChinese } from './rules.ts';

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
