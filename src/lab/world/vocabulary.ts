/**
 * The words of the synthetic web: fifteen English topics (those of the Open Directory that Chung and
 * Clarke crawled), one topic in German, and the common words of both languages.
 *
 * Within a list a word's frequency is proportional to 1 / rank (Zipf). The tables contain each word in
 * proportion to its frequency, so that a draw is a single lookup.
 */

interface WordList {
  readonly name: string;
  readonly language: "en" | "de";
  readonly words: string;
}

export interface Topic {
  readonly name: string;
  readonly language: "en" | "de";
  /** The distinct words, most frequent first. */
  readonly words: readonly string[];
  /** `TABLE_SIZE` words of the topic, repeated by frequency. */
  readonly own: readonly string[];
  /** `TABLE_SIZE` common words of the language, repeated by frequency. */
  readonly common: readonly string[];
}

/** A power of two, so that a mask turns a random word into an index. */
export const TABLE_SIZE = 4096;

const COMMON_ENGLISH = `the of and to in a is that for it was on with as be by at are this from or
have an they which one you had not but what all were when we there can more their will would
about if no out so up said other into than its time only could new them man some these then two
first may any like now my such make over our even most me state after also made many did must
before back see through way where get much go well your know should down work year because come
people just say each those take day good how long little use own still great here last large
between under never same another while might against without again place around however home
small found thought went part once general high upon school every does got united left number
course war until always away something fact though water less public put think almost hand enough
far took head yet system better set told nothing night end why called eyes find going look asked
later knew point next program city business give group toward young days let room present side
several few often kind given open early light best means close change whole along free order name
page about contact read list show main part view full note help link index section`;

const COMMON_GERMAN = `der die und in den von zu das mit sich des auf ist im dem nicht ein eine als
auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem so zum war
haben nur oder aber vor zur bis mehr durch man sein wurde sei hatte kann gegen vom wenn habe seine
ihre unter wir soll ich eines jahr zwei jahren diese dieser wieder keine seiner worden will zwischen
immer was sagte gibt alle seit muss wurden beim doch jetzt drei wegen heute schon dann ihm damit
ersten kein leben neue weil denn weiter viel ohne ganz etwas sehr hier andere selbst jeder`;

