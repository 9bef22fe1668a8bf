/**
 * A few texts to start with, by language: the model in use decides which ones are offered.
 */

/**
 * @typedef {object} Example
 * @property {string} name
 * @property {string} text
 * @property {string} [lang]
 */

/** @type {Example[]} */
const ENGLISH = [
  { name: "Kids love candy", text: "Kids love candy, and every word selects its head." },
  { name: "Two readings", text: "I saw the man with the telescope." },
  { name: "Uncertain arcs", text: "The rat the cat the dog chased killed ate the malt." },
  { name: "A repaired tree", text: "The horse raced past the barn fell." },
  {
    name: "CoNLL-U",
    text: ["Kids", "love", "candy", "."]
      .map((form, index) => [index + 1, form, ..."_".repeat(8)].join("\t"))
      .join("\n")
      .concat("\n\n"),
  },
];

/**
 * The children are reading a book in the garden.
 *
 * @type {Record<string, string>}
 */
const CHILDREN = {
  af: "Die kinders lees 'n boek in die tuin.",
  ar: "يقرأ الأطفال كتابا في الحديقة.",
  be: "Дзеці чытаюць кнігу ў садзе.",
  ca: "Els nens llegeixen un llibre al jardí.",
  cs: "Děti čtou na zahradě knihu.",
  cy: "Mae'r plant yn darllen llyfr yn yr ardd.",
  da: "Børnene læser en bog i haven.",
  de: "Die Kinder lesen im Garten ein Buch.",
  el: "Τα παιδιά διαβάζουν ένα βιβλίο στον κήπο.",
  es: "Los niños leen un libro en el jardín.",
  eu: "Haurrek liburu bat irakurtzen dute lorategian.",
  fa: "بچه‌ها در باغ کتاب می‌خوانند.",
  fi: "Lapset lukevat kirjaa puutarhassa.",
  fo: "Børnini lesa eina bók í garðinum.",
  fr: "Les enfants lisent un livre dans le jardin.",
  ga: "Tá na páistí ag léamh leabhair sa ghairdín.",
  gl: "Os nenos len un libro no xardín.",
  he: "הילדים קוראים ספר בגינה.",
  hi: "बच्चे बगीचे में किताब पढ़ रहे हैं।",
  hr: "Djeca čitaju knjigu u vrtu.",
  ht: "Timoun yo ap li yon liv nan jaden an.",
  hy: "Երեխաները այգում գիրք են կարդում։",
  id: "Anak-anak membaca buku di taman.",
  is: "Börnin lesa bók í garðinum.",
  it: "I bambini leggono un libro in giardino.",
  ja: "子どもたちは庭で本を読んでいます。",
  ka: "ბავშვები ბაღში წიგნს კითხულობენ.",
  ko: "아이들이 정원에서 책을 읽고 있다.",
  la: "Pueri in horto librum legunt.",
  lt: "Vaikai sode skaito knygą.",
  lv: "Bērni dārzā lasa grāmatu.",
  mt: "It-tfal qegħdin jaqraw ktieb fil-ġnien.",
  nb: "Barna leser en bok i hagen.",
  nl: "De kinderen lezen een boek in de tuin.",
  nn: "Borna les ei bok i hagen.",
  pl: "Dzieci czytają książkę w ogrodzie.",
  pt: "As crianças leem um livro no jardim.",
  ro: "Copiii citesc o carte în grădină.",
  ru: "Дети читают книгу в саду.",
  sk: "Deti čítajú v záhrade knihu.",
  sl: "Otroci na vrtu berejo knjigo.",
  sr: "Deca čitaju knjigu u bašti.",
  sv: "Barnen läser en bok i trädgården.",
  tr: "Çocuklar bahçede kitap okuyor.",
  uk: "Діти читають книгу в саду.",
  vi: "Bọn trẻ đang đọc sách trong vườn.",
  zh: "孩子们在花园里看书。",
};

/**
 * Choose the examples for models of these languages; those in English if no language is known.
 *
 * @param {{code: string, name: string}[]} languages
 * @returns {Example[]}
 */
export function examplesFor(languages) {
  const others = languages.filter(({ code }) => code in CHILDREN);
  const own = others.map(({ code, name }) => ({ name, text: CHILDREN[code], lang: code }));
  const hasEnglish = !languages.length || languages.some(({ code }) => code === "en");
  return [...(hasEnglish ? ENGLISH : []), ...own];
}
