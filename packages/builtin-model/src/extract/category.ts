/** Subjects that make a liking, a plan or an event belong to more than the general heading it was found under. */
const SUBJECTS: Readonly<Record<string, RegExp>> = {
  health:
    /\b(?:allerg\w*|diabet\w*|asthma|migraine\w*|surgery|hospital|diagnosed|leg|arm|ankle|knee|injur\w*|medication|therapy|pregnant|insomnia|disease|intolerant)\b|过敏|病|手术|住院|骨折|戒烟|怀孕|失眠/iu,
  family:
    /\b(?:kids?|child(?:ren)?|sons?|daughters?|brothers?|sisters?|siblings?|wife|husband|parents?|dogs?|cats?|pupp(?:y|ies)|kittens?|pets?|baby|wedding)\b|孩子|儿子|女儿|妹|弟|哥|姐|爸|妈|猫|狗|宠物|结婚/iu,
  sports:
    /\b(?:runs?|running|marathon|football|soccer|basketball|tennis|badminton|cricket|golf|baseball|volleyball|hockey|rugby|swim\w*|cycl\w*|skiing|skis?|surf\w*|climb\w*|gym|yoga|pilates|boxing|karate|judo|sports?|crossfit)\b|跑步|足球|篮球|网球|羽毛球|乒乓球|游泳|健身|滑雪|瑜伽|运动|太极/iu,
  food: /\b(?:eats?|drinks?|food|coffee|tea|pizza|sushi|pasta|cheese|chocolate|meat|fish|vegetarian|vegan|spicy|mushrooms?|olives?|cook\w*|bak(?:es|ing)|wine|beer|milk|bread|fruit|vegetables?|cuisine|restaurants?|noodles|rice|dish)\b|吃|喝|辣|菜|肉|咖啡|茶|酒|做饭|素食|火锅|面|水果/iu,
  travel:
    /\b(?:travel\w*|trips?|visit\w*|vacation|holiday|flight|flying|abroad|hotel|airport|window seats?|backpack\w*)\b|旅游|旅行|出国|机票|酒店|去了|去[^年]/iu,
  music:
    /\b(?:music|guitar|piano|violin|drums?|cello|sings?|singing|choir|songs?|band|jazz|rock|concerts?|opera)\b|音乐|钢琴|吉他|小提琴|唱歌|歌|乐队|演唱会/iu,
  entertainment:
    /\b(?:movies?|films?|series|shows?|tv|netflix|anime|games?|gaming|theatre|theater|novels?|books?|comics?|podcasts?)\b|电影|电视|游戏|动漫|小说|看书|剧/iu,
  technology:
    /\b(?:programming|python|typescript|javascript|rust|linux|computers?|laptops?|phones?|iphone|android|software|apps?|ai|gadgets?|servers?)\b|编程|电脑|手机|软件|代码/iu,
  fashion: /\b(?:wears?|clothes|clothing|shoes?|sneakers|dress(?:es)?|jackets?|fashion|shoe size)\b|衣服|穿|鞋|时尚/iu,
  professional_details:
    /\b(?:job|works?|career|promoted|promotion|degree|university|graduat\w+|phd|company|studies|interview|exam)\b|工作|辞职|升职|毕业|大学|公司|考/iu,
  hobbies:
    /\b(?:hik\w+|paint\w*|draws?|drawing|knit\w*|garden\w*|photograph\w*|collect\w*|reads?|reading|writes?|writing|fishing|chess|dance|dancing|camping|hobb\w+|plays?)\b|爬山|画|摄影|钓鱼|下棋|跳舞|收集|爱好|读书/iu,
  milestones:
    /\b(?:married|graduated|born|won|finished|adopted|bought a house|retired|engaged)\b|结婚|生了|买房|获得/iu,
};
const GENERAL = new Set(['misc', 'user_preferences', 'milestones', 'hobbies']);

/** The heading a fact belongs under. */
export function categoryOf(text: string, found: string): string {
  if (!GENERAL.has(found)) return found;
  return Object.entries(SUBJECTS).find(([, words]) => words.test(text))?.[0] ?? found;
}
