// Makes a page of deadheat live: tables that sort, search in queries, rankings, figures with numbers under the mouse.
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
      Object.assign(this, { data, name, onpick, columns: [], sorted: 0, falls: true, most: SHOWN, wanted: "" });
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
        if (!this.wanted || `${queries[n]} ${texts ? texts[n] : ""}`.toLowerCase().includes(this.wanted)) found.push(n);
      }
      const { key } = this.columns[this.sorted];
      const keys = new Map(found.map((n) => [n, key(n)]));
      return found.sort((a, b) => compared(keys.get(a), keys.get(b), this.falls) || a - b);
    }
    draw(focused = null) {
      const rows = this.rows();
      const head = make("tr", {}, ...this.columns.map((column, n) => this.heading(column, n)));
      const body = make("tbody", {}, ...rows.slice(0, this.most).map((n) => this.row(n)));
      const table = make("table", {}, make("caption", { text: this.name() }), make("thead", {}, head), body);
      this.box.replaceChildren(framed(table, this.name()));
      const all = this.data.queries.length;
      this.status.textContent = `${count(Math.min(this.most, rows.length))} of ${count(rows.length)} shown`
        + (rows.length < all ? `, of ${count(all)} queries` : "");
      this.more.hidden = rows.length <= this.most;
      if (focused !== null) head.cells[focused].firstChild.focus();
    }
    heading(column, n) {
      const sort = n !== this.sorted ? "none" : this.falls ? "descending" : "ascending";
      const button = make("button", { type: "button", text: column.name, onclick: () => {
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
      + (state.other === null ? "" : ` - ${data.systems[state.other]}`);
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
      grid.columns = columns;
      grid.draw();
    }
    const set = (name) => (value) => { state[name] = value; update(); };
    controls.append(choice("Measure", data.measures.map((one) => one.name), 0, set("measure"))[0]);
    controls.append(choice("System", data.systems, state.one, set("one"))[0]);
    if (state.other !== null) controls.append(choice("Against", data.systems, state.other, set("other"))[0]);
    controls.append(grid.search);
    update();
  }

  // The ties of each query in one run, and what they decide.
  function showTies(place, data) {
    const state = { measure: 0, system: data.duel[0] };
    const controls = make("div", { class: "controls" });
    place.append(controls);
    const grid = new Grid(place, () => `${data.measures[state.measure].name} of ${data.systems[state.system]}: ties by query`, data, null);
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
    controls.append(choice("Measure", data.measures.map((one) => one.name), 0, set("measure"))[0]);
    controls.append(choice("System", data.systems, state.system, set("system"))[0], grid.search);
    update();
  }

  // Rankings of one query side by side.
  function makeRankings(place, data) {
    const held = data.rankings;
    const state = { n: 0, sides: [data.duel[0], ...(data.duel.length > 1 ? [data.duel[1]] : [])] };
    const controls = make("div", { class: "controls" });
    const sides = make("div", { class: "sides", "aria-live": "polite" });
    place.append(controls, sides);
    const names = held.map((one) => data.queries[one.query] + (data.texts && data.texts[one.query] ? `: ${data.texts[one.query]}` : ""));
    const [label, select] = choice("Query", names, 0, (value) => { state.n = value; draw(); });
    controls.append(label);
    state.sides.forEach((system, side) => {
      controls.append(choice(side ? "Right" : "Left", data.systems, system, (value) => { state.sides[side] = value; draw(); })[0]);
    });
    function draw() {
      const one = held[state.n];
      sides.replaceChildren(...state.sides.map((system) => sideOf(data, one, system)));
    }
    const places = new Map(held.map((one, n) => [one.query, n]));
    draw();
    return {
      has: (query) => places.has(query),
      show: (query) => {
        state.n = places.get(query);
        select.value = state.n;
        draw();
        place.closest("section").scrollIntoView();
        select.focus({ preventScroll: true });
      },
    };
  }

  function sideOf(data, one, system) {
    const own = one.of[system];
    const name = data.systems[system];
    const side = make("div", { class: "side" }, make("h3", { text: name }));
    const values = data.values[0][system];
    const value = at(values.v, one.query);
    const retrieved = own.n === null ? "" : `; ${count(own.n)} ${own.n === 1 ? "document" : "documents"} retrieved`;
    side.append(make("p", { class: "hint", text: `${data.measures[0].name} ${shown(value)}, over tie orders ${span(low(values, one.query), high(values, one.query))}${retrieved}` }));
    if (own.n === null) side.append(make("p", { class: "hint", text: "The run is not here: judged documents alone." }));
    else if (own.docs.length) side.append(framed(rankingTable(one, own, name, data.queries[one.query]), `Ranking of ${name}`));
    else side.append(make("p", { text: "It retrieves no document." }));
    if (own.steps) side.append(stepsTable(one, own.steps, data.measures[0].name));
    else if (!own.stepped) side.append(make("p", { class: "hint", text: "How this value comes about is kept of the best systems alone; deadheat steps shows it." }));
    if (own.each.length) side.append(eachOrder(one, own.each, data.measures[0].name));
    else if (own.orders && own.orders.values.length > 1) side.append(ordersTable(own.orders, data.measures[0].name));
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
          make("td", { class: "n", text: typeof own.scores[n] === "string" ? own.scores[n] : String(own.scores[n]) }),
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

  // Figures: drawn again with numbers under the mouse, and their data as a table.
  async function showFigure(figure, spec) {
    const canvas = figure.querySelector(".canvas");
    const still = [...canvas.childNodes];
    const box = make("div");
    try {
      await window.deadheatEmbed(box, spec, { renderer: "svg", actions: false, logLevel: 1 });
      canvas.replaceChildren(box);
      figure.dataset.drawn = "yes";
    } catch (error) {
      canvas.replaceChildren(...still);
      console.error(error);
    }
    const details = figure.querySelector("details");
    details.hidden = false;
    details.addEventListener("toggle", () => {
      const inside = details.querySelector(".numbers");
      if (details.open && !inside.firstChild) inside.append(framed(dataTable(spec), "Data of the figure"));
    });
  }
  function dataTable(spec) {
    const held = spec.data && spec.data.values ? spec.data.values : Object.values(spec.datasets || {})[0] || [];
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

  async function begin() {
    document.querySelectorAll(".sortable table").forEach(sortable);
    const data = await unpacked(document.getElementById("deadheat-data").textContent);
    data.subjects.forEach((subject, n) => {
      const place = (kind) => document.querySelector(`[data-${kind}="${n}"]`);
      const of = { rankings: place("rankings"), queries: place("queries"), ties: place("ties") };
      const rankings = of.rankings && subject.rankings.length ? makeRankings(of.rankings, subject) : null;
      if (rankings) {
        const section = of.rankings.closest("section");
        section.hidden = of.rankings.hidden = false;
        document.querySelector(`nav a[href="#${section.id}"]`).parentNode.hidden = false;
      }
      if (of.queries && subject.queries.length) {
        showQueries(of.queries, subject, rankings);
        of.queries.hidden = false;
        const still = of.queries.closest("section").querySelector(".static");
        if (still) still.hidden = true;
      }
      if (of.ties && subject.queries.length) {
        showTies(of.ties, subject);
        of.ties.hidden = false;
      }
    });
    for (const figure of document.querySelectorAll("figure[data-chart]")) {
      await showFigure(figure, data.charts[Number(figure.dataset.chart)]);
    }
    document.documentElement.dataset.ready = "yes";
  }
  begin().catch((error) => console.error(error));
})();
