"""The words of the grammar corpus: nouns, verbs, adjectives, times and pronouns in three languages.

Only forms and the facts that choose them live here (gender, classifier, what a verb may take); how words are put
together is in ``phrases`` and ``clauses``.
"""

from typing import NamedTuple


class Noun(NamedTuple):
    """A noun: its forms, French gender, Chinese classifier and the sets it belongs to.

    Args:
        key: the name of its concept; two nouns that a language calls alike share a key.
        en: English singular and plural; equal for a mass noun.
        fr: French singular and plural.
        gender: ``"m"`` or ``"f"``, in French.
        zh: the Chinese word.
        classifier: the Chinese classifier, or ``""`` for a mass noun.
        tags: the sets that verbs and adjectives select by.
    """

    key: str
    en: tuple[str, str]
    fr: tuple[str, str]
    gender: str
    zh: str
    classifier: str
    tags: frozenset[str]


class Verb(NamedTuple):
    """A verb.

    Args:
        key: the name of its concept, or ``""`` for a verb too light to count as meaning.
        en: base, third person singular, past, -ing form.
        particle: the English word that belongs to the verb ("listen *to*"), or ``""``.
        fr: infinitive, first and third person singular and third plural of the present, past participle.
        auxiliary: ``"avoir"`` or ``"être"``.
        zh: the Chinese verb.
        le: whether a past event takes 了; activities leave the past to the time word.
        subjects: the sets its subject comes from.
        objects: the sets its object comes from; empty for an intransitive verb.
        places: keys of the places where it is done.
        tenses: letters out of h (habit), g (going on), p (past), f (future).
    """

    key: str
    en: tuple[str, str, str, str]
    particle: str
    fr: tuple[str, str, str, str, str]
    auxiliary: str
    zh: str
    le: bool
    subjects: frozenset[str]
    objects: frozenset[str]
    places: tuple[str, ...]
    tenses: str


class Adjective(NamedTuple):
    """An adjective.

    Args:
        en: the English word, and the name of its concept.
        comparative: the English comparative in one word, ``"more"``, or ``""`` where none is used.
        fr: masculine singular, feminine singular, masculine plural, feminine plural.
        liaison: the masculine singular before a vowel ("vieil"), or ``""``.
        before: whether French puts it before the noun.
        zh: the Chinese word before a noun.
        de: whether Chinese joins it to the noun with 的.
        predicate: the Chinese word after the subject; ``"是"`` in front marks a colour (是 … 的).
        nouns: the sets it may describe.
    """

    en: str
    comparative: str
    fr: tuple[str, str, str, str]
    liaison: str
    before: bool
    zh: str
    de: bool
    predicate: str
    nouns: frozenset[str]


class Name(NamedTuple):
    """A person's name: its concept, French, gender and Chinese; English spells it like the concept."""

    en: str
    fr: str
    gender: str
    zh: str


class Pronoun(NamedTuple):
    """A personal pronoun, with the possessive that goes with it.

    Args:
        en: English subject and object form.
        fr: French subject, direct clitic and indirect clitic.
        zh: the Chinese word.
        agreement: the row of ``AGREEMENTS`` it makes a verb agree with.
        possessive: the name of its possessive determiner in ``POSSESSIVES``, or ``""``.
    """

    en: tuple[str, str]
    fr: tuple[str, str, str]
    zh: str
    agreement: int
    possessive: str


def _rows(table: str) -> list[list[str]]:
    return [line.split() for line in table.strip().splitlines()]


def _split_set(text: str) -> frozenset[str]:
    return frozenset() if text == "-" else frozenset(text.split(","))


def _blank(text: str) -> str:
    return "" if text == "-" else text


