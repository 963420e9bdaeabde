"use strict";

const element = (id) => document.getElementById(id);
const data = JSON.parse(element("data").textContent);

// The places of a time's numbers: how many runs have it, and nanoseconds.
const MEDIAN = 1, P10 = 2, P90 = 3, LEAST = 4, MOST = 5;
const COLORS = 8;
const FIRST_ROWS = 200, MORE_ROWS = 500;
// In CSS pixels: the timeline's parts, how near to a call a finger must hit, and how far one moves that drags nothing.
const SCALE = 20, BAND = 5, REACH = 12, STILL = 4;

// The numbers of threads. Times are compared with those of the first; without several, nothing is.
const THREADS = [...new Set(data.views.map(({threads}) => threads))];
const COMPARES = THREADS.length > 1;

const state = {
  view: data.views[0],
  base: data.views[0],  // The view with the first number of threads.
  filter: "",
  group: "operator",
  sort: "time",
  open: new Set(),   // The keys of open groups.
  selected: null,    // The index of a node.
  shown: FIRST_ROWS,
  from: 0,           // What the timeline shows, in nanoseconds.
  to: 0,
};

// Words

function time(ns) {
  const [unit, size] = ns >= 1e6 ? ["ms", 1e6] : ["µs", 1e3];
  return `${(ns / size).toLocaleString("en-US", {minimumFractionDigits: 2, maximumFractionDigits: 2})} ${unit}`;
}

const percent = (ns) => `${(100 * ns / Math.max(state.view.total[MEDIAN], 1)).toFixed(1)}%`;

const count = (number, what) => `${number.toLocaleString("en-US")} ${what}${number === 1 ? "" : "s"}`;

const spread = (times) => `p10 ${time(times[P10])}, p90 ${time(times[P90])}`;

const median = (index) => state.view.nodes[index] ? state.view.nodes[index].times[MEDIAN] : 0;

// The median of a node with the first number of threads.
const baseMedian = (index) => state.base.nodes[index] ? state.base.nodes[index].times[MEDIAN] : 0;

const threadCount = (threads) => count(threads, "thread");

const HEADS = ["Operator", "Median", "p10", "p90", "Share", ...(COMPARES ? [threadCount(THREADS[0]), "Gain"] : [])];

// How many times as fast as with the first number of threads.
const gain = (base, ns) => base && ns ? (base / ns).toFixed(2) : null;

// What a perfect division among the threads would save.
const lost = (base, ns) => ns - base * THREADS[0] / state.view.threads;

// The line that a node or what a backend took comes from.
const lineOf = (origin) => origin.stack && origin.stack.length ? data.frames[origin.stack.at(-1)] : null;

function make(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children.filter((child) => child !== null));
  return made;
}

// What a filter looks in, in lower case.
const searched = data.nodes.map((node) => {
  const origins = [node, ...(node.taken || [])];
  const frames = origins.flatMap((origin) => (origin.stack || []).map((frame) => data.frames[frame]));
  const tensors = [...(node.inputs || []), ...(node.outputs || [])].map((tensor) => data.tensors[tensor]);
  const words = origins.flatMap((origin) => [origin.operator, origin.module || ""]);
  return [`node ${node.number}`, ...words, ...frames.flat(), ...tensors].join("\n").toLowerCase();
});

const isFound = (index) => Boolean(state.view.nodes[index]) && searched[index].includes(state.filter);

// Groups

// Where a node belongs: the name of a group, or the names from the outermost, each with its share of the node's time.
const GROUPINGS = {
  operator: (node) => [[node.operator]],
  module: (node) => known(node, (origin) => origin.module && origin.module.split("."), "no module"),
  line: (node) => known(node, (origin) => lineOf(origin) && [lineOf(origin)[0]], "no line"),
};

// What a backend took may come from many places, which share its time alike.
function known(node, place, none) {
  const places = (node.taken || [node]).map(place).filter(Boolean);
  return places.length ? places : [[none]];
}

function makeGroup(key, name) {
  return {key, name, ns: 0, base: 0, spread: 0, first: Infinity, shares: new Map(), groups: new Map(), nodes: new Map()};
}

