import type { IndexHit } from '../../ports/search-index.ts';
import type { RankQuestion } from './question.ts';

/** What tells of a time counts more where a time is asked for. Gains half a point of R@1. */
const TELLS_TIME = 0.05;

const ASKS_TIME =
  /\b(?:when|how long|how often|what (?:date|day|month|year|time)|which (?:day|month|year))\b|什么时候|何时|哪[一]?[天年月日]|几[点号月]|多久|多长时间|いつ|何[時日年月]|언제/iu;

const TIME =
  /\b(?:yesterday|today|tonight|tomorrow|ago|last|next|weekend|weeks?|months?|years?|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|november|december|since|recently|morning|afternoon|evening)\b|\d{4}|昨[天日晚]|今[天日年晚]|明[天年]|前[天年]|去年|上[周个]|下[周个]|[年月日号点]|きのう|先[週月]|来[週月]|어제|오늘|내일/iu;

export function time({ text }: RankQuestion, hits: readonly IndexHit[]): readonly number[] {
  if (!ASKS_TIME.test(text)) return hits.map(() => 0);
  return hits.map(({ point }) => (TIME.test(point.text) ? TELLS_TIME : 0));
}
