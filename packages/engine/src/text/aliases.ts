/**
 * Names that are said in one way and written in another: what is said by the first says the second, and the other way round.
 * With capitals: said so alone, because in small letters it is a word of some language. Only those that nearly everybody uses:
 * what is missing here is remembered in the words in which it was said.
 */
const LISTED = `
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

const ALIASES: readonly Alias[] = LISTED.trim()
  .split(/[|\n]/u)
  .map((pair) => pair.split('='))
  .map(([short = '', long = '']) => ({ short, long }));

const HAN = /\p{Script=Han}/u;
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