// The groups of what the filter leaves, in one that has all.
function grouped() {
  const root = makeGroup("", "");
  data.nodes.forEach((node, index) => {
    if (!isFound(index)) return;
    const places = state.group === "none" ? [[]] : GROUPINGS[state.group](node);
    for (const place of places) {
      let group = root;
      add(group, index, 1 / places.length);
      for (const name of place) {
        const key = `${group.key}\n${name}`;
        if (!group.groups.has(name)) group.groups.set(name, makeGroup(key, name));
        group = group.groups.get(name);
        add(group, index, 1 / places.length);
      }
      group.nodes.set(index, group.shares.get(index));
    }
  });
  return root;
}

function add(group, index, share) {
  const times = state.view.nodes[index].times;
  group.ns += share * times[MEDIAN];
  group.base += share * baseMedian(index);
  group.spread = Math.max(group.spread, times[P90] - times[P10]);
  group.first = Math.min(group.first, index);
  group.shares.set(index, (group.shares.get(index) || 0) + share);
}

const SORTS = {
  time: (a, b) => b.ns - a.ns,
  spread: (a, b) => b.spread - a.spread,
  lost: (a, b) => lost(b.base, b.ns) - lost(a.base, a.ns),
  name: (a, b) => a.name.localeCompare(b.name),
  order: () => 0,
};

// A group as a row has it: one that has a single group in it, and nothing else, is one with it.
function withoutSteps(group) {
  let {name} = group;
  while (group.groups.size === 1 && !group.nodes.size) {
    [group] = group.groups.values();
    name += `.${group.name}`;
  }
  return {...group, name, group};
}

// The rows of a group, those of open groups in it below theirs.
function* rowsOf(group, depth) {
  const entries = [...group.groups.values()].map(withoutSteps);
  for (const [index, share] of group.nodes) {
    const {times} = state.view.nodes[index];
    const name = data.nodes[index].operator;
    const base = share * baseMedian(index);
    entries.push({index, share, name, base, ns: share * times[MEDIAN], spread: times[P90] - times[P10], first: index});
  }
  entries.sort((a, b) => SORTS[state.sort](a, b) || a.first - b.first);
  for (const entry of entries) {
    yield {...entry, depth};
    if (entry.group && state.open.has(entry.key)) yield* rowsOf(entry.group, depth + 1);
  }
}

// The table

function showTable() {
  const root = grouped();
  const rows = [...rowsOf(root, 0)];
  const found = root.shares.size, all = data.nodes.filter((_, index) => state.view.nodes[index]).length;
  element("found").textContent = found === all ? `${count(all, "node")}, ${time(root.ns)}`
    : `${found.toLocaleString("en-US")} of ${count(all, "node")}, ${time(root.ns)}, ${percent(root.ns)}`;
  const shown = rows.slice(0, state.shown).flatMap((row) => row.group ? [groupRow(row)] : nodeRows(row));
  if (found === all) shown.push(runtimeRow());
  element("rows").replaceChildren(...shown);
  const more = rows.length - state.shown;
  element("more").hidden = more <= 0;
  element("more").textContent = `Show ${Math.min(more, MORE_ROWS)} of ${more.toLocaleString("en-US")} more rows`;
}

function row(depth, title, ns, base, times, properties) {
  const bar = make("span", {className: "bar"}, make("span"));
  bar.firstChild.style.width = percent(Math.min(ns, state.view.total[MEDIAN]));
  const cells = [["Median", time(ns)], ["p10", times && time(times[P10])], ["p90", times && time(times[P90])], ["Share", percent(ns)]];
  if (COMPARES) cells.push([threadCount(THREADS[0]), base ? time(base) : ""], ["Gain", gain(base, ns)]);
  const made = make("tr", properties, make("td", {}, ...title, bar), ...cells.map(([label, text]) => {
    const cell = make("td", {}, text || "");
    if (text) cell.dataset.label = label;
    return cell;
  }));
  made.style.setProperty("--depth", depth);
  made.setAttribute("role", "row");
  for (const cell of made.children) cell.setAttribute("role", "cell");
  return made;
}

