/**
 * The most common words of languages: articles, prepositions and pronouns, which identify any text.
 *
 * General knowledge of each language, not counted from a collection; about forty words each, and the most common
 * characters for languages with few or no spaces. In lower case. A word that two languages share is listed in both.
 */

export const COMMON_WORDS: Readonly<Record<string, string>> = {
  en: "the of and to in a is that for it with as was on be at by this have from or are an they which you were but we not his her their there can will has had if more when who what about our your its all been would than them other into no my so us do how",
  de: "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur bis mehr durch man sein wurde sei wir ihr ihre kann ich wenn alle unter gegen vom",
  fr: "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont avec ou son nous vous cette ses mais aux leur été être ont elle comme tout fait même sans si ces deux entre dont votre notre aussi peut d l qu c n s j",
  es: "de la que el en y a los se del las un por con no una su para es al lo como más o pero sus le ha me si sin sobre este ya entre cuando todo esta ser son dos también fue había era muy años hasta desde está mi porque qué sólo han yo hay vez puede",
  it: "di e il la che in a per un è del della non una i con le si da dei al come sono nel più anche ha alla delle ma gli lo o dal se suo ci degli questo su essere sua nella tra hanno stato dalla cui ne due sul anni chi ai può loro questa dell all l d",
  pt: "de a o que e do da em um para com não uma os no se na por mais as dos como mas ao ele das à seu sua ou quando muito nos já eu também só pelo pela até isso ela entre depois sem mesmo aos seus quem nas me esse eles você essa num nem são está foi ser",
  nl: "de van het een en in is dat op te zijn met voor niet aan er om ook als dan maar bij door naar uit tot over nog wel was wordt werd hebben heeft hij ze of wat meer worden kan deze je we u ik die dit hun haar al na geen zo onze",
  sv: "och i att det som en på är av för med den till inte har de ett om men var jag sig från vi så kan när år han under också efter eller nu sin där vid mot ska skulle kommer ut får finns vara hade alla andra mycket än här då sedan över",
  da: "og i at det en den til er som på de med han af for ikke der var mig sig men et har om vi min havde ham hun nu over da fra du ud sin dem os op man hans hvor eller hvad skal selv her alle vil blev kunne ind når være kan efter også",
  no: "og i det på som er en til å han av for med at var de ikke den har jeg om et men så seg hun hadde fra du vi da ut nå over kan ble eller etter også sin bare skal være når ved dette opp mot enn alle vil blir noe mer mange andre",
  fi: "ja on ei se että oli hän ovat myös kun mutta tai joka niin kuin mukaan sen voi ole vuonna jos olla ollut nyt vain sekä jonka jotka sitä tämä hänen kanssa jälkeen vielä siitä mitä mikä nämä tämän näin ennen minä me he te sinä asti",
  pl: "w i na z nie się do to że jest o jak po a za od co są dla przez tym ale był tego oraz lub może już ze który które która jego tylko czy być było tak ich pod przy ma jej jako więcej bardzo gdy też roku można aby jednak wszystkie nas",
  cs: "a se v na je že o s z do i to k ve pro za by ale si po jako podle od jsem tak jeho které který jsou která bylo byl až nebo už jen také při co mezi před více není bude může jak aby když ze však jejich být pouze tím této toho",
  sk: "a sa v na je že o s z do aj to k vo pre za by ale si po ako podľa od som tak jeho ktoré ktorý sú ktorá bolo bol až alebo už len tiež pri čo medzi pred viac nie bude môže aby keď zo však ich byť iba tým tejto toho",
  hu: "a az és hogy nem is egy ez volt de csak meg már el még van ha mint azt mert vagy ki fel be minden ezt majd lesz után pedig kell így most le sem nagy olyan lehet amely mely ezek itt ott több aki ami között alatt által ezen illetve",
  ro: "de și în a la cu pe o care din nu să se este că mai un pentru au fost al ca ai sau lui dar le prin sunt după fi fiind era ce cum până ale între unei acest această prin doar fără foarte despre cele cei îi își avea toate acum",
  hr: "i u je se na da za su od s a o ne koji što kao iz bi ili do će sa koje po kako ali koja samo nije bio više sve bez ima još već prema ako nakon jer možete biti može te mi ga ih bila svoje kod dok zbog ovo",
  sl: "in je v na se za da so z ki s pa ne tudi kot o bi od po pri ali do ni bo iz kako le še če lahko ker več ima ob biti vse že samo med brez bil bila pred nad tem teh ta to nas vas svoje",
  tr: "ve bir bu da de için ile çok olarak daha olan gibi en o kadar sonra ne ama her ya var olduğu ise değil veya mi ki tarafından göre bütün nasıl şey kendi yeni yok ben sen biz siz onlar iki üzerinde önce bunu şu hem hiç diye",
  id: "yang dan di dengan untuk dari ini pada dalam itu tidak adalah akan ke atau juga sebagai oleh bisa ada mereka telah karena saya anda kami dapat tersebut lebih kita dia sudah menjadi lain hanya seperti para secara bagi namun tahun saat setelah satu",
  vi: "và của là có các được cho trong một những với không này đã để khi người từ về như đến ra tôi cũng vào lại nhiều nhưng tại sẽ bạn phải còn rất mà trên sau thì hơn nếu đó làm theo chỉ việc vì năm bị",
  et: "ja on ei et see kui ka oli ta mis või aga oma kes seda ning nii ma selle siis veel juba mida olid kuid pole välja üle saab nende ole tema üks välja kus järgi pärast kõik nad mitte enam siin peab olla",
  lv: "un ir ar par no kas uz ka lai pie bet tas arī vai kā var tā būt pēc to jau tiek tikai nav gada viņš ko bija līdz savu bez šo vēl ja šī pirms nu es mēs jūs viņa gan kad vairāk ļoti",
  lt: "ir kad į su yra iš ne tai bet apie o kaip jo per dėl kas po tik buvo arba kuris jau gali ar kurie už labai nuo būti metų jei taip pat dar prie iki savo kuri jų jos man mes jūs tačiau",
  ca: "de la i el que en a les els del un per una es amb l d al no és més com dels s ha o són aquest seva seu si també però aquesta ser va ja tot quan hi sobre entre on fins fer molt sense des pel altres anys dos",
  ru: "и в не на что я с он как это по но они мы из у за от так для же все его то о бы вы или если ее был была было были до только уже при чтобы когда где есть их также может более после этого который которые которая нет еще года",
  uk: "і в на не що у з до та я за це як він про для або але від по так є був було були його її їх також тільки може ще якщо коли який яка які щоб після при ми ви вони де цього цей ця все вже років року",
  bg: "и на в да за се от не с че е са по като до или но си ще той към при го има беше със след което който която които това този тази тези ни ги им бе може само още който много между без над съм през преди години",
  el: "και το να του η της με που την από για τα στο είναι οι ο τον στην των θα δεν σε ότι τη μια ένα τους ή αυτό στη στα έχει αλλά αν κατά όπως πολύ μας σας μου μετά όταν πως ως τις στον μόνο έχουν πριν ήταν",
  ar: "في من على إلى أن عن مع هذا التي ما لا هذه كان الذي أو بعد كل ذلك بين قد لم كما هو هي إن ثم حيث عند أي كانت لكن غير به له لها فيها فيه خلال قبل حتى أكثر منذ وقد ومن وفي",
  he: "של את על לא זה הוא עם כל גם היא אני אם יש או אל מה כי אבל רק היה כך בין יותר לפני אחרי הם אין זו עוד אשר כמו לו לה להם שלי שלו כדי היו אך מאוד ידי בו בה עד",
  fa: "و در به از که این را با است برای آن یک خود تا کرد بر هم نیز شده می ها های شد اما یا بود دارد باید او ما شما آنها وی دیگر هر اگر پس چه همه بین پیش روی نمی کند شود",
  hi: "के में है की से को और का पर ने यह कि भी हैं एक नहीं लिए इस हो कर था तो जो ही या साथ अपने वह कहा थे गया करने बाद थी तक रहे किया हुए उन",
  zh: "的 一 是 不 了 在 人 有 我 他 这 中 大 来 上 国 个 到 说 们 为 子 和 你 地 出 道 也 时 年 得 就 那 要 下 以 生 会 自 着 去 之 過 這 個 為 來 說 們 時 會",
  ja: "の に は を た が で て と し れ さ る い も な か ら す り こ ま き っ あ ん け よ く そ だ ど や お う せ ば つ え み",
  ko: "이 다 는 의 에 을 가 은 를 로 고 하 한 지 도 서 기 대 사 인 으 니 있 해 어 시 과 그 부 수 일 들 정 리 자 보 제 나 전 원",
  th: "า น ร อ ก เ ง ม ย ล ว ด ท ส ต ะ ป บ ค แ จ พ ช ข ใ ไ ห โ ผ ซ ถ ่ ้ ั ี ิ ื ็ ์ ู ุ ำ",
};

/** ISO 639-1 code of the language of the paper's test, which is the share of these words among all terms. */
export const ENGLISH = "en";