const TOPIC_WORDS: readonly WordList[] = [
  {
    name: "arts",
    language: "en",
    words: `music film painting theatre poem gallery artist album dance novel singer orchestra
    sculpture actor opera melody canvas drawing concert guitar verse drama museum piano portrait
    lyric ballet cinema director audience stage comedy rhythm choir sketch photograph exhibition
    composer jazz craft ceramic animation script tragedy chorus violin studio brush colour studios`,
  },
  {
    name: "business",
    language: "en",
    words: `market company price bank investment trade profit customer industry finance tax stock
    employee contract insurance credit manager product sales export revenue invoice audit merger
    supplier budget loan startup shareholder dividend payroll retail wholesale accounting franchise
    factory logistics pension bond brand tender equity asset venture broker tariff import capital`,
  },
  {
    name: "computers",
    language: "en",
    words: `software computer network server data code compiler memory database browser processor
    keyboard algorithm protocol security file kernel library internet hardware password cache
    program router virus thread packet driver desktop disk printer graphics encryption syntax
    debugger variable function socket binary pixel screen laptop firewall script archive module
    parser bandwidth crawler`,
  },
  {
    name: "games",
    language: "en",
    words: `game player puzzle chess score level card dice quest board console arcade dungeon enemy
    bonus castle dragon hero wizard weapon tournament strategy pawn bishop knight riddle maze joker
    poker rule move clue mission character monster shield sword potion treasure turn checkmate
    simulation platform racing trophy deck tile guild`,
  },
  {
    name: "health",
    language: "en",
    words: `patient disease doctor treatment hospital medicine symptom blood heart nurse therapy
    cancer infection diet surgery pain vaccine clinic nutrition lung allergy diagnosis vitamin
    muscle brain kidney fever drug dental asthma diabetes pregnancy exercise injury immune bone
    anxiety pharmacy skin cough liver dose bandage artery tissue hormone stroke fatigue`,
  },
  {
    name: "home",
    language: "en",
    words: `garden kitchen recipe soil furniture plant seed paint oven flour compost curtain lawn
    butter pruning shelf roof carpet cooking tomato rose hammer wall bathroom fence basil cushion
    plumbing onion kettle mulch tile drawer weed sauce lamp chimney mattress hedge window boiler
    bread insulation ladder rake pantry tulip spice bulb`,
  },
  {
    name: "kids",
    language: "en",
    words: `children toy story teacher playground homework cartoon birthday crayon nursery puppet
    classroom teddy lullaby toddler balloon fairy bedtime kitten rhyme sandbox kindergarten swing
    lunchbox giggle pony picture alphabet babysitter costume sticker puddle marble storybook cradle
    mother father cousin grandmother snack cookie zoo seesaw parade mitten whistle hopscotch kite`,
  },
  {
    name: "news",
    language: "en",
    words: `government president election minister report police court parliament crisis journalist
    headline protest vote campaign senate treaty reporter editor scandal witness inquiry strike
    summit border refugee budget speech ballot interview newspaper broadcast officials opposition
    cabinet mayor governor verdict trial sanction ceasefire embassy statement coalition bulletin
    deadline correspondent column flood earthquake`,
  },
  {
    name: "recreation",
    language: "en",
    words: `fishing camping boat trail hiking tent motorcycle kayak canoe hobby birdwatching caravan
    scooter sailing backpack campfire compass lake river kennel dog horse saddle aquarium parrot
    paddle anchor trout bait mountain climbing rope cave diving snorkel parachute glider bicycle
    picnic scout stove rafting collector stamp telescope antique engine chrome`,
  },
  {
    name: "reference",
    language: "en",
    words: `dictionary encyclopedia library university glossary chapter thesaurus atlas almanac
    catalogue index quotation bibliography grammar translation map archive footnote lecture student
    degree scholarship thesis professor campus curriculum diploma examination seminar faculty tutor
    textbook citation volume edition alphabet calendar biography directory manuscript librarian
    definition pronunciation etymology table appendix handbook syllabus genealogy`,
  },
  {
    name: "regional",
    language: "en",
    words: `village county island hotel valley tourist coast district harbour bridge castle province
    railway population church festival council museum beach motorway airport cathedral settlement
    parish landscape ferry territory capital inhabitants monument suburb lighthouse tavern region
    canal fjord prairie plateau township market peninsula local climate square tram abbey guesthouse
    vineyard promenade`,
  },
  {
    name: "science",
    language: "en",
    words: `theory species energy cell experiment planet molecule physics chemistry protein atom
    biology equation gravity enzyme genome electron fossil telescope quantum laboratory hypothesis
    mathematics theorem evolution particle galaxy ecology neutron crystal isotope bacteria
    wavelength spectrum reaction orbit radiation geology climate magnetic membrane chromosome
    photon catalyst vector entropy comet ocean`,
  },
  {
    name: "shopping",
    language: "en",
    words: `shop cart discount order shipping gift price catalog jewelry checkout refund coupon
    clothing shoe warranty voucher bargain delivery handbag necklace perfume wallet bracelet receipt
    watch leather silk cotton boots jacket dress bouquet basket outlet size colour payment return
    bestseller accessory cosmetics sunglasses scarf candle ornament toaster sale clearance
    membership`,
  },
  {
    name: "society",
    language: "en",
    words: `religion law community church history rights culture philosophy prayer bible ethics
    lawyer marriage charity justice constitution slavery gender faith monastery volunteer activism
    folklore tradition ancestor temple priest heritage poverty citizen empire revolution monarchy
    theology mosque ritual saint democracy welfare court statute legend dynasty kinship burial
    sociology pilgrim liberty`,
  },
  {
    name: "sports",
    language: "en",
    words: `team football league coach match season goal championship cricket tennis stadium race
    olympic referee goalkeeper medal athlete basketball swimming rugby golf hockey baseball pitch
    sprint marathon cyclist penalty midfielder defender tackle wicket inning racket serve volley
    skating ski wrestling boxing javelin relay cup fixture quarterback playoff rower gymnastics
    training captain`,
  },
  {
    name: "world",
    language: "de",
    words: `stadt wasser haus berg strasse bahnhof schule zeitung kirche garten brief fenster garage
    wald fluss kuchen winter sommer bruder schwester arbeit geschichte wissenschaft freiheit musik
    reise flughafen buch sprache freund kinder krankenhaus regierung wirtschaft fahrrad abend morgen
    schiff insel markt brot milch vogel himmel regen schnee sonne zug`,
  },
];

/**
 * The topics of the synthetic web: the fifteen of the Open Directory in English, and one in German.
 *
 * @example
 * import { TOPICS } from "weir/lab";
 *
 * for (const { name, language, words } of TOPICS) console.log(name, language, words.slice(0, 5));
 */
export const TOPICS: readonly Topic[] = TOPIC_WORDS.map(({ name, language, words }) => {
  const list = split(words);
  return {
    name,
    language,
    words: list,
    own: byFrequency(list),
    common: byFrequency(split(language === "en" ? COMMON_ENGLISH : COMMON_GERMAN)),
  };
});

function split(words: string): string[] {
  return [...new Set(words.split(/\s+/))];
}

function byFrequency(words: readonly string[]): string[] {
  const weights = words.map((_, rank) => 1 / (rank + 2));
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  const table: string[] = [];
  let filled = 0;
  for (const [rank, word] of words.entries()) {
    filled += (weights[rank] ?? 0) / whole;
    const end = rank === words.length - 1 ? TABLE_SIZE : Math.round(filled * TABLE_SIZE);
    while (table.length < end) table.push(word);
  }
  return table;
}
