// Texts of the log and of a terminal.
import assert from "node:assert/strict";
import test from "node:test";
import { settled, stretches } from "../../src/plait/view/page/assets/script/terminal.js";
import {
  clean,
  excerpt,
  indented,
  markLook,
  occurrences,
  short,
  turnsCounted,
} from "../../src/plait/view/page/assets/script/text.js";

test("letters that deceive are replaced, line ends and tabs are not", () => {
  assert.equal(clean("a\u202eb\u0000c\n\td"), "a\ufffdb\ufffdc\n\td");
  assert.equal(clean("\ud800x😀"), "\ufffdx😀");
});

test("a line of the log is indented without being parsed", () => {
  const line = '{"a":1.50,"b":[],"c":{},"d":["x, y",12345678901234567890]}';
  const told =
    '{\n  "a": 1.50,\n  "b": [],\n  "c": {},\n  "d": [\n    "x, y",\n    12345678901234567890\n  ]\n}';
  assert.equal(indented(line), told);
  assert.equal(indented('{"a":"\u202e"}'), '{\n  "a": "\\u202e"\n}');
  assert.equal(indented('"say \\"{[,:\\""'), '"say \\"{[,:\\""');
  assert.equal(indented(" "), "");
});

test("a torn line is indented as far as it goes", () => {
  assert.equal(indented("]}"), "\n]\n}");
  assert.equal(indented('{"a":'), '{\n  "a": ');
});

test("texts are shortened at a word", () => {
  assert.equal(short("one  two\nthree", 20), "one two three");
  assert.equal(short("one two", 7), "one two");
  assert.equal(short("one two three", 10), "one two …");
  assert.equal(short("abcdefghijkl", 5), "abcde …");
});

test("an excerpt is of the first text that holds the words", () => {
  const long = `${"b".repeat(70)}Word${"a".repeat(120)}`;
  assert.deepEqual(excerpt(["none", long, "word"], "word"), ["b".repeat(60), "Word", "a".repeat(100)]);
  assert.equal(excerpt(["none"], "word"), null);
  assert.equal(excerpt(["none"], ""), null);
});

test("what a query wants is known where it stands, and nothing else is", () => {
  const marked = (text, mark) => Array.from(text.matchAll(markLook(mark)), (found) => found[0]);
  assert.deepEqual(marked("The parser, a Parser and parsers", "parser"), ["parser", "Parser"]);
  assert.deepEqual(marked("parse parsers sparse", "pars*"), ["parse", "parsers"]);
  assert.deepEqual(marked("parse parsers sparse", "*pars*"), ["pars", "pars", "pars"]);
  assert.deepEqual(marked("a parse error, parse an error", '"parse error"'), ["parse error"]);
  assert.deepEqual(marked("a parse error, parse an error", '"parse error"~1'), ["parse error", "parse an error"]);
  assert.deepEqual(marked("parse errors", '"parse err"*'), ["parse errors"]);
  assert.deepEqual(marked("src/app.py and src app py", "src/app.py"), ["src/app.py", "src app py"]);
  assert.deepEqual(marked("a prser", "parser~"), []);
  assert.deepEqual(marked("parsr and parses", "parser~"), ["parsr", "parses"]);
  assert.deepEqual(marked("(a) => b, (A) => b", "=(a) => b"), ["(a) => b", "(A) => b"]);
  assert.deepEqual(marked("使用git提交代码", "提交"), ["提交"]);
  assert.deepEqual(marked("Élan élan élans", "élan"), ["Élan", "élan"]);
  assert.equal(markLook("--"), null);
});

test("occurrences do not overlap", () => {
  assert.deepEqual(occurrences("aaaab", "aa"), [0, 2]);
  assert.deepEqual(occurrences("abc", "x"), []);
});

test("one turn is one turn", () => {
  assert.deepEqual([0, 1, 2].map(turnsCounted), ["0 turns", "1 turn", "2 turns"]);
});

test("a terminal's colours last until they change", () => {
  assert.deepEqual(stretches("a\u001b[1;31mb\u001b[92mc\u001b[39md\u001b[0me"), [
    ["", "a"],
    ["ib i1", "b"],
    ["ib i2", "c"],
    ["ib", "d"],
    ["", "e"],
  ]);
  assert.deepEqual(stretches("\u001b[31;1mx\u001b[22my\u001b[mz"), [
    ["i1 ib", "x"],
    ["i1", "y"],
    ["", "z"],
  ]);
});

test("the first and the last of the colours are colours, their neighbours are not", () => {
  const names = (code) => stretches(`\u001b[${code}mx`)[0][0];
  assert.deepEqual([29, 30, 37, 40, 89, 90, 97, 98].map(names), ["", "i0", "i7", "", "", "i0", "i7", ""]);
});

test("colours by number are left as they were", () => {
  assert.deepEqual(stretches("\u001b[32ma\u001b[38;5;1mb\u001b[48;2;1;1;1mc"), [
    ["i2", "a"],
    ["i2", "b"],
    ["i2", "c"],
  ]);
});

test("all other commands to a terminal go, and lines written over", () => {
  assert.equal(settled("\u001b]0;title\u0007a\u001b[2Kb\u001b(Bc"), "abc");
  assert.equal(settled("10%\r50%\rdone\r\nnext\r"), "done\nnext");
});
