// The documents that the other tests open are as the schema says, also where a test has made more of them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { document_, kept, largeProfile, queries, query, queryComparison, sample, shortRun, withAts } from './documents.mjs';
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

test('documents are as the schema says', (t) => {
  const documents = {
    machine: document_([]), time: sample('run', 80), times: sample('runs'), short: document_([shortRun(3)]), noise: sample('noises'), 'noise without the kernel': kept('noise', 'unnamed'),
    profile: sample('profiles'), 'profile without stacks': sample('stackless'), 'a large profile': document_([largeProfile(500)]),
    query: document_(queries(), { comparisons: [queryComparison()] }), 'other Q@Cs': document_([withAts(query(), HOSTILE, [null])]), study: sample('paper'), 'study of nothing': sample('nothing'),
  };
  const check = (what) => spawnSync('python3', ['-c', CHECK, path.join(ROOT, 'docs/schema/page.schema.json')], { input: JSON.stringify(what), encoding: 'utf8' });
  const { status, stdout, stderr } = check(documents);
  if (status === 77 && process.env.TARE_TEST_REQUIRE !== '1') return t.skip('needs python3-jsonschema');
  assert.deepEqual([stdout.trim().split('\n'), stderr.slice(-500), status], [[''], '', 0]);
  return assert.match(check({ spoilt: { ...documents.machine, sections: [{ kind: 'time' }] } }).stdout, /^spoilt/, 'what is spoilt does not pass');
});