function opener(name, isOpen, action) {
  const button = make("button", {type: "button", onclick: action}, `${isOpen ? "▾" : "▸"} `, make("code", {}, name));
  button.setAttribute("aria-expanded", isOpen);
  return button;
}

function groupRow(entry) {
  const isOpen = state.open.has(entry.key);
  const toggle = () => {
    state.open[isOpen ? "delete" : "add"](entry.key);
    update();
    focus(`[data-key="${CSS.escape(entry.key)}"] button`);
  };
  const code = state.group === "line" ? data.frames.find((frame) => frame[0] === entry.name) : null;
  const about = make("small", {}, ` ${count(entry.group.shares.size, "node")}`, ...(code ? [make("br"), make("code", {}, code[2])] : []));
  const made = row(entry.depth, [opener(entry.name, isOpen, toggle), about], entry.ns, entry.base, null, {className: "group"});
  made.dataset.key = entry.key;
  return made;
}

function nodeRows(entry) {
  const node = data.nodes[entry.index], isSelected = state.selected === entry.index;
  const toggle = () => {
    select(isSelected ? null : entry.index, "table");
    focus(`[data-node="${entry.index}"] button`);
  };
  const {times} = state.view.nodes[entry.index], line = lineOf(node);
  const share = entry.share < 0.999 ? `${(100 * entry.share).toFixed(0)}% of` : null;
  const about = [share, `node ${node.number}`, node.module, line && line[0].split("/").at(-1), node.outputs && node.outputs.map((tensor) => data.tensors[tensor]).join(", ")];
  const title = [opener(node.operator, isSelected, toggle), make("small", {}, about.filter(Boolean).join(" · "))];
  const made = row(entry.depth, title, entry.ns, entry.base, times, {className: isSelected ? "node selected" : "node"});
  made.dataset.node = entry.index;
  return isSelected ? [made, inside(node, state.view.nodes[entry.index])] : [made];
}

function runtimeRow() {
  return row(0, ["the runtime itself"], state.view.runtime[MEDIAN], state.base.runtime[MEDIAN], state.view.runtime, {className: "runtime"});
}

// What the page knows of a node.
function inside(node, {times, parts}) {
  const of = (indices) => (indices || []).map((tensor) => make("li", {}, make("code", {}, data.tensors[tensor])));
  const about = [make("p", {}, `${spread(times)}, least ${time(times[LEAST])}, most ${time(times[MOST])}, in ${count(times[0], "run")}`)];
  if (node.module) about.push(make("p", {}, "Module ", make("code", {}, node.module)));
  const isBackend = Boolean(node.taken || parts);
  if (node.inputs && node.inputs.length) about.push(make("p", {}, isBackend ? "Inputs and outputs" : "Inputs"), make("ul", {}, ...of(node.inputs)));
  if (node.outputs && node.outputs.length) about.push(make("p", {}, "Outputs"), make("ul", {}, ...of(node.outputs)));
  for (const frame of node.stack || []) {
    const [place, name, code] = data.frames[frame];
    about.push(make("p", {}, `${place}, in ${name}`), make("pre", {}, make("code", {}, code)));
  }
  if (!node.stack) about.push(make("p", {className: "soft"}, "The export says nothing of this node."));
  if (node.taken) {
    const items = node.taken.map((part) => make("li", {}, make("code", {}, part.operator), " ", make("small", {}, [part.module, lineOf(part) && lineOf(part)[0]].filter(Boolean).join(" · "))));
    about.push(make("p", {}, "What the backend took"), make("ul", {}, ...items));
  }
  if (parts) {
    const items = parts.map(([name, ...part]) => make("li", {}, `${name}: ${time(part[MEDIAN])}, `, make("small", {style: "display: inline"}, spread(part))));
    about.push(make("p", {}, "What the backend tells"), make("ul", {}, ...items));
  }
  const cell = make("td", {colSpan: HEADS.length}, ...about);
  cell.setAttribute("role", "cell");
  const made = make("tr", {className: "inside selected"}, cell);
  made.setAttribute("role", "row");
  return made;
}

function focus(selector) {
  const found = element("rows").querySelector(selector);
  if (found) found.focus({preventScroll: true});
}

