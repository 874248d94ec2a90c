"""Which rows of a table name its columns, by their texts alone."""

import pytest

from ingestion.reading.column_names import header_span, joined_names

TABLES = {
    "names above words": (["name,role", "Ann,cook", "Bo,clerk"], "name,role"),
    "names above figures": (["kind,weight", "oak,7", "elm,12"], "kind,weight"),
    "one column": (["colour", "red", "blue"], "colour"),
    "names above gaps": (["id,from,to,note,fee", "1,,,,2", "2,,,,4", "3,a,,,5"], "id,from,to,note,fee"),
    "a title": (["Ferries of the North,,", "harbour,pier,berths", "Ulv,2,4", "Rand,3,8"], "harbour,pier,berths"),
    "pairs": (["Period,June,,", "Clerk,Moss,,", "tool,shelf,each,price", "saw,A,3,4"], "tool,shelf,each,price"),
    "pairs almost as wide": (["Yard,North,", "tree,rings,width", "elm,40,7", "ash,38,9"], "tree,rings,width"),
    "no name above the first column": ([",rings,width", "0,40,7", "1,38,9"], ",rings,width"),
    "comments": (["# made on Monday, by hand", "#", "tool,shelf,count", "saw,A,3"], "tool,shelf,count"),
    "a comment of as many words": (["# by Lee, Ware", "name,role", "Ann,cook", "Bo,clerk"], "name,role"),
    "names marked as a comment": (["#start,end", "5,9", "8,12"], "#start,end"),
    "numbers marked": (["#,river,length", "1,Ea,12", "2,Lune,80"], "#,river,length"),
    "years": (["land,2021,2022", "Norse,67210,67480", "Dane,58010,58300"], "land,2021,2022"),
    "weeks": (["team,1,2,3", "Reds,4,0,9", "Blues,6,6,1"], "team,1,2,3"),
    "codes and words": (["code,label", "K-12,door", "K-13,hinge"], "code,label"),
    "two rows": ([",2021,,2022,", "mill,flour,bran,flour,bran", "Asp,7,1,8,2", "Lind,5,1,6,1"],
                 "mill,2021 flour,2021 bran,2022 flour,2022 bran"),
    "two rows below a title": (
        ["Mills,,,,", "mill,2021,,2022,", ",flour,bran,flour,bran", "Asp,7,1,8,2", "Lind,5,1,6,1"],
        "mill,2021 flour,2021 bran,2022 flour,2022 bran",
    ),
    "two rows of different words": (
        ["part,size,,torque,", ",length,width,steel,carbon", "axle,7,1,8,2", "cap,5,1,6,1"],
        "part,size length,size width,torque steel,torque carbon",
    ),
    "figures alone": (["1,2", "3,4"], ""),
    "words and figures": (["saw,3,1.50", "axe,1,12.25", "awl,8,0.75"], ""),
    "dates": (["2031-04-01,rain", "2031-04-02,sun", "2031-04-03,fog"], ""),
    "codes": (["K-12,door", "K-13,hinge", "K-14,lock"], ""),
    "years alike": (["2019,rain", "2020,sun", "2021,fog"], ""),
    "a title above figures": (["Rain in June,,", "3,ulv,12.5", "4,rand,11", "5,ulv,9.25"], ""),
}  # fmt: skip


@pytest.mark.fault("D14")
@pytest.mark.parametrize(("rows", "names"), TABLES.values(), ids=TABLES)
def test_names_are_found_below_titles_and_where_rows_are_alike_there_are_none(rows: list[str], names: str) -> None:
    cells = [row.split(",") for row in rows]
    start, end = header_span(cells)

    assert joined_names(cells[start:end]) == (names.split(",") if names else [])
