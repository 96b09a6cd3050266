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
};
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
