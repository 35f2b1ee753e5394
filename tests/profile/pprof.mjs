// node pprof.mjs DIR FILE: a pprof file as one line of JSON, decoded by the pprof-format in DIR, with
// names in place of numbers.

import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import {pathToFileURL} from 'node:url';

const [dir, file] = process.argv.slice(2);
const {Profile} = await import(pathToFileURL(path.join(dir, 'dist', 'esm', 'index.js')).href);
const profile = Profile.decode(zlib.gunzipSync(fs.readFileSync(file)));
const text = index => profile.stringTable.strings[Number(index)];
const by = list => new Map(list.map(item => [Number(item.id), item]));
const functions = by(profile.function), mappings = by(profile.mapping), locations = by(profile.location);

const type = value => `${text(value.type)}/${text(value.unit)}`;
const line = ({functionId, line}) => {
  const found = functions.get(Number(functionId));
  return {name: text(found.name), file: text(found.filename), line: Number(line)};
};
const location = id => {
  const found = locations.get(Number(id));
  const mapping = mappings.get(Number(found.mappingId));
  return {address: '0x' + BigInt(found.address).toString(16), lines: found.line.map(line),
    object: text(mapping.filename), build_id: text(mapping.buildId)};
};
const label = ({key, str, num}) => [text(key), Number(str) ? text(str) : Number(num)];
process.stdout.write(JSON.stringify({
  types: profile.sampleType.map(type), period_type: type(profile.periodType),
  period: Number(profile.period), time: String(profile.timeNanos),
  duration: Number(profile.durationNanos), default_type: text(profile.defaultSampleType),
  samples: profile.sample.map(sample => ({values: sample.value.map(Number),
    labels: Object.fromEntries(sample.label.map(label)), stack: sample.locationId.map(location)})),
}) + '\n');
