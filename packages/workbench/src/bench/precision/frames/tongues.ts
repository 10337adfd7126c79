import type { Frame } from './frame.ts';

/** A few facts in other languages, asked for in the same language. */
export const TONGUES: readonly Frame[] = [
  {
    name: 'de instrument',
    says: ['Spielt seit {jahre} Jahren {instrument}'],
    slots: { jahre: ['drei', 'sieben', 'zwölf'], instrument: ['Klavier', 'Geige', 'Schlagzeug', 'Querflöte'] },
    same: ['Was spielt sie seit Jahren?', 'Seit wie vielen Jahren spielt er {instrument}?'],
    other: ['Welche Musik macht sie selbst?'],
    plain: true,
  },
  {
    name: 'de wohnung',
    says: ['Hat in {ort} eine Ferienwohnung gekauft'],
    slots: { ort: ['Rügen', 'Bregenz', 'Meran', 'Lübeck'] },
    same: ['Wo wurde die Ferienwohnung gekauft?'],
    other: ['Welche Immobilie besitzt sie für den Urlaub?'],
    plain: true,
  },
  {
    name: 'de angst',
    says: ['Fürchtet sich vor {ding}'],
    slots: { ding: ['Spinnen', 'Gewittern', 'Fahrstühlen', 'Spritzen'] },
    same: ['Wovor fürchtet sie sich?'],
    other: ['Was macht ihm Angst?'],
    plain: true,
  },
  {
    name: 'es mercado',
    says: ['Compra pescado en {sitio} los viernes'],
    slots: { sitio: ['la lonja', 'el mercado central', 'el puerto', 'la tienda de Pepe'] },
    same: ['¿Dónde compra pescado los viernes?'],
    other: ['¿De qué sitio vienen las sardinas y merluzas que cocina?'],
    plain: true,
  },
  {
    name: 'es empleo',
    says: ['Trabajó de joven como {oficio} en {lugar}'],
    slots: {
      oficio: ['camarero', 'socorrista', 'carpintero', 'guía'],
      lugar: ['Cádiz', 'Gijón', 'Tenerife', 'Girona'],
    },
    same: ['¿Como qué trabajó de joven?'],
    other: ['¿Cuál fue su primer empleo?'],
    plain: true,
  },
  {
    name: 'zh drink',
    says: ['每天晚上喝{茶}'],
    slots: { 茶: ['普洱', '龙井', '菊花茶', '豆浆'] },
    same: ['每天晚上喝什么？'],
    other: ['睡前有什么饮料习惯？'],
    plain: true,
  },
  {
    name: 'zh pet',
    says: ['家里养了一只{动物}'],
    slots: { 动物: ['橘猫', '柯基', '鹦鹉', '仓鼠'] },
    same: ['家里养了什么？'],
    other: ['有宠物吗？'],
    plain: true,
  },
  {
    name: 'zh trip',
    says: ['打算明年去{地方}旅行'],
    slots: { 地方: ['敦煌', '拉萨', '桂林', '哈尔滨'] },
    same: ['打算明年去哪里旅行？'],
    other: ['将要游览何处？'],
    plain: true,
  },
];
