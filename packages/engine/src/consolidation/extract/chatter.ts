/** Whether a fact tells only that something was said in the conversation, and nothing that holds after it. */
export const isChatter = (fact: string): boolean =>
  !/forget|forgotten|erase|delete|remove|忘|删/iu.test(fact) && CHATTER.some((form) => form.test(fact.trim()));

const SUBJECT = '^(?:the |this )?(?:user|speaker|human|person|customer)(?: has| have| just| also| only| then)*';
/** What is asked about; who is asked would make it an event of the user's life ("asked Maria to marry him"). */
const QUESTION =
  '(?:the (?:assistant|ai|bot|agent) )?(?:about|if|whether|what|when|where|who|whom|which|why|how)(?!\\p{L})';
const SERVICE =
  '(?:the (?:assistant|ai|bot|agent)|(?:a |an |some |more |for )*(?:help|assistance|information|advice|recommendations?|suggestions?|tips|explanations?|directions|details|summary|translation|clarification|questions?)(?!\\p{L}))';
const GREETING =
  '(?:hello|hi|hey|goodbye|good ?bye|bye|thanks|thank you|good (?:morning|afternoon|evening|night)|nothing|ok(?:ay)?|yes|no)';

const CHATTER = [
  new RegExp(
    `${SUBJECT} (?:said|says|is saying|replied|responded|answered)(?: with)? ["'“‘]?${GREETING}(?!\\p{L})["'”’]?(?: to (?:the|an?) [\\p{L} ]{1,30})?[.!]?$`,
    'iu',
  ),
  new RegExp(
    `${SUBJECT} (?:greeted|greets|is greeting|thanked|thanks|is thanking)(?: (?:the )?(?:assistant|ai|bot|agent|me|us))?(?: (?:for|with) [^.]{0,60})?[.!]?$`,
    'iu',
  ),
  new RegExp(
    `${SUBJECT} (?:asked|asks|is asking|was asking|inquired|inquires|is inquiring|enquired|wondered|wonders|is wondering) ${QUESTION}`,
    'iu',
  ),
  new RegExp(`${SUBJECT} (?:wants|wanted|would like|is trying|needs) to (?:know|ask|find out) ${QUESTION}`, 'iu'),
  new RegExp(
    `${SUBJECT} (?:asked|asks|is asking|requested|requests|is requesting|is looking|needs)(?: for)? ${SERVICE}`,
    'iu',
  ),
  new RegExp(
    `${SUBJECT} (?:is |started |began |is having )?(?:chatting|talking|having a conversation|a conversation|speaking) (?:with|to) (?:the |an? )?(?:assistant|ai|bot|agent|chatbot)`,
    'iu',
  ),
  /^(?:the |this )?conversation (?:is|was|began|begins|started|starts|ended|ends)(?!\p{L})/iu,
  /^(?:the )?user (?:sent|provided|shared|typed|entered) (?:an? )?(?:empty |blank |test )?(?:message|input|greeting|no information)(?!\p{L})/iu,
  /^(?:这个|该)?用户(?:刚刚?|又|向助手|对助手)?(?:打了?个?招呼|打招呼|问好|问候|说了?[“"「]?(?:你好|谢谢|再见)|表示(?:感谢|谢意)|道谢|致谢|道别|感谢了?助手)/u,
  /^(?:这个|该)?用户(?:正在|刚刚?|又|向助手)?(?:询问|在问|问了?(?:关于|一下|天气|时间|什么|怎么|如何|为什么|哪)|想知道|请求(?:帮助|协助|建议|推荐|信息))/u,
];

/** Whether a fact is a question, word for word: it asks, and says nothing. */
export const isQuestion = (fact: string): boolean => QUESTIONS.some((form) => form.test(fact.trim()));

const QUESTIONS = [
  /^(?:(?:and|but|so|or|well|ok(?:ay)?),? )?(?:what|when|where|who|whom|whose|which|why|how|is|are|am|was|were|do|does|did|can|could|will|would|should|shall|may|might|have|has|any)(?:'s|'re|n't)?\s[^\n]*\?$/iu,
  /^(?!用户)[^\n]*(?:吗|呢|什么|怎么|怎样|哪|谁|几|多少|如何|为什么)[^\n]*？$/u,
];
