"use strict";
// Draws the charts of a page from the JSON beside them. Values are only ever text or numbers of a mark.
const drawings = {
  // Points with an interval each; the recommended one is named.
  front(data) {
    const front = data.points.filter((point) => point.front);
    return Plot.plot({
      width: 860, height: 420, marginLeft: 60, grid: true,
      x: { label: data.x, nice: true }, y: { label: data.y, domain: [0, 1], percent: false },
      color: { domain: ["recommended", "tried", "ended early"], range: ["#0b6e4f", "#6b7280", "#d1a054"], legend: true },
      marks: [
        Plot.ruleX(data.points, { x: "x", y1: "low", y2: "high", stroke: "group", strokeOpacity: 0.5 }),
        Plot.dot(data.points, { x: "x", y: "y", fill: "group", r: 4, tip: true,
          channels: { policy: "name", interval: "interval" } }),
        Plot.text(front, { x: "x", y: "y", text: "name", dy: -12, fontSize: 11 }),
      ],
    });
  },
  // Shares that fall in steps, one line for each group.
  steps(data) {
    return Plot.plot({
      width: 860, height: 360, marginLeft: 60, grid: true,
      x: { label: data.x, tickFormat: "d", ticks: data.ticks }, y: { label: data.y, domain: [0, 1] },
      color: { legend: true },
      marks: [
        Plot.line(data.points, { x: "x", y: "y", stroke: "group", curve: "step-after" }),
        Plot.dot(data.points, { x: "x", y: "y", fill: "group", tip: true, channels: { steps: "at_risk" } }),
      ],
    });
  },
};
for (const figure of document.querySelectorAll("figure[data-chart]")) {
  const data = JSON.parse(figure.querySelector("script").textContent);
  figure.append(drawings[figure.dataset.chart](data));
}
