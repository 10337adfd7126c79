/**
 * base: other forms. A question has the base (did she buy?), what was said another form (I bought): 1 point of R@5. Forms that
 * are as often another word (lives, leaves, rose, wound) are missing on purpose.
 */
const LIST = `
arise: arose arisen; awake: awoke awoken; bear: bore borne; beat: beaten; become: became; begin: began begun; bend: bent;
bind: bound; bite: bit bitten; bleed: bled; blow: blew blown; break: broke broken; breed: bred; bring: brought;
build: built; burn: burnt; buy: bought; catch: caught; choose: chose chosen; come: came; creep: crept; deal: dealt; dig: dug;
draw: drew drawn; dream: dreamt; drink: drank drunk; drive: drove driven; eat: ate eaten; fall: fell fallen; feed: fed;
feel: felt; fight: fought; find: found; flee: fled; fly: flew flown; forbid: forbade forbidden; forget: forgot forgotten;
forgive: forgave forgiven; freeze: froze frozen; get: got gotten; give: gave given; go: went gone goes; grow: grew grown;
hang: hung; hear: heard; hide: hid hidden; hold: held; keep: kept; kneel: knelt; know: knew known; lay: laid; lead: led;
leap: leapt; learn: learnt; leave: left; lend: lent; lie: lain; light: lit; lose: lost; make: made; mean: meant; meet: met;
mow: mown; pay: paid; prove: proven; ride: rode ridden; ring: rang rung; rise: risen; run: ran; say: said; see: saw seen;
seek: sought; sell: sold; send: sent; sew: sewn; shake: shook shaken; shine: shone; shoot: shot; show: shown;
shrink: shrank shrunk; sing: sang sung; sink: sank sunk; sit: sat; sleep: slept; slide: slid; smell: smelt; speak: spoke spoken;
speed: sped; spend: spent; spin: spun; spring: sprang sprung; stand: stood; steal: stole stolen; stick: stuck; sting: stung;
strike: struck; strive: strove striven; swear: swore sworn; sweep: swept; swell: swollen; swim: swam swum; swing: swung;
take: took taken; teach: taught; tear: tore torn; tell: told; think: thought; throw: threw thrown;
understand: understood; wake: woke woken; wear: wore worn; weave: wove woven; weep: wept; win: won; withdraw: withdrew withdrawn; write: wrote written;
child: children; foot: feet; goose: geese; man: men; mouse: mice; person: people; tooth: teeth; woman: women; wife: wives;
knife: knives; half: halves; shelf: shelves; wolf: wolves; loaf: loaves
`;

/** Forms that no rule of spelling leads back to their base, with that base. */
export const IRREGULAR: ReadonlyMap<string, string> = new Map(
  LIST.split(';').flatMap((entry) => {
    const [base = '', forms = ''] = entry.split(':').map((part) => part.trim());
    return forms.split(/\s+/).map((form) => [form, base] as const);
  }),
);