// The timeline

const lane = element("lane"), canvas = element("timeline");

// The colors of the slowest operators.
const colorOf = new Map();

function chooseColors() {
  const sums = new Map();
  data.nodes.forEach((node, index) => sums.set(node.operator, (sums.get(node.operator) || 0) + median(index)));
  const slowest = [...sums].sort((a, b) => b[1] - a[1]).slice(0, COLORS);
  colorOf.clear();
  slowest.forEach(([name], color) => colorOf.set(name, color));
  const keys = slowest.map(([name], color) => [`c${color}`, name]);
  if (sums.size > COLORS) keys.push(["c-more", "others"]);
  element("legend").replaceChildren(...keys.map(([color, name]) => make("span", {}, make("span", {className: `key ${color}`}), " ", make("code", {}, name))));
}

const runEnd = () => Math.max(state.view.total[MEDIAN], ...state.view.timeline.slice(-1).map(([, start, ns]) => start + ns), 1);

// The distance of the lines of a time scale: 1, 2 or 5 of a unit, at least so many nanoseconds.
function step(least) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map((factor) => factor * unit).find((ns) => ns >= least);
}

function scaleLabel(ns, distance) {
  const [unit, size] = state.to >= 1e6 ? ["ms", 1e6] : ["µs", 1e3];
  const digits = Math.max(0, Math.ceil(-Math.log10(distance / size)));
  return `${(ns / size).toLocaleString("en-US", {minimumFractionDigits: digits, maximumFractionDigits: digits})} ${unit}`;
}

function draw() {
  const {width, height} = canvas.getBoundingClientRect();
  const pixels = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * pixels);
  canvas.height = Math.round(height * pixels);
  const paint = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(name).trim();
  paint.scale(pixels, pixels);
  paint.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  paint.textBaseline = "middle";
  const x = (ns) => (ns - state.from) / (state.to - state.from) * width;

  const distance = step(90 * (state.to - state.from) / Math.max(width, 1));
  for (let at = Math.ceil(state.from / distance) * distance; at <= state.to; at += distance) {
    paint.fillStyle = color("--line");
    paint.fillRect(Math.round(x(at)), 0, 1, height);
    paint.fillStyle = color("--soft");
    paint.fillText(scaleLabel(at, distance), x(at) + 4, SCALE / 2);
  }

  const top = SCALE, bottom = height - 4;
  let drawn = -1;
  for (const [index, start, ns] of state.view.timeline) {
    const left = x(start), right = x(start + ns), isSelected = index === state.selected;
    if (right < 0 || left > width) continue;
    // Of calls that share a pixel, one is drawn.
    if (Math.floor(right) <= drawn && !isSelected) continue;
    drawn = Math.floor(right);
    const name = data.nodes[index].operator, hue = colorOf.has(name) ? colorOf.get(name) : "more";
    const wide = Math.max(right - left, 1);
    paint.globalAlpha = isFound(index) ? 1 : 0.2;
    if (wide >= 3) {
      paint.fillStyle = color(`--fill-${hue}`);
      paint.fillRect(left, top, wide - 1, bottom - top);
    }
    paint.fillStyle = color(`--strong-${hue}`);
    paint.fillRect(left, wide >= 3 ? bottom - BAND : top, wide >= 3 ? wide - 1 : wide, wide >= 3 ? BAND : bottom - top);
    const visible = Math.min(right, width) - Math.max(left, 0);
    if (visible > 40) {
      paint.save();
      paint.beginPath();
      paint.rect(Math.max(left, 0), top, visible - 3, bottom - top);
      paint.clip();
      paint.fillStyle = color("--text");
      paint.fillText(name.replace(/^aten::/, ""), Math.max(left, 0) + 4, top + (bottom - top - BAND) / 2);
      paint.restore();
    }
    if (isSelected) {
      paint.globalAlpha = 1;
      paint.strokeStyle = color("--text");
      paint.lineWidth = 2;
      paint.strokeRect(left, top, Math.max(wide - 1, 2), bottom - top);
    }
  }
  paint.globalAlpha = 1;
}

