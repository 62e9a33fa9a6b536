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
      var before = button.previousElementSibling;
      var block = made("pre", before && before.tagName === "PRE" ? before.className : "out");
      block.textContent = text.replace(/\u001b\[[0-9;]*[A-Za-z]/g, "");
      if (before && /^(PRE|OL|TABLE)$/.test(before.tagName)) before.replaceWith(block);
      else button.before(block);
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
        image.alt = "picture";
        image.src = "data:" + source.media_type + ";base64," + source.data;
        button.replaceWith(image);
      } else {
        button.replaceWith(made("pre", "out", source.type === "text" ? source.data : JSON.stringify(block, null, 2)));
      }
    }, function (error) { button.textContent = error.message; });
  }
  function showRaw(button) {
    var holder = button.closest("[data-l]");
    var old = one(":scope > pre.rawjson", holder);
    if (old) { old.remove(); return; }
    rawLine(holder.dataset.l).then(function (line) {
      var text = line;
      try { text = JSON.stringify(JSON.parse(line), null, 2); } catch (error) { /* shown as it is */ }
      var block = made("pre", "rawjson", text);
      if (holder.tagName === "DETAILS") { holder.open = true; holder.appendChild(block); }
      else holder.appendChild(block);
    }, function (error) { holder.appendChild(made("pre", "rawjson", error.message)); });
  }
  function addRawButtons(within) {
    if (!table.length) return;
    all("[data-l]:not(button)", within).forEach(function (element) {
      if (one(":scope > .rawbtn, :scope > .line > .rawbtn", element) || element.classList.contains("again")) return;
      var button = made("button", "rawbtn", "raw");
      button.title = "The line of the log";
      var line = one(":scope > .line", element);
      (line || element)[line || element.matches(".event, .landmark") ? "appendChild" : "prepend"](button);
    });
  }

  /* Turns that come as they are read. */
  function fill(part) {
    if (part.dataset.loading) return part.loaded;
    part.dataset.loading = "1";
    var number = part.dataset.part, inside = one('template.parts[data-n="' + number + '"]');
    var html = inside ? Promise.resolve(inside.innerHTML)
      : fetched("part " + number, main.dataset.session + ".lines/part-" + number + ".js");
    part.loaded = html.then(function (text) {
      var box = made("template");
      box.innerHTML = text;
      prepare(box.content);
      part.replaceWith(box.content);
      watchTurns();
    });
    return part.loaded;
  }
  function fillAll() { return Promise.all(all(".part").map(fill)); }
  var near = "IntersectionObserver" in window ? new IntersectionObserver(function (found) {
    found.forEach(function (entry) { if (entry.isIntersecting) { near.unobserve(entry.target); fill(entry.target); } });
  }, { rootMargin: "1500px 0px" }) : null;

  /* Where the reader is: the rail and the outline follow. */
  var here = null;
  var reading = "IntersectionObserver" in window ? new IntersectionObserver(function (found) {
    found.forEach(function (entry) { if (entry.isIntersecting) here = entry.target; });
    if (here) markHere(here);
  }, { rootMargin: "-56px 0px -75% 0px" }) : null;
  function watchTurns() {
    if (reading) all("main > .dag > .turn").forEach(function (turn) { reading.observe(turn); });
    if (near) all("main .part").forEach(function (part) { near.observe(part); });
  }
  function markHere(turn) {
    var ids = new Set(all("[id]", turn).map(function (element) { return element.id; }));
    all(".rail .node.here, .outline a.here").forEach(function (element) { element.classList.remove("here"); });
    all(".rail .node, .outline a").forEach(function (link) {
      var target = (link.getAttribute("href") || "").slice(1);
      if (!ids.has(target)) return;
      link.classList.add("here");
      follow(link);
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
    way.forEach(function (line, place) {
      main.appendChild(line);
      if (place + 1 < way.length) endAt(line, way[place + 1].dataset.line);
    });
    all("main > .unplaced").forEach(function (rest) { main.appendChild(rest); });
    var select = one(".ways"); if (select) select.value = id;
    drawOutline(way);
    main.dataset.shown = id;
  }
  function endAt(line, child) {
    var fork = one('.fork[data-to="' + CSS.escape(child) + '"]', line);
    if (!fork) return;
    for (var node = fork; node && node !== line; node = node.parentElement) {
      for (var next = node.nextElementSibling; next; next = next.nextElementSibling) next.classList.add("past");
    }
  }
  function drawOutline(way) {
    var list = one(".outline ol");
    if (!list) return;
    list.textContent = "";
    way.forEach(function (line) {
      all(":scope > .turn:not(.past)", line).forEach(function (turn) {
        var prompt = one(":scope > .prompt", turn);
        if (!prompt || turn.dataset.n === "0") return;
        var row = made("li"), link = made("a");
        link.href = "#" + prompt.id;
        link.append(made("b", "", String(list.children.length + 1)), " ", (one(".prose", prompt) || prompt).textContent.trim().slice(0, 140) || "…");
        row.append(link); list.append(row);
      });
    });
  }
  function differs(fork) {
    var there = lineOf(fork.dataset.to), from = fork.closest(".dag");
    if (!there || !from) return;
    var turn = fork.closest(".turn"), ours = [];
    for (var next = turn.nextElementSibling; next; next = next.nextElementSibling) if (next.matches(".turn")) ours.push(next);
    var box = made("dialog", "differs"), columns = made("div", "columns");
    [["This way", ours], ["The other way", all(":scope > .turn", there)]].forEach(function (side) {
      var column = made("div");
      column.append(made("h3", "", side[0] + ": " + side[1].length + (side[1].length === 1 ? " turn" : " turns")));
      var list = made("ol");
      side[1].slice(0, 12).forEach(function (turn) {
        var prompt = one(":scope > .prompt .prose", turn);
        list.append(made("li", "", prompt ? prompt.textContent.trim().slice(0, 200) : "…"));
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
      if (!lineOf(fork.dataset.to) || one(".differs", fork)) return;
      var button = made("button", "rawbtn differs", "what differs");
      fork.append(button);
    });
  }

  /* Going to a place: its way is chosen, what holds it is opened. */
  function reveal(element) {
    var line = element.closest(".dag");
    if (line && (line.hidden || element.closest(".past"))) show(line.dataset.line);
    for (var node = element; node; node = node.parentElement) if (node.tagName === "DETAILS" && node !== element) node.open = true;
    if (element.tagName === "DETAILS") element.open = true;
    element.scrollIntoView({ block: "start" });
    all(".target").forEach(function (old) { old.classList.remove("target"); });
    element.classList.add("target");
    setTimeout(function () { element.classList.remove("target"); }, 1600);
  }
  function go(id) {
    if (!id || !main) return;
    if (id.indexOf("line-") === 0 && lineOf(id.slice(5)) && lineOf(id.slice(5)).classList.contains("dag")) {
      show(id.slice(5));
      var first = lineOf(id.slice(5)); reveal(one(":scope > .turn", first) || first);
      return;
    }
    var element = document.getElementById(id);
    if (element) reveal(element);
    else fillAll().then(function () { var late = document.getElementById(id); if (late) reveal(late); });
  }

  /* Finding, over everything that is folded or cut. */
  var hits = [], hit = -1;
  function search(words) {
    hits = []; hit = -1;
    clearMarks();
    if (!words) { tellFound(""); return; }
    tellFound("…");
    fillAll().then(function () { return Promise.all(all("button.more[data-l]", main).map(function (button) {
      return button.whole ? null : fullText(button).then(function (text) { button.whole = (text || "").toLowerCase(); }, function () { button.whole = ""; });
    })); }).then(function () {
      var wanted = words.toLowerCase();
      all(".prompt, .say, .think, .call, .note, .row, .event, .landmark, .printed", main).forEach(function (element) {
        if (one(".prompt, .say, .call", element) && !element.matches(".prompt, .say")) {
          if (!ownText(element).includes(wanted)) return;
        } else if (!element.textContent.toLowerCase().includes(wanted) &&
          !all("button.more", element).some(function (button) { return (button.whole || "").includes(wanted); })) return;
        hits.push(element);
      });
      tellFound(hits.length + (hits.length === 1 ? " place" : " places"));
      if (hits.length) nextHit(1);
    });
  }
  function ownText(element) {
    var line = one(":scope > .line", element);
    return line ? line.textContent.toLowerCase() : "";
  }
  function nextHit(step) {
    if (!hits.length) return;
    hit = (hit + step + hits.length) % hits.length;
    var element = hits[hit], wanted = one("#find").value.toLowerCase();
    var cut = all("button.more", element).filter(function (button) { return (button.whole || "").includes(wanted) && !ownBlock(button).includes(wanted); });
    Promise.all(cut.map(showAll)).then(function () { reveal(element); markWords(element, wanted); tellFound(hit + 1 + " of " + hits.length); });
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
  }
  function tellFound(words) {
    var box = one(".found");
    if (!words) { if (box) box.remove(); return; }
    if (!box) { box = made("div", "found"); box.setAttribute("role", "status"); document.body.append(box); }
    box.textContent = words;
  }

  /* Filters, help, keys. */
  var filters = [["answers", "Answers"], ["thinking", "Thinking"], ["tools", "Tools"], ["agents", "Agents"], ["notes", "Notes"]];
  function toggleFilter() {
    var old = one(".menu");
    if (old) { old.remove(); return; }
    var menu = made("div", "menu");
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
  var keys = [["j / k", "next, previous prompt"], ["[ / ]", "next, previous branch"], ["/", "find"], ["n / N", "next, previous place"],
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
    var found = turns(), top = 80, at = -1;
    found.forEach(function (turn, place) { if (turn.getBoundingClientRect().top < top + 4) at = place; });
    if (by < 0 && at >= 0 && found[at].getBoundingClientRect().top < top - 24) by = 0;
    var next = found[Math.max(0, Math.min(found.length - 1, at + by))];
    if (next) next.scrollIntoView({ block: "start" });
  }
  function stepWay(by) {
    var select = one(".ways");
    if (!select) return;
    select.selectedIndex = (select.selectedIndex + by + select.options.length) % select.options.length;
    show(select.value);
    var line = lineOf(select.value), from = one(":scope > .from", line);
    (from || line).scrollIntoView({ block: "center" });
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
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) {
      if (event.key === "Escape") { event.target.blur(); }
      if (event.key === "Enter" && event.target.id === "find" && hits.length) { event.preventDefault(); nextHit(event.shiftKey ? -1 : 1); }
      return;
    }
    if (event.key === "Escape") { var menu = one(".menu"); if (menu) menu.remove(); document.body.classList.remove("show-outline", "show-rail"); }
    var action = pressed[event.key];
    if (action && (main || /^[t?/]$/.test(event.key))) { event.preventDefault(); action(); }
  });
  document.addEventListener("click", function (event) {
    var target = event.target, button = target.closest("button");
    var fork = target.closest(".fork");
    if (button && button.classList.contains("differs")) { event.preventDefault(); differs(fork); return; }
    if (fork && lineOf(fork.dataset.to)) { event.preventDefault(); history.pushState(null, "", "#line-" + fork.dataset.to); go("line-" + fork.dataset.to); return; }
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
      var id = decodeURIComponent(link.getAttribute("href").slice(1));
      history.pushState(null, "", "#" + id);
      document.body.classList.remove("show-outline", "show-rail");
      go(id);
    }
  });
  addEventListener("popstate", function () { go(decodeURIComponent(location.hash.slice(1))); });

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
    addRawButtons(within);
    addDiffers(within);
    if (painting) all('code[class*="language-"]', within).forEach(function (code) { painting.observe(code); });
  }
  prepare(document);
  if (main) {
    var select = one(".ways");
    if (select) select.onchange = function () { show(select.value); };
    show(main.dataset.main);
    watchTurns();
    var box = one("#find"), timer = 0;
    if (box) box.oninput = function () { clearTimeout(timer); timer = setTimeout(function () { search(box.value.trim()); }, 250); };
    if (location.hash) go(decodeURIComponent(location.hash.slice(1)));
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
  }
})();
