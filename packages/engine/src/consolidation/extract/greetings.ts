import { normaliseText } from '../../text/normalise.ts';

/** Whether a message only greets, thanks or takes leave: nothing can be remembered of it. Yes, no and okay may be answers. */
export function isGreeting(text: string): boolean {
  if (text.length > LONGEST) return false;
  const said = normaliseText(text).replaceAll('’', "'");
  if (!FIRST.test(said)) return false;
  const left = said.replace(PHRASES, ' ');
  return left !== said && !/[\p{L}\p{N}]/u.test(left);
}

/** Characters; longer messages say something. */
const LONGEST = 160;

const ENGLISH = [
  '(?:hi|hello|hey)(?: there| again| everyone| all)?',
  'hiya|howdy|greetings|welcome(?: back)?',
  'good (?:morning|afternoon|evening|night|day)',
  "how are (?:you|things)(?: doing)?(?: today)?|how's it going|what's up",
  "(?:it's )?(?:nice|good|great) to (?:meet|see) you(?: again| too)?",
  '(?:many )?thanks(?: a lot| so much| very much| a bunch| again| in advance)?|thx|ty',
  '(?:ok(?:ay)? )?thank you(?: so much| very much| again| in advance)?|much appreciated|cheers',
  "you're welcome|you are welcome|no problem|my pleasure|any ?time",
  '(?:good)?bye(?: bye| for now)?|see (?:you|ya)(?: later| soon| tomorrow)?|take care|talk (?:to you )?(?:later|soon)',
  '(?:have a |enjoy your )(?:nice|good|great|lovely|wonderful)? ?(?:day|evening|weekend|night|one)',
  '(?:how|what) (?:can|may) i (?:help|assist|do for)(?: you)?(?: with)?(?: today)?',
  'is there anything else i can (?:help|do)(?: you with| for you)?(?: today)?',
  'let me know if (?:you need anything(?: else)?|there is anything else)',
].join('|');
const CHINESE = [
  '(?:你|您|大家)们?好[呀啊哦吗]?',
  '嗨|哈[喽啰罗]|在吗|早上好|早安|早[呀啊]|中午好|下午好|晚上好|晚安|午安',
  '(?:非常|十分|太|多)?(?:感谢|谢谢?)(?:你|您|大家)?[了啦呀啊哦]?',
  '不客气|不用谢|辛苦[了啦]|再见|拜拜|回头见|明天见|祝你?好运',
  '(?:请问)?有什么(?:可以|能|需要)?(?:帮|为|帮助|协助)(?:到|助)?(?:你|您)?(?:的|做的|效劳的)?吗?',
].join('|');
const PHRASES = new RegExp(`(?<![\\p{L}\\p{N}'])(?:${ENGLISH})(?![\\p{L}\\p{N}'])|${CHINESE}`, 'gu');
/** A greeting begins with one of them: other texts are not looked through for more. */
const FIRST = new RegExp(`^[^\\p{L}\\p{N}]*(?:${ENGLISH}|${CHINESE})`, 'u');