# English singular (its concept) and plural, French singular and plural, gender, Chinese, classifier, sets
_COUNT_NOUNS = """
man       men        homme      hommes      m 男人   个 person,adult,young
woman     women      femme      femmes      f 女人   个 person,adult,young,pretty
boy       boys       garçon     garçons     m 男孩   个 person,kid,clever,little
girl      girls      fille      filles      f 女孩   个 person,kid,clever,little
child     children   enfant     enfants     m 孩子   个 person,kid,clever,little
teacher   teachers   professeur professeurs m 老师   位 person,adult,young,clever,fine
doctor    doctors    médecin    médecins    m 医生   位 person,adult,young,fine,known
student   students   étudiant   étudiants   m 学生   个 person,adult,clever,fine
friend    friends    ami        amis        m 朋友   个 person,adult,fine,owned
neighbour neighbours voisin     voisins     m 邻居   个 person,adult,young,owned
mother    mothers    mère       mères       f 妈妈   个 kin,adult
father    fathers    père       pères       m 爸爸   个 kin,adult
cat       cats       chat       chats       m 猫     只 animal,pet,furry,sized,pretty,watched,sought
dog       dogs       chien      chiens      m 狗     只 animal,pet,furry,sized,clever,watched,sought,washed
bird      birds      oiseau     oiseaux     m 鸟     只 animal,furry,sized,pretty,watched
horse     horses     cheval     chevaux     m 马     匹 animal,furry,sized,pretty,watched,washed
hamster   hamsters   hamster    hamsters    m 仓鼠   只 animal,furry,sized,watched,sought
book      books      livre      livres      m 书     本 thing,read,written,daily,goods,given,used,fine,lively,known
letter    letters    lettre     lettres     f 信     封 thing,read,written,mail,sent,lively
newspaper newspapers journal    journaux    m 报纸   份 thing,read,daily,goods,new
story     stories    histoire   histoires   f 故事   个 thing,read,written,heard,fine,lively
song      songs      chanson    chansons    f 歌     首 thing,written,heard,sung,fine,known,new
film      films      film       films       m 电影   部 thing,seen,fine,lively,known,new
hat       hats       chapeau    chapeaux    m 帽子   顶 thing,goods,given,sought,coloured,used,costly,pretty
coat      coats      manteau    manteaux    m 大衣   件 thing,goods,washed,sought,coloured,used,costly,pretty
apple     apples     pomme      pommes      f 苹果   个 thing,food,daily,goods,given,washed,reddish,sized
cake      cakes      gâteau     gâteaux     m 蛋糕   个 thing,food,daily,goods,given,sized,fine
egg       eggs       œuf        œufs        m 鸡蛋   个 thing,food,daily,goods,sized
car       cars       voiture    voitures    f 汽车   辆 thing,goods,machine,washed,coloured,sized,used,costly
bicycle   bicycles   vélo       vélos       m 自行车 辆 thing,goods,machine,washed,coloured,used,costly
table     tables     table      tables      f 桌子   张 thing,goods,machine,sized,used,surface
chair     chairs     chaise     chaises     f 椅子   把 thing,goods,machine,coloured,used,surface
computer  computers  ordinateur ordinateurs m 电脑   台 thing,goods,machine,used,costly
flower    flowers    fleur      fleurs      f 花     朵 thing,daily,goods,given,reddish,pale,pretty,sized
key       keys       clé        clés        f 钥匙   把 thing,sought,sized
umbrella  umbrellas  parapluie  parapluies  m 雨伞   把 thing,goods,given,sought,coloured,used
bag       bags       sac        sacs        m 包     个 thing,goods,given,sought,opened,coloured,sized,used,costly
gift      gifts      cadeau     cadeaux     m 礼物   份 thing,daily,sent,opened,sized,costly
house     houses     maison     maisons     f 房子   座 thing,building,cleaned,sized,used,pretty,costly
door      doors      porte      portes      f 门     扇 thing,opened,closed,machine,coloured
window    windows    fenêtre    fenêtres    f 窗户   扇 thing,opened,closed,sized
"""

# English (its concept), French, gender, Chinese, sets
_MASS_NOUNS = """
bread  pain   m 面包 food,daily,fine
meat   viande f 肉   food,daily
rice   riz    m 米饭 food,warm,bowl
water  eau    f 水   drink,warm,bottle
tea    thé    m 茶   drink,warm,fine,cup
coffee café   m 咖啡 drink,warm,fine,cup
milk   lait   m 牛奶 drink,warm,bottle
"""

