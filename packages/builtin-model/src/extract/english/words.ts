/** People and animals near the user: "my …". */
export const RELATION =
  '(?:wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|mother|mom|mum|father|dad|parents?|sister|brother|siblings?|sons?|daughters?|kids?|child|children|baby|twins?|grandmother|grandma|grandfather|grandpa|grandparents?|uncle|aunt|cousin|niece|nephew|mother-in-law|father-in-law|best friend|friend|roommate|flatmate|neighbou?r|boss|manager|colleague|coworker|team|dogs?|cats?|puppy|kitten|pets?|parrot|rabbit|hamster|horse|fish|bird|turtle)';

/** What of the user has a name of its own: "my address is …". */
export const ATTRIBUTE =
  '(?:nickname|age|birthday|date of birth|birth date|birthplace|job|job title|profession|occupation|employer|company|position|role|salary|major|degree|university|school|college|hometown|home town|home city|city|address|home address|home|nationality|citizenship|native language|mother tongue|first language|second language|languages?|hobby|hobbies|interests?|passion|goal|dream|dream job|ambition|phone|phone number|number|cell|email|email address|e-mail|website|blog|username|handle|twitter|github|linkedin|blood type|height|weight|shoe size|size|clothing size|zodiac sign|star sign|religion|diet|allergy|allergies|timezone|time zone|pronouns|gender|budget|anniversary|wedding anniversary|car|bike|phone model|laptop|anthem|motto|middle name|last name|surname|family name|maiden name|specialty|fear|biggest fear|show|book|film|song)';

/** What has a day: "my flight to Rome is on Friday". */
export const OCCASION =
  "(?:[\\w'-]+ ){0,2}(?:appointment|check-up|meeting|interview|exam|test|flight|train|wedding|graduation|surgery|operation|party|concert|trip|holiday|vacation|lesson|class|deadline|recital|match|race|game|dinner|visit|viewing)(?: (?:to|with|at|in|for) [\\w' -]{1,40}?)?";

/** Words with a capital letter that are no names. */
export const NOT_NAMES =
  /^(?:I|A|An|The|Mum|Mom|Dad|Mr|Mrs|Ms|Dr|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|Christian|Catholic|Muslim|Jewish|Hindu|Buddhist|Atheist|Vegan|Vegetarian|Sorry|Fine|Good|Happy|Sad|Tired|Sure|Not|So|Very|Here|Back|Ready|Looking|Going|Trying|OK|Okay|Swiss|French|Dutch|Greek|Czech|Thai|Welsh|Scottish|Iraqi|Israeli|Pakistani|European|Asian|African|American|\p{Lu}\p{Ll}+(?:ese|ish|nian|rian|lian|sian|kian|gian|bian|dian|tian|ican|wegian))(?:\s|$)/u;

const OCCUPATION =
  /(?:^|[\s-])(?:nurse|doctor|physician|surgeon|dentist|vet|pharmacist|therapist|psychologist|lawyer|attorney|judge|teacher|tutor|lecturer|professor|researcher|scientist|chemist|physicist|biologist|engineer|developer|programmer|coder|designer|architect|analyst|consultant|manager|director|executive|ceo|cto|cfo|founder|entrepreneur|accountant|auditor|banker|broker|trader|economist|statistician|mathematician|actuary|secretary|assistant|receptionist|clerk|librarian|journalist|reporter|editor|writer|author|translator|interpreter|photographer|painter|artist|illustrator|sculptor|musician|singer|pianist|guitarist|violinist|drummer|composer|dj|actor|actress|comedian|dancer|model|producer|filmmaker|chef|cook|baker|barista|bartender|waiter|waitress|butcher|farmer|gardener|fisherman|carpenter|plumber|electrician|mechanic|welder|builder|mason|roofer|driver|pilot|sailor|captain|flight attendant|conductor|courier|postman|firefighter|fireman|policeman|police officer|detective|soldier|officer|guard|paramedic|midwife|caregiver|nanny|babysitter|cleaner|janitor|hairdresser|barber|beautician|tailor|jeweller|florist|shopkeeper|cashier|salesperson|salesman|saleswoman|sales rep|realtor|real estate agent|agent|recruiter|hr specialist|marketer|freelancer|contractor|technician|administrator|sysadmin|data scientist|product owner|scrum master|coach|trainer|instructor|athlete|footballer|referee|politician|diplomat|priest|pastor|monk|nun|social worker|civil servant|veterinarian|optician|radiologist|cardiologist|neurologist|paediatrician|pediatrician|psychiatrist|physiotherapist|geologist|historian|philosopher|astronaut|youtuber|streamer|blogger|intern|apprentice|postdoc|specialist|supervisor|foreman|operator|inspector|surveyor|investor|landlord|housewife|homemaker|stay-at-home (?:mom|mum|dad|parent))s?$/iu;

/** Whether this is what somebody does for a living. */
export const isOccupation = (text: string): boolean => OCCUPATION.test(text);

/** Heads of "I have a …" that belong to the talk at hand. */
export const NOT_HELD =
  /\b(?:questions?|problems?|issues?|ideas?|doubts?|requests?|bugs?|errors?|feelings?|look|trouble|troubles|time|fun|clue|favou?r|concerns?|suggestions?|points?|thoughts?|lists?|files?|tables?|functions?|code|tasks?|scripts?|datasets?|strings?|arrays?|choice|words?|say|news|day|weekend|morning|evening|week|nice|reason|right|chance|sense|difficulty|hard time)\b/iu;

/** Wishes that are requests to the assistant. */
export const REQUEST =
  /^(?:know|ask|understand|see|check|find|hear|say|tell|thank|try|do (?:it|that|this)|talk|discuss|clarify|confirm|make sure|use|test|let|be (?:sure|able|back)|get back|get (?:some|your|a) (?:help|advice|info\w*)|give|show|write (?:a|an|some) (?:email|code|function|script|letter|poem|essay|text|message)|create (?:a|an) (?:table|list|file|function|script|account)|have (?:a|an|some|you)|fix|add|change|remove|delete|look|think|go (?:now|to bed|to sleep)|order|book|compare|convert|generate|summari[sz]e|translate|explain|share|point out|add|mention|need|call it|keep|stop here|leave it|pick|choose|start over|note|be honest|admit|wait)\b/iu;

/** Pairs that are one thing. */
export const PAIRS =
  /\b(?:mac and cheese|fish and chips|rock and roll|rhythm and blues|arts and crafts|bed and breakfast|salt and pepper|salt and vinegar|black and white|peanut butter and jelly|tom and jerry|dungeons and dragons|drum and bass|country and western|r and b|track and field|cookies and cream|gin and tonic)\b/iu;

export const BARE_ADJECTIVE =
  /^(?:red|blue|green|white|black|yellow|dark|light|hot|cold|spicy|sweet|sour|salty|old|new|big|small|long|short|warm|dry|wet|loud|quiet|classical|modern|indoor|outdoor|fast|slow|both)$/iu;
