// The page counts bins as tare does: both are held to tests/golden/bins.csv.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { ROOT } from './browser.mjs';

const ts = createRequire(path.join(ROOT, 'web/package.json'))('typescript');

test('bins are those of the golden file', async () => {
  const source = fs.readFileSync(path.join(ROOT, 'web/src/parts/bins.ts'), 'utf8');
  const script = ts.transpileModule(source, { compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 } }).outputText;
  const { binsOf } = await import(`data:text/javascript,${encodeURIComponent(script)}`);
  const lines = fs.readFileSync(path.join(ROOT, 'tests/golden/bins.csv'), 'utf8').split('\n').filter((line) => line && !line.startsWith('#'));
  assert.equal(lines.length, 10);
  for (const line of lines) {
    const [bins, most, ...values] = line.split(',').map(Number);
    assert.equal(binsOf(values, values[0], values.at(-1), most), bins, line.slice(0, 60));
  }
});
