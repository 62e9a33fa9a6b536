// Render a plan: sizes before and after, what happens to lines, some examples.
import { made } from "./dom.js";
import { sentences } from "./edit_requests.js";

export function renderPlan(planned) {
  const { report } = planned;
  const part = made("div", "planned");
  part.append(sizesTable(planned.sizes));
  if (planned.saving) part.append(made("p", "saving", sentences([planned.saving])));
  if (planned.fates.length) part.append(fatesList(planned.fates));
  if (report.differences.length) part.append(differencesBox(report.differences));
  part.append(...report.notes.map((note) => made("p", "note", sentences([note.replaceAll("`", "")]))));
  part.append(...report.unmended.map((left) => made("p", "note", `Not repaired: ${placed(left)}`)));
  part.append(...report.violations.map((broken) => made("p", "note bad", placed(broken))));
  return part;
}

function placed(found) {
  return found.line ? `line ${found.line}: ${found.words}` : found.words;
}

function sizesTable(sizes) {
  const table = made("table", "figures sizes");
  const head = made("thead");
  head.append(headRow(["Before", "After"]));
  const body = made("tbody");
  for (const [name, before, after] of sizes) body.append(sizeRow(name, before, after));
  table.append(head, body);
  return table;
}

function sizeRow(name, before, after) {
  const row = made("tr");
  const title = made("th", "", name);
  title.scope = "row";
  row.append(title, made("td", "", before), made("td", before === after ? "" : "changed", after));
  return row;
}

function headRow(words) {
  const row = made("tr");
  row.append(made("td"), ...words.map((word) => made("th", "", word)));
  return row;
}

function fatesList(fates) {
  const list = made("ul", "fates");
  for (const [count, fate, reason] of fates) {
    const item = made("li");
    item.append(made("b", "", `${count} ${fate}`), ` ${reason}`);
    list.append(item);
  }
  return list;
}

function differencesBox(differences) {
  const box = made("details", "lines-differ");
  box.append(made("summary", "", differences.length === 1 ? "Show the changed line" : `Show ${differences.length} of the changed lines`));
  for (const found of differences) {
    box.append(made("p", "", `${found.line ? `Line ${found.line}` : "New line"}: ${found.reason}`));
    if (found.before !== null) box.append(made("pre", "was", found.before));
    if (found.after !== null) box.append(made("pre", "becomes", found.after));
  }
  return box;
}
