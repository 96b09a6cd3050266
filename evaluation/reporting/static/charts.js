"use strict";
// Draws the comparison of models or policies. Values are only ever text or numbers of a mark.
const drawings = {
  // One line for each arm: its rate with the interval, and its name above.
  arms(arms, width) {
    const points = arms.map(readRate);
    return Plot.plot({
      ...frame(width, 46 * points.length + 52), marginLeft: 12, marginTop: 4,
      x: { label: "success", domain: [0, 1], tickFormat: asPercent, ticks: 5 },
      y: { axis: null, domain: points.map((point) => point.name), padding: 0.5 },
      marks: [
        Plot.gridX({ ticks: 5 }),
        Plot.text(points, { y: "name", x: 0, text: "label", textAnchor: "start", dy: -10, lineWidth: width / 15, ...onGrid }),
        Plot.text(points, { y: "name", x: 1, text: (point) => asPercent(point.value), textAnchor: "end", dy: -10, fontWeight: 600, ...onGrid }),
        Plot.ruleY(points, { y: "name", x1: "low", x2: "high", stroke: "colour", strokeWidth: 2, dy: 8 }),
        ...numberedDots(points, { y: "name", x: "value", dy: 8 }),
      ],
    });
  },
  // The rate of each arm against the median latency of a run.
  latency(arms, width) {
    const points = arms.map((arm) => ({ ...readRate(arm), latency: arm.latency_ms }));
    const most = Math.max(...points.map((point) => point.latency));
    return Plot.plot({
      ...frame(width, 300),
      x: { label: "median latency of a run (ms)", domain: [0, most * 1.15 || 1], ticks: Math.max(3, width / 120) },
      y: { label: "success", domain: [0, 1], tickFormat: asPercent, ticks: 5 },
      marks: [
        Plot.gridY({ ticks: 5 }),
        Plot.ruleX(points, { x: "latency", y1: "low", y2: "high", stroke: "colour", strokeWidth: 2 }),
        ...numberedDots(points, { x: "latency", y: "value" }),
      ],
    });
  },
  // The chance that k trials of a case are all accepted, one line for each arm.
  repeats(arms, width) {
    // The arms stand beside each other, so that their intervals can be told apart.
    const points = arms.flatMap((arm, index) => arm.pass_k.map((each) => ({ ...readRate(arm), ...each, place: each.k + (index - (arms.length - 1) / 2) * 0.09 })));
    const most = Math.max(...points.map((point) => point.k));
    return Plot.plot({
      ...frame(width, 300),
      x: { label: "k", domain: [0.7, most + 0.3], ticks: Array.from({ length: most }, (_, index) => index + 1), tickFormat: "d" },
      y: { label: "pass^k", domain: [0, 1], tickFormat: asPercent, ticks: 5 },
      marks: [
        Plot.gridY({ ticks: 5 }),
        Plot.line(points, { x: "place", y: "value", z: "name", stroke: "colour", strokeOpacity: 0.5 }),
        Plot.ruleX(points, { x: "place", y1: "low", y2: "high", stroke: "colour", strokeWidth: 2 }),
        ...numberedDots(points, { x: "place", y: "value" }),
      ],
    });
  },
  // The value of a task over the number of attempts, with its interval.
  worth(points, width) {
    return Plot.plot({
      ...frame(width, 300), ...overAttempts(points), y: { label: "value of a task", grid: true, nice: true },
      marks: [
        Plot.ruleY([0]), ...attemptAxes(points),
        Plot.areaY(points, { x: "k", y1: (point) => point.value.low, y2: (point) => point.value.high, fill: "var(--series-1)", fillOpacity: 0.15 }),
        Plot.line(points, { x: "k", y: (point) => point.value.value, stroke: "var(--series-1)", strokeWidth: 2 }),
        Plot.dot(points, { x: "k", y: (point) => point.value.value, fill: "var(--series-1)", r: 5, tip: true, title: describeValue }),
      ],
    });
  },
  // The shares of tasks that end with a right and with a wrong acceptance, above each other.
  acceptances(points, width) {
    const shares = points.flatMap((point) => (point.right && point.wrong ? [["right", point.right.value], ["wrong", point.wrong.value]] : [["accepted", 1 - point.none.value]])
      .map(([name, value]) => ({ k: point.k, name, value })));
    const colours = { right: "var(--series-3)", wrong: "var(--series-2)", accepted: "var(--series-1)" };
    return Plot.plot({
      ...frame(width, 300), ...overAttempts(points), y: { label: "share of tasks", domain: [0, 1], tickFormat: asPercent, ticks: 5, grid: true },
      marks: [
        ...attemptAxes(points),
        Plot.areaY(shares, { x: "k", y: "value", z: "name", fill: (share) => colours[share.name], fillOpacity: 0.55, order: ["right", "wrong", "accepted"] }),
        Plot.text(shares, Plot.stackY({ x: "k", y: "value", z: "name", order: ["right", "wrong", "accepted"], filter: (share) => share.k === points.length, text: (share) => (share.value > 0.04 ? `${share.name} ${asPercent(share.value)}` : ""), textAnchor: "end", dx: -4, ...onGrid })),
      ],
    });
  },
};
// The number of attempts is below, and what that many cost is above.
const overAttempts = (points) => ({ x: { domain: [1, points.length], type: "linear" }, marginTop: 42 });
const attemptAxes = (points) => [
  Plot.axisX(points.map((point) => point.k), { label: "attempts at most", tickFormat: "d" }),
  Plot.axisX(points.map((point) => point.k), { anchor: "top", label: "mean cost of a task", tickFormat: (k) => describeCost(points[k - 1]) }),
];
const describeCost = (point) => (point.cost_usd != null ? measure.cost_usd(point.cost_usd) : point.tokens != null ? `${measure.total_tokens(point.tokens)} tokens` : `${point.attempts.toFixed(2)} attempts`);
const asValue = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;
const describeValue = (point) => `${countNoun(point.k, "attempt")}\n${asValue(point.value.value)} (${asValue(point.value.low)} to ${asValue(point.value.high)})\n${countNoun(point.tasks, "task")}`;
const onGrid = { fill: "currentColor", fontSize: 12, stroke: "var(--surface)", strokeWidth: 4, textOverflow: "ellipsis" };
const frame = (width, height) => ({ width, height, marginLeft: 48, marginRight: 28, marginTop: 28, marginBottom: 46, color: { type: "identity" } });
// A number tells arms apart if colours do not.
const numberedDots = (points, place) => [
  Plot.dot(points, { ...place, fill: "colour", r: points.some((point) => point.number) ? 8 : 5, tip: true, title: describeRate }),
  Plot.text(points, { ...place, text: (point) => point.number ?? "", fill: "var(--surface)", fontSize: 10, fontWeight: 700 }),
];
const colourOf = (number) => `var(--series-${((number ?? 1) - 1) % 6 + 1})`;
const readRate = (arm) => ({ name: arm.name, number: arm.number, label: `${arm.number}  ${arm.name}`, colour: colourOf(arm.number), ...arm.pass_k[0] });
const asPercent = (value) => `${Math.round(100 * value)} %`;
const describeRate = (point) => `${point.name}\n${point.k > 1 ? `pass^${point.k} ` : ""}${asPercent(point.value)} (${asPercent(point.low)} to ${asPercent(point.high)})\n${point.cases} cases`;
function drawChart(kind, data, label, width) {
  const chart = drawings[kind](data, width);
  // Plot labels its groups, which have no role; the picture as a whole has a label, and tables have its figures.
  for (const group of chart.querySelectorAll("g[aria-label]")) group.removeAttribute("aria-label");
  chart.setAttribute("role", "img");
  chart.setAttribute("aria-label", label);
  return chart;
}
