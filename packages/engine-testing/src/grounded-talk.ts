/** What is said in a chat, what a good model makes of it, and with which words of it. `$` stands for the detail. */
interface Form {
  readonly said: string;
  readonly fact: string;
  /** Copied from what is said; null: the model names none. */
  readonly quote: string | null;
  /** What the assistant asked right before. */
  readonly asked?: string;
}

interface Tongue {
  readonly forms: readonly (Form & { readonly of: keyof typeof DETAILS })[];
}

const DETAILS = {
  place: ['Oslo', 'Porto', 'Kyoto', 'Leipzig', 'Quito', 'New Delhi', 'Saint-Malo', 'Kraków'],
  person: ['Miriam', 'Joana', "O'Brien", 'Zoë', 'Anna-Lena', 'Freya', 'Søren'],
  firm: ['Siemens', 'OpenMind', 'Acme GmbH', 'B2Metrics', 'Spotify'],
  number: ['3', '17', '42', '1,250', '2.5'],
  placeHan: ['上海', '成都', '奥斯陆', '杭州', '广州'],
  food: ['ramen', 'pasta', 'tofu', 'paella', 'kiwi'],
  foodHan: ['火锅', '豆腐', '寿司', '饺子'],
} as const;

const TONGUES: Readonly<Record<string, Tongue>> = {
  English: {
    forms: [
      {
        of: 'place',
        said: "We've just moved to $, still unpacking!",
        fact: 'User lives in $',
        quote: "We've just moved to $",
      },
      {
        of: 'place',
        said: 'Scrap that, I moved again: it is $ now.',
        fact: 'User lives in $ (moved again)',
        quote: 'it is $ now',
      },
      {
        of: 'person',
        said: "my sister $ is visiting, she's a nurse",
        fact: "User's sister $ works as a nurse",
        quote: "my sister $ is visiting, she's a nurse",
      },
      {
        of: 'firm',
        said: 'Started at $ two months ago',
        fact: 'User has worked at $ since January 2026',
        quote: 'Started at $ two months ago',
      },
      {
        of: 'number',
        said: 'I run $ kilometres every morning',
        fact: 'User runs $ km each morning',
        quote: 'I run $ kilometres every morning',
      },
      {
        of: 'food',
        said: 'honestly nothing beats $ on a rainy day',
        fact: 'User loves $',
        quote: 'nothing beats $ on a rainy day',
      },
      {
        of: 'food',
        said: 'careful, $ makes my throat swell up',
        fact: 'User is allergic to $',
        quote: '$ makes … swell up',
      },
      { of: 'food', said: 'I went vegan, so no more $', fact: 'User no longer eats $', quote: null },
      {
        of: 'place',
        said: 'I leave for $ tomorrow',
        fact: 'User travels to $ on 2026-03-10',
        quote: 'leave for $ tomorrow',
      },
      { of: 'place', said: '$', asked: 'Which city do you live in?', fact: 'User lives in $', quote: '$' },
      { of: 'person', said: 'yes', asked: 'Is your doctor still $?', fact: "User's doctor is $", quote: 'yes' },
      { of: 'number', said: '$', asked: 'How many plants do you have?', fact: 'User has $ plants', quote: null },
    ],
  },
  German: {
    forms: [
      {
        of: 'place',
        said: 'Ich bin letzte Woche nach $ gezogen',
        fact: 'Nutzer wohnt in $ (letzte Woche umgezogen)',
        quote: 'letzte Woche nach $ gezogen',
      },
      {
        of: 'person',
        said: 'Meine Schwester $ ist Krankenschwester geworden',
        fact: 'Die Schwester des Nutzers, $, arbeitet als Krankenschwester',
        quote: 'Meine Schwester $ ist Krankenschwester geworden',
      },
      {
        of: 'firm',
        said: 'Seit Januar arbeite ich bei $',
        fact: 'Nutzer arbeitet seit Januar 2026 bei $',
        quote: 'Seit Januar arbeite ich bei $',
      },
      {
        of: 'number',
        said: 'ich laufe jeden Morgen $ Kilometer',
        fact: 'Nutzer läuft jeden Morgen $ Kilometer',
        quote: 'jeden Morgen $ Kilometer',
      },
      {
        of: 'food',
        said: 'Ich vertrage leider kein $ mehr',
        fact: 'Nutzer verträgt kein $',
        quote: 'vertrage leider kein $',
      },
      { of: 'place', said: '$', asked: 'In welcher Stadt wohnst du?', fact: 'Nutzer wohnt in $', quote: '$' },
      {
        of: 'place',
        said: 'Stimmt nicht mehr: inzwischen lebe ich in $',
        fact: 'Nutzer lebt inzwischen in $',
        quote: null,
      },
    ],
  },
  Spanish: {
    forms: [
      {
        of: 'place',
        said: 'Acabo de mudarme a $ con mi pareja',
        fact: 'El usuario vive en $ con su pareja',
        quote: 'mudarme a $ con mi pareja',
      },
      {
        of: 'person',
        said: 'Mi hermana $ es enfermera',
        fact: 'La hermana del usuario, $, es enfermera',
        quote: 'Mi hermana $ es enfermera',
      },
      {
        of: 'firm',
        said: 'Empecé en $ hace dos meses',
        fact: 'El usuario trabaja en $ desde enero de 2026',
        quote: 'Empecé en $ hace dos meses',
      },
      {
        of: 'number',
        said: 'corro $ kilómetros cada mañana',
        fact: 'El usuario corre $ kilómetros cada mañana',
        quote: 'corro $ kilómetros cada mañana',
      },
      { of: 'food', said: 'Ya no como $, me sienta mal', fact: 'El usuario ya no come $', quote: 'Ya no como $' },
      { of: 'place', said: 'en $', asked: '¿Dónde vives ahora?', fact: 'El usuario vive en $', quote: 'en $' },
    ],
  },
  French: {
    forms: [
      {
        of: 'place',
        said: "J'ai déménagé à $ la semaine dernière",
        fact: "L'utilisateur habite à $",
        quote: "J'ai déménagé à $",
      },
      {
        of: 'person',
        said: 'Ma sœur $ est infirmière',
        fact: "La sœur de l'utilisateur, $, est infirmière",
        quote: 'Ma sœur $ est infirmière',
      },
      {
        of: 'firm',
        said: "J'ai commencé chez $ il y a deux mois",
        fact: "L'utilisateur travaille chez $ depuis janvier 2026",
        quote: 'commencé chez $ il y a deux mois',
      },
      {
        of: 'number',
        said: 'je cours $ kilomètres chaque matin',
        fact: "L'utilisateur court $ kilomètres chaque matin",
        quote: '$ kilomètres chaque matin',
      },
      {
        of: 'food',
        said: 'Je ne mange plus de $ depuis longtemps',
        fact: "L'utilisateur ne mange plus de $",
        quote: 'Je ne mange plus de $',
      },
      { of: 'place', said: 'à $', asked: 'Où habitez-vous ?', fact: "L'utilisateur habite à $", quote: 'à $' },
    ],
  },
  Chinese: {
    forms: [
      { of: 'placeHan', said: '我上周搬到$了，房子很小', fact: '用户住在$', quote: '我上周搬到$了' },
      { of: 'placeHan', said: '不对，我现在住在$', fact: '用户现在住在$', quote: '我现在住在$' },
      { of: 'firm', said: '我在$上班两个月了', fact: '用户在$上班', quote: '我在$上班' },
      { of: 'number', said: '我每天早上跑$公里', fact: '用户每天早上跑$公里', quote: '每天早上跑$公里' },
      { of: 'foodHan', said: '我特别喜欢吃$，从小就喜欢', fact: '用户喜欢吃$', quote: '我特别喜欢吃$' },
      { of: 'placeHan', said: '$', asked: '你住在哪个城市？', fact: '用户住在$', quote: '$' },
    ],
  },
};

