// Tables sorted by their headings: rising, falling, and as they were at first.
"use strict";
(() => {
  const NEXT = { none: "ascending", ascending: "descending", descending: "none" };
  const words = new Intl.Collator("en", { numeric: true });

  function textOf(cell) {
    return cell.firstChild ? cell.firstChild.textContent : "";
  }

  // Cells without a number come last, whichever way the others run.
  function compare(a, b, sign) {
    const [x, y] = [a.dataset.value, b.dataset.value];
    if (x !== undefined && y !== undefined) {
      return x === y ? 0 : sign * (Number(x) - Number(y));
    }
    if (x !== undefined || y !== undefined) {
      return x !== undefined ? -1 : 1;
    }
    return sign * words.compare(textOf(a), textOf(b));
  }

  function sorted(rows, column, order) {
    if (order === "none") {
      return rows;
    }
    const sign = order === "ascending" ? 1 : -1;
    return [...rows].sort((a, b) => compare(a.cells[column], b.cells[column], sign));
  }

  function makeSortable(table) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const headings = [...table.tHead.rows[0].cells];
    headings.forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      heading.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const order = NEXT[heading.getAttribute("aria-sort")];
        headings.forEach((other) => other.setAttribute("aria-sort", "none"));
        heading.setAttribute("aria-sort", order);
        body.append(...sorted(rows, column, order));
      });
    });
  }

  document.querySelectorAll("figure.table table").forEach(makeSortable);
  document.querySelectorAll(".sorting").forEach((hint) => hint.removeAttribute("hidden"));
})();
