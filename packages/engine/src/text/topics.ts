import { lazily, termSet, terms } from './terms.ts';

/**
 * What everyday facts are about, with words by which people tell it and ask for it: a question that shares no word with its answer
 * often shares this. Before the bar stands what tells the topic by itself, behind it what only points to it.
 */
const WORDS: Readonly<Record<string, string>> = {
  residence: `live reside resident residence home flat apartment condo city town village address based relocate dwell
    wohnt vive | house settle move lodging place`,
  address: 'address street avenue postcode zip parcel registered | road lane door post deliver mail',
  origin:
    'origin originally hometown birthplace childhood homeland nationality upbringing raised | grew native roots youth',
  name: 'name nickname alias pseudonym surname | called',
  birthday: 'birthday birth born birthdate | age old cake congratulate date',
  work: `work job occupation profession employer employ career vocation nurse doctor physician surgeon teacher engineer developer
    programmer plumber electrician carpenter accountant lawyer paralegal architect dentist florist baker chef waiter barista pilot
    librarian translator interpreter welder mechanic farmer gardener cashier clerk consultant designer journalist writer
    photographer musician actor pharmacist technician scientist researcher analyst hairdresser barber cleaner janitor firefighter
    policeman soldier sailor secretary receptionist salesman realtor tailor butcher therapist psychologist freelancer
    | company firm role trade driver manager editor`,
  boss: 'boss manager supervisor supervise superior | report chief lead',
  colleague: 'colleague coworker teammate workmate desk | office nearest closest room',
  hours: 'shift workday hours | schedule begin start working',
  pay: 'salary income wage earn remuneration paycheck | pay tax bonus',
  task: 'project assignment task responsible initiative rollout | charge lead busy',
  certificate: 'certificate certified certification qualification diploma licence license exam | degree passed test',
  study:
    'study university college degree graduate major master bachelor phd thesis alumni faculty | school student education',
  programming: 'code coding ide programming developer software | editor program develop write',
  computer: 'computer laptop pc os macos windows linux notebook desktop | operating system install',
  business: 'sell etsy | business extra income shop market customer side trade money',
  commute: 'commute tram bus subway metro | train cycle office way route travel morning',
  spouse: 'married marry wife husband spouse fiance fiancee engaged | partner significant couple',
  wedding: 'wedding anniversary altar married marry | couple',
  children: 'child kid son daughter baby toddler offspring | family raising',
  babysitter: 'babysitter babysit nanny sitter | kid child look watch leave',
  pet: `pet animal dog cat puppy kitten beagle poodle tabby labrador terrier greyhound spaniel hamster rabbit bunny parrot cockatiel
    budgie canary tortoise turtle snake gecko lizard ferret goldfish horse pony | guinea pig fish adopted`,
  vet: 'vet veterinarian | animal pet doctor',
  godchild: 'godchild godparent godfather godmother christening baptism',
  emergency: 'emergency | urgent hospital bad happen rung contact',
  allergy: 'allergy allergic intolerant intolerance rash hives anaphylaxis | swelling medical avoid trigger',
  illness: `illness disease diagnosed diagnosis chronic asthma diabetes migraine arthritis eczema apnoea tinnitus epilepsy cancer
    depression anxiety hypertension disorder | ill condition suffer sick medical troubles`,
  medicine: `medicine medication drug pill tablet prescribe prescription dose insulin ibuprofen paracetamol aspirin antibiotic
    antidepressant metformin sertraline levothyroxine omeprazole ramipril statin | swallow doctor`,
  injury: `injury injured hurt accident fracture sprain tore ligament wrist ankle collarbone | broke break knee elbow shoulder bone`,
  blood: 'blood transfusion | paramedic',
  teeth: 'dentist teeth tooth cavity dental orthodontist braces',
  eyes: 'eyesight vision optician sighted lenses dioptres myopic spectacles glasses | sight',
  sleep: 'sleep asleep bedtime awake insomnia | bed nap late midnight night',
  waking: 'alarm wake awake | morning riser early',
  vaccination: 'vaccination vaccine vaccinated immunised immunized jab booster | shot',
  vice: 'quit vice smoking smoke vaping gambling addiction | habit stop drinking overcome give',
  height: 'tall height cm centimetre | big feet inches',
  sport: `sport exercise workout gym tennis badminton squash football soccer basketball volleyball handball hockey rugby cricket padel
    baseball golf yoga pilates boxing judo karate marathon swim | fit train practice play run jog cycling climbing bouldering hike
    ski surf rowing`,
  race: 'marathon race triathlon | ran run finished distance kilometre result',
  diet: 'diet vegan vegetarian pescatarian gluten kosher halal keto carb | eat foods principle',
  food: `food meal dish cuisine lasagne pasta pizza ramen sushi curry goulash paella soup stew taco burrito dumpling
    | eat cook favourite favorite`,
  dislike: 'dislike hate detest loathe omit | stand touch avoid ingredient never',
  breakfast: 'breakfast porridge cereal toast granola | meal morning first eat',
  drink: 'drink beverage wine beer cider whisky cocktail alcohol juice soda | bottle evening dinner tea guest',
  coffee: 'coffee espresso latte cappuccino barista caffeine',
  restaurant: 'restaurant dine diner bistro | table celebrate occasions special',
  baking: 'bake oven bread pastry loaf loaves sourdough | cake homemade',
  groceries: 'grocery groceries supermarket | shop shopping market store food',
  snack: 'snack nibble crisps | almonds nuts crackers chocolate between bag drawer',
  instrument: `instrument piano guitar violin cello drums flute oboe accordion banjo harp trumpet saxophone ukulele bagpipes clarinet
    musical | play practise lessons music`,
  music: 'music song band artist singer listen playlist | album record fan',
  concert: 'concert gig | festival live attend tour saw',
  book: 'book novel author read bedside | middle halfway',
  film: 'film movie cinema director',
  series: 'tv television season episode stream | series show watch hooked binge',
  collection: 'collect collector hoard | collection gather hobby stamps coins shelves',
  game: 'game console gamer playstation xbox nintendo | video play',
  craft: 'craft handmade knit sew pottery woodwork workshop diy | creative hand hobby make',
  club: 'club society association member membership guild choir | join group belong fee',
  language: 'language speak fluent tongue bilingual | talk know',
  learning: 'learn vocabulary | studying lessons class classes app new language',
  press: 'magazine newspaper journal subscribe subscription | read arrives',
  volunteering: 'volunteer charity unpaid donate | help shelter work',
  team: 'team support league | fan football soccer club cheer season ticket players',
  colour: 'colour color hue | shade taste wear',
  walls: 'wall wallpaper paint decorate | bedroom colour shade',
  trip: 'trip travel journey flight fly upcoming | train ticket next vacation holiday coming',
  visited: 'visit tour abroad vacation | holiday foreign past been places',
  seat: 'seat aisle | sit window plane airline flying reserved',
  hotel: 'hotel accommodation hostel airbnb | staying stay room reserve book',
  passport: 'passport visa borders expire | document papers renew valid travel',
  dream: 'dream destination bucket | sight hope see',
  appointment: 'appointment meeting calendar | meet engagement fixed dates schedule',
  goal: 'goal ambition determined achieve resolution plan | intention intend aim',
  deadline: 'deadline due submit submission | hand soon facing',
  party: 'party celebration guest invited invitation ceremony | wedding celebrate outfit',
  saving: 'saving save fund afford | purchase money aside buy',
  course: 'course class classes | lessons attend signed taught',
  gift: 'gift present gave | christmas choose bought',
  feud: 'quarrel feud argument angry dispute | fell fallen talk conflict row',
  festival: `christmas easter eid diwali hanukkah thanksgiving midsummer religious religion seasonal festival | holiday celebrate
    event`,
  rent: 'rent landlord mortgage lease housing | apartment month pay spend',
  flatmate: 'flatmate roommate housemate | apartment rent share lives bedroom',
  car: `car automobile vehicle suv van skoda fiat volvo renault toyota mazda subaru kia ford bmw audi tesla honda volkswagen drive
    | dealer`,
  bicycle: 'bicycle bike pedal | cycle cycling ride',
  heating: 'heat warm radiator stove | cold winter energy',
  plants: 'plant garden grow balcony | pots vegetables flowers herbs',
  wifi: 'wifi wi-fi wireless router | network internet connect',
  key: 'key lock locked | door open spare hide',
  furniture: 'furniture sofa couch wardrobe bookcase table | chair bed shelf living room purchase bought ordered',
  rubbish: 'rubbish garbage trash bin recycling kerb | waste collected',
  renovation: 'renovation renovate redone redo contractor builder remodel | kitchen bathroom building hired',
  phone: 'phone smartphone mobile iphone android pixel galaxy nokia handset | cell',
  number: 'dial | number ring call phone',
  email: 'email e-mail inbox | mail online writing letter electronic reached',
  bank: 'bank account financial | institution money savings',
  insurance: 'insurance insured policy | cover damage loss claim',
  camera: 'camera photograph leica nikon canon fujifilm polaroid | photo shoot pictures lens',
  loss: 'lost lose missing forgot | left leave behind belonging',
  shoes: 'shoe boots sneakers | size feet wear',
  notes: 'notes jottings | ideas writing diary write tool',
  backup: 'backup duplicate cloud | back copy photo safe disk images pictures',
  replies: 'answer reply response tone | assistant style prefers',
};