function show(from, to) {
  const end = runEnd(), length = Math.min(Math.max(to - from, end / 1e5, 10), end);
  state.from = Math.min(Math.max(from, 0), end - length);
  state.to = state.from + length;
  draw();
}

function zoom(factor, center = (state.from + state.to) / 2) {
  show(center - (center - state.from) * factor, center + (state.to - center) * factor);
}

const pan = (part) => show(state.from + part * (state.to - state.from), state.to + part * (state.to - state.from));

// The call at a place of the canvas, or the nearest one that a finger may have meant.
function callAt(clientX) {
  const {left, width} = canvas.getBoundingClientRect();
  const scale = (state.to - state.from) / width;
  const ns = state.from + (clientX - left) * scale;
  const away = ([, start, length]) => Math.max(start - ns, ns - start - length, 0);
  let nearest = null;
  for (const call of state.view.timeline) if (!nearest || away(call) < away(nearest)) nearest = call;
  return nearest && away(nearest) <= REACH * scale ? nearest : null;
}

function describe(index) {
  const node = data.nodes[index], {times} = state.view.nodes[index];
  const faster = COMPARES && gain(baseMedian(index), times[MEDIAN]);
  const than = faster ? `, ${faster} times as fast as with ${threadCount(THREADS[0])}` : "";
  return `${node.operator}, node ${node.number}: ${time(times[MEDIAN])}, ${percent(times[MEDIAN])} (${spread(times)})${than}`;
}

function showStatus(index) {
  element("status").textContent = index === null ? "" : describe(index);
}

// Selects a node in the timeline and in the table.
function select(index, from) {
  state.selected = index;
  if (index !== null) {
    const calls = state.view.timeline.filter(([each]) => each === index);
    const isVisible = calls.some(([, start, ns]) => start + ns >= state.from && start <= state.to);
    if (calls.length && !isVisible) {
      const [, start, ns] = calls[0], half = (state.to - state.from) / 2;
      show(start + ns / 2 - half, start + ns / 2 + half);
    }
    if (from === "timeline") reveal(index);
  }
  update();
  if (index !== null && from === "timeline") {
    element("rows").querySelector(`[data-node="${index}"]`).scrollIntoView({block: "nearest"});
  }
}

// Makes the table have the row of a node.
function reveal(index) {
  if (!isFound(index)) {
    state.filter = element("filter").value = "";
  }
  if (state.group !== "none") {
    let key = "";
    for (const name of GROUPINGS[state.group](data.nodes[index])[0]) {
      key += `\n${name}`;
      state.open.add(key);
    }
  }
  const place = [...rowsOf(grouped(), 0)].findIndex((entry) => entry.index === index);
  state.shown = Math.max(state.shown, place + 1);
}

// The next call that the filter leaves, before or behind the selected one.
function selectNext(direction) {
  const calls = state.view.timeline.filter(([index]) => isFound(index));
  const at = calls.findIndex(([index]) => index === state.selected);
  const next = at < 0 ? (direction > 0 ? 0 : calls.length - 1) : Math.min(Math.max(at + direction, 0), calls.length - 1);
  if (calls[next]) select(calls[next][0], "timeline");
}

const KEYS = {
  ArrowRight: () => selectNext(1),
  ArrowLeft: () => selectNext(-1),
  Home: () => pan(-1e6),
  End: () => pan(1e6),
  PageUp: () => pan(-0.5),
  PageDown: () => pan(0.5),
  "+": () => zoomToSelected(0.5),
  "=": () => zoomToSelected(0.5),
  "-": () => zoomToSelected(2),
  0: () => show(0, runEnd()),
  Escape: () => select(null, "timeline"),
};

function zoomToSelected(factor) {
  const call = state.view.timeline.find(([index]) => index === state.selected);
  zoom(factor, call && call[1] + call[2] / 2);
}

lane.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});

// A pointer drags, two pinch; one that stays where it is selects. They may leave the timeline meanwhile.
const pointers = new Map();
let moved = 0;

lane.addEventListener("pointerdown", (event) => {
  if (!pointers.size) moved = 0;
  pointers.set(event.pointerId, event.clientX);
});

