/**
 * A kind of fact, and how it is said and asked for. Texts have places in braces: slots of the frame, and in questions those of
 * whoever is asked about ({does}, {is}, {has}, {did}, {was}, {who}, {whose}, {him}).
 */
export interface Frame {
  /** What a question asks for; frames of one name answer the same questions. */
  readonly name: string;
  /** What follows the subject: "lives in {city}", or "'s dentist is {doctor}". */
  readonly says: readonly string[];
  readonly slots: Readonly<Record<string, readonly string[]>>;
  /** Questions that share words with what is said. */
  readonly same: readonly string[];
  /** Questions in other words: whoever asks one checks that it shares none with what is said. */
  readonly other: readonly string[];
  /** Somebody may have several of them. */
  readonly many?: true;
  /** It is said of relatives, too. */
  readonly others?: true;
  /** What is true of it changes: there may be a former version. */
  readonly changes?: true;
  /** Sentences and questions of another language, without a subject. */
  readonly plain?: true;
}

export const PEOPLE = [
  ...['Ravi', 'Ingrid', 'Tomasz', 'Leila', 'Bruno', 'Noor', 'Callum', 'Yuki', 'Petra', 'Dmitri', 'Amara', 'Felix'],
  ...['Rosalind', 'Hugo', 'Zainab', 'Oskar', 'Camille', 'Idris', 'Wanda', 'Emeka', 'Signe', 'Paolo', 'Greta', 'Malik'],
];
export const DAYS = ['Mondays', 'Tuesdays', 'Wednesdays', 'Thursdays', 'Fridays', 'Saturdays', 'Sundays'];
export const CITIES = [
  ...['Bergen', 'Porto', 'Leipzig', 'Galway', 'Turin', 'Utrecht', 'Gdansk', 'Malmö', 'Ghent', 'Valencia', 'Tartu'],
  ...['Izmir', 'Basel', 'Lyon', 'Leeds', 'Nagoya', 'Denver', 'Halifax', 'Recife', 'Pune', 'Busan', 'Perth'],
];
export const COUNTRIES = [
  ...['Iceland', 'Vietnam', 'Peru', 'Morocco', 'Georgia', 'Kenya', 'Croatia', 'Japan', 'Chile', 'Jordan', 'Cuba'],
];
export const DATES = [
  ...['3 March', '11 April', '27 May', '8 June', '19 July', '2 August', '14 September', '30 October', '6 November'],
  ...['21 December', '9 January', '17 February'],
];
export const YEARS = ['2016', '2017', '2018', '2019', '2020', '2021', '2022', '2023', '2024', '2025'];
export const TIMES = ['5:30', '6:15', '7:00', '7:45', '8:20', '9:10', '10:40', '11:15'];
export const COLOURS = ['teal', 'mustard', 'crimson', 'ivory', 'lavender', 'charcoal', 'turquoise', 'olive', 'maroon'];
export const ANIMALS = [
  'beagle',
  'tabby',
  'cockatiel',
  'tortoise',
  'ferret',
  'gecko',
  'poodle',
  'guinea pig',
  'greyhound',
];