/** What single words do not tell: looked for first, and not read word by word any more. */
const PHRASES: readonly (readonly [topic: string, phrase: RegExp])[] = [
  ['work', /\b(?:for a living|make a living)\b/giu],
  ['waking', /\b(?:gets?|got|getting) up\b/giu],
  ['origin', /\b(?:gr[eo]w(?:s|n)? up|where .{1,40} from)\b/giu],
  ['flatmate', /\b(?:lives? with|shares? the (?:flat|apartment))\b/giu],
  ['pet', /\banimals? lives? with\b/giu],
  ['sleep', /\bgo(?:es)? to bed\b/giu],
  ['vice', /\bgives? up\b/giu],
  ['residence', /住|搬|居|地址|哪个城市|家在/giu],
  ['work', /工作|职业|上班|公司|从事/giu],
  ['pet', /宠物|猫|狗|养了|柯基|鹦鹉|仓鼠/giu],
  ['drink', /喝|饮料/giu],
  ['trip', /旅游|旅行|去过|游览|度假/giu],
  ['food', /吃|食物|菜|餐/giu],
];

/** What only points to a topic counts so much. */
const WEAK = 0.4;

const topicsByTerm = lazily(byTerm);

function byTerm(): ReadonlyMap<string, readonly (readonly [topic: string, weight: number])[]> {
  const found = new Map<string, (readonly [string, number])[]>();
  for (const [topic, words] of Object.entries(WORDS)) {
    const [strong = '', weak = ''] = words.split('|');
    const weights = new Map(terms(weak).map((term) => [term, WEAK]));
    for (const term of terms(strong)) weights.set(term, 1);
    for (const [term, weight] of weights) found.set(term, [...(found.get(term) ?? []), [topic, weight]]);
  }
  return found;
}

export type Topics = ReadonlyMap<string, number>;

/** Any of the phrases: most texts have none. */
const ANY_PHRASE = new RegExp(PHRASES.map(([, phrase]) => phrase.source).join('|'), 'iu');

/** The topics of a text, of which the terms may be known, each with how surely it is about that, 0…1. */
export function topicsOf(text: string, own: ReadonlySet<string> = termSet(text)): Topics {
  const topics = new Map<string, number>();
  let rest = text;
  for (const [topic, phrase] of ANY_PHRASE.test(text) ? PHRASES : []) {
    const left = rest.replace(phrase, ' ');
    if (left !== rest) topics.set(topic, 1);
    rest = left;
  }
  for (const term of rest === text ? own : new Set(terms(rest))) {
    for (const [topic, weight] of topicsByTerm().get(term) ?? []) {
      topics.set(topic, Math.max(weight, topics.get(topic) ?? 0));
    }
  }
  return topics;
}
