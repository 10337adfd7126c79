import { lazily, porterStem, termSet, wordsOf } from './terms.ts';

/** Words that say little by themselves: what people do all day, what ends and changes, and kinds that facts put into what was named. */
const listed = lazily(() =>
  termSet(
    'quit stop end ended finish finished cancel cancelled canceled switch replaced gone over off back again lost part job time feet inches cm kg km dog cat travel visit together accepted own valid suffer suffered ' +
      'beendet beenden endet aufgehört abgesagt abgesetzt abgeschlossen wieder verloren weg job arbeit zeit hund katze reist zusammen eigene gilt dauert nimmt nehmen benutzt braucht benötigt trägt trinkt ' +
      'dejó dejado terminó termina canceló cancelado perdió vuelve volvió trabajo tiempo perro gato juntos propio propia sufrió sufre toma usa necesita lleva utiliza bebe ' +
      'arrêté arrête fini terminé termine annulé perdu quitté emploi temps chien chat ensemble propre dure souffre prend utilise porte besoin boit ' +
      'eat drink go play see look watch read write buy bring put give call meet help ask find walk talk speak sit stand stay leave left day today good great nice big small new ' +
      'diagnose diagnosed city town country company firm pet animal group team product food language trip appointment product practice ' +
      'esse essen gehen geht spielen spielt sehen sieht lesen schreiben kaufen fahren fährt machen macht tag gut neu groß klein ' +
      'diagnostiziert stadt land firma haustier tier gruppe produkt sprache reise termin ' +
      'comer come ir va jugar juega ver ve leer escribir comprar hacer hace día bueno buena nuevo nueva grande pequeño ' +
      'diagnosticaron diagnosticado diagnosticada ciudad país empresa mascota animal grupo equipo producto idioma viaje cita practica ' +
      'manger mange aller jouer joue voir lire écrire acheter faire fait jour bon bonne nouveau nouvelle grand petit ' +
      'atteint atteinte diagnostiqué ville pays entreprise animal groupe équipe produit produits langue voyage pratique obtenu',
  ),
);

/** Of each language by which facts say who the user is: what ends like a verb, a participle or an adverb. */
const FORMS = [
  { facts: /usuari/iu, slight: /^.{3,}(?:[aei]r|[aei]rse|[ai]d[oa]s?|ando|iendo|mente|aron|ieron)$/u },
  { facts: /utilisat/iu, slight: /^.{3,}(?:er|ir|ment|ees?)$/u },
];
const ENGLISH = /^.{3,}(?:ed|ing|ly)$/u;
const GERMAN = /nutzer/iu;
/** In German whatever is no noun. */
const SMALL = /(?<![\p{L}\p{N}])\p{Ll}[\p{L}\p{M}]*/gu;

/** Which words of a text say little by themselves, in small letters and without accents. */
export function slightIn(text: string): (word: string) => boolean {
  if (GERMAN.test(text)) {
    const small = new Set((text.match(SMALL) ?? []).flatMap((word) => wordsOf(word).map((one) => one.text)));
    return (word) => small.has(word) || isListed(word);
  }
  const { slight } = FORMS.find(({ facts }) => facts.test(text)) ?? { slight: ENGLISH };
  return (word) => slight.test(word) || isListed(word);
}

const isListed = (word: string): boolean => listed().has(word) || listed().has(porterStem(word));