# English (its concept), French, gender, Chinese, classifier, the preposition of place in English and French, the
# word that follows the place in Chinese, sets
_PLACES = """
library    bibliothèque f 图书馆 座 at à    -  goal,new,sized
school     école        f 学校   所 at à    -  goal,cleaned,new
hospital   hôpital      m 医院   所 at à    -  goal,new,sized
station    gare         f 车站   个 at à    -  goal,new,sized
market     marché       m 市场   个 at à    -  goal,new,sized
park       parc         m 公园   个 in dans 里 goal,sized,pretty
garden     jardin       m 花园   个 in dans 里 sized,pretty
kitchen    cuisine      f 厨房   个 in dans 里 cleaned,new,sized
restaurant restaurant   m 餐厅   个 in dans 里 goal,cleaned,new,sized,fine,known
office     bureau       m 办公室 个 in dans 里 goal,cleaned,new,sized
museum     musée        m 博物馆 座 in dans 里 goal,new,sized,known,lively
"""

# English (its concept), French, gender, Chinese
_NAMES = """
Mary  Marie  f 玛丽
Anna  Anna   f 安娜
Alice Alice  f 爱丽丝
Paul  Paul   m 保罗
Peter Pierre m 彼得
John  Jean   m 约翰
"""

# English (its concept), plural, French, plural, gender, Chinese measure word
_MEASURES = """
cup    cups    tasse     tasses     f 杯
bottle bottles bouteille bouteilles f 瓶
bowl   bowls   bol       bols       m 碗
"""

