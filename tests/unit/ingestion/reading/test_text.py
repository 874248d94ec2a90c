"""Decoding and cleaning, which every format shares."""

import unicodedata

import pytest

from errors import UnreadableError
from ingestion.reading.text import clean, clean_body, decode, one_line, title_from_name

FRENCH = "L'été dernier, j'ai mangé des crêpes à la façon de ma mère. Où est le garçon ?"
# Of each language, in the encodings that it was written in before UTF-8.
PROSE = {
    "cp1250 iso8859-2": [
        "Loď odplouvá každé úterý v půl osmé ráno z východního mola. Kdo přijde pozdě, musí počkat do příštího",
        "Loď odchádza každý utorok o pol ôsmej ráno z východného móla. Kto príde neskoro, musí počkať do ďalšieho",
        "Zażółć gęślą jaźń i pójdźmy w świat. Wczoraj byłem w mieście i piłem kawę.",
        "A hajó minden kedden fél nyolckor indul. Aki későn érkezik, annak a jövő hétig várnia kell a fűtött",
        "Vaporul pleacă în fiecare marţi la şapte dimineaţa de la cheiul de est. Cine întârzie trebuie să aştepte.",
        "Brod isplovljava svakog utorka u pola osam. Tko zakasni, mora čekati do sljedećeg tjedna. Čuvar čita đačke",
        "Ladja odpluje vsak torek zjutraj. Kdor zamudi, mora počakati. Pšenico in ječmen natovorimo čisto na koncu,",
    ],
    "cp1257 iso8859-13": [
        "Laivas išplaukia kiekvieną antradienį pusę aštuonių ryto. Kas pavėluoja, turi laukti iki kitos savaitės.",
        "Kuģis atiet katru otrdienu pusastoņos no rīta. Kas nokavē, tam jāgaida līdz nākamajai nedēļai.",
        "Laev väljub igal teisipäeval idakaist. Kes hilineb, peab ootama järgmise nädalani. Tšello ja žürii jäid",
    ],
    "cp1254 iso8859-9": [
        "Gemi her salı sabahı yedi buçukta doğu iskelesinden kalkar. Geç kalanlar gelecek haftaya kadar beklemek",
    ],
    "cp1251 koi8-r cp866": [
        "Пароход отходит каждый вторник в половине восьмого утра. Кто опоздает, должен ждать до следующей недели.",
    ],
    "cp1251 koi8-u": [
        "Пароплав відходить щовівторка о пів на восьму ранку. Хто запізниться, мусить чекати до наступного тижня.",
    ],
    "cp1253 iso8859-7": [
        "Το πλοίο φεύγει κάθε Τρίτη στις επτάμισι το πρωί. Όποιος αργήσει πρέπει να περιμένει ως την επόμενη",
    ],
    "cp1255": [
        "הספינה יוצאת בכל יום שלישי בשבע וחצי בבוקר מהמזח המזרחי. מי שמאחר חייב לחכות עד השבוע הבא.",
    ],
    "shift_jis euc_jp": [
        "船は毎週火曜日の朝七時半に東の桟橋から出ます。遅れた人は来週まで待たなければなりません。",
    ],
    "cp1252": [
        "Das Schiff fährt jeden Dienstag früh vom östlichen Kai. Wer zu spät kommt, muss „bis morgen“ warten –",
        "Le bateau part chaque mardi à sept heures et demie. Le blé et l’orge sont chargés à la fin, où l’eau",
        "El barco sale cada martes por la mañana. ¿Por qué? Quien llegue tarde tendrá que esperar hasta la próxima",
        "Skibet sejler hver tirsdag fra den østlige kaj. Den, der kommer for sent, må vente til næste uge på søen.",
        "Skipið fer á hverjum þriðjudegi klukkan hálf átta að morgni. Sá sem kemur of seint verður að bíða.",
        "The “ship’s” café opens at eight — £2 a cup, as Dr. Müller said². Anyone who comes late must wait until next",
    ],
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_french_is_read_in_any_usual_encoding(encoding: str) -> None:
    assert decode(FRENCH.encode(encoding)) == FRENCH


@pytest.mark.fault("D15")
@pytest.mark.parametrize(("encodings", "text"), [(names, text) for names, texts in PROSE.items() for text in texts])
def test_the_encoding_is_the_one_in_which_the_text_makes_sense(encodings: str, text: str) -> None:
    for encoding in encodings.split():
        assert decode(text.encode(encoding)) == text, encoding
    assert decode(text.encode()) == text


@pytest.mark.parametrize(
    "text", ["Größe;Gewicht\n7;12\n", "20 °C ± 2", "§ 5 Abs. 3", "© 2031 Hansen®", "x² + y³ = z¹", "Núñez"]
)
def test_a_few_western_letters_and_signs_stay_what_they_are(text: str) -> None:
    assert decode(text.encode("cp1252")) == text


def test_a_declared_encoding_is_used_when_the_bytes_are_not_utf8() -> None:
    greek = "Καλημέρα"

    assert decode(greek.encode("iso8859-7"), "iso8859-7") == greek
    assert decode(greek.encode(), "iso8859-7") == greek


def test_an_unknown_declared_encoding_does_no_harm() -> None:
    assert decode(FRENCH.encode("cp1252"), "no-such-encoding") == FRENCH


def test_utf8_with_one_damaged_byte_stays_utf8() -> None:
    data = FRENCH.encode() * 3 + b"\xff end"

    assert decode(data).startswith(FRENCH)
    assert decode(data).endswith("\ufffd end")


@pytest.mark.parametrize(
    "data",
    [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0", bytes(range(256)) * 20, b"\0" * 5000],
    ids=["an image", "every byte", "only zeros"],
)
def test_binary_data_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableError, match="holds binary data, not text"):
        decode(data)


def test_clean_text_has_one_form() -> None:
    assert clean("\r\n\r\na \t\r\nb\rc\x0cd\u2028e\n\n\n\n\n\nf  ") == "a\nb\nc\nd\ne\n\n\nf"
    assert clean(unicodedata.normalize("NFD", "Zürich")) == "Zürich"
    assert clean("10\u00a0000\u202f€") == "10 000 €"


def test_indentation_and_tabs_stay() -> None:
    assert clean("\n    code\n\tcell\n") == "    code\n\tcell"


def test_invisible_characters_are_removed_and_joiners_that_spell_words_stay() -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")

    assert clean(f"a\0b\x07c\u00add\u200be\ufefff\u202eg\ud800h{hidden}i") == "abcdefghi"
    assert clean("می\u200cخواهم") == "می\u200cخواهم"


@pytest.mark.parametrize("text", ["", " \n\t\n", "\ufeff\u200b\u00a0"], ids=["nothing", "white space", "invisible"])
def test_a_document_without_visible_text_is_refused(text: str) -> None:
    with pytest.raises(UnreadableError, match="holds no text"):
        clean_body(text)


def test_one_line_folds_all_white_space() -> None:
    assert one_line(" A\n title\twith\u00a0gaps ") == "A title with gaps"


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("reports/AMAZON_2017_10K.pdf", "AMAZON 2017 10K"),
        ("Bras%C3%ADlia.txt", "Brasília"),
        ("100%_sure.txt", "100% sure"),
        ("%FF%FE.txt", "%FF%FE"),
        ("costs-and-capacity.md", "costs and capacity"),
        ("COVID-19-report-2023-08-30.md", "COVID 19 report 2023-08-30"),
        ("Anti-aircraft_warfare.txt", "Anti-aircraft warfare"),
        ("St._John's.txt", "St. John's"),
        ("_.txt", "_.txt"),
    ],
)
def test_a_file_name_becomes_words(name: str, title: str) -> None:
    assert title_from_name(name) == title


def test_a_run_of_combining_marks_is_cut_before_python_sorts_it() -> None:
    assert len(clean("a" + "\u0300\u0316" * 4000 + "b")) < 40
