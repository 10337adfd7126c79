/** What the slots of several frames are filled with. */
export const FIRST_NAMES = [
  ...['Mirela', 'Anders', 'Chidi', 'Soraya', 'Piotr', 'Hanneke', 'Luca', 'Min-ji', 'Desmond', 'Rukmini', 'Basil'],
  ...['Ottilie', 'Kwame', 'Jorunn', 'Enzo', 'Tabitha', 'Stellan', 'Nadira', 'Cormac', 'Yevgenia'],
];
export const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
export const TOWNS = [
  ...['Tromsø', 'Aarhus', 'Cork', 'Bilbao', 'Graz', 'Split', 'Plovdiv', 'Antwerp', 'Kaunas', 'Girona', 'Umeå', 'Bath'],
  ...['Ottawa', 'Cusco', 'Osaka', 'Hobart', 'Tampa', 'Chiang Mai'],
];
export const MONTHS_SHORT = ['February', 'April', 'June', 'August', 'October', 'December'];
export const SUMS = ['300 euros', '450 dollars', '600 francs', '2,000 crowns', '75 pounds', '9,500 euros'];
export const CLOCK = ['6 am', '7:30', '8 in the morning', 'noon', '5 pm', '18:30', '9 in the evening'];
