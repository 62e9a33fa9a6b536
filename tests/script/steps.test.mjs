// Numbers and orders, addresses, amounts, keys, times.
import assert from "node:assert/strict";
import test from "node:test";
import {
  formAddress,
  computeHash,
  idIn,
  partAddress,
  searchAddress,
  searchPause,
  wantedIn,
} from "../../src/plait/view/page/assets/script/address.js";
import { ago } from "../../src/plait/view/page/assets/script/ages.js";
import { frameKeys, frameKeyTable, keysOfReading } from "../../src/plait/view/page/assets/script/help.js";
import { fileName, replaced, getSize } from "../../src/plait/view/page/assets/script/share.js";
import {
  around,
  bounded,
  hasFork,
  holdsNumber,
  holdsPlace,
  lengthened,
  nextPlace,
  placeRead,
} from "../../src/plait/view/page/assets/script/steps.js";

test("one goes around, or stays within", () => {
  assert.deepEqual([around(2, 1, 3), around(0, -1, 3), around(-1, 1, 3)], [0, 2, 0]);
  assert.deepEqual([bounded(-1, 3), bounded(1, 3), bounded(3, 3), bounded(4, 0)], [0, 1, 2, 0]);
});

test("the next prompt is below the line, the previous one first its own start", () => {
  const tops = [-900, -300, 70, 400];
  assert.equal(nextPlace(tops, 72, 1), 3);
  assert.equal(nextPlace(tops, 72, -1), 1);
  assert.equal(nextPlace([-900, -300, 400], 72, -1), 1);
  assert.equal(nextPlace([47, 400], 72, -1), 0);
  assert.equal(nextPlace([-900, 48], 72, -1), 0);
  assert.equal(nextPlace([-900, 47], 72, -1), 1);
  assert.equal(nextPlace([75, 400], 72, 1), 1);
  assert.equal(nextPlace([76, 400], 72, 1), 0);
});

test("the turn that is read is the lowest above the line, else the first", () => {
  assert.equal(placeRead([-500, 100, 300], 200), 1);
  assert.equal(placeRead([300, -500, 200], 200), 2);
  assert.equal(placeRead([700, 500, 600], 200), 1);
  assert.equal(placeRead([], 200), -1);
});

test("parts hold numbers with both ends and places without the last", () => {
  const part = { from: "3", to: "5", first: "2", last: "5" };
  assert.deepEqual([2, 3, 5, 6].map((n) => holdsNumber(part, n)), [false, true, true, false]);
  assert.deepEqual([1, 2, 4, 5].map((n) => holdsPlace(part, n)), [false, true, true, false]);
  assert.equal(hasFork({ forks: '["b"]' }, "b"), true);
  assert.equal(hasFork({}, "b"), false);
});

test("a part that nobody has reached grows, its last prompt told anew", () => {
  const part = { of: "m", first: "10", last: "12", to: "11", prompts: '[["a","one"],["b","two"]]' };
  const news = { count: 15, prompts: [["b", "two more"], ["c", "three"]] };
  assert.deepEqual(lengthened(part, news, 12), {
    last: 15,
    part: "m.10-15",
    turns: 5,
    to: 14,
    prompts: '[["a","one"],["b","two more"],["c","three"]]',
  });
  assert.equal(lengthened(part, { count: 12 }, 12).prompts, part.prompts);
});

test("names go into a hash and come out", () => {
  for (const id of ["line-a#2", "user@x", "a b/ü"]) assert.equal(idIn(`#${computeHash(id)}`), id);
  assert.equal(computeHash("a#b@c d"), "a#b@c%20d");
  assert.equal(idIn("#%zz"), "%zz");
  assert.equal(idIn(""), "");
});

test("an address wants a turn, a place, words, and nothing odd", () => {
  const nothing = { words: "", marks: [], outcome: null, turn: null, line: null, at: null };
  assert.deepEqual(wantedIn("?turn=12&line=b&q=x"), { ...nothing, words: "x", turn: 12, line: "b" });
  assert.deepEqual(wantedIn("?at=0.17&mark=y&mark=z*&text=a%20b&outcome=failed"), {
    ...nothing,
    marks: ["y", "z*", "=a b"],
    at: "0.17",
    outcome: "failed",
  });
  assert.deepEqual(wantedIn("?turn=12345678&at=1.2x"), nothing);
});

test("what is asked stands in the address, what is empty does not", () => {
  assert.equal(formAddress("/sessions", [["q", "a b"], ["since", ""]]), "/sessions?q=a+b");
  assert.equal(formAddress("/sessions", [["q", ""]]), "/sessions");
  assert.equal(searchAddress("?q=old&n=50&way=text", "new"), "/search?q=new&way=text");
  assert.equal(searchAddress("?q=old&n=50", ""), "/search");
  assert.equal(partAddress("/side?q=x", "http://h/s/1").href, "http://h/side?q=x&fragment=1");
  assert.deepEqual(["?q=a", "?q=a&way=text", "?way=x", "?noway=x"].map(searchPause), [120, 500, 500, 120]);
});

test("sizes and what was replaced", () => {
  assert.deepEqual([0, 1499, 999999, 1e6, 2.55e7].map(getSize), ["1 kB", "1 kB", "1000 kB", "1.0 MB", "25.5 MB"]);
  assert.equal(replaced(null), "Nothing was replaced.");
  assert.equal(replaced({}), "Nothing needed to be replaced.");
  assert.equal(replaced({ home: 2, token: 1 }), "3 values replaced: home 2, token 1.");
  assert.equal(fileName('attachment; filename="a b.html"'), "a b.html");
  assert.equal(fileName(null), "session");
});

test("the keys of a served session stand before those of every page", () => {
  const names = (keys) => keys.map(([key]) => key).join(" ");
  assert.equal(names(keysOfReading(false)), "j / k [ / ] / n / N f e o g t ?");
  assert.equal(names(keysOfReading(true)), "j / k [ / ] / n / N f e o g c x y / Y G t ?");
  frameKeys.push(["s", "column"]);
  assert.equal(names(frameKeyTable()), "s t ?");
});

test("how long ago", () => {
  const now = new Date(2026, 5, 20, 12, 0, 0);
  const before = (seconds) => ago(new Date(now - seconds * 1000), now);
  assert.deepEqual([0, 59, -59, 60, 3599, 3600, 86399].map(before), [
    "just now",
    "just now",
    "just now",
    "1 min ago",
    "59 min ago",
    "1 h ago",
    "23 h ago",
  ]);
  assert.deepEqual([86400, 2 * 86400, 14 * 86400 - 1].map(before), ["yesterday", "2 days ago", "13 days ago"]);
  assert.deepEqual([14 * 86400, 400 * 86400, -90].map(before), ["2026-06-06", "2025-05-16", "2026-06-20"]);
});
