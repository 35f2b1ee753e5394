// The documents that the other tests are made of are ones that tare could write: a page that works with anything else proves nothing.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { document_ } from './documents.mjs';
import { diff, noise, noiseSection } from './doc_noise.mjs';
import { diffDocument, emptyDocument, stacklessDocument } from './doc_profile.mjs';
import { compared, query, queryDocument } from './doc_query.mjs';
import { study, studySection } from './doc_study.mjs';
import { timeDocument, timesDocument } from './doc_time.mjs';
import { HOSTILE, ROOT } from './browser.mjs';

const CHECK = `
import json, os, re, sys
try:
    from jsonschema import Draft202012Validator
except ImportError:
    sys.exit(77)
base = "https://tare.example/schema/"
with open(sys.argv[1]) as file:
    text = file.read()
schema = {**json.loads(text), "$id": base + "page"}
for name in set(re.findall(r'"\\$ref": "([^"#]+)"', text)):
    with open(os.path.join(os.path.dirname(sys.argv[1]), name)) as file:
        schema["$defs"][name] = {**json.load(file), "$id": base + name}
validator = Draft202012Validator(schema)
for name, document in json.load(sys.stdin).items():
    for error in list(validator.iter_errors(document))[:5]:
        # of alternatives, what is wrong with the one of this kind
        while error.context:
            other = {e.schema_path[0] for e in error.context if e.absolute_path[-1] == "kind" or "null" in e.message[-6:]}
            error = max(error.context, key=lambda e: (e.schema_path[0] not in other, len(e.absolute_path)))
        print(f"{name}: {error.json_path}: {error.message[:200]}")
`;

test('documents made by hand are as the schema says', (t) => {
  const [calm, loud] = [noise({ seed: 3, scale: 0.1 }), noise({ seed: 5, scale: 0.1, names: HOSTILE })];
  const queries = [query({ number: 7, names: ['scan', 'days'] }), query({ number: 8, names: ['scan', 'days'], faster: 0.8, seed: 9 })];
  const documents = {
    machine: document_([]), time: timeDocument({ count: 80, details: 20 }), times: timesDocument(HOSTILE),
    noise: document_([noiseSection(1, calm), noiseSection(2, loud, { baseline: calm })], { comparisons: [{ kind: 'noise', base: 0, run: 1, diff: diff(calm, loud) }] }),
    'noise without the kernel': document_([noiseSection(4, noise({ cpus: 1, kernel: false, scale: 0.1 }))]),
    profile: diffDocument(), 'profile without stacks': stacklessDocument(), 'profile without samples': emptyDocument(),
    query: document_(queries, { comparisons: [compared(...queries)] }), 'query imported': queryDocument({ known: false, plans: false, matrix: false }),
    study: document_([studySection(3, study({ short: 200 }))]), 'study of few': document_([studySection(3, study({ short: 5, long: 0, daemons: [], levels: false }))]),
  };
  const check = (what) => spawnSync('python3', ['-c', CHECK, path.join(ROOT, 'docs/schema/page.schema.json')], { input: JSON.stringify(what), encoding: 'utf8' });
  const { status, stdout, stderr } = check(documents);
  if (status === 77 && process.env.TARE_TEST_REQUIRE !== '1') return t.skip('needs python3-jsonschema');
  assert.deepEqual([stdout.trim().split('\n'), stderr.slice(-500), status], [[''], '', 0]);
  return assert.match(check({ spoilt: { ...documents.machine, sections: [{ kind: 'time' }] } }).stdout, /^spoilt/, 'what is spoilt does not pass');
});
