// Makes a page of deadheat live: a view that is in the address, tables that sort, search in queries, rankings, figures.
// Text reaches the page by textContent only.
(() => {
  "use strict";
  const DIGITS = 4;
  const SHOWN = 25;
  const NOISE = 1e-12;

  // Numbers, as Python prints them: halves go to the even digit, small ones are never shown as zero.
  function shown(x) {
    if (x === null || x === undefined || Number.isNaN(x)) return "-";
    if (typeof x === "string") return x;
    if (x !== 0 && Math.abs(x) > NOISE && Math.abs(x) < 0.5 * 10 ** -DIGITS) {
      return x.toExponential(0).replace(/e([+-])(\d)$/, "e$10$2");
    }
    const isHalf = Math.abs((x * 32) % 2) === 1;
    if (isHalf) {
      const scaled = Math.floor(Math.abs(x) * 10 ** DIGITS);
      const even = (scaled % 2 ? scaled + 1 : scaled) / 10 ** DIGITS;
      return (x < 0 ? "-" : "") + even.toFixed(DIGITS);
    }
    const text = x.toFixed(DIGITS);
    return /^-0\.0*$/.test(text) ? text.slice(1) : text;
  }
  function percent(share) {
    if (share === null) return "-";
    if (share > 0 && share < 0.01) return "<1%";
    return share > 0.99 && share < 1 ? ">99%" : `${Math.round(100 * share)}%`;
  }
  const count = (n) => n.toLocaleString("en-US");
  const span = (low, high) => `[${shown(low)}, ${shown(high)}]`;

  function make(tag, options = {}, ...children) {
    const one = document.createElement(tag);
    for (const [name, value] of Object.entries(options)) {
      if (name === "text") one.textContent = value;
      else if (name.startsWith("on")) one.addEventListener(name.slice(2), value);
      else if (value !== null && value !== undefined) one.setAttribute(name, value);
    }
    one.append(...children.filter((child) => child !== null));
    return one;
  }

  function choice(label, names, chosen, onchange) {
    const select = make("select", { onchange: () => onchange(Number(select.value)) });
    names.forEach((name, n) => {
      const option = make("option", { value: n, text: name });
      option.selected = n === chosen;
      select.append(option);
    });
    return [make("label", {}, make("span", { text: label }), select), select];
  }

  // A table in a part that scrolls, with a name for those who hear it.
  function framed(table, name) {
    return make("div", { class: "scroll", role: "group", "aria-label": name, tabindex: "0" }, table);
  }

  // Words about something, at the mouse, at the focus and at a touch.
  const tip = make("div", { class: "tip", role: "tooltip", hidden: "" });
  function showTip(event) {
    const of = event.target.closest ? event.target.closest("[data-tip]") : null;
    tip.hidden = !of;
    if (!of) return;
    tip.textContent = of.dataset.tip;
    const box = of.getBoundingClientRect();
    const isMouse = event.type === "pointermove" || event.type === "pointerover";
    const [x, y] = isMouse ? [event.clientX, event.clientY + 14] : [box.left, box.bottom + 4];
    tip.style.left = `${Math.max(4, Math.min(x, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${y + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 24 : y}px`;
  }
  for (const name of ["pointerover", "pointermove", "focusin", "click"]) document.addEventListener(name, showTip);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });

  // Tables that are in the page already: a click on a heading sorts the rows by the numbers or words of a column.
  function sortable(table) {
    const head = table.tHead;
    const body = table.tBodies[0];
    if (!head || head.rows.length !== 1 || table.tBodies.length !== 1 || body.rows.length < 2) return;
    [...head.rows[0].cells].forEach((cell, place) => {
      if (!cell.textContent) return;
      const button = make("button", { type: "button", text: cell.textContent });
      cell.replaceChildren(button);
      cell.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const isNumber = cell.classList.contains("n");
        const falls = cell.getAttribute("aria-sort") === (isNumber ? "descending" : "ascending") ? !isNumber : isNumber;
        for (const other of head.rows[0].cells) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
        cell.setAttribute("aria-sort", falls ? "descending" : "ascending");
        const keyed = [...body.rows].map((row, n) => [keyOf(row.cells[place], isNumber), n, row]);
        keyed.sort((a, b) => compared(a[0], b[0], falls) || a[1] - b[1]);
        body.append(...keyed.map((one) => one[2]));
      });
    });
  }
  function keyOf(cell, isNumber) {
    const text = cell.textContent.trim();
    if (!isNumber) return text;
    const number = parseFloat(text.replace(/[\[,*<%?]/g, ""));
    return Number.isNaN(number) ? null : number;
  }
  // What has no value comes last, whichever way.
  function compared(a, b, falls) {
    if (a === null || b === null) return (a === null) - (b === null);
    const order = typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b;
    return falls ? -order : order;
  }

  // A table of the queries: columns are {name, isNumber, key(n), text(n)}, rows are numbers of queries.
  class Grid {
    constructor(place, name, data, onpick) {
      Object.assign(this, { data, name, onpick, columns: [], sorted: 0, falls: true, most: SHOWN, wanted: "", only: null, own: null });
      this.status = make("p", { class: "hint", role: "status" });
      this.box = make("div");
      this.more = make("button", { type: "button", text: "Show more", onclick: () => { this.most *= 4; this.draw(); } });
      const search = make("input", { type: "search", autocomplete: "off" });
      search.addEventListener("input", () => { this.wanted = search.value.toLowerCase(); this.most = SHOWN; this.draw(); });
      this.search = make("label", {}, make("span", { text: "Search queries" }), search);
      place.append(this.status, this.box, this.more);
    }
    rows() {
      const { queries, texts } = this.data;
      const found = [];
      for (let n = 0; n < queries.length; n += 1) {
        if (this.only && !this.only.has(n)) continue;
        if (!this.wanted || `${queries[n]} ${texts ? texts[n] : ""}`.toLowerCase().includes(this.wanted)) found.push(n);
      }
      const key = this.own || this.columns[this.sorted].key;
      const keys = new Map(found.map((n) => [n, key(n)]));
      return found.sort((a, b) => compared(keys.get(a), keys.get(b), this.falls) || a - b);
    }
    draw(focused = null) {
      const rows = this.rows();
      const head = make("tr", {}, ...this.columns.map((column, n) => this.heading(column, n)));
      const body = make("tbody", {}, ...rows.slice(0, this.most).map((n) => this.row(n)));
      const table = make("table", {}, make("caption", { text: this.name() }), make("thead", {}, head), body);
      this.box.replaceChildren(framed(table, this.name()));
      const all = this.data.total;
      this.status.textContent = `${count(Math.min(this.most, rows.length))} of ${count(rows.length)} shown`
        + (rows.length < all ? `, of ${count(all)} queries` : "");
      this.more.hidden = rows.length <= this.most;
      if (focused !== null) head.cells[focused].firstChild.focus();
    }
    heading(column, n) {
      const sort = n !== this.sorted ? "none" : this.falls ? "descending" : "ascending";
      const button = make("button", { type: "button", text: column.name, onclick: () => {
        this.own = null;
        if (this.sorted === n) this.falls = !this.falls;
        else Object.assign(this, { sorted: n, falls: Boolean(column.isNumber) });
        this.draw(n);
      } });
      return make("th", { scope: "col", class: column.isNumber ? "n" : null, "aria-sort": sort }, button);
    }
    row(n) {
      const cells = this.columns.map((column, place) => {
        const cell = make(place ? "td" : "th", { class: column.isNumber ? "n" : null, scope: place ? null : "row" });
        if (!place && this.onpick && this.onpick.has(n)) {
          cell.append(make("button", { type: "button", text: column.text(n), title: "Show its rankings", onclick: () => this.onpick.show(n) }));
        } else cell.textContent = column.text(n);
        return cell;
      });
      return make("tr", {}, ...cells);
    }
  }

  const at = (column, n) => (column ? column[n] : null);
  const low = (values, n) => at(values.low || values.v, n);
  const high = (values, n) => at(values.high || values.v, n);
  const number = (name, key, text) => ({ name, isNumber: true, key, text: text || ((n) => shown(key(n))) });
  const minus = (a, b) => (a === null || b === null ? null : a - b);

  function labels(data) {
    const found = [{ name: "query", key: (n) => data.queries[n], text: (n) => data.queries[n] }];
    if (data.texts) found.push({ name: "text", key: (n) => data.texts[n], text: (n) => data.texts[n] });
    return found;
  }

  // The queries, by how they decide between two systems.
  function showQueries(place, data, rankings) {
    const state = { measure: 0, one: data.duel[0], other: data.duel.length > 1 ? data.duel[1] : null };
    const controls = make("div", { class: "controls" });
    place.append(controls);
    const title = () => `${data.measures[state.measure].name}: ${data.systems[state.one]}`
      + (state.other === null ? "" : ` - ${data.systems[state.other]}`) + data.measures[state.measure].unit;
    const grid = new Grid(place, title, data, rankings);
    function update() {
      const a = data.values[state.measure][state.one];
      const columns = [...labels(data), number(data.systems[state.one], (n) => a.v[n])];
      if (state.other === null) {
        columns.push(number("over tie orders", (n) => minus(high(a, n), low(a, n)), (n) => span(low(a, n), high(a, n))));
        grid.falls = !data.measures[state.measure].up;
        grid.sorted = columns.length - 2;
      } else {
        const b = data.values[state.measure][state.other];
        const apart = (n) => minus(a.v[n], b.v[n]);
        const least = (n) => minus(low(a, n), high(b, n));
        const most = (n) => minus(high(a, n), low(b, n));
        columns.push(
          number(data.systems[state.other], (n) => b.v[n]),
          number("difference", apart),
          number("size", (n) => (apart(n) === null ? null : Math.abs(apart(n)))),
          number("over tie orders", (n) => minus(most(n), least(n)), (n) => span(least(n), most(n))),
        );
        grid.falls = true;
        grid.sorted = columns.length - 2;
      }
      Object.assign(grid, { columns, own: null });
      grid.draw();
    }
    const set = (name) => (value) => { state[name] = value; update(); };
    const chosen = {
      measure: choice("Measure", data.measures.map((one) => one.name), 0, set("measure")),
      one: choice("System", data.systems, state.one, set("one")),
    };
    if (state.other !== null) chosen.other = choice("Against", data.systems, state.other, set("other"));
    const kinds = state.other === null ? ["worst", "ties decide"] : ["differ most", "both fail", "ties decide"];
    const [kind, kindBox] = choice("Show first", kinds, 0, () => order());
    // where two differ most, where both fail, where ties decide
    function order() {
      const wanted = kinds[Number(kindBox.value)];
      const { up } = data.measures[state.measure];
      const place = grid.columns.length - (wanted === "differ most" ? 2 : 1);
      Object.assign(grid, { sorted: place, falls: true, own: null });
      if (wanted === "both fail" || wanted === "worst") {
        const columns = [state.one, state.other].filter(known).map((system) => data.values[state.measure][system].v);
        // the better of both, the lowest first
        grid.own = (n) => (columns.some((column) => column[n] === null) ? null : (up ? -1 : 1) * (up ? Math.max : Math.min)(...columns.map((column) => column[n])));
      }
      grid.draw();
    }
    controls.append(...Object.values(chosen).map((one) => one[0]), kind, grid.search);
    update();
    return (given) => {
      Object.assign(state, given.other === undefined ? { measure: given.measure } : { measure: given.measure, one: given.one, other: given.other });
      for (const [name, [, select]] of Object.entries(chosen)) select.value = state[name];
      grid.only = given.only;
      update();
    };
  }

  // The ties of each query in one run, and what they decide.
  function showTies(place, data) {
    const state = { measure: 0, system: data.duel[0] };
    const controls = make("div", { class: "controls" });
    place.append(controls);
    const grid = new Grid(place, () => `${data.measures[state.measure].name} of ${data.systems[state.system]}${data.measures[state.measure].unit}: ties by query`, data, null);
    function update() {
      const values = data.values[state.measure][state.system];
      const ties = data.ties[state.system];
      const columns = labels(data);
      if (ties) {
        const ratio = (n) => (ties.docs[n] ? ties.tied[n] / ties.docs[n] : null);
        const whole = (name, column) => number(name, (n) => column[n], (n) => count(column[n]));
        columns.push(whole("docs", ties.docs), whole("ties", ties.ties), whole("largest", ties.largest), number("ratio", ratio, (n) => percent(ratio(n))));
      }
      columns.push(number("value", (n) => values.v[n]));
      if (values.id) {
        columns.push(number("by document id, as trec_eval", (n) => values.id[n]), number("difference", (n) => minus(values.id[n], values.v[n])));
      }
      columns.push(
        number("tie min", (n) => low(values, n)), number("tie max", (n) => high(values, n)),
        number("range", (n) => minus(high(values, n), low(values, n))),
      );
      grid.columns = columns;
      Object.assign(grid, { sorted: columns.length - 1, falls: true });
      grid.draw();
    }
    const set = (name) => (value) => { state[name] = value; update(); };
    const chosen = {
      measure: choice("Measure", data.measures.map((one) => one.name), 0, set("measure")),
      system: choice("System", data.systems, state.system, set("system")),
    };
    controls.append(...Object.values(chosen).map((one) => one[0]), grid.search);
    update();
    return (given) => {
      state.measure = given.measure;
      chosen.measure[1].value = state.measure;
      grid.only = given.only;
      update();
    };
  }

  // Rankings of one query side by side.
  function makeRankings(place, data, onopen) {
    const held = data.rankings;
    const state = { n: 0, sides: [data.duel[0], ...(data.duel.length > 1 ? [data.duel[1]] : [])] };
    const controls = make("div", { class: "controls" });
    const sides = make("div", { class: "sides", "aria-live": "polite" });
    place.append(controls, sides);
    const names = held.map((one) => data.queries[one.query] + (data.texts && data.texts[one.query] ? `: ${data.texts[one.query]}` : ""));
    const [label, select] = choice("Query", names, 0, (value) => { state.n = value; draw(); onopen(held[value].query); });
    controls.append(label);
    const selects = state.sides.map((system, side) => {
      const [own, box] = choice(side ? "Right" : "Left", data.systems, system, (value) => { state.sides[side] = value; draw(); });
      controls.append(own);
      return box;
    });
    function draw() {
      const one = held[state.n];
      sides.replaceChildren(...state.sides.map((system) => sideOf(data, one, system)));
    }
    const places = new Map(held.map((one, n) => [one.query, n]));
    draw();
    return {
      has: (query) => places.has(query),
      sides: (systems) => {
        systems.slice(0, state.sides.length).forEach((system, side) => { state.sides[side] = system; selects[side].value = system; });
        draw();
      },
      open: (query) => {
        if (!places.has(query)) return;
        state.n = places.get(query);
        select.value = state.n;
        draw();
      },
      show: (query) => {
        state.n = places.get(query);
        select.value = state.n;
        draw();
        onopen(query);
        place.closest("section").scrollIntoView();
        select.focus({ preventScroll: true });
      },
    };
  }

  function sideOf(data, one, system) {
    const own = one.of[system];
    const name = data.systems[system];
    const measure = data.measures[0].name + data.measures[0].unit;
    const side = make("div", { class: "side" }, make("h3", { text: name }));
    const values = data.values[0][system];
    const value = at(values.v, one.query);
    const retrieved = own.n === null ? "" : `; ${count(own.n)} ${own.n === 1 ? "document" : "documents"} retrieved`;
    side.append(make("p", { class: "hint", text: `${data.measures[0].name} ${shown(value)}${data.measures[0].unit}, over tie orders ${span(low(values, one.query), high(values, one.query))}${retrieved}` }));
    if (own.n === null) side.append(make("p", { class: "hint", text: "The run is not here: judged documents alone." }));
    else if (own.docs.length) side.append(framed(rankingTable(one, own, name, data.queries[one.query]), `Ranking of ${name}`));
    else side.append(make("p", { text: "It retrieves no document." }));
    if (own.steps) side.append(stepsTable(one, own.steps, measure));
    else if (!own.stepped) side.append(make("p", { class: "hint", text: "How this value comes about is kept of the best systems alone; deadheat steps shows it." }));
    if (own.each.length) side.append(eachOrder(one, own.each, measure));
    else if (own.orders && own.orders.values.length > 1) side.append(ordersTable(own.orders, measure));
    return side;
  }

  // How a value comes about: a row a judged document; in a tie each has its mean over the orders.
  function stepsTable(one, { names, rows, left, value, divisor, sum, is_sum: isSum }, measure) {
    const name = `How ${measure} comes about`;
    const head = make("tr", {}, ...["rank", "document", "relevance"].map((text) => make("th", { scope: "col", text })), ...names.map((text) => make("th", { scope: "col", class: "n", text })));
    const body = rows.map(([first, last, doc, ...numbers]) => make("tr", {},
      make("th", { scope: "row", class: "rank", text: last > first ? `${count(first)}–${count(last)}` : count(first) }),
      make("td", { class: "doc", dir: "auto", text: one.docs[doc] }),
      make("td", { class: "rel", text: String(one.relevance[doc]) }),
      ...numbers.map((number, n) => make("td", { class: "n", text: names[n] === "gain" ? String(number) : shown(number) }))));
    if (left) body.push(make("tr", {}, make("td", { colspan: 3 + names.length, text: `and ${count(left)} more judged ${left === 1 ? "document" : "documents"}` })));
    const how = divisor !== 1 ? `${shown(sum)} / ${shown(divisor)} = ${shown(value)}` : isSum ? `The sum is ${shown(value)}.` : "sum: the value if the list ended with this tie.";
    const table = make("table", { class: "ranking", "aria-label": name }, make("thead", {}, head), make("tbody", {}, ...body));
    return make("details", { open: "" }, make("summary", { text: name }), framed(table, name), make("p", { class: "hint", text: how }));
  }

  function rankingTable(one, own, name, query) {
    const head = make("tr", {}, ...["rank", "document", "relevance", "score"].map((text) => make("th", { scope: "col", text })));
    const table = make("table", { class: "ranking" }, make("caption", { text: `${name}, query ${query}` }), make("thead", {}, head));
    for (let start = 0; start < own.docs.length;) {
      let stop = start + 1;
      while (stop < own.docs.length && own.scores[stop] === own.scores[start]) stop += 1;
      const beyond = stop === own.docs.length ? own.below : 0;
      const size = stop - start + beyond;
      const ranks = size === 1 ? `${start + 1}` : `${count(start + 1)}–${count(start + size)}`;
      const body = make("tbody", { class: size > 1 ? "tie" : null });
      for (let n = start; n < stop; n += 1) {
        const relevance = one.relevance[own.docs[n]];
        const kind = relevance === null ? "unjudged" : relevance > 0 ? "relevant" : null;
        const row = make("tr", { class: kind });
        if (n === start) {
          const text = size > 1 ? `${ranks}: tie of ${count(size)}` : ranks;
          row.append(make("th", { scope: size > 1 ? "rowgroup" : "row", class: "rank", rowspan: stop - start, text }));
        }
        row.append(
          make("td", { class: "doc", dir: "auto", text: `${one.docs[own.docs[n]]} ${one.names[own.docs[n]]}`.trim() }),
          make("td", { class: "rel", text: relevance === null ? "not judged" : String(relevance) }),
          make("td", { class: "n", text: typeof own.scores[n] === "string" ? own.scores[n] : String(Number(own.scores[n].toPrecision(6))) }),
        );
        body.append(row);
      }
      if (beyond) body.append(make("tr", {}, make("td", { colspan: 4, text: `and ${count(beyond)} more with this score` })));
      table.append(body);
      start = stop;
    }
    return table;
  }

  // Each order of the ties, where they are few, with its value.
  function eachOrder(one, each, measure) {
    const name = `The ${each.length} orders of its ties`;
    const head = make("tr", {}, make("th", { scope: "col", class: "n", text: measure }), make("th", { scope: "col", text: "documents in order" }));
    const rows = each.map(({ value, docs }) => make("tr", {}, make("th", { scope: "row", class: "n", text: shown(value) }),
      make("td", { class: "doc", dir: "auto", text: docs.map((doc) => one.docs[doc]).join(" ") })));
    return framed(make("table", { class: "orders each" }, make("caption", { text: name }), make("thead", {}, head), make("tbody", {}, ...rows)), name);
  }

  // What the orders of the ties make of a query: each value, or bins of them, with its probability.
  function ordersTable({ values, chances, bins }, measure) {
    const most = Math.max(...chances);
    const rows = values.map((value, n) => {
      const bar = make("span", { class: "bar", "aria-hidden": "true" });
      bar.style.width = `${(5 * chances[n]) / most}em`;
      const percent = chances[n] < 0.0005 ? "<0.1%" : `${(100 * chances[n]).toFixed(1)}%`;
      return make("tr", {}, make("th", { scope: "row", class: "n", text: shown(value) }), make("td", { class: "n", text: percent }), make("td", {}, bar));
    });
    const head = make("tr", {}, make("th", { scope: "col", class: "n", text: measure }), make("th", { scope: "col", class: "n", text: "of the orders" }), make("td"));
    const name = `Over the orders of its ties${bins ? ` (middles of ${values.length} bins)` : ""}`;
    const parts = [make("caption", { text: name }), make("thead", {}, head), make("tbody", {}, ...rows)];
    return framed(make("table", { class: "orders" }, ...parts), name);
  }

  // Figures that are in the page: their data as a table, and files of them.
  function showFigure(figure, held) {
    if (figure.dataset.chart) figure.dataset.drawn = "yes";
    offerFiles(figure);
    const details = figure.querySelector("details");
    details.hidden = false;
    details.addEventListener("toggle", () => {
      const inside = details.querySelector(".numbers");
      if (details.open) inside.replaceChildren(framed(dataTable(figure.rows || held || []), "Data of the figure"));
    });
  }
  // Letters of another font than a figure was drawn for may be wider: it shows all of them.
  function widened(svg) {
    const { left, right, width } = svg.getBoundingClientRect();
    if (!width) return;
    const boxes = [...svg.querySelectorAll("text")].map((one) => one.getBoundingClientRect());
    const [before, after] = [left - Math.min(left, ...boxes.map((one) => one.left)), Math.max(right, ...boxes.map((one) => one.right)) - right];
    const view = svg.viewBox.baseVal;
    const scale = view.width / width;
    view.x -= scale * before;
    svg.style.minWidth = `${(parseFloat(svg.style.minWidth) * (width + before + after)) / width}px`;
    view.width += scale * (before + after);
  }
  function offerFiles(figure) {
    const name = () => (figure.querySelector("figcaption") || figure).textContent.trim().replace(/[^\w@.-]+/g, "-").slice(0, 60) || "figure";
    const button = (text, onclick) => make("button", { type: "button", text, onclick, "aria-label": `${text} of the figure ${name()}` });
    figure.querySelector(".files").replaceChildren(
      button("SVG", () => save(new Blob([standalone(figure.querySelector("svg"))], { type: "image/svg+xml" }), `${name()}.svg`)),
      button("PNG", () => picture(figure.querySelector("svg"), `${name()}.png`)),
    );
  }
  const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "fill-opacity", "stroke-opacity", "font-size", "font-family", "font-weight", "text-anchor"];
  // A drawing as a file of its own: what style sheets say is written into it.
  function standalone(drawing) {
    const copy = drawing.cloneNode(true);
    const [from, to] = [drawing, copy].map((one) => [one, ...one.querySelectorAll("*")]);
    from.forEach((one, n) => {
      const style = getComputedStyle(one);
      for (const name of STYLES) to[n].style.setProperty(name, style.getPropertyValue(name));
      to[n].removeAttribute("data-tip");
    });
    const box = drawing.getBoundingClientRect();
    copy.setAttribute("width", Math.round(box.width));
    copy.setAttribute("height", Math.round(box.height));
    copy.style.background = getComputedStyle(document.body).backgroundColor;
    return new XMLSerializer().serializeToString(copy);
  }
  function picture(drawing, name) {
    const box = drawing.getBoundingClientRect();
    const image = new Image();
    image.addEventListener("load", () => {
      const canvas = make("canvas", { width: Math.round(2 * box.width), height: Math.round(2 * box.height) });
      const context = canvas.getContext("2d");
      context.fillStyle = getComputedStyle(document.body).backgroundColor;
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(blob, name));
    });
    image.src = `data:image/svg+xml,${encodeURIComponent(standalone(drawing))}`;
  }
  function save(blob, name) {
    const link = make("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
  function dataTable(held) {
    const names = [...new Set(held.flatMap((row) => Object.keys(row)))];
    const isNumber = names.map((name) => held.every((row) => row[name] === null || row[name] === undefined || typeof row[name] === "number"));
    const head = make("tr", {}, ...names.map((text, n) => make("th", { scope: "col", class: isNumber[n] ? "n" : null, text: text.replaceAll("_", " ") })));
    const rows = held.map((row) => make("tr", {}, ...names.map((name, n) => make("td", { class: isNumber[n] ? "n" : null, text: cellText(row[name]) }))));
    return make("table", {}, make("caption", { text: "Data of the figure" }), make("thead", {}, head), make("tbody", {}, ...rows));
  }
  function cellText(value) {
    if (typeof value === "number") return Number.isInteger(value) ? String(value) : shown(value);
    return value === null || value === undefined ? "-" : String(value);
  }

  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(JSON.parse(text).data), (one) => one.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }

  // Drawings: text has the size of the page at every width, colours are those of the theme.
  const SVG = "http://www.w3.org/2000/svg";
  const pen = document.createElement("canvas").getContext("2d");
  function wide(text) {
    pen.font = "12px system-ui, sans-serif";
    return pen.measureText(text).width;
  }
  function draw(tag, options = {}, ...children) {
    const one = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(options)) {
      if (name === "text") one.textContent = value;
      else if (name.startsWith("on")) one.addEventListener(name.slice(2), value);
      else if (value !== null && value !== undefined) one.setAttribute(name, typeof value === "number" ? Number(value.toFixed(2)) : value);
    }
    one.append(...children.filter((child) => child !== null));
    return one;
  }
  function scaleOf(values, from, to, withZero, apart = 80) {
    const known = values.filter((one) => one !== null && Number.isFinite(one));
    let [start, end] = known.length ? [Math.min(...known), Math.max(...known)] : [0, 1];
    if (withZero) [start, end] = [Math.min(start, 0), Math.max(end, 0)];
    if (end - start < 1e-9) [start, end] = [start - 0.5, end + 0.5];
    const raw = (end - start) / Math.max(2, Math.min(6, Math.abs(to - from) / apart));
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].find((one) => one * power >= raw) * power;
    const first = Math.floor(start / step + 1e-9);
    const last = Math.ceil(end / step - 1e-9);
    const ticks = Array.from({ length: last - first + 1 }, (_, n) => Number(((first + n) * step).toPrecision(12)));
    const at = (value) => from + ((value - ticks[0]) / (ticks[ticks.length - 1] - ticks[0])) * (to - from);
    return { at, ticks, text: (tick) => tick.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9))) };
  }
  // A name in lines that fit; it is broken anywhere, and never cut.
  function linesOf(name, width) {
    const lines = [""];
    for (const letter of name) {
      if (wide(lines[lines.length - 1] + letter) > width) lines.push("");
      lines[lines.length - 1] += letter;
    }
    return lines;
  }
  const sizeOf = (stratum) => stratum.n ?? stratum.queries.length;
  const known = (value) => value !== null && value !== undefined;

  // Rows of systems on one scale; each row gives its marks. Long names stand above their row.
  function drawRows(width, rows, values, title, marks, { withZero = false, onclick = null } = {}) {
    const longest = Math.max(...rows.map((row) => wide(row.name))) + 12;
    const isBeside = longest <= 0.45 * width;
    const left = isBeside ? longest : 18;
    const scale = scaleOf(values, left, width - 18, withZero);
    const parts = [];
    let y = 4;
    for (const row of rows) {
      const lines = isBeside ? [row.name] : linesOf(row.name, width - 8);
      const top = y;
      lines.forEach((text, n) => parts.push(draw("text", { x: isBeside ? left - 8 : 0, y: y + 16 + 15 * n, "text-anchor": isBeside ? "end" : "start", text })));
      y += isBeside ? 0 : 15 * lines.length;
      parts.push(draw("g", { class: "row", "data-tip": row.tip, onclick: onclick && (() => onclick(row)) }, draw("rect", { x: 0, y: top, width, height: y + 24 - top, class: "target" }), ...marks(row, scale.at, y + 12)));
      y += 26;
    }
    const grid = scale.ticks.map((tick) => draw("path", { class: tick === 0 && withZero ? "zero" : "grid", d: `M${scale.at(tick).toFixed(1)} 2V${y}` }));
    const labels = scale.ticks.map((tick) => draw("text", { x: scale.at(tick), y: y + 16, "text-anchor": "middle", class: "soft", text: scale.text(tick) }));
    return draw("svg", { role: "img", "aria-label": title, width, height: y + 24, viewBox: `0 0 ${width} ${y + 24}` }, ...grid, ...parts, ...labels);
  }
  const line = (from, to, y, kind, ends) => (known(from) && known(to) ? draw("path", { class: kind, d: `M${from.toFixed(1)} ${y}H${to.toFixed(1)}${ends ? `M${from.toFixed(1)} ${y - 4}v8M${to.toFixed(1)} ${y - 4}v8` : ""}` }) : null);
  const band = (from, to, y, height) => (known(from) && known(to) ? draw("rect", { class: "band", x: from, y: y - height / 2, width: Math.max(to - from, 1), height }) : null);
  const where = (at, value) => (known(value) && Number.isFinite(value) ? at(value) : null);

  // What one looks at: measure, baseline, systems, stratum and query. It is in the address, so that it can be sent.
  class View {
    constructor(number, data) {
      Object.assign(this, { number, data });
      this.place = (kind) => document.querySelector(`[data-${kind}="${number}"]`);
      this.suffix = number ? `.${number}` : "";
      this.sorted = { column: "mean", falls: null };
      const queries = this.place("queries");
      const rankings = this.place("rankings");
      if (rankings && data.rankings.length) {
        this.rankings = makeRankings(rankings, data, (query) => this.change({ q: data.queries[query] }));
        const section = rankings.closest("section");
        section.hidden = rankings.hidden = false;
        document.querySelector(`nav a[href="#${section.id}"]`).parentNode.hidden = false;
      }
      if (queries && data.queries.length) {
        this.queries = showQueries(queries, data, this.rankings || null);
        queries.hidden = false;
        const still = queries.closest("section").querySelector(".static");
        if (still) still.hidden = true;
      }
      const ties = this.place("ties");
      if (ties && data.queries.length) {
        this.ties = showTies(ties, data);
        ties.hidden = false;
      }
      this.board = this.place("board");
      this.figures = [...document.querySelectorAll(`figure[data-live^="${number}:"]`)];
      this.makeToolbar();
      this.read();
      let width = innerWidth;
      addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; this.drawFigures(); } });
    }
    // The state, from the address; what it does not say is as the page was made.
    read() {
      const given = new URLSearchParams(location.hash.slice(1));
      const of = (name) => given.get(name + this.suffix);
      const { data } = this;
      const place = (names, name, otherwise) => (names.includes(name) ? names.indexOf(name) : otherwise);
      this.measure = place(data.measures.map((one) => one.name), of("m"), 0);
      this.baseline = place(data.systems, of("b"), data.baseline ?? (data.duel.length > 1 ? data.duel[1] : null));
      const hidden = new Set((of("without") || "").split("\n").filter(Boolean));
      this.shown = data.systems.map((_, n) => n).filter((n) => !hidden.has(data.systems[n]));
      this.stratum = place(data.strata.map((one) => one.name), of("g"), -1);
      this.query = of("q");
      this.update();
      if (this.query !== null && this.rankings) this.rankings.open(data.queries.indexOf(this.query));
    }
    change(more) {
      const { data } = this;
      const given = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
      const state = {
        m: this.measure ? data.measures[this.measure].name : "",
        b: this.baseline !== null && this.baseline !== (data.baseline ?? data.duel[1]) ? data.systems[this.baseline] : "",
        without: data.systems.filter((_, n) => !this.shown.includes(n)).join("\n"),
        g: this.stratum < 0 ? "" : data.strata[this.stratum].name,
        q: this.query || "",
        ...more,
      };
      if (state.q) this.query = state.q;
      for (const [name, value] of Object.entries(state)) {
        if (value) given.set(name + this.suffix, value);
        else given.delete(name + this.suffix);
      }
      const hash = `#${given}`;
      if (hash !== location.hash && !(hash === "#" && !location.hash)) history.pushState(null, "", hash === "#" ? location.pathname + location.search : hash);
    }
    set(name, value) {
      this[name] = value;
      this.change({});
      this.update();
    }
    makeToolbar() {
      const { data } = this;
      const bar = this.place("toolbar");
      const status = make("span", { role: "status", class: "hint" });
      const tell = (text) => { status.textContent = text; };
      const controls = make("div", { class: "controls" });
      const add = (name, label, names, chosen, taken) => {
        const [own, select] = choice(label, names, chosen, taken);
        controls.append(own);
        this[name] = select;
      };
      add("measureBox", "By measure", data.measures.map((one) => one.name), 0, (value) => this.set("measure", value));
      if (data.systems.length > 1) {
        add("baselineBox", "Baseline", data.systems, 0, (value) => this.set("baseline", value));
        controls.append(this.chooser());
      }
      if (data.strata.length) add("stratumBox", "Stratum", ["all queries", ...data.strata.map((one) => `${one.name} (${count(sizeOf(one))})`)], 0, (value) => this.set("stratum", value - 1));
      const button = (text, onclick) => make("button", { type: "button", text, onclick });
      controls.append(make("div", { class: "buttons" },
        button("Copy table", () => copy(this.rowsOfBoard().map((row) => row.join("\t")).join("\n"), tell)),
        button("CSV", () => save(new Blob([this.rowsOfBoard().map((row) => row.map(quoted).join(",")).join("\n")], { type: "text/csv" }), "leaderboard.csv")),
        button("Copy link", () => copy(location.href, tell)), status));
      controls.hidden = innerWidth <= 700;
      this.summary = make("button", { type: "button", class: "view", "aria-expanded": String(!controls.hidden), onclick: () => {
        controls.hidden = !controls.hidden;
        this.summary.setAttribute("aria-expanded", String(!controls.hidden));
      } });
      bar.append(this.summary, controls);
      bar.hidden = false;
    }
    chooser() {
      const { data } = this;
      const search = make("input", { type: "search", autocomplete: "off", "aria-label": "Search systems" });
      this.boxes = data.systems.map((name, n) => {
        const box = make("input", { type: "checkbox", onchange: () => this.set("shown", this.boxes.flatMap((one, place) => (one.checked ? [place] : []))) });
        return Object.assign(box, { label: make("label", {}, box, make("span", { text: name })), name: name.toLowerCase(), place: n });
      });
      search.addEventListener("input", () => { for (const box of this.boxes) box.label.hidden = !box.name.includes(search.value.toLowerCase()); });
      const all = make("button", { type: "button", text: "All", onclick: () => this.set("shown", data.systems.map((_, n) => n)) });
      const list = make("div", { class: "list", role: "group", "aria-label": "Systems" }, ...this.boxes.map((one) => one.label));
      this.chosen = make("summary");
      const chooser = make("details", { class: "chooser" }, this.chosen, make("div", { class: "pop" }, search, all, list));
      document.addEventListener("pointerdown", (event) => { if (!chooser.contains(event.target)) chooser.open = false; });
      chooser.addEventListener("focusout", (event) => { if (event.relatedTarget && !chooser.contains(event.relatedTarget)) chooser.open = false; });
      chooser.addEventListener("keydown", (event) => {
        if (event.key !== "Escape") return;
        chooser.open = false;
        this.chosen.focus();
      });
      return chooser;
    }
    // The numbers of a system by a measure: those of the page, or of a stratum the means of its queries.
    numbers(system, measure = this.measure) {
      const { data } = this;
      const held = data.board[measure][system];
      if (this.stratum < 0) return held;
      const { queries, board } = data.strata[this.stratum];
      if (board) return { mean: null, low: null, high: null, least: null, most: null, ...board[measure][system] }; // its queries are not all here
      const values = data.values[measure][system];
      const { total } = data.measures[measure];
      const weight = (n) => (data.weights && !total ? data.weights[n] : 1);
      const mean = (column) => {
        const own = queries.filter((n) => known(column[n]));
        if (!own.length) return null;
        const sum = own.reduce((a, n) => a + weight(n) * column[n], 0);
        const found = sum / (total ? 1 : own.reduce((a, n) => a + weight(n), 0));
        return data.measures[measure].unit ? Math.exp(found) : found; // of logarithms the geometric mean
      };
      return { mean: mean(values.v), low: null, high: null, least: mean(values.low || values.v), most: mean(values.high || values.v), id: values.id ? mean(values.id) : null };
    }
    nQueries() {
      return this.stratum < 0 ? this.data.total : sizeOf(this.data.strata[this.stratum]);
    }
    // The heading of intervals, with how many queries they are over.
    level() {
      const found = this.data.levels[this.measure];
      return this.stratum < 0 ? found : found.replace(/ \(.*/, "");
    }
    // How a system differs from the baseline, as far as that was tested.
    against(system) {
      if (this.stratum >= 0 || this.baseline === null || system === this.baseline) return null;
      const own = this.data.pairs.find((one) => one[0] === this.measure && one[1] === system && one[2] === this.baseline);
      if (own) return { difference: own[3], low: own[4], high: own[5], p: own[6], isShown: own[7], flip: own[8] };
      const other = this.data.pairs.find((one) => one[0] === this.measure && one[2] === system && one[1] === this.baseline);
      return other ? { difference: -other[3], low: minus(0, other[5]), high: minus(0, other[4]), p: other[6], isShown: other[7], flip: other[8] } : null;
    }
    told(system) {
      const found = this.against(system);
      if (system === this.baseline) return "baseline";
      if (!found || !known(found.p)) return "not tested";
      if (!found.isShown) return "not told apart";
      return (found.difference > 0) === this.data.measures[this.measure].up ? "better" : "worse";
    }
    update() {
      const { data } = this;
      const one = data.measures[this.measure];
      this.measureBox.value = this.measure;
      if (this.baselineBox) {
        this.baselineBox.value = this.baseline;
        for (const box of this.boxes) box.checked = this.shown.includes(box.place);
        const more = data.left ? `, ${count(data.left)} more in the tables` : "";
        this.chosen.textContent = `Systems: ${this.shown.length} of ${data.systems.length}${more}`;
      }
      if (this.stratumBox) this.stratumBox.value = this.stratum + 1;
      const only = this.stratum < 0 ? null : new Set(data.strata[this.stratum].queries);
      this.summary.textContent = [`View: ${one.name}`, this.baseline === null ? "" : `against ${data.systems[this.baseline]}`, only ? data.strata[this.stratum].name : ""].filter(Boolean).join(" · ");
      const first = this.place("first");
      first.querySelector(".headline").textContent = data.headlines[this.measure];
      first.querySelectorAll(".glance").forEach((card, n) => {
        const [heading, value, text] = data.glances[this.measure][n] || ["", "", ""];
        card.replaceChildren(...[["dt", heading], ["dd", value], ["dd", text]].map(([tag, words]) => make(tag, { text: words })));
        card.hidden = !value;
      });
      this.drawBoard();
      this.drawFigures();
      const leader = [...this.shown].filter((n) => n !== this.baseline).sort((a, b) => compared(this.numbers(a).mean, this.numbers(b).mean, one.up))[0];
      const given = { measure: this.measure, one: leader ?? data.duel[0], other: this.baseline ?? undefined, only };
      if (data.duel.length > 1 && given.other !== undefined) {
        if (this.rankings && (this.pair !== `${given.one} ${given.other}`)) this.rankings.sides([given.one, given.other]);
        this.pair = `${given.one} ${given.other}`;
      }
      if (this.queries) this.queries(given);
      if (this.ties) this.ties(given);
    }
    columns() {
      const { data } = this;
      const one = data.measures[this.measure];
      const name = (n) => data.systems[n];
      const all = this.shown.map((n) => this.numbers(n));
      const ends = all.flatMap((own) => [own.mean, own.low, own.high, own.least, own.most]).filter(known);
      const [least, most] = [Math.min(...ends), Math.max(...ends)];
      const at = (value) => (most > least ? 6 + ((value - least) / (most - least)) * 168 : 90);
      const found = [
        { key: "system", name: "system", text: name, sort: name },
        { key: "mean", name: one.name + (one.total ? " (total)" : "") + (one.up ? "" : " (less is better)"), isNumber: true, text: (n) => shown(this.numbers(n).mean), sort: (n) => this.numbers(n).mean },
        { key: "ci", name: this.level(), help: "interval", isNumber: true, text: (n) => (known(this.numbers(n).low) ? span(this.numbers(n).low, this.numbers(n).high) : "-"), sort: (n) => this.numbers(n).low },
        { key: "drawn", name: ends.length ? `scale ${least.toFixed(2)} to ${most.toFixed(2)}` : "", help: "drawn", draw: (n) => inlineOf(this.numbers(n), at) },
        { key: "ties", name: "tie orders", help: "tie orders", isNumber: true, text: (n) => span(this.numbers(n).least, this.numbers(n).most), sort: (n) => minus(this.numbers(n).most, this.numbers(n).least) },
      ];
      if (all.some((own) => known(own.id))) found.push({ key: "id", name: "by document id, as trec_eval", help: "by document id, as trec_eval", isNumber: true, text: (n) => shown(this.numbers(n).id), sort: (n) => this.numbers(n).id });
      if (this.baseline !== null && this.stratum < 0) found.push({ key: "told", name: `against ${name(this.baseline)}`, help: "not told apart", text: (n) => this.told(n), sort: (n) => this.told(n) });
      data.measures.forEach((other, place) => {
        if (place === this.measure) return;
        found.push({ key: `m${place}`, name: other.name + (other.total ? " (total)" : "") + (other.up ? "" : " (less is better)"), isNumber: true, text: (n) => shown(this.numbers(n, place).mean), sort: (n) => this.numbers(n, place).mean });
      });
      return found;
    }
    rowsOfBoard() {
      const columns = this.columns().filter((one) => one.text);
      return [columns.map((one) => one.name), ...this.inOrder(columns).map((n) => columns.map((one) => one.text(n)))];
    }
    inOrder(columns) {
      const by = columns.find((one) => one.key === this.sorted.column) || columns[1];
      const falls = this.sorted.falls ?? this.data.measures[this.measure].up;
      const keys = new Map(this.shown.map((n) => [n, by.sort(n)]));
      return [...this.shown].sort((a, b) => compared(keys.get(a), keys.get(b), falls) || a - b);
    }
    drawBoard(focused = null) {
      if (this.data.left) return; // of so many systems all are in the table that is there already
      const columns = this.columns();
      const title = `Systems by ${this.data.measures[this.measure].name}${this.stratum < 0 ? "" : `, ${this.data.strata[this.stratum].name} only (intervals: see Strata)`}`;
      const head = make("tr", {}, ...columns.map((column, place) => {
        const cell = make("th", { scope: "col", class: column.isNumber ? "n" : null });
        if (column.sort) {
          const isOwn = column.key === this.sorted.column;
          const falls = this.sorted.falls ?? this.data.measures[this.measure].up;
          cell.setAttribute("aria-sort", isOwn ? (falls ? "descending" : "ascending") : "none");
          const help = TERMS.get(column.help) || TERMS.get("mean");
          cell.append(make("button", { type: "button", text: column.name, "data-tip": column.isNumber || column.help ? help : null, onclick: () => {
            this.sorted = { column: column.key, falls: isOwn ? !falls : Boolean(column.isNumber) };
            this.drawBoard(place);
          } }));
        } else cell.append(make("span", { text: column.name, tabindex: "0", "data-tip": TERMS.get(column.help) }));
        return cell;
      }));
      const body = this.inOrder(columns).map((n) => make("tr", { class: n === this.baseline ? "base" : null }, ...columns.map((column, place) => {
        const cell = make(place ? "td" : "th", { class: column.isNumber ? `n${column.key === "mean" ? " main" : ""}` : null, scope: place ? null : "row" });
        if (column.draw) cell.append(column.draw(n));
        else cell.textContent = column.text(n);
        return cell;
      })));
      this.board.replaceChildren(framed(make("table", {}, make("caption", { text: title }), make("thead", {}, head), make("tbody", {}, ...body)), title));
      if (focused !== null) head.cells[focused].querySelector("button").focus();
    }
    drawFigures() {
      const { data } = this;
      const one = data.measures[this.measure];
      const order = this.shown.filter((n) => known(this.numbers(n).mean)).sort((a, b) => compared(this.numbers(a).mean, this.numbers(b).mean, one.up)).slice(0, MOST_ROWS);
      const rows = order.map((n) => ({ n, name: data.systems[n], ...this.numbers(n) }));
      const isDrawn = rows.length > 0 && this.nQueries() > 1; // of one query there are only single points
      const made = (figure, width) => (isDrawn ? DRAWINGS[figure.dataset.live.split(":")[1]](this, rows, one, width) : null);
      for (const figure of this.figures) figure.hidden = !made(figure, 300); // how many there are decides how wide they are
      for (const figure of this.figures.filter((own) => !own.hidden)) {
        const canvas = figure.querySelector(".canvas");
        const [title, note, drawing, held] = made(figure, Math.max(240, Math.floor(canvas.clientWidth)));
        figure.querySelector("figcaption").replaceChildren(make("strong", { text: title }), make("span", { text: note }));
        canvas.replaceChildren(drawing);
        figure.rows = held;
        const numbers = figure.querySelector("details");
        if (numbers.open) numbers.querySelector(".numbers").replaceChildren(framed(dataTable(held), "Data of the figure"));
      }
    }
  }
  // Whether some order of the ties ranks systems in another way, or changes the mean of a single one: figure_choice.py.
  function doTiesDecide(rows, isUp) {
    const sign = isUp ? 1 : -1;
    const ends = rows.map((row) => [sign * row.least, sign * row.most].sort((a, b) => a - b));
    if (rows.length === 1) return ends[0][1] - ends[0][0] > NOISE;
    return ends.some(([, best], n) => ends.slice(0, n).some(([worst]) => best > worst + NOISE));
  }
  const MOST_ROWS = 60;
  const DRAWINGS = {
    forest(view, rows, one, width) {
      const best = rows[0];
      const n = rows.filter((row) => !(Math.abs(minus(row.mean, best.mean)) > NOISE)).length;
      const alone = n > 1 ? `${n === 2 ? `${best.name} and ${rows[1].name}` : `${n} systems`} share` : `${best.name} has`;
      const among = view.data.left ? `the ${rows.length} systems shown` : `${rows.length} systems`;
      const title = rows.length > 1 ? `${alone} the best ${one.name} of ${among}` : `${one.name} of ${best.name}`;
      const told = rows.map((row) => ({ ...row, tip: `${row.name}: ${one.name} ${shown(row.mean)}${known(row.low) ? `, interval ${span(row.low, row.high)}` : ""}` }));
      const values = rows.flatMap((row) => [row.mean, row.low, row.high]);
      const marks = (row, at, y) => [line(where(at, row.low), where(at, row.high), y, "range", true), known(row.mean) ? draw("circle", { class: "dot", cx: at(row.mean), cy: y, r: 4.5 }) : null];
      return [title, `Dots: ${one.total ? "totals" : "means"}. Lines: ${view.level()}.`, drawRows(width, told, values, title, marks), rows.map((row) => ({ system: row.name, mean: row.mean, low: row.low, high: row.high }))];
    },
    ties(view, rows, one, width) {
      const spans = rows.map((row) => minus(row.most, row.least) || 0);
      if (!doTiesDecide(rows, one.up)) return null;
      const most = rows[spans.indexOf(Math.max(...spans))];
      const title = `The order of equal scores alone moves ${most.name} from ${shown(most.least)} to ${shown(most.most)}`;
      const hasId = rows.some((row) => known(row.id));
      const told = rows.map((row) => ({ ...row, tip: `${row.name}: ${one.name} ${shown(row.mean)}, tie orders ${span(row.least, row.most)}${known(row.id) ? `, by document id, as trec_eval ${shown(row.id)}` : ""}` }));
      const values = rows.flatMap((row) => [row.mean, row.least, row.most, row.id]);
      const marks = (row, at, y) => [
        band(where(at, row.least), where(at, row.most), y, 14),
        known(row.mean) ? draw("circle", { class: "dot", cx: at(row.mean), cy: y, r: 4.5 }) : null,
        known(row.id) ? draw("path", { class: "other", d: `M${at(row.id).toFixed(1)} ${y - 6}l6 6l-6 6l-6 -6z` }) : null,
      ];
      const note = `Bands: all orders of the ties. Dots: ${one.name} as reported.${hasId ? " Diamonds: ties broken by document id, as trec_eval." : ""}`;
      return [title, note, drawRows(width, told, values, title, marks), rows.map((row) => ({ system: row.name, value: row.mean, "tie min": row.least, "tie max": row.most, ...(hasId ? { "by document id, as trec_eval": row.id } : {}) }))];
    },
    differences(view, rows, one, width) {
      const { data, measure, baseline } = view;
      const leader = rows.find((row) => row.n !== baseline);
      if (baseline === null || !leader) return null;
      const curve = data.curves && data.curves[measure][leader.n];
      if (data.curves && (view.stratum >= 0 || !curve || curve.against !== baseline)) return null; // not all values are here
      const [a, b] = [data.values[measure][leader.n], data.values[measure][baseline]];
      const only = view.stratum < 0 ? data.queries.map((_, n) => n) : data.strata[view.stratum].queries;
      const found = curve ? curve.values.map((value) => ({ value, least: value, most: value })) : only.map((n) => ({ n, value: minus(a.v[n], b.v[n]), least: minus(low(a, n), high(b, n)), most: minus(high(a, n), low(b, n)) })).filter((row) => known(row.value)).sort((x, y) => y.value - x.value || x.n - y.n);
      if (!found.length) return null;
      const [won, lost] = curve ? [curve.up, curve.down] : [found.filter((row) => row.value > NOISE).length, found.filter((row) => row.value < -NOISE).length];
      const n = curve ? curve.n : found.length;
      const [up, down] = one.up ? [won, lost] : [lost, won];
      const name = data.systems[baseline];
      const queries = `${count(n)} ${n === 1 ? "query" : "queries"}`;
      const title = won + lost ? `${leader.name} is better than ${name} on ${count(up)} of ${queries}, worse on ${count(down)}` : `${leader.name} and ${name} are equal on all of ${queries}`;
      const height = 220;
      const scale = scaleOf(found.flatMap((row) => [row.value, row.least, row.most]), height - 10, 10, true, 45);
      const left = Math.max(...scale.ticks.map((tick) => wide(scale.text(tick)))) + 10;
      const step = (width - left - 6) / found.length;
      const grid = scale.ticks.flatMap((tick) => [
        draw("path", { class: tick === 0 ? "zero" : "grid", d: `M${left} ${scale.at(tick).toFixed(1)}H${width}` }),
        draw("text", { x: left - 6, y: scale.at(tick) + 4, "text-anchor": "end", class: "soft", text: scale.text(tick) }),
      ]);
      const bars = [];
      const kindOf = (value) => (Math.abs(value) <= NOISE ? "equal" : value * (one.up ? 1 : -1) > 0 ? "gain" : "loss");
      if (n > 600) { // too narrow for bars of their own
        for (const kind of ["gain", "loss"]) {
          const points = found.map((row, n) => [left + step * n, row.value]).filter((point) => kindOf(point[1]) === kind).map(([x, value]) => `${x.toFixed(1)} ${scale.at(value).toFixed(1)}`);
          const [start] = (points[0] || "").split(" ");
          if (points.length) bars.push(draw("path", { class: kind, d: `M${start} ${scale.at(0).toFixed(1)}L${points.join("L")}V${scale.at(0).toFixed(1)}z` }));
        }
      } else {
        found.forEach((row, n) => {
          const [x, y, zero] = [left + step * n, scale.at(row.value), scale.at(0)];
          const hasRange = row.most - row.least > NOISE;
          const text = `${data.queries[row.n]}: ${shown(row.value)}, over tie orders ${span(row.least, row.most)}`;
          bars.push(draw("g", { class: view.rankings && view.rankings.has(row.n) ? "row opens" : "row", "data-tip": text, onclick: () => { if (view.rankings && view.rankings.has(row.n)) view.rankings.show(row.n); } },
            draw("rect", { class: "target", x, y: 0, width: step, height }),
            hasRange ? draw("path", { class: "reach", d: `M${(x + step / 2).toFixed(1)} ${scale.at(row.least).toFixed(1)}V${scale.at(row.most).toFixed(1)}` }) : null,
            draw("rect", { class: kindOf(row.value), x: x + 0.2 * step, y: Math.min(y, zero), width: Math.max(0.6 * step, 0.6), height: Math.max(Math.abs(y - zero), 0.5) }),
            hasRange ? draw("path", { class: "cap", d: [row.least, row.most].map((end) => `M${(x + 0.05 * step).toFixed(1)} ${scale.at(end).toFixed(1)}h${(0.9 * step).toFixed(1)}`).join("") }) : null));
        });
      }
      const label = draw("text", { x: left, y: height + 14, class: "soft", text: `${count(n)} queries, by difference` });
      const drawing = draw("svg", { role: "img", "aria-label": title, width, height: height + 22, viewBox: `0 0 ${width} ${height + 22}` }, ...grid, ...bars, label);
      const how = curve ? `${count(found.length)} of them, evenly spaced.` : "Lines: over the orders of ties.";
      return [title, `Bars: ${one.name} of ${leader.name} less that of ${name}${one.unit}, query by query. ${how}`, bars.length > 1 ? walked(bars, drawing) : drawing, found.map((row) => (curve ? { difference: row.value } : { query: data.queries[row.n], difference: row.value, "tie min": row.least, "tie max": row.most }))];
    },
  };
  // Bars for the keyboard: one stop for all; arrow keys go from one to the next, and Enter does what a click does.
  function walked(bars, drawing) {
    let at = 0;
    const go = (to) => {
      bars[at].classList.remove("at");
      at = Math.max(0, Math.min(to, bars.length - 1));
      bars[at].classList.add("at");
      box.setAttribute("aria-valuenow", at + 1);
      box.setAttribute("aria-valuetext", bars[at].dataset.tip);
    };
    const onkeydown = (event) => {
      const to = { ArrowLeft: at - 1, ArrowUp: at - 1, ArrowRight: at + 1, ArrowDown: at + 1, Home: 0, End: bars.length, Enter: at }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      go(to);
      showTip({ target: bars[at], type: "focusin" });
      if (event.key === "Enter") bars[at].dispatchEvent(new MouseEvent("click"));
    };
    const label = "Queries, by difference: arrow keys go through them, Enter opens one";
    const onblur = () => { bars[at].classList.remove("at"); tip.hidden = true; };
    const box = make("div", { role: "slider", tabindex: "0", "aria-label": label, "aria-valuemin": 1, "aria-valuemax": bars.length, onkeydown, onblur }, drawing);
    go(at);
    onblur();
    return box;
  }
  // The interval, the mean and the band of tie orders of a row of the leaderboard, on one scale.
  function inlineOf({ mean, low: from, high: to, least, most }, at) {
    return draw("svg", { width: 180, height: 22, viewBox: "0 0 180 22", "aria-hidden": "true", class: "inline" },
      band(where(at, least), where(at, most), 11, 12), line(where(at, from), where(at, to), 11, "range", true),
      known(mean) ? draw("circle", { class: "dot", cx: at(mean), cy: 11, r: 3.5 }) : null);
  }
  // A field of CSV; one that a spreadsheet would take for a formula gets an apostrophe, as in Python's spreadsheets.py.
  const quoted = (text) => {
    const safe = /^'*(\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r]|\s*::)/.test(text) && !/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text) && text !== "-" ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  async function copy(text, tell) {
    try {
      await navigator.clipboard.writeText(text);
      tell("Copied.");
    } catch {
      const area = make("textarea", {});
      area.value = text;
      document.body.append(area);
      area.select();
      tell(document.execCommand("copy") ? "Copied." : "The browser does not let a page copy.");
      area.remove();
    }
  }
  const TERMS = new Map([...document.querySelectorAll("#glossary dt")].map((one) => [one.textContent, one.nextElementSibling.textContent]));

  async function begin() {
    document.body.append(tip);
    document.querySelectorAll(".sortable table").forEach(sortable);
    for (const one of document.querySelectorAll("details.full")) one.open = false; // open without scripts
    const data = await unpacked(document.getElementById("deadheat-data").textContent);
    document.querySelectorAll("figure.chart").forEach((figure) => showFigure(figure, data.charts[Number(figure.dataset.chart)]));
    document.querySelectorAll("figure:not([data-live]) .canvas svg").forEach(widened);
    const views = data.subjects.map((subject, n) => new View(n, subject));
    addEventListener("popstate", () => views.forEach((view) => view.read()));
    // links inside the page leave the view in the address
    document.addEventListener("click", (event) => {
      const link = event.target.closest("a[href^='#']");
      const target = link && document.getElementById(link.getAttribute("href").slice(1));
      if (!target) return;
      event.preventDefault();
      target.scrollIntoView();
      target.setAttribute("tabindex", "-1");
      target.focus({ preventScroll: true });
    });
    // on paper all is open but for what is left out, and afterwards as it was
    let opened = [];
    addEventListener("beforeprint", () => {
      opened = [...document.querySelectorAll("details:not(.live):not([open])")];
      for (const one of opened) one.open = true;
    });
    addEventListener("afterprint", () => { for (const one of opened) one.open = false; });
    document.documentElement.dataset.ready = "yes";
  }
  begin().catch((error) => console.error(error));
})();
