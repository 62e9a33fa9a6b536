/* The page of a session and the index of a site. A classic script: pages on a disk load no other. */
(function () {
  "use strict";
  var root = document.body.dataset.root || "";
  var main = document.querySelector("main[data-session]");
  var one = function (selector, within) { return (within || document).querySelector(selector); };
  var all = function (selector, within) { return Array.from((within || document).querySelectorAll(selector)); };
  var made = function (tag, name, text) {
    var element = document.createElement(tag);
    if (name) element.className = name;
    if (text !== undefined) element.textContent = text;
    return element;
  };

  // Scripts beside the page call these with what they hold.
  var waiting = {};
  window.plait = {
    lines: function (file, first, last, data) { settle("lines " + file + " " + first, data); },
    part: function (number, html) { settle("part " + number, html); },
    index: function (entries) { settle("index", entries); }
  };
  function settle(name, value) { if (waiting[name]) waiting[name].resolve(value); }
  function fetched(name, address) {
    if (!waiting[name]) {
      var entry = (waiting[name] = {});
      entry.promise = new Promise(function (resolve, reject) { entry.resolve = resolve; entry.reject = reject; });
      var script = document.createElement("script");
      script.src = address;
      script.onerror = function () { entry.reject(new Error("cannot load " + address)); };
      document.head.appendChild(script);
    }
    return waiting[name].promise;
  }

  /* Times in the reader's zone, light or dark, copying. */
  var stamp = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  function tellTimes(within) {
    all("time[datetime]", within).forEach(function (element) {
      var time = new Date(element.getAttribute("datetime"));
      if (isNaN(time)) return;
      element.textContent = stamp.format(time);
      element.title = time.toString();
    });
  }
  function storedTheme() { try { return localStorage.getItem("plait-theme"); } catch (error) { return null; } }
  function setTheme(theme) {
    if (theme) document.documentElement.dataset.theme = theme;
    try { localStorage.setItem("plait-theme", theme); } catch (error) { /* a page on a disk may not */ }
  }
  if (storedTheme()) setTheme(storedTheme());
  function otherTheme() {
    var now = document.documentElement.dataset.theme ||
      (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    setTheme(now === "dark" ? "light" : "dark");
  }
  function copy(text, button) {
    var done = function () { button.classList.add("done"); button.title = "Copied"; };
    if (navigator.clipboard && navigator.clipboard.writeText) {
      navigator.clipboard.writeText(text).then(done, function () { copyOldWay(text); done(); });
    } else { copyOldWay(text); done(); }
  }
  function copyOldWay(text) {
    var area = made("textarea"); area.value = text; document.body.appendChild(area);
    area.select(); document.execCommand("copy"); area.remove();
  }

  /* Texts of the log: never markup, never running backwards; the colours of a terminal kept. */
  var deceiving = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]/gu;
  function clean(text) { return text.replace(deceiving, "\ufffd"); }
  function coloured(text) {
    var whole = document.createDocumentFragment(), style = new Set();
    var plain = text.replace(/(?:\u001b\]|\u009d)[^\u0007\u001b]*(?:\u0007|\u001b\\)?/g, "")
      .replace(/(?:\u001b\[|\u009b)(?![0-9;]*m)[0-?]*[ -/]*[@-~]?/g, "")
      .replace(/\u001b(?!\[)[ -/]*[0-~]?/g, "").replace(/\r\n/g, "\n").replace(/[^\n]*\r(?=[^\n])/g, "").replace(/\r/g, "");
    plain.split(/(?:\u001b\[|\u009b)([0-9;]*)m/).forEach(function (part, place) {
      if (place % 2) { style = restyled(style, part); return; }
      if (!part) return;
      whole.append(style.size ? made("span", Array.from(style).join(" "), clean(part)) : clean(part));
    });
    return whole;
  }
  function restyled(style, codes) {
    var next = new Set(style), numbers = codes.split(";").map(Number);
    if (numbers[0] === 38 || numbers[0] === 48) return next;
    numbers.forEach(function (number) {
      var colour = number >= 90 && number <= 97 ? number - 90 : number >= 30 && number <= 37 ? number - 30 : -1;
      if (number === 0) next.clear();
      else if (number === 1) next.add("ib");
      else if (number === 22) next.delete("ib");
      if (colour >= 0 || number === 39) Array.from(next).forEach(function (name) { if (name !== "ib") next.delete(name); });
      if (colour >= 0) next.add("i" + colour);
    });
    return next;
  }
  function indented(line) {
    // Every number and every string as the log has it: a parser would round and reorder.
    var depth = 0, text = "";
    (line.match(/"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s"{}\[\],:]+/g) || []).forEach(function (token, place, tokens) {
      var isEmpty = /^[{[]$/.test(tokens[place - 1] || "") && /^[}\]]$/.test(token);
      if (token === "}" || token === "]") { depth--; text += isEmpty ? token : "\n" + "  ".repeat(Math.max(0, depth)) + token; return; }
      if (/^[{[]$/.test(tokens[place - 1] || "") || tokens[place - 1] === ",") text += "\n" + "  ".repeat(Math.min(depth, 60));
      text += token === ":" ? ": " : token;
      if (token === "{" || token === "[") depth++;
    });
    return text.replace(deceiving, function (letter) { return "\\u" + letter.charCodeAt(0).toString(16).padStart(4, "0"); });
  }

  /* The log beside the page: packed lines, fetched when more is asked for. */
  var table = main ? JSON.parse(main.dataset.lines || "[]") : [];
  var records = {};
  function unpacked(data) {
    var bytes = Uint8Array.from(atob(data), function (letter) { return letter.charCodeAt(0); });
    var stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).text();
  }
  function pieceAt(file, line) {
    return table.findIndex(function (piece) { return piece[0] === file && piece[1] <= line && line <= piece[2]; });
  }
  function packedPiece(number) {
    var inside = one('script.lines[data-n="' + number + '"]');
    if (inside) return Promise.resolve(inside.textContent);
    var piece = table[number];
    return fetched("lines " + piece[0] + " " + piece[1], main.dataset.session + ".lines/" + number + ".js");
  }
  function loadedPiece(number) {
    if (!records[number]) {
      records[number] = packedPiece(number).then(unpacked).then(function (text) {
        var held = new Map();
        text.split("\n").forEach(function (row) {
          var at = row.indexOf("\t");
          held.set(Number(row.slice(0, at)), row.slice(at + 1));
        });
        return held;
      });
    }
    return records[number];
  }
  function rawLine(place) {
    var parts = place.split("."), file = Number(parts[0]), line = Number(parts[1]);
    var number = pieceAt(file, line);
    if (number < 0) return Promise.reject(new Error("line " + line + " is not in this export"));
    return loadedPiece(number).then(function (held) { return held.get(line) || ""; });
  }
  function recordAt(place) { return rawLine(place).then(function (line) { return JSON.parse(line); }); }
  function blocksOf(record) {
    var message = record.message || record, content = message.content;
    return Array.isArray(content) ? content : typeof content === "string" ? [{ type: "text", text: content }] : [];
  }
  function textOf(content) {
    if (typeof content === "string") return content;
    if (!Array.isArray(content)) return "";
    return content.filter(function (b) { return b && b.type === "text"; }).map(function (b) { return b.text; }).join("\n");
  }
  function resultOf(record, call) {
    return blocksOf(record).find(function (b) { return b && b.tool_use_id === call; }) || {};
  }
  function notText(content) {
    return (Array.isArray(content) ? content : []).filter(function (b) { return b && b.type !== "text" && b.type !== "tool_result"; });
  }
  var readers = {
    text: function (record) {
      var said = textOf((record.message || record).content);
      var attached = record.attachment && record.attachment.prompt;
      return said || textOf(attached) || record.content || "";
    },
    thinking: function (record) { return blocksOf(record).map(function (b) { return b.thinking || ""; }).join("\n"); },
    file: function (record) { return ((record.toolUseResult || {}).file || {}).content || textOf(resultContent(record)); },
    result: function (record, call) { return textOf(resultOf(record, call).content); },
    input: function (record, call, key) {
      var block = blocksOf(record).find(function (b) { return b && b.id === call; }) || {};
      var value = key ? (block.input || {})[key] : block.input;
      return typeof value === "string" ? value : JSON.stringify(value, null, 2);
    },
    output: function (record) { return readers.text(record); },
    content: function (record) {
      var inner = record.attachment || record.data || record;
      return typeof inner.content === "string" ? inner.content : JSON.stringify(inner, null, 2);
    },
    raw: function (record) { return JSON.stringify(record, null, 2); }
  };
  function resultContent(record) {
    var block = blocksOf(record).find(function (b) { return b && b.type === "tool_result"; });
    return block ? block.content : "";
  }
  function fullText(button) {
    var path = button.dataset.p.split("/");
    var reader = readers[path[0]] || readers.raw;
    return recordAt(button.dataset.l).then(function (record) { return reader(record, path[1], path[2]); });
  }
  function showAll(button) {
    button.disabled = true;
    return fullText(button).then(function (text) {
      var before = button.previousElementSibling, isBlock = before && /^(PRE|OL|TABLE)$/.test(before.tagName);
      var block = made("pre", before && before.tagName === "PRE" ? before.className : isBlock ? "out" : "out words");
      block.append(coloured(text || ""));
      if (isBlock) before.replaceWith(block);
      else {
        while (button.previousElementSibling && !button.previousElementSibling.matches(".rawbtn, .tag")) button.previousElementSibling.remove();
        button.before(block);
      }
      button.remove();
    }, function (error) { button.disabled = false; button.textContent = error.message; });
  }
  function showEnclosed(button) {
    var path = button.dataset.p.split("/");
    recordAt(button.dataset.l).then(function (record) {
      var content = path[0] === "enclosed" ? resultOf(record, path[1]).content : blocksOf(record);
      var block = notText(content)[Number(path[2] || path[1] || 0)] || record;
      var source = block.source || {};
      if (block.type === "image" && source.type === "base64" && /^image\/(png|jpe?g|gif|webp)$/.test(source.media_type || "")) {
        var image = made("img", "shown-image");
        image.alt = button.textContent;
        image.src = "data:" + source.media_type + ";base64," + source.data;
        button.replaceWith(image);
      } else {
        var told = source.type === "text" && typeof source.data === "string" ? source.data : indented(JSON.stringify(block));
        button.replaceWith(made("pre", "out", clean(told)));
      }
    }, function (error) { button.textContent = error.message; });
  }
  function showRaw(button) {
    var holder = button.closest("[data-l]");
    var old = one(":scope > pre.rawjson", holder);
    if (old) { old.remove(); return; }
    var put = function (text) { if (holder.tagName === "DETAILS") holder.open = true; holder.appendChild(made("pre", "rawjson", text)); };
    rawLine(holder.dataset.l).then(function (line) { put(indented(line) || clean(line)); }, function (error) { put(error.message); });
  }
  function addRawButtons(within) {
    if (!table.length) return;
    all("[data-l]:not(button)", within).forEach(function (element) {
      if (element.classList.contains("again") || (element.parentElement && element.parentElement.closest("details:not([open])"))) return;
      if (one(":scope > .rawbtn, :scope > .line > .rawbtn", element)) return;
      var button = made("button", "rawbtn"), line = one(":scope > .line", element);
      button.title = "The line of the log";
      button.setAttribute("aria-label", "Raw JSON");
      button.append(made("i", "i i-raw"));
      (line || element)[line || element.matches(".event, .landmark") ? "appendChild" : "prepend"](button);
    });
  }

  /* Turns that come as they are read. */
  function fill(part) {
    if (part.dataset.loading) return part.loaded;
    part.dataset.loading = "1";
    var number = part.dataset.part, inside = one('template.parts[data-n="' + number + '"]');
    var turns = inside ? Promise.resolve(Array.from(inside.content.children))
      : fetched("part " + number, main.dataset.session + ".lines/part-" + number + ".js");
    part.loaded = turns.then(function (found) { return inSlices(part, found); }).then(function () {
      var line = part.parentElement, next = shown[shown.indexOf(line) + 1];
      part.remove();
      if (next && JSON.parse(part.dataset.forks).indexOf(next.dataset.line) >= 0) { endLine(line); drawOutline(shown); }
    });
    return part.loaded;
  }
  function inSlices(part, turns) {
    // A few milliseconds at a time, so that scrolling stays smooth.
    var at = 0, box = made("template");
    return new Promise(function (resolve) {
      (function slice() {
        var until = performance.now() + 6;
        while (at < turns.length && performance.now() < until) {
          var turn = turns[at++];
          if (typeof turn === "string") { box.innerHTML = turn; turn = box.content.firstElementChild; } else turn = turn.cloneNode(true);
          if (part.classList.contains("past")) turn.classList.add("past");
          prepare(turn);
          part.before(turn);
          if (turn.matches("main > .dag > .turn")) { number(turn); watchTurn(turn); } else addRawButtons(turn);
        }
        part.style.minHeight = 600 * (turns.length - at) + "px";
        if (at < turns.length) setTimeout(slice, isHurried ? 0 : 12); else resolve();
      })();
    });
  }
  var isHurried = false;
  function promptsOf(part) { return JSON.parse(part.dataset.prompts || "[]"); }
  function fillFor(id) {
    var part = all("main .part").find(function (part) {
      return promptsOf(part).some(function (prompt) { return prompt[0] === id; }) || JSON.parse(part.dataset.forks || "[]").indexOf(id) >= 0;
    });
    return part ? fill(part) : Promise.resolve();
  }
  function fillAll() {
    isHurried = true;
    return Promise.all(all(".part").map(fill)).then(function () { isHurried = false; return one(".part") ? fillAll() : null; });
  }
  var near = "IntersectionObserver" in window ? new IntersectionObserver(function (found) {
    found.forEach(function (entry) { if (entry.isIntersecting) { near.unobserve(entry.target); fill(entry.target); } });
  }, { rootMargin: "1500px 0px" }) : null;

  var coming = "IntersectionObserver" in window ? new IntersectionObserver(function (found) {
    found.forEach(function (entry) { if (entry.isIntersecting) { coming.unobserve(entry.target); addRawButtons(entry.target); } });
  }, { rootMargin: "800px 0px" }) : null;
  document.addEventListener("toggle", function (event) {
    var box = event.target;
    if (!box.open || !box.matches("details")) return;
    addRawButtons(box);
    all(":scope > .body > .part", box).forEach(fill);
    var agents = all(":scope > .body > .agent", box);
    if (agents.length === 1) agents[0].open = true;
  }, true);

  /* Where the reader is: the rail and the outline follow. */
  var here = null, heldAt = -1, inView = new Set(), isLooking = false;
  var reading = "IntersectionObserver" in window ? new IntersectionObserver(function (found) {
    found.forEach(function (entry) { if (entry.isIntersecting) inView.add(entry.target); else inView.delete(entry.target); });
    look();
  }) : null;
  function look() {
    if (isLooking) return;
    isLooking = true;
    requestAnimationFrame(function () {
      // The turn that reaches the line where one reads, the lowest of them.
      isLooking = false;
      if (scrollY === heldAt) return;
      heldAt = -1;
      var line = innerHeight / 4 + 24, best = null, bestTop = -Infinity, first = null, firstTop = Infinity;
      inView.forEach(function (turn) {
        if (!turn.isConnected) { inView.delete(turn); return; }
        var top = turn.getBoundingClientRect().top;
        if (top <= line && top > bestTop) { best = turn; bestTop = top; }
        if (top < firstTop) { first = turn; firstTop = top; }
      });
      var now = best || first;
      if (now && now !== here) { here = now; markHere(now); }
    });
  }
  if (main) addEventListener("scroll", look, { passive: true });
  function watchTurn(turn) { if (reading) reading.observe(turn); if (coming) coming.observe(turn); }
  function watchTurns() {
    all("main > .dag > .turn").forEach(watchTurn);
    all("main > .dag > .part").forEach(function (part) {
      if (!part.style.minHeight) part.style.minHeight = 600 * Number(part.dataset.turns) + "px";
      if (near) near.observe(part);
    });
    if (!coming) addRawButtons(main);
  }
  var links = null;
  function linksTo(id) {
    if (!links) {
      links = new Map();
      all(".rail .node, .outline a").forEach(function (link) {
        var target = (link.getAttribute("href") || "").slice(1);
        if (!links.has(target)) links.set(target, []);
        links.get(target).push(link);
      });
    }
    return links.get(id) || [];
  }
  function markHere(turn) {
    all(".rail .node.here, .outline a.here").forEach(function (link) { link.classList.remove("here"); link.removeAttribute("aria-current"); });
    all("[id]", turn).forEach(function (element) {
      if (element.closest(".agent")) return;
      linksTo(element.id).forEach(function (link) {
        link.classList.add("here");
        link.setAttribute("aria-current", "true");
        follow(link);
      });
    });
  }
  function follow(link) {
    var holder = link.closest(".rail, .outline");
    if (!holder || holder.matches(":hover")) return;
    var box = link.getBoundingClientRect(), frame = holder.getBoundingClientRect();
    if (box.top < frame.top + 40 || box.bottom > frame.bottom - 40) {
      holder.scrollTop += box.top - frame.top - frame.height / 3;
    }
  }

  /* The ways through a session. */
  function lineOf(id) { return document.getElementById("line-" + id); }
  function chain(id) {
    var found = [], line = lineOf(id);
    while (line && line.classList.contains("dag") && found.indexOf(line) < 0) { found.unshift(line); line = lineOf(line.dataset.above); }
    return found;
  }
  function show(id) {
    var way = chain(id);
    if (!way.length) return;
    all("main .past").forEach(function (element) { element.classList.remove("past"); });
    all("main > .dag").forEach(function (line) { line.hidden = way.indexOf(line) < 0; });
    shown = way;
    var before = 0;
    way.forEach(function (line) {
      main.appendChild(line);
      endLine(line);
      line.dataset.before = before;
      all(":scope > .turn:not(.past)", line).forEach(number);
      before = Array.from(line.children).reduce(function (most, turn) { return turn.matches(".past") ? most : Math.max(most, line.dataset.before * 1 + Number(turn.dataset.n || 0)); }, before);
    });
    all("main > .unplaced").forEach(function (rest) { main.appendChild(rest); });
    var select = one(".ways"); if (select) select.value = id;
    drawOutline(way);
    main.dataset.shown = id;
  }
  var shown = [];
  function number(turn) {
    // A branch goes on counting where it left.
    var sign = one(":scope > .head > .n", turn);
    if (sign) sign.textContent = Number(turn.parentElement.dataset.before || 0) + Number(turn.dataset.n);
  }
  function endLine(line) {
    // A way that leaves a line ends it: what follows there is another story.
    var next = shown[shown.indexOf(line) + 1];
    if (shown.indexOf(line) < 0 || !next) return;
    var fork = one('.fork[data-to="' + CSS.escape(next.dataset.line) + '"]', line);
    var last = fork || all(":scope > .part", line).find(function (part) { return JSON.parse(part.dataset.forks || "[]").indexOf(next.dataset.line) >= 0; });
    if (last && !fork) fill(last);
    for (var node = last; node && node !== line; node = node.parentElement) {
      for (var after = node.nextElementSibling; after; after = after.nextElementSibling) after.classList.add("past");
    }
  }
  function short(text, most) {
    var words = text.slice(0, 4 * most).trim().split(/\s+/).join(" ");
    if (words.length <= most) return words;
    return (words.slice(0, most).replace(/ \S*$/, "") || words.slice(0, most)) + " …";
  }
  function wordsOf(element) {
    return Array.from(element.children).map(function (part) { return part.textContent; }).join(" ") || element.textContent;
  }
  function drawOutline(way) {
    var list = one(".outline ol");
    if (!list) return;
    list.textContent = "";
    links = null;
    var add = function (id, words) {
      var row = made("li"), link = made("a");
      link.href = "#" + id;
      link.append(made("b", "", String(list.children.length + 1)), " ", short(words, 140) || "…");
      row.append(link); list.append(row);
    };
    way.forEach(function (line) {
      all(":scope > .turn:not(.past), :scope > .part:not(.past)", line).forEach(function (turn) {
        if (turn.matches(".part")) { promptsOf(turn).forEach(function (prompt) { add(prompt[0], prompt[1]); }); return; }
        var prompt = one(":scope > .prompt", turn);
        if (prompt && turn.dataset.n !== "0") add(prompt.id, wordsOf(one(".prose", prompt) || prompt));
      });
    });
    requestAnimationFrame(function () { if (here) markHere(here); });
  }
  function differs(fork) {
    var there = lineOf(fork.dataset.to), from = fork.closest(".dag");
    if (!there || !from) return;
    var ours = [];
    for (var next = fork.closest(".turn").nextElementSibling; next; next = next.nextElementSibling) if (next.matches(".turn")) ours.push(next);
    var box = made("dialog", "differs"), columns = made("div", "columns");
    [["This way", ours], ["The other way", all(":scope > .turn", there)]].forEach(function (side) {
      var column = made("div");
      column.append(made("h3", "", side[0] + ": " + side[1].length + (side[1].length === 1 ? " turn" : " turns")));
      var list = made("ol");
      side[1].slice(0, 12).forEach(function (turn) {
        var prompt = one(":scope > .prompt .prose", turn);
        list.append(made("li", "", prompt ? short(prompt.textContent, 200) : "…"));
      });
      var files = new Set(side[1].flatMap(function (turn) {
        return all(".call.ok", turn).filter(function (call) { return /^(Edit|Write|MultiEdit|NotebookEdit)$/.test((one(".line b", call) || {}).textContent || ""); })
          .map(function (call) { return one(".line .obj", call).textContent; });
      }));
      column.append(list, made("p", "about", files.size ? "Files changed: " + Array.from(files).slice(0, 12).join(", ") : "No file changed"));
      columns.append(column);
    });
    var close = made("button", "more", "Close");
    close.onclick = function () { box.close(); };
    box.append(columns, close);
    box.addEventListener("close", function () { box.remove(); });
    document.body.append(box);
    box.showModal();
  }
  function addDiffers(within) {
    all(".fork[data-to]", within).forEach(function (fork) {
      if (!lineOf(fork.dataset.to) || (fork.nextElementSibling && fork.nextElementSibling.matches(".differs"))) return;
      fork.after(made("button", "more differs", "What differs"));
    });
  }

  /* Going to a place: its way is chosen, what holds it is opened. */
  function reveal(element) {
    var line = element.closest(".dag");
    if (line && (line.hidden || element.closest(".past"))) show(line.dataset.line);
    for (var node = element; node; node = node.parentElement) if (node.tagName === "DETAILS" && node !== element) node.open = true;
    if (element.tagName === "DETAILS") element.open = true;
    unfilter(element);
    land(element);
    all(".target").forEach(function (old) { old.classList.remove("target"); });
    element.classList.add("target");
    setTimeout(function () { element.classList.remove("target"); }, 1600);
  }
  function land(element) {
    // What comes into view gets its true height only then: aim again until it stands still.
    var tries = 0, at = null;
    (function aim() {
      element.scrollIntoView({ block: "start", behavior: "instant" });
      var top = element.getBoundingClientRect().top;
      if (top !== at && ++tries < 8) { at = top; requestAnimationFrame(aim); }
      // Near the end of a page no turn can come up to the line: what was asked for is here.
      heldAt = scrollY;
    })();
    var turn = element.closest("main > .dag > .turn");
    if (turn) { here = turn; markHere(turn); }
  }
  function go(id) {
    if (!id || !main) return Promise.resolve();
    var line = id.indexOf("line-") === 0 && document.getElementById(id);
    if (line && line.classList.contains("dag")) {
      show(line.dataset.line);
      reveal(one(":scope > .turn:not(.past)", line) || line);
      return Promise.resolve();
    }
    var find = function () { var element = document.getElementById(id); if (element) reveal(element); return element; };
    if (find()) return Promise.resolve();
    return fillFor(id).then(function () { return find() || fillAll().then(find); }).then(function (found) { return found || nearest(id); });
  }
  function nearest(id) {
    // A record that has no entry of its own, such as a result: the entry before it in its file.
    return Promise.all(table.map(function (piece, number) { return loadedPiece(number); })).then(function (pieces) {
      var place = null;
      pieces.forEach(function (held, number) {
        held.forEach(function (line, at) { if (!place && line.includes('"uuid":"' + id + '"')) place = [table[number][0], at]; });
      });
      var best = null, bestLine = -1;
      if (place) all("main [data-l]:not(button)").forEach(function (element) {
        var parts = element.dataset.l.split(".").map(Number);
        if (parts[0] === place[0] && parts[1] <= place[1] && parts[1] > bestLine) { best = element; bestLine = parts[1]; }
      });
      if (best) reveal(best);
    });
  }
  function hashId() { try { return decodeURIComponent(location.hash.slice(1)); } catch (error) { return location.hash.slice(1); } }
  function leaveFor(id) {
    history.replaceState({ way: main.dataset.shown, top: scrollY }, "");
    history.pushState(null, "", "#" + encodeURIComponent(id).replace(/%23/g, "#").replace(/%40/g, "@"));
    return go(id);
  }
  function comeBack(event) {
    var state = event.state;
    if (!state || !state.way) { go(hashId()); return; }
    if (state.way !== main.dataset.shown) show(state.way);
    scrollTo({ top: state.top, behavior: "instant" });
    requestAnimationFrame(function () { scrollTo({ top: state.top, behavior: "instant" }); });
  }

  /* Finding, over everything that is folded or cut. */
  var hits = [], hit = -1, asked = 0, sought = "";
  var findable = ".prompt, .say, .think, .call, .note, .row, .event, .landmark, .printed, .agent, .fork";
  function search(words) {
    var number = ++asked, wanted = words.toLowerCase();
    hits = []; hit = -1; sought = wanted;
    clearMarks();
    if (!words) { tellFound(""); return Promise.resolve(); }
    tellFound("…");
    return fillAll().then(function () { return Promise.all(all("button.more[data-p]", main).map(function (button) {
      if (button.whole === undefined) button.whole = fullText(button).then(function (text) { return clean(text || "").toLowerCase(); }, function () { return ""; });
      return button.whole.then(function (text) { button.text = text; });
    })); }).then(function () {
      if (number !== asked) return;
      var texts = textsWithin(main);
      hits = all(findable, main).filter(function (element) { return (texts.get(element) || "").includes(wanted); });
      tellFound(hits.length ? "" : "Nothing found");
      if (hits.length) return nextHit(1);
    }).catch(function (error) { tellFound(error.message); });
  }
  function textsWithin(holder) {
    // The words of each entry without those of the entries inside it.
    var texts = new Map(), walker = document.createTreeWalker(holder, NodeFilter.SHOW_TEXT);
    var add = function (element, text) { if (element) texts.set(element, (texts.get(element) || "") + text); };
    for (var node = walker.nextNode(); node; node = walker.nextNode()) add(node.parentElement.closest(findable), node.data.toLowerCase());
    all("button.more[data-p]", holder).forEach(function (button) { add(button.closest(findable), "\n" + (button.text || "")); });
    return texts;
  }
  function nextHit(step) {
    if (!hits.length) return;
    hit = (hit + step + hits.length) % hits.length;
    var element = hits[hit], wanted = sought;
    var cut = all("button.more[data-p]", element).filter(function (button) {
      return button.closest(findable) === element && (button.text || "").includes(wanted) && !ownBlock(button).includes(wanted);
    });
    return Promise.all(cut.map(showAll)).then(function () { reveal(element); markWords(element, wanted); tellFound(hit + 1 + " of " + hits.length); });
  }
  function ownBlock(button) { var before = button.previousElementSibling; return before ? before.textContent.toLowerCase() : ""; }
  function clearMarks() { if (window.CSS && CSS.highlights) CSS.highlights.delete("found"); }
  function markWords(element, wanted) {
    clearMarks();
    if (!(window.CSS && CSS.highlights && window.Highlight)) return;
    var ranges = [], walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (var node = walker.nextNode(); node && ranges.length < 500; node = walker.nextNode()) {
      var text = node.data.toLowerCase();
      for (var at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
        var range = new Range(); range.setStart(node, at); range.setEnd(node, at + wanted.length); ranges.push(range);
      }
    }
    CSS.highlights.set("found", new Highlight(...ranges));
    var box = ranges.length && ranges[0].getBoundingClientRect();
    if (box && (box.bottom > innerHeight || box.top < 64)) scrollBy({ top: box.top - innerHeight / 3, behavior: "instant" });
  }
  function tellFound(words) {
    var box = one(".found");
    if (!words) { if (box) box.remove(); return; }
    if (!box) { box = made("div", "found"); box.setAttribute("role", "status"); document.body.append(box); }
    box.textContent = words;
  }

  /* Filters, help, keys. */
  var filters = [["answers", "Answers"], ["thinking", "Thinking"], ["tools", "Tools"], ["agents", "Agents"], ["notes", "Notes"]];
  var kinds = { answers: ".say", thinking: ".think", tools: ".call, .group", agents: ".agent", notes: ".note, .notes" };
  function unfilter(element) {
    Object.keys(kinds).forEach(function (kind) { if (element.closest(kinds[kind])) document.body.classList.remove("no-" + kind); });
  }
  function toggleFilter() {
    var old = one(".menu");
    if (old) { old.remove(); return; }
    var menu = made("div", "menu");
    menu.setAttribute("role", "group");
    menu.setAttribute("aria-label", "Show");
    filters.forEach(function (pair) {
      var label = made("label"), box = made("input");
      box.type = "checkbox"; box.checked = !document.body.classList.contains("no-" + pair[0]);
      box.dataset.kind = pair[0];
      box.onchange = function () { document.body.classList.toggle("no-" + pair[0], !box.checked); };
      label.append(box, " " + pair[1]); menu.append(label);
    });
    document.body.append(menu);
    one("input", menu).focus();
  }
  var keys = [["j / k", "next, previous prompt"], ["[ / ]", "previous, next branch"], ["/", "find"], ["n / N", "next, previous place"],
    ["f", "filter by kind"], ["e", "open or close everything in this turn"], ["o", "prompts"], ["g", "graph"], ["t", "light or dark"], ["?", "this help"]];
  function help() {
    var box = made("dialog", "keys"), list = made("dl");
    keys.forEach(function (pair) { list.append(made("dt", "", pair[0]), made("dd", "", pair[1])); });
    var close = made("button", "more", "Close");
    close.onclick = function () { box.close(); };
    box.append(list, close);
    box.addEventListener("close", function () { box.remove(); });
    document.body.append(box);
    box.showModal();
  }
  function panel(name) {
    var narrow = matchMedia("(max-width: 900px)").matches;
    document.body.classList.toggle((narrow ? "show-" : "hide-") + name);
  }
  function turns() { return all("main > .dag:not([hidden]) > .turn:not(.past)").filter(function (turn) { return one(":scope > .prompt", turn); }); }
  function step(by) {
    var found = turns(), top = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 72, at = -1;
    found.forEach(function (turn, place) { if (turn.getBoundingClientRect().top < top + 4) at = place; });
    if (by < 0 && at >= 0 && found[at].getBoundingClientRect().top < top - 24) by = 0;
    var next = found[Math.max(0, Math.min(found.length - 1, at + by))];
    if (next) land(next);
  }
  function stepWay(by) {
    var select = one(".ways");
    if (!select) return;
    select.selectedIndex = (select.selectedIndex + by + select.options.length) % select.options.length;
    goWay(select.value);
  }
  function goWay(id) {
    history.replaceState({ way: main.dataset.shown, top: scrollY }, "");
    show(id);
    history.pushState({ way: id, top: scrollY }, "", "#line-" + id);
    var line = lineOf(id);
    land(one(":scope > .from", line) || line);
  }
  function openAll() {
    var turn = here || turns()[0];
    if (!turn) return;
    var found = all("details", turn), isOpen = found.some(function (one) { return !one.open; });
    found.forEach(function (one) { one.open = isOpen; });
  }
  var actions = { filter: toggleFilter, help: help, theme: otherTheme, outline: function () { panel("outline"); }, rail: function () { panel("rail"); } };
  var pressed = {
    j: function () { step(1); }, k: function () { step(-1); }, "]": function () { stepWay(1); }, "[": function () { stepWay(-1); },
    "/": function () { var box = one("#find"); if (box) box.focus(); }, n: function () { nextHit(1); }, N: function () { nextHit(-1); },
    f: toggleFilter, e: openAll, o: actions.outline, g: actions.rail, t: otherTheme, "?": help
  };
  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      var menu = one(".menu"); if (menu) menu.remove();
      document.body.classList.remove("show-outline", "show-rail");
      tellFound(""); clearMarks();
    }
    if (event.target.matches && event.target.matches('input[type="search"], textarea, select')) {
      if (event.key === "Escape") { event.preventDefault(); event.target.blur(); }
      if (event.key === "Enter" && event.target.id === "find" && hits.length) { event.preventDefault(); nextHit(event.shiftKey ? -1 : 1); }
      return;
    }
    if (one("dialog[open]")) return;
    var action = pressed[event.key];
    if (action && (main || /^[t?/]$/.test(event.key))) { event.preventDefault(); action(); }
  });
  document.addEventListener("click", function (event) {
    var target = event.target, button = target.closest("button");
    var fork = target.closest(".fork");
    if (button && button.classList.contains("differs")) { event.preventDefault(); differs(button.previousElementSibling); return; }
    if (fork && lineOf(fork.dataset.to)) { event.preventDefault(); leaveFor("line-" + fork.dataset.to); return; }
    if (button) {
      if (button.classList.contains("rawbtn")) { event.preventDefault(); showRaw(button); }
      else if (button.classList.contains("more") && button.dataset.p) showAll(button);
      else if (button.classList.contains("enclosed")) showEnclosed(button);
      else if (button.dataset.copy) copy(button.dataset.copy, button);
      else if (actions[button.dataset.do]) actions[button.dataset.do]();
      return;
    }
    var link = target.closest('a[href^="#"]');
    if (link && main) {
      event.preventDefault();
      var id = link.getAttribute("href").slice(1);
      document.body.classList.remove("show-outline", "show-rail");
      leaveFor(id);
    } else if (!target.closest(".menu, .outline, .rail")) {
      var open = one(".menu"); if (open) open.remove();
      document.body.classList.remove("show-outline", "show-rail");
    }
  });
  addEventListener("popstate", comeBack);

  /* Code is coloured when it comes near, with a script that is loaded then. */
  var painter = null;
  function withPainter() {
    if (window.hljs) return Promise.resolve(window.hljs);
    if (!painter) painter = new Promise(function (resolve, reject) {
      var script = document.createElement("script");
      script.src = root + "assets/highlight.js";
      script.onload = function () { resolve(window.hljs); };
      script.onerror = reject;
      document.head.appendChild(script);
    });
    return painter;
  }
  var painting = "IntersectionObserver" in window ? new IntersectionObserver(function (found) {
    found.forEach(function (entry) {
      if (!entry.isIntersecting) return;
      painting.unobserve(entry.target);
      withPainter().then(function (hljs) {
        var language = (/language-([\w+#-]+)/.exec(entry.target.className) || [])[1];
        if (!hljs || !language || !hljs.getLanguage(language) || entry.target.textContent.length > 50000) return;
        entry.target.innerHTML = hljs.highlight(entry.target.textContent, { language: language, ignoreIllegals: true }).value;
      }, function () { /* plain code is fine */ });
    });
  }, { rootMargin: "400px 0px" }) : null;

  function prepare(within) {
    tellTimes(within);
    addDiffers(within);
    if (painting) all('code[class*="language-"]', within).forEach(function (code) { painting.observe(code); });
  }
  prepare(document);
  if (main) {
    var select = one(".ways");
    if (select) select.onchange = function () { goWay(select.value); };
    var header = one(".top");
    var measure = function () { document.documentElement.style.setProperty("--top", header.offsetHeight + "px"); };
    if (window.ResizeObserver) new ResizeObserver(measure).observe(header);
    measure();
    history.scrollRestoration = "manual";
    show(main.dataset.main);
    watchTurns();
    var box = one("#find"), timer = 0;
    if (box) box.oninput = function () { clearTimeout(timer); timer = setTimeout(function () { search(box.value.trim()); }, 250); };
    if (history.state && history.state.way) comeBack({ state: history.state });
    else if (location.hash) go(hashId());
    addEventListener("pagehide", function () { history.replaceState({ way: main.dataset.shown, top: scrollY }, ""); });
  }

  /* The index: titles and prompts, found as one types. */
  var list = one(".site");
  if (list) {
    var field = one("#find"), entries = null, typing = 0;
    var filter = function () {
      var wanted = field.value.trim().toLowerCase();
      (entries ? Promise.resolve(entries) : (one("script.index") ? Promise.resolve(JSON.parse(one("script.index").textContent)) : fetched("index", root + "assets/index.js"))).then(function (found) {
        entries = found;
        var shown = 0;
        all("li[data-session]", list).forEach(function (row) {
          var prompts = entries[row.dataset.session] || [];
          var inTitle = one(".title", row).textContent.toLowerCase().includes(wanted);
          var prompt = wanted && prompts.find(function (text) { return text.toLowerCase().includes(wanted); });
          var isHit = !wanted || inTitle || prompt;
          row.hidden = !isHit;
          shown += isHit ? 1 : 0;
          var old = one(":scope > .entry > .hit", row); if (old) old.remove();
          if (wanted && prompt) {
            var at = prompt.toLowerCase().indexOf(wanted), line = made("span", "hit");
            line.append(prompt.slice(Math.max(0, at - 60), at), made("mark", "", prompt.slice(at, at + wanted.length)), prompt.slice(at + wanted.length, at + wanted.length + 100));
            one(":scope > .entry", row).append(line);
          }
        });
        all("section.project", list).forEach(function (section) { section.hidden = !one("li[data-session]:not([hidden])", section); });
        var empty = one(".empty.none"); if (empty) empty.hidden = shown > 0;
      });
    };
    field.oninput = function () { clearTimeout(typing); typing = setTimeout(filter, 120); };
    if (field.value) filter();
  }
})();
