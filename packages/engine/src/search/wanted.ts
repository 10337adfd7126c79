/** What a question wants to be told, and how a text shows that it tells such a thing. */
interface Wanted {
  readonly asks: RegExp;
  readonly tells: RegExp;
}

const TIME: Wanted = {
  asks: /\b(?:when|how often|how soon|what (?:date|day|month|year|time)|which (?:day|month|year))\b|什么时候|何时|哪[一]?[天年月日]|几[点号月]|多久|多长时间|いつ|何[時日年月]|언제/iu,
  tells:
    /\b(?:yesterday|today|tonight|tomorrow|ago|last|next|weekend|weeks?|months?|years?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter|since|recently|morning|noon|afternoon|evening|night|midnight|daily|weekly|monthly|[ap]m)\b|\d{4}|\d:\d\d|\b\d{1,2}(?:st|nd|rd|th)\b|\bat \d|昨[天日晚]|今[天日年晚]|明[天年]|前[天年]|去年|[上下每][周个天年]|早上|晚上|[年月日号点]|きのう|先[週月]|来[週月]|어제|오늘|내일/iu,
};

/** Also asked for: times, by how long. */
const AMOUNT: Wanted = {
  asks: /\bhow (?:many|much|old|long|tall|far|high|big|large|often|heavy|fast|expensive)\b/iu,
  tells:
    /\p{N}|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|half|once|twice|dozen|several)\b/iu,
};

const PLACE: Wanted = {
  asks: /\b(?:where|which (?:city|town|country|place))\b/iu,
  tells: /\b(?:in|at|to|from|near|on|by|off|under|behind|into|around)\s+(?:the\s+|an?\s+)?\p{L}/iu,
};

const PERSON: Wanted = { asks: /\b(?:who|whom|whose)\b/iu, tells: /\s\p{Lu}\p{Ll}/u };

/** The first that fits counts: at what time somebody meets whom is a question for a time. */
const KINDS = [TIME, AMOUNT, PLACE, PERSON];

/** Whether a text lacks the kind of thing that a question wants: a day, a number, a place, a name. Of other questions nothing is known. */
export function lacksWanted(question: string): (text: string) => boolean {
  const kind = KINDS.find(({ asks }) => asks.test(question));
  return kind === undefined ? () => false : (text) => !kind.tells.test(text);
}

export const asksTime = (question: string): boolean => TIME.asks.test(question) || /\bhow long\b/iu.test(question);
export const tellsTime = (text: string): boolean => TIME.tells.test(text);