/** Facts in English of what is said in other languages: settings ask for it. */
const TRANSLATED: Tongue = {
  forms: [
    {
      of: 'place',
      said: 'Ich bin letzte Woche nach $ gezogen',
      fact: 'User moved to $ last week',
      quote: 'nach $ gezogen',
    },
    {
      of: 'firm',
      said: 'Empecé en $ hace dos meses',
      fact: 'User has worked at $ for two months',
      quote: 'I started at $',
    },
    { of: 'person', said: 'Ma sœur $ est infirmière', fact: "User's sister $ is a nurse", quote: null },
    { of: 'number', said: '我每天早上跑$公里', fact: 'User runs $ kilometres every morning', quote: '跑$公里' },
    { of: 'placeHan', said: '我上周搬到$了', fact: 'User lives in a city in China', quote: '搬到$' },
  ],
};

export interface GroundedFact {
  readonly said: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
  /** The place of the message it comes from. */
  readonly at: number;
  readonly text: string;
  readonly quote: string | null;
  readonly kind: string;
}

/** Every form with every detail, the languages one after the other. */
export function groundedFacts(): readonly GroundedFact[] {
  const tongues = [...Object.entries(TONGUES), ['translated', TRANSLATED] as const];
  return tongues.flatMap(([kind, { forms }]) =>
    forms.flatMap((form) => DETAILS[form.of].map((detail) => filled(kind, form, detail))),
  );
}

function filled(kind: string, { said, fact, quote, asked }: Form, detail: string): GroundedFact {
  const fill = (text: string): string => text.replaceAll('$', detail);
  const told = { role: 'user' as const, content: fill(said) };
  const messages = asked === undefined ? [told] : [{ role: 'assistant' as const, content: fill(asked) }, told];
  return {
    said: messages,
    at: messages.length - 1,
    text: fill(fact),
    quote: quote === null ? null : fill(quote),
    kind,
  };
}
