// Log records: the text, block or line that a place on the page stands for.

export function getBlocks(record) {
  const content = (record.message || record).content;
  if (Array.isArray(content)) return content;
  return typeof content === "string" ? [{ type: "text", text: content }] : [];
}

export function getText(content) {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .filter((block) => block && block.type === "text")
    .map((block) => block.text)
    .join("\n");
}

function getResult(record, call) {
  return getBlocks(record).find((block) => block && block.tool_use_id === call) || {};
}

function resultContent(record) {
  const block = getBlocks(record).find((one) => one && one.type === "tool_result");
  return block ? block.content : "";
}

function describeNonText(content) {
  return (Array.isArray(content) ? content : []).filter(
    (block) => block && block.type !== "text" && block.type !== "tool_result",
  );
}

function spread(value) {
  return JSON.stringify(value, null, 2);
}

function getSpokenText(record) {
  const said = getText((record.message || record).content);
  const attached = record.attachment && record.attachment.prompt;
  return said || getText(attached) || record.content || "";
}

const readers = {
  text: getSpokenText,
  output: getSpokenText,
  thinking: (record) =>
    getBlocks(record)
      .map((block) => block.thinking || "")
      .join("\n"),
  file: (record) => record.toolUseResult?.file?.content || getText(resultContent(record)),
  result: (record, call) => getText(getResult(record, call).content),
  input(record, call, key) {
    const block = getBlocks(record).find((one) => one && one.id === call) || {};
    const value = key ? (block.input || {})[key] : block.input;
    return typeof value === "string" ? value : spread(value);
  },
  content(record) {
    const inner = record.attachment || record.data || record;
    return typeof inner.content === "string" ? inner.content : spread(inner);
  },
  raw: (record) => spread(record),
};

// The text at a path such as `input/<call>/<key>`; the whole record if the path is unknown.
export function textAt(record, path) {
  const [kind, call, key] = path.split("/");
  return (readers[kind] || readers.raw)(record, call, key);
}

// The image or document at a path such as `enclosed/<call>/<number>`, otherwise the record.
export function enclosedAt(record, path) {
  const steps = path.split("/");
  const content = steps[0] === "enclosed" ? getResult(record, steps[1]).content : getBlocks(record);
  return describeNonText(content)[Number(steps[2] || steps[1] || 0)] || record;
}

// The URL of an image that a browser can draw; empty for anything else.
export function getImageUrl(block) {
  const source = block.source || {};
  if (block.type !== "image" || source.type !== "base64") return "";
  if (!/^image\/(png|jpe?g|gif|webp)$/.test(source.media_type || "")) return "";
  return `data:${source.media_type};base64,${source.data}`;
}

// The index of the packed piece ([file, first, last]) that contains a line; -1 if none does.
export function pieceAt(table, file, line) {
  return table.findIndex((piece) => piece[0] === file && piece[1] <= line && line <= piece[2]);
}

// The lines of an unpacked piece by number.
export function parseLines(text) {
  const cut = (row) => [Number(row.slice(0, row.indexOf("\t"))), row.slice(row.indexOf("\t") + 1)];
  return new Map(text.split("\n").map(cut));
}
