import type { Frame } from '../frames/frame.ts';

/** A few facts in other languages, asked for in the same language. */
export const OTHER_TONGUES: readonly Frame[] = [
  {
    name: 'de garten',
    says: ['Zieht {gemüse} im Gewächshaus'],
    slots: { gemüse: ['Auberginen', 'Paprika', 'Feigen', 'Okra'] },
    same: ['Was zieht sie im Gewächshaus?'],
    other: ['Welche Pflanzen hat er unter Glas?'],
    plain: true,
  },
  {
    name: 'de chor',
    says: ['Geht {tag} zur Chorprobe'],
    slots: { tag: ['montags', 'dienstags', 'mittwochs', 'sonntags'] },
    same: ['Wann ist Chorprobe?'],
    other: ['An welchem Abend singt sie mit anderen?'],
    plain: true,
  },
  {
    name: 'fr vélo',
    says: ['Va au bureau à vélo sauf {jour}'],
    slots: { jour: ['le lundi', 'le jeudi', 'quand il pleut', "l'hiver"] },
    same: ['Quand ne va-t-il pas au bureau à vélo ?'],
    other: ['Comment se rend-elle chaque matin à son travail ?'],
    plain: true,
  },
  {
    name: 'fr fromage',
    says: ['Préfère {fromage} à tous les autres fromages'],
    slots: { fromage: ['le comté', 'le munster', 'le reblochon', 'le roquefort'] },
    same: ['Quel fromage préfère-t-elle ?'],
    other: ['Que mettre sur un plateau pour lui ?'],
    plain: true,
  },
  {
    name: 'es reunión',
    says: ['Tiene reunión de padres {día}'],
    slots: { día: ['el martes', 'el jueves', 'a fin de mes', 'en otoño'] },
    same: ['¿Cuándo tiene reunión de padres?'],
    other: ['¿Cuándo toca visitar la escuela?'],
    plain: true,
  },
  {
    name: 'zh 手机',
    says: ['上个月换了{手机}手机'],
    slots: { 手机: ['华为', '小米', '苹果', '三星'] },
    same: ['上个月换了什么手机？'],
    other: ['现在用哪种牌子打电话？'],
    plain: true,
  },
  {
    name: 'zh 跑步',
    says: ['每周{日}早上去公园跑步'],
    slots: { 日: ['一', '三', '五', '六'] },
    same: ['什么时候去公园跑步？'],
    other: ['平时怎么锻炼身体？'],
    plain: true,
  },
];
