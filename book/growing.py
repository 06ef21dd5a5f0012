"""Sentences that grow, and two translators that show what one vector loses, for the page of book/translators."""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path

import torch
from safetensors.torch import load_file, save

from studies.length_study import DECODERS, Task, grammar_task, score, train
from utils.corpus.grammar.lexicon import ADJECTIVES, NAMES, NOUNS, VERBS
from utils.corpus.whole_files import write_whole
from utils.metrics import bleu
from utils.seq2seq import Encoder, EncoderDecoder
from utils.translator.page.growing_sentence import Step, growing_content
from utils.translator.page.html import Content

RUN = Path("_build") / "translators" / "bottleneck"
#: Those of the length study, but narrower, and with four times as many French words.
LIMIT, NUM_TOKENS, WIDTH = 50, 2_400_000, 96
#: Longest sentences of the ranges whose BLEU the page tells; a last one goes up to the limit.
EDGES = (10, 20, 30, 40)
#: English and French clauses. A clause that begins with a name begins the sentence anew.
STORIES = {
    "Mary": [
        ("Mary found the flower", "Marie a trouvé la fleur"),
        ("Mary found the small white flower yesterday", "Marie a trouvé la petite fleur blanche hier"),
        (", and she was very happy", "et elle était très heureuse"),
        (", so she danced in the garden", ", donc elle a dansé dans le jardin"),
        (", and Paul bought a big cake for Anna", "et Paul a acheté un grand gâteau pour Anna"),
        (", but our dog was hungry", ", mais notre chien avait faim"),
        (
            ", so it ate the cake quickly in the kitchen",
            ", donc il a mangé rapidement le gâteau dans la cuisine",
        ),
    ],
    "Anna": [
        ("Anna bought a hat", "Anna a acheté un chapeau"),
        (
            "Anna bought a beautiful red hat at the market",
            "Anna a acheté un beau chapeau rouge au marché",
        ),
        (", and my mother bought two white chairs", "et ma mère a acheté deux chaises blanches"),
        (", but Peter was hungry", ", mais Pierre avait faim"),
        (", so he ate an egg in the garden", ", donc il a mangé un œuf dans le jardin"),
        (", then he went to the small station", ", puis il est allé à la petite gare"),
        (", and Alice saw him at the station", "et Alice l' a vu à la gare"),
    ],
    "John": [
        ("John will sing", "Jean va chanter"),
        ("John will sing in the park tomorrow", "Jean va chanter dans le parc demain"),
        (", and Alice will dance with Peter", "et Alice va danser avec Pierre"),
        (
            ", but the good doctor cannot go to the park",
            ", mais le bon médecin ne peut pas aller au parc",
        ),
        (", and he must work at the hospital", "et il doit travailler à l' hôpital"),
        (
            ", and Mary hopes that she will find her small black cat",
            "et Marie espère qu' elle va trouver son petit chat noir",
        ),
        (", but it always sleeps", ", mais il dort toujours"),
    ],
    "Alice": [
        ("Alice is sad", "Alice est triste"),
        ("because Paul left the station yesterday", "parce que Paul a quitté la gare hier"),
        (
            ", so my mother will give her an interesting book",
            ", donc ma mère va lui donner un livre intéressant",
        ),
        (
            ", and she will read the book carefully at the library",
            "et elle va lire soigneusement le livre à la bibliothèque",
        ),
        (
            ", but the girls are playing in the garden now",
            ", mais les filles jouent dans le jardin maintenant",
        ),
        (", and they like red flowers", "et elles aiment les fleurs rouges"),
    ],
}


def steps_of(clauses: list[tuple[str, str]]) -> list[Step]:
    """A story's sentence at each of its lengths."""
    steps: list[Step] = []
    english: list[str] = []
    french: list[str] = []
    for en, fr in clauses:
        if en.split()[0] in NAMES:
            english, french = [], []
        english, french = english + en.split(), french + fr.split()
        steps.append(Step([*english, "."], [*french, "."]))
    return steps


def check_unseen(task: Task, steps: Iterable[Step]) -> None:
    """Raise an error if training has a sentence with the nouns, names, verbs and adjectives of one of these."""
    concepts = {}
    for number, entry in enumerate([*NOUNS.values(), *VERBS.values(), *NAMES.values(), *ADJECTIVES.values()]):
        forms = [entry.en] if isinstance(entry.en, str) else entry.en
        concepts |= dict.fromkeys(task.read(" ".join(forms)), number)
    home, house = task.read("home house")
    concepts[home] = concepts[house]  # the grammar counts them as one

    def meaning(ids: Iterable[int]) -> list[int]:
        return sorted(concepts[i] for i in ids if i in concepts)

    seen = {tuple(meaning(ids)) for ids in task.src_ids}
    for english, _ in steps:
        if tuple(meaning(task.read(" ".join(english)))) in seen:
            raise ValueError(f"training has the words of {' '.join(english)!r}: change the sentence")


def trained(task: Task, name: str) -> EncoderDecoder:
    """A translator of the length study; it is trained if there is no run yet."""
    path = RUN / f"{name}.safetensors"
    if not path.exists():
        RUN.mkdir(parents=True, exist_ok=True)
        write_whole(path, save(train(task, name, width=WIDTH, progress=True).state_dict()))
    encoder = Encoder(len(task.src_vocabulary), WIDTH, WIDTH)
    model = EncoderDecoder(encoder, DECODERS[name](len(task.tgt_vocabulary), WIDTH, WIDTH, encoder.d_out))
    model.load_state_dict(load_file(path))
    return model.eval()


def content() -> Content:
    """Train the translators, if there is no run yet, and let them translate the sentences at each length."""
    torch.set_num_threads(1)
    task = grammar_task(LIMIT, num_tokens=NUM_TOKENS, longest=LIMIT, edges=EDGES)
    stories = {name: steps_of(clauses) for name, clauses in STORIES.items()}
    check_unseen(task, chain.from_iterable(stories.values()))
    models = {name: trained(task, name) for name in DECODERS}
    sizes = " and ".join(f"{sum(w.numel() for w in model.parameters()):,}" for model in models.values())
    facts = {
        "languages": "English to French, in the sentences of this course's grammar",
        "models": f"recurrent, with the same encoder: {sizes} weights",
        "training": f"both on the same {len(task.src_ids):,} sentences of 3 to {LIMIT} words, each read once",
        "sentences": "none of those above is in training, nor any with the same nouns, names, verbs and adjectives",
    }
    for name, model in models.items():
        buckets = score(model, task, edges=EDGES)
        by_length = ", ".join(f"{b.bleu:.0f} up to {min(b.high, LIMIT)} words" for b in buckets)
        facts[f"BLEU, {name}"] = f"{by_length}, on {sum(b.num_sentences for b in buckets)} test sentences"
        print(name, by_length)
    facts["BLEU is"] = bleu(["."], [["."]], lang="fr").signature
    vocabularies = (task.src_vocabulary, task.tgt_vocabulary)
    return growing_content(list(models.values()), vocabularies, stories, facts)
