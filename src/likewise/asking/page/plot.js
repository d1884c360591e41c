// The plot of accuracy, with its interval, against the number of answers.

const WIDTH = 360;
const HEIGHT = 180;
const EDGE = { left: 40, right: 12, top: 10, bottom: 34 };

const percent = (share) => `${Math.round(100 * share)} %`;

function svg(name, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

function scales(history) {
  const most = Math.max(...history.map((point) => point[0]));
  const least = Math.min(0.5, ...history.map((point) => Math.floor(point[2] * 10) / 10));
  const x = (count) => EDGE.left + ((WIDTH - EDGE.left - EDGE.right) * count) / most;
  const y = (share) =>
    HEIGHT - EDGE.bottom - ((HEIGHT - EDGE.top - EDGE.bottom) * (share - least)) / (1 - least);
  return { x, y, most, least };
}

function axes(picture, { x, y, most, least }) {
  const corner = `M${EDGE.left} ${EDGE.top}V${y(least)}H${x(most)}`;
  picture.append(svg("path", { class: "axis", d: corner }));
  for (const share of [least, (1 + least) / 2, 1]) {
    picture.append(
      svg("text", { x: EDGE.left - 5, y: y(share) + 4, "text-anchor": "end" }, percent(share)),
    );
  }
  for (const [count, anchor] of [[0, "start"], [most, "end"]]) {
    picture.append(
      svg("text", { x: x(count), y: y(least) + 15, "text-anchor": anchor }, String(count)),
    );
  }
  const middle = { x: x(most / 2), y: HEIGHT - 4, "text-anchor": "middle" };
  picture.append(svg("text", middle, "answers"));
}

/** Draw (answers, accuracy, low, high) into an element; words where there is nothing to draw. */
export function drawPlot(place, history) {
  if (!history.length) {
    const words = document.createElement("p");
    words.className = "small";
    words.textContent = "Shown once the answers say something about it.";
    place.replaceChildren(words);
    return;
  }
  const scale = scales(history);
  const [count, accuracy, low, high] = history[history.length - 1];
  const label =
    `Accuracy on new rows, estimated without labels: ${percent(accuracy)} after ${count} answers, ` +
    `95 % interval ${percent(low)} to ${percent(high)}`;
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label });
  axes(picture, scale);
  const upper = history.map((p) => `${scale.x(p[0])},${scale.y(Math.min(p[3], 1))}`);
  const lower = history.map((p) => `${scale.x(p[0])},${scale.y(p[2])}`).reverse();
  picture.append(svg("polygon", { class: "band", points: [...upper, ...lower].join(" ") }));
  const line = history.map((p) => `${scale.x(p[0])},${scale.y(p[1])}`).join(" ");
  picture.append(svg("polyline", { class: "value", points: line }));
  picture.append(
    svg("circle", { class: "point", r: 3.5, cx: scale.x(count), cy: scale.y(accuracy) }),
  );
  place.replaceChildren(picture);
}