window.addEventListener("pointermove", (event) => {
  if (!pointers.has(event.pointerId)) return;
  const {left, width} = canvas.getBoundingClientRect();
  const before = [...pointers.values()];
  moved += Math.abs(event.clientX - pointers.get(event.pointerId));
  pointers.set(event.pointerId, event.clientX);
  if (moved < STILL) return;
  const after = [...pointers.values()];
  if (after.length === 1) {
    pan((before[0] - after[0]) / width);
  } else if (Math.abs(after[0] - after[1]) > 1) {
    const middle = state.from + ((after[0] + after[1]) / 2 - left) / width * (state.to - state.from);
    zoom(Math.abs((before[0] - before[1]) / (after[0] - after[1])), middle);
  }
});

window.addEventListener("pointerup", (event) => {
  if (!pointers.delete(event.pointerId) || moved >= STILL) return;
  const call = callAt(event.clientX);
  select(call ? call[0] : null, "timeline");
});

window.addEventListener("pointercancel", (event) => pointers.delete(event.pointerId));

lane.addEventListener("pointermove", (event) => {
  if (pointers.size) return;
  const call = callAt(event.clientX);
  showStatus(call ? call[0] : state.selected);
});

lane.addEventListener("pointerleave", () => showStatus(state.selected));

lane.addEventListener("wheel", (event) => {
  if (event.ctrlKey) {
    const {left, width} = canvas.getBoundingClientRect();
    zoom(2 ** (event.deltaY / 100), state.from + (event.clientX - left) / width * (state.to - state.from));
  } else if (event.deltaX) {
    pan(event.deltaX / canvas.clientWidth);
  } else {
    return;
  }
  event.preventDefault();
}, {passive: false});

element("zoom-in").onclick = () => zoomToSelected(0.5);
element("zoom-out").onclick = () => zoomToSelected(2);
element("left").onclick = () => pan(-0.5);
element("right").onclick = () => pan(0.5);
element("whole").onclick = () => show(0, runEnd());

// The whole page

function update() {
  showTable();
  showStatus(state.selected);
  draw();
}

function showView(threads, sample) {
  const find = (with_threads) => data.views.find((each) => each.threads === with_threads && each.sample === sample);
  const view = state.view = find(threads);
  state.base = find(THREADS[0]);
  if (state.selected !== null && !view.nodes[state.selected]) state.selected = null;
  const {total} = view;
  const faster = COMPARES ? ` with ${threadCount(threads)}, ${gain(state.base.total[MEDIAN], total[MEDIAN])} times as fast as with ${threadCount(THREADS[0])}` : "";
  element("total").replaceChildren(make("strong", {}, time(total[MEDIAN])), ` is the median of ${count(total[0], "run")}${faster}; ${spread(total)}, least ${time(total[LEAST])}, most ${time(total[MOST])}.`);
  chooseColors();
  show(0, runEnd());
  update();
}

element("heads").append(...HEADS.map((name) => {
  const head = make("th", {scope: "col"}, name);
  head.setAttribute("role", "columnheader");
  return head;
}));
const samples = [...new Set(data.views.map(({sample}) => sample))];
element("samples").hidden = samples.length === 1;
element("sample").append(...samples.map((sample, index) => make("option", {value: index}, sample === null ? "all" : `${sample}`)));
element("counts").hidden = !COMPARES;
element("threads").append(...THREADS.map((threads, index) => make("option", {value: index}, `${threads}`)));
element("threads").value = THREADS.length - 1;
if (COMPARES) element("sort").append(make("option", {value: "lost"}, "time lost"));
const showChosen = () => showView(THREADS[element("threads").value], samples[element("sample").value]);
element("sample").onchange = element("threads").onchange = showChosen;
element("tools").onsubmit = (event) => event.preventDefault();
for (const [id, event] of [["filter", "input"], ["group", "change"], ["sort", "change"]]) {
  element(id).addEventListener(event, () => {
    state[id] = element(id).value.toLowerCase();
    state.shown = FIRST_ROWS;
    update();
  });
}
element("more").onclick = () => {
  state.shown += MORE_ROWS;
  update();
};
window.addEventListener("resize", draw);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
showChosen();
