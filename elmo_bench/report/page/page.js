"use strict";

const number = /^-?\d+(\.\d+)?(e-?\d+)?$/;

// Numbers by value, before texts; empty cells last in either direction.
function compare(a, b, sign) {
  if (a === "" || b === "") return (a === "") - (b === "");
  const [x, y] = [number.test(a), number.test(b)];
  if (x && y) return sign * (Number(a) - Number(b));
  if (x !== y) return sign * (x ? -1 : 1);
  return sign * a.localeCompare(b);
}

function sortBy(header) {
  const table = header.closest("table");
  const column = [...header.parentNode.children].indexOf(header);
  const descending = header.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const value = (row) => row.cells[column].dataset.sort ?? "";
  const body = table.tBodies[0];
  const rows = [...body.rows];
  rows.sort((a, b) => compare(value(a), value(b), descending ? -1 : 1));
  body.append(...rows);
}

for (const button of document.querySelectorAll(".sortable th button")) {
  button.addEventListener("click", () => sortBy(button.parentNode));
}

const choices = ["task", "source"].map((id) => document.getElementById(id)).filter(Boolean);

// A part that does not say whose it is, such as the paper's row, is shown with any choice.
function filter() {
  const runs = document.querySelectorAll(".run");
  for (const part of document.querySelectorAll("[data-task]")) {
    part.hidden = choices.some(({ id, value }) => value !== "" && (part.dataset[id] ?? value) !== value);
  }
  const visible = [...runs].filter((run) => !run.hidden).length;
  const all = choices.every(({ value }) => value === "");
  document.getElementById("shown").textContent = all ? "" : `${visible} of ${runs.length} runs`;
}

for (const choice of choices) choice.addEventListener("change", filter);

// A link to something inside closed <details> opens them.
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let part = target; part; part = part.parentElement) {
    if (part.tagName === "DETAILS") part.open = true;
  }
  target?.scrollIntoView();
}

addEventListener("hashchange", reveal);
if (location.hash) reveal();
