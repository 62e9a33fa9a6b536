// Records of the log: what a place on the page stands for.
import assert from "node:assert/strict";
import test from "node:test";
import {
  getBlocks,
  enclosedAt,
  getImageUrl,
  parseLines,
  pieceAt,
  textAt,
  getText,
} from "../../src/plait/view/page/assets/script/record.js";

const said = (...content) => ({ message: { content } });

test("a content that is a text is one block", () => {
  assert.deepEqual(getBlocks({ message: { content: "hi" } }), [{ type: "text", text: "hi" }]);
  assert.deepEqual(getBlocks({ content: [{ type: "x" }] }), [{ type: "x" }]);
  assert.deepEqual(getBlocks({}), []);
});

test("the text of blocks leaves out what is not text", () => {
  assert.equal(getText([{ type: "text", text: "a" }, null, { type: "image" }, { type: "text", text: "b" }]), "a\nb");
  assert.equal(getText(7), "");
});

test("a prompt is read from its message, its attachment, itself", () => {
  assert.equal(textAt(said({ type: "text", text: "a" }), "text"), "a");
  assert.equal(textAt({ attachment: { prompt: "b" } }, "text"), "b");
  assert.equal(textAt({ content: "c" }, "output"), "c");
  assert.equal(textAt({}, "text"), "");
});

test("results and inputs are those of their call", () => {
  const results = said(
    { type: "tool_result", tool_use_id: "one", content: "first" },
    { type: "tool_result", tool_use_id: "two", content: [{ type: "text", text: "second" }] },
  );
  assert.equal(textAt(results, "result/two"), "second");
  assert.equal(textAt(results, "result/none"), "");
  const calls = said({ id: "one", input: { command: "ls", n: 2 } });
  assert.equal(textAt(calls, "input/one/command"), "ls");
  assert.equal(textAt(calls, "input/one/n"), "2");
  assert.equal(textAt(calls, "input/one"), '{\n  "command": "ls",\n  "n": 2\n}');
});

test("a file is what was read, else its result", () => {
  assert.equal(textAt({ toolUseResult: { file: { content: "x" } } }, "file"), "x");
  assert.equal(textAt(said({ type: "tool_result", content: "y" }), "file"), "y");
});

test("thinking, contents and all else", () => {
  assert.equal(textAt(said({ thinking: "a" }, { type: "text" }, { thinking: "b" }), "thinking"), "a\n\nb");
  assert.equal(textAt({ attachment: { content: "a" } }, "content"), "a");
  assert.equal(textAt({ data: { n: 1 } }, "content"), '{\n  "n": 1\n}');
  assert.equal(textAt({ n: 1 }, "unheard"), '{\n  "n": 1\n}');
});

test("what is enclosed is counted without texts and results", () => {
  const record = said({ type: "text" }, { type: "image", n: 0 }, { type: "document", n: 1 });
  assert.equal(enclosedAt(record, "block/1").n, 1);
  assert.equal(enclosedAt(record, "block").n, 0);
  assert.equal(enclosedAt(record, "block/9"), record);
  const result = said({ tool_use_id: "one", content: [{ type: "text" }, { type: "image", n: 5 }] });
  assert.equal(enclosedAt(result, "enclosed/one/0").n, 5);
});

test("only images that a browser draws safely are drawn", () => {
  const image = (media_type, type = "base64") => ({ type: "image", source: { type, media_type, data: "AA" } });
  assert.equal(getImageUrl(image("image/png")), "data:image/png;base64,AA");
  for (const kind of ["image/jpeg", "image/jpg", "image/gif", "image/webp"]) assert.ok(getImageUrl(image(kind)));
  assert.equal(getImageUrl(image("image/svg+xml")), "");
  assert.equal(getImageUrl(image("image/png\"x")), "");
  assert.equal(getImageUrl(image("image/png", "url")), "");
  assert.equal(getImageUrl({ type: "document", source: image("image/png").source }), "");
  assert.equal(getImageUrl({ type: "image" }), "");
});

test("a line is in the piece of its file whose ends hold it", () => {
  const table = [
    [0, 1, 10],
    [0, 11, 20],
    [1, 1, 5],
  ];
  assert.deepEqual(
    [pieceAt(table, 0, 10), pieceAt(table, 0, 11), pieceAt(table, 1, 1), pieceAt(table, 1, 6)],
    [0, 1, 2, -1],
  );
});

test("lines keep their tabs", () => {
  assert.deepEqual([...parseLines("3\t{}\n7\ta\tb")], [
    [3, "{}"],
    [7, "a\tb"],
  ]);
});
