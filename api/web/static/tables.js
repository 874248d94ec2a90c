// Rows that their reader wrote a line a cell (CSV, wide sheets), drawn as the table that they are.
// Flow: GET /documents/… -> here -> document_text.js. Rows between bars are Markdown's.

import { plainMarked, scrolling, unitsOf } from "./markdown.js";

// Returns the tables of a text in its order: {start, end, names, rows: [{start, end, cells: [{name, start, end}]}]}, as
// positions in `text`, with the names of all columns. `blocks` are those of GET /documents/…, which count characters.
export function tablesOf(text, blocks) {
  const at = unitsOf(text);
  const tables = [];
  let header = null;
  for (const block of blocks ?? []) {
    const start = at(block.start);
    if (isLineACell(text, block, at)) {
      const row = { start, end: at(block.end), cells: block.cells.map(([from, to], n) => ({ name: block.columns[n] ?? "", start: at(from), end: at(to) })) };
      const last = tables.at(-1);
      if (last?.end === start) last.rows.push(row);
      else tables.push({ start: header?.end === start ? header.start : start, names: new Set(), rows: [row] });
      tables.at(-1).end = row.end;
      for (const { name } of row.cells) tables.at(-1).names.add(name);
    }
    header = block.header ? { start, end: at(block.end) } : null;
  }
  return tables;
}

function isLineACell(text, { kind, header, cells = [], columns = [] }, at) {
  return kind === "row" && !header && columns.length > 1 && cells.length > 1 && text.slice(at(cells[0][1]), at(cells[1][0])).includes("\n");
}

// Returns rows of one table below the names of its columns; `ranges` are marked in their cells.
export function drawn(text, names, rows, ranges) {
  const table = document.createElement("table");
  const heads = table.createTHead().insertRow();
  for (const name of names) {
    const head = document.createElement("th");
    head.scope = "col";
    head.textContent = name;
    heads.append(head);
  }
  const body = table.createTBody();
  for (const { cells } of rows) {
    const line = body.insertRow();
    for (const name of names) {
      const cell = line.insertCell();
      for (const { start, end } of cells.filter((one) => one.name === name)) {
        const inside = ranges.filter((range) => range.start < end && start < range.end);
        cell.append(plainMarked(text.slice(start, end), inside.map((range) => ({ ...range, start: Math.max(range.start, start) - start, end: Math.min(range.end, end) - start }))));
      }
    }
  }
  return scrolling(table);
}