# concept | English base, third person, past, -ing, particle | French infinitive, first, third, third plural,
# participle, auxiliary | Chinese, 了 in the past | sets of subjects | sets of objects | places | tenses
_VERBS = """
sleep   | sleep sleeps slept sleeping -        | dormir dors dort dorment dormi avoir           | 睡觉 yes  | person,animal | -            | home,garden                              | hgpf
work    | work works worked working -          | travailler travaille travaille travaillent travaillé avoir | 工作 no | adult | -         | office,library,hospital,school,restaurant,museum,market,station | hgpf
dance   | dance dances danced dancing -        | danser danse danse dansent dansé avoir         | 跳舞 yes  | person        | -            | park,garden,restaurant,home              | hgpf
sing    | sing sings sang singing -            | chanter chante chante chantent chanté avoir    | 唱歌 yes  | person        | -            | park,garden,school,kitchen,home          | hgpf
cry     | cry cries cried crying -             | pleurer pleure pleure pleurent pleuré avoir    | 哭 yes   | kid           | -            | home,school,park                         | hgp
play    | play plays played playing -          | jouer joue joue jouent joué avoir              | 玩 yes    | kid,pet       | -            | park,garden,school,home                  | hgpf
-       | go goes went going -                 | aller vais va vont allé être                   | 去 yes   | person        | goal         | -                                        | hpf
arrive  | arrive arrives arrived arriving -    | arriver arrive arrive arrivent arrivé être     | 到 yes   | person        | goal         | -                                        | pf
leave   | leave leaves left leaving -          | quitter quitte quitte quittent quitté avoir    | 离开 yes | person        | goal         | -                                        | pf
stay    | stay stays stayed staying -          | rester reste reste restent resté être          | 待 no    | person,pet    | -            | home,garden,kitchen,school               | hpf
eat     | eat eats ate eating -                | manger mange mange mangent mangé avoir         | 吃 yes   | person,pet    | food         | kitchen,restaurant,garden,home,park      | hgpf
drink   | drink drinks drank drinking -        | boire bois boit boivent bu avoir               | 喝 yes   | person        | drink        | kitchen,restaurant,garden,home,office    | hgpf
read    | read reads read reading -            | lire lis lit lisent lu avoir                   | 读 yes   | person        | read         | library,park,garden,home,school,office   | hgpf
write   | write writes wrote writing -         | écrire écris écrit écrivent écrit avoir        | 写 yes   | adult         | written      | library,office,home,garden               | hgpf
buy     | buy buys bought buying -             | acheter achète achète achètent acheté avoir    | 买 yes   | person        | goods        | market                                   | hpf
sell    | sell sells sold selling -            | vendre vends vend vendent vendu avoir          | 卖 yes   | adult         | goods        | market                                   | hgpf
see     | see sees saw seeing -                | voir vois voit voient vu avoir                 | 看见 yes | person,pet    | person,animal,name | park,station,market,museum,garden  | p
watch   | watch watches watched watching -     | regarder regarde regarde regardent regardé avoir | 看 yes | person,pet    | watched,seen | park,garden,home                         | hgpf
seek    | look looks looked looking for        | chercher cherche cherche cherchent cherché avoir | 找 no  | person        | sought,kid   | park,garden,home,office,station          | gf
find    | find finds found finding -           | trouver trouve trouve trouvent trouvé avoir    | 找到 yes | person        | sought,kid   | park,garden,home,office,station          | pf
open    | open opens opened opening -          | ouvrir ouvre ouvre ouvrent ouvert avoir        | 打开 yes | person        | opened       | -                                        | pf
close   | close closes closed closing -        | fermer ferme ferme ferment fermé avoir         | 关上 yes | person        | closed       | -                                        | pf
wash    | wash washes washed washing -         | laver lave lave lavent lavé avoir              | 洗 yes   | person        | washed       | garden,home                              | hgpf
help    | help helps helped helping -          | aider aide aide aident aidé avoir              | 帮助 yes | person        | person,name,kin | school,market,kitchen,office          | hgpf
listen  | listen listens listened listening to | écouter écoute écoute écoutent écouté avoir    | 听 yes   | person        | heard        | home,garden,restaurant,park              | hgpf
clean   | clean cleans cleaned cleaning -      | nettoyer nettoie nettoie nettoient nettoyé avoir | 打扫 yes | adult       | cleaned      | -                                        | hgpf
repair  | repair repairs repaired repairing -  | réparer répare répare réparent réparé avoir    | 修理 yes | adult         | machine      | garden,home                              | hgpf
give    | give gives gave giving -             | donner donne donne donnent donné avoir         | 送给 yes | person        | given        | -                                        | pf
send    | send sends sent sending -            | envoyer envoie envoie envoient envoyé avoir    | 寄 yes   | adult         | sent         | -                                        | pf
like    | like likes liked liking -            | aimer aime aime aiment aimé avoir              | 喜欢 no  | person        | -            | -                                        | -
think   | think thinks thought thinking -      | penser pense pense pensent pensé avoir         | 认为 no  | adult         | -            | -                                        | -
say     | say says said saying -               | dire dis dit disent dit avoir                  | 说 no    | person        | -            | -                                        | -
know    | know knows knew knowing -            | savoir sais sait savent su avoir               | 知道 no  | person        | -            | -                                        | -
hope    | hope hopes hoped hoping -            | espérer espère espère espèrent espéré avoir    | 希望 no  | person        | -            | -                                        | -
want    | want wants wanted wanting -          | vouloir veux veut veulent voulu avoir          | 想 no    | person        | -            | -                                        | -
can     | can can could can -                  | pouvoir peux peut peuvent pu avoir             | 能 no    | person        | -            | -                                        | -
must    | must must must must -                | devoir dois doit doivent dû avoir              | 必须 no  | person        | -            | -                                        | -
"""

