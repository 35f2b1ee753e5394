// What tests ask of a chart, and where they click on it.
import assert from 'node:assert/strict';

/** Something about a chart, asked of ECharts itself. */
export const ask = (tab, name, what) => tab.page.evaluate(([n, w]) => {
  const chart = window.tare.charts.get(n).draw();
  const option = chart.getOption();
  const rect = chart.getModel().getComponent('grid', 0).coordinateSystem.getRect();
  if (w === 'range') return [chart.convertFromPixel({ xAxisIndex: 0 }, rect.x), chart.convertFromPixel({ xAxisIndex: 0 }, rect.x + rect.width)];
  if (w === 'points') return Object.fromEntries(option.series.filter(Boolean).map((s) => [s.id ?? s.name, (s.data?.length ?? 0) / (ArrayBuffer.isView(s.data) ? 2 : 1)]));
  if (w === 'axis') return [option.xAxis[0].type, option.xAxis[0].name, option.yAxis[0].min ?? null];
  if (w === 'lines') return option.series.flatMap((s) => (s.markLine?.data ?? []).map((d) => d.yAxis ?? d.xAxis));
  return null;
}, [name, what]);

/** The names of axes are whole, and upon no number, however wide those are. */
export async function namesFit(tab) {
  const found = await tab.page.evaluate(() => [...window.tare.charts].flatMap(([chartName, handle]) => {
    const chart = handle.draw();
    const option = chart.getOption();
    const names = [...option.xAxis ?? [], ...option.yAxis ?? []].map((a) => a.name).filter(Boolean);
    chart.getZr().flush();
    const texts = chart.getZr().storage.getDisplayList(true).filter((e) => e.type === 'tspan' && !e.ignore).map((e) => {
      const box = e.getBoundingRect().clone();
      if (e.transform) box.applyTransform(e.transform);
      return { text: e.style.text, box };
    });
    return names.map((name) => {
      const own = texts.find((t) => t.text === name);
      const { x, y, width, height } = own?.box ?? { x: -1, y: -1, width: 0, height: 0 };
      const inside = x >= 0 && y >= 0 && x + width <= chart.getWidth() && y + height <= chart.getHeight();
      return { name: `${chartName}: ${name}`, inside, upon: texts.filter((t) => t !== own && own?.box.intersect(t.box)).map((t) => t.text) };
    });
  }));
  assert.ok(found.length);
  assert.deepEqual(found.filter((n) => !n.inside || n.upon.length), []);
}

/** The numbers of the x axis, as they are written. */
export const numbers = (tab, name) => tab.page.evaluate((n) => window.tare.charts.get(n).draw().getModel().getComponent('xAxis').axis.getViewLabels().map((l) => l.formattedLabel.replace('\u00a0', ' ')).filter(Boolean), name);

/** Where a value of a chart is on the screen. */
export async function pixel(tab, name, x, y) {
  await tab.page.locator(`#${name}`).scrollIntoViewIfNeeded();
  return tab.page.evaluate(([n, vx, vy]) => {
    const handle = window.tare.charts.get(n);
    handle.element.querySelector('.chart').scrollIntoView({ block: 'center' });
    const box = handle.element.querySelector('.chart canvas').getBoundingClientRect();
    const [px, py] = handle.draw().convertToPixel({ xAxisIndex: 0, yAxisIndex: 0 }, [vx, vy]);
    return { x: box.x + px, y: box.y + py };
  }, [name, x, y]);
}

/** What a zoom or a click is followed by in a later frame. */
export async function eventually(what, words) {
  for (const end = Date.now() + 10_000; !(await what()); await new Promise((done) => setTimeout(done, 20))) assert.ok(Date.now() < end, words);
}
