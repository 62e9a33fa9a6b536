/* The frame of what is served: the palette, the column of sessions, lists that fill and follow. */
(function () {
  "use strict";
  var one = function (selector, within) { return (within || document).querySelector(selector); };
  var all = function (selector, within) { return Array.from((within || document).querySelectorAll(selector)); };
  var made = function (tag, name, text) {
    var element = document.createElement(tag);
    if (name) element.className = name;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  document.documentElement.classList.add("scripted");
  var reading = one("main[data-session]");
  var narrow = function () { return matchMedia("(max-width: 900px)").matches; };
  function kept(name) { try { return sessionStorage.getItem("plait-" + name); } catch (error) { return null; } }
  function keep(name, value) { try { sessionStorage.setItem("plait-" + name, value); } catch (error) { /* not here */ } }

  /* How long ago, told anew every minute; the exact time in the reader's zone. */
  var day = 86400, stamp = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  function ago(time) {
    var seconds = (Date.now() - time) / 1000, days = Math.floor(seconds / day);
    if (Math.abs(seconds) < 60) return "just now";
    if (seconds < 0 || days >= 14) {
      var year = time.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
      return time.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: year });
    }
    if (seconds < 3600) return Math.floor(seconds / 60) + " min ago";
    if (!days) return Math.floor(seconds / 3600) + " h ago";
    return days === 1 ? "yesterday" : days + " days ago";
  }
  function tellTimes(within) {
    all(".ago[data-at]", within).forEach(function (element) {
      var time = new Date(element.dataset.at), words = isNaN(time) ? "" : ago(time);
      if (!words) return;
      if (element.textContent !== words) element.textContent = words;
      element.title = stamp.format(time);
    });
  }
  setInterval(function () {
    if (document.hidden) return;
    tellTimes(document);
    if (one("main[data-live]")) renew();
  }, 60000);

  /* Parts of pages: fetched, and put in place where they are something new. */
  function part(address) {
    var url = new URL(address, location.href);
    url.searchParams.set("part", "1");
    return fetch(url, { headers: { Accept: "text/html" } }).then(function (answer) {
      if (!answer.ok) throw new Error("answered " + answer.status);
      return answer.text();
    });
  }
  function put(holder, html) {
    if (holder.dataset.html === html) return;
    var focused = document.activeElement, mark = focused && holder.contains(focused) && focused.closest("[data-name]");
    var open = all("button.fold[aria-expanded=true]", holder).map(function (button) { return button.dataset.parts; });
    var stood = one(".here[data-name]", holder), standing = stood && stood.dataset.name;
    var known = new Set(all("[data-name]", holder).map(function (row) { return row.dataset.name; }));
    var unfolded = all("details", holder).map(function (fold) { return fold.open; });
    holder.innerHTML = html;
    var folds = all("details", holder);
    if (folds.length === unfolded.length) folds.forEach(function (fold, place) { fold.open = unfolded[place]; });
    toEnds(holder);
    holder.dataset.html = html.length < 100000 ? html : "";
    tellTimes(holder);
    if (known.size) all("[data-name]", holder).forEach(function (row) { if (!known.has(row.dataset.name)) row.classList.add("arrived"); });
    open.forEach(function (name) { var button = one('button.fold[data-parts="' + CSS.escape(name) + '"]', holder); if (button) unfold(button); });
    var stands = standing && one('[data-name="' + CSS.escape(standing) + '"]', holder);
    if (stands) stands.classList.add("here");
    var again = mark && one('[data-name="' + CSS.escape(mark.dataset.name) + '"] a', holder);
    if (again) again.focus({ preventScroll: true });
    watchMore(holder);
    countOn();
  }
  function toEnds(within) { all(".scroll.end", within).forEach(function (box) { box.scrollLeft = box.scrollWidth; }); }
  function results() { return one("[data-results]") || one("main[data-live]"); }
  function renew() {
    var holder = results();
    if (!holder) return Promise.resolve();
    return part(location.href).then(function (html) {
      if (holder.matches("main")) {
        var parsed = new DOMParser().parseFromString(html, "text/html").querySelector("main");
        if (parsed) put(holder, parsed.innerHTML);
      } else put(holder, html);
    }).catch(function () { /* the server has gone: what is shown stays */ });
  }
  var counting = 0, waits = 400;
  function countOn() {
    clearTimeout(counting);
    if (!one("[data-counting]")) { waits = 400; return; }
    counting = setTimeout(renew, waits);
    waits = Math.min(waits * 1.5, 5000);
  }

  /* Forms that answer as one types; the address keeps what was asked. */
  var asking = 0, asked = 0;
  function follow(address) {
    var mine = ++asked, holder = results();
    history.replaceState(history.state, "", address);
    return part(address).then(function (html) { if (mine === asked) put(holder, html); }, function () { tell("The server does not answer."); });
  }
  function tell(words) { var holder = results(); if (holder) { holder.replaceChildren(made("p", "empty", words)); holder.dataset.html = ""; } }
  function addressOf(form) {
    var asks = new URLSearchParams();
    new FormData(form).forEach(function (value, name) { if (value) asks.append(name, value); });
    return form.getAttribute("action") + (asks.size ? "?" + asks : "");
  }
  function typed(form, wait) { clearTimeout(asking); asking = setTimeout(function () { follow(addressOf(form)); }, wait); }
  all("form[data-typing]").forEach(function (form) {
    form.addEventListener("input", function (event) { typed(form, event.target.type === "search" ? 120 : 0); });
    form.addEventListener("submit", function (event) { event.preventDefault(); typed(form, 0); });
  });
  all("form[data-chosen]").forEach(function (form) {
    form.addEventListener("change", function () { location.assign(addressOf(form)); });
  });
  var bar = one(".asking"), box = bar && one("input", bar);
  function searchAddress() {
    var asks = new URLSearchParams(location.search);
    asks.delete("n");
    if (box.value) asks.set("q", box.value); else asks.delete("q");
    return "/search" + (asks.size ? "?" + asks : "");
  }
  if (one('main[data-typed]') && box) {
    box.addEventListener("input", function () {
      // Words are found by the index; all else is looked for in every log.
      var wait = /[?&]way=/.test(location.search) ? 500 : 120;
      clearTimeout(asking);
      asking = setTimeout(function () { follow(searchAddress()); }, wait);
    });
    bar.addEventListener("submit", function (event) { event.preventDefault(); clearTimeout(asking); follow(searchAddress()); });
    box.setSelectionRange(box.value.length, box.value.length);
    if (box.value !== box.defaultValue) follow(searchAddress());
  }

  /* More rows when one comes near their end; the address says how many there are. */
  var nearing = "IntersectionObserver" in window ? new IntersectionObserver(function (found) {
    found.forEach(function (entry) { if (entry.isIntersecting) more(entry.target); });
  }, { rootMargin: "800px 0px" }) : null;
  function watchMore(within) { if (nearing) all("a[data-more]", within).forEach(function (link) { nearing.observe(link); }); }
  function more(link) {
    var table = one("table.rows", link.closest("[data-results]"));
    nearing.unobserve(link);
    if (!table) { follow(link.href); return; }
    part(link.href + "&from=" + link.dataset.more).then(function (html) {
      var found = new DOMParser().parseFromString(html, "text/html"), next = one(".more-rows", found);
      all("tbody", found).forEach(function (body) { tellTimes(body); table.append(body); });
      history.replaceState(history.state, "", link.getAttribute("href"));
      if (next) { link.parentElement.replaceWith(next); watchMore(next); } else link.parentElement.remove();
      results().dataset.html = "";
    }, function () { /* the link is still there */ });
  }

  /* What hangs on a session. */
  function unfold(button) {
    var row = button.closest("tr"), isOpen = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!isOpen));
    if (isOpen) {
      while (row.nextElementSibling && row.nextElementSibling.classList.contains("part")) row.nextElementSibling.remove();
      return;
    }
    part("/sessions/" + encodeURIComponent(button.dataset.parts) + "/parts").then(function (html) {
      if (button.getAttribute("aria-expanded") === "true") row.insertAdjacentHTML("afterend", html);
    });
  }

  /* The column of sessions: remembers whether it is folded and how far it was scrolled. */
  var side = one("[data-side]"), opener = one('[data-open="side"]');
  function sideAddress() {
    var field = one("[data-side-filter]", side);
    return "/side?" + new URLSearchParams({ here: side.dataset.here || "", q: field ? field.value : "" });
  }
  function showSide(isShown) {
    document.body.classList.toggle("no-side", !isShown && !narrow());
    document.body.classList.toggle("show-side", isShown && narrow());
    opener.setAttribute("aria-expanded", String(isShown));
    if (!narrow()) keep("side", isShown ? "" : "folded");
  }
  function toggleSide() {
    var isShown = narrow() ? !document.body.classList.contains("show-side") : document.body.classList.contains("no-side");
    showSide(isShown);
    if (isShown && narrow()) one("input", side).focus();
  }
  function renewSide() { return part(sideAddress()).then(function (html) { put(one("[data-side-list]", side), html); }, function () { /* stays */ }); }
  if (side) {
    if (kept("side") || narrow()) showSide(false);
    fetch(sideAddress()).then(function (answer) { return answer.ok ? answer.text() : ""; }).then(function (html) {
      side.innerHTML = html;
      tellTimes(side);
      var here = one("[aria-current]", side);
      if (kept("side-top")) side.scrollTop = Number(kept("side-top"));
      if (here && (here.offsetTop < side.scrollTop || here.offsetTop > side.scrollTop + side.clientHeight - 80)) side.scrollTop = here.offsetTop - side.clientHeight / 3;
      var waiting = 0;
      one("[data-side-filter]", side).addEventListener("input", function () { clearTimeout(waiting); waiting = setTimeout(renewSide, 120); });
    }).catch(function () { /* the page is read without it */ });
    side.addEventListener("scroll", function () { keep("side-top", String(side.scrollTop)); }, { passive: true });
  }

  /* The palette: places, sessions, words, over any page. */
  var palette = null, offered = 0;
  function openPalette() {
    if (one("dialog[open]")) return;
    palette = made("dialog", "palette");
    var field = made("input"), list = made("ul"), hints = made("p", "hints");
    palette.setAttribute("aria-label", "Go to or find anything");
    field.type = "text"; field.placeholder = "Go to a session, or find anything"; field.spellcheck = false; field.autocomplete = "off";
    field.setAttribute("role", "combobox"); field.setAttribute("aria-expanded", "true"); field.setAttribute("aria-controls", "offers"); field.setAttribute("aria-label", field.placeholder);
    list.id = "offers"; list.setAttribute("role", "listbox"); list.setAttribute("aria-label", "Offers");
    ["↑ ↓ choose", "Enter open", "Esc close"].forEach(function (words) { hints.append(made("span", "", words)); });
    palette.append(field, list, hints);
    document.body.append(palette);
    var waiting = 0;
    field.addEventListener("input", function () { clearTimeout(waiting); waiting = setTimeout(function () { offer(field, list); }, 80); });
    field.addEventListener("keydown", function (event) { choose(event, field, list); });
    list.addEventListener("mousemove", function (event) { var item = event.target.closest("[role=option]"); if (item) select(item, field, list); });
    list.addEventListener("click", function (event) { var item = event.target.closest("[role=option]"); if (item) leave(item, event); });
    palette.addEventListener("click", function (event) { if (event.target === palette) palette.close(); });
    palette.addEventListener("close", function () { palette.remove(); palette = null; });
    palette.showModal();
    offer(field, list);
  }
  function offer(field, list) {
    var mine = ++offered;
    fetch("/palette?q=" + encodeURIComponent(field.value)).then(function (answer) { return answer.text(); }).then(function (html) {
      if (mine !== offered) return;
      list.innerHTML = html;
      tellTimes(list);
      all("[role=option]", list).forEach(function (item, place) { item.id = "offer-" + place; });
      select(one("[role=option]", list), field, list);
    }).catch(function () { list.replaceChildren(made("li", "group", "The server does not answer.")); });
  }
  function select(item, field, list) {
    all("[aria-selected=true]", list).forEach(function (old) { old.setAttribute("aria-selected", "false"); });
    if (!item) { field.removeAttribute("aria-activedescendant"); return; }
    item.setAttribute("aria-selected", "true");
    field.setAttribute("aria-activedescendant", item.id);
    item.scrollIntoView({ block: "nearest" });
  }
  function choose(event, field, list) {
    var items = all("[role=option]", list), at = items.findIndex(function (item) { return item.getAttribute("aria-selected") === "true"; });
    var step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && items.length) { event.preventDefault(); select(items[(at + step + items.length) % items.length], field, list); }
    if (event.key === "Enter" && items[at]) { event.preventDefault(); leave(items[at], event); }
  }
  function leave(item, event) {
    if (event.ctrlKey || event.metaKey) window.open(item.dataset.href, "_blank", "noopener");
    else location.href = item.dataset.href;
    palette.close();
  }

  /* Rows by keys. */
  function rows() { return all(".rows tr[data-name], .recent li, .hits li", one("main")); }
  function step(by) {
    var found = rows(), at = found.findIndex(function (row) { return row.classList.contains("here"); });
    var next = found[Math.max(0, Math.min(found.length - 1, at + by))];
    if (!next) return;
    found.forEach(function (row) { row.classList.toggle("here", row === next); });
    var link = one(".naming > a, a.hit", next);
    if (link) link.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }
  function unfoldHere(isOpen) {
    var button = one(".rows tr.here button.fold");
    if (button && (button.getAttribute("aria-expanded") === "true") !== isOpen) unfold(button);
  }
  var keys = window.plait.keys;
  keys.push(["Ctrl K", "go to or find anything"]);
  if (side) keys.push(["s", "column of sessions"]);
  if (!reading) keys.push(["/", "search, or filter"]);
  if (one(".rows, .recent, [data-results]")) keys.push(["j / k", "next, previous row"], ["Enter", "open it"]);
  if (one(".rows")) keys.push(["→ / ←", "show, hide branches and agents"]);
  function ownKeys() {
    // The reading view has keys of its own; elsewhere only these.
    var list = one("dialog.keys[open] dl");
    if (!list || reading || list.dataset.own) return;
    list.dataset.own = "1";
    list.replaceChildren();
    keys.concat([["t", "light or dark"], ["?", "this help"]]).forEach(function (pair) { list.append(made("dt", "", pair[0]), made("dd", "", pair[1])); });
  }
  var pressed = {
    "/": function () { var field = one("[data-filter]") || box; if (field) { field.focus(); field.select(); } },
    j: function () { step(1); }, k: function () { step(-1); },
    ArrowRight: function () { unfoldHere(true); }, ArrowLeft: function () { unfoldHere(false); }
  };
  document.addEventListener("keydown", function (event) {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      if (palette) palette.close(); else openPalette();
      return;
    }
    ownKeys();
    if (event.ctrlKey || event.metaKey || event.altKey || one("dialog[open]")) return;
    if (event.key === "Escape" && document.body.classList.contains("show-side")) showSide(false);
    if (event.target.matches("input, textarea, select")) {
      if (event.key === "ArrowDown" && event.target.type === "search" && rows().length && !side) { event.preventDefault(); event.target.blur(); step(1); }
      return;
    }
    if (event.key === "s" && side) { event.preventDefault(); toggleSide(); return; }
    var action = !reading && pressed[event.key];
    if (action) { if (!event.key.startsWith("Arrow")) event.preventDefault(); action(); }
  });
  document.addEventListener("click", function (event) {
    var target = event.target, button = target.closest("button");
    ownKeys();
    if (button && button.dataset.open === "palette") openPalette();
    if (button && button.dataset.open === "side") toggleSide();
    if (button && button.dataset.parts) unfold(button);
    if (button && button.dataset.show) {
      var isShown = document.body.classList.toggle("show-" + button.dataset.show);
      button.setAttribute("aria-expanded", String(isShown));
    }
    var square = target.closest(".heat rect[data-day]");
    if (square) location.href = "/sessions?since=" + square.dataset.day + "&until=" + square.dataset.day;
    if (document.body.classList.contains("show-side") && !target.closest(".side, [data-open=side]")) showSide(false);
  });

  /* What happens in the archive: told at once, then at most every two seconds. */
  var due = 0, changed = 0;
  function soon() {
    if (due) return;
    due = setTimeout(function () {
      due = 0; changed = Date.now();
      if (one("main[data-live]")) renew();
      if (side && one("[data-side-list]", side)) renewSide();
    }, Math.max(0, changed + 2000 - Date.now()));
  }
  if (one("main[data-live]") || side) ["sessions", "index", "again"].forEach(function (kind) { window.plait.listen(kind, soon); });

  toEnds(document);
  tellTimes(document);
  watchMore(document);
  countOn();
})();