# concept (English), comparative | French m. sg., f. sg., m. pl., f. pl., m. sg. before a vowel | before the noun |
# Chinese before a noun, joined with 的, after a subject | sets
_ADJECTIVES = """
red         -       | rouge rouge rouges rouges -                             | no  | 红色 yes 是红色 | coloured,reddish
white       -       | blanc blanche blancs blanches -                         | no  | 白色 yes 是白色 | coloured,furry,pale
black       -       | noir noire noirs noires -                               | no  | 黑色 yes 是黑色 | coloured,furry
interesting more    | intéressant intéressante intéressants intéressantes -   | no  | 有趣 yes 有趣   | lively
expensive   more    | cher chère chers chères -                               | no  | 昂贵 yes 贵     | costly
famous      -       | célèbre célèbre célèbres célèbres -                     | no  | 有名 yes 有名   | known
intelligent more    | intelligent intelligente intelligents intelligentes -   | no  | 聪明 yes 聪明   | clever
hot         -       | chaud chaude chauds chaudes -                           | no  | 热 no 热        | warm
cold        -       | froid froide froids froides -                           | no  | 冷 no 冷        | warm
big         bigger  | grand grande grands grandes -                           | yes | 大 no 大        | sized
small       smaller | petit petite petits petites -                           | yes | 小 no 小        | sized,little
new         -       | nouveau nouvelle nouveaux nouvelles nouvel              | yes | 新 no 新        | new,used
old         -       | vieux vieille vieux vieilles vieil                      | yes | 旧 no 旧        | used
beautiful   more    | beau belle beaux belles bel                             | yes | 漂亮 yes 漂亮   | pretty
good        -       | bon bonne bons bonnes -                                 | yes | 好 no 好        | fine
young       -       | jeune jeune jeunes jeunes -                             | yes | 年轻 yes 年轻   | young
tired       -       | fatigué fatiguée fatigués fatiguées -                   | no  | 累 yes 累       | -
happy       -       | heureux heureuse heureux heureuses -                    | no  | 高兴 yes 高兴   | -
sad         -       | triste triste tristes tristes -                         | no  | 难过 yes 难过   | -
hungry      -       | faim faim faim faim -                                   | no  | 饿 yes 饿       | -
"""


def _verb(line: str) -> Verb:
    key, en, fr, zh, subjects, objects, places, tenses = (part.split() for part in line.split("|"))
    base, third, past, ing, particle = en
    infinitive, first, third_fr, plural, participle, auxiliary = fr
    return Verb(
        _blank(key[0]),
        (base, third, past, ing),
        _blank(particle),
        (infinitive, first, third_fr, plural, participle),
        auxiliary,
        zh[0],
        zh[1] == "yes",
        _split_set(subjects[0]),
        _split_set(objects[0]),
        () if places[0] == "-" else tuple(places[0].split(",")),
        _blank(tenses[0]),
    )


def _adjective(line: str) -> Adjective:
    en, fr, before, zh, nouns = (part.split() for part in line.split("|"))
    attribute, de, predicate = zh
    return Adjective(
        en[0],
        _blank(en[1]),
        (fr[0], fr[1], fr[2], fr[3]),
        _blank(fr[4]),
        before[0] == "yes",
        attribute,
        de == "yes",
        predicate,
        _split_set(nouns[0]),
    )


NAMES = {en: Name(en, fr, gender, zh) for en, fr, gender, zh in _rows(_NAMES)}
MEASURES = {
    en: Noun(en, (en, ens), (fr, frs), gender, zh, zh, frozenset())
    for en, ens, fr, frs, gender, zh in _rows(_MEASURES)
}
COUNT_NOUNS = {
    en: Noun(en, (en, ens), (fr, frs), gender, zh, classifier, _split_set(tags))
    for en, ens, fr, frs, gender, zh, classifier, tags in _rows(_COUNT_NOUNS)
}
MASS_NOUNS = {
    en: Noun(en, (en, en), (fr, fr), gender, zh, "", _split_set(tags) | {"mass"})
    for en, fr, gender, zh, tags in _rows(_MASS_NOUNS)
}
PLACES = {
    en: Noun(en, (en, en), (fr, fr), gender, zh, classifier, _split_set(tags) | {"place"})
    for en, fr, gender, zh, classifier, _, _, _, tags in _rows(_PLACES)
}
PLACE_WORDS = {row[0]: (row[5], row[6], _blank(row[7])) for row in _rows(_PLACES)}
NOUNS = COUNT_NOUNS | MASS_NOUNS | PLACES
ADJECTIVES = {adjective.en: adjective for adjective in map(_adjective, _ADJECTIVES.strip().splitlines())}


