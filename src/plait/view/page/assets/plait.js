/* The page of a session and the index of a site. A classic script: pages on a disk load no other. */
(function () {
  "use strict";
  var root = document.body.dataset.root || "";
  var main = document.querySelector("main[data-session]");
  var served = main ? main.dataset.served || "" : "";  // where the server answers; nothing on a disk
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
    keys: [], listen: listen,
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

  function asked(path) {
    return fetch(served + path, { headers: { Accept: "application/json" } }).then(function (answer) {
      if (answer.ok) return answer.json();
      var error = new Error(answer.status === 404 ? "This is no longer in the session." : "The server could not answer (" + answer.status + ").");
      error.status = answer.status;
      throw error;
    });
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
    if (served) return fetch(served + "/line/" + place).then(function (answer) {
      if (!answer.ok) throw new Error("line " + place.split(".")[1] + " is no longer in the log");
      return answer.text();
    });
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
    if (!table.length && !served) return;
    all("[data-l]:not(button)", within).forEach(function (element) {
      if (element.classList.contains("again") || (element.parentElement && element.parentElement.closest("details:not([open])"))) return;
      if (one(":scope > .rawbtn, :scope > .line > .rawbtn", element)) return;
      var line = one(":scope > .line", element), isSummary = line && line.tagName === "SUMMARY";
      // A summary is a button itself and holds no other: there the drawing is for the mouse, and what it unfolds has buttons.
      var button = made(isSummary ? "span" : "button", "rawbtn");
      if (isSummary) button.setAttribute("aria-hidden", "true"); else button.setAttribute("aria-label", "Raw JSON");
      button.title = "The line of the log";
      button.append(made("i", "i i-raw"));
      var put = line || element.matches(".event, .landmark") ? "appendChild" : "prepend";
      if (served && element.id) {
        var link = made(isSummary ? "span" : "button", "rawbtn linkbtn");
        link.title = "Copy a link to this place";
        if (isSummary) link.setAttribute("aria-hidden", "true"); else link.setAttribute("aria-label", "Copy link");
        link.append(made("i", "i i-link"));
        if (put === "prepend") { element.prepend(button, link); return; }
        (line || element).append(link);
      }
      (line || element)[put](button);
    });
  }
  function addTools(details) {
    if (one(":scope > .tools", details) || (!table.length && !served)) return;
    var tools = made("p", "tools");
    tools.append(made("button", "tool-raw", "Raw JSON"));
    if (served && details.id) tools.append(made("button", "tool-link", "Copy link"));
    details.append(tools);
  }
  function linkTo(id) { return location.origin + location.pathname + "#" + hashOf(id); }
  function hashOf(id) { return encodeURIComponent(id).replace(/%23/g, "#").replace(/%40/g, "@"); }
  function copyLink(id, button) {
    history.replaceState(stateNow(), "", "#" + hashOf(id));
    copy(linkTo(id), button);
    toast("Link copied");
  }
  function toast(words) {
    tellFound(words);
    clearTimeout(toast.timer);
    toast.timer = setTimeout(function () { var box = one(".found"); if (box && box.textContent === words) tellFound(""); }, 1600);
  }

  /* Turns that come as they are read. */
  function fill(part) {
    if (part.dataset.loading) return part.loaded;
    part.dataset.loading = "1";
    var number = part.dataset.part, inside = one('template.parts[data-n="' + number + '"]');
    var turns = served ? asked("/part/" + number)
      : inside ? Promise.resolve(Array.from(inside.content.children))
      : fetched("part " + number, main.dataset.session + ".lines/part-" + number + ".js");
    part.loaded = turns.then(function (found) { return inSlices(part, found); }).then(function () {
      var line = part.parentElement, next = shown[shown.indexOf(line) + 1];
      part.remove();
      if (line.matches(".dag") && next && JSON.parse(part.dataset.forks).indexOf(next.dataset.line) >= 0) { endLine(line); drawOutline(shown); }
    });
    part.loaded.catch(function (error) { notFilled(part, error); });
    return part.loaded;
  }
  function notFilled(part, error) {
    var again = made("button", "more", error.message + " Try again");
    again.onclick = function () { again.remove(); delete part.dataset.loading; fill(part); };
    part.append(again);
  }
  function inSlices(part, turns) {
    // A few milliseconds at a time, so that scrolling stays smooth.
    var at = 0, box = made("template");
    return new Promise(function (resolve) {
      (function slice() {
        var until = performance.now() + 6;
        while (at < turns.length && performance.now() < until) {
          var given = turns[at++], these = [];
          if (typeof given === "string") { box.innerHTML = given; these = Array.from(box.content.children); } else these = [given.cloneNode(true)];
          these.forEach(function (turn) {
            if (part.classList.contains("past")) turn.classList.add("past");
            if (served) remember(turn);
            prepare(turn);
            part.before(turn);
            if (turn.matches("main > .dag > .turn")) { number(turn); watchTurn(turn); } else addRawButtons(turn);
          });
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
    if (box.dataset.l) addTools(box);
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
      if (served) before = Number(line.dataset.before); else line.dataset.before = before;
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
    for (var next = fork.closest(".turn").nextElementSibling; next; next = next.nextElementSibling) if (next.matches(".turn:not(.on)")) ours.push(next);
    var box = made("dialog", "differs"), columns = made("div", "columns");
    [["This way", ours], ["The other way", all(":scope > .turn:not(.on)", there)]].forEach(function (side) {
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
      if (served) {
        var link = made("a", "more differs", "Compare"), dag = fork.closest(".dag");
        link.href = served + "/compare?a=" + encodeURIComponent(dag ? dag.dataset.line : main.dataset.main) + "&b=" + encodeURIComponent(fork.dataset.to);
        fork.after(link);
        return;
      }
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
  var holding = 0;
  function hold(distance, isEnd) {
    // What comes into view gets its true height only then, and what is near is fetched: aim again
    // until it stands still, or until the reader moves.
    var mine = ++holding, until = performance.now() + 1500, still = 0;
    (function aim() {
      if (mine !== holding || performance.now() > until || still > 20) return;
      var by = distance(), before = scrollY;
      if (isEnd ? by > 1 : Math.abs(by) > 1) scrollBy({ top: by, behavior: "instant" });
      heldAt = scrollY;
      still = scrollY === before ? still + 1 : 0;
      requestAnimationFrame(aim);
    })();
  }
  ["wheel", "touchstart", "mousedown", "keydown"].forEach(function (kind) { addEventListener(kind, function () { holding++; }, { passive: true, capture: true }); });
  function land(element) {
    element.scrollIntoView({ block: "start", behavior: "instant" });
    // Near the end of a page no turn can come up to the line: what was asked for is here.
    heldAt = scrollY;
    var top = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 64;
    hold(function () { return element.isConnected ? element.getBoundingClientRect().top - top : 0; });
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
    if (served) {
      var wanted = id.indexOf("line-") === 0 ? null : asked("/where?id=" + encodeURIComponent(id)).then(goSpot);
      return wanted ? wanted.catch(function (error) { tellFound(error.message); }) : Promise.resolve();
    }
    return fillFor(id).then(function () { return find() || fillAll().then(find); }).then(function (found) { return found || nearest(id); });
  }
  function goSpot(spot, words) {
    // From the outside in: the line, the part that holds the turn, the agent in it, and so on.
    if (!spot) { tellFound("This place is not in the session."); return Promise.resolve(null); }
    if (!shown.some(function (line) { return line.dataset.line === spot.line; })) show(spot.line);
    var steps = spot.way.slice();
    return (function next() {
      if (!steps.length) return Promise.resolve(entryAt(spot, words));
      var step = steps.shift();
      var part = all('main .part[data-of="' + step[0] + '"]').find(function (part) {
        return Number(part.dataset.first) <= step[1] && step[1] < Number(part.dataset.last);
      });
      return (part ? fill(part) : Promise.resolve()).then(next);
    })().then(function (element) { if (element) reveal(element); return element; });
  }
  function entryAt(spot, words) {
    var found = spot.at.flatMap(function (at) { return all('main [data-l="' + at + '"]:not(button)'); });
    var holds = words && found.find(function (element) { return element.textContent.toLowerCase().includes(words) || one("button.more", element); });
    return holds || found[0] || null;
  }
  function goTurn(wanted, id) {
    // A turn by its number as it is read; with the name of a line, by its number on that line.
    var line = id ? lineOf(id) : null;
    if (line && line.matches(".dag")) show(id); else line = null;
    var holder = (line ? [line] : shown.slice().reverse()).map(function (dag) {
      var n = line ? wanted : wanted - Number(dag.dataset.before || 0);
      return n > 0 && all(":scope > .turn:not(.past):not(.on), :scope > .part:not(.past)", dag).find(function (held) {
        return held.matches(".part") ? Number(held.dataset.from) <= n && n <= Number(held.dataset.to) : Number(held.dataset.n) === n;
      });
    }).find(Boolean);
    if (!holder) { tellFound("There is no turn " + wanted + " here."); return Promise.resolve(); }
    if (holder.matches(".turn")) { reveal(one(":scope > .prompt", holder) || holder); return Promise.resolve(); }
    return fill(holder).then(function () { return goTurn(wanted, id); });
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
    history.replaceState(stateNow(), "");
    history.pushState(null, "", "#" + hashOf(id));
    return go(id);
  }
  function comeBack(event) {
    var state = event.state;
    holding++;
    if (!state || !state.way) { go(hashId()); return; }
    if (state.way !== main.dataset.shown) show(state.way);
    scrollTo({ top: state.top, behavior: "instant" });
    if (served && state.id) { putAt(state); return; }
    requestAnimationFrame(function () { scrollTo({ top: state.top, behavior: "instant" }); });
  }

  /* Finding, over everything that is folded or cut. */
  var hits = [], hit = -1, query = 0, sought = "", total = 0;
  var findable = ".prompt, .say, .think, .call, .note, .row, .event, .landmark, .printed, .agent, .fork";
  function search(words) {
    var number = ++query, wanted = words.toLowerCase();
    hits = []; hit = -1; sought = wanted;
    clearMarks();
    if (!words) { tellFound(""); return Promise.resolve(); }
    tellFound("…");
    if (served) return searchAll(words, number);
    return fillAll().then(function () { return Promise.all(all("button.more[data-p]", main).map(function (button) {
      if (button.whole === undefined) button.whole = fullText(button).then(function (text) { return clean(text || "").toLowerCase(); }, function () { return ""; });
      return button.whole.then(function (text) { button.text = text; });
    })); }).then(function () {
      if (number !== query) return;
      var texts = textsWithin(main);
      hits = all(findable, main).filter(function (element) { return (texts.get(element) || "").includes(wanted); });
      tellFound(hits.length ? "" : "Nothing found");
      if (hits.length) return nextHit(1);
    }).catch(function (error) { tellFound(error.message); });
  }
  function searchAll(words, number) {
    // The server looks through all of it; what a hit stands in is fetched when one goes there.
    return asked("/find?q=" + encodeURIComponent(words)).then(function (found) {
      if (number !== query) return;
      hits = found.hits; total = found.total;
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
    var wanted = sought, number = hit;
    if (!(hits[hit] instanceof Element)) return goSpot(hits[hit], wanted).then(function (element) {
      if (number !== hit || !element) return;
      return fullTexts(element).then(function () { return shownHit(element, wanted); });
    });
    return shownHit(hits[hit], wanted);
  }
  function fullTexts(element) {
    return Promise.all(all("button.more[data-p]", element).map(function (button) {
      return fullText(button).then(function (text) { button.text = clean(text || "").toLowerCase(); }, function () { button.text = ""; });
    }));
  }
  function shownHit(element, wanted) {
    var cut = all("button.more[data-p]", element).filter(function (button) {
      return button.closest(findable) === element && (button.text || "").includes(wanted) && !ownBlock(button).includes(wanted);
    });
    return Promise.all(cut.map(showAll)).then(function () { reveal(element); markWords(element, wanted); tellFound(hit + 1 + " of " + (total > hits.length ? total.toLocaleString() : hits.length)); });
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
  function markAsked(words) {
    // The words that somebody searched for, where they stand here: marked, the first in view.
    var parts = words.toLowerCase().match(/[\p{L}\p{N}_]+/gu) || [];
    var target = one(".target") || here;
    if (!parts.length || !target) return;
    var pick = function (text) { return text.includes(words.toLowerCase()) ? words.toLowerCase() : parts.find(function (part) { return text.includes(part); }); };
    var word = pick(target.textContent.toLowerCase());
    if (word) markWords(target, word);
    else fullTexts(target).then(function () {
      // They stand in what was cut.
      var cut = all("button.more[data-p]", target).find(function (button) { return pick(button.text || ""); });
      if (cut) { word = pick(cut.text); showAll(cut).then(function () { markWords(target, word); }); }
    });
    if (one("#find")) one("#find").value = words;
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
  if (served) keys.splice(8, 0, ["c", "compare two branches"], ["x", "export and share"], ["G", "to the end, and follow it"]);
  function help() {
    var box = made("dialog", "keys"), list = made("dl");
    keys.concat(window.plait.keys).forEach(function (pair) { list.append(made("dt", "", pair[0]), made("dd", "", pair[1])); });
    var close = made("button", "more", "Close");
    close.onclick = function () { box.close(); };
    box.append(list, close);
    box.addEventListener("close", function () { box.remove(); });
    document.body.append(box);
    box.showModal();
  }
  function panel(name) {
    var narrow = matchMedia("(max-width: 900px)").matches || (served && name === "outline");
    document.body.classList.toggle((narrow ? "show-" : "hide-") + name);
    if (here) markHere(here);
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
    history.replaceState(stateNow(), "");
    show(id);
    history.pushState({ way: id, top: scrollY }, "", "#line-" + id);
    var line = lineOf(id);
    land(one(":scope > .from", line) || line);
  }
  function openAll() {
    var turn = here || turns()[0];
    if (!turn) return;
    var found = [turn], next = turn.nextElementSibling;
    while (next && next.matches(".turn.on")) { found.push(next); next = next.nextElementSibling; }
    found = found.flatMap(function (part) { return all("details", part); });
    var isOpen = found.some(function (one) { return !one.open; });
    found.forEach(function (one) { one.open = isOpen; });
  }
  function share() { var box = one("dialog.exporting"); if (box && !box.open) { box.returnValue = ""; box.showModal(); } }
  function flip() { main.classList.toggle("show-one"); main.classList.toggle("show-two"); }
  function exported(form, button) {
    // Fetched rather than followed: the page stays, and says what was replaced.
    var told = one(".told", form), data = new URLSearchParams(new FormData(form));
    if (button.value === "no" && !button.classList.contains("sure")) {
      button.classList.add("sure"); button.dataset.words = button.textContent; button.textContent = button.dataset.sure;
      return;
    }
    data.set("redact", button.value);
    if (button.value === "no") data.set("sure", "yes");
    button.disabled = true;
    told.textContent = "Making the file …";
    fetch(form.action, { method: "POST", body: data }).then(function (answer) {
      if (!answer.ok) throw new Error("The file could not be made (" + answer.status + ").");
      var name = (/filename="([^"]+)"/.exec(answer.headers.get("content-disposition") || "") || [])[1] || "session";
      var kinds = JSON.parse(answer.headers.get("plait-redacted") || "null");
      return answer.blob().then(function (blob) { save(blob, name); told.textContent = name + ", " + sizeOf(blob.size) + ". " + replaced(kinds); });
    }).catch(function (error) { told.textContent = error.message; }).then(function () {
      button.disabled = false;
      if (button.dataset.words) { button.classList.remove("sure"); button.textContent = button.dataset.words; }
    });
  }
  function save(blob, name) {
    var link = made("a"), address = URL.createObjectURL(blob);
    link.href = address; link.download = name; link.click();
    setTimeout(function () { URL.revokeObjectURL(address); }, 60000);
  }
  function sizeOf(bytes) { return bytes < 1e6 ? Math.max(1, Math.round(bytes / 1e3)) + " kB" : (bytes / 1e6).toFixed(1) + " MB"; }
  function replaced(kinds) {
    if (!kinds) return "Nothing was replaced.";
    var names = Object.keys(kinds);
    var count = names.reduce(function (sum, name) { return sum + kinds[name]; }, 0);
    return count ? count.toLocaleString() + " values replaced: " + names.map(function (name) { return name + " " + kinds[name]; }).join(", ") + "." : "Nothing in it had to be replaced.";
  }
  document.addEventListener("submit", function (event) {
    var form = event.target;
    if (!form.closest("dialog.exporting")) return;
    event.preventDefault();
    exported(form, event.submitter || one("button.main", form));
  });
  function compare() { var link = one(".comparing"); if (link) location.href = link.href; }
  function toEnd() {
    if (!main) return;
    show(main.dataset.main);
    var last = lastTurn();
    var part = last && last.matches(".part") ? fill(last) : Promise.resolve();
    part.then(function () { var turn = lastTurn(); if (turn) showBottom(turn); });
  }
  var actions = { filter: toggleFilter, help: help, theme: otherTheme, share: share, flip: flip, close: function () { var box = one("dialog[open]"); if (box) box.close(); }, outline: function () { panel("outline"); }, rail: function () { panel("rail"); } };
  var pressed = {
    j: function () { step(1); }, k: function () { step(-1); }, "]": function () { stepWay(1); }, "[": function () { stepWay(-1); },
    "/": function () { var box = one("#find"); if (box) box.focus(); }, n: function () { nextHit(1); }, N: function () { nextHit(-1); },
    c: compare, x: share, G: function () { if (served) toEnd(); },
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
    var target = event.target, button = target.closest("button, span.rawbtn");
    var fork = target.closest(".fork");
    if (button && button.classList.contains("differs")) { event.preventDefault(); differs(button.previousElementSibling); return; }
    if (fork && lineOf(fork.dataset.to)) { event.preventDefault(); leaveFor("line-" + fork.dataset.to); return; }
    if (button) {
      if (button.matches(".linkbtn, .tool-link")) { event.preventDefault(); copyLink(button.closest("[id]").id, button); }
      else if (button.matches(".rawbtn, .tool-raw")) { event.preventDefault(); showRaw(button); }
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
      if (served && link.matches(".n")) { copyLink(id, link); return; }
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

  /* What is being written: one stream of events a page, none while nobody looks at it. */
  var stream = null, listeners = {}, isLate = false;
  function listen(kind, hear) {
    (listeners[kind] = listeners[kind] || []).push(hear);
    if (stream) hearFrom(stream, kind); else connect();
  }
  function hearFrom(source, kind) {
    source.addEventListener(kind, function (event) {
      var told = {};
      try { told = JSON.parse(event.data); } catch (error) { /* nothing to tell */ }
      (listeners[kind] || []).forEach(function (hear) { hear(told); });
    });
  }
  function connect() {
    if (stream || document.hidden || !Object.keys(listeners).length || !window.EventSource) return;
    stream = new EventSource("/events" + (main ? "?session=" + encodeURIComponent(main.dataset.session) : ""));
    Object.keys(listeners).forEach(function (kind) { if (kind !== "again") hearFrom(stream, kind); });
    stream.onopen = function () {
      clearTimeout(stream.lost);
      notice("");
      if (isLate) (listeners.again || []).forEach(function (hear) { hear({}); });
      isLate = true;
    };
    stream.onerror = function () {
      var source = stream;
      if (!source) return;
      clearTimeout(source.lost);
      source.lost = setTimeout(function () {
        if (main) notice("Plait does not answer. What is loaded stays here; start it again with plait serve.");
        if (source.readyState === 2 && source === stream) { stream = null; connect(); }
      }, 5000);
    };
  }
  function disconnect() { if (stream) { clearTimeout(stream.lost); stream.close(); stream = null; } }
  document.addEventListener("visibilitychange", function () { if (document.hidden) disconnect(); else connect(); });
  addEventListener("pagehide", disconnect);
  addEventListener("pageshow", function (event) { if (event.persisted) connect(); });
  function notice(words) {
    var box = one(".notice");
    if (!words) { if (box) box.remove(); return; }
    if (!box) { box = made("div", "notice"); box.setAttribute("role", "status"); (one(".top") || document.body).after(box); }
    box.textContent = words;
  }

  var isAsking = false, isWanted = "", rest = 0;
  function catchUp(whole) {
    if (isAsking) { isWanted = whole ? "whole" : isWanted || "end"; return; }
    isAsking = true;
    var line = lineOf(main.dataset.main);
    var known = line ? line.dataset.turns : 0;
    asked("/since?turns=" + known + "&mark=" + encodeURIComponent(main.dataset.mark) + (whole ? "&whole=1" : "")).then(take, function () { /* the stream says when the server is back */ }).then(function () {
      isAsking = false;
      var next = isWanted;
      isWanted = "";
      if (next) catchUp(next === "whole");
    });
  }
  function take(news) {
    clearTimeout(rest);
    if (news.is_gone) { notice("This session is no longer there. What is loaded can still be read."); return; }
    notice("");
    if (news.wait) rest = setTimeout(function () { catchUp(true); }, news.wait);
    if (news.is_redrawn) return redraw();
    main.dataset.mark = news.mark;
    if (news.facts !== undefined) one(".top .facts").innerHTML = news.facts;
    if (news.title !== undefined) { var title = one(".top h1"); title.textContent = title.title = news.title; }
    if (news.rail !== undefined) { one(".rail").innerHTML = news.rail; links = null; if (here) markHere(here); }
    return news.turns && news.turns.length ? putNew(news) : null;
  }
  function putNew(news) {
    var line = lineOf(main.dataset.main), known = Number(line.dataset.turns);
    var part = all(":scope > .part", line).pop();
    if (part && Number(part.dataset.last) >= known) {
      if (part.dataset.loading) return part.loaded.then(function () { return putNew(news); });
      lengthen(part, news, known);
    } else placeTurns(line, news, known);
    line.dataset.turns = news.count;
    if (news.count !== known) drawOutline(shown);
  }
  function lengthen(part, news, known) {
    // Nobody has come so far: what is fetched when somebody does is longer.
    var prompts = promptsOf(part), given = news.prompts || [];
    if (prompts.length && given.length && prompts[prompts.length - 1][0] === given[0][0]) prompts.pop();
    part.dataset.last = news.count;
    part.dataset.part = part.dataset.of + "." + part.dataset.first + "-" + news.count;
    part.dataset.turns = news.count - Number(part.dataset.first);
    part.dataset.to = Number(part.dataset.to) + news.count - known;
    part.dataset.prompts = JSON.stringify(prompts.concat(given));
    part.style.minHeight = 600 * Number(part.dataset.turns) + "px";
    tellNew(news.count - known, null);
  }
  function placeTurns(line, news, known) {
    var box = made("template"), isFollowing = isAtEnd(line);
    box.innerHTML = news.turns.join("");
    var given = Array.from(box.content.children), n = given.length ? Number(given[0].dataset.n) : 0;
    var old = all(":scope > .turn", line).filter(function (turn) { return Number(turn.dataset.n) >= n; });
    var first = null;
    given.forEach(function (turn, place) {
      var before = old[place];
      if (before && before.dataset.n === turn.dataset.n) { merge(before, turn); return; }
      if (before) before.remove();
      remember(turn);
      prepare(turn);
      line.append(turn);
      number(turn);
      watchTurn(turn);
      first = first || (turn.matches(".on") ? null : turn);
    });
    old.slice(given.length).forEach(function (turn) { turn.remove(); });
    if (isFollowing) showBottom(lastTurn()); else tellNew(news.count - known, first);
  }
  function remember(turn) { turn.drawn = Array.from(turn.children).map(function (child) { return child.outerHTML; }); }
  function merge(turn, next) {
    // What is the same stays as it is: opened, coloured, selected.
    var drawn = turn.drawn || [], parts = Array.from(next.children), kept = Array.from(turn.children);
    turn.drawn = parts.map(function (child) { return child.outerHTML; });
    parts.forEach(function (child, place) {
      var old = kept[place];
      if (old && drawn[place] === turn.drawn[place]) return;
      if (old) { keepOpen(old, child); old.replaceWith(child); } else turn.append(child);
      prepare(child);
    });
    kept.slice(parts.length).forEach(function (child) { child.remove(); });
    number(turn);
    addRawButtons(turn);
  }
  function keepOpen(old, next) {
    if (old.matches("details[open]") && next.matches("details") && (old.id === next.id || !old.id)) next.open = true;
    all("details[open][id]", old).forEach(function (box) { var same = one("#" + CSS.escape(box.id), next); if (same) same.open = true; });
  }
  function lastTurn() { var line = lineOf(main.dataset.main); return line ? all(":scope > .turn, :scope > .part", line).pop() : null; }
  function isAtEnd(line) {
    if (line.hidden || shown[shown.length - 1] !== line) return false;
    var last = lastTurn(), box = last && last.getBoundingClientRect();
    return Boolean(box) && box.bottom <= innerHeight + 48 && box.bottom > 0;
  }
  function showBottom(turn) {
    hideNew();
    hold(function () { return turn.isConnected ? turn.getBoundingClientRect().bottom - (innerHeight - 48) : 0; }, true);
  }
  var fresh = { count: 0, first: null };
  function tellNew(count, first) {
    fresh.count += count;
    fresh.first = fresh.first || first;
    var button = one(".newer");
    if (!button) {
      button = made("button", "newer");
      button.onclick = function () { var to = fresh.first; hideNew(); if (to && to.isConnected) reveal(one(":scope > .prompt", to) || to); else toEnd(); };
      document.body.append(button);
    }
    button.textContent = fresh.count ? fresh.count + (fresh.count === 1 ? " new turn" : " new turns") : "The last turn goes on";
  }
  function hideNew() { fresh = { count: 0, first: null }; var button = one(".newer"); if (button) button.remove(); }
  function redraw() {
    // A branch has appeared, or the log was rewritten: all of it anew, the reader where they are.
    return fetch(served).then(function (answer) { return answer.text(); }).then(function (text) {
      var page = new DOMParser().parseFromString(text, "text/html"), next = one("main[data-session]", page);
      if (!next) { notice("This session can no longer be read. What is loaded can."); return; }
      var place = placeNow(), way = main.dataset.shown, wasMain = way === main.dataset.main, known = lineOf(main.dataset.main);
      var before = known ? Number(known.dataset.turns) : 0, isFollowing = known && isAtEnd(known);
      main.replaceChildren.apply(main, Array.from(next.childNodes));
      main.dataset.main = next.dataset.main; main.dataset.mark = next.dataset.mark;
      [".top .facts", ".rail"].forEach(function (name) { one(name).innerHTML = one(name, page).innerHTML; });
      takeSwitch(page);
      links = null; here = null;
      rememberLast();
      prepare(main);
      show(wasMain || !lineOf(way) ? main.dataset.main : way);
      watchTurns();
      if (isFollowing) { toEnd(); return; }
      var now = Number(lineOf(main.dataset.main).dataset.turns);
      if (now > before) tellNew(now - before, null);
      return putAt(place);
    });
  }
  function takeSwitch(page) {
    [".ways", ".comparing"].forEach(function (name) {
      var old = one(".top " + name), next = one(".top " + name, page);
      if (old && next) old.replaceWith(next);
      else if (next) one(".top h1").after(next);
      else if (old) old.remove();
    });
    watchWays();
  }
  function rememberLast() {
    var last = lastTurn();
    if (last && last.matches(".turn")) all(':scope > .turn[data-n="' + last.dataset.n + '"]', last.parentElement).forEach(remember);
  }

  /* The place of the reader: the entry at the top of the window, and how far it is from there. */
  function stateNow() { return served ? placeNow() : { way: main.dataset.shown, top: scrollY }; }
  function placeNow() {
    var best = null, top = 96;
    inView.forEach(function (turn) {
      if (!turn.isConnected) return;
      all("[id]", turn).forEach(function (element) {
        if (element.closest("details:not([open]) > .body")) return;
        var box = element.getBoundingClientRect();
        if (box.height && box.bottom > top && (!best || box.top < best.top)) best = { id: element.id, top: box.top };
      });
    });
    return { way: main.dataset.shown, top: scrollY, id: best && best.id, off: best && best.top };
  }
  function putAt(state) {
    var element = state.id && document.getElementById(state.id);
    if (!element && !state.id) return Promise.resolve();
    var found = element ? Promise.resolve(element) : asked("/where?id=" + encodeURIComponent(state.id)).then(goSpot);
    return found.then(function (element) {
      if (!element) return;
      hold(function () { return element.isConnected ? element.getBoundingClientRect().top - state.off : 0; });
    }, function () { /* it is no longer there */ });
  }

  function prepare(within) {
    tellTimes(within);
    addDiffers(within);
    if (painting) all('code[class*="language-"]', within).forEach(function (code) { painting.observe(code); });
  }
  function watchWays() { var select = one(".ways"); if (select) select.onchange = function () { goWay(select.value); }; }
  var isVersus = Boolean(main && main.dataset.versus !== undefined);
  if (served && !isVersus) rememberLast();
  prepare(document);
  if (isVersus) addRawButtons(main);
  else if (main) {
    watchWays();
    var header = one(".top");
    var measure = function () { document.documentElement.style.setProperty("--top", header.offsetHeight + "px"); };
    if (window.ResizeObserver) new ResizeObserver(measure).observe(header);
    measure();
    history.scrollRestoration = "manual";
    show(main.dataset.main);
    watchTurns();
    var box = one("#find"), timer = 0;
    if (box) box.oninput = function () { clearTimeout(timer); timer = setTimeout(function () { search(box.value.trim()); }, 250); };
    var wanted = new URLSearchParams(location.search), words = wanted.get("q") || wanted.get("mark") || "";
    if (history.state && history.state.way) comeBack({ state: history.state });
    else if (location.hash) go(hashId()).then(function () { markAsked(words); });
    else if (served && /^\d{1,7}$/.test(wanted.get("turn") || "")) goTurn(Number(wanted.get("turn")), wanted.get("line")).then(function () { markAsked(words); });
    else if (served && /^\d+\.\d+$/.test(wanted.get("at") || "")) asked("/where?at=" + wanted.get("at")).then(function (spot) { return goSpot(spot, words.toLowerCase()); }).then(function () { markAsked(words); }, function (error) { tellFound(error.message); });
    else if (served && words) { if (box) box.value = words; search(words); }
    addEventListener("pagehide", function () { history.replaceState(stateNow(), ""); });
    if (served) {
      listen("session", function (told) { if (told.session === main.dataset.session) catchUp(false); });
      listen("again", function () { catchUp(false); });
      addEventListener("scroll", function () { var line = one(".newer") && lineOf(main.dataset.main); if (line && isAtEnd(line)) hideNew(); }, { passive: true });
    }
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