def _verbs() -> dict[str, Verb]:
    lines = _VERBS.strip().splitlines()
    return {line.split("|")[1].split()[0]: _verb(line) for line in lines}


VERBS = _verbs()

# The rows of agreement: the person, number and gender that a verb or an adjective agrees with.
FIRST, HE, SHE, THEY, THEY_FEMININE = range(5)

PRONOUNS = {
    "I": Pronoun(("I", "me"), ("je", "me", "me"), "我", FIRST, "my"),
    "we": Pronoun(("we", "us"), ("nous", "nous", "nous"), "我们", THEY, "our"),
    "he": Pronoun(("he", "him"), ("il", "le", "lui"), "他", HE, "his"),
    "she": Pronoun(("she", "her"), ("elle", "la", "lui"), "她", SHE, "her"),
    "they": Pronoun(("they", "them"), ("ils", "les", "leur"), "他们", THEY, "their"),
    "they f": Pronoun(("they", "them"), ("elles", "les", "leur"), "她们", THEY_FEMININE, "their f"),
    "it": Pronoun(("it", "it"), ("il", "le", "lui"), "它", HE, ""),
    "it f": Pronoun(("it", "it"), ("elle", "la", "lui"), "它", SHE, ""),
    "those": Pronoun(("they", "them"), ("ils", "les", "leur"), "它们", THEY, ""),
    "those f": Pronoun(("they", "them"), ("elles", "les", "leur"), "它们", THEY_FEMININE, ""),
}

# English; French masculine singular, feminine singular (before a consonant), plural; Chinese.
POSSESSIVES = {
    "my": ("my", ("mon", "ma", "mes"), "我"),
    "our": ("our", ("notre", "notre", "nos"), "我们"),
    "his": ("his", ("son", "sa", "ses"), "他"),
    "her": ("her", ("son", "sa", "ses"), "她"),
    "their": ("their", ("leur", "leur", "leurs"), "他们"),
    "their f": ("their", ("leur", "leur", "leurs"), "她们"),
}

NUMERALS = (("two", "deux", "两"), ("three", "trois", "三"), ("four", "quatre", "四"), ("five", "cinq", "五"))

ADVERBS = {
    "often": ("souvent", "经常"),
    "sometimes": ("parfois", "有时"),
    "always": ("toujours", "总是"),
    "also": ("aussi", "也"),
}
# English, French, Chinese, and what is done so.
MANNERS = (
    ("slowly", "lentement", "慢慢地", ("eat", "drink", "read", "write", "open", "close")),
    ("quickly", "rapidement", "很快地", ("eat", "drink", "write", "wash", "clean", "repair", "close")),
    ("carefully", "soigneusement", "仔细地", ("read", "write", "wash", "clean", "repair")),
)


# What can be said of the time, for each tense, as read by ``grammar_phrases.fixed``.
TIMES = {
    "p": (
        "yesterday 0 | hier 0 | 昨天 0",
        "yesterday 0 | hier 0 | 昨天 0",
        "last 0 week 1 | la - semaine 1 dernière 0 | 上周 01",
        "this 0 morning 1 | ce 0 matin 1 | 今天 0 早上 1",
    ),
    "g": ("now 0 | maintenant 0 | 现在 0",),
    "s": ("today 0 | aujourd'hui 0 | 今天 0",),
    "h": (
        "every 0 day 1 | tous 0 les 0 jours 1 | 每天 01",
        "every 0 morning 1 | tous 0 les 0 matins 1 | 每天 0 早上 1",
    ),
    "f": (
        "tomorrow 0 | demain 0 | 明天 0",
        "tomorrow 0 | demain 0 | 明天 0",
        "next 0 week 1 | la - semaine 1 prochaine 0 | 下周 01",
        "tonight 0 | ce 0 soir 0 | 今晚 0",
    ),
}
